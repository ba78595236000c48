"""Checks of theory against code, by subject: compressor, problem, channel, method, theorem."""
