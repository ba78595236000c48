"""The worlds in which theory runs a method's own step: outcomes, linear maps, probes, symbols."""
