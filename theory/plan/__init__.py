"""Plans: promised bits, rounds, gradients and seconds of every method, without a run."""
