"""Print the numbers of rsatoolbox and dsa-metric, as JSON, beside those of this package.

Run as ``python compare.py SITE``: SITE is the folder site-packages with this package.
"""

from __future__ import annotations

import json
import site
import sys

site.addsitedir(sys.argv[1])  # last: NumPy and the like are those of this environment

import numpy as np
from neurogym_neural import (
    Activity,
    dissimilarity,
    dynamical_distances,
    representation,
    similarity,
    to_rsatoolbox,
)
from rsatoolbox.inference import boot_noise_ceiling
from rsatoolbox.rdm import RDMs, calc_rdm, compare

rng = np.random.default_rng(0)


def recording(means: np.ndarray, seed: int) -> Activity:
    noise = np.random.default_rng(seed).standard_normal((90, 4, means.shape[1]))
    labels = np.arange(90) % len(means)
    areas = np.array(["V1", "LIP"])[np.arange(means.shape[1]) % 2]
    return Activity(means[labels][:, None] + noise, {"c": labels}, step=10, units={"area": areas})


def crossnobis(activity: Activity) -> np.ndarray:
    data = to_rsatoolbox(activity)
    rdm = calc_rdm(data, method="crossnobis", descriptor="c", cv_descriptor="half")
    return rdm.get_vectors()[0]


def turning(speed: float, seed: int) -> Activity:
    """Noisy rotations of two dimensions, seen by twelve units."""
    draw = np.random.default_rng(seed)
    turn = 0.98 * np.array([[np.cos(speed), -np.sin(speed)], [np.sin(speed), np.cos(speed)]])
    states, found = draw.normal(size=(30, 2)), []
    for _ in range(60):
        states = states @ turn.T + 0.01 * draw.normal(size=states.shape)
        found.append(states)
    rates = np.stack(found, axis=1) @ draw.normal(size=(2, 12))
    rates = rates + 0.01 * draw.normal(size=rates.shape)
    return Activity(rates, {"trial": np.arange(30)}, step=10)


means = rng.standard_normal((6, 20))
animals = [recording(means + 0.8 * rng.standard_normal(means.shape), k) for k in range(5)]
model, *subjects = (np.round(crossnobis(one), 1) for one in animals)  # rounded: some are equal
theirs = RDMs(np.array(subjects), dissimilarity_measure="crossnobis")
agreement = compare(RDMs(model[None]), theirs, method="spearman")
ours = representation(model, subjects)

a, b = rng.standard_normal((20, 7)), rng.standard_normal((20, 9))
b[:, :3] += a[:, :3]
pair = [Activity(rates[:, None], {"c": np.arange(20)}, step=10) for rates in (a, b)]
rdms = [calc_rdm(to_rsatoolbox(one), method="euclidean", descriptor="c") for one in pair]

data = to_rsatoolbox(animals[0])
same, other = (turning(speed, 2 + k) for k, speed in enumerate((0.2, 0.6)))
settings = {"delays": 5, "rank": 4}
print(
    json.dumps(
        {
            "distances": [dissimilarity(animals[0], "c").tolist(), crossnobis(animals[0]).tolist()],
            "representation": [
                [ours.correlation, ours.low, ours.high],
                [float(agreement.mean()), *boot_noise_ceiling(theirs, method="spearman")],
            ],
            # Linear CKA is their whitened cosine, and the Procrustes cosine their Bures similarity.
            "cka": [similarity(*pair), float(compare(*rdms, method="cosine_cov")[0, 0])],
            "procrustes": [
                similarity(*pair, "procrustes"), float(compare(*rdms, method="bures")[0, 0])
            ],
            "areas": np.asarray(data.channel_descriptors["area"]).tolist(),
            "conditions": np.asarray(data.obs_descriptors["c"]).tolist(),
            "dynamics": {
                score: dynamical_distances([turning(0.2, 1), same, other], score=score, **settings)
                .tolist()
                for score in ("wasserstein", "angular")
            },
        }
    )
)  # fmt: skip
