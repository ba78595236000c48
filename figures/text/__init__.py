"""Tables and words."""
