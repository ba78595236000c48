"""Exact rates on quadratics, which bound certificates from the other side."""
