"""The shortcut audit: the performance of policies that leave out a part of the task.

`measure_shortcuts` returns it for one task. The modules: `views` draws trials and reduces them to
a row of columns each, `answers` scores every answer to every trial, `classify` learns answers from
columns, `blind` plays policies that look at nothing, `measures` puts them together, `stored` reads
and writes the numbers in manifests.
"""
