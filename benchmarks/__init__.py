"""Measure the speed relative to NeuroGym 2.3.1: ``python -m benchmarks`` (see `README.md`)."""
