"""Methods whose server acts on every arrival, and the world in which messages arrive."""
