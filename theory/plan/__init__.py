"""What is promised before anything is run: bits, rounds, gradients and seconds of every method."""
