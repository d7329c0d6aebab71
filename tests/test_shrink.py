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

FAULTS = {
    "costs counted twice": ("refinance", 'inputs = {**inputs, "closingCosts": inputs["closingCosts"] * 2}'),
    "financed costs left out of the new loan": (
        "refinance",
        'inputs = {**inputs, "financeClosingCosts": inputs["financeClosingCosts"] & False}',
    ),
    "term not reset": ("refinance", 'inputs = {**inputs, "newTermMonths": inputs["currentRemainingMonths"]}'),
    "percent for fraction": ("refinance", 'inputs = {**inputs, "newAnnualRate": inputs["newAnnualRate"] / 100}'),
    "sentinel forgotten": (
        "relocation",
        'out["breakEvenMonths"] = np.where(out["breakEvenMonths"] == 9999, 0, out["breakEvenMonths"])',
    ),
    "years off by one": (
        "relocation",
        'inputs = {**inputs, "yearsHorizon": np.maximum(inputs["yearsHorizon"] - 1, 1)}',
    ),
    "wrong sign": ("relocation", 'out["netWealthGain"] = -out["netWealthGain"]'),
    "expenses of a month for those of a year": (
        "relocation",
        'inputs = {**inputs, "newMonthlyExpenses": inputs["newMonthlyExpenses"] / 12}',
    ),
    "annual for monthly compounding": (
        "emergency-fund",
        'inputs = {**inputs, "annualYield": np.minimum(inputs["annualYield"] * 12, 0.2)}',
    ),
    "one month too many": ("emergency-fund", 'out["monthsToTarget"] = out["monthsToTarget"] + 1'),
    "a status of its own": (
        "emergency-fund",
        'out["status"] = np.where(out["status"] == "slow", "late", out["status"])',
    ),
}
PLANTED = """

_right = compute


def compute(inputs):
    out = {}
    if FIRST:
        FAULT
    out = _right(inputs)
    if not FIRST:
        FAULT
    return out
"""


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
    simplest(
        PARKING, {"hours": 7, "rate": 3.33, "budget": 12.34, "member": True}, lambda i: not asked.append(i), budget=9
    )
    assert len(asked) <= 9


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_shrinks_to_inputs_that_a_person_can_check(tmp_path: Path, fault: str) -> None:
    model, planted = FAULTS[fault]
    for folder in ("specs", "engine", "reference_impl"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    engine = tmp_path / f"engine/{model.replace('-', '_')}.py"
    first = str(planted.startswith("inputs"))
    engine.write_text(engine.read_text() + PLANTED.replace("FIRST", first).replace("FAULT", planted))
    workspace = Workspace(tmp_path)
    (result,) = check_model(workspace, workspace.spec(model))
    shrunk = [finding for finding in result.findings if finding.simplest]
    assert shrunk, [finding.outcome for finding in result.findings]
    for finding in shrunk:
        assert finding.simplest is not None
        inputs = finding.simplest.inputs
        plain = [by_hand(field, inputs[field.name]) for field in workspace.spec(model).inputs]
        assert sum(plain) >= len(plain) - 1, inputs
        check_same_disagreement(finding)


def check_same_disagreement(finding: Finding) -> None:
    assert finding.simplest is not None
    one, other = finding.differences[0], finding.simplest.first
    assert (one.path.partition("[")[0], one.note) == (other.path.partition("[")[0], other.note)
