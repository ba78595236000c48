"""The simulated world: network with its ledger, gradients with their count, random streams."""
