"""Certificates of clipping methods on (L0, L1)-smooth functions, for all |grad f(x)|."""
