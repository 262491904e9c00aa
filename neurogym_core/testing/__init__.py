"""The subjects that learn, in `learners`."""
