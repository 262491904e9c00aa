"""The commands that this package adds to ``ngym``.

A module imports nothing but click, the standard library and light parts of the core at its top."""
