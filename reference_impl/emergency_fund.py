"""Emergency fund, by the spec of that name: the target, how long the savings last, and when the target is reached.

Every decision is taken on the real values and every output is rounded once, with a proof (see `certified`). It is not
for inflation, taxes or changing yields, and it does not validate its inputs. Written from the spec text alone.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping
from fractions import Fraction
from math import ceil, log1p
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
LAST_MONTH = 1200
LAST_YEAR_OF_TABLE = 30
LAST_MONTH_ON_TRACK = 24


class Household(NamedTuple):
    """The case in exact numbers: what EF-1 and EF-2 name."""

    gap: fmpq
    target: fmpq
    savings: fmpq
    contribution: fmpq
    monthly_yield: fmpq


class Fund(Generic[Number]):
    """The paths of EF-5, EF-6 and EF-8 in closed form.

    Write s(n) for the sum of (1 + j)^0, (1 + j)^1, ..., (1 + j)^(n - 1). Each step of S, and each of B, is the one
    before times 1 + j, so the recurrences of the clauses solve to
        S(n) = S(0) + (j * S(0) + contribution) * s(n)
        B(n) = S(0) - (gap * (1 + j) - j * S(0)) * s(n)
    A step of S is that month's interest and the contribution, so the interest of months 1..n adds up to
        S(n) - S(0) - n * contribution = j * S(0) * s(n) + contribution * (s(n) - n).
    """

    def __init__(self, household: Household, lift: Callable[[fmpq], Number]) -> None:
        monthly_yield = household.monthly_yield
        self._months: Compounding[Number] = Compounding(lift(monthly_yield), free=monthly_yield == 0)
        self._savings: Number = lift(household.savings)
        self._contribution: Number = lift(household.contribution)
        self._interest_first: Number = lift(monthly_yield * household.savings)
        self._rise_first: Number = lift(first_rise(household))
        self._fall_first: Number = lift(first_fall(household))

    def balance(self, month: int) -> Number:
        """EF-6: S(month)."""
        return self._savings + self._rise_first * self._sum(month)

    def reserve(self, month: int) -> Number:
        """EF-5: B(month), carried on by its recurrence whether or not the months are covered."""
        return self._savings - self._fall_first * self._sum(month)

    def interest(self, months: int) -> Number:
        """EF-8: the interest of the first `months` months."""
        months_sum = self._sum(months)
        return self._interest_first * months_sum + self._contribution * (months_sum - months)

    def _sum(self, months: int) -> Number:
        return self._months.accumulation(months) / self._months.first


def compute(inputs: Mapping[str, Input]) -> dict[str, Any]:
    """The outputs of one case, in the order of the contract."""
    household = read(inputs)
    with working_precision():
        return outputs(household)


def decisions(inputs: Mapping[str, Input]) -> list[Decision]:
    """What the exact outputs of one case hang on: the comparisons of EF-2, EF-3, EF-5, EF-7 and EF-9."""
    expenses = meaning(inputs["monthlyEssentialExpenses"])
    income = meaning(inputs["monthlyBackupIncome"])
    household = read(inputs)
    with working_precision():
        ladder = fund_ladder(household)
        return [
            Decision("EF-2", "the expenses exceed the backup income", fraction(expenses), fraction(income)),
            Decision("EF-3", "the savings reach the target", fraction(household.savings), fraction(household.target)),
            *runway_decisions(household, ladder),
            *target_decisions(household, ladder),
        ]


def runway_decisions(household: Household, ladder: Ladder[Fund[Any]]) -> list[Decision]:
    """EF-5, if there is a gap. Of the months counted, at most 1200, the one with the least B is the nearest decision.

    B rises or falls throughout, so that is the first or the last of them. The count is compared with 1200 where it is
    known, that is where the count would stop at the next month.
    """
    if household.gap == 0:
        return []
    runway = runway_months(household, ladder)
    counted = LAST_MONTH if runway is None else runway
    gap = fraction(household.gap)
    after_counted = ladder.exact(lambda fund: fund.reserve(counted))
    found = []
    if counted > 0:
        before_last = ladder.exact(lambda fund: fund.reserve(counted - 1))
        least = min(fraction(household.savings), before_last)
        found.append(Decision("EF-5", "the months counted are covered", least, gap))
    if counted < LAST_MONTH:
        found.append(Decision("EF-5", "the month after those counted is not covered", after_counted, gap))
    if after_counted < gap:
        found.append(Decision("EF-5", "1200 months are covered", Fraction(counted), Fraction(LAST_MONTH)))
    return found


def target_decisions(household: Household, ladder: Ladder[Fund[Any]]) -> list[Decision]:
    """EF-7, and EF-9 where the target is reached. S never falls, so the months next to the answer n are the nearest."""
    target = fraction(household.target)
    months = months_to_target(household, ladder)
    if months is None:
        last = ladder.exact(lambda fund: fund.balance(LAST_MONTH))
        return [Decision("EF-7", "month 1200 does not reach the target", last, target)]
    found = [Decision("EF-7", "month n reaches the target", ladder.exact(lambda fund: fund.balance(months)), target)]
    if months > 0:
        before = ladder.exact(lambda fund: fund.balance(months - 1))
        found.append(Decision("EF-7", "month n - 1 does not reach the target", before, target))
    return [
        *found,
        Decision("EF-9", "n is at most 24", Fraction(months), Fraction(LAST_MONTH_ON_TRACK)),
        Decision("EF-9", "n is at most 1200", Fraction(months), Fraction(LAST_MONTH)),
    ]


def read(inputs: Mapping[str, Input]) -> Household:
    """EF-1 and EF-2: the yield of a month, the gap of a month, and the target."""
    gap = max(meaning(inputs["monthlyEssentialExpenses"]) - meaning(inputs["monthlyBackupIncome"]), fmpq(0))
    return Household(
        gap=gap,
        target=gap * int(inputs["targetMonths"]),
        savings=meaning(inputs["currentSavings"]),
        contribution=meaning(inputs["monthlyContribution"]),
        monthly_yield=meaning(inputs["annualYield"]) / MONTHS_A_YEAR,
    )


def outputs(household: Household) -> dict[str, Any]:
    """All outputs."""
    ladder = fund_ladder(household)
    excess = household.savings - household.target
    months = months_to_target(household, ladder)
    reached = LAST_MONTH if months is None else months
    return {
        "monthlyGap": rounded(household.gap),
        "targetAmount": rounded(household.target),
        "shortfall": rounded(max(-excess, fmpq(0))),  # EF-3
        "surplus": rounded(max(excess, fmpq(0))),
        "fundedRatio": funded_ratio(household),
        "runwayMonths": or_infinity(runway_months(household, ladder)),
        "monthsToTarget": or_infinity(months),
        "projectedInterest": ladder.double(lambda fund: fund.interest(reached)),
        "status": status(months),
        "yearlyData": yearly_data(ladder, reached),
    }


def fund_ladder(household: Household) -> Ladder[Fund[Any]]:
    """Without a yield, sums are short decimals and ties are common, so the ladder is exact from the start."""
    return Ladder(lambda lift: Fund(household, lift), start_exact=household.monthly_yield == 0)


def first_rise(household: Household) -> fmpq:
    """S(1) - S(0) of EF-6. It is never negative, and all steps of S have its sign."""
    return household.monthly_yield * household.savings + household.contribution


def first_fall(household: Household) -> fmpq:
    """B(0) - B(1) of EF-5. All steps of B have the opposite sign."""
    return household.gap + household.monthly_yield * (household.gap - household.savings)


def funded_ratio(household: Household) -> float:
    """EF-4."""
    return rounded(household.savings / household.target) if household.target > 0 else 1.0


def runway_months(household: Household, ladder: Ladder[Fund[Any]]) -> int | None:
    """EF-5: how many months in a row are covered; None for Infinity.

    Month m is covered if B(m - 1) >= gap, which is B(m) >= 0, as B(m) is B(m - 1) - gap times a positive number. If B
    does not fall at first it never does, and stays at or above B(0) >= 0. Otherwise it falls for ever, and the first
    month with B < 0 is the first that is not covered. With a gap of 0, B does not fall at first.
    """
    fall = first_fall(household)
    if fall <= 0:
        return None

    def uncovered(month: int) -> bool:
        return ladder.sign(lambda fund: fund.reserve(month)) < 0

    first_uncovered = first_month(uncovered, household.monthly_yield, household.savings / fall)
    return None if first_uncovered is None else first_uncovered - 1


def months_to_target(household: Household, ladder: Ladder[Fund[Any]]) -> int | None:
    """EF-7: the first month with S >= target; None for Infinity. S never falls, so once reached it stays reached."""
    missing = household.target - household.savings
    rise = first_rise(household)
    if missing <= 0:
        return 0
    if rise == 0:
        return None

    def reached(month: int) -> bool:
        return ladder.sign(lambda fund: fund.balance(month) - household.target) >= 0

    return first_month(reached, household.monthly_yield, missing / rise)


def first_month(holds: Callable[[int], bool], monthly_yield: fmpq, multiple: fmpq) -> int | None:
    """The first of months 1..1200 at which something holds that then holds for good; None if there is none.

    It is expected about where s(n) passes `multiple`. The estimate is made in floats and decides nothing: it only
    says which two months to look at first.
    """
    low, high = 0, LAST_MONTH + 1
    estimate = min(max(estimated_month(float(monthly_yield), float(multiple)), 1), LAST_MONTH)
    for month in (estimate - 1, estimate):
        if low < month < high:
            low, high = (low, month) if holds(month) else (month, high)
    month = low + 1 + bisect_left(range(low + 1, high), True, key=holds)
    return month if month <= LAST_MONTH else None


def estimated_month(monthly_yield: float, multiple: float) -> int:
    """About the first month n at which s(n) >= multiple, from (1 + j)^n = 1 + j * s(n)."""
    return ceil(log1p(monthly_yield * multiple) / log1p(monthly_yield) if monthly_yield > 0 else multiple)


def status(months: int | None) -> str:
    """EF-9."""
    if months is None:
        return "unreachable"
    if months == 0:
        return "funded"
    return "on-track" if months <= LAST_MONTH_ON_TRACK else "slow"


def yearly_data(ladder: Ladder[Fund[Any]], reached: int) -> list[dict[str, Any]]:
    """EF-10: the balance a row a year, up to the month that EF-8 calls N, for at most 30 years."""
    last_year = min(-(-reached // MONTHS_A_YEAR), LAST_YEAR_OF_TABLE)
    return [balance_row(ladder, year, min(MONTHS_A_YEAR * year, reached)) for year in range(last_year + 1)]


def balance_row(ladder: Ladder[Fund[Any]], year: int, month: int) -> dict[str, Any]:
    """A row of EF-10."""
    return {"year": year, "month": month, "balance": ladder.double(lambda fund: fund.balance(month))}


def or_infinity(months: int | None) -> int | str:
    """A count of months, or the sentinel (C-8)."""
    return INFINITY if months is None else months


def rounded(value: fmpq) -> float:
    """The nearest double of an exact value (C-5)."""
    return nearest_double(int(value.p), int(value.q))
