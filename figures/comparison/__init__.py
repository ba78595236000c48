"""Comparison of methods on one problem by their cost to an accuracy."""
