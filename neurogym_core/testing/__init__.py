"""For testing tasks: reference subjects."""
