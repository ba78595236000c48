"""One page of everything that has been run, with what decides each verdict."""
