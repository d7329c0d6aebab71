"""Debt payoff 1.0.0 for a whole batch at once: months, interest, the first debt paid and a yearly table.

Not the definition (`specs/debt-payoff/1.0.0.md`, whose clauses are cited), and no validation of inputs. A month depends
on the one before, so each case is a loop of its own; everything in it is a whole number of cents, of any size.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

SPEC_VERSION = "1.0.0"
LAST_MONTH = 600
OUTPUTS = ("months", "totalInterest", "budgetCoversMinimums", "firstPaid")
COLUMNS = ("year", "month", "balance", "interest", "openDebts", "allPaid")

Column = NDArray[Any]
Row = tuple[int, int, float, float, int, bool]


@dataclass
class Payoff:
    """One case on its way: what is owed on each debt, and what has happened so far."""

    owed: list[int]
    minimums: list[int]
    rates: list[tuple[int, int]]
    priority: list[int]
    budget: int
    month: int = 0
    charged: int = 0
    covers_minimums: bool = True
    first_paid: str = "none"
    rows: list[Row] = field(default_factory=list)

    def run(self) -> None:
        """DP-4: months until nothing is owed, and a row of DP-8 after each year and at the end."""
        self.note_year()
        while any(self.owed) and self.month < LAST_MONTH:
            self.month += 1
            self.charge_interest()
            if self.month == 1:  # DP-6
                self.covers_minimums = self.budget >= sum(map(min, self.minimums, self.owed))
            self.pay()
            if self.month % 12 == 0 or not any(self.owed):
                self.note_year()

    def charge_interest(self) -> None:
        """DP-3, 1: with a rate of n / d, floor(b n / (12 d) + 1/2) is floor((2 b n + 12 d) / (24 d))."""
        for k, (n, d) in enumerate(self.rates):
            interest = (2 * self.owed[k] * n + 12 * d) // (24 * d)
            self.owed[k] += interest
            self.charged += interest

    def pay(self) -> None:
        """DP-3, 2 and 3, and DP-7."""
        money = self.budget
        debts = range(len(self.owed))
        payments = [(k, self.minimums[k]) for k in debts] + [(k, money) for k in self.priority]
        for k, most in payments:
            paid = min(most, self.owed[k], money)
            self.owed[k] -= paid
            money -= paid
            if paid and not self.owed[k] and self.first_paid == "none":
                self.first_paid = str(k + 1)

    def note_year(self) -> None:
        """A row of DP-8."""
        still_open = sum(owed > 0 for owed in self.owed)
        row = (-(-self.month // 12), self.month, sum(self.owed) / 100, self.charged / 100, still_open, not still_open)
        self.rows.append(row)

    def answers(self) -> tuple[float, float, bool, str]:
        """The outputs that are no table, in the order of `OUTPUTS`."""
        months = np.inf if any(self.owed) else self.month
        return months, self.charged / 100, self.covers_minimums, self.first_paid


def compute(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """All outputs of the contract, a column each, for inputs that were already validated."""
    cases = list(payoffs(inputs))
    for case in cases:
        case.run()
    answers = zip(OUTPUTS, columns([case.answers() for case in cases], len(OUTPUTS)), strict=True)
    rows = [row for case in cases for row in case.rows]
    table = dict(zip(COLUMNS, columns(rows, len(COLUMNS)), strict=True))
    return {**dict(answers), "yearlyData": (np.array([len(case.rows) for case in cases]), table)}


def columns(rows: list[Any], width: int) -> list[Column]:
    """The columns of some rows."""
    return [np.array(column) for column in zip(*rows, strict=True)] if rows else [np.zeros(0)] * width


def payoffs(inputs: Mapping[str, Any]) -> Iterator[Payoff]:
    """The cases at their start. A column of lists is its lengths, and the fields of all cases' items in turn."""
    lengths, items = inputs["debts"]
    ends = np.cumsum(lengths)
    owed, minimums = cents(items["balance"]), cents(items["minimumPayment"])
    # Floats are in the order of the decimals that they stand for (C-1), so they can be sorted as they are.
    rates = items["annualRate"].tolist()
    ratios = [Decimal(repr(rate)).as_integer_ratio() for rate in rates]
    budgets = cents(inputs["monthlyBudget"])
    for case, strategy in enumerate(inputs["strategy"].tolist()):
        own = slice(int(ends[case] - lengths[case]), int(ends[case]))
        key = owed[own] if strategy == "snowball" else [-rate for rate in rates[own]]
        priority = sorted(range(len(key)), key=key.__getitem__)  # DP-2; sorting keeps the order of equals
        yield Payoff(owed[own], minimums[own], ratios[own], priority, budgets[case])


def cents(amounts: Column) -> list[int]:
    """DP-1: floor(100 x + 1/2), on the decimals that the amounts mean (C-1)."""
    ratios = (Decimal(repr(amount)).as_integer_ratio() for amount in amounts.tolist())
    return [(200 * n + d) // (2 * d) for n, d in ratios]
