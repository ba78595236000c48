"""What one step does, on numbers alone: what symbols say is held against it."""
