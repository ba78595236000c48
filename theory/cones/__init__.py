"""Programmes over positive definite matrices, solved along their central path in many bits."""
