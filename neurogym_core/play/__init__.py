"""The players of trials: a Gymnasium env, a vector env, and a dataset."""
