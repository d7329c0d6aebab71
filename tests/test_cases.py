"""Cases are a pure function of the spec and their number, fall on their grid and in their domain, and keep their
identifiers.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections import Counter
from fractions import Fraction

import pytest
from conftest import MODELS
from hypothesis import given
from hypothesis import strategies as st
from miniatures import SPEC

from concordance import AnswerKey
from concordance.cases import RandomCases, case_by_id, generate
from concordance.errors import SpecError
from concordance.numbers import meaning
from concordance.spec import Spec, parse_spec

PATH = "specs/parking/1.0.0.md"
PARKING = parse_spec(SPEC, PATH)
THIRD_EDGE = """
[[edge]]
number = 250
rationale = "A third."
inputs = { hours = 3, rate = 3, budget = 3, member = true }
"""


def parking(old: str = "", new: str = "", more_edges: str = "") -> Spec:
    text = SPEC.replace(old, new) if old else SPEC
    return parse_spec(text.rstrip().removesuffix("```") + more_edges + "```\n", PATH)


@pytest.mark.parametrize("model", MODELS)
def test_a_model_has_250_cases_corners_edges_and_random_ones(answer_key: AnswerKey, model: str) -> None:
    spec = answer_key.spec(model)
    cases = generate(spec)
    edges = sum(not edge.withdrawn for edge in spec.edges)
    assert len({case.id for case in cases}) == len(cases) == 250
    assert Counter(case.kind for case in cases) == {"corner": 2, "edge": edges, "random": 248 - edges}
    assert [case.id for case in cases[:2]] == [f"{model}-0000", f"{model}-0001"]
    assert 20 <= edges <= 40


@pytest.mark.parametrize("model", MODELS)
def test_an_identifier_has_the_same_inputs_in_all_versions(answer_key: AnswerKey, model: str) -> None:
    seen: dict[str, str] = {}
    for version in answer_key.workspace.versions(model):
        for case in generate(answer_key.spec(model, version)):
            assert seen.setdefault(case.id, case.digest) == case.digest


@pytest.mark.parametrize("model", MODELS)
def test_the_corners_are_the_domains_ends(answer_key: AnswerKey, model: str) -> None:
    spec = answer_key.spec(model)
    low, high = generate(spec, 2)
    for field in spec.inputs:
        ends = (field.min, field.max) if field.numeric else (False, True)
        assert (low.inputs[field.name], high.inputs[field.name]) == ends


@pytest.mark.parametrize("model", MODELS)
@given(number=st.integers(0, 10**9))
def test_random_cases_are_in_domain_and_on_their_grid(answer_key: AnswerKey, model: str, number: int) -> None:
    spec = answer_key.spec(model)
    inputs = RandomCases(spec).inputs(number)
    assert spec.read_inputs(inputs) == inputs
    for field in spec.inputs:
        value = inputs[field.name]
        if field.grid is not None and not isinstance(value, (str, bool)):
            assert (meaning(value) / meaning(field.grid)).denominator == 1


@given(number=st.integers(0, 10**12))
def test_any_case_can_be_made_alone(number: int) -> None:
    assert RandomCases(PARKING).case(number) == RandomCases(parse_spec(SPEC, PATH)).case(number)


def test_draws_follow_the_published_recipe() -> None:
    # C-16 and C-17, worked by hand for one field of one case.
    words = (
        int.from_bytes(hashlib.sha256(f"parking/1\n137\nrate\n{k}".encode()).digest()[:8], "big") for k in range(9)
    )
    word = next(word for word in words if word < 1001 * (2**64 // 1001))
    assert meaning(float(RandomCases(PARKING).inputs(137)["rate"])) == Fraction(word % 1001, 100)


def test_log_draws_favour_no_octave() -> None:
    draw = RandomCases(PARKING)
    octaves = Counter(int(math.log2(float(draw.inputs(number)["budget"]))) for number in range(2_000))
    assert len(octaves) == 10
    assert max(octaves.values()) < 1.5 * min(octaves.values())


def test_two_cases_with_the_same_inputs_are_an_error() -> None:
    twin = "\n[[edge]]\nrationale = 'Again.'\ninputs = { hours = 1, rate = 0, budget = 5, member = false }\n"
    with pytest.raises(SpecError, match="parking-0003 and parking-0004 have the same inputs"):
        generate(parking(more_edges=twin))


def test_a_new_edge_takes_a_new_number_and_the_last_random_case_gives_way() -> None:
    before, after = generate(PARKING), generate(parking(more_edges=THIRD_EDGE))
    assert len(after) == 250
    assert [case.id for case in after if case.kind == "edge"] == ["parking-0002", "parking-0003", "parking-0250"]
    assert after[:249] == before[:249]


def test_a_withdrawn_edge_gives_its_place_to_random_and_its_number_to_nobody() -> None:
    before = generate(PARKING)
    after = generate(parking('rationale = "A free hour', 'withdrawn = "Twice."\nrationale = "A free hour'))
    assert len(after) == 250
    assert {case.id for case in before} - {case.id for case in after} == {"parking-0003"}
    assert {case.id for case in after} - {case.id for case in before} == {"parking-0250"}
    kept = {case.id: case.inputs for case in before}
    assert all(kept.get(case.id, case.inputs) == case.inputs for case in after)


def test_a_model_with_few_possible_inputs_lists_them_all() -> None:
    few = SPEC.replace("max = 24", "max = 3").replace("max = 10\n", "max = 0\n").replace("max = 1_000\n", "max = 0\n")
    few = few.replace("uniform = [0, 24]", "uniform = [0, 3]").replace("uniform = [0, 10]", "uniform = [0, 0]")
    few = few.replace("log = [1, 1_000]", "uniform = [0, 0]")[: few.index("```toml edges") - 20]
    cases = generate(parse_spec(few, PATH))
    assert sorted((case.inputs["hours"], case.inputs["member"]) for case in cases) == [
        (hours, member) for hours in range(4) for member in (False, True)
    ]


def test_a_case_is_found_by_its_identifier() -> None:
    assert [case_by_id(PARKING, case.id) for case in generate(PARKING)] == generate(PARKING)
    assert case_by_id(PARKING, "parking-9999") == RandomCases(PARKING).case(9999)
    assert [case_by_id(PARKING, other) for other in ("parking-7", "garage-0007", "parking-", "x")] == [None] * 4


def test_a_cases_digest_is_of_its_inputs_alone() -> None:
    assert len({case.digest for case in generate(PARKING)}) == 250
    assert re.fullmatch("[0-9a-f]{64}", generate(PARKING)[0].digest)


@pytest.mark.parametrize("model", MODELS)
def test_the_random_cases_are_worth_having(answer_key: AnswerKey, model: str) -> None:
    spec = answer_key.spec(model)
    cases = [case for case in generate(spec) if case.kind == "random"]
    outputs = [answer_key.compute(model, case.inputs) for case in cases]
    for output in spec.outputs:
        for sentinel in output.sentinels:
            assert sum(o[output.name] == sentinel.value for o in outputs) <= len(cases) / 5, (
                output.name,
                sentinel.value,
            )
        for value in output.values:
            assert sum(o[output.name] == value for o in outputs) >= len(cases) / 12, (output.name, value)
    for field in spec.inputs:
        for end in (field.min, field.max) if field.numeric else ():
            assert sum(case.inputs[field.name] == end for case in cases) <= len(cases) / 5, (field.name, end)


def test_case_generation_needs_no_implementation(answer_key: AnswerKey) -> None:
    for model in MODELS:
        text = answer_key.spec(model).text
        assert len(generate(parse_spec(text, "elsewhere.md"))) == 250
