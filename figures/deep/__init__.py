"""Training of a recurrent network by the methods of the EPISODE papers."""
