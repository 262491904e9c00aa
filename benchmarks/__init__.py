"""How fast this is beside NeuroGym 2.3.1, in one run: ``python -m benchmarks`` (see
`README.md`).
"""
