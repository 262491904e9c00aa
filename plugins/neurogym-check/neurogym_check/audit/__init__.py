"""The shortcut audit: the performance of policies that leave out a part of the task.

`measure_shortcuts` returns it for one task. Policies play: `play` is the loop, `policies` has the
policies with their candidates, `played` chooses and tests them, `held` plays single trials. Only
classifiers see drawn trials: `views` reduces them to a row of columns each, `answers` scores every
answer to every trial, `classify` learns answers from columns. `measures` puts them together,
`stored` reads and writes the numbers in manifests.
"""
