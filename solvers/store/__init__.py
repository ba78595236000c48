"""The store of finished traces, keyed by specification and program text."""
