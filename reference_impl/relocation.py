"""Relocation for a job, by the spec of that name: what a move changes in a year, its recovery, and wealth at a horizon.

Every quantity of this model is a quotient of whole numbers that are short enough to be worked with exactly at all
times, so there is nothing here but whole numbers (C-4, C-6) and one rounding for each output (C-5). It is not for
taxes, inflation or several moves, and it does not validate its inputs. Written from the spec text alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import ceil, lcm
from typing import Any

from .certified import Decision, Input, integer_ratio, nearest_double

SPEC_VERSION = "1.0.1"
MONTHS_A_YEAR = 12
NEVER = 9999
MONEY = (
    "currentSalary",
    "newSalary",
    "currentMonthlyExpenses",
    "newMonthlyExpenses",
    "movingCosts",
    "currentSavings",
)


def compute(inputs: Mapping[str, Input]) -> dict[str, Any]:
    """The outputs of one case, in the order of the contract."""
    money, unit = whole_units(inputs)
    salary_delta = money["newSalary"] - money["currentSalary"]  # RL-2
    expense_delta = MONTHS_A_YEAR * (money["newMonthlyExpenses"] - money["currentMonthlyExpenses"])
    net_delta = salary_delta - expense_delta
    recovery = recovery_months(money["movingCosts"], net_delta)

    years = int(inputs["yearsHorizon"])  # RL-1
    growth, growth_unit = growth_factor(inputs)
    scales = [growth_unit**year for year in range(years + 1)]
    savings = money["currentSavings"]
    stay_surplus = money["currentSalary"] - MONTHS_A_YEAR * money["currentMonthlyExpenses"]
    move_surplus = money["newSalary"] - MONTHS_A_YEAR * money["newMonthlyExpenses"]
    stay = wealth(savings, stay_surplus, growth, scales)
    move = wealth(savings - money["movingCosts"], move_surplus, growth, scales)
    stay_doubles = rounded_path(stay, unit, scales)
    move_doubles = rounded_path(move, unit, scales)
    return {
        "annualSalaryDelta": nearest_double(salary_delta, unit),
        "annualExpenseDelta": nearest_double(expense_delta, unit),
        "annualNetDelta": nearest_double(net_delta, unit),
        "movingCostRecoveryMonths": recovery,
        "breakEvenMonths": recovery,  # RL-4
        "wealthAtHorizonStay": stay_doubles[years],  # RL-5
        "wealthAtHorizonMove": move_doubles[years],
        "netWealthGain": nearest_double(move[years] - stay[years], unit * scales[years]),  # RL-6
        "yearlyData": yearly_data(stay_doubles, move_doubles),
    }


def decisions(inputs: Mapping[str, Input]) -> list[Decision]:
    """What the exact outputs of one case hang on: the comparisons of RL-3, as far as it gets to ask them.

    Its comparison with 0 has for its sides what each life leaves in a year (RL-5), by which C-22 measures nearness;
    their difference is the net delta of RL-2.
    """
    money = {name: Fraction(*integer_ratio(inputs[name])) for name in MONEY}
    stay_surplus = money["currentSalary"] - MONTHS_A_YEAR * money["currentMonthlyExpenses"]
    move_surplus = money["newSalary"] - MONTHS_A_YEAR * money["newMonthlyExpenses"]
    net_delta = move_surplus - stay_surplus
    gains = Decision("RL-3", "the move gains in a year", move_surplus, stay_surplus)
    return [gains, *recovery_decisions(money["movingCosts"], net_delta)] if net_delta > 0 else [gains]


def recovery_decisions(costs: Fraction, net_delta: Fraction) -> list[Decision]:
    """RL-3, if the move gains: m, the smallest number of months that pay the costs, and then m against its limit.

    Costs of 0 are paid by m = 0, whatever the gain.
    """
    monthly = net_delta / MONTHS_A_YEAR
    months = ceil(costs / monthly)
    found = []
    if costs > 0:
        found.append(Decision("RL-3", "m months pay the costs", months * monthly, costs))
        found.append(Decision("RL-3", "m - 1 months do not pay the costs", (months - 1) * monthly, costs))
    return [*found, Decision("RL-3", "m is at most 9998", Fraction(months), Fraction(NEVER - 1))]


def whole_units(inputs: Mapping[str, Input]) -> tuple[dict[str, int], int]:
    """The amounts of money, each a whole number of units of 1 / `unit` dollars (C-1)."""
    ratios = [integer_ratio(inputs[name]) for name in MONEY]
    unit = lcm(*[denominator for _, denominator in ratios])
    amounts = [numerator * (unit // denominator) for numerator, denominator in ratios]
    return dict(zip(MONEY, amounts, strict=True)), unit


def growth_factor(inputs: Mapping[str, Input]) -> tuple[int, int]:
    """RL-1: a year multiplies by 1 + r, here as numerator and denominator."""
    numerator, denominator = integer_ratio(inputs["annualReturn"])
    return denominator + numerator, denominator


def recovery_months(moving_costs: int, net_delta: int) -> int:
    """RL-3: the smallest m with m * net delta / 12 >= moving costs, the ceiling of a quotient of whole numbers."""
    if net_delta <= 0:
        return NEVER
    months = -(-MONTHS_A_YEAR * moving_costs // net_delta)
    return min(months, NEVER)


def wealth(start: int, surplus: int, growth: int, scales: list[int]) -> list[int]:
    """RL-5: W(y) = W(y - 1) * (1 + r) + the surplus of a year, with W(y) in units of 1 / (`unit` * scales[y])."""
    path = [start]
    for scale in scales[1:]:
        path.append(path[-1] * growth + surplus * scale)
    return path


def rounded_path(path: list[int], unit: int, scales: list[int]) -> list[float]:
    """The nearest doubles to a path of wealth (C-5)."""
    return [nearest_double(value, unit * scale) for value, scale in zip(path, scales, strict=True)]


def yearly_data(stay: list[float], move: list[float]) -> list[dict[str, Any]]:
    """RL-7: a row for each year, today included."""
    return [
        {"year": year, "stay": stay_value, "move": move_value}
        for year, (stay_value, move_value) in enumerate(zip(stay, move, strict=True))
    ]
