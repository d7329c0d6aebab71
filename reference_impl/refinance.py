"""Mortgage refinance, by the spec of that name: payments, when the borrower is ahead, and for good, and by how much.

Every decision is taken on the real values and every output is rounded once, with a proof (see `certified`). It is not
for adjustable rates, extra payments or taxes, and it does not validate its inputs. Written from the spec text alone.

Three lemmas spare the scan over all months that RF-9 and RF-10 ask for. Write I(m) for the interest that a loan charges
in month m: r * balance(m - 1).

Interest lemma. A payment is its month's interest and a repayment, so what has been paid on a loan and what is still
owed add up to its amount and the interest charged so far. In both branches of RF-2, L - L' - upfront = -c. So
position(m) of RF-7 is the interest charged on the current loan in months 1..m, less that on the new loan, less c; and
month m moves it by D(m) = I_C(m) - I_N(m).

Hump lemma. Let k = min(n, n'). Over months 1..k, if i' <= i, D is a hump: at first it does not fall, and then it does
not rise. If i' > i, -D is a hump. Proof: a loan's first repayment is positive, call it a for the current and a' for the
new loan, and each repayment is the one before times 1 + r. I falls by r times the repayment, so for m = 1..k - 1
    D(m + 1) - D(m) = i' * a' * (1 + i')^(m - 1) - i * a * (1 + i)^(m - 1).
Divided by (1 + i)^(m - 1) > 0 this does not rise with m if i' <= i, and does not fall if i' > i. So its sign changes at
most once (zeros aside): from plus to minus if i' <= i, from minus to plus if i' > i.

Stretches lemma. The months in which a hump is above zero are consecutive. So over 0..k the position does not rise, then
rises, then does not rise, where each of the three stretches may be empty; if -D is the hump, exchange rising and
falling. After month k at most one loan charges interest, so D has one sign and the position is monotone from k to T.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cache
from itertools import pairwise
from math import ceil
from typing import Any, Generic, NamedTuple

from flint import fmpq

from .certified import (
    INFINITY,
    Decision,
    Input,
    Ladder,
    Number,
    fraction,
    meaning,
    nearest_double,
    working_precision,
)
from .compounding import MONTHS_A_YEAR, Compounding

SPEC_VERSION = "1.0.1"
MATERIAL = 1

Sign = Callable[[int], int]


class Brackets(NamedTuple):
    """The two brackets of RF-7 at a month: what the current loan has cost if settled then, and what the new one has."""

    current: Fraction
    new: Fraction

    @property
    def position(self) -> Fraction:
        """RF-7."""
        return self.current - self.new


BracketsAt = Callable[[int], Brackets]


class LoanTerms(NamedTuple):
    """A loan (A, r, k) in exact numbers (RF-1)."""

    amount: fmpq
    rate: fmpq
    months: int


class Terms(NamedTuple):
    """The case in exact numbers: what RF-1 names."""

    current: LoanTerms
    new: LoanTerms
    costs: fmpq
    horizon: int

    @property
    def both_paid(self) -> int:
        """T of RF-1."""
        return max(self.current.months, self.new.months)

    @property
    def one_paid(self) -> int:
        """The month at which the shorter loan is paid off, k of the lemmas."""
        return min(self.current.months, self.new.months)


class Loan(Generic[Number]):
    """RF-3, RF-4 and RF-5 for one loan.

    Putting RF-3 into RF-4 gives balance(m) = A * ((1 + r)^k - (1 + r)^m) / ((1 + r)^k - 1) for r > 0, which is
    A * (accumulation(k) - accumulation(m)) / accumulation(k) in the terms of `Compounding`; and so it is for r = 0. The
    first repayment is A * accumulation(1) / accumulation(k), and with the first interest A * r it makes the payment.
    """

    def __init__(self, terms: LoanTerms, lift: Callable[[fmpq], Number]) -> None:
        self.amount: Number = lift(terms.amount)
        self.months = terms.months
        self._free = terms.rate == 0
        self._zero: Number = lift(fmpq(0))
        self._rate: Number = lift(terms.rate)
        self._compounding: Compounding[Number] = Compounding(self._rate, free=self._free)
        self._whole: Number = self._compounding.accumulation(terms.months)
        self._scale: Number = self.amount / self._whole
        self._first_repayment: Number = self._scale * self._compounding.first
        self.payment: Number = self.amount * self._rate + self._first_repayment  # RF-3

    def balance(self, month: int) -> Number:
        """RF-4."""
        if month >= self.months:
            return self._zero
        if month == 0:
            return self.amount
        return self._scale * (self._whole - self._compounding.accumulation(month))

    def interest_to(self, month: int) -> Number:
        """The interest charged in months 1..month: paid (RF-5) and balance (RF-4), less the amount."""
        if self._free:
            return self._zero
        if month >= self.months:
            return self.payment * self.months - self.amount  # RF-11
        return self.payment * month - self._scale * self._compounding.accumulation(month)

    def interest_in(self, month: int) -> Number:
        """I(month) of the lemmas."""
        return self._rate * self.balance(month - 1)

    def interest_drop(self, month: int) -> Number:
        """I(month) - I(month + 1), the rate times the repayment of the month, while the loan runs."""
        if self._free:
            return self._zero
        return self._rate * self._first_repayment * self._compounding.power(month - 1)


class Refinancing(Generic[Number]):
    """Both loans and their differences, which are zero for equal loans: balls could not prove that, the terms do."""

    def __init__(self, terms: Terms, lift: Callable[[fmpq], Number]) -> None:
        self.current: Loan[Number] = Loan(terms.current, lift)
        self.new: Loan[Number] = Loan(terms.new, lift)
        self.costs: Number = lift(terms.costs)
        self._equal = terms.current == terms.new
        self._zero: Number = lift(fmpq(0))

    def monthly_savings(self) -> Number:
        """RF-6."""
        return self._less(self.current.payment, self.new.payment)

    def position(self, month: int) -> Number:
        """RF-7, by the interest lemma."""
        return self._less(self.current.interest_to(month), self.new.interest_to(month)) - self.costs

    def current_bracket(self, month: int) -> Number:
        """The first bracket of RF-7, by the interest lemma."""
        return self.current.amount + self.current.interest_to(month)

    def new_bracket(self, month: int) -> Number:
        """The second bracket of RF-7, by the interest lemma: in both branches of RF-2, upfront + L' = L + c."""
        return self.current.amount + self.costs + self.new.interest_to(month)

    def interest_saved(self, month: int) -> Number:
        """D(month) of the lemmas, position(month) - position(month - 1)."""
        return self._less(self.current.interest_in(month), self.new.interest_in(month))

    def interest_saved_rise(self, month: int) -> Number:
        """D(month + 1) - D(month), while both loans run."""
        return self._less(self.new.interest_drop(month), self.current.interest_drop(month))

    def _less(self, minuend: Number, subtrahend: Number) -> Number:
        return self._zero if self._equal else minuend - subtrahend


def compute(inputs: Mapping[str, Input]) -> dict[str, Any]:
    """The outputs of one case, in the order of the contract."""
    terms = read(inputs)
    with working_precision():
        return outputs(terms, Ladder(lambda lift: Refinancing(terms, lift)))


def decisions(inputs: Mapping[str, Input]) -> list[Decision]:
    """What the exact outputs of one case hang on: the comparisons of RF-8, RF-9, RF-10 and RF-13.

    The months that RF-9 and RF-10 name are found as for the outputs, and the brackets of RF-7 there are then worked out
    exactly. Where a clause compares a difference with a constant, the sides are the amounts that the difference is made
    of, as C-22 measures nearness by these: the payments of RF-6, or the brackets of RF-7.
    """
    terms = read(inputs)
    with working_precision():
        ladder: Ladder[Refinancing[Any]] = Ladder(lambda lift: Refinancing(terms, lift))

        @cache
        def brackets(month: int) -> Brackets:
            return Brackets(
                ladder.exact(lambda case: case.current_bracket(month)),
                ladder.exact(lambda case: case.new_bracket(month)),
            )

        @cache
        def position_sign(month: int) -> int:
            return ladder.sign(lambda case: case.position(month))

        turns = direction_changes(terms, ladder)
        stretches = list(pairwise(turns))
        return [
            *break_even_decisions(
                terms,
                ladder.exact(lambda case: case.current.payment),
                ladder.exact(lambda case: case.new.payment),
            ),
            *first_ahead_decisions(first_ahead_month(stretches, position_sign), turns, brackets),
            *net_break_even_decisions(net_break_even_months(stretches, position_sign), turns, brackets),
            *recommendation_decisions(brackets(min(terms.horizon, terms.both_paid))),
        ]


def break_even_decisions(terms: Terms, current_payment: Fraction, new_payment: Fraction) -> list[Decision]:
    """RF-8: the sign of the savings; if they are positive, the smallest m that pays the costs, and m against n.

    The sign of the savings is told by the payments (RF-6). Costs of 0 are paid by m = 0, whatever the savings.
    """
    found = [Decision("RF-8", "the savings are positive", current_payment, new_payment)]
    savings = current_payment - new_payment
    if savings <= 0:
        return found
    costs = fraction(terms.costs)
    months = ceil(costs / savings)
    if costs > 0:
        found.append(Decision("RF-8", "m months pay the costs", months * savings, costs))
        found.append(Decision("RF-8", "m - 1 months do not pay the costs", (months - 1) * savings, costs))
    return [*found, Decision("RF-8", "m is at most n", Fraction(months), Fraction(terms.current.months))]


def first_ahead_decisions(first: int | None, turns: list[int], brackets: BracketsAt) -> list[Decision]:
    """RF-9. Before the answer, the nearest month need not be the last: the position may come close, and fall again."""
    if first is None:
        return [Decision("RF-9", "ahead at some month", *greatest_position(turns, 1, turns[-1], brackets))]
    found = [Decision("RF-9", "ahead at the answer", *brackets(first))]
    if first > 1:
        greatest = greatest_position(turns, 1, first - 1, brackets)
        found.append(Decision("RF-9", "not ahead at the month before", *brackets(first - 1)))
        found.append(Decision("RF-9", "not ahead at any month before", *greatest))
    return found


def net_break_even_decisions(net: int | None, turns: list[int], brackets: BracketsAt) -> list[Decision]:
    """RF-10: the position at the end; if that is ahead, the month before the answer, and all from the answer on."""
    found = [Decision("RF-10", "ahead when both loans are paid off", *brackets(turns[-1]))]
    if net is None:
        return found
    if net > 0:
        found.append(Decision("RF-10", "behind at the month before", *brackets(net - 1)))
    return [*found, Decision("RF-10", "never behind again", *least_position(turns, net, turns[-1], brackets))]


def recommendation_decisions(horizon: Brackets) -> list[Decision]:
    """RF-13, on the brackets at the horizon, whose difference is the savings there (RF-12)."""
    current, new = horizon
    return [
        Decision("RF-13", "the savings at the horizon are at least 1", current, new + MATERIAL),
        Decision("RF-13", "the savings at the horizon are at most -1", current + MATERIAL, new),
    ]


def greatest_position(turns: list[int], first: int, last: int, brackets: BracketsAt) -> Brackets:
    """The brackets at the month of first..last at which the borrower is most ahead."""
    return max(map(brackets, extreme_months(turns, first, last)), key=lambda at_month: at_month.position)


def least_position(turns: list[int], first: int, last: int, brackets: BracketsAt) -> Brackets:
    """The brackets at the month of first..last at which the borrower is most behind."""
    return min(map(brackets, extreme_months(turns, first, last)), key=lambda at_month: at_month.position)


def extreme_months(turns: list[int], first: int, last: int) -> list[int]:
    """Months of first..last among which are one of the least and one of the greatest position of all of them.

    The position is monotone between `direction_changes`, so the ends and those changes suffice.
    """
    return [first, *[month for month in turns if first < month < last], last]


def read(inputs: Mapping[str, Input]) -> Terms:
    """RF-1, with the new loan's amount of RF-2."""
    balance = meaning(inputs["currentBalance"])
    costs = meaning(inputs["closingCosts"])
    current_rate = meaning(inputs["currentAnnualRate"]) / MONTHS_A_YEAR
    new_rate = meaning(inputs["newAnnualRate"]) / MONTHS_A_YEAR
    new_amount = balance + costs if inputs["financeClosingCosts"] else balance
    return Terms(
        current=LoanTerms(balance, current_rate, int(inputs["currentRemainingMonths"])),
        new=LoanTerms(new_amount, new_rate, int(inputs["newTermMonths"])),
        costs=costs,
        horizon=int(inputs["horizonMonths"]),
    )


def outputs(terms: Terms, ladder: Ladder[Refinancing[Any]]) -> dict[str, Any]:
    """All outputs."""
    end = terms.both_paid

    @cache
    def position(month: int) -> float:
        return ladder.double(lambda case: case.position(month))

    @cache
    def position_sign(month: int) -> int:
        return ladder.sign(lambda case: case.position(month))

    stretches = list(pairwise(direction_changes(terms, ladder)))
    new_amount = terms.new.amount
    return {
        "newLoanAmount": nearest_double(int(new_amount.p), int(new_amount.q)),  # RF-2
        "currentMonthlyPayment": ladder.double(lambda case: case.current.payment),
        "newMonthlyPayment": ladder.double(lambda case: case.new.payment),
        "monthlySavings": ladder.double(lambda case: case.monthly_savings()),
        "breakEvenMonths": or_infinity(break_even_months(terms, ladder)),
        "firstAheadMonth": or_infinity(first_ahead_month(stretches, position_sign)),
        "netBreakEvenMonths": or_infinity(net_break_even_months(stretches, position_sign)),
        "remainingInterestCurrent": ladder.double(lambda case: case.current.interest_to(end)),  # RF-11
        "totalInterestNew": ladder.double(lambda case: case.new.interest_to(end)),
        "lifetimeSavings": position(end),  # RF-12
        "savingsAtHorizon": position(min(terms.horizon, end)),
        "recommendation": recommendation(terms, ladder),
        "yearlyData": yearly_data(terms, ladder, position),
    }


def break_even_months(terms: Terms, ladder: Ladder[Refinancing[Any]]) -> int | None:
    """RF-8; None for Infinity."""
    last = terms.current.months
    if ladder.sign(lambda case: case.monthly_savings()) <= 0:
        return None
    if ladder.sign(lambda case: case.monthly_savings() * last - case.costs) < 0:
        return None
    return ladder.ceiling(lambda case: case.costs / case.monthly_savings())


def direction_changes(terms: Terms, ladder: Ladder[Refinancing[Any]]) -> list[int]:
    """Months from 0 to T between which the position is monotone (stretches lemma).

    A month is on the hump where the hump is above zero. Where neither month 1 nor month k is, the top may still be, and
    has to be found. From month 1 to the top, and from there to month k, being on the hump changes at most once; if one
    of the ends is on the hump, that is so from end to end.
    """
    last = terms.one_paid
    hump = 1 if terms.new.rate <= terms.current.rate else -1

    @cache
    def on_hump(month: int) -> bool:
        return hump * ladder.sign(lambda case: case.interest_saved(month)) > 0

    def past_top(month: int) -> bool:
        return hump * ladder.sign(lambda case: case.interest_saved_rise(month)) <= 0

    bounds = [1, last]
    if not on_hump(1) and not on_hump(last):
        bounds.insert(1, 1 + bisect_left(range(1, last), True, key=past_top))
    changes = [
        change_after(start, stop, on_hump) for start, stop in pairwise(bounds) if on_hump(start) != on_hump(stop)
    ]
    return [0, *changes, last, terms.both_paid]


def change_after(start: int, stop: int, holds: Callable[[int], bool]) -> int:
    """The last month that is like start, where something changes once in months start..stop, to or from holding."""
    other = not holds(start)
    return start + bisect_left(range(start + 1, stop), True, key=lambda month: holds(month) == other)


def first_ahead_month(stretches: list[tuple[int, int]], position_sign: Sign) -> int | None:
    """RF-9; None for Infinity.

    The first stretch that ends ahead starts where the borrower is not: at 0, where position(0) = -c <= 0, or at the end
    of another. So it rises, and the borrower was ahead nowhere before.
    """
    for start, stop in stretches:
        if position_sign(stop) > 0:
            return start + 1 + bisect_left(range(start + 1, stop), True, key=lambda month: position_sign(month) > 0)
    return None


def net_break_even_months(stretches: list[tuple[int, int]], position_sign: Sign) -> int | None:
    """RF-10; None for Infinity.

    The last stretch that starts behind ends where the borrower is not behind, so it rises, and the borrower is behind
    nowhere after it.
    """
    end = stretches[-1][1]
    if position_sign(end) <= 0:
        return None
    for start, stop in reversed(stretches):
        if position_sign(start) < 0:
            return start + 1 + bisect_left(range(start + 1, stop), True, key=lambda month: position_sign(month) >= 0)
    return 0


def recommendation(terms: Terms, ladder: Ladder[Refinancing[Any]]) -> str:
    """RF-13."""
    month = min(terms.horizon, terms.both_paid)
    if ladder.sign(lambda case: case.position(month) - MATERIAL) >= 0:
        return "refinance"
    if ladder.sign(lambda case: case.position(month) + MATERIAL) <= 0:
        return "keep"
    return "indifferent"


def yearly_data(
    terms: Terms, ladder: Ladder[Refinancing[Any]], position: Callable[[int], float]
) -> list[dict[str, Any]]:
    """RF-14: both balances and the position a row a year, to the horizon."""
    rows = []
    for year in range(-(-terms.horizon // MONTHS_A_YEAR) + 1):
        month = min(MONTHS_A_YEAR * year, terms.horizon)
        rows.append(yearly_row(year, month, ladder, position(min(month, terms.both_paid))))
    return rows


def yearly_row(year: int, month: int, ladder: Ladder[Refinancing[Any]], position: float) -> dict[str, Any]:
    """A row of RF-14."""
    return {
        "year": year,
        "month": month,
        "currentBalance": ladder.double(lambda case: case.current.balance(month)),
        "newBalance": ladder.double(lambda case: case.new.balance(month)),
        "position": position,
    }


def or_infinity(months: int | None) -> int | str:
    """A count of months, or the sentinel (C-8)."""
    return INFINITY if months is None else months
