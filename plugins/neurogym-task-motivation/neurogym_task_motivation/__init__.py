"""Tasks of motivation: biases by valence, discounting, risk, effort, foraging, conditioning."""
