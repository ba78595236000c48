"""Checks of certibit itself, which do not depend on who wrote a method: `certibit check --tool`."""
