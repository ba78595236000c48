"""The report: one page of all results, with the curves that decide each verdict."""
