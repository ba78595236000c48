"""Promised seconds of methods whose server acts on every arrival."""
