"""The world of symbols: one step on unknown vectors, at any number of clients, exact or not."""
