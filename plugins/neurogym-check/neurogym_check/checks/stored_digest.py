"""R: the behaviour of a task changes only with its version."""

from __future__ import annotations

from neurogym_check.candidate import Candidate
from neurogym_check.check_types import (
    CheckFailedError,
    NotApplicable,
    check,
    require,
)
from neurogym_check.digest import (
    FILE,
    Digest,
    changes,
    digest_of,
    digests_path,
    stored,
)


def _stored(candidate: Candidate) -> Digest | None:
    path = digests_path(candidate.info)
    if path is None:
        raise CheckFailedError(
            f"The folder of {candidate.info.distribution} cannot be found. Expected a package"
            " (a folder with modules)."
        )
    return stored(path).get(candidate.info.name)


@check("R001", kinds=("task",), installed=True)
def behaviour_matches_the_stored_digest(candidate: Candidate) -> None:
    """The behaviour of the task matches its stored digest.

    Before the task is published, overwrite the digest: `ngym check ID --write-digests --force`.
    After that, results of other users depend on the behaviour: give the changed task a new version
    (Name-v1 beside Name-v0), and store its digest with `ngym check ID --write-digests`. The message
    names the parts that have changed: declared (settings, channels, actions), trials (tables),
    session (draw), steps (hooks)."""
    known = _stored(candidate)
    if known is None:
        raise NotApplicable(
            f"no digest is stored; `ngym check {candidate.info.id} --write-digests` writes it"
        )
    changed = changes(known, digest_of(candidate.task))
    require(
        not changed,
        f"The digest differs from the stored one in {', '.join(changed)}.",
        changed=changed,
    )


@check("R002", level="full", kinds=("task",), installed=True)
def digest_is_stored(candidate: Candidate) -> None:
    """The package stores a digest of the task, so that changes of its behaviour are noticed.

    When the task is ready, write the digest with `ngym check ID --write-digests`, and commit
    digests.toml, which is beside ngym.toml."""
    require(
        _stored(candidate) is not None,
        f"{FILE} of {candidate.info.distribution} has no digest of {candidate.info.name!r}.",
    )
