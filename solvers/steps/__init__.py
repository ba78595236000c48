"""Many local steps at once, as linear recursions."""
