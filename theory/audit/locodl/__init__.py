"""The proof of LoCoDL, step by step."""
