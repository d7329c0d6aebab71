"""A malformed spec names its file and line; inputs are held to the contract field by field."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from conftest import MODELS, ROOT
from miniatures import SPEC

from concordance import AnswerKey
from concordance.errors import InvalidInputsError, SpecError, WorkspaceError
from concordance.spec import parse_spec, read_clauses
from concordance.workspace import Workspace

PATH = "specs/parking/1.0.0.md"


def line_of(text: str, part: str) -> int:
    return text[: text.index(part)].count("\n") + 1


def test_a_spec_reads_into_contract_edges_and_clauses() -> None:
    spec = parse_spec(SPEC, PATH)
    assert [field.name for field in spec.inputs] == ["hours", "rate", "budget", "member"]
    assert list(spec.clauses) == ["PK-1", "PK-2", "PK-3", "PK-4"]
    assert spec.clauses["PK-2"].title == "Visits"
    assert len(spec.edges) == 2


@pytest.mark.parametrize(
    ("old", "new", "at", "says"),
    [
        ("max = 24", "max = = 24", "max = = 24", "not TOML"),
        ("max = 24", 'max = "24"', 'max = "24"', "Expected `float | null`, got `str`"),
        ("grid = 0.01", "grid = 0.01\ncolour = 3", 'name = "rate"', "unknown field `colour`"),
        ('name = "rate"', 'name = "hours"', 'name = "hours"\ntype = "number"', "the name hours comes twice"),
        ('clause = "PK-3"', 'clause = "PK-9"', 'name = "advice"', "cites clause PK-9, which the spec does not have"),
        ("uniform = [0, 10]", "uniform = [0, 10.001]", 'name = "rate"', "off its grid"),
        ("{ log = [1, 1_000] }", '{ of = "cost", plus = [0, 1] }', 'name = "budget"', "relative to cost"),
        ("uniform = [0, 24]", "uniform = [0, 24], value = 3", 'name = "hours"', "must be one of"),
        ('values = ["park", "walk"]\n', "", 'name = "advice"', "a text has values"),
        ("rate = 0.1, budget", "rate = 10.01, budget", "Ten visits", "must be a number from 0 to 10, not 10.01"),
        ("rate = 0.1, budget", "fee = 0.1, budget", "Ten visits", "rate: is missing"),
        ('flags = ["tie"]', 'flags = ["tye"]', "Ten visits", "[flags] does not explain"),
        ('flags = ["tie"]', "flags = []", "tie = {", "no edge has it"),
        ('printed = { cost = "0.00" }', "", "A free hour", "a source comes with the values"),
        ('cost = "0.00"', 'cost = "$0"', "A free hour", "must be plain digits"),
        ("**PK-2 Visits.**", "**PK-1 Visits.**", "**PK-1 Visits.**", "clause PK-1 comes twice"),
        ("```toml edges", "```toml contract", "```toml contract\n[flags]", "a second fenced"),
        ('[[edge]]\nrationale = "Ten', '[[edge]\nrationale = "Ten', "[[edge]\n", "not TOML"),
        ('version = "1.0.0"', 'version = "1.0"', 'version = "1.0"', "must be MAJOR.MINOR.PATCH"),
        ("min = 0\nmax = 10\n", "min = 11\nmax = 10\n", 'name = "rate"', "min above max"),
    ],
)
def test_a_malformed_spec_names_file_and_line(old: str, new: str, at: str, says: str) -> None:
    assert old in SPEC
    text = SPEC.replace(old, new, 1)
    with pytest.raises(SpecError) as caught:
        parse_spec(text, PATH)
    where, line = caught.value.where.rsplit(":", 1)
    assert where == PATH
    assert says in str(caught.value)
    assert abs(int(line) - line_of(text, at)) <= 1, f"{caught.value} is not at line {line_of(text, at)}"


def test_a_spec_without_a_contract_says_so() -> None:
    with pytest.raises(SpecError, match=r"^specs/x\.md:1: has no fenced `toml contract` block"):
        parse_spec("# Nothing\n", "specs/x.md")


def test_a_spec_filed_under_another_name_is_refused(tmp_path: Path) -> None:
    for folder in ("specs/parking", "engine", "reference_impl"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "specs/parking/2.0.0.md").write_text(SPEC)
    with pytest.raises(WorkspaceError, match=r"specs/parking/2\.0\.0\.md: its contract says parking 1\.0\.0"):
        Workspace(tmp_path).spec("parking")


def test_every_clause_of_every_published_page_is_numbered_in_order(answer_key: AnswerKey) -> None:
    pages = [read_clauses((ROOT / "specs/CONVENTIONS.md").read_text(), "specs/CONVENTIONS.md")]
    pages += [answer_key.spec(model).clauses for model in MODELS]
    for clauses in pages:
        numbers = [int(identifier.rpartition("-")[2]) for identifier in clauses]
        assert numbers == list(range(1, len(numbers) + 1))


GOOD = {"hours": 2, "rate": 1.5, "budget": 10, "member": False}


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"colour": 1}, "colour: is no input; the inputs are hours, rate, budget, member"),
        ({"rate": True}, "rate: must be a number from 0 to 10, not true"),
        ({"rate": "5"}, 'rate: must be a number from 0 to 10, not "5"'),
        ({"rate": None}, "rate: must be a number from 0 to 10, not null"),
        ({"rate": [1]}, "rate: must be a number from 0 to 10, not [1]"),
        ({"rate": math.nan}, "rate: must be a number from 0 to 10, not nan"),
        ({"rate": math.inf}, 'rate: must be a number from 0 to 10, not "Infinity"'),
        ({"rate": 10**400}, "rate: must be a number from 0 to 10, not a number beyond binary64"),
        ({"rate": 10.01}, "rate: must be a number from 0 to 10, not 10.01"),
        ({"rate": -0.01}, "rate: must be a number from 0 to 10, not -0.01"),
        ({"rate": 9e-10}, "rate: must be 0 or at least 1e-9 in magnitude, not 9e-10"),
        ({"hours": 12.5}, "hours: must be a whole number from 0 to 24, not 12.5"),
        ({"hours": 25}, "hours: must be a whole number from 0 to 24, not 25"),
        ({"member": 1}, "member: must be true or false, not 1"),
        ({"member": "x" * 1000}, 'member: must be true or false, not "xxxxx'),
    ],
)
def test_each_bad_input_names_its_field_and_domain(change: dict[str, object], says: str) -> None:
    with pytest.raises(InvalidInputsError) as caught:
        parse_spec(SPEC, PATH).read_inputs(GOOD | change)
    assert str(caught.value).startswith(says)
    assert len(str(caught.value)) < 200


def test_all_fields_at_fault_are_named_at_once() -> None:
    with pytest.raises(InvalidInputsError) as caught:
        parse_spec(SPEC, PATH).read_inputs({"rate": "x", "budget": 1, "surprise": 0, "hours": 1})
    assert [error.field for error in caught.value.errors] == ["rate", "member", "surprise"]


@pytest.mark.parametrize("given", [None, 5, "text", [GOOD]])
def test_inputs_that_are_no_object_are_refused(given: object) -> None:
    with pytest.raises(InvalidInputsError, match="must be an object of inputs"):
        parse_spec(SPEC, PATH).read_inputs(given)


def test_whole_numbers_and_zero_are_read_as_they_are_meant() -> None:
    read = parse_spec(SPEC, PATH).read_inputs({"hours": 12.0, "rate": -0.0, "budget": 7, "member": True})
    assert (type(read["hours"]), read["hours"]) == (int, 12)
    assert math.copysign(1, float(read["rate"])) == 1
    assert type(read["budget"]) is float
