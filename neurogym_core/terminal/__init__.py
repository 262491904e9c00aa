"""Public parts of commands: options, pages, progress bars, completion.

`ngym` and the commands of other packages use them.
"""
