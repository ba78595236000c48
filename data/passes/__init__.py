"""Compiled passes over the data of all clients: gradients, and many steps along them."""
