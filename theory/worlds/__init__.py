"""The worlds that a method's own step is run in: outcomes, linear maps, probes, symbols."""
