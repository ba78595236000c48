"""Steps of proofs, their spaces of points, search and verification."""
