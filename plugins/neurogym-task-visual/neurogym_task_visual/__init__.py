"""Tasks whose observations are images."""
