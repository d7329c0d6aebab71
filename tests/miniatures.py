"""A tiny model, right and wrong on purpose: what the gate must tell apart, small enough to read at a glance.

`write_workspace` writes a workspace with the model `parking`: its spec and two implementations that agree. Each
engine in `WRONG` differs from the right one in one respect.
"""

from __future__ import annotations

from pathlib import Path

SPEC = """# Parking 1.0.0

What does parking cost, and how many visits does a budget allow?

```toml contract
model = "parking"
version = "1.0.0"
title = "Parking"
seed = "parking/1"
access = "open"

[[input]]
name = "hours"
type = "integer"
unit = "hours"
min = 0
max = 24
grid = 1
draw = { uniform = [0, 24] }
description = "How long."

[[input]]
name = "rate"
type = "number"
unit = "USD an hour"
min = 0
max = 10
grid = 0.01
draw = { uniform = [0, 10] }
description = "Price of an hour."

[[input]]
name = "budget"
type = "number"
unit = "USD"
min = 0
max = 1_000
grid = 0.01
draw = { log = [1, 1_000] }
description = "What may be spent."

[[input]]
name = "member"
type = "boolean"
draw = { choose = [false, true] }
description = "Members pay half."

[[output]]
name = "cost"
type = "number"
unit = "USD"
clause = "PK-1"
description = "Cost of a visit."

[[output]]
name = "visits"
type = "integer"
unit = "visits"
clause = "PK-2"
sentinels = [{ value = "Infinity", meaning = "A visit costs nothing." }]
description = "Visits that the budget allows."

[[output]]
name = "advice"
type = "text"
clause = "PK-3"
values = ["park", "walk"]
description = "What to do."

[[output]]
name = "hourly"
type = "table"
clause = "PK-4"
columns = [{ name = "hour", type = "integer", unit = "hours" }, { name = "total", type = "number", unit = "USD" }]
description = "What has been spent by each hour."
```

**PK-1 Cost.** `cost` = `hours` · `rate`, and half of that for a member.

**PK-2 Visits.** `visits` is the largest whole number n with n · `cost` <= `budget`; Infinity if `cost` is 0.

**PK-3 Advice.** `advice` is `"park"` if `visits` >= 1 and `"walk"` otherwise.

**PK-4 Hourly.** A row for each hour h = 0, 1, ..., `hours`: `hour` = h, `total` = `cost` · h / `hours` (0 if
`hours` is 0).

```toml edges
[flags]
tie = { mistake = "Dividing in floats.", effect = "One visit too few." }

[[edge]]
rationale = "Ten visits of 0.1 spend the budget of 1 to the cent."
flags = ["tie"]
inputs = { hours = 1, rate = 0.1, budget = 1, member = false }

[[edge]]
rationale = "A free hour: any number of visits."
inputs = { hours = 1, rate = 0, budget = 5, member = false }
source = "the sign at the gate"
printed = { cost = "0.00" }
```
"""

REFERENCE = '''"""Parking, exact."""

from fractions import Fraction

SPEC_VERSION = "1.0.0"


def compute(inputs):
    """PK-1 to PK-4."""
    hours, rate, budget = (Fraction(repr(inputs[name])) for name in ("hours", "rate", "budget"))
    cost = hours * rate / (2 if inputs["member"] else 1)
    visits = "Infinity" if cost == 0 else int(budget / cost)
    totals = [float(cost * h / hours) if hours else 0.0 for h in range(int(hours) + 1)]
    return {
        "cost": float(cost),
        "visits": visits,
        "advice": "park" if visits == "Infinity" or visits >= 1 else "walk",
        "hourly": [{"hour": h, "total": total} for h, total in enumerate(totals)],
    }
'''

ENGINE = '''"""Parking, in columns."""

import numpy as np

SPEC_VERSION = "1.0.0"


def compute(inputs):
    """PK-1 to PK-4. Cents are whole numbers."""
    hours, member = inputs["hours"], inputs["member"]
    halfcents = hours * np.rint(inputs["rate"] * 100).astype(np.int64) * np.where(member, 1, 2)
    cost = halfcents / 200
    with np.errstate(divide="ignore", invalid="ignore"):
        whole = np.rint(inputs["budget"] * 200).astype(np.int64) // np.maximum(halfcents, 1)
        visits = np.where(halfcents == 0, np.inf, whole)
    rows = hours + 1
    case = np.repeat(np.arange(len(rows)), rows)
    hour = np.arange(len(case)) - np.repeat(np.cumsum(rows) - rows, rows)
    total = cost[case] * hour / np.maximum(hours[case], 1)
    return {
        "cost": cost,
        "visits": visits,
        "advice": np.where(visits >= 1, "park", "walk"),
        "hourly": (rows, {"hour": hour, "total": total}),
    }
'''

WRONG = {
    "wrong sign": ENGINE.replace("cost = halfcents / 200", "cost = -halfcents / 200"),
    "Infinity as 1e308": ENGINE.replace("np.inf", "1e308"),
    "drops a key": ENGINE.replace('        "advice": np.where(visits >= 1, "park", "walk"),\n', ""),
    "crashes on one case": ENGINE.replace(
        "    rows = hours + 1",
        '    if (hours == 24).any() and member.any():\n        raise OverflowError("too long")\n    rows = hours + 1',
    ),
    "always crashes": ENGINE.replace("cost = halfcents / 200", "cost = undefined_name / 200"),
    "a row too few": ENGINE.replace("rows = hours + 1", "rows = np.maximum(hours, 1)"),
    "a column of the wrong length": ENGINE.replace('"cost": cost,', '"cost": cost[:-1],'),
    "booleans for numbers": ENGINE.replace('"cost": cost,', '"cost": cost > 0,'),
    "NaN": ENGINE.replace('"cost": cost,', '"cost": cost * np.nan,'),
    "exits": ENGINE.replace("cost = halfcents / 200", "raise SystemExit(0)"),
}
SLOW = ENGINE.replace("    rows = hours + 1", "    import time\n\n    time.sleep(0.2)\n    rows = hours + 1")


def write_workspace(root: Path, engine: str = ENGINE, reference: str = REFERENCE, spec: str = SPEC) -> Path:
    """Write a workspace with the one model `parking`."""
    for path, text in (
        ("specs/parking/1.0.0.md", spec),
        ("engine/parking.py", engine),
        ("reference_impl/parking.py", reference),
    ):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    return root
