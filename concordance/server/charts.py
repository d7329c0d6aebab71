"""Where the marks of the exam's two charts go: scores over k, and the record over time.

Geometry alone: across in percent, so that a chart is as wide as its page and its texts keep their size; down in
pixels. What is drawn is the board's and the ledger's; how it looks is the template's and the style sheet's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, Final, NamedTuple

from concordance.exam.board import Crossing
from concordance.exam.chain import Row
from concordance.exam.score import K_RANGE, Tally, governed

COLOURS: Final = 6
"""So many candidates are told apart by colour; beyond them by the dashes of their lines too."""

_LABEL: Final = 20
_RAISED: Final = 26
_APART: Final = 10
_LEAST_HEIGHT: Final = 300
_MOST_TICKS: Final = 6
_MOST_EVENTS: Final = 60
_LANE: Final = 72
_BAR: Final = 40


class Tick(NamedTuple):
    y: float
    text: str


class Line(NamedTuple):
    """One candidate's score from the lowest k to the highest; `label` is how far down its name stands."""

    name: str
    style: int
    first: float
    last: float
    label: float


class Mark(NamedTuple):
    """A crossover on the slider: equal scores. Its number stands at `above`, clear of its neighbours' numbers."""

    number: int
    x: float
    y: float
    above: float


class ScoreChart(NamedTuple):
    height: float
    ticks: tuple[Tick, ...]
    lines: tuple[Line, ...]
    marks: tuple[Mark, ...]


def across(k: Fraction | int) -> float:
    """How far to the right a k is, in percent."""
    return round(100 * float(Fraction(k - K_RANGE[0], len(K_RANGE) - 1)), 3)


def score_chart(tallies: Mapping[str, Tally], crossings: Sequence[Crossing]) -> ScoreChart:
    """Every candidate's governed score over k: straight lines, since k counts the wrong answers."""
    ends = {name: (governed(tally, K_RANGE[0]), governed(tally, K_RANGE[-1])) for name, tally in tallies.items()}
    height = max(_LEAST_HEIGHT, _LABEL * (len(tallies) + 1))
    values = [0, *(end for pair in ends.values() for end in pair)]
    step = _step(max(values) - min(values))
    low, high = -(-min(values) // step + 1) * step, (max(values) // step + 1) * step

    def down(score: Fraction | int) -> float:
        return round(float(height * Fraction(high - score, high - low)), 2)

    ticks = tuple(Tick(down(value), f"{value:+d}" if value else "0") for value in range(low, high + 1, step))
    labels = _spread([(down(last), name) for name, (_, last) in ends.items()], height)
    lines = tuple(
        Line(name, place, down(first), down(last), labels[name])
        for place, (name, (first, last)) in enumerate(sorted(ends.items()))
    )
    marks: list[Mark] = []
    for number, crossing in enumerate(crossings, 1):
        exact = Fraction(crossing.exact)
        if exact <= K_RANGE[-1]:
            tally = tallies[crossing.bold]
            y = down(tally.correct - tally.abstain - exact * tally.wrong)
            marks.append(Mark(number, across(exact), y, _above(marks, across(exact), y)))
    return ScoreChart(height, ticks, lines, tuple(marks))


def _step(span: int) -> int:
    """The smallest of 1, 2, 5, 10, 20, … that divides a span into few parts."""
    scale = 1
    while True:
        for step in (scale, 2 * scale, 5 * scale):
            if span <= (_MOST_TICKS - 1) * step:
                return step
        scale *= 10


def _spread(wanted: Sequence[tuple[float, str]], height: float) -> dict[str, float]:
    """Places for labels as near as may be to where they are wanted, none upon another."""
    places: dict[str, float] = {}
    free = 0.0
    for y, name in sorted(wanted):
        places[name] = max(y, free)
        free = places[name] + _LABEL
    limit = height
    for name in reversed(list(places)):
        places[name] = min(places[name], limit)
        limit = places[name] - _LABEL
    return places


def _above(marks: Sequence[Mark], x: float, y: float) -> float:
    """The lowest place above a mark for its number where no other number is."""
    place = y - _RAISED
    taken = [mark.above for mark in marks if abs(mark.x - x) < _APART]
    while any(abs(place - other) < _LABEL for other in taken):
        place -= 1
    return place


class Event(NamedTuple):
    """A sitting or a grading in its candidate's lane, or a seal or sign-off across all lanes."""

    kind: str
    x: float
    what: str
    parts: tuple[tuple[str, float, float], ...] = ()
    """A grading's outcomes as parts of a bar: name, top and height."""


class Lane(NamedTuple):
    name: str
    top: int
    events: tuple[Event, ...]


class Record(NamedTuple):
    height: int
    lanes: tuple[Lane, ...]
    across: tuple[Event, ...]
    first: str
    last: str
    left_out: int
    bar: int = _BAR


def record_chart(rows: Sequence[Row], words: Mapping[int, str]) -> Record:
    """The ledger's rows in their order, a lane for each candidate; `words` says of each row what it is."""
    shown = rows[-_MOST_EVENTS:]
    lanes: dict[str, list[Event]] = {}
    over = []
    for place, row in enumerate(shown):
        x = round(100 * (place + 0.5) / len(shown), 3)
        if row.kind in ("sitting", "grading"):
            event = Event(row.kind, x, words[row.number], _parts(row.payload) if row.kind == "grading" else ())
            lanes.setdefault(row.payload["candidate"], []).append(event)
        else:
            over.append(Event(row.kind, x, words[row.number]))
    placed = tuple(
        Lane(name, place * _LANE, tuple(events)) for place, (name, events) in enumerate(sorted(lanes.items()))
    )
    times = [row.time[:10] for row in shown] or [""]
    return Record(_LANE * max(1, len(lanes)), placed, tuple(over), times[0], times[-1], len(rows) - len(shown))


def _parts(payload: Mapping[str, Any]) -> tuple[tuple[str, float, float], ...]:
    counts = {name: int(payload[name]) for name in ("correct", "abstain", "wrong")}
    parts, top = [], 0.0
    for name, count in counts.items():
        height = _BAR * count / max(1, sum(counts.values()))
        parts.append((name, round(top, 2), round(height, 2)))
        top += height
    return tuple(parts)
