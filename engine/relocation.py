"""Relocation 1.0.1 for a whole batch at once: yearly deltas, recovery of the moving costs, wealth of both lives.

Not the definition (`specs/relocation/1.0.1.md`, whose clauses are cited), and no validation of inputs.

Deltas and the recovery are exact whole numbers. The wealth of staying, the wealth of moving and the gain are three
accounts W(y) = W(0) u^y + a s(y), with u = 1 + r and s(y) = 1 + u + ... + u^(y-1) (RL-1). The gain is an account of its
own since a difference of wealths would lose its digits. An account whose bound is too wide runs in double-double.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .decimals import Decimals, meaning
from .precision import Floats, U, too_wide
from .tables import Outputs, in_slices, ragged

SPEC_VERSION = "1.0.1"

Column = NDArray[Any]

SALARIES = ("currentSalary", "newSalary")
FIELDS = (*SALARIES, "currentMonthlyExpenses", "newMonthlyExpenses", "movingCosts", "currentSavings")
NEVER = 9999


def compute(inputs: Mapping[str, Column]) -> Outputs:
    """All outputs of the contract, a column each, for inputs that were already validated."""
    return in_slices(_compute, inputs, 512)


def _compute(inputs: Mapping[str, Column]) -> Outputs:
    decimals = [inputs[field] + 0.0 for field in FIELDS]  # -0.0 is 0 (C-2)
    annual_return = inputs["annualReturn"].astype(np.float64)
    years = inputs["yearsHorizon"].astype(np.int64)
    linear = Decimals(decimals).exactly(_linear, np.arange(years.size))
    salary, expense, net, months, *accounts = linear
    openings, flows = accounts[:3], accounts[3:]

    case, year = ragged(years + 1)
    final = np.cumsum(years + 1) - 1
    stay, move, gain = _accounts(openings, flows, annual_return, case, year, final, decimals)
    return {
        "annualSalaryDelta": salary,
        "annualExpenseDelta": expense,
        "annualNetDelta": net,
        "movingCostRecoveryMonths": months,
        "breakEvenMonths": months.copy(),  # RL-4
        "wealthAtHorizonStay": stay[final],
        "wealthAtHorizonMove": move[final],
        "netWealthGain": gain,
        "yearlyData": (years + 1, {"year": year, "stay": stay, "move": move}),  # RL-7
    }


def near_decisions(inputs: Mapping[str, Column], outputs: Mapping[str, Column]) -> dict[str, NDArray[np.bool_]]:
    """C-22: of which cases the exact outputs, given with the others, hang on the last digits of the inputs."""
    now, then, cost_now, cost_then, moving, _ = (inputs[field].astype(np.float64) for field in FIELDS)
    net = outputs["annualNetDelta"]
    scale = np.maximum(np.maximum(now, then), 12 * np.maximum(cost_now, cost_then))
    share = 1e-12
    gains = (np.abs(net) <= share * scale) & (scale > 0)
    months = np.rint(np.minimum(12 * moving / np.where(net > 0, net, np.inf), NEVER))
    paid = np.abs(12 * moving - months * net) <= share * np.maximum(12 * moving, months * scale)
    near = gains | (paid & (net > 0) & (moving > 0) & (months < NEVER))
    return {"movingCostRecoveryMonths": near, "breakEvenMonths": near}


def _linear(unit: int, *columns: Column) -> tuple[Column, ...]:
    """RL-2, RL-3, and openings and flows of the accounts of RL-5 and RL-6; exact, and rounded once by a division."""
    now, then, cost_now, cost_then, moving, savings = columns
    salary, expense = then - now, 12 * (cost_then - cost_now)
    net = salary - expense
    months = np.minimum(-(-12 * moving // np.maximum(net, 1)), NEVER)
    months[(net <= 0).astype(bool)] = NEVER
    openings = savings, savings - moving, -moving
    flows = now - 12 * cost_now, then - 12 * cost_then, net
    amounts = [(amount / unit).astype(np.float64) for amount in (salary, expense, net, *openings, *flows)]
    return (*amounts[:3], months.astype(np.int64), *amounts[3:])


def _accounts(
    openings: Sequence[Floats],
    flows: Sequence[Floats],
    annual_return: Floats,
    case: Column,
    year: Column,
    final: Column,
    decimals: Sequence[Floats],
) -> list[Floats]:
    """RL-5 at every year of the table, and RL-6 at the `final` ones."""
    growth, total = _powers(1 + annual_return, int(year.max(initial=0)))
    place = year * annual_return.size + case
    growth, total = growth.ravel()[place], total.ravel()[place]
    # u has 2 U. Each year adds 3 U to u^y and, since nothing is subtracted, at most 4 U to s(y); then opening or flow,
    # product and sum.
    error = (4 * year + 6) * U
    accounts = []
    tables = np.arange(case.size)
    for kind, at in enumerate((tables, tables, final)):
        rows, years = case[at], year[at]
        grown, added = openings[kind][rows] * growth[at], flows[kind][rows] * total[at]
        account = grown + added
        wide = np.flatnonzero(too_wide(account, error[at] * (np.abs(grown) + np.abs(added))))
        if wide.size:
            account[wide] = _settled(kind, rows[wide], years[wide], annual_return, decimals)
        accounts.append(account + 0.0)  # no -0.0
    return accounts


def _powers(factor: Floats, years: int) -> tuple[Floats, Floats]:
    """u^y and s(y), a line a year."""
    growth, total = np.ones((years + 1, factor.size)), np.zeros((years + 1, factor.size))
    for y in range(years):
        np.multiply(growth[y], factor, out=growth[y + 1])
        np.multiply(total[y], factor, out=total[y + 1])
        total[y + 1] += 1
    return growth, total


def _settled(kind: int, cases: Column, years: Column, annual_return: Floats, decimals: Sequence[Floats]) -> Floats:
    """RL-5 and RL-6: an account of `cases` after `years`, by its recurrence in double-double.

    At most 50 years with 2 DD each, of amounts below 3e11: less than 1e-16.
    """
    rows, row = np.unique(cases, return_inverse=True)
    now, then, cost_now, cost_then, moving, savings = (meaning(column[rows]) for column in decimals)
    stay, move = now - cost_now * 12.0, then - cost_then * 12.0
    wealth = (savings, savings - moving, -moving)[kind]
    flow = (stay, move, move - stay)[kind]
    factor = meaning(annual_return[rows]) + 1.0
    path = [wealth.hi]
    for _ in range(int(years.max())):
        wealth = wealth * factor + flow
        path.append(wealth.hi)
    settled: Floats = np.stack(path)[years, row]
    return settled
