"""The governed score: correct - abstain - k × wrong, what it implies, and where two candidates change places.

`k` is the risk owner's: how many correct answers one wrong answer costs, a whole number from 1 to 10. Everything is
computed from the counts and exact until it is shown; nothing is typed in. It grades nothing: `referee` does.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist
from typing import Final, NamedTuple

from concordance.errors import UnusableInputError

K_RANGE: Final = range(1, 11)
_Z: Final = NormalDist().inv_cdf(0.975)


class Interval(NamedTuple):
    """A 95 % Wilson interval of a share."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Tally:
    """The outcomes of one sitting."""

    correct: int
    abstain: int
    wrong: int

    def __post_init__(self) -> None:
        if min(self.correct, self.abstain, self.wrong) < 0:
            raise UnusableInputError(f"a tally counts, and {min(self.correct, self.abstain, self.wrong)} is no count")

    @property
    def questions(self) -> int:
        return self.correct + self.abstain + self.wrong

    @property
    def answered(self) -> int:
        return self.correct + self.wrong


def whole_k(k: object) -> int:
    """k as given, if it is a whole number from 1 to 10. Raises `UnusableInputError` otherwise."""
    if isinstance(k, bool) or not isinstance(k, int) or k not in K_RANGE:
        raise UnusableInputError(f"k is {k!r}", hint="k is a whole number from 1 to 10")
    return k


def governed(tally: Tally, k: int) -> int:
    """correct - abstain - k × wrong."""
    return tally.correct - tally.abstain - whole_k(k) * tally.wrong


def arithmetic(tally: Tally, k: int) -> tuple[str, ...]:
    """The score's lines as the board prints them, the last one its sum."""
    lines = (
        (f"{tally.correct} correct", tally.correct),
        (f"{tally.abstain} abstained × -1", -tally.abstain),
        (f"{tally.wrong} wrong × -{whole_k(k)}", -k * tally.wrong),
    )
    return (*(f"{name} = {value:+d}" for name, value in lines), f"governed score = {governed(tally, k):+d}")


def break_even(k: int) -> Fraction:
    """The confidence above which answering beats abstaining: p - (1 - p) k > -1 from (k - 1) / (k + 1) on."""
    return Fraction(whole_k(k) - 1, k + 1)


def wilson(successes: int, trials: int) -> Interval:
    """The 95 % Wilson interval of a share; all of 0 to 1 where nothing was tried."""
    if not 0 <= successes <= trials:
        raise UnusableInputError(f"{successes} of {trials} is no share")
    if trials == 0:
        return Interval(0.0, 1.0)
    share, spread = successes / trials, _Z**2 / trials
    centre = (share + spread / 2) / (1 + spread)
    half = _Z * math.sqrt(share * (1 - share) / trials + spread / (4 * trials)) / (1 + spread)
    low = 0.0 if successes == 0 else max(0.0, centre - half)
    return Interval(low, 1.0 if successes == trials else min(1.0, centre + half))


def ranking(tallies: Mapping[str, Tally], k: int) -> tuple[str, ...]:
    """The candidates from the best down at `k`; of equals the one with fewer wrong answers first, then by name."""
    return tuple(sorted(tallies, key=lambda name: (-governed(tallies[name], k), tallies[name].wrong, name)))


class Crossover(NamedTuple):
    """Where one candidate overtakes another as k grows."""

    exact: Fraction
    """The real k at which their scores are equal; above it the cautious one leads."""
    whole: int
    """The smallest whole k at which the cautious one leads outright. It may lie beyond the slider."""

    @property
    def on_slider(self) -> bool:
        return self.whole in K_RANGE


def crossover(bold: Tally, cautious: Tally) -> Crossover | None:
    """The smallest k from 1 on at which `cautious` overtakes `bold`, or None where it never does.

    It overtakes when it is not ahead before: two candidates of which one leads at every k do not cross.
    """
    fewer = bold.wrong - cautious.wrong
    lead = (bold.correct - bold.abstain) - (cautious.correct - cautious.abstain)
    if fewer <= 0 or lead < fewer:
        return None
    exact = Fraction(lead, fewer)
    return Crossover(exact, math.floor(exact) + 1)


class Spread(NamedTuple):
    """One candidate's governed scores over repeated sittings. `deviation` is the sample's, 0 for a single sitting."""

    sittings: int
    lowest: int
    highest: int
    mean: Fraction
    deviation: float


def spread(sittings: Sequence[Tally], k: int) -> Spread:
    """How far repeated sittings of one candidate lie apart at `k`."""
    if not sittings:
        raise UnusableInputError("no sitting to take the spread of")
    scores = [governed(tally, k) for tally in sittings]
    mean = Fraction(sum(scores), len(scores))
    squares = sum((score - mean) ** 2 for score in scores)
    deviation = math.sqrt(squares / (len(scores) - 1)) if len(scores) > 1 else 0.0
    return Spread(len(scores), min(scores), max(scores), mean, deviation)
