"""Arrays and numbers that a method calculates with and does not see."""
