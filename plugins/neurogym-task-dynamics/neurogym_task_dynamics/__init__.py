"""Tasks with which the dynamics of trained networks are studied."""
