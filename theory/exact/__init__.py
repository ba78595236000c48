"""Certificates in rational numbers, their files, and what bounds them from the other side."""
