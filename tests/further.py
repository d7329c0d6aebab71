"""Further inputs for auditing each model, tried on what its 250 cases leave: `concordance audit MODEL --further FILE`.

    python tests/further.py relocation > further.jsonl

The engine answers a batch in slices, and takes a way of its own through a slice whose amounts all lie on its grid. 250
cases in one slice, some off the grid, reach neither; these inputs do. They hold built cases and their neighbours,
plausible inputs, and inputs that were found for single faults which built cases rarely meet.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable, Mapping
from itertools import cycle

from built import BUILT, Inputs, around, ordinary

Row = tuple[float | int | bool, ...]

RELOCATION_SLICE = 512
EMERGENCY_SLICE = 2_048
PLAUSIBLE = 150
REFINANCE_COUNT = 1_500

EMERGENCY_FIELDS = (
    "monthlyEssentialExpenses",
    "monthlyBackupIncome",
    "targetMonths",
    "currentSavings",
    "monthlyContribution",
    "annualYield",
)
EMERGENCY_FOUND: tuple[Row, ...] = (
    # The fund misses or makes the goal by 1e-45 after a month: closer than balls of 192 bits tell.
    (99999.000000005, 3.4664397208150954e-09, 1, 1.5335602790558836e-09, 99999.0, 1.0095801391994589e-09),
    (99999.000000005, 3.276017999443595e-09, 1, 1.7239820003585732e-09, 99999.0, 1.3770338666565153e-09),
    (99999.0000000062, 1.2570026789848716e-09, 1, 4.942997320471933e-09, 99999.0, 1.318702879526882e-09),
    # Interest so small beside the contributions that the engine settles it in double-double.
    (100000.0, 0.0, 36, 0.0, 100000.0, 1e-09),
    (100000.0, 0.0, 36, 12345.678901234567, 100000.0, 1.2345678901234567e-09),
    (99907.25, 0.0078125, 36, 0.001000404357910156, 99901.25, 1.2e-06),
    # A power of two, and doubles halfway between two decimals of 17 digits.
    (0.0078125, 0.00390625, 36, 0.0234375, 0.001953125, 0.0625),
    (1000000.0004882812 / 12, 0.0010004043579101562, 12, 1000000.0004882812, 1.0728836059570312e-06, 0.01),
    # Decisions within a few units of the grid of 1e-6.
    (0.000001, 0.0, 1, 0.000002, 0.000001, 0.0),
    (0.000001, 0.0, 36, 0.000002, 0.000001, 0.0),
    (12.0, 0.0, 3, 23.999999, 0.0, 0.000001),
    # Nothing saved and nothing added, off the grid; and so much paid in without a yield that a bound of it is too wide.
    (9.79, 0.000000001, 34, 0.0, 0.0, 0.0953),
    (99653.32, 0.0, 36, 99653.32, 27902.9296, 0.0),
)
ON_THE_GRID: tuple[Row, ...] = (
    (201.0, 0.0, 1, 0.0, 100.0, 0.12),
    (101.0, 0.0, 3, 201.0, 50.0, 0.12),
    (80276.39, 8000.0, 4, 235007.955653, 24315.76, 0.132),
    (80276.39, 8000.0, 4, 143766.39, 24315.76, 0.132),
)
OFF_THE_GRID = (2.196904817719362e-09, 0.0, 3, 4.369906615661362e-09, 0.0, 0.132)
"""Two months exactly. 12e50 times the expenses is a double and a rest between 2**63 and 2**64."""

REFINANCE_FIELDS = (
    "currentBalance",
    "currentAnnualRate",
    "currentRemainingMonths",
    "newAnnualRate",
    "newTermMonths",
    "closingCosts",
    "financeClosingCosts",
    "horizonMonths",
)
REFINANCE_FOUND: tuple[Row, ...] = (
    (1148.695852548, 0.25, 4, 0.18, 3, 19.068759102, True, 153),
    (11405.0, 0.128, 3, 0.1024, 38, 2851.25, True, 1),
    (25000.0, 0.13523890632, 99, 0.1274, 439, 15.170000000000002, True, 1),
    (2146152.69, 0.0713, 480, 0.07129999999999986, 480, 2.2713896526689188e-09, True, 5),
    (2231257.0, 1e-09, 480, 0.0, 480, 0.008521326062944, True, 186),
    (14726.876710883, 0.1322, 9, 0.13154, 9, 5.0695702067454, False, 8),
    (12376.9, 0.0, 1, 0.0, 243, 12275.45, True, 2),
    (244848.3420514, 0.215, 3, 0.0, 2, 8826.66433386275, False, 3),
    (26906.28, 0.0346, 210, 0.05658401703985874, 288, 0.0, True, 1),
    (1216.040150103, 0.011, 44, 0.01075, 64, 19.31656296496, True, 1),
    (6042313.696767543, 1.296381e-09, 15, 1.296378821e-09, 15, 8.338594315820354e-09, False, 12),
    (162000.0, 0.03875000002115991, 360, 0.03875, 360, 1.9607436373526637e-07, False, 90),
    (435580.4898809, 0.016, 2, 0.0078125, 4, 162.17111813755625, False, 4),
    (100000.0, 0.06, 6, 0.05, 9, 134.69, False, 2),
)


def relocation() -> list[Inputs]:
    """Three slices, the first of plausible inputs in cents."""
    return ordinary("relocation", RELOCATION_SLICE) + _built("relocation", 2 * RELOCATION_SLICE)


def emergency_fund() -> list[Inputs]:
    """Three slices: built; plausible and on the grid, with one tie off it; and on the grid altogether."""
    grid = [dict(zip(EMERGENCY_FIELDS, one, strict=True)) for one in ON_THE_GRID]
    found = [dict(zip(EMERGENCY_FIELDS, one, strict=True)) for one in EMERGENCY_FOUND]
    last = [*grid, dict(zip(EMERGENCY_FIELDS, OFF_THE_GRID, strict=True))]
    first = found + _built("emergency-fund", EMERGENCY_SLICE - len(found))
    second = ordinary("emergency-fund", EMERGENCY_SLICE - len(last)) + last
    return first + second + ordinary("emergency-fund", PLAUSIBLE, seed=2) + grid


def refinance() -> list[Inputs]:
    """More than one slice."""
    found = [dict(zip(REFINANCE_FIELDS, one, strict=True)) for one in REFINANCE_FOUND]
    return found + _built("refinance", REFINANCE_COUNT - len(found))


def _built(model: str, count: int) -> list[Inputs]:
    """Built cases and their neighbours, each family in turn; the same each time."""
    rng = random.Random(f"{model}/further")
    inputs: list[Inputs] = []
    for name in cycle(BUILT[model]):
        inputs += around(model, name, BUILT[model][name](rng)).values()
        if len(inputs) >= count:
            break
    return inputs[:count]


FURTHER: Mapping[str, Callable[[], list[Inputs]]] = {
    "emergency-fund": emergency_fund,
    "refinance": refinance,
    "relocation": relocation,
}

if __name__ == "__main__":
    sys.stdout.writelines(f"{json.dumps(one)}\n" for one in FURTHER[sys.argv[1]]())
