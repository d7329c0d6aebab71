"""Agreement: the sum of tolerances, exact where exactness is owed, and a path for every difference."""

from __future__ import annotations

import copy
import math
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from miniatures import SPEC

from concordance.columns import MISSING, from_answers, from_arrays
from concordance.compare import TOLERANCE, Comparison, Difference, Tolerance, compare, judge
from concordance.spec import Column, Output, Sentinel, parse_spec

OUTPUTS = parse_spec(SPEC, "specs/parking/1.0.0.md").outputs
NUMBER, INTEGER, TEXT, BOOLEAN = (
    Column(name="x", type=kind)
    for kind in ("number", "integer", "text", "boolean")  # type: ignore[arg-type]
)
NEVER = Output(
    name="x", type="number", clause="X-1", description="", sentinels=(Sentinel(value=9999, meaning="never"),)
)
RIGHT: dict[str, Any] = {
    "cost": 12.5,
    "visits": 3,
    "advice": "park",
    "hourly": [{"hour": 0, "total": 0}, {"hour": 1, "total": 12.5}],
}
finite = st.floats(-1e15, 1e15)


def compared(expected: Any, got: Any, tolerance: Tolerance = TOLERANCE) -> Comparison:
    return compare(OUTPUTS, from_answers(OUTPUTS, [expected]), from_answers(OUTPUTS, [got]), tolerance)


def differences(got: Any) -> list[Difference]:
    return compared(RIGHT, got).differences(0)


def changed(**changes: Any) -> dict[str, Any]:
    return {key: value for key, value in (RIGHT | changes).items() if value is not MISSING}


@given(finite, finite)
def test_two_numbers_agree_by_the_sum_of_both_tolerances(e: float, g: float) -> None:
    assert (judge(NUMBER, e, g) is None) == (abs(e - g) <= 1e-6 + 1e-9 * abs(e))


@given(finite, st.floats(-0.99, 0.99))
def test_a_deviation_within_the_allowance_agrees(e: float, share: float) -> None:
    allowance = 1e-6 + 1e-9 * abs(e)
    if abs(e) * 2**-52 < allowance / 200:
        assert judge(NUMBER, e, e + share * allowance) is None


@given(finite)
def test_every_number_agrees_with_itself(e: float) -> None:
    assert judge(NUMBER, e, e) is None


@pytest.mark.parametrize(
    ("e", "g"),
    [
        ("Infinity", 5),
        ("Infinity", 1e308),
        ("Infinity", "-Infinity"),
        ("-Infinity", "Infinity"),
        (5, "Infinity"),
        ("Infinity", "NaN"),
        ("NaN", 0),
        (0, "NaN"),
    ],
)
def test_non_finite_values_agree_with_nothing_else(e: Any, g: Any) -> None:
    for column in (NUMBER, INTEGER):
        assert judge(column, e, g) == "value-mismatch"


@pytest.mark.parametrize("value", ["Infinity", "-Infinity", "NaN", math.inf, -math.inf, math.nan])
def test_non_finite_values_agree_with_themselves(value: Any) -> None:
    assert judge(NUMBER, value, value) is None


def test_infinity_of_a_program_is_infinity_of_json() -> None:
    assert judge(INTEGER, "Infinity", math.inf) is None
    assert judge(INTEGER, "Infinity", 10**400) is None  # nothing finite in binary64 is nearer


LOOSE = Tolerance(rel=1e-2, abs=1.0)


def test_a_loose_tolerance_never_turns_a_value_into_the_sentinel() -> None:
    assert judge(NEVER, 9950, 9999, LOOSE) == "value-mismatch"
    assert judge(NEVER, 9999, 9950, LOOSE) == "value-mismatch"
    assert judge(NEVER, 9950, 9951, LOOSE) is None
    assert judge(INTEGER, 17, 16, LOOSE) == "value-mismatch"


@pytest.mark.parametrize(
    ("column", "e", "g", "note"),
    [
        (INTEGER, 16, 16.0, None),
        (INTEGER, 1, True, "type-mismatch"),
        (INTEGER, 0, False, "type-mismatch"),
        (INTEGER, 16, "16", "type-mismatch"),
        (INTEGER, 16, 16.0000001, "value-mismatch"),
        (INTEGER, 16, None, "type-mismatch"),
        (INTEGER, 16, [16], "type-mismatch"),
        (NUMBER, 1.0, True, "type-mismatch"),
        (NUMBER, 1.0, {"value": 1}, "type-mismatch"),
        (TEXT, "park", "Park", "value-mismatch"),
        (TEXT, "park", 1, "type-mismatch"),
        (BOOLEAN, True, 1, "type-mismatch"),
        (BOOLEAN, True, False, "value-mismatch"),
        (BOOLEAN, True, True, None),
        (NUMBER, 0, -0.0, None),
    ],
)
def test_types_are_never_stretched(column: Column, e: Any, g: Any, note: str | None) -> None:
    assert judge(column, e, g) == note


def test_a_right_answer_has_no_differences_and_extra_keys_are_ignored() -> None:
    assert differences(RIGHT | {"extra": 1}) == []
    assert not compared(RIGHT, RIGHT | {"extra": 1}).failed.any()


@pytest.mark.parametrize(
    ("got", "found"),
    [
        (changed(cost=13), [("cost", 12.5, 13, "value-mismatch")]),
        (changed(cost=MISSING), [("cost", 12.5, MISSING, "missing")]),
        (changed(visits="3"), [("visits", 3, "3", "type-mismatch")]),
        (changed(hourly=MISSING), [("hourly", "a table of 2 rows", MISSING, "missing")]),
        (changed(hourly=None), [("hourly", "a table of 2 rows", None, "type-mismatch")]),
        (changed(hourly={}), [("hourly", "a table of 2 rows", {}, "type-mismatch")]),
        (changed(hourly=[RIGHT["hourly"][0], 5]), [("hourly[1]", "a row", 5, "type-mismatch")]),
        (changed(hourly=RIGHT["hourly"][:1]), [("hourly.length", 2, 1, "value-mismatch")]),
        (changed(hourly=[]), [("hourly.length", 2, 0, "value-mismatch")]),
        (changed(hourly=RIGHT["hourly"] * 2), [("hourly.length", 2, 4, "value-mismatch")]),
        (
            changed(hourly=[{"hour": 0, "total": 1}, {"hour": True}]),
            [
                ("hourly[0].total", 0, 1, "value-mismatch"),
                ("hourly[1].hour", 1, True, "type-mismatch"),
                ("hourly[1].total", 12.5, MISSING, "missing"),
            ],
        ),
    ],
)
def test_every_difference_has_its_path_both_values_and_a_note(got: Any, found: list[tuple[Any, ...]]) -> None:
    assert [msgspec.structs.astuple(difference) for difference in differences(got)] == found
    assert compared(RIGHT, got).all_differences(99).get(0, []) == differences(got)
    assert compared(RIGHT, got).count(0) == len(found)


@pytest.mark.parametrize("got", [None, [], "text", 5, {}, True])
def test_an_answer_that_is_no_object_misses_everything(got: Any) -> None:
    assert [(d.path, d.note) for d in differences(got)] == [(output.name, "missing") for output in OUTPUTS]


def test_differences_can_be_limited_and_are_still_counted() -> None:
    comparison = compared(RIGHT, {})
    assert (len(comparison.differences(0, 2)), comparison.count(0)) == (2, 4)


odd_values = st.sampled_from(
    [None, True, False, "5", "Infinity", "-Infinity", "NaN", [], {}, 1e308, 10**400, math.inf, 0]
)
any_value = st.one_of(odd_values, finite, st.integers(-5, 5), st.just("park"))
any_row = st.fixed_dictionaries({}, optional={"hour": any_value, "total": any_value}) | odd_values
answer = st.fixed_dictionaries(
    {},
    optional={
        "cost": any_value,
        "visits": any_value,
        "advice": any_value,
        "hourly": st.lists(any_row, max_size=4) | any_value,
    },
)
expected_answer = st.builds(
    lambda cost, visits, advice, totals: {
        "cost": cost,
        "visits": visits,
        "advice": advice,
        "hourly": [{"hour": hour, "total": total} for hour, total in enumerate(totals)],
    },
    finite,
    st.integers(0, 5) | st.just("Infinity"),
    st.sampled_from(["park", "walk"]),
    st.lists(finite, max_size=4),
)


def plain_comparison(expected: dict[str, Any], got: Any) -> set[tuple[str, str]]:
    """The comparator that anyone would write: a loop over outputs and rows, judging pair by pair."""
    found = set()
    got = got if isinstance(got, dict) else {}
    for output in OUTPUTS:
        e, g = expected[output.name], got.get(output.name, MISSING)
        if output.type != "table":
            if note := judge(output, e, g):
                found.add((output.name, note))
            continue
        if g is MISSING or not isinstance(g, list) or not all(isinstance(row, dict) for row in g):
            found.add((output.name, "structure"))
            continue
        if len(e) != len(g):
            found.add((f"{output.name}.length", "value-mismatch"))
        for place, (expected_row, row) in enumerate(zip(e, g, strict=False)):
            for column in output.columns:
                if note := judge(column, expected_row[column.name], row.get(column.name, MISSING)):
                    found.add((f"{output.name}[{place}].{column.name}", note))
    return found


@given(st.lists(st.tuples(expected_answer, st.one_of(answer, odd_values)), max_size=6))
def test_columns_judge_as_a_plain_loop_does(pairs: list[tuple[dict[str, Any], Any]]) -> None:
    expected, got = from_answers(OUTPUTS, [e for e, _ in pairs]), from_answers(OUTPUTS, [g for _, g in pairs])
    comparison = compare(OUTPUTS, expected, got)
    for case, (e, g) in enumerate(pairs):
        found = {
            ("hourly", "structure")
            if d.expected == "a row" or str(d.expected).startswith("a table")
            else (d.path, d.note)
            for d in comparison.differences(case)
        }
        assert found == plain_comparison(e, g)
        assert bool(comparison.failed[case]) == bool(found)
        for limit in (2, 50):
            assert comparison.all_differences(limit).get(case, []) == comparison.differences(case, limit)
        assert comparison.count(case) == len(comparison.differences(case))


@given(st.lists(expected_answer, max_size=5))
def test_answers_survive_the_way_through_columns(answers: list[dict[str, Any]]) -> None:
    columns = from_answers(OUTPUTS, copy.deepcopy(answers))
    assert columns.answers(OUTPUTS) == answers


def test_an_engines_arrays_are_the_same_columns() -> None:
    result = {
        "cost": [12.5, 0],
        "visits": [3, math.inf],
        "advice": ["park", "park"],
        "hourly": ([2, 1], {"hour": [0, 1, 0], "total": [0, 12.5, 0]}),
    }
    second = {"cost": 0, "visits": "Infinity", "advice": "park", "hourly": [{"hour": 0, "total": 0}]}
    assert from_arrays(OUTPUTS, result, 2).answers(OUTPUTS) == [RIGHT, second]


def test_the_worst_deviation_is_a_share_of_the_allowance() -> None:
    worst = compared(RIGHT, changed(cost=12.5 + 5e-7)).worst["cost"]
    assert worst.share == pytest.approx(0.5 / 1.0125, rel=1e-3)


def test_no_cases_is_no_failure() -> None:
    assert len(compare(OUTPUTS, from_answers(OUTPUTS, []), from_answers(OUTPUTS, [])).failed) == 0
