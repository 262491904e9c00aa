"""Signatures of neurons: numbers of networks, and whether they lie beyond those of controls."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import comb
from pathlib import Path
from typing import Any

import numpy as np

from neurogym_core import InvalidValueError, NeurogymError, NotSupportedError
from neurogym_core.tools import load, offers_of, unknown
from neurogym_neural.activity import Activity, refuse_missing

GROUP = "neurogym.neural_signatures"
CONTROLS = ("untrained", "inputs", "filters", "copy", "inputs and copy", "shuffled")
BEYOND, NOT_BEYOND = "beyond controls", "not beyond controls"
"""The two conclusions. A system without the computation may lie beyond the controls, too, and each
signature names some in `passes`: representations do not show how they were computed."""
GATE = 0.6
"""Performance of the answered trials below which a network says nothing about a signature."""
PULSE_AT = 100.0
"""Onset of the pulse of evidence from that of the stimulus, ms."""
HZ, TRIALS = 10.0, 600
"""Mean rate and number of trials of the counts of signatures that need the noise of spikes."""


@dataclass(frozen=True, eq=False)
class System:
    """Activity of one system in the trials of a task: a network, a control, or neurons.

    Attributes:
        activity: trials with the answers of this system in the column "choice" of the record, and
            "none" where there is none.
        pulsed: the same trials with a pulse of evidence from `PULSE_AT` ms after the onset of the
            stimulus; None: not recorded.
        performance: mean performance of the answered trials; NaN for controls.
        variant: which of several systems of a control it is, such as "100 ms" of the filters.
    """

    activity: Activity
    pulsed: Activity | None = None
    performance: float = np.nan
    variant: str = ""

    def observed(self, hz: float = HZ, trials: int = TRIALS, *, seed: int = 0) -> System:
        """Return counts of the same trials without and with the pulse, at one gain.

        Args:
            hz, seed: as in `Activity.observed`.
            trials: how many trials are drawn, at most.
        """
        n = len(self.activity)
        chosen = np.sort(np.random.default_rng(seed).permutation(n)[: min(trials, n)])
        plain = self.activity.select(chosen)
        if self.pulsed is None:
            return replace(self, activity=plain.observed(hz, seed=seed))
        both = [plain, self.pulsed.select(chosen)]
        # Answers may differ after the pulse, and controls lack some columns.
        shared = [name for name in both[0].record if name in both[1].record]
        parts = [
            one._with(one.rates, record={name: one.record[name] for name in shared}) for one in both
        ]
        counts = Activity.concatenate(parts).observed(hz, seed=seed)
        halves = [counts.select(np.arange(len(chosen)) + k * len(chosen)) for k in range(len(both))]
        own = [
            half._with(half.rates, record=one.record, events=one.events)
            for half, one in zip(halves, both, strict=True)
        ]
        return replace(self, activity=own[0], pulsed=own[1])


@dataclass(frozen=True)
class Part:
    """A number of a signature.

    Attributes:
        sign: the published sign, "+" or "-"; "": a fingerprint, which nothing passes or fails.
        least: the smallest size that counts: two numbers near 0 differ, too.
        beats: the controls that it has to exceed in this direction, its nulls.
        margin: by how much it has to exceed them: a control differs from itself in other trials.
    """

    sign: str
    least: float = 0.0
    beats: tuple[str, ...] = ()
    margin: float = 0.0


@dataclass(frozen=True)
class Signature:
    """A published effect in the activity of neurons.

    Attributes:
        name: name of the entry point.
        title, quantity: the effect, and its measure, in a sentence each.
        citation, doi: the source.
        tasks: parts of the names of the tasks in which it can be measured.
        parts: name -> the numbers, all of which have to pass.
        cheat: systems that have the naive sign, and are not beyond the controls here.
        passes: systems without the computation that are beyond the controls, too; "" for a
            fingerprint.
        published: the result of the source.
        checked: "verified" or "recalled", whether quantity and sign were read in the source.
        compute: function from a `System` to the number of each part.
        columns: columns of numbers of the record that every trial needs.
        counts: whether counts are drawn first, as a laboratory would record them.
        many: whether it needs the activity of a network in several tasks.
    """

    name: str
    title: str
    quantity: str
    citation: str
    doi: str
    tasks: tuple[str, ...]
    parts: Mapping[str, Part]
    cheat: str
    published: str
    checked: str
    compute: Callable[[System], dict[str, float]]
    columns: tuple[str, ...] = ()
    passes: str = ""
    counts: bool = False
    many: bool = False

    @property
    def judges(self) -> bool:
        """Whether there are controls to exceed; otherwise the numbers are a fingerprint."""
        return any(part.sign for part in self.parts.values())

    def applies_to(self, task: str) -> bool:
        """Return whether it can be measured in a task of this name."""
        return any(part in task for part in self.tasks)

    def measured(
        self, system: System, seed: int = 0, *, hz: float | None = None
    ) -> dict[str, float]:
        """Return the number of each part.

        Args:
            system: the system.
            seed: seed of the counts, if it draws some.
            hz: mean rate of the counts that are drawn first, spikes per second; None: rates, and
                10 for signatures of counts.

        Raises:
            NotSupportedError: the activity lacks something that the signature needs; the
                message is the reason.
        """
        record = system.activity.record
        try:
            refuse_missing(
                system.activity, [one for one in self.columns if one in record], self.name
            )
        except InvalidValueError as error:
            raise NotSupportedError(str(error)) from error
        if system.activity.kind == "rate" and (self.counts or hz is not None):
            system = system.observed(HZ if hz is None else hz, seed=seed)
        try:
            found = self.compute(system)
        except NotSupportedError:
            raise
        except NeurogymError as error:
            raise NotSupportedError(str(error).split(". ")[0] + ".") from error
        if sorted(found) != sorted(self.parts):
            raise unknown(
                "part", next(iter(set(found) ^ set(self.parts))), self.parts, of=self.name
            )
        return {name: float(found[name]) for name in self.parts}


@dataclass(frozen=True)
class Verdict:
    """The numbers of the networks and of all controls, and the conclusion.

    Attributes:
        signature: the signature.
        values: name of a system -> name of a part -> one number per network or control.
        place: "beyond controls", "not beyond controls", "cannot tell", or "" for a fingerprint.
        why: the reason, in a sentence.
        chance: probability that all networks exceed all untrained ones in one part, if they do not
            differ.
    """

    signature: Signature
    values: Mapping[str, Mapping[str, tuple[float, ...]]]
    place: str
    why: str
    chance: float


def judge(
    signature: Signature,
    networks: Sequence[System],
    controls: Mapping[str, Sequence[System]],
    *,
    hz: float | None = None,
) -> Verdict:
    """Return whether networks that differ in their seed lie beyond the controls of a signature.

    A network is beyond its controls if each part has the published sign and the least size, and
    lies beyond all values of each control that the signature names, by its margin. The interval
    of 95 % of the difference from each control (Welch's, over networks) has to exclude 0, too, if
    there are two networks and two systems of the control at least. Networks are the replication,
    not units or trials. Nothing is concluded if a control is missing or has no number, if the
    networks perform below 0.6, or if the signature is a fingerprint.

    The unit of replication is the network. Multiple comparisons over signatures: not corrected;
    `chance` is that of one part.

    Args:
        signature: the signature.
        networks: one system per network.
        controls: name -> systems; those of `CONTROLS` for all signatures.
        hz: as in `Signature.measured`: all systems at the noise of a recording.

    Raises:
        InvalidValueError: there is no network.
        NotSupportedError: the signature cannot be measured in a network.
    """
    if not networks:
        raise InvalidValueError(
            f"judge() was given no network for {signature.name!r}. Expected one or more. Give them."
        )
    values = {"network": _parts(signature, networks, hz)}
    missing = {}
    for name, systems in controls.items():
        values[name], reasons = _of_controls(signature, systems, hz)
        if len(reasons) == len(systems):
            del values[name]
            missing[name] = reasons[0] if reasons else "not recorded"
    chance = 1 / comb(len(networks) + len(controls.get("untrained", ())), len(networks))
    variants = {name: [one.variant for one in systems] for name, systems in controls.items()}
    place, why = _decided(signature, networks, values, missing, variants)
    return Verdict(signature, values, place, why, chance)


def _parts(
    signature: Signature, systems: Sequence[System], hz: float | None
) -> dict[str, tuple[float, ...]]:
    rows = [signature.measured(system, seed, hz=hz) for seed, system in enumerate(systems)]
    return {name: tuple(row[name] for row in rows) for name in signature.parts}


def _of_controls(
    signature: Signature, systems: Sequence[System], hz: float | None
) -> tuple[dict[str, tuple[float, ...]], list[str]]:
    """Return the numbers of a control, NaN where a system has none, and the reasons for these."""
    rows, reasons = [], []
    for seed, system in enumerate(systems):
        try:
            rows.append(signature.measured(system, seed, hz=hz))
        except NotSupportedError as error:
            rows.append(dict.fromkeys(signature.parts, np.nan))
            reasons.append(str(error))
    return {name: tuple(row[name] for row in rows) for name in signature.parts}, reasons


def _decided(
    signature: Signature,
    networks: Sequence[System],
    values: Mapping[str, Mapping[str, tuple[float, ...]]],
    missing: Mapping[str, str],
    variants: Mapping[str, Sequence[str]],
) -> tuple[str, str]:
    if not signature.judges:
        return "", signature.cheat
    low = [one.performance for one in networks if one.performance < GATE]
    if low:
        return "cannot tell", f"a network performs at {min(low):.2f}, below {GATE:g}"
    for name, part in signature.parts.items():
        if not part.sign:
            continue
        way = 1 if part.sign == "+" else -1
        own = way * np.array(values["network"][name])
        if not np.isfinite(own).all():
            return "cannot tell", f"{name} of a network is undefined"
        if own.min() <= 0:
            return NOT_BEYOND, f"{name} has not the published sign in all networks"
        if own.min() < part.least:
            return NOT_BEYOND, f"{name} is smaller than {part.least:g} in a network"
        for control in part.beats:
            other = way * np.array(values.get(control, {}).get(name, ()))
            if not len(other) or not np.isfinite(other).any():
                reason = missing.get(control, "not recorded")
                return "cannot tell", f"no number of the control {control!r} for {name}: {reason}"
            beyond = own.min() - np.nanmax(other)
            if beyond <= 0:
                return NOT_BEYOND, f"{name} does not exceed the control {control!r} in all networks"
            if beyond < part.margin:
                return NOT_BEYOND, (
                    f"{name} exceeds the control {control!r} by {beyond:.2f}, less than the margin"
                    f" {part.margin:g}, in a network"
                )
            for variant in dict.fromkeys(variants[control]):
                same = np.array([one == variant for one in variants[control]])
                least = _least_difference(own, other[same & np.isfinite(other)])
                if least <= 0:
                    return NOT_BEYOND, (
                        f"the interval of the difference from the control {control!r} in {name}"
                        f" begins at {least:.2f}, and includes 0"
                    )
    return BEYOND, "all parts have the published sign and exceed their controls"


def _least_difference(own: np.ndarray, other: np.ndarray) -> float:
    """Return the lower end of Welch's interval of 95 %; infinity with fewer than two values."""
    if min(len(own), len(other)) < 2:
        return np.inf
    from scipy.special import stdtrit

    spreads = np.array([one.var(ddof=1) / len(one) for one in (own, other)])
    difference = float(own.mean() - other.mean())
    if not spreads.sum() > 0:
        return difference
    freedom = spreads.sum() ** 2 / sum(
        spread**2 / (len(one) - 1) for spread, one in zip(spreads, (own, other), strict=True)
    )
    return difference - float(stdtrit(freedom, 0.975) * np.sqrt(spreads.sum()))


def signature(name: str) -> Callable[[Callable[[System], dict[str, float]]], Signature]:
    """Return a decorator that makes a function the computation of a signature of this package."""

    def decorate(compute: Callable[[System], dict[str, float]]) -> Signature:
        return signature_of(name, _said()[name], compute)

    return decorate


def signature_of(
    name: str, said: Mapping[str, Any], compute: Callable[[System], dict[str, float]]
) -> Signature:
    """Return a signature from its entry in a TOML file, for packages that offer some.

    Raises:
        InvalidValueError: keys are missing or unknown, or a sign or a control is.
    """
    required = {
        "title", "quantity", "citation", "doi", "tasks", "parts", "cheat", "published", "checked",
    }  # fmt: skip
    wrong = (required - set(said)) | (
        set(said) - required - {"columns", "counts", "many", "passes"}
    )
    if wrong or said["checked"] not in ("verified", "recalled"):
        raise InvalidValueError(
            f"The signature {name!r} was given the keys {sorted(said)}. Expected"
            f" {sorted(required)}, and checked to be 'verified' or 'recalled'. Correct"
            f" {sorted(wrong) or 'checked'}."
        )
    parts = {
        part: Part(
            one["sign"], one.get("least", 0.0), tuple(one.get("beats", ())), one.get("margin", 0.0)
        )
        for part, one in said["parts"].items()
    }
    if any(part.sign for part in parts.values()) != bool(said.get("passes")):
        raise InvalidValueError(
            f"The signature {name!r} was given passes={said.get('passes', '')!r}. Expected the"
            " systems without the computation that are beyond its controls, if a part has a sign,"
            " and nothing for a fingerprint. Correct passes."
        )
    for part in parts.values():
        judged = bool(part.sign)
        wrong = set(part.beats) - set(CONTROLS)
        wrong |= {"sign"} if part.sign not in ("+", "-", "") else set()
        wrong |= {"beats"} if bool(part.beats) != judged else set()
        wrong |= {"margin"} if (part.margin > 0) != judged else set()
        if wrong:
            raise InvalidValueError(
                f"The signature {name!r} was given {part}. Expected a sign with the controls that"
                f" it exceeds, of {', '.join(CONTROLS)}, and a margin above 0; or none of them."
                f" Correct {', '.join(sorted(wrong))}."
            )
    more = {key: said[key] for key in said if key not in ("tasks", "parts", "columns")}
    tasks, columns = (tuple(said.get(key, ())) for key in ("tasks", "columns"))
    return Signature(name, compute=compute, tasks=tasks, parts=parts, columns=columns, **more)


def signatures() -> list[Signature]:
    """Import and return the signatures of all installed packages, by name.

    Raises:
        NotSupportedError: an entry point is not a `Signature`.
    """
    found = []
    for offer in offers_of(GROUP):
        if offer.usable:
            one = load(offer)
            if not isinstance(one, Signature):
                raise NotSupportedError(
                    f"The entry point {offer.name!r} of {offer.distribution} is a"
                    f" {type(one).__name__}. Expected a Signature. Ask its authors."
                )
            found.append(one)
    return found


@cache
def _said() -> dict[str, dict[str, Any]]:
    path = Path(__file__).with_name("published.toml")
    return tomllib.loads(path.read_text(encoding="utf-8"))
