"""Compressors: random maps of vectors that take few bits to send."""
