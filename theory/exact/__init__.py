"""Certificates in rational numbers, without any tolerance, and the files that they are kept in."""
