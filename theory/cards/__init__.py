"""The cards of all methods, one file each."""
