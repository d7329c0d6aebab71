"""Certain answers about real numbers: what an input means, and signs, ceilings and nearest doubles with a proof.

A model writes each of its formulas once, over a type of number. The formula is first evaluated in ball arithmetic
(`flint.arb`: a midpoint and a radius that provably enclose the real value). Where the ball is too wide to answer, it is
evaluated again with more bits, and at last over exact rationals (`flint.fmpq`), which always answer: a true tie is
decided by equality of rationals, and everything else by a ball that excludes the other answers.

This is not a fast engine, and not for formulas with irrational values: the last rung needs rational ones. Written from
the spec text alone.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from decimal import Decimal
from fractions import Fraction
from typing import Any, Generic, NamedTuple, TypeVar

from flint import arb, ctx, fmpq

Input = float | int | bool | str
Number = TypeVar("Number", arb, fmpq)
View = TypeVar("View")
Answer = TypeVar("Answer")

INFINITY = "Infinity"  # C-8

# At a rate of 1e-9 a year, (1 + r)^m - 1 loses some 33 bits to cancellation, and interest as many again, before the
# difference of two loans loses more. 192 bits cost hardly more than 128 and settle nearly all that is not a true tie.
FIRST_BITS = 192
MORE_BITS = 768


class Decision(NamedTuple):
    """Two exact amounts that a clause compares in one case, and on which an exact output of the case hangs (C-6).

    The amounts tell how near the case lies to the other answer (C-22), and are equal if and only if it is a tie. Where
    the answer hangs on many comparisons of one kind, one after the other, it is the nearest of them. `question` says
    what is compared, in words that do not change from case to case.
    """

    clause: str
    question: str
    left: Fraction
    right: Fraction


def integer_ratio(number: Input) -> tuple[int, int]:
    """What an input means, as numerator and positive denominator in lowest terms.

    It is the shortest decimal that reads back as the same double (C-1), which is what repr writes; -0.0 is 0 (C-2).
    """
    return Decimal(repr(number)).as_integer_ratio()


def meaning(number: Input) -> fmpq:
    """What an input means (C-1), as an exact rational."""
    return fmpq(*integer_ratio(number))


def fraction(value: fmpq) -> Fraction:
    """An exact rational as Python's own."""
    return Fraction(int(value.p), int(value.q))


def nearest_double(numerator: int, denominator: int) -> float:
    """The double nearest to a quotient of whole numbers, ties to even, never -0 (C-5).

    Python divides whole numbers with one correct rounding, subnormal quotients included. Adding zero turns the -0.0 of
    a negative quotient that underflows into 0.0, and changes nothing else.
    """
    return numerator / denominator + 0.0


class Ladder(Generic[View]):
    """One case of a model, seen in balls of 192 bits, in balls of 768 bits, and in exact rationals.

    `view` builds the model's quantities from a `lift`, which takes an exact rational to the arithmetic of a rung. A
    question about a quantity of the view is answered by the lowest rung that can do so for certain.

    Balls are rounded at the global precision of python-flint, so a model opens a `working_precision` around all that it
    does with a ladder.
    """

    def __init__(self, view: Callable[[Callable[[fmpq], Any]], View], *, start_exact: bool = False) -> None:
        """`start_exact` skips the balls, for a case of short rationals in which ties are to be expected."""
        self._view = view
        self._exact: View | None = None
        self._finer: View | None = None
        self._first = self._exact_view() if start_exact else view(arb)

    def sign(self, quantity: Callable[[View], Any]) -> int:
        """-1, 0 or 1, decided on the real value (C-6)."""
        return self._ask(_sign, quantity)

    def ceiling(self, quantity: Callable[[View], Any]) -> int:
        """The smallest whole number that is not below the real value (C-6)."""
        return self._ask(_ceiling, quantity)

    def double(self, quantity: Callable[[View], Any]) -> float:
        """The double nearest to the real value, ties to even, never -0 (C-5)."""
        return self._ask(_double, quantity)

    def exact(self, quantity: Callable[[View], Any]) -> Fraction:
        """The real value itself (C-4). Slow: it always takes the last rung."""
        return fraction(quantity(self._exact_view()))

    def _ask(self, question: Callable[[Any], Answer | None], quantity: Callable[[View], Any]) -> Answer:
        answer = question(quantity(self._first))
        return self._climb(question, quantity) if answer is None else answer

    def _climb(self, question: Callable[[Any], Answer | None], quantity: Callable[[View], Any]) -> Answer:
        with ctx.workprec(MORE_BITS):
            if self._finer is None:
                self._finer = self._view(arb)
            answer = question(quantity(self._finer))
        if answer is None:
            answer = question(quantity(self._exact_view()))
            assert answer is not None, "exact rationals answer every question"
        return answer

    def _exact_view(self) -> View:
        if self._exact is None:
            self._exact = self._view(fmpq)
        return self._exact


def working_precision() -> AbstractContextManager[object]:
    """Within it, balls have the precision of a ladder's first rung. It gives the caller's precision back."""
    return ctx.workprec(FIRST_BITS)


def _sign(value: arb | fmpq) -> int | None:
    """The sign, or None if the ball does not tell: a comparison of balls is true only if it holds for all points."""
    if value > 0:
        return 1
    if value < 0:
        return -1
    return 0 if value == 0 else None


def _ceiling(value: arb | fmpq) -> int | None:
    """The ceiling, or None if it is not the same in the whole ball."""
    if isinstance(value, fmpq):
        return int(value.ceil())
    whole = value.ceil().unique_fmpz()
    return None if whole is None else int(whole)


def _double(value: arb | fmpq) -> float | None:
    """The nearest double, or None if it is not the same in the whole ball.

    Rounding to nearest is monotone, so if both ends of the ball round to the same double, all its points do.
    """
    if isinstance(value, fmpq):
        return nearest_double(int(value.p), int(value.q))
    low = float(value.lower())
    return low + 0.0 if low == float(value.upper()) else None


def _check_that_exact_balls_round_to_nearest() -> None:
    """`_double` needs a float(arb) that rounds to nearest, ties to even. Old releases of python-flint rounded down."""
    with ctx.workprec(FIRST_BITS):
        for units in (2**54 + 1, 2**54 + 2, 2**54 + 3, 2**54 + 6, 2**54 + 7, 2**70 + 2**17, 2**70 + 2**17 + 1):
            for exact in (fmpq(sign * units) * fmpq(2) ** scale for sign in (1, -1) for scale in (-1120, -60, 0)):
                if float(arb(exact)) != nearest_double(int(exact.p), int(exact.q)):
                    raise ImportError("float(flint.arb) does not round to nearest in this release of python-flint")


_check_that_exact_balls_round_to_nearest()
