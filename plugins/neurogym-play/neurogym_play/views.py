"""Stimuli for people: the stimuli that a manifest declares in ``[task.view]``, checked.

A stimulus is drawn from channels of the observation, and from nothing else: conditions, targets and
answers are not among its settings. See `docs/play.md` for its form."""

from __future__ import annotations

import importlib.util
import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from neurogym_core import InvalidValueError, NotSupportedError, Task
from neurogym_core.players import Dealer, Game
from neurogym_core.tools import (
    clean,
    did_you_mean,
    find_task,
    is_file_reference,
    listed,
    offers_of,
)

GROUP = "neurogym.views"
"""Entry points of drawings: ``name = "package:file.js"``."""
CHANNELS = ("channel", "colour_by", "count_by", "place_by")
"""Settings of a stimulus that name a channel."""
PLACES = ("at", "grid", "ring", "radius", "size", "colour")
OPTIONS: dict[str, tuple[str, ...]] = {
    "cross": (),
    "dots": ("gain", "colour_by"),
    "grating": ("gain", "moving"),
    "words": ("words", "inks", "colour_by", "place_by"),
    "arrow": ("angles", "place_by"),
    "symbol": (
        "symbols", "hue", "outline", "full", "noise", "colour_by", "count_by", "place_by",
    ),
    "target": ("gain", "outline"),
    "point": ("full", "outline", "always"),
    "bar": ("full", "noise"),
    "clicks": ("full", "words"),
    "sound": ("hz", "words"),
    "wheel": (),
}  # fmt: skip
"""Drawing -> its settings, beside `PLACES`."""
SYMBOLS = ("circle", "square", "triangle", "diamond", "star", "cross", "hexagon")
MOST_MODULE = 1 << 16
"""Largest file of a drawing of a package, bytes."""
OUTSIDE = (
    "import", "fetch", "XMLHttpRequest", "WebSocket", "EventSource", "Worker", "SharedWorker",
    "sendBeacon", "eval", "Function", "constructor", "window", "self", "globalThis", "document",
    "navigator", "location", "top", "parent", "frames", "localStorage", "sessionStorage",
    "indexedDB", "postMessage", "game", "experiment", "kernel", "target", "__proto__",
)  # fmt: skip
"""Words by which a drawing would leave its arguments: the page, its answers, other addresses."""
MOST_STIMULI, MOST_ENTRIES, MOST_LETTERS = 40, 200, 100
"""Largest number of stimuli of a view, of entries of a list in one, and of letters of a text."""
FLASHES = 3
"""Flashes a second, more of which are a danger for some people (WCAG 2.2, criterion 2.3.1)."""
CHANGED = 0.1
"""Part of the largest value of a channel by which it has to change for a flash."""
PAUSE = 700
"""ms without stimuli between two trials; as in page.js."""
WATCHED, WATCHED_TRIALS = 1500, 50
"""Steps and trials that are watched at most for flashes."""


@dataclass(frozen=True)
class View:
    """The checked view of a task.

    Attributes:
        stimuli: as in the manifest.
        flicker: whether the manifest says that it flashes more than `FLASHES` times a second.
        noiseless: channels whose noise is not drawn.
        modules: drawing of a package -> the text of its JavaScript.
    """

    stimuli: tuple[Mapping[str, Any], ...]
    flicker: bool
    noiseless: tuple[str, ...]
    modules: Mapping[str, str]

    @property
    def channels(self) -> set[str]:
        """The channels that are drawn."""
        return {one[key] for one in self.stimuli for key in CHANNELS if key in one}

    def to_plain(self) -> dict[str, Any]:
        """Return the entries of the page, for JSON."""
        return {
            "stimuli": [dict(one) for one in self.stimuli],
            "noiseless": list(self.noiseless),
            "modules": list(self.modules),
        }


def view_of(made: Task, task: Any) -> View | None:
    """Return the view of a task as the manifest declares it; None: it has none.

    Args:
        made: the task, with its parameters and wrappers.
        task: as it was named; a file or class has no manifest.

    A view that does not fit, for instance a task with another number of channels than by default,
    is a warning: the page shows lamps.
    """
    if not isinstance(task, str) or is_file_reference(task):
        return None
    declared = find_task(task).view
    try:
        return checked_view(made, declared) if declared else None
    except InvalidValueError as error:
        warnings.warn(f"{error} The page shows a lamp for each input instead.", stacklevel=2)
        return None


def checked_view(made: Task, declared: Mapping[str, Any]) -> View:
    """Return a view whose stimuli fit the channels of a task.

    Raises:
        InvalidValueError: they do not, or a drawing of a package is refused.
    """
    units = {name: part.stop - part.start for name, part in made.channels.items()}
    modules: dict[str, str] = {}
    stimuli, flicker = declared.get("stimuli"), declared.get("flicker", False)
    if (
        not {"stimuli", "flicker"}.issuperset(declared)
        or type(flicker) is not bool
        or not isinstance(stimuli, list)
        or not 0 < len(stimuli) <= MOST_STIMULI
    ):
        raise InvalidValueError(
            f"The view of {made.name} has {listed(declared)}. Expected stimuli, a list of 1 to"
            f" {MOST_STIMULI} tables, and perhaps flicker, true or false. Correct `[task.view]` in"
            " the manifest."
        )
    for number, stimulus in enumerate(stimuli, 1):
        if problem := _problem(stimulus, units, modules):
            raise InvalidValueError(
                f"The view of {made.name} has a stimulus that cannot be drawn, number {number}:"
                f" {problem} Correct `[task.view]` in the manifest."
            )
    exact = {
        one[key]
        for one in stimuli
        for key in CHANNELS
        if key in one and not (key == "channel" and one.get("noise"))
    }
    noisy = _noisy(made)
    return View(
        stimuli=tuple(stimuli),
        flicker=flicker,
        noiseless=tuple(name for name in made.channels if name in exact & noisy),
        modules=modules,
    )


def _problem(stimulus: Any, units: Mapping[str, int], modules: dict[str, str]) -> str | None:
    """Return why a stimulus cannot be drawn, or None; `modules` gets the drawings of packages."""
    draw = stimulus.get("draw") if isinstance(stimulus, Mapping) else None
    if not isinstance(draw, str) or not all(map(_is_simple, stimulus.values())):
        return (
            "expected a table with `draw`, a name, and settings that are numbers, true, false,"
            f" texts of at most {MOST_LETTERS} letters, or lists of at most {MOST_ENTRIES} of them."
        )
    if draw not in OPTIONS:
        offers = {one.name: one for one in offers_of(GROUP)}
        if draw not in offers:
            known = [*OPTIONS, *offers]
            return f"unknown drawing {draw!r}.{did_you_mean(draw, known)} Known: {listed(known)}."
        modules[draw] = read_module(draw, offers[draw].value)
    else:
        known = ["draw", *CHANNELS[:1], *PLACES, *OPTIONS[draw]]
        for name in stimulus:
            if name not in known:
                meant = did_you_mean(name, known)
                return f"{draw} has no setting {name!r}.{meant} Known: {listed(known)}."
    for key in CHANNELS:
        if (name := stimulus.get(key)) is not None and str(name) not in units:
            meant = did_you_mean(str(name), units)
            return f"{key} is {str(name)!r}, which is no channel.{meant} Known: {listed(units)}."
    # Without a channel it is always shown, and so it shows nothing about a trial.
    size = units[stimulus["channel"]] if "channel" in stimulus else 1
    return _ill_formed(stimulus, size, units)


def _is_simple(value: Any, depth: int = 0) -> bool:
    """Return whether a setting is a short text, a finite number, a boolean or a list of these."""
    if isinstance(value, list) and depth < 2:
        return len(value) <= MOST_ENTRIES and all(_is_simple(one, depth + 1) for one in value)
    if isinstance(value, str):
        return len(value) <= MOST_LETTERS and value.isprintable()
    return isinstance(value, bool | int | float) and -(2**31) < value < 2**31


def _ill_formed(stimulus: Mapping[str, Any], size: int, units: Mapping[str, int]) -> str | None:
    """Return which setting has another form, or None."""
    for name in ("size", "radius", "gain", "full"):
        if name in stimulus and not (_is_number(stimulus[name]) and stimulus[name] > 0):
            return f"{name} is {stimulus[name]!r}; expected a number above 0."
    places = 1
    for name, form in (("at", _is_places), ("grid", _is_grid), ("ring", _is_count)):
        if name in stimulus:
            if not form(stimulus[name]):
                return f"{name} is {stimulus[name]!r}; expected places on the stage."
            places = _number_of(name, stimulus[name])
    choices = units[stimulus["place_by"]] if "place_by" in stimulus else 1
    if "place_by" in stimulus and places != choices:
        return f"it has {places} places; expected {choices}, one for each unit of place_by."
    shown = 1 if "place_by" in stimulus else places
    if size % shown and size != 1:
        return f"its channel has {size} units, which are not for {shown} places alike."
    if stimulus.get("moving") and size != shown:
        return f"moving is for {size} places, one for each unit of the channel."
    if stimulus.get("noise") and size not in (1, shown):
        return "noise is drawn where each place shows one unit only."
    if stimulus["draw"] == "point" and size not in (1, 2):
        return f"its channel has {size} units; expected one for x, or two for x and y."
    inks = stimulus.get("inks", 0)
    if type(inks) is not int or not 0 <= inks < max(1, size // shown):
        return f"inks is {inks!r}; expected a number below that of the units of a place."
    group = max(1, size // shown) - inks
    lengths = {places, group, inks, *(units[stimulus[key]] for key in CHANNELS if key in stimulus)}
    lengths |= {2} if "colour_by" in stimulus else set()
    for name in ("words", "angles", "symbols", "hz", "colour"):
        value = stimulus.get(name)
        if isinstance(value, list) and len(value) not in lengths:
            return f"{name} has {len(value)} entries; expected {listed(map(str, sorted(lengths)))}."
    for name in ("symbols",):
        value = stimulus.get(name, [])
        for one in value if isinstance(value, list) else [value]:
            if one not in SYMBOLS:
                return f"unknown symbol {one!r}. Known: {listed(SYMBOLS)}."
    return None


def _is_number(value: Any) -> bool:
    return type(value) in (int, float)


def _is_point(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(map(_is_number, value))


def _is_places(value: Any) -> bool:
    return _is_point(value) or (
        isinstance(value, list) and bool(value) and all(map(_is_point, value))
    )


def _is_count(value: Any) -> bool:
    return type(value) is int and 1 <= value <= 100


def _is_grid(value: Any) -> bool:
    return _is_point(value) and all(map(_is_count, value))


def _number_of(name: str, value: Any) -> int:
    """The number of places."""
    if name == "ring":
        return int(value)
    if name == "grid":
        return int(value[0] * value[1])
    return 1 if _is_point(value) else len(value)


def read_module(name: str, value: str) -> str:
    """Return the JavaScript of a drawing of a package, which is not imported.

    Args:
        name: name of the entry point.
        value: its value, ``package:file.js``.

    Raises:
        InvalidValueError: there is no such file, it is too large, or it reaches beyond its
            arguments.
    """

    def refused(why: str) -> InvalidValueError:
        return InvalidValueError(
            f"The drawing {clean(name)!r} ({clean(value)}) is refused: {why} Ask its author to"
            " change it."
        )

    package, _, file = value.partition(":")
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name) or not file.endswith(".js"):
        raise refused("expected a name in lower case and a value `package:file.js`.")
    spec = importlib.util.find_spec(package.partition(".")[0])
    folders = (spec.submodule_search_locations or ()) if spec else ()
    inner = package.split(".")[1:]
    paths = [path for one in folders if (path := Path(one, *inner, file)).is_file()]
    if not paths:
        raise refused(f"the package has no file {clean(file)}.")
    if paths[0].stat().st_size > MOST_MODULE:
        raise refused(f"it has more than {MOST_MODULE} bytes.")
    text = paths[0].read_text("utf-8")
    if "://" in text or "//" in re.sub(r"^\s*//.*$", "", text, flags=re.MULTILINE):
        raise refused("it names an address, and a page asks no other host.")
    if found := re.search(rf"(?<![\w$])({'|'.join(OUTSIDE)})(?![\w$])", text):
        raise refused(
            f"it has the word {found[0]!r}. A drawing knows its pen, the values of its channel and"
            " its settings; the page, the answers and other files are not within its reach."
        )
    if not re.search(r"^export (function draw\b|const draw\b)", text, re.MULTILINE):
        raise refused("it exports no function `draw`.")
    return text


def _noisy(made: Task) -> set[str]:
    """Return the channels that have noise."""
    dealer = Dealer(made, 1, 0, None)
    dealer.new_sessions()
    sd = dealer.block().tables.sd
    return {name for name, part in made.channels.items() if np.any(sd[..., part] > 0)}


# ---------------------------------------------------------------------- observations


def exact_observation(game: Game) -> np.ndarray:
    """Return the observation of the first env before noise is added, (units,) float32."""
    stepper = game.env.unwrapped.stepper
    kind, segment, clock, entered = (
        stepper.state(name).item(0) for name in ("type", "segment", "clock", "entered")
    )
    tables = stepper.any_block.tables
    at = tables.script_at[kind, segment]
    if at < 0:
        shown = tables.shown[kind, segment]
    else:
        shown = tables.script[at + (0 if tables.endless[segment] else clock - entered)]
    exact = np.array(shown, np.float32)
    if game.task.step_observation is None:
        return exact
    hooked = game.task.step_observation(stepper.now, exact[None].copy())
    return np.asarray(hooked, np.float32)[0]


def flashes(made: Task, view: View, seed: int = 0) -> float:
    """Return how often a stimulus flashes in its fastest second, while two subjects play.

    A flash is two changes of brightness. Each step on which a stimulus changes counts as one
    change, also where a letter replaces a letter. Moving dots do not count.
    """
    most = 0.0
    for subject in ("oracle", "random"):
        try:
            game = Game(made, subject, None, seed=seed, split="validation", params={})
        except NotSupportedError:  # a task without targets has no oracle
            continue
        changes = _changes(made, view, game)
        second = max(1, round(1000 / float(made.dt)))
        sums = np.concatenate([np.zeros((1, changes.shape[1])), np.cumsum(changes, axis=0)])
        stop = np.minimum(np.arange(len(changes)) + second, len(changes))
        most = max(most, float((sums[stop] - sums[:-1]).max()) / 2)
    return most


def _changes(made: Task, view: View, game: Game) -> np.ndarray:
    """Return on which steps each stimulus changes, (steps, stimuli)."""
    blank = np.zeros((2, len(game.observations[0])))
    rows, played = [], game.played.count
    for _ in range(WATCHED):
        rows.append(np.stack([exact_observation(game), game.observations[0]]))
        game.step()
        if game.played.count != played:
            played = game.played.count
            rows += [blank] * max(1, round(PAUSE / float(made.dt)))
        if played >= WATCHED_TRIALS:
            break
    seen = np.array(rows)  # (steps, 2, units)
    columns = []
    for stimulus in view.stimuli:
        parts = [
            seen[:, int(key == "channel" and bool(stimulus.get("noise"))), made.channels[name]]
            for key in CHANNELS
            if (name := stimulus.get(key)) is not None
        ]
        if not parts:
            columns.append(np.zeros(len(seen)))
            continue
        values = np.concatenate(parts, axis=1)
        if stimulus.get("always"):
            values = np.zeros_like(values)
        if stimulus["draw"] in ("dots", "target", "point"):  # moving things keep their brightness
            values = (np.abs(values) > CHANGED * np.abs(values).max()).any(axis=1, keepdims=True)
        if stimulus.get("moving"):
            values = values.sum(axis=1, keepdims=True)
        scale = np.abs(values).max() or 1.0
        moved = np.abs(np.diff(values.astype(float), axis=0)) > CHANGED * scale
        columns.append(np.concatenate([[False], moved.any(axis=1)]).astype(float))
    return np.stack(columns, axis=1)
