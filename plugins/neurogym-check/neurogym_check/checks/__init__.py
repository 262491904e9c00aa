"""The checks, one module per family; importing this package registers all of them."""

from neurogym_check.checks import (
    answers,
    declarations,
    determinism,
    gymnasium_api,
    packaging,
    revealed,
    shortcuts,
    spaces_and_values,
    stored_digest,
    subject_behaviour,
    trial_protocol,
)

__all__ = [
    "answers",
    "declarations",
    "determinism",
    "gymnasium_api",
    "packaging",
    "revealed",
    "shortcuts",
    "spaces_and_values",
    "stored_digest",
    "subject_behaviour",
    "trial_protocol",
]
