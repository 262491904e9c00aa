"""Activity of networks and of recorded neurons: one type, and analyses of it."""

from neurogym_neural.activity import Activity, Means
from neurogym_neural.coding import Tuning, cross_temporal, decode, participation_ratio, tuning
from neurogym_neural.dynamics import FixedPoints, fixed_points
from neurogym_neural.geometry import Generalisation, generalisation, similarity
from neurogym_neural.signatures import (
    Scaling,
    category_index,
    pulse_effect,
    temporal_scaling,
    weights_correlation,
)

__all__ = [
    "Activity",
    "FixedPoints",
    "Generalisation",
    "Means",
    "Scaling",
    "Tuning",
    "category_index",
    "cross_temporal",
    "decode",
    "fixed_points",
    "generalisation",
    "participation_ratio",
    "pulse_effect",
    "similarity",
    "temporal_scaling",
    "tuning",
    "weights_correlation",
]
