"""Working-memory tasks."""
