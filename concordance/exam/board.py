"""The board: candidates ranked by governed score at a price k of a wrong answer, with every line of the arithmetic.

Pure: results in, standings out, as data and as text. It judges nothing (`referee`) and keeps nothing (`folder`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations
from typing import Final

import msgspec

from concordance.exam.folder import Result, total
from concordance.exam.score import Interval, Tally, arithmetic, break_even, crossover, governed, ranking, spread, wilson

_CITED: Final = ("verified", "rejected", "none")


class Standing(msgspec.Struct, frozen=True, rename="camel"):
    """One candidate on the board. With several sittings the counts are of all of them together."""

    place: int
    candidate: str
    scripted: bool
    sittings: int
    correct: int
    abstain: int
    wrong: int
    governed_score: int
    arithmetic: tuple[str, ...]
    accuracy: Interval
    wrong_when_answering: Interval
    citations: dict[str, int]
    spread: tuple[int, int, float, float]
    """Over the sittings: the lowest and the highest score, the mean, and the sample's deviation."""


class Crossing(msgspec.Struct, frozen=True):
    """The smallest whole k at which one candidate leads another that led before."""

    cautious: str
    bold: str
    k: int
    exact: str


class Board(msgspec.Struct, frozen=True, rename="camel"):
    """The standings at one k."""

    title: str
    k: int
    break_even: float
    """Answering beats abstaining only where one is surer than this."""
    standings: tuple[Standing, ...]
    crossovers: tuple[Crossing, ...]


def board(title: str, results: Mapping[str, Sequence[Result]], k: int) -> Board:
    """The board at a k from 1 to 10. Raises `UnusableInputError` for another."""
    price = float(break_even(k))
    tallies = {name: total(each) for name, each in results.items()}
    order = ranking(tallies, k)
    standings = tuple(_standing(place, name, results[name], k) for place, name in enumerate(order, 1))
    return Board(title, k, price, standings, tuple(_crossings(tallies)))


def _standing(place: int, name: str, results: Sequence[Result], k: int) -> Standing:
    tally = total(results)
    asked, answered = tally.correct + tally.abstain + tally.wrong, tally.correct + tally.wrong
    citations = [verdict.citation for result in results for verdict in result.verdicts.values()]
    over = spread([result.tally for result in results], k)
    return Standing(
        place=place,
        candidate=name,
        scripted=any(result.scripted for result in results),
        sittings=len(results),
        correct=tally.correct,
        abstain=tally.abstain,
        wrong=tally.wrong,
        governed_score=governed(tally, k),
        arithmetic=arithmetic(tally, k),
        accuracy=wilson(tally.correct, asked),
        wrong_when_answering=wilson(tally.wrong, answered),
        citations={each: citations.count(each) for each in _CITED},
        spread=(over.lowest, over.highest, float(over.mean), over.deviation),
    )


def _crossings(tallies: Mapping[str, Tally]) -> Iterator[Crossing]:
    for bold, cautious in permutations(sorted(tallies), 2):
        point = crossover(tallies[bold], tallies[cautious])
        if point is not None:
            yield Crossing(cautious, bold, point.whole, str(point.exact))


def board_text(shown: Board) -> str:
    """The board as a person reads it."""
    lines = [shown.title, f"A wrong answer costs {shown.k}, an abstention 1. Answer only if surer than "
             f"{shown.break_even:.0%}.", ""]  # fmt: skip
    for each in shown.standings:
        label = " (scripted)" if each.scripted else ""
        lines.append(f"{each.place}. {each.candidate}{label}: governed score {each.governed_score:+d}")
        lines += [f"     {line}" for line in each.arithmetic[:-1]]
        accuracy, wrong = each.accuracy, each.wrong_when_answering
        lines.append(
            f"   correct {_share(accuracy)} of all, wrong {_share(wrong)} of what was answered (95 % Wilson intervals)"
        )
        cited = ", ".join(f"{count} {name}" for name, count in each.citations.items() if count)
        lines.append(f"   citations: {cited}")
        if each.sittings > 1:
            low, high, mean, deviation = each.spread
            lines.append(
                f"   {each.sittings} sittings: {low:+d} to {high:+d}, mean {mean:+.1f}, deviation {deviation:.1f}"
            )
        lines.append("")
    for cross in shown.crossovers:
        lines.append(f"{cross.cautious} overtakes {cross.bold} at k = {cross.k} (equal at {cross.exact})")
    return "\n".join(lines).rstrip()


def _share(interval: Interval) -> str:
    return f"{interval.low:.0%} to {interval.high:.0%}"
