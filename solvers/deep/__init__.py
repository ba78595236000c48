"""Methods and compressors in training scripts of torch."""
