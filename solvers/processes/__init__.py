"""One run over several processes: the clients are divided, and the encoded messages travel."""
