"""What is certified over which class of functions: tables of all methods."""
