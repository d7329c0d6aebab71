"""A disagreement is made small: inputs that a person can check by hand, and still the same disagreement."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from miniatures import SPEC

from concordance.check import Finding, check_model
from concordance.shrink import simplest
from concordance.spec import Input, parse_spec
from concordance.workspace import Workspace

FAULTS = [
    ("annual for monthly compounding", "refinance", "annual_rate / 12", "annual_rate"),
]


def by_hand(field: Input, value: Any) -> bool:
    """Whether a value is 0, a bound, or has at most two digits that are not zeros."""
    if isinstance(value, (bool, str)):
        return True
    digits = f"{value:.15g}".replace(".", "").replace("-", "").strip("0").split("e")[0]
    return value in (0, field.min, field.max) or len(digits) <= 2


PARKING = parse_spec(SPEC, "parking.md").inputs


@settings(suppress_health_check=[HealthCheck.nested_given], max_examples=30)
@given(
    hours=st.integers(0, 24),
    cents=st.integers(1, 1000),
    budget=st.integers(0, 100_000),
    member=st.booleans(),
)
def test_what_matters_is_kept_and_the_rest_goes(hours: int, cents: int, budget: int, member: bool) -> None:
    inputs = {"hours": hours, "rate": cents / 100, "budget": budget / 100, "member": member}
    found = simplest(PARKING, inputs, lambda simpler: simpler["rate"] > 0, budget=300)
    assert found["rate"] > 0
    assert (found["hours"], found["budget"], found["member"]) == (0, 0, False)


def test_inputs_that_cannot_be_made_simpler_stay(tmp_path: Path) -> None:
    inputs = {"hours": 7, "rate": 3.33, "budget": 12.34, "member": True}
    assert simplest(PARKING, inputs, lambda simpler: simpler == inputs, budget=300) == inputs


def test_the_budget_is_kept() -> None:
    asked = []
    simplest(PARKING, {"hours": 7, "rate": 3.33, "budget": 12.34, "member": True}, lambda i: not asked.append(i), budget=9)
    assert len(asked) <= 9
