"""Print the numbers of published packages for populations, as JSON, beside those of this package.

Run as ``python populations.py SITE``: SITE is the folder site-packages with this package.
"""

from __future__ import annotations

import json
import site
import sys

site.addsitedir(sys.argv[1])  # last: NumPy and the like are those of this environment

import mtdr
import numpy as np
import skdim
import tensorly
from decodanda import Decodanda
from dPCA.dPCA import dPCA
from mne.decoding import GeneralizingEstimator
from neurogym_neural import (
    Activity,
    cross_temporal,
    demixed,
    fit_mtdr,
    generalisation,
    participation_ratio,
    shattering,
    targeted,
)
from sklearn.linear_model import RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tensorly.decomposition import parafac


def noise(*shape, seed):
    return np.random.default_rng(seed).standard_normal(shape)


# ---- demixed principal components ----


def demixing(ridge: float) -> tuple[list, list]:
    """Return components and explained variance of three marginalisations, ours and theirs."""
    side, place, time = np.tile([0, 1, 2], 60), np.repeat([0, 1], 90), np.arange(8)
    signals = np.zeros((180, 8, 4))
    signals[..., 0] = (side[:, None] - 1) * time / 4
    signals[..., 1] = 2 * place[:, None] - 1
    signals[..., 2] = np.sin(time)
    signals[..., 3] = (side[:, None] - 1) * (2 * place[:, None] - 1)
    rates = signals @ noise(4, 20, seed=0) + noise(180, 8, 20, seed=1)
    means = Activity(rates, {"side": side, "place": place}, step=10).mean(["side", "place"])
    found = demixed(means, components=2, ridge=ridge)
    grid = means.mean.reshape(3, 2, 8, 20).astype(float).transpose(3, 0, 1, 2)  # units first
    grid -= grid.mean(axis=(1, 2, 3), keepdims=True)
    penalty = ridge * (grid**2).sum() / len(grid)
    join = {"side": ["s", "st"], "place": ["p", "pt"], "side x place": ["sp", "spt"], "time": ["t"]}
    regularizer = np.sqrt(penalty) / (grid**2).sum()
    theirs = dPCA("spt", join=join, n_components=2, regularizer=regularizer, n_iter=12)
    theirs.debug = 0
    theirs.fit(grid.copy())
    flat, total = grid.reshape(20, -1), (grid**2).sum()
    ours_: list = []
    theirs_: list = []
    for name, one in found.items():
        for kept, encoder, decoder in (
            (ours_, one.encoder.T, one.decoder),
            (theirs_, theirs.P[name], theirs.D[name]),
        ):
            rebuilt = encoder @ decoder.T @ flat
            kept.append([1 - ((flat - rebuilt) ** 2).sum() / total, *rebuilt[:, ::7].ravel()])
        ours_[-1][0] = one.share
    return np.array(ours_).tolist(), np.array(theirs_).tolist()


# ---- decoders ----


def across_time() -> list:
    side = np.repeat([0, 1], [60, 30])
    rates = 0.4 * (2 * side - 1)[:, None, None] * noise(5, 12, seed=2) + noise(90, 5, 12, seed=3)
    activity = Activity(rates, {"side": side}, step=10)
    part, rng = np.empty(90, int), np.random.default_rng(0)  # the folds of cross_temporal
    for value in (0, 1):
        mine = np.flatnonzero(side == value)
        part[rng.permutation(mine)] = np.arange(len(mine)) % 3
    right = np.zeros((90, 5, 5))
    x = activity.rates.astype(float).transpose(0, 2, 1)
    for fold in range(3):
        test = part == fold
        model = RidgeClassifier(alpha=(~test).sum(), class_weight="balanced")
        decoder = GeneralizingEstimator(make_pipeline(StandardScaler(), model), verbose=False)
        said = decoder.fit(x[~test], side[~test]).predict(x[test])
        right[test] = said == side[test][:, None, None]
    theirs = np.mean([right[side == value].mean(axis=0) for value in (0, 1)], axis=0)
    return [cross_temporal(activity, "side", folds=3).tolist(), theirs.tolist()]


def conditions(kind: str) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Return rates (600, 30) and three binary columns: places on axes, or at random."""
    bits = np.random.default_rng(4).integers(0, 2, (600, 3))
    places = noise(8, 30, seed=5)
    cell = bits @ [4, 2, 1]
    rates = (2 * bits - 1) @ noise(3, 30, seed=6) if kind == "axes" else places[cell]
    columns = {name: bits[:, k] for k, name in enumerate("abc")}
    return 0.4 * rates + noise(600, 30, seed=7), columns


def geometry(kind: str) -> dict[str, list[float]]:
    rates, columns = conditions(kind)
    activity = Activity(rates[:, None], columns, step=10)
    np.random.seed(0)  # noqa: NPY002 Decodanda draws from this generator
    theirs = Decodanda(
        {"raster": rates, "trial": np.arange(600), **columns},
        {name: [0, 1] for name in columns},
        classifier=RidgeClassifier(alpha=100.0),
        zscore=True,
        min_activations_per_cell=0,
    )
    across = theirs.CCGP_dichotomy("a", resamplings=10, split_rule="b")
    dichotomies = theirs.all_dichotomies(balanced=True)
    rest = {"training_fraction": 0.5, "cross_validations": 6}
    parted = [theirs.decode_dichotomy(one, **rest) for one in _lists(dichotomies)]
    return {
        "generalisation": [
            generalisation(activity, "a", "b", repeats=1).accuracy, float(np.mean(across))
        ],
        "shattering": [shattering(activity, "abc"), float(np.mean(parted))],
        "dichotomies": [35, len(parted)],
    }  # fmt: skip


def _lists(dichotomies) -> list:
    return list(dichotomies.values()) if isinstance(dichotomies, dict) else list(dichotomies)


# ---- axes and dimensions ----


def axes() -> list[list[float]]:
    """Return |cosines| of the axes of two correlated variables with those of mTDR."""
    first = noise(400, seed=8)
    variables = np.column_stack([first, 0.5 * first + noise(400, seed=9)])
    planted = noise(2, 25, seed=10)
    rates = variables @ planted + noise(400, 25, seed=11)
    model = mtdr.MTDR(ranks=[1, 1]).fit(np.repeat(rates[:, :, None], 2, axis=2), variables)
    ours = targeted(rates, variables).weights
    theirs = np.array([weights[:, 0] for weights in model.W_.values()])
    units = [one / np.linalg.norm(one, axis=1, keepdims=True) for one in (ours, theirs, planted)]
    cosines = np.abs(np.sum(units[0] * np.array(units[1:]), axis=2))
    return cosines.tolist()


def ranks() -> dict[str, int]:
    """Return the dimensions of a variable with one time course, and of one with two."""
    side, level = np.arange(240) % 2, np.random.default_rng(13).standard_normal(240)
    time = np.arange(10)
    courses = np.array([np.ones(10), np.sin(time), np.cos(time)])
    parts = courses[:, :, None] * noise(3, 1, 20, seed=14)
    rates = (2 * side - 1)[:, None, None] * parts[0] + level[:, None, None] * parts[1:].sum(axis=0)
    rates = rates + noise(240, 10, 20, seed=15)
    rates[:40, :, 3] = np.nan  # a unit that was not recorded in these trials
    activity = Activity(rates, {"side": np.array(["left", "right"])[side], "level": level}, step=10)
    return {name: int(rank) for name, rank in fit_mtdr(activity, ["side", "level"]).ranks_.items()}


def tensor() -> list[float]:
    """Return the relative errors of two components of a tensor of rank 2, and of one."""
    units, steps, trials = (noise(size, 2, seed=16 + k) for k, size in enumerate((12, 9, 30)))
    rates = np.einsum("ur,tr,nr->ntu", units, steps, trials)
    given = tensorly.tensor(
        Activity(rates, {"a": np.zeros(30)}, step=10).array("unit", "time", "trial").astype(float)
    )
    errors = []
    for rank in (2, 1):
        found = tensorly.cp_to_tensor(parafac(given, rank, random_state=0))
        errors.append(float(tensorly.norm(given - found) / tensorly.norm(given)))
    return errors


def dimensions() -> list[float]:
    rates = noise(300, 15, seed=12) * np.linspace(0.1, 3, 15)
    theirs = skdim.id.lPCA(ver="participation_ratio").fit(rates).dimension_
    return [participation_ratio(Activity(rates[:, None], {"a": np.zeros(300)}, step=1)), theirs]


print(
    json.dumps(
        {
            "demixed": demixing(1e-3),
            "demixed, strong penalty": demixing(1.0),
            "across time": across_time(),
            "on axes": geometry("axes"),
            "at random": geometry("random"),
            "axes": axes(),
            "ranks": ranks(),
            "tensor": tensor(),
            "dimensions": dimensions(),
        }
    )
)
