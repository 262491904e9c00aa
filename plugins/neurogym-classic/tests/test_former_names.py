"""Errors about names of NeuroGym (parameters, rewards, attributes) have their replacements."""

from __future__ import annotations

import pytest

import neurogym_core
from neurogym_core import Dataset, UnknownNameError, make, make_task, make_vec
from neurogym_core.tools import refresh


@pytest.mark.parametrize(
    ("task", "given", "words"),
    [
        ("PerceptualDecisionMaking-v0", {"cohs": [0, 51.2]}, "NeuroGym's 'cohs' is 'coherences'"),
        ("PerceptualDecisionMaking-v0", {"dim_ring": 2}, "NeuroGym's 'dim_ring' is 'directions'"),
        ("PerceptualDecisionMaking-v0", {"env_kwargs": {"dt": 20}}, "plain keywords here"),
        ("PerceptualDecisionMaking-v0", {"rewards": {"fail": -1}}, "NeuroGym's 'fail' is 'error'"),
        ("PerceptualDecisionMaking-v0", {"abort": True}, "'abort_ends_trial'"),
        ("ContextDecisionMaking-v0", {"use_expl_context": True}, "is 'context' here"),
        ("Bandit-v0", {"n": 2}, "'probabilities'"),
        ("DelayComparison-v0", {"vpairs": [(18, 10)]}, "'pairs'"),
        ("ReadySetGo-v0", {"gain": 1}, "'gains'"),
        ("ReadySetGo-v0", {"prod_margin": 0.2}, "'tolerance_share'"),
        ("ProbabilisticReasoning-v0", {"shape_weight": None}, "'weights'"),
        ("PulseDecisionMaking-v0", {"n_bin": 6}, "'bins'"),
        ("Detection-v0", {"stim_dur": 100}, "timing of a period"),
        ("ToneDetection-v0", {"rewards": {"noresp": 0}}, "'miss'"),
        ("MemoryRecall-v0", {"t_min": 1}, "'shortest'"),
        ("GoNogo-v0", {"batch_first": True}, "Arrays are \\(batch, time"),
        ("GoNogo-v0", {"max_batch": 10}, "endless"),
    ],
)
def test_a_parameter_of_neurogym_is_answered_with_its_present_name(task, given, words):
    with pytest.raises(UnknownNameError, match=words):
        make_task(task, **given)


@pytest.mark.parametrize(
    ("owner", "name", "words"),
    [
        ("env", "new_trial", "task.sample"),
        ("env", "ob", "trials.render"),
        ("env", "gt", "render_targets"),
        ("env", "start_ind", "trials.spans"),
        ("env", "trial", "env.conditions"),
        ("env", "gt_now", "env.target"),
        ("env", "dt", "env.task.dt"),
        ("env", "trial_length_stats", "'steps'"),
        ("dataset", "env", "dataset.n_inputs"),
        ("module", "all_tasks", "ngym list"),
        ("module", "info", "ngym info"),
        ("module", "register", "ngym new"),
        ("module", "TrialEnv", "neurogym_classic"),
    ],
)
def test_an_attribute_of_neurogym_is_answered_with_the_way_to_do_it_here(owner, name, words):
    env = make("GoNogo-v0")
    owners = {
        "env": (env, env.unwrapped, make_vec("GoNogo-v0", 2)),
        "dataset": (Dataset("GoNogo-v0"),),
        "module": (neurogym_core,),
    }
    for one in owners[owner]:
        assert not hasattr(one, name)
        with pytest.raises(AttributeError, match=f"NeuroGym's '{name}' is here: .*{words}"):
            getattr(one, name)
        with pytest.raises(AttributeError, match=r"no attribute 'nothing'\.?$"):
            one.nothing  # noqa: B018


def test_without_this_package_the_errors_have_no_such_hint(monkeypatch):
    monkeypatch.setenv("NGYM_BLOCK", "neurogym-classic")
    refresh()
    try:
        with pytest.raises(
            UnknownNameError, match=r"^Unknown parameter 'cohs' .*Known: "
        ) as caught:
            make_task("PerceptualDecisionMaking-v0", cohs=[0])
        assert "NeuroGym" not in str(caught.value)
        assert not hasattr(make("GoNogo-v0"), "start_ind")
        assert not hasattr(neurogym_core, "all_tasks")
    finally:
        refresh()
