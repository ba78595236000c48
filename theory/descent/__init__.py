"""Certificates of a descent, E[Psi+] <= Psi - c M: what is proved of functions of any class."""
