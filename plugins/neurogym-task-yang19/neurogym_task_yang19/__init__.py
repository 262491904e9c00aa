"""The twenty tasks of Yang et al. (2019), as published."""
