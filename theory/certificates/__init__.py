"""Performance estimation: worst cases over all functions and compressors of a class, with proofs.

For general first-order methods PEPit (arXiv:2201.04040) and AutoLyap (arXiv:2506.24076) compute
such worst cases; the programmes here have random compressors, coins and any number of clients.
"""
