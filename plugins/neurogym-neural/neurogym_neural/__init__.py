"""Activity of networks and of recorded neurons: one type, and analyses of it."""

from neurogym_neural.activity import Activity, Means
from neurogym_neural.coding import Tuning, cross_temporal, decode, participation_ratio, tuning
from neurogym_neural.geometry import Generalisation, generalisation, similarity

__all__ = [
    "Activity",
    "Generalisation",
    "Means",
    "Tuning",
    "cross_temporal",
    "decode",
    "generalisation",
    "participation_ratio",
    "similarity",
    "tuning",
]
