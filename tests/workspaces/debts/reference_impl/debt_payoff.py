"""Debt payoff, by the spec of that name: when all debts are paid, what it costs, and which goes first.

Written from the spec text alone, in exact fractions; every amount is a whole number of cents by the spec itself. It is
not for new borrowing, fees or changing rates, and it does not validate its inputs.
"""

from collections.abc import Mapping
from fractions import Fraction
from math import ceil, floor
from typing import Any, NamedTuple

SPEC_VERSION = "1.0.0"
LAST_MONTH = 600
HALF = Fraction(1, 2)


class Debt(NamedTuple):
    """A debt of the list: its position from 1, its monthly rate, its minimum payment in cents."""

    position: int
    monthly_rate: Fraction
    minimum: int


class Month(NamedTuple):
    """What stands after a month: cents owed by position, interest added so far, positions that were paid off in it."""

    owed: dict[int, int]
    interest: int
    paid_off: list[int]


def compute(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The outputs of one case, in the order of the contract."""
    given = list(enumerate(inputs["debts"], start=1))
    debts = [Debt(k, meaning(debt["annualRate"]) / 12, cents(debt["minimumPayment"])) for k, debt in given]
    today = Month({k: cents(debt["balance"]) for k, debt in given}, 0, [])
    budget = cents(inputs["monthlyBudget"])
    order = priority(debts, today.owed, inputs["strategy"])
    months = path(debts, today, budget, order)
    paid = not is_open(months[-1])
    return {
        "months": len(months) - 1 if paid else "Infinity",  # DP-4
        "totalInterest": dollars(months[-1].interest),  # DP-5
        "budgetCoversMinimums": budget >= minimums_due(debts, today.owed),
        "firstPaid": first_paid(months),
        "yearlyData": yearly_data(months),
    }


def meaning(number: float) -> Fraction:
    """C-1: the shortest decimal that reads back as this number."""
    return Fraction(repr(float(number)))


def cents(amount: float) -> int:
    """DP-1: c(x)."""
    return floor(100 * meaning(amount) + HALF)


def dollars(amount: int) -> float:
    """DP-1: an output in dollars, rounded once (C-5)."""
    return float(Fraction(amount, 100))


def interest(owed: int, monthly_rate: Fraction) -> int:
    """DP-3, 1."""
    return floor(owed * monthly_rate + HALF)


def priority(debts: list[Debt], owed: dict[int, int], strategy: str) -> list[Debt]:
    """DP-2."""
    if strategy == "avalanche":
        return sorted(debts, key=lambda debt: (-debt.monthly_rate, debt.position))
    return sorted(debts, key=lambda debt: (owed[debt.position], debt.position))


def path(debts: list[Debt], today: Month, budget: int, order: list[Debt]) -> list[Month]:
    """Today and the months 1..N of DP-4."""
    months = [today]
    while is_open(months[-1]) and len(months) <= LAST_MONTH:
        months.append(next_month(debts, months[-1], budget, order))
    return months


def is_open(month: Month) -> bool:
    """DP-1: whether any debt is open."""
    return any(owed > 0 for owed in month.owed.values())


def next_month(debts: list[Debt], before: Month, budget: int, order: list[Debt]) -> Month:
    """DP-3."""
    added = {debt.position: interest(before.owed[debt.position], debt.monthly_rate) for debt in debts}
    owed = {k: before.owed[k] + added[k] for k in added}
    paid_off = []
    at_hand = budget
    minimum_payments = [(debt.position, debt.minimum) for debt in debts]
    the_rest = [(debt.position, None) for debt in order]
    for k, limit in [*minimum_payments, *the_rest]:
        if owed[k] == 0:
            continue
        payment = min(owed[k], at_hand) if limit is None else min(limit, owed[k], at_hand)
        owed[k] -= payment
        at_hand -= payment
        if owed[k] == 0:
            paid_off.append(k)
    return Month(owed, before.interest + sum(added.values()), paid_off)


def minimums_due(debts: list[Debt], owed: dict[int, int]) -> int:
    """The sum of DP-6."""
    return sum(
        min(debt.minimum, owed[debt.position] + interest(owed[debt.position], debt.monthly_rate)) for debt in debts
    )


def first_paid(months: list[Month]) -> str:
    """DP-7."""
    return next((str(k) for month in months for k in month.paid_off), "none")


def yearly_data(months: list[Month]) -> list[dict[str, Any]]:
    """DP-8."""
    last = len(months) - 1
    return [yearly_row(year, min(12 * year, last), months) for year in range(ceil(Fraction(last, 12)) + 1)]


def yearly_row(year: int, number: int, months: list[Month]) -> dict[str, Any]:
    """A row of DP-8."""
    month = months[number]
    still_open = sum(owed > 0 for owed in month.owed.values())
    return {
        "year": year,
        "month": number,
        "balance": dollars(sum(month.owed.values())),
        "interest": dollars(month.interest),
        "openDebts": still_open,
        "allPaid": still_open == 0,
    }
