"""One step on numbers alone, with which the results of symbols are compared."""
