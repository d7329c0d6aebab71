"""How far the cases reach is measured, and what they do not reach is named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import MODELS, Run
from miniatures import REFERENCE, SPEC, write_workspace

from concordance import AnswerKey
from concordance.evidence import Evidence, measure
from concordance.workspace import Workspace

CITING = REFERENCE.replace("    cost = hours", "    # PK-1\n    cost = hours").replace(
    '    visits = "Inf', '    # PK-2\n    visits = "Inf'
)
DECISIONS = """

def decisions(inputs):
    hours, rate, budget = (Fraction(repr(inputs[name])) for name in ("hours", "rate", "budget"))
    return [("PK-2", "the budget pays a visit", budget, hours * rate / (2 if inputs["member"] else 1))]
"""


def measured(root: Path, reference: str, spec: str = SPEC) -> Evidence:
    workspace = Workspace(write_workspace(root, reference=reference, spec=spec))
    return measure(workspace, workspace.spec("parking"))


def test_every_clause_has_the_number_of_cases_that_reach_it(tmp_path: Path) -> None:
    rare = CITING.replace("    totals = [", "    if hours > 23:\n        hours += 0  # PK-3\n    totals = [").replace(
        '"""PK-1 to PK-4."""', '"""The model."""'
    )
    found = measured(tmp_path, rare)
    assert found.clauses["PK-1"].cases == {"corner": 2, "edge": 2, "random": 246}
    assert 0 < found.clauses["PK-3"].reached < 25
    assert found.clauses["PK-4"].reached == 0
    assert not found.ok


def test_a_branch_that_no_case_takes_is_named(tmp_path: Path) -> None:
    found = measured(
        tmp_path, REFERENCE.replace("    totals = [", "    if hours > 99:\n        hours = 0\n    totals = [")
    )
    assert found.missed_branches == ["reference_impl/parking.py:13 to 14"]


def test_decisions_have_cases_on_both_sides_and_on_the_edge(tmp_path: Path) -> None:
    (decision,) = measured(tmp_path, REFERENCE + DECISIONS).decisions
    assert decision.below + decision.on + decision.above == 250
    assert decision.sides == 3
    assert decision.nearest is not None
    assert decision.nearest_case.startswith("parking-")
    assert decision.near_random == []


def test_a_random_case_next_to_a_decision_is_named(tmp_path: Path) -> None:
    near = DECISIONS.replace("budget, hours", "hours * rate * (1 + Fraction(1, 10**12)), hours").replace(
        "(2 if", "(1 if"
    )
    (decision,) = measured(tmp_path, REFERENCE + near).decisions
    assert len(decision.near_random) > 100


def test_the_smallest_error_that_is_caught_follows_from_the_tolerance(tmp_path: Path) -> None:
    found = {headroom.output: headroom for headroom in measured(tmp_path, REFERENCE).headroom}
    assert set(found) == {"cost", "hourly"}  # whole numbers and texts are compared exactly
    smallest = found["cost"].smallest_caught
    assert smallest is not None
    assert 1e-9 + 1e-6 / 240 <= smallest < 1e-8  # no visit costs more than 24 hours at 10
    assert found["cost"].deviation < 1e-6


def test_the_command_says_all_of_it(concordance: Run, tmp_path: Path) -> None:
    root = write_workspace(tmp_path, reference=REFERENCE + DECISIONS)
    done = concordance("evidence", cwd=root)
    assert "the budget pays a visit" in done.stdout
    assert "branches of the reference are taken" in done.stdout
    report = json.loads(concordance("evidence", "--format", "json", cwd=root).stdout)
    assert report["models"][0]["decisions"][0]["clause"] == "PK-2"


@pytest.fixture(scope="module", params=MODELS)
def ours(request: pytest.FixtureRequest, answer_key: AnswerKey) -> Evidence:
    """What was measured of one of our models."""
    return measure(answer_key.workspace, answer_key.spec(request.param))


def test_the_250_cases_reach_all_of_a_model(ours: Evidence) -> None:
    found = ours
    assert [clause for clause, reach in found.clauses.items() if not reach.reached] == []
    assert found.missed_branches == []
    assert [case for decision in found.decisions for case in decision.near_random] == []
    assert found.audited == ""
    assert all(reach.caught == reach.misreadings for reach in found.clauses.values())


def test_every_clause_that_decides_has_cases_on_both_sides_and_exactly_on_the_edge(ours: Evidence) -> None:
    """A ceiling is decided by two questions, of m and of m - 1, which have one side each; together they have both."""
    decisions = ours.decisions
    assert decisions
    for clause in {decision.clause for decision in decisions}:
        places = [(d.below > 0, d.on > 0, d.above > 0) for d in decisions if d.clause == clause]
        assert [any(place) for place in zip(*places, strict=True)] == [True, True, True], clause
