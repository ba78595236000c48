"""Methods beside each other on one problem: what each accuracy costs."""
