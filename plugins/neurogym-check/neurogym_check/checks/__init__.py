"""The checks, a module for each family; importing this package registers them all."""

from neurogym_check.checks import (
    determinism,
    gymnasium_api,
    packaging,
    spaces_and_values,
    stored_digest,
    subject_behaviour,
    trial_protocol,
)

__all__ = [
    "determinism",
    "gymnasium_api",
    "packaging",
    "spaces_and_values",
    "stored_digest",
    "subject_behaviour",
    "trial_protocol",
]
