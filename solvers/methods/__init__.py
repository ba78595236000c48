"""The methods, one file each, written as the paper's algorithm box."""
