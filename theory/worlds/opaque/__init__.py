"""Opaque arrays and numbers: a method can calculate with them and cannot read their values."""
