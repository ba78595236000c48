"""Compressors: random maps whose values can be sent in few bits."""
