"""Runs on a device, such as a GPU, whose random numbers and costs stay there."""
