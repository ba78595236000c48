"""The proof of EPISODE, step by step."""
