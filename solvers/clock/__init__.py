"""The clock: networks, clients of different speeds, and the seconds that runs take on them."""
