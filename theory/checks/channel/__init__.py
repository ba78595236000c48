"""Checks that all communication uses the channel, and that the channel counts its bits."""
