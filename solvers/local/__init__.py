"""What clients do alone: local steps as linear recursions, and local solves."""
