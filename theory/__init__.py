"""Theorems of methods (conditions, Lyapunov functions, rates), checks and certificates."""
