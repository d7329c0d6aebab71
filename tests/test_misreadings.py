"""Every fault of the catalogue, which people really make, is caught by a case that can be named."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest
from conftest import MODELS, ROOT, Run
from miniatures import write_workspace

from concordance.compare import Difference
from concordance.errors import VectorsError
from concordance.misreadings import Caught, read_misreadings, try_misreadings
from concordance.workspace import Workspace

TRAPS: dict[str, dict[str, tuple[str, ...]]] = {
    "zero rate: 0/0": {
        "refinance": ("zero rate divides by zero",),
        "emergency-fund": ("zero yield divides by zero",),
        "relocation": ("geometric sum at a return of 0",),
    },
    "zero rate: the wrong sign in its branch": {
        "refinance": ("zero rate with the wrong sign",),
        "emergency-fund": ("zero yield with the wrong sign",),
    },
    "tiny rates: cancellation": {
        "refinance": ("plain formula at tiny rates",),
        "emergency-fund": ("logarithms decide at tiny yields", "plain interest at tiny yields"),
        "relocation": ("plain geometric sum at tiny returns",),
    },
    "tiny rates: negative lifetime interest": {"refinance": ("negative interest at tiny rates",)},
    "ceil at an exact tie": {
        "refinance": ("ceil of a float quotient", "inputs mean their binary64"),
        "emergency-fund": ("ceil of a float quotient", "adding up in floats", "inputs mean their binary64"),
        "relocation": ("ceil of a float quotient", "inputs mean their binary64"),
    },
    "savings exactly 0 or negative": {
        "refinance": ("never reported as 0", "negative months let out"),
        "relocation": ("never reported as 0", "negative months let out", "no change taken for a gain"),
    },
    "costs 0 with a gain": {
        "refinance": ("no costs taken for no answer",),
        "relocation": ("no costs taken for no answer",),
    },
    "costs 0 without a gain": {
        "refinance": ("nothing gained, and ahead for good",),
        "relocation": ("no costs, so recovered at once",),
    },
    "goal already met": {
        "emergency-fund": ("goal met in a negative number of months", "goal met, and asked for again"),
    },
    "expenses 0": {"emergency-fund": ("no expenses, so no runway",)},
    "contribution 0 with a yield": {"emergency-fund": ("no contribution, so never reached",)},
    "interest covers the draw": {"emergency-fund": ("interest covers the draw, so the logarithm fails",)},
    "payment of a loan with 1 month left": {"refinance": ("one month left is no loan", "last payment missing")},
    "the balance after the last payment": {"refinance": ("rest after the last payment",)},
    "annual against monthly compounding": {
        "refinance": ("annual for monthly compounding", "effective for nominal rate"),
        "emergency-fund": ("a year's yield every month", "effective for nominal yield"),
        "relocation": ("annual for monthly compounding",),
    },
    "fraction against percent": dict.fromkeys(MODELS, ("fraction read as percent",)),
    "term reset": {
        "refinance": ("term not reset", "lower payment times the term", "first ahead taken for ahead for good"),
    },
    "financed costs left out of the new payment": {
        "refinance": ("financed costs left out of the loan", "savings on the loan without the costs"),
    },
    "a break-even of 0 for a worse loan at no cost": {"refinance": ("no costs, so break-even at once",)},
    "year loops off by one": {
        "refinance": ("table from year 1", "a year too many in the table"),
        "emergency-fund": ("table from year 1",),
        "relocation": ("a deposit in year 0", "table from year 1", "table a year short"),
    },
    "-0": {"refinance": ("negative zero divides to -Infinity",)},
    "a cap leaking out as a real value": {
        "refinance": ("break-even beyond the last payment",),
        "emergency-fund": ("cap leaks out as a number", "runway's cap leaks out as a number"),
        "relocation": ("cap leaks out as a number",),
    },
    "Infinity leaking into text": {"emergency-fund": ("Infinity leaks into the text",)},
}
"""The traps that public bug reports teach, and the misreadings that fall into them, by model."""

ENTRY = """
[[misreading]]
name = "visits at a price of nothing"
says = "Zero visits where a visit costs nothing."
clause = "PK-2"
file = "reference_impl/parking.py"
old = '"Infinity" if cost == 0'
new = "0 if cost == 0"
"""

UNCAUGHT = """
[[misreading]]
name = "more than none for one at least"
says = "The same for whole numbers, so that no case can tell."
clause = "PK-3"
file = "reference_impl/parking.py"
old = 'visits >= 1'
new = "visits > 0"
"""


@cache
def caught(model: str) -> dict[str, Caught]:
    workspace = Workspace(ROOT)
    return {one.misreading.name: one for one in try_misreadings(workspace, workspace.spec(model))}


@pytest.mark.parametrize("model", MODELS)
def test_a_case_catches_every_misreading(model: str) -> None:
    assert len(caught(model)) >= 16
    assert [name for name, one in caught(model).items() if not one.ok] == []
    for one in caught(model).values():
        assert one.cases[0].id.startswith(f"{model}-")
        assert one.crash or one.first


def test_the_catalogue_is_large_enough() -> None:
    assert sum(len(caught(model)) for model in MODELS) >= 50


def test_hand_picked_cases_come_first_and_catch_most() -> None:
    every = [one for model in MODELS for one in caught(model).values()]
    assert sum(one.cases[0].kind == "edge" for one in every) > 0.95 * len(every)
    for one in every:
        kinds = [case.kind == "edge" for case in one.cases]
        assert kinds == sorted(kinds, reverse=True)


@pytest.mark.parametrize("trap", TRAPS)
def test_every_trap_has_its_misreadings(trap: str) -> None:
    for model, names in TRAPS[trap].items():
        for name in names:
            assert caught(model)[name].ok


def parking(root: Path, entries: str) -> Workspace:
    write_workspace(root)
    (root / "vectors/parking").mkdir(parents=True)
    (root / "vectors/parking/misreadings.toml").write_text(entries)
    return Workspace(root)


def test_the_first_difference_is_from_what_is_right(tmp_path: Path) -> None:
    workspace = parking(tmp_path, ENTRY)
    (one,) = try_misreadings(workspace, workspace.spec("parking"))
    assert one.first is not None
    assert (one.cases[0].kind, one.first) == ("edge", Difference("visits", "Infinity", 0, "value-mismatch"))


def test_code_that_crashes_is_caught_too(tmp_path: Path) -> None:
    workspace = parking(tmp_path, ENTRY.replace('"0 if cost == 0"', "'0 if cost == \"\"'"))
    (one,) = try_misreadings(workspace, workspace.spec("parking"))
    assert one.ok and one.crash is not None
    assert "ZeroDivisionError" in one.crash.what


def test_cases_that_differ_anyway_catch_nothing(tmp_path: Path) -> None:
    workspace = parking(tmp_path, UNCAUGHT)
    engine = tmp_path / "engine/parking.py"
    engine.write_text(engine.read_text().replace("cost = halfcents / 200", "cost = -halfcents / 200"))
    (one,) = try_misreadings(workspace, workspace.spec("parking"))
    assert not one.ok


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("says = ", "say = ", "unknown field `say`"),
        ('clause = "PK-2"\n', "", "missing required field `clause`"),
        ('"PK-2"', '"PK-9"', "specs/parking/1.0.0.md has no clause PK-9"),
        ("reference_impl/parking", "reference_impl/garage", "reference_impl/garage.py is no file of engine or"),
        ("reference_impl/parking", "specs/parking", "specs/parking.py is no file of engine or reference_impl"),
        ("reference_impl/parking", "engine/../reference_impl/parking", "is no file of engine or reference_impl"),
        ("cost == 0'", "costs == 0'", "`old` is not in reference_impl/parking.py"),
        ("'\"Infinity\" if cost == 0'", "'cost'", "`old` occurs 6 times in reference_impl/parking.py, not once"),
        ("'\"Infinity\" if cost == 0'", "''", "`old` is not in reference_impl/parking.py"),
        ('"0 if cost == 0"', "'\"Infinity\" if cost == 0'", "`new` is the same as `old`"),
        ('new = "0 if cost == 0"\n', "", "gives neither `old` and `new` nor a list of edits"),
        ('new = "0', '[[misreading.edit]]\nnew = "0', "missing required field `old`"),
        ("\n[[misreading]]", ENTRY + "[[misreading]]", "2 entries have this name"),
        ("[[misreading]]", "[[misreading]", r"\(at line 2"),
    ],
)
def test_a_malformed_entry_is_refused(tmp_path: Path, old: str, new: str, said: str) -> None:
    assert old in ENTRY
    workspace = parking(tmp_path, ENTRY.replace(old, new, 1))
    with pytest.raises(VectorsError, match=rf"^vectors/parking/misreadings\.toml\b.*{said}"):
        read_misreadings(workspace, "parking")


def test_a_patch_that_cannot_be_loaded_is_refused(tmp_path: Path) -> None:
    workspace = parking(tmp_path, ENTRY.replace('"0 if cost == 0"', '"0 if"'))
    with pytest.raises(VectorsError, match=r'"visits at a price of nothing": the patched code cannot be loaded: ref'):
        try_misreadings(workspace, workspace.spec("parking"))


def test_several_edits_make_one_patch(tmp_path: Path) -> None:
    edits = ENTRY.replace("old = ", "[[misreading.edit]]\nold = ")
    edits += "[[misreading.edit]]\nold = 'visits >= 1'\nnew = 'visits >= 2'\n"
    (one,) = read_misreadings(parking(tmp_path, edits), "parking")
    assert "0 if cost == 0" in one.patched and "visits >= 2" in one.patched


def test_the_command_names_the_case(concordance: Run, tmp_path: Path) -> None:
    parking(tmp_path, ENTRY)
    done = concordance("misreadings", "parking", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "visits at a price of nothing" in done.stdout and "parking-0003 (edge)" in done.stdout
    assert "1 of 1 misreadings caught, each by a named case." in done.stdout


def test_a_misreading_that_no_case_catches_is_a_finding(concordance: Run, tmp_path: Path) -> None:
    parking(tmp_path, ENTRY + UNCAUGHT)
    done = concordance("misreadings", cwd=tmp_path)
    assert done.returncode == 1
    assert "NOT CAUGHT  parking: more than none for one at least" in done.stdout
    assert "1 of 2 misreadings caught" in done.stdout
    data = json.loads(concordance("misreadings", "--format", "json", cwd=tmp_path).stdout)
    assert not data["ok"]
    shown = {one["name"]: one for one in data["models"][0]["misreadings"]}
    assert shown["more than none for one at least"]["cases"] == []
    assert shown["visits at a price of nothing"]["first"]["got"] == 0


def test_no_catalogue_is_not_a_pass(concordance: Run, tmp_path: Path) -> None:
    write_workspace(tmp_path)
    done = concordance("misreadings", cwd=tmp_path)
    assert done.returncode == 2
    assert "vectors/MODEL/misreadings.toml" in done.stderr
