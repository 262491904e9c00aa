"""Trials are handed over to other libraries, which recover the simulated effects.

Fixed seeds; bounds are four standard errors or more unless stated otherwise: a false alarm in fewer
than 1 of 10,000. Tests are skipped where a library is not installed (extras ``models``, ``hssm``).
"""

from __future__ import annotations

import numpy as np
import pytest
from neurogym_behaviour.psychometric import fit_curve
from neurogym_records import handover as m

from neurogym_core import InvalidValueError


@pytest.fixture
def rng():
    return np.random.default_rng(8)


def test_statsmodels_takes_choices_and_regressors(rng):
    import statsmodels.formula.api as smf

    evidence, last = rng.normal(size=4000), rng.choice([-1.0, 1.0], 4000)
    chose = rng.random(4000) < 1 / (1 + np.exp(-(1.5 * evidence + 0.4 * last)))
    evidence[0] = np.nan
    frame = m.for_statsmodels(chose, {"evidence": evidence, "last": last})
    assert len(frame) == 3999
    fit = smf.logit("chose ~ evidence + last", frame).fit(disp=False)
    for name, truth in (("Intercept", 0.0), ("evidence", 1.5), ("last", 0.4)):
        assert abs(fit.params[name] - truth) < 4 * fit.bse[name], name


def test_records_are_handed_to_other_libraries():
    times, correct = np.array([300.0, np.nan, 450.0]), np.array([True, False, False])
    frame = m.for_hssm(times, correct, coherence=np.array([1, 2, 3]))
    assert frame["rt"].tolist() == [0.3, 0.45]
    assert frame["response"].tolist() == [1, -1]
    assert frame["coherence"].tolist() == [1, 3]
    assert m.for_psignifit([1, 2, 2], [0, 1, 0]).tolist() == [[1, 0, 1], [2, 1, 2]]
    data = m.for_psytrack([0, 1, 1], {"contrast": [0.1, 0.2, 0.3]})
    assert data["y"].tolist() == [1, 2, 2]
    assert data["inputs"]["contrast"].shape == (3, 1)


HANDED = (
    lambda answers: m.for_statsmodels(answers, {"x": np.arange(4.0)})["chose"],
    lambda answers: m.for_psytrack(answers, {"x": np.arange(4.0)})["y"] - 1,
    lambda answers: m.for_dynamax(answers, {"x": np.arange(4.0)})[0],
    lambda answers: m.for_psignifit([1, 1, 1, 1], answers)[:, 1:].ravel(),
    lambda answers: m.for_hssm([300, 300, 300, 300], answers)["response"],
)


@pytest.mark.parametrize("hand_over", HANDED)
def test_only_answered_trials_are_handed_over(hand_over):
    """Misses coded as -1 would be choices of another side."""
    with pytest.raises(InvalidValueError, match=r"Trial 2 has the answer -1\. Expected 0, 1 or"):
        hand_over([0, 1, -1, 1])
    found = list(hand_over([0, 1, np.nan, 1]))
    assert found in ([0, 1, 1], [2, 3], [-1, 1, 1])


def test_trials_without_a_time_are_not_handed_over():
    frame = m.for_hssm([300, np.nan, 500], [1, -1, 0], side=["l", "r", "l"])
    assert frame["rt"].tolist() == [0.3, 0.5]
    assert frame["response"].tolist() == [1, -1]
    assert frame["side"].tolist() == ["l", "l"]


@pytest.mark.slow
def test_dynamax_finds_the_state_in_which_evidence_counts(rng):
    """Two states, engaged (weight 4) and biased (weight 0): the GLM-HMM of Ashwood et al. 2022."""
    dynamax = pytest.importorskip("dynamax.hidden_markov_model", reason="dynamax is not installed")
    import jax

    n, engaged = 3000, np.empty(3000, bool)
    engaged[0] = True
    for k in range(1, n):
        engaged[k] = engaged[k - 1] ^ (rng.random() < 0.02)
    evidence = rng.normal(size=n)
    drive = np.where(engaged, 4 * evidence, 2.0)
    chose = (rng.random(n) < 1 / (1 + np.exp(-drive))).astype(float)
    chose[::50] = np.nan
    emissions, inputs = m.for_dynamax(chose, {"evidence": evidence})
    assert inputs.shape == (n - 60, 1)
    model = dynamax.LogisticRegressionHMM(2, 1)
    start, properties = model.initialize(
        jax.random.PRNGKey(1), method="kmeans", emissions=emissions, inputs=inputs
    )
    found, _ = model.fit_em(
        start, properties, emissions, inputs=inputs, num_iters=60, verbose=False
    )
    weights = np.sort(np.asarray(found.emissions.weights)[:, 0])
    assert weights[0] == pytest.approx(0, abs=0.7)
    assert weights[1] == pytest.approx(4, abs=1.0)
    assert np.diag(found.transitions.transition_matrix).min() > 0.95


@pytest.mark.slow
def test_psignifit_finds_the_threshold_of_our_fit(rng):
    psignifit = pytest.importorskip("psignifit", reason="psignifit is not installed")
    strength = rng.choice([1.0, 2.0, 4.0, 8.0, 16.0, 32.0], 3000)
    right = 0.5 + 0.48 * (1 - np.exp(-((strength / 8) ** 1.5)))
    hit = rng.random(3000) < right
    data = m.for_psignifit(strength, hit)
    theirs = psignifit.psignifit(data, experiment_type="2AFC", sigmoid="weibull")
    ours = fit_curve(data[:, 0], data[:, 1], data[:, 2], shape="weibull", guess=0.5)
    # psignifit's threshold is where half of the curve is reached; ours, where 1 - 1/e is.
    half = ours.threshold * np.log(2) ** (1 / ours.slope)
    low, high = (end * np.log(2) ** (1 / ours.slope) for end in ours.intervals["threshold"])
    assert abs(theirs.parameter_estimate["threshold"] - half) < 2 * (high - low) / 3.92 * 2
    assert theirs.parameter_estimate["lambda"] == pytest.approx(ours.lapse, abs=0.03)


@pytest.mark.slow
def test_psytrack_follows_a_weight_that_drifts(rng):
    psytrack = pytest.importorskip("psytrack", reason="psytrack is not installed")
    n = 1200
    contrast, weight = rng.choice([-1.0, 1.0], n), np.linspace(0.2, 3.0, n)
    chose = rng.random(n) < 1 / (1 + np.exp(-weight * contrast))
    data = m.for_psytrack(chose, {"contrast": contrast})
    weights = {"contrast": 1}
    hyper = {"sigInit": 2.0**4, "sigma": [2.0**-4], "sigDay": None}
    _, _, found, _ = psytrack.hyperOpt(data, hyper, weights, ["sigma"])
    # Means over 400 trials; their posterior SD is about 0.2.
    assert found[0, :400].mean() == pytest.approx(weight[:400].mean(), abs=0.8)
    assert found[0, -400:].mean() == pytest.approx(weight[-400:].mean(), abs=0.8)


@pytest.mark.slow
def test_pyddm_recovers_the_drift_of_simulated_trials(rng):
    pyddm = pytest.importorskip("pyddm", reason="PyDDM is not installed")
    truth = pyddm.gddm(drift=1.2, bound=0.8, noise=1.0, nondecision=0.3, T_dur=4.0)
    drawn = truth.solve().sample(600, seed=3).to_pandas_dataframe(drop_undecided=True)
    times = np.append(1000 * drawn["RT"].to_numpy(), np.nan)  # one trial without an answer
    correct = np.append(drawn["choice"].to_numpy() > 0, False)
    sample = m.for_pyddm(times, correct, block=np.ones(len(times), int))
    assert len(sample) == len(drawn)
    assert list(sample.condition_names()) == ["block"]
    losses = {
        drift: pyddm.get_model_loss(
            pyddm.gddm(drift=drift, bound=0.8, noise=1.0, nondecision=0.3, T_dur=4.0,
                       conditions=["block"]),
            sample,
        )
        for drift in (0.6, 1.2, 1.8)
    }  # fmt: skip
    assert min(losses, key=losses.get) == 1.2


def first_passage(seconds, upper, drift, half, start):
    """Density of the time of a diffusion (unit noise) at one of two bounds, 1/s, (n,).

    The bounds are 0 and 2 `half`, and it starts at 2 `half` `start`: the series of Feller (1968),
    for times that are not short.
    """
    v, w = (-drift, 1 - start) if upper else (drift, start)
    k, width = np.arange(1, 200)[:, None], 2 * half
    terms = k * np.exp(-((np.pi * k / width) ** 2) * seconds / 2) * np.sin(np.pi * k * w)
    return np.pi / width**2 * np.exp(-v * width * w - v**2 * seconds / 2) * terms.sum(axis=0)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # PyTensor warns of a missing BLAS
def test_hssm_has_the_likelihood_of_the_diffusion(rng):
    """Its log-likelihood of each trial of the table is that of the textbook's series."""
    hssm = pytest.importorskip("hssm", reason="HSSM is not installed")
    pymc = pytest.importorskip("pymc", reason="PyMC is not installed")
    times, correct = rng.gamma(6, 100, 200) + 300, rng.random(200) < 0.8
    times[0] = np.nan  # not answered
    table = m.for_hssm(times, correct)
    seconds, upper = table["rt"].to_numpy(), (table["response"] == 1).to_numpy()
    model = hssm.HSSM(data=table, model="ddm", p_outlier=None, lapse=None).pymc_model
    given = {"v": 0.9, "a": 0.8, "z": 0.55, "t": 0.2}
    (observed,) = model.observed_RVs
    theirs = pymc.logp(observed, model.rvs_to_values[observed]).eval(
        {model[name]: np.asarray(value) for name, value in given.items()}
    )
    ours = np.where(
        upper,
        *(np.log(first_passage(seconds - 0.2, side, 0.9, 0.8, 0.55)) for side in (True, False)),
    )
    assert len(theirs) == 199
    assert theirs == pytest.approx(ours, abs=1e-9)


@pytest.mark.parametrize(
    ("hand_over", "said"),
    [
        (lambda: m.for_hssm([0.5, 0.6], [0, 1]), "or seconds"),
        (lambda: m.for_hssm([-300, 500], [0, 1]), "0 or less"),
        (lambda: m.for_hssm([300, 500], [0, 1], rt=[9, 9]), "a condition 'rt'"),
        (lambda: m.for_statsmodels([0, 1], {"chose": [5, 6]}), "The column 'chose' was given"),
        (lambda: m.for_statsmodels([0, 1], {"x": [1.0, np.inf]}), "Expected finite values"),
        (lambda: m.for_psytrack([0, 1], {"x": [1.0]}), "there are 2 answers"),
    ],
)
def test_tables_that_would_mislead_are_refused(hand_over, said):
    with pytest.raises(InvalidValueError, match=said):
        hand_over()
