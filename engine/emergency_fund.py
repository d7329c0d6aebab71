"""Emergency fund 1.0.0 for a whole batch at once: target, runway, months to the target, interest and balances.

Not the definition (`specs/emergency-fund/1.0.0.md`, whose clauses are cited), and no validation of inputs.

All linear parts are exact whole numbers (decimals.py). Both month counts come from one question, when does u^m pass
a / b for u = 1 + j, answered by logarithms with a bound; where the bound holds a whole month, u^m * b is compared exactly.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .decimals import Decimals, meaning
from .precision import DD, LIBM, DoubleDouble, Floats, U, power, too_wide
from .tables import Outputs, in_slices, ragged

SPEC_VERSION = "1.0.0"

Column = NDArray[Any]

LAST_MONTH = 1200
LAST_TABLE_YEAR = 30
OPEN = -1.0  # a month count that the linear part leaves open

# j has 2 U (its decimal, / 12), log1p passes on at most that and adds LIBM, so log1p(j) has 10 U. The growth ratio is a
# quotient of two rounded exact numbers, 3 U, its log1p 11 U. With the division: 22 U.
MONTHS_ERROR = 24 * U
# "No rate" is computed as this one: the same formulas, and n months differ from the limit by a relative n * 1e-200.
NO_YIELD = 1e-200


def compute(inputs: Mapping[str, Column]) -> Outputs:
    """All outputs of the contract, a column each, for inputs that were already validated."""
    return in_slices(_compute, inputs, 2048)


def _compute(inputs: Mapping[str, Column]) -> Outputs:
    fields = ("monthlyEssentialExpenses", "monthlyBackupIncome", "currentSavings", "monthlyContribution", "annualYield")
    _, _, savings, contribution, annual_yield = columns = [inputs[field].astype(np.float64) for field in fields]
    decimals, target_months = Decimals(columns), inputs["targetMonths"].astype(np.int64)
    linear = decimals.exactly(_linear, np.arange(savings.size), target_months)
    gap, target, shortfall, surplus, ratio, runway, drain, months, climb = linear

    rate = np.maximum(annual_yield / 12, NO_YIELD)
    growth = np.log1p(rate)
    still_open = runway == OPEN
    runway[still_open] = _months(drain, growth, still_open, decimals, target_months, "drained")
    runway[runway >= LAST_MONTH] = np.inf  # EF-5: months 1 to 1200 are all covered
    still_open = months == OPEN
    months[still_open] = _months(climb, growth, still_open, decimals, target_months, "reached")
    months[months > LAST_MONTH] = np.inf
    last = np.minimum(months, LAST_MONTH)
    return {
        "monthlyGap": gap,
        "targetAmount": target,
        "shortfall": shortfall,
        "surplus": surplus,
        "fundedRatio": ratio,
        "runwayMonths": runway,
        "monthsToTarget": months,
        "projectedInterest": _interest(savings, contribution, annual_yield, rate, growth, last),
        "status": _status(months),
        "yearlyData": _yearly(savings, contribution, annual_yield, rate, growth, last),
    }


def _linear(unit: int, expenses: Column, backup: Column, savings: Column, paid: Column, annual: Column, months: Column) -> tuple[Column, ...]:
    """EF-2, EF-3, EF-4, and of EF-5 and EF-7 what needs no power; exact, and rounded once by the last division.

    On the grid every product stays below 12.2e6 * 1e11 + 2e5 * 1e13 < 2**62.
    """
    gap = np.maximum(expenses - backup, 0)
    target = months * gap
    missing = np.maximum(target - savings, 0)
    ratio = np.where(target > 0, savings, 1) / np.where(target > 0, target, 1)
    drain, pace = _drain(unit, gap, savings, annual), _pace(unit, savings, paid, annual)

    covered = np.minimum(savings // np.maximum(gap, 1), LAST_MONTH)
    runway = np.where(annual == 0, covered, OPEN).astype(np.float64)
    runway[(savings < gap).astype(bool)] = 0
    runway[((gap == 0) | (drain <= 0)).astype(bool)] = np.inf
    to_drain = np.where(runway == OPEN, (savings - gap) * annual, 0) / np.where(runway == OPEN, drain, 1)

    needed = np.minimum(-(-missing // np.maximum(paid, 1)), LAST_MONTH + 1)
    until = np.where(annual == 0, needed, OPEN).astype(np.float64)
    until[(pace == 0).astype(bool)] = np.inf
    until[(missing == 0).astype(bool)] = 0
    to_climb = np.where(until == OPEN, missing * annual, 0) / np.where(until == OPEN, pace, 1)

    amounts = [column / unit for column in (gap, target, missing, np.maximum(savings - target, 0))]
    rounded = [column.astype(np.float64) for column in (*amounts, ratio, to_drain, to_climb)]
    return (*rounded[:5], runway, rounded[5], until, rounded[6])


def _drain(unit: int, gap: Column, savings: Column, annual: Column) -> Column:
    """12 (g (1 + j) - S j): how fast savings that do not last forever run out. EF-5 in closed form is
    j B(m) = g (1 + j) - drain / 12 * u^m, and so month m + 1 is not covered if and only if u^m * drain > 12 g."""
    return gap * (12 * unit + annual) - savings * annual


def _pace(unit: int, savings: Column, paid: Column, annual: Column) -> Column:
    """12 (S j + c), the first month's growth. EF-6 in closed form is j S(n) = pace / 12 * u^n - c, and so EF-7 asks
    for u^n * pace >= 12 (target j + c)."""
    return savings * annual + 12 * unit * paid


def _months(ratio: Floats, growth: Floats, wanted: Column, decimals: Decimals, target_months: Column, question: str) -> Floats:
    """EF-5 "drained": the smallest m with u^m > 1 + ratio. EF-7 "reached": the smallest with u^m >= 1 + ratio."""
    month = np.minimum(np.log1p(ratio[wanted]) / growth[wanted], LAST_MONTH + 1.5)
    result = np.floor(month) + 1 if question == "drained" else np.ceil(month)
    nearest = np.rint(month)
    tied = np.floor(month * (1 - MONTHS_ERROR)) != np.floor(month * (1 + MONTHS_ERROR))
    if tied.any():
        rows = np.flatnonzero(wanted)[tied]
        formula = _drained if question == "drained" else _reached
        passed = decimals.exactly(formula, rows, target_months[rows], nearest[tied].astype(np.int64))[0]
        result[tied] = nearest[tied] + ~passed
    return result


def _drained(unit: int, expenses: Column, backup: Column, savings: Column, _paid: Column, annual: Column, _: Column, month: Column) -> tuple[Column]:
    """EF-5: is the month after `month` not covered?"""
    gap = expenses - backup
    return (_compared(unit, _drain(unit, gap, savings, annual), annual, month, 12 * unit * gap) > 0,)


def _reached(unit: int, expenses: Column, backup: Column, savings: Column, paid: Column, annual: Column, months: Column, month: Column) -> tuple[Column]:
    """EF-7: is S(month) >= the target?"""
    goal = months * (expenses - backup) * annual + 12 * unit * paid
    return (_compared(unit, _pace(unit, savings, paid, annual), annual, month, goal) >= 0,)


def _compared(unit: int, factor: Column, annual: Column, month: Column, goal: Column) -> Column:
    """The sign of factor * u^month - goal, with u = (12 + y) / 12: in double-double, and in whole numbers at a tie."""
    above, below = 12 * unit + annual, np.full_like(annual, 12 * unit)
    left = DoubleDouble.of(factor) * power(DoubleDouble.of(above) / DoubleDouble.of(below), month)
    difference = (left - DoubleDouble.of(goal)).hi
    sign = np.sign(difference).astype(np.int64)
    # The power has 2 month DD, the other four operations a DD each of the left side or of the goal.
    for k in np.flatnonzero(np.abs(difference) <= (2 * month + 4) * DD * (left.hi + goal.astype(np.float64))):
        n = int(month[k])
        exact = int(factor[k]) * int(above[k]) ** n - int(goal[k]) * int(below[k]) ** n
        sign[k] = (exact > 0) - (exact < 0)
    return sign


def _interest(savings: Floats, paid: Floats, annual: Floats, rate: Floats, growth: Floats, months: Floats) -> Floats:
    """EF-8: S(N) - S(0) - N c, which is S (u^N - 1) + c ((u^N - 1) / j - N)."""
    exponent = months * growth
    gained = np.expm1(exponent)
    value = np.where(annual > 0, savings * gained + paid * (gained / rate - months), 0.0)
    # The exponent has 11 U; e^x - 1 passes on at most 1 + x times that and adds LIBM; three more operations, and j's 2 U.
    bound = (11 * U * (1 + exponent) + LIBM + 8 * U) * (savings * gained + paid * (gained / rate))
    rows = np.flatnonzero(too_wide(value, bound) & (annual > 0))
    if rows.size:
        monthly = meaning(annual[rows]) / 12.0
        gain = power(monthly + 1.0, months[rows].astype(np.int64)) - 1.0
        # c / j <= 1e5 / 8e-11, times 2 * 1200 DD of the power: below 1e-11.
        exact = gain * (meaning(savings[rows]) + meaning(paid[rows]) / monthly) - meaning(paid[rows]) * months[rows]
        value[rows] = exact.hi
    return value


def _status(months: Floats) -> Column:
    """EF-9."""
    names = np.array(["funded", "on-track", "slow", "unreachable"])
    return names[np.searchsorted([0.0, 24.0, float(LAST_MONTH)], months)]


def _yearly(savings: Floats, paid: Floats, annual: Floats, rate: Floats, growth: Floats, last: Floats) -> tuple[NDArray[np.int64], dict[str, Column]]:
    """EF-10, with EF-6 in closed form: S + (S + c / j) (u^m - 1).

    Nothing is subtracted and x = m log u is below 6, so the relative error stays below 11 * 7 + 8 + 8 = 93 U: no settling.
    """
    counts = (np.minimum(np.ceil(last / 12), LAST_TABLE_YEAR) + 1).astype(np.int64)
    case, year = ragged(counts)
    month = np.minimum(12.0 * year, last[case])
    # Without a yield the second term vanishes and c * m takes its place.
    scale = np.where(annual > 0, savings + paid / rate, 0.0)
    added = np.where(annual > 0, 0.0, paid)
    balance = savings[case] + (scale[case] * np.expm1(month * growth[case]) + added[case] * month)
    return counts, {"year": year, "month": month.astype(np.int64), "balance": balance}
