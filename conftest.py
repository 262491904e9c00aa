"""Settings of Hypothesis for all tests, the core's and the plug-ins', and the names of failures."""

from __future__ import annotations

import contextlib

import pytest

# An import of pip, which some tests make, hides setuptools' own distutils, and setuptools, which
# torch.compile imports, then refuses to be imported.
with contextlib.suppress(ImportError):
    import setuptools  # noqa: F401

# The tests of an installed package may run without Hypothesis.
with contextlib.suppress(ImportError):
    from hypothesis import settings

    # A deadline measures the machine, and a busy one fails. The same examples every time: red is
    # red for everybody.
    settings.register_profile("neurogym", deadline=None, derandomize=True)
    settings.load_profile("neurogym")


def pytest_report_teststatus(report):
    """Name a test that fails at once, in place of a letter: a run takes minutes."""
    if report.failed:
        category, letter = ("failed", "F") if report.when == "call" else ("error", "E")
        crash = getattr(report.longrepr, "reprcrash", None)
        reason = crash.message.partition("\n")[0] if crash else ""
        return category, f"{letter} {report.nodeid} {reason}\n", category.upper()
    return None


# Of the parameters of these tests, every n-th is a fast test, and the others are slow ones: they
# are many of one kind, and the fast tests have to end within ten minutes.
SAMPLED = {
    "test_a_dataset_shows_what_the_env_plays_under_the_oracle": 2,
    "test_a_policy_is_found_where_it_solves_the_task": 3,
    "test_a_report_writes_each_figure": 3,
    "test_a_shortcut_that_is_put_back_is_found": 4,
    "test_a_subject_that_peeks_cannot_play": 3,
    "test_a_vector_env_of_one_is_the_single_env_in_all_sessions": 2,
    "test_an_accepted_drawing_loads_and_changes_nothing": 2,
    "test_an_address_that_the_registry_could_not_store_counts_as_none": 3,
    "test_an_answer_of_another_form_describes_no_task": 4,
    "test_an_attribute_of_a_wrapper_may_have_any_private_name": 4,
    "test_an_authors_attribute_may_have_any_private_name": 4,
    "test_an_authors_helper_may_have_any_private_name": 4,
    "test_an_index_without_a_valid_signature_of_its_signer_is_refused": 3,
    "test_both_kernels_say_the_same_bits": 2,
    "test_copies_in_mid_trial_go_on_alike_and_alone_also_with_the_other_kernel": 2,
    "test_dataset_is_what_an_env_shows_and_wants": 3,
    "test_each_wrapper_on_a_task_of_each_kind": 2,
    "test_every_task_gives_the_trace_of_one_whole_trial": 4,
    "test_gymnasium_makes_it_by_name": 3,
    "test_half_of_the_pairs_on_one_task": 4,
    "test_nothing_is_cut_off": 3,
    "test_odd_tasks_are_right": 3,
    "test_other_time_steps_work": 3,
    "test_overwriting_what_was_returned_changes_nothing_later": 3,
    "test_players_do_not_notice": 3,
    "test_shortcuts_earn_what_the_pages_say": 3,
    "test_steps_in_buffers_are_those_in_new_arrays": 3,
    "test_subjects_earn_what_the_pages_say": 3,
    "test_supervised_tasks_make_datasets_and_others_say_why_not": 3,
    "test_task_conforms": 3,
    "test_tasks_are_values": 3,
    "test_the_ideal_observer_reaches_the_ideal_of_the_manifest": 3,
    "test_the_record_has_names_of_choices_or_their_indices": 3,
    "test_the_trial_that_ended_is_not_played_on": 3,
    "test_the_verified_copy_is_used_instead": 3,
    "test_threads_that_share_an_env_get_an_error_that_says_so": 3,
    "test_trials_are_counted_without_gaps_and_sessions_have_their_length": 2,
    "test_values_that_a_condition_cannot_have_are_refused_in_words": 3,
    "test_vector_env_plays_as_the_reference": 3,
    "test_what_importing_does_besides_is_caught": 3,
    "test_what_is_no_attestation_is_refused": 2,
}


def pytest_collection_modifyitems(items):
    """Mark as slow the checks that measure the shortcuts of installed tasks (up to a minute each),
    and the parameters that SAMPLED leaves out. Conformance is sampled by task.
    """
    seen: dict[str, dict] = {}
    for item in items:
        if item.name.endswith(("-A002]", "-A004]")):
            item.add_marker(pytest.mark.slow)
        name = getattr(item, "originalname", item.name)
        if name in SAMPLED and item.get_closest_marker("slow") is None:
            of_test = seen.setdefault(item.nodeid.partition("[")[0], {})
            conforms = name == "test_task_conforms"
            parameters = str(item.callspec.params["task"]) if conforms else item.nodeid
            if of_test.setdefault(parameters, len(of_test)) % SAMPLED[name]:
                item.add_marker(pytest.mark.slow)
