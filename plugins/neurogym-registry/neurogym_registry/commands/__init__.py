"""The commands that this package adds to ``ngym``.

At their top, these modules import only click, the standard library and light parts of the core."""
