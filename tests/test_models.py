"""The three models: both implementations agree everywhere, on every trap, and obey the laws of their subject."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import pytest
from built import BUILT, anywhere, around
from conftest import MODELS
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from traps import TRAPS

from concordance import AnswerKey
from concordance.columns import from_answers
from concordance.compare import Difference, compare
from concordance.implementations import load
from concordance.numbers import json_text
from concordance.workspace import Workspace

BATCH = 25
DRAWN = 2_000
BUILT_CASES = 2_000


class Pair:
    """Both implementations of one model."""

    def __init__(self, answer_key: AnswerKey, model: str) -> None:
        self.spec = answer_key.spec(model)
        self._reference = load(answer_key.workspace, "reference", self.spec)
        self._engine = load(answer_key.workspace, "engine", self.spec)

    def disagreement(self, inputs: Sequence[Any]) -> tuple[str, list[Difference]] | None:
        """The first inputs on which the two disagree or crash, and how."""
        read = [self.spec.read_inputs(one) for one in inputs]
        expected, got = self._reference.run(read), self._engine.run(read)
        assert not expected.crashes
        assert not got.crashes
        comparison = compare(self.spec.outputs, expected.columns, got.columns)
        for case in comparison.failed.nonzero()[0].tolist():
            return json_text(read[case]), comparison.differences(case)
        return None


def differences(answer_key: AnswerKey, model: str, right: dict[str, Any], got: dict[str, Any]) -> list[Difference]:
    """How the outputs that `right` names differ from it."""
    contract = [output for output in answer_key.spec(model).outputs if output.name in right]
    return compare(contract, from_answers(contract, [right]), from_answers(contract, [got])).differences(0)


@pytest.fixture(scope="module")
def pairs(answer_key: AnswerKey) -> dict[str, Pair]:
    return {model: Pair(answer_key, model) for model in MODELS}


@pytest.mark.parametrize("model", MODELS)
def test_both_agree_on_inputs_drawn_from_the_whole_domain(pairs: dict[str, Pair], model: str) -> None:
    @settings(max_examples=DRAWN // BATCH)
    @given(st.lists(anywhere(model), min_size=BATCH, max_size=BATCH))
    def agree(inputs: list[dict[str, Any]]) -> None:
        assert pairs[model].disagreement(inputs) is None

    agree()


@pytest.mark.parametrize("model", MODELS)
def test_both_agree_on_inputs_built_to_sit_on_an_edge_and_a_unit_either_side(
    pairs: dict[str, Pair], model: str
) -> None:
    rng = random.Random(f"{model}/edges")
    cases = [around(model, name, BUILT[model][name](rng)) for name in islice(cycle(BUILT[model]), BUILT_CASES)]
    inputs = [one for neighbourhood in cases for one in neighbourhood.values()]
    assert len(inputs) > 3 * BUILT_CASES
    for start in range(0, len(inputs), 500):
        assert pairs[model].disagreement(inputs[start : start + 500]) is None


@pytest.mark.parametrize(
    ("model", "trap", "inputs", "right"), TRAPS, ids=[f"{model}: {trap}" for model, trap, *_ in TRAPS]
)
@pytest.mark.parametrize("side", ["engine", "reference"])
def test_no_trap_catches_us(
    answer_key: AnswerKey, side: Any, model: str, trap: str, inputs: dict[str, Any], right: dict[str, Any]
) -> None:
    outputs = answer_key.compute(model, inputs, impl=side)
    assert differences(answer_key, model, right, outputs) == []


@pytest.mark.parametrize("side", ["engine", "reference"])
def test_the_captured_relocation_response_agrees(answer_key: AnswerKey, side: Any, shared_data: Path) -> None:
    captured = json.loads((shared_data / "relocation_captured_response.json").read_text())
    outputs = answer_key.compute("relocation", captured["inputs"], impl=side)
    assert differences(answer_key, "relocation", captured["outputs"], outputs) == []
    assert list(outputs) == list(captured["outputs"])


def test_the_lead_question(answer_key: AnswerKey) -> None:
    case = answer_key.spec("refinance").edges[0]
    outputs = answer_key.compute("refinance", case.inputs)
    assert (outputs["breakEvenMonths"], outputs["firstAheadMonth"], outputs["netBreakEvenMonths"]) == (
        15,
        19,
        "Infinity",
    )
    assert round(outputs["lifetimeSavings"]) == -11299


LAWS = settings(max_examples=150)
near = 1e-6


def close(a: float, b: float, *scale: float) -> bool:
    return abs(a - b) <= near + 1e-9 * max(map(abs, (a, b, *scale)))


@LAWS
@given(anywhere("refinance"))
def test_a_loan_is_paid_back_and_its_interest_is_the_rest(answer_key: AnswerKey, inputs: dict[str, Any]) -> None:
    out = answer_key.compute("refinance", inputs)
    rows = out["yearlyData"]
    payments = inputs["currentRemainingMonths"] * out["currentMonthlyPayment"]
    assert close(payments, inputs["currentBalance"] + out["remainingInterestCurrent"], payments)
    assert out["remainingInterestCurrent"] >= 0
    assert out["totalInterestNew"] >= 0
    assert rows[0]["position"] == -inputs["closingCosts"]
    assert (rows[0]["currentBalance"], rows[0]["newBalance"]) == (inputs["currentBalance"], out["newLoanAmount"])
    assert rows[-1]["month"] == inputs["horizonMonths"]
    for row in rows:
        assert row["month"] == min(12 * row["year"], inputs["horizonMonths"])
        assert (row["currentBalance"] == 0) == (row["month"] >= inputs["currentRemainingMonths"])


@LAWS
@given(anywhere("refinance"))
def test_swapping_two_loans_at_no_cost_turns_the_savings_round(answer_key: AnswerKey, inputs: dict[str, Any]) -> None:
    one = {**inputs, "closingCosts": 0}
    other = {
        **one,
        "currentAnnualRate": one["newAnnualRate"],
        "newAnnualRate": one["currentAnnualRate"],
        "currentRemainingMonths": one["newTermMonths"],
        "newTermMonths": one["currentRemainingMonths"],
    }
    a, b = answer_key.compute("refinance", one), answer_key.compute("refinance", other)
    for name in ("monthlySavings", "lifetimeSavings", "savingsAtHorizon"):
        assert a[name] == -b[name] or close(a[name], -b[name])
    opposite = {"refinance": "keep", "keep": "refinance", "indifferent": "indifferent"}
    assert a["recommendation"] == opposite[b["recommendation"]]


@LAWS
@given(anywhere("refinance"), st.integers(1, 250_000))
def test_higher_costs_never_help(answer_key: AnswerKey, inputs: dict[str, Any], more: int) -> None:
    assume(inputs["closingCosts"] + more <= 250_000)
    cheap = {**inputs, "financeClosingCosts": False}
    dear = {**cheap, "closingCosts": inputs["closingCosts"] + more}
    a, b = answer_key.compute("refinance", cheap), answer_key.compute("refinance", dear)
    for name in ("breakEvenMonths", "firstAheadMonth", "netBreakEvenMonths"):
        assert float(str(b[name])) >= float(str(a[name]))
    assert b["lifetimeSavings"] < a["lifetimeSavings"]


@LAWS
@given(anywhere("relocation"))
def test_the_gain_is_the_difference_of_two_lives(answer_key: AnswerKey, inputs: dict[str, Any]) -> None:
    out = answer_key.compute("relocation", inputs)
    last = out["yearlyData"][-1]
    stay, move = out["wealthAtHorizonStay"], out["wealthAtHorizonMove"]
    assert close(out["netWealthGain"], move - stay, stay, move)
    assert (last["year"], last["stay"], last["move"]) == (inputs["yearsHorizon"], stay, move)
    assert len(out["yearlyData"]) == inputs["yearsHorizon"] + 1
    assert out["breakEvenMonths"] == out["movingCostRecoveryMonths"]
    assert close(out["annualNetDelta"], out["annualSalaryDelta"] - out["annualExpenseDelta"], out["annualSalaryDelta"])


@LAWS
@given(anywhere("relocation"), st.integers(1, 500_000))
def test_dearer_moves_are_recovered_no_sooner(answer_key: AnswerKey, inputs: dict[str, Any], more: int) -> None:
    assume(inputs["movingCosts"] + more <= 500_000)
    a = answer_key.compute("relocation", inputs)
    b = answer_key.compute("relocation", {**inputs, "movingCosts": inputs["movingCosts"] + more})
    assert b["breakEvenMonths"] >= a["breakEvenMonths"]
    assert b["netWealthGain"] < a["netWealthGain"]


@LAWS
@given(anywhere("emergency-fund"))
def test_a_fund_grows_by_what_is_put_in_and_earned(answer_key: AnswerKey, inputs: dict[str, Any]) -> None:
    out = answer_key.compute("emergency-fund", inputs)
    months = out["monthsToTarget"] if out["monthsToTarget"] != "Infinity" else 1200
    assert min(out["shortfall"], out["surplus"]) == 0
    assert close(out["surplus"] - out["shortfall"], inputs["currentSavings"] - out["targetAmount"], out["targetAmount"])
    assert out["projectedInterest"] >= 0
    rows = out["yearlyData"]
    assert rows[0]["balance"] == inputs["currentSavings"]
    assert [row["balance"] for row in rows] == sorted(row["balance"] for row in rows)
    if months <= 360:
        paid_in = inputs["currentSavings"] + months * inputs["monthlyContribution"]
        assert close(rows[-1]["balance"], paid_in + out["projectedInterest"], paid_in)
        assert rows[-1]["balance"] >= out["targetAmount"] * (1 - 1e-15)


@LAWS
@given(anywhere("emergency-fund"), st.integers(1, 10_000))
def test_more_savings_last_longer_and_reach_the_goal_sooner(
    answer_key: AnswerKey, inputs: dict[str, Any], more: int
) -> None:
    assume(inputs["currentSavings"] + more <= 10_000_000)
    a = answer_key.compute("emergency-fund", inputs)
    b = answer_key.compute("emergency-fund", {**inputs, "currentSavings": inputs["currentSavings"] + more})
    assert float(str(b["runwayMonths"])) >= float(str(a["runwayMonths"]))
    assert float(str(b["monthsToTarget"])) <= float(str(a["monthsToTarget"]))


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("side", ["engine", "reference"])
def test_whole_floats_and_minus_zero_mean_the_same(answer_key: AnswerKey, model: str, side: Any) -> None:
    for edge in answer_key.spec(model).edges:
        spelled = {
            name: (float(value) or -0.0) if isinstance(value, (int, float)) and not isinstance(value, bool) else value
            for name, value in edge.inputs.items()
        }
        plain = answer_key.compute(model, edge.inputs, impl=side)
        assert json_text(answer_key.compute(model, spelled, impl=side)) == json_text(plain)


def test_the_engine_answers_no_cases(answer_key: AnswerKey) -> None:
    for model in MODELS:
        spec = answer_key.spec(model)
        assert load(Workspace(answer_key.workspace.root), "engine", spec).run([]).columns.answers(spec.outputs) == []
