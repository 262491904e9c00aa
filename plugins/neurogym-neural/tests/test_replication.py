"""Each analysis says its unit of replication, and names multiple comparisons."""

from __future__ import annotations

import inspect

import neurogym_neural
import pytest
from neurogym_neural import Activity, signatures

# No numbers of a subject, but files, perturbations, and pieces of analyses.
OTHERS = {
    "add_to_nwb", "controls_of", "from_pynapple", "from_spikes", "marginalisations",
    "read_luo_2025", "read_nwb", "signature_of", "signatures", "to_rsatoolbox",
    "with_fitted_readout",
}  # fmt: skip
ANALYSES = [
    one
    for name in neurogym_neural.__all__
    if inspect.isfunction(one := getattr(neurogym_neural, name)) and name not in OTHERS
]


@pytest.mark.parametrize("analysis", [*ANALYSES, Activity.mean], ids=lambda one: one.__name__)
def test_the_unit_of_replication_and_multiple_comparisons_are_named(analysis):
    said = " ".join((inspect.getdoc(analysis) or "").split())
    assert "unit of replication" in said
    assert "ultiple comparisons" in said


def test_all_analyses_are_read():
    assert len(ANALYSES) >= 20
    assert set(neurogym_neural.__all__) >= OTHERS


def test_signatures_at_the_answer_refuse_answers_that_are_a_step():
    """Whatever is aligned to the answer calls `refuse_steps`."""
    aligned = [one for one in signatures() if 'align("answer"' in inspect.getsource(one.compute)]
    assert [one.name for one in aligned] == ["common-level-at-answer"]
    for one in aligned:
        assert "refuse_steps(" in inspect.getsource(one.compute)
