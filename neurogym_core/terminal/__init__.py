"""Parts of commands: options, pages, progress bars, completion. Commands of other packages use them as `ngym` does."""
