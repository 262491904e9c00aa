"""Tasks of learning and choosing by value."""
