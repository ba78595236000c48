"""What is promised about each method: one card, one file."""
