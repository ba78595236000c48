"""What commands share: the parser, common options, exit codes."""
