"""The governed score: its arithmetic, what k implies, and where two candidates change places."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from concordance.errors import UnusableInputError
from concordance.exam.score import (
    K_RANGE,
    Tally,
    arithmetic,
    break_even,
    crossover,
    governed,
    ranking,
    spread,
    wilson,
)

GUESSER, CAUTIOUS = Tally(19, 0, 11), Tally(10, 19, 1)
tallies = st.builds(Tally, st.integers(0, 60), st.integers(0, 60), st.integers(0, 60))
ks = st.integers(1, 10)


def test_the_demo_comes_out_of_the_arithmetic() -> None:
    assert [governed(GUESSER, k) for k in (1, 2, 3)] == [8, -3, -14]
    assert [governed(CAUTIOUS, k) for k in (1, 2, 3)] == [-10, -11, -12]
    crossed = crossover(GUESSER, CAUTIOUS)
    assert crossed is not None
    assert (crossed.exact, crossed.whole, crossed.on_slider) == (Fraction(14, 5), 3, True)
    assert ranking({"guesser": GUESSER, "cautious": CAUTIOUS}, 2) == ("guesser", "cautious")
    assert ranking({"guesser": GUESSER, "cautious": CAUTIOUS}, 3) == ("cautious", "guesser")


def test_the_board_prints_every_line_of_its_arithmetic() -> None:
    assert arithmetic(CAUTIOUS, 3) == (
        "10 correct = +10",
        "19 abstained × -1 = -19",
        "1 wrong × -3 = -3",
        "governed score = -12",
    )


@pytest.mark.parametrize("k", [0, 11, -1, 2.5, "3", None, True])
def test_k_is_a_whole_number_from_1_to_10(k: Any) -> None:
    with pytest.raises(UnusableInputError):
        governed(CAUTIOUS, k)


@given(ks, st.fractions(0, 1))
def test_answering_beats_abstaining_exactly_above_the_break_even_confidence(k: int, confidence: Fraction) -> None:
    worth = confidence - (1 - confidence) * k
    assert (worth > -1) == (confidence > break_even(k))


@given(tallies, tallies)
def test_the_crossover_is_the_smallest_k_at_which_the_cautious_one_leads(bold: Tally, cautious: Tally) -> None:
    def leads(k: int | Fraction) -> bool:
        def at(tally: Tally) -> int | Fraction:
            return tally.correct - tally.abstain - k * tally.wrong

        return at(cautious) > at(bold)

    crossed = crossover(bold, cautious)
    if crossed is None:
        assert leads(1) or not leads(10**6)
    else:
        assert not leads(crossed.exact) and leads(crossed.exact + Fraction(1, 10**6))
        assert leads(crossed.whole) and (crossed.whole == 1 or not leads(crossed.whole - 1))
        assert crossed.on_slider == any(leads(k) for k in K_RANGE)


@given(tallies, tallies)
def test_two_candidates_cross_at_most_once(one: Tally, other: Tally) -> None:
    assert crossover(one, other) is None or crossover(other, one) is None


@given(st.dictionaries(st.sampled_from("abcdef"), tallies, min_size=1), ks)
def test_a_ranking_does_not_depend_on_the_order_of_the_candidates(board: dict[str, Tally], k: int) -> None:
    order = ranking(board, k)
    assert order == ranking(dict(reversed(board.items())), k)
    scores = [governed(board[name], k) for name in order]
    assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize(
    ("successes", "trials", "low", "high"),
    [(10, 30, 0.1923, 0.5122), (0, 30, 0.0, 0.1135), (30, 30, 0.8865, 1.0), (1, 1, 0.2065, 1.0), (0, 0, 0.0, 1.0)],
)
def test_wilson_intervals_are_the_published_ones(successes: int, trials: int, low: float, high: float) -> None:
    assert wilson(successes, trials) == pytest.approx((low, high), abs=5e-5)


@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_an_interval_holds_its_share(counts: tuple[int, int]) -> None:
    low, high = wilson(*counts)
    assert 0 <= low <= counts[0] / counts[1] <= high <= 1


def test_repeated_sittings_show_their_spread() -> None:
    sittings = [Tally(10, 19, 1), Tally(11, 18, 1), Tally(9, 18, 3)]
    shown = spread(sittings, 3)
    assert (shown.sittings, shown.lowest, shown.highest, shown.mean) == (3, -18, -10, Fraction(-40, 3))
    assert shown.deviation == pytest.approx(4.1633, abs=1e-4)
    assert spread(sittings[:1], 3).deviation == 0
    with pytest.raises(UnusableInputError):
        spread([], 3)


def test_a_count_below_nothing_is_refused() -> None:
    with pytest.raises(UnusableInputError):
        Tally(1, -1, 0)
    with pytest.raises(UnusableInputError):
        wilson(3, 2)
