"""Activity of networks and of recorded neurons: one type, analyses of it, and signatures."""

from neurogym_neural.activity import Activity, Means
from neurogym_neural.adapters import dynamical_distances, fit_mtdr, to_rsatoolbox
from neurogym_neural.coding import Tuning, cross_temporal, decode, participation_ratio, tuning
from neurogym_neural.controls import controls_of, with_fitted_readout
from neurogym_neural.dynamics import FixedPoints, fixed_points
from neurogym_neural.geometry import Generalisation, generalisation, shattering, similarity
from neurogym_neural.laboratories import read_luo_2025
from neurogym_neural.perturbations import Freeze, Pulse, Silence
from neurogym_neural.populations import (
    Axes,
    Demixed,
    Representation,
    Rotations,
    clusters,
    demixed,
    dissimilarity,
    marginalisations,
    representation,
    rotations,
    targeted,
    task_variance,
)
from neurogym_neural.recordings import add_to_nwb, from_pynapple, from_spikes, read_nwb
from neurogym_neural.signatures import (
    Scaling,
    category_index,
    pulse_effect,
    temporal_scaling,
    weights_correlation,
)
from neurogym_neural.verdicts import (
    Part,
    Signature,
    System,
    Verdict,
    judge,
    signature_of,
    signatures,
)

__all__ = [
    "Activity",
    "Axes",
    "Demixed",
    "FixedPoints",
    "Freeze",
    "Generalisation",
    "Means",
    "Part",
    "Pulse",
    "Representation",
    "Rotations",
    "Scaling",
    "Signature",
    "Silence",
    "System",
    "Tuning",
    "Verdict",
    "add_to_nwb",
    "category_index",
    "clusters",
    "controls_of",
    "cross_temporal",
    "decode",
    "demixed",
    "dissimilarity",
    "dynamical_distances",
    "fit_mtdr",
    "fixed_points",
    "from_pynapple",
    "from_spikes",
    "generalisation",
    "judge",
    "marginalisations",
    "participation_ratio",
    "pulse_effect",
    "read_luo_2025",
    "read_nwb",
    "representation",
    "rotations",
    "shattering",
    "signature_of",
    "signatures",
    "similarity",
    "targeted",
    "task_variance",
    "temporal_scaling",
    "to_rsatoolbox",
    "tuning",
    "weights_correlation",
    "with_fitted_readout",
]
