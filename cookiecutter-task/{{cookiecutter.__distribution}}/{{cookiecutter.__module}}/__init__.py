"""{{ cookiecutter.__words }}, a task for neurogym-core."""
