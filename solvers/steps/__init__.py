"""Many iterations at once: local steps as linear recursions, small ones replayed."""
