"""The simulation: network with its ledger, counted gradients, random streams."""
