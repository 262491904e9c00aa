"""The registry of packages: its files, rules, index, catalogue page, and the client.

A registry is a folder in git (see ``registry/README.md``). Listing and loading installed packages
does not import this package."""
