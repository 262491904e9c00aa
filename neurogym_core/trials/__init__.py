"""Trials: distributions, channels and actions, the verbs, the table, the record. NumPy only."""
