"""Discovery of installed packages: their tasks, wrappers, manifests and hooks."""
