"""What is assumed of functions besides convexity and smoothness, one file each."""
