"""The store of finished traces, and the program text that they are kept under."""
