"""Tasks of human cognitive psychology."""
