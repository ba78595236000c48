"""Losses of generalised linear models: smooth functions of a prediction and a target."""
