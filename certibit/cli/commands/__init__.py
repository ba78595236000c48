"""One file per command; its first line names the command and says what it does."""
