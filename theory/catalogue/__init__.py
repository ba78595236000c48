"""The catalogue of all cards, cards from files, and runs with a check of their theorems."""
