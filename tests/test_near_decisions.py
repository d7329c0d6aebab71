"""Exact outputs that hang on an input's last digits are named, and no others (C-22)."""

from __future__ import annotations

import math
import random
from itertools import islice
from typing import Any

import pytest
from built import BUILT
from conftest import MODELS

from concordance import AnswerKey
from concordance.cases import RandomCases
from concordance.implementations import Loaded, load
from concordance.spec import Inputs, Spec


def built(spec: Spec, count: int) -> list[Inputs]:
    rng = random.Random(f"near/{spec.model}")
    families = BUILT[spec.model]
    made = [family(rng) for _ in range(math.ceil(count / len(families))) for family in families.values()]
    return [spec.read_inputs(one) for one in islice(made, count)]


def exact_outputs(engine: Loaded, spec: Spec, cases: list[Inputs]) -> list[dict[str, Any]]:
    names = [output.name for output in spec.outputs if output.type in ("integer", "text")]
    names += [output.name for output in spec.outputs if output.sentinels and output.name not in names]
    return [{name: answer[name] for name in names} for answer in engine.expected(cases).answers(spec.outputs)]


def nudged(spec: Spec, inputs: Inputs) -> list[Inputs]:
    """The same with one amount off as little as a computed float is."""
    found = []
    for field in spec.inputs:
        if field.type == "number" and inputs[field.name]:
            for sign in (-1, 1):
                value = math.nextafter(inputs[field.name], sign * math.inf)
                if field.min <= value <= field.max and abs(value) >= 1e-9:
                    found.append(inputs | {field.name: value})
    return found


@pytest.mark.parametrize("model", MODELS)
def test_an_answer_that_a_last_digit_changes_is_named(answer_key: AnswerKey, model: str) -> None:
    spec = answer_key.spec(model)
    engine = load(answer_key.workspace, "engine", spec)
    cases = built(spec, 200)
    named = engine.near(cases, engine.expected(cases))
    changing = 0
    for case, hanging, answer in zip(cases, named, exact_outputs(engine, spec, cases), strict=True):
        for other in exact_outputs(engine, spec, nudged(spec, case)):
            changed = {name for name in answer if answer[name] != other[name]}
            changing += bool(changed)
            assert changed <= set(hanging), (case, changed, answer, other)
    assert changing > 100


@pytest.mark.parametrize("model", MODELS)
def test_random_cases_name_none(answer_key: AnswerKey, model: str) -> None:
    spec = answer_key.spec(model)
    engine = load(answer_key.workspace, "engine", spec)
    edges = [spec.read_inputs(edge.inputs) for edge in spec.edges]
    assert any(engine.near(edges, engine.expected(edges)))
    cases = [RandomCases(spec).inputs(number) for number in range(1000, 1200)]
    assert sum(map(bool, engine.near(cases, engine.expected(cases)))) < 20
