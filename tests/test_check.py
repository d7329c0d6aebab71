"""The gate tells every way of being wrong apart, and says enough to mend it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from conftest import MODELS, Run
from miniatures import ENGINE, REFERENCE, SLOW, SPEC, WRONG, write_workspace

from concordance.check import ModelCheck, check_model
from concordance.workspace import Workspace


def checked(root: Path, engine: str = ENGINE, reference: str = REFERENCE, spec: str = SPEC) -> ModelCheck:
    workspace = Workspace(write_workspace(root, engine, reference, spec))
    return check_model(workspace, workspace.spec("parking"))[0]


def test_two_right_implementations_agree(tmp_path: Path) -> None:
    result = checked(tmp_path)
    assert (result.ok, result.cases, result.agreed, result.witnesses) == (True, 250, 250, 1)


def test_slow_is_not_wrong(tmp_path: Path) -> None:
    assert checked(tmp_path, engine=SLOW).ok


@pytest.mark.parametrize(
    ("name", "path", "note"),
    [
        ("wrong sign", "cost", "value-mismatch"),
        ("Infinity as 1e308", "visits", "value-mismatch"),
        ("drops a key", "advice", "missing"),
        ("a row too few", "hourly.length", "value-mismatch"),
        ("booleans for numbers", "cost", "type-mismatch"),
        ("NaN", "cost", "value-mismatch"),
    ],
)
def test_a_wrong_answer_fails(tmp_path: Path, name: str, path: str, note: str) -> None:
    result = checked(tmp_path, engine=WRONG[name])
    assert result.failed > 0
    assert result.errored == 0
    assert (path, note) in {(d.path, d.note) for finding in result.findings for d in finding.differences}


def test_a_crash_is_an_error_of_that_case_alone(tmp_path: Path) -> None:
    result = checked(tmp_path, engine=WRONG["crashes on one case"])
    crashing = [f for f in result.findings if f.case.inputs["hours"] == 24 and f.case.inputs["member"]]
    assert (result.failed, result.errored) == (0, len(crashing))
    assert crashing == result.findings
    assert result.agreed == 250 - len(crashing)
    assert re.fullmatch(r"engine crashed: OverflowError: too long \(engine/parking\.py:\d+\)", crashing[0].errors[0])


@pytest.mark.parametrize("name", ["always crashes", "a column of the wrong length", "exits"])
def test_no_answer_is_an_error_and_never_agreement(tmp_path: Path, name: str) -> None:
    result = checked(tmp_path, engine=WRONG[name])
    assert (result.agreed, result.failed, result.errored) == (0, 0, 250)


def test_a_crash_of_the_reference_names_the_reference(tmp_path: Path) -> None:
    result = checked(tmp_path, reference=REFERENCE.replace("int(budget / cost)", "int(budget / (cost - cost))"))
    assert result.findings[0].errors[0].startswith("reference crashed: ZeroDivisionError")


@pytest.mark.parametrize(
    ("engine", "says"),
    [
        (ENGINE.replace("def compute", "def compute("), "engine/parking.py:8"),
        (ENGINE.replace("1.0.0", "0.9.0"), "declares SPEC_VERSION '0.9.0'"),
        (ENGINE.replace("def compute", "def calculate"), "has no function compute"),
        ("raise SystemExit(0)\n", "SystemExit"),
    ],
)
def test_what_cannot_be_loaded_blocks(tmp_path: Path, engine: str, says: str) -> None:
    result = checked(tmp_path, engine=engine)
    assert not result.ok
    assert says in result.broken


def test_a_printed_value_that_is_wrong_blocks(tmp_path: Path) -> None:
    result = checked(tmp_path, spec=SPEC.replace('cost = "0.00"', 'cost = "0.01"'))
    assert [(finding.outcome, finding.errors) for finding in result.findings] == [
        ("refuted", ("printed by the sign at the gate",))
    ]
    assert not result.ok


def test_a_change_made_this_second_is_seen(tmp_path: Path) -> None:
    # A one-character change keeps the file's size, and often its time in whole seconds: bytecode caches miss it.
    assert checked(tmp_path, engine=ENGINE).ok
    assert not checked(tmp_path, engine=ENGINE.replace("/ 200", "/ 201")).ok


def test_two_workspaces_never_see_each_others_code(tmp_path: Path) -> None:
    right, wrong = write_workspace(tmp_path / "a"), write_workspace(tmp_path / "b", WRONG["wrong sign"])
    results = [check_model(w, w.spec("parking"))[0] for w in map(Workspace, (right, wrong, right))]
    assert [result.ok for result in results] == [True, False, True]


def test_all_models_agree_on_250_cases_each(concordance: Run) -> None:
    done = concordance("check")
    assert done.returncode == 0, done.stdout
    for model in MODELS:
        assert re.search(rf"^{model} +\d+\.\d+\.\d+ +250/250 +0 +0 ", done.stdout, re.M), done.stdout


def test_json_says_the_same_as_the_table(concordance: Run) -> None:
    done = concordance("check", "--format", "json")
    report = json.loads(done.stdout)
    assert report["ok"] is True
    assert [(m["model"], m["cases"], m["agreed"]) for m in report["models"]] == [(model, 250, 250) for model in MODELS]
    assert all(0 <= m["largestDeviation"]["share"] < 0.01 for m in report["models"])


def test_one_character_in_an_engine_blocks_and_says_where(concordance: Run, tmp_path: Path) -> None:
    root = write_workspace(tmp_path, ENGINE.replace("np.where(member, 1, 2)", "np.where(member, 1, 3)"))
    done = concordance("check", cwd=root)
    assert done.returncode == 1
    for said in (
        r"parking 1\.0\.0: \d+ of 250 cases",
        r"parking-0002  FAILED  \(edge\): Ten visits of 0\.1 spend the budget",
        r"path +expected +got +note",
        r"cost +0\.1 +0\.15 +value-mismatch",
        r"clause  PK-1 Cost",
        r"replay  concordance check parking --case parking-0002",
        r"and \d+ more cases",
        r"BLOCKED: parking",
    ):
        assert re.search(said, done.stdout), f"{said} not in\n{done.stdout}"


def test_the_replay_command_replays_just_that_case(concordance: Run, tmp_path: Path) -> None:
    root = write_workspace(tmp_path, ENGINE.replace("np.where(member, 1, 2)", "np.where(member, 1, 3)"))
    report = json.loads(concordance("check", "--format", "json", cwd=root).stdout)
    finding = report["models"][0]["findings"][0]
    replayed = concordance(*finding["replay"].split()[1:], "--format", "json", cwd=root)
    assert replayed.returncode == 1
    assert json.loads(replayed.stdout)["models"][0]["findings"] == [finding]


def test_more_cases_than_published_are_random_ones(concordance: Run) -> None:
    done = concordance("check", "emergency-fund", "--cases", "1200", "--format", "json")
    assert json.loads(done.stdout)["models"][0]["agreed"] == 1200


@pytest.mark.parametrize("arguments", [["nosuchmodel"], ["refinance", "--case", "refinance-x"], ["--cases", "0"]])
def test_unusable_arguments_end_with_2(concordance: Run, arguments: list[str]) -> None:
    done = concordance("check", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert "rror" in done.stderr
