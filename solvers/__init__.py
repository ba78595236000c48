"""What is run: the engine, the methods, the compressors and their wire formats, the traces."""
