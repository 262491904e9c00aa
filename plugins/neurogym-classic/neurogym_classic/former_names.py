"""A hook for the errors about unknown names: replacements of the names of NeuroGym."""

from __future__ import annotations

from collections.abc import Sequence

from neurogym_core import hookimpl

_NEW = {
    "cohs": ("coherences",),
    "dim_ring": ("directions", "units"),
    "n_loc": ("places", "directions"),
    "prod_margin": ("tolerance", "tolerance_share"),
    "n_ch": ("choices",),
    "use_expl_context": ("cued", "context"),
    "impl_context_modality": ("context",),
    "fail": ("error",),
    "noresp": ("miss",),
    "abort": ("abort_ends_trial",),
    "n": ("probabilities",),
    "p": ("probabilities",),
    "vpairs": ("pairs",),
    "gain": ("gains",),
    "shape_weight": ("weights",),
    "n_bin": ("bins",),
    "p_pulse": ("p_rich",),
    "lowbound": ("low",),
    "highbound": ("high",),
    "stim_scale": ("stimulus_scale",),
    "cxt_ch_prob": ("change_probability",),
    "cxt_cue": ("context_cue",),
    "th_stage": ("threshold",),
    "trials_day": ("day",),
    "t_min": ("shortest",),
    "t_max": ("longest",),
    "stim_dim": ("size",),
}
"""{name of a parameter or reward: its names here; the first that the task has is the answer}"""

_ELSEWHERE = {
    "env_kwargs": "NeuroGym's env_kwargs are plain keywords here, as in Dataset(task, dt=20).",
    "batch_first": "Arrays are (batch, time, …) here, as with NeuroGym's batch_first=True; leave it"
    " out, or transpose them.",
    "max_batch": "A Dataset is endless here; leave it out, or take as many batches as you need.",
    "cache_len": "A Dataset draws its trials ahead by itself; leave it out.",
    "stim_dur": "NeuroGym's 'stim_dur' is the timing of a period here: timing={'stimulus': …}.",
    "delay": "NeuroGym's 'delay' is the timing of a period here: timing={'delay': …}.",
}
"""{keyword: sentence that says what to do}"""

_OF_ENVS = {
    "new_trial": "task = make_task(…); trials = task.sample(1, coherence=51.2)",
    "ob": "trials.render(seed=0) of trials = task.sample(…), or dataset batches",
    "ob_now": "the observation that reset and step return",
    "gt": "trials.render_targets() of trials = task.sample(…), or batch.targets",
    "gt_now": "env.target, or info['gt'] of an env with info='full'",
    "trial": "env.conditions; info['trial'] when a trial has ended",
    "start_ind": "trials.spans(0) of trials = task.sample(…): (period, first step, last step + 1)",
    "end_ind": "trials.spans(0) of trials = task.sample(…): (period, first step, last step + 1)",
    "start_t": "trials.spans(0) of trials = task.sample(…), in steps of env.task.dt ms",
    "end_t": "trials.spans(0) of trials = task.sample(…), in steps of env.task.dt ms",
    "in_period": "env.period == 'stimulus'",
    "performance": "info['trial']['performance'] when a trial has ended",
    "t": "trials.spans(0), or the number of steps since info['new_trial']",
    "t_ind": "trials.spans(0), or the number of steps since info['new_trial']",
    "num_tr": "env.trial_number",
    "dt": "env.task.dt",
    "timing": "env.task.timing",
    "rewards": "env.task.rewards",
    "abort": "env.task.abort_ends_trial",
    "seed": "env.reset(seed=0)",
    "trial_length_stats": "run(task, 'oracle', 100)['steps'].mean(), in steps",
}
_OF_DATASETS = {
    "env": "dataset.task, dataset.n_inputs and dataset.n_outputs; make(dataset.task) is an env",
}
_OF_MODULE = {
    "get_collection": "`ngym list NAMESPACE` on the command line",
    "all_tasks": "`ngym list` on the command line",
    "all_envs": "`ngym list` on the command line",
    "all_wrappers": "`ngym list --wrappers` on the command line",
    "info": "`ngym list` and `ngym info TASK` on the command line",
    "register": "the entry points of a package (`ngym new`), or 'file.py:Class' as a task",
    "envs": "`ngym list` on the command line; make(ID) makes an env",
    "config": "keywords of make, Dataset and SB3VecEnv, or an experiment file of `ngym train`",
    "TrialEnv": "Task, or for task files of NeuroGym neurogym_classic.TrialEnv",
    "TrialWrapper": "TaskWrapper, or a gymnasium.Wrapper",
    "spaces": "observe(…) and act(…) in Task.define",
    "random": "distributions, such as Uniform(500, 1500) and TruncatedExponential(…)",
    "utils": "the packages neurogym-behaviour and neurogym-plot",
    "wrappers": "make(task, wrap='PassReward')",
}

_ATTRIBUTES = {"env": _OF_ENVS, "dataset": _OF_DATASETS, "module": _OF_MODULE}


@hookimpl
def ngym_unknown_name(kind: str, name: str, known: Sequence[str]) -> str | None:
    """Return a sentence about a name of NeuroGym, or None for any other name."""
    if kind in _ATTRIBUTES:
        use = _ATTRIBUTES[kind].get(name)
        return None if use is None else f"NeuroGym's {name!r} is here: {use}."
    if kind != "argument" or name in known:
        return None
    if name in _ELSEWHERE:
        return _ELSEWHERE[name]
    new = next((new for new in _NEW.get(name, ()) if new in known), None)
    return None if new is None else f"NeuroGym's {name!r} is {new!r} here."
