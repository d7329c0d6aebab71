"""Yardsticks, as one would write them first: the refinance model in plain floats, and a recursive comparator.

The model computes every output, scan and table included, and gets some of them wrong: no decision is exact and tiny
rates cancel. Nothing but benchmarks may use it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any


def refinance(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """All thirteen outputs of one case."""
    amount, costs = inputs["currentBalance"], inputs["closingCosts"]
    financed = inputs["financeClosingCosts"]
    i, n = inputs["currentAnnualRate"] / 12, inputs["currentRemainingMonths"]
    j, k = inputs["newAnnualRate"] / 12, inputs["newTermMonths"]
    new_amount, upfront = (amount + costs, 0.0) if financed else (amount, costs)
    current, new = _payment(amount, i, n), _payment(new_amount, j, k)
    both = max(n, k)

    def position(month: int) -> float:
        old_side = current * min(month, n) + _balance(amount, i, n, current, month)
        return old_side - (upfront + new * min(month, k) + _balance(new_amount, j, k, new, month))

    positions = [position(month) for month in range(both + 1)]
    savings = current - new
    months = math.ceil(costs / savings) if savings > 0 else math.inf
    first = next((month for month in range(1, both + 1) if positions[month] > 0), math.inf)
    net: float = math.inf
    if positions[both] > 0:
        net = next((month + 1 for month in range(both, -1, -1) if positions[month] < 0), 0)
    horizon = inputs["horizonMonths"]
    at_horizon = positions[min(horizon, both)]
    rows = []
    for year in range(math.ceil(horizon / 12) + 1):
        month = min(12 * year, horizon)
        old_balance, new_balance = _balance(amount, i, n, current, month), _balance(new_amount, j, k, new, month)
        rows.append(
            {
                "year": year,
                "month": month,
                "currentBalance": old_balance,
                "newBalance": new_balance,
                "position": positions[min(month, both)],
            }
        )
    return {
        "newLoanAmount": new_amount,
        "currentMonthlyPayment": current,
        "newMonthlyPayment": new,
        "monthlySavings": savings,
        "breakEvenMonths": months if months <= n else math.inf,
        "firstAheadMonth": first,
        "netBreakEvenMonths": net,
        "remainingInterestCurrent": current * n - amount,
        "totalInterestNew": new * k - new_amount,
        "lifetimeSavings": positions[both],
        "savingsAtHorizon": at_horizon,
        "recommendation": "refinance" if at_horizon >= 1 else "keep" if at_horizon <= -1 else "indifferent",
        "yearlyData": rows,
    }


def _payment(amount: float, rate: float, months: int) -> float:
    return amount * rate / (1 - (1 + rate) ** -months) if rate else amount / months


def _balance(amount: float, rate: float, months: int, payment: float, month: int) -> float:
    if month >= months:
        return 0.0
    if not rate:
        return amount - payment * month
    growth: float = (1 + rate) ** month
    return amount * growth - payment * (growth - 1) / rate


def compare(path: str, expected: Any, got: Any) -> list[tuple[str, Any, Any]]:
    """The differences of two answers, value by value."""
    if isinstance(expected, dict) and isinstance(got, dict):
        found = []
        for name, value in expected.items():
            found += compare(f"{path}.{name}", value, got.get(name))
        return found
    if isinstance(expected, list) and isinstance(got, list):
        found = [] if len(expected) == len(got) else [(path, len(expected), len(got))]
        for place, (one, other) in enumerate(zip(expected, got, strict=False)):
            found += compare(f"{path}[{place}]", one, other)
        return found
    numbers = all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in (expected, got))
    agree = abs(expected - got) <= 1e-6 + 1e-9 * abs(expected) if numbers else expected == got
    return [] if agree else [(path, expected, got)]
