"""Losses of generalised linear models: convex, smooth functions of a prediction and a target."""
