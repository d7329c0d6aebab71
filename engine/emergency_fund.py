"""Emergency fund 1.0.1 for a whole batch at once: target, runway, months to the target, interest and balances.

Not the definition (`specs/emergency-fund/1.0.1.md`, whose clauses are cited), and no validation of inputs.

All linear parts are exact whole numbers (decimals.py). Both counts of months ask when u^m, with u = 1 + j, passes a
ratio. Logarithms answer with a bound; where a whole month lies within it, the powers of that month are compared.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .decimals import Decimals, meaning
from .precision import DD, LIBM, DoubleDouble, Floats, U, power, too_wide
from .tables import Outputs, Table, in_slices, ragged

SPEC_VERSION = "1.0.1"

Column = NDArray[Any]

FIELDS = ("monthlyEssentialExpenses", "monthlyBackupIncome", "currentSavings", "monthlyContribution", "annualYield")
LAST_MONTH = 1200
LAST_TABLE_YEAR = 30
OPEN = -1.0  # a count of months that takes more than linear arithmetic
# A yield of 0 is computed as this one: the same formulas, and they differ from the limit by a relative 1200e-200.
NO_YIELD = 1e-200


def compute(inputs: Mapping[str, Column]) -> Outputs:
    """All outputs of the contract, a column each, for inputs that were already validated."""
    return in_slices(_compute, inputs, 2048)


def _compute(inputs: Mapping[str, Column]) -> Outputs:
    columns = [inputs[field] + 0.0 for field in FIELDS]  # -0.0 is 0 (C-2)
    _, _, savings, paid, annual = columns
    decimals, target_months = Decimals(columns), inputs["targetMonths"].astype(np.int64)
    linear = decimals.exactly(_linear, np.arange(savings.size), target_months)
    gap, target, shortfall, surplus, ratio, runway, drain, months, climb = linear

    rate = np.maximum(annual / 12, NO_YIELD)  # EF-1
    growth = np.log1p(rate)
    for count, growth_ratio, passed in ((runway, drain, _drained), (months, climb, _reached)):
        rows = np.flatnonzero(count == OPEN)
        count[rows] = _months(growth_ratio[rows], growth[rows], decimals, target_months, rows, passed)
    runway[runway >= LAST_MONTH] = np.inf  # EF-5: months 1 to 1200 are all covered
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
        "projectedInterest": _interest(savings, paid, annual, rate, growth, last),
        "status": _status(months),
        "yearlyData": _yearly(savings, paid, annual, rate, growth, last),
    }


def near_decisions(inputs: Mapping[str, Column], outputs: Mapping[str, Column]) -> dict[str, NDArray[np.bool_]]:
    """C-22: of which cases the exact outputs, given with the others, hang on the last digits of the inputs."""
    expenses, backup, savings, paid, annual = (inputs[field].astype(np.float64) for field in FIELDS)
    gap, runway, months = outputs["monthlyGap"], outputs["runwayMonths"], outputs["monthsToTarget"]
    wanted = inputs["targetMonths"] * np.maximum(expenses, backup)
    monthly = np.maximum(annual / 12, NO_YIELD)

    def gained(month: Floats) -> Floats:
        return np.expm1(np.clip(month, 0, LAST_MONTH) * np.log1p(monthly))

    def reserve(month: Floats) -> NDArray[np.bool_]:
        """EF-5: B(month) against the gap."""
        have = savings * (1 + gained(month))
        spent = gap + gained(month) / monthly * (1 + monthly) * gap
        return _near(have - spent, np.maximum(have, spent)) & (month >= 0)

    def balance(month: Floats) -> NDArray[np.bool_]:
        """EF-7: S(month) against the target."""
        saved, added = savings * (1 + gained(month)), gained(month) / monthly * paid
        missing = saved + added - outputs["targetAmount"]
        return _near(missing, np.maximum(np.maximum(saved, added), wanted)) & (month >= 0)

    gaps = _near(expenses - backup, np.maximum(expenses, backup))  # EF-2
    covered = reserve(np.minimum(runway, LAST_MONTH) - 1) | reserve(np.where(runway < LAST_MONTH, runway, 0.0))
    runways = gaps | ((gap > 0) & covered)
    reached = gaps | balance(np.minimum(months, LAST_MONTH)) | balance(months - 1)
    turns = np.isin(months, (0, 1, 24, 25, LAST_MONTH, np.inf))  # EF-9
    return {"runwayMonths": runways, "monthsToTarget": reached, "status": reached & turns}


def _near(difference: Floats, scale: Floats) -> NDArray[np.bool_]:
    near: NDArray[np.bool_] = (np.abs(difference) <= 1e-12 * scale) & (scale > 0)
    return near


def _linear(unit: int, *columns: Column) -> tuple[Column, ...]:
    """EF-2, EF-3, EF-4, and of EF-5 and EF-7 what needs no power; exact, and rounded once by the last division.

    On the grid every product stays below 12.2e6 * 1e11 + 2e5 * 1e13 < 2**62.
    """
    expenses, backup, savings, paid, annual, months = columns
    gap = np.maximum(expenses - backup, 0)
    target = months * gap
    shortfall, surplus = np.maximum(target - savings, 0), np.maximum(savings - target, 0)
    ratio = np.where(target > 0, savings, 1) / np.where(target > 0, target, 1)

    drain = _drain(unit, gap, savings, annual)
    covered = np.minimum(savings // np.maximum(gap, 1), LAST_MONTH)
    runway = np.where(annual == 0, covered, OPEN).astype(np.float64)
    runway[(savings < gap).astype(bool)] = 0
    runway[((gap == 0) | (drain <= 0)).astype(bool)] = np.inf
    to_drain = np.where(runway == OPEN, (savings - gap) * annual, 0) / np.where(runway == OPEN, drain, 1)

    pace = _pace(unit, savings, paid, annual)
    needed = np.minimum(-(-shortfall // np.maximum(paid, 1)), LAST_MONTH + 1)
    until = np.where(annual == 0, needed, OPEN).astype(np.float64)
    until[(pace == 0).astype(bool)] = np.inf
    until[(shortfall == 0).astype(bool)] = 0
    to_climb = np.where(until == OPEN, shortfall * annual, 0) / np.where(until == OPEN, pace, 1)

    amounts = (gap / unit, target / unit, shortfall / unit, surplus / unit, ratio, runway, to_drain, until, to_climb)
    return tuple(amount.astype(np.float64) for amount in amounts)


def _drain(unit: int, gap: Column, savings: Column, annual: Column) -> Column:
    """12 (g (1 + j) - S j), positive if the savings do not last forever. EF-5 is j B(m) = g (1 + j) - u^m drain / 12 in
    closed form, so that month m + 1 is not covered if and only if u^m > 12 g / drain = 1 + 12 j (S - g) / drain."""
    drain: Column = gap * (12 * unit + annual) - savings * annual
    return drain


def _pace(unit: int, savings: Column, paid: Column, annual: Column) -> Column:
    """12 (S j + c), what the first month adds. EF-6 is j S(n) = u^n pace / 12 - c in closed form, so that
    S(n) >= target if and only if u^n >= 12 (target j + c) / pace = 1 + 12 j (target - S) / pace."""
    pace: Column = savings * annual + 12 * unit * paid
    return pace


def _months(
    ratio: Floats,
    growth: Floats,
    decimals: Decimals,
    target_months: Column,
    rows: Column,
    passed: Callable[..., tuple[Column]],
) -> Floats:
    """EF-5 and EF-7: the first month at which u^m has passed 1 + ratio."""
    month = np.minimum(np.log1p(ratio) / growth, LAST_MONTH + 1.5)
    # j has 2 U (its decimal, / 12), and log1p passes on at most that and adds LIBM: 10 U. The ratio, a quotient of two
    # rounded exact numbers, has 3 U and its log1p 11 U. With the division: 22 U.
    error = 24 * U
    result = np.floor(month) + 1
    tied = np.flatnonzero(np.floor(month * (1 - error)) != np.floor(month * (1 + error)))
    if tied.size:
        nearest, rows = np.rint(month[tied]).astype(np.int64), rows[tied]
        result[tied] = nearest + ~decimals.exactly(passed, rows, target_months[rows], nearest)[0]
    return result


def _drained(unit: int, *columns: Column) -> tuple[Column]:
    """EF-5: is the month after `month` not covered?"""
    expenses, backup, savings, _, annual, _, month = columns
    gap = expenses - backup
    return (_compared(unit, _drain(unit, gap, savings, annual), annual, month, 12 * unit * gap) > 0,)


def _reached(unit: int, *columns: Column) -> tuple[Column]:
    """EF-7: is S(month) >= the target?"""
    expenses, backup, savings, paid, annual, months, month = columns
    goal = months * (expenses - backup) * annual + 12 * unit * paid
    return (_compared(unit, _pace(unit, savings, paid, annual), annual, month, goal) >= 0,)


def _compared(unit: int, factor: Column, annual: Column, month: Column, goal: Column) -> Column:
    """The sign of factor * u^month - goal, with u = (12 + y) / 12: in double-double, and in whole numbers at a tie."""
    above, below = 12 * unit + annual, np.full_like(annual, 12 * unit)
    left = DoubleDouble.of(factor) * power(DoubleDouble.of(above) / DoubleDouble.of(below), month)
    difference = (left - DoubleDouble.of(goal)).hi
    sign = np.sign(difference).astype(np.int64)
    # The power has 2 month DD; the factor, the product, the goal and the difference add less than one each.
    bound = (2 * month + 4) * DD * (left.hi + goal.astype(np.float64))
    for k in np.flatnonzero(np.abs(difference) <= bound):
        n = int(month[k])
        exact = int(factor[k]) * int(above[k]) ** n - int(goal[k]) * int(below[k]) ** n
        sign[k] = (exact > 0) - (exact < 0)
    return sign


def _interest(savings: Floats, paid: Floats, annual: Floats, rate: Floats, growth: Floats, months: Floats) -> Floats:
    """EF-8: S(N) - S(0) - N c, which is S (u^N - 1) + c ((u^N - 1) / j - N)."""
    exponent = months * growth
    gained = np.expm1(exponent)
    value = np.where(annual > 0, savings * gained + paid * (gained / rate - months), 0.0)
    # The exponent has 11 U; e^x - 1 passes on at most 1 + x times that and adds LIBM; j's 2 U, and at most 6 roundings.
    bound = (11 * U * (1 + exponent) + LIBM + 8 * U) * (savings * gained + paid * (gained / rate))
    rows = np.flatnonzero(too_wide(value, bound) & (annual > 0))
    if rows.size:
        monthly, contribution = meaning(annual[rows]) / 12.0, meaning(paid[rows])
        gain = power(monthly + 1.0, months[rows].astype(np.int64)) - 1.0
        # c / j is at most 1e5 / 8e-11, times the 2 * 1200 DD of the power: below 1e-11.
        value[rows] = (gain * (meaning(savings[rows]) + contribution / monthly) - contribution * months[rows]).hi
    return value


def _status(months: Floats) -> Column:
    """EF-9."""
    names = np.array(["funded", "on-track", "slow", "unreachable"])
    return names[np.searchsorted([0.0, 24.0, float(LAST_MONTH)], months)]


def _yearly(savings: Floats, paid: Floats, annual: Floats, rate: Floats, growth: Floats, last: Floats) -> Table:
    """EF-10, with EF-6 in closed form: S + (S + c / j) (u^m - 1).

    Nothing is subtracted, and m log u is below 6: the relative error stays below 11 * 7 + 8 + 8 = 93 U, and nothing is
    left to settle.
    """
    counts = (np.minimum(np.ceil(last / 12), LAST_TABLE_YEAR) + 1).astype(np.int64)
    case, year = ragged(counts)
    month = np.minimum(12.0 * year, last[case])
    # Without a yield the second term vanishes, and c m takes its place.
    scale, added = np.where(annual > 0, (savings + paid / rate, np.zeros_like(paid)), (np.zeros_like(paid), paid))
    balance = savings[case] + (scale[case] * np.expm1(month * growth[case]) + added[case] * month)
    return counts, {"year": year, "month": month.astype(np.int64), "balance": balance}
