"""All cards together: their catalogue, those from files, and runs that they cover."""
