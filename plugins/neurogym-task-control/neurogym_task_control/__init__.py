"""Tasks of inhibition, rules and cognitive control."""
