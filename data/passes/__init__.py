"""Compiled passes over the data of all clients: gradients, messages and rows of mini-batches."""
