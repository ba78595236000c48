"""The proof of the theorem of normalised EF21, step by step."""
