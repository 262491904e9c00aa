"""The five wrappers of the core, in four files.

A `TaskWrapper` makes a task from a task, and changes the trials. A wrapper of envs changes the
results of `step`; its attribute `vector` is the wrapper for vector envs. All other wrappers are in
the package neurogym-wrappers."""
