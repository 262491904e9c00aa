"""Tasks of learning from rewards and outcomes, across trials."""
