"""The registry of packages: its files, the checks on them, the index that is built from them, and
the client.

A registry is a folder in git (see ``registry/README.md``). Nothing here is imported by listing or
loading what is installed."""
