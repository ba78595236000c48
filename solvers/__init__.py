"""Engine, methods, compressors with their wire formats, and traces."""
