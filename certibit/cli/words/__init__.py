"""Parser, common options and exit codes of all commands."""
