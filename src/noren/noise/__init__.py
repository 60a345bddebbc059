"""The only door to secret randomness."""
