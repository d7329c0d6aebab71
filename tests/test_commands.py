"""Implementations in any language: right ones agree, and each way of failing is told apart."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest
from conftest import Run
from miniatures import REFERENCE, SPEC, write_workspace

from concordance.check import ModelCheck, check_model
from concordance.workspace import Workspace

PARKING_JS = """
const lines = require("readline").createInterface({ input: process.stdin });
lines.on("line", (line) => {
  const { hours, rate, budget, member } = JSON.parse(line);
  const halfCents = hours * Math.round(rate * 100) * (member ? 1 : 2);
  const cost = halfCents / 200;
  const visits = halfCents === 0 ? "Infinity" : Math.floor(Math.round(budget * 200) / halfCents);
  const hourly = [];
  for (let hour = 0; hour <= hours; hour++) hourly.push({ hour, total: hours ? (cost * hour) / hours : 0 });
  const advice = visits === "Infinity" || visits >= 1 ? "park" : "walk";
  console.log(JSON.stringify({ outputs: { cost, visits, advice, hourly } }));
});
"""

PYTHON = f"""
import json, sys, time
{REFERENCE}
for number, line in enumerate(sys.stdin):
    answer = json.dumps({{"outputs": compute(json.loads(line))}})
    TROUBLE
    print(answer, flush=True)
"""


def checked(root: Path, trouble: str, patience: float = 20) -> ModelCheck:
    """The check of a command that gets into trouble while it answers."""
    (root / "model.py").write_text(PYTHON.replace("    TROUBLE\n", trouble))
    workspace = Workspace(write_workspace(root))
    spec = workspace.spec("parking")
    return check_model(workspace, spec, others={"py": f"{sys.executable} model.py"}, patience=patience)[1]


def reasons(result: ModelCheck) -> dict[str, int]:
    """How many cases have no answer, by how the command failed."""
    found: dict[str, int] = {}
    for finding in result.findings:
        how = finding.errors[0].split(":")[0]
        found[how] = found.get(how, 0) + 1
    return found


@pytest.mark.skipif(not shutil.which("node"), reason="needs Node.js, which is absent here")
def test_a_model_in_javascript_agrees(concordance: Run, tmp_path: Path) -> None:
    (tmp_path / "model.js").write_text(PARKING_JS)
    root = write_workspace(tmp_path)
    done = concordance("check", "--impl", "js=node model.js", cwd=root)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Reference, engine and js agree on all 250 cases" in done.stdout


@pytest.mark.skipif(not shutil.which("node"), reason="needs Node.js, which is absent here")
def test_a_wrong_model_in_javascript_is_found_and_the_engine_beside_it_is_not(concordance: Run, tmp_path: Path) -> None:
    (tmp_path / "model.js").write_text(PARKING_JS.replace("Math.floor", "Math.ceil"))
    root = write_workspace(tmp_path)
    done = concordance("check", "--impl", "js=node model.js", "--format", "json", cwd=root)
    engine, script = json.loads(done.stdout)["models"]
    assert (done.returncode, engine["ok"], script["ok"]) == (1, True, False)
    assert script["implementation"] == "js"
    assert script["failed"] > 100
    assert script["errored"] == 0


def test_the_evaluator_itself_is_such_a_command(concordance: Run, tmp_path: Path) -> None:
    root = write_workspace(tmp_path)
    command = f"same={sys.executable} -m concordance eval parking --impl reference"
    assert concordance("check", "--impl", command, cwd=root).returncode == 0


def test_a_crash_names_its_case_and_the_others_still_count(tmp_path: Path) -> None:
    result = checked(tmp_path, "    if number == 100: raise KeyError('rate')\n")
    assert reasons(result) == {"py crashed": 2}  # it is started again, and crashes again a hundred cases later
    assert result.agreed == 248
    assert result.findings[0].errors[0] == "py crashed: exit status 1: KeyError: 'rate'"


def test_a_command_that_always_crashes_is_given_up(tmp_path: Path) -> None:
    result = checked(tmp_path, "    sys.exit(3)\n")
    assert (result.agreed, result.errored) == (0, 250)
    assert "was not asked again after 4 crashes" in result.findings[-1].errors[0]


def test_a_hang_is_cut_short(tmp_path: Path) -> None:
    result = checked(tmp_path, "    if number == 248: time.sleep(60)\n", patience=1)
    assert reasons(result) == {"py hung": 1}
    assert result.agreed == 249


def test_a_garbage_line_is_an_error_of_its_case_alone(tmp_path: Path) -> None:
    result = checked(tmp_path, "    if number in (3, 5): answer = 'Traceback: oops'\n")
    assert reasons(result) == {"py garbled": 2}
    assert result.agreed == 248


def test_an_answer_in_another_form_is_garbled(tmp_path: Path) -> None:
    result = checked(tmp_path, "    if number == 3: answer = json.dumps([1])\n")
    assert 'no object with "outputs" or "errors": [1]' in result.findings[0].errors[0]


def test_too_few_lines_are_a_wrong_count(tmp_path: Path) -> None:
    result = checked(tmp_path, "    if number == 200: break\n")
    assert set(reasons(result)) == {"py miscounted"}


def test_too_many_lines_make_every_answer_doubtful(tmp_path: Path) -> None:
    result = checked(tmp_path, "    if number == 249: print(answer)\n")
    assert reasons(result) == {"py miscounted": 250}


def test_errors_for_inputs_of_the_contract_are_a_refusal(tmp_path: Path) -> None:
    result = checked(tmp_path, "    if number == 9: answer = json.dumps({'errors': [{'field': 'rate'}]})\n")
    assert reasons(result) == {"py refused": 1}


def test_a_wrong_answer_is_failed_and_not_errored(tmp_path: Path) -> None:
    result = checked(tmp_path, "    if number == 9: answer = answer.replace('park', 'run').replace('walk', 'run')\n")
    assert (result.failed, result.errored) == (1, 0)


@pytest.mark.parametrize(
    ("option", "says"),
    [
        ("js", "--impl takes NAME=COMMAND"),
        ("engine=node x", "--impl takes NAME=COMMAND"),
        ("js=", "js has no command"),
        ("js='unclosed", "cannot be read: No closing quotation"),
    ],
)
def test_an_unusable_option_ends_with_2(concordance: Run, tmp_path: Path, option: str, says: str) -> None:
    done = concordance("check", "--impl", option, cwd=write_workspace(tmp_path, spec=SPEC))
    assert done.returncode == 2
    assert says in done.stderr


def test_a_command_that_does_not_exist_is_a_finding(concordance: Run, tmp_path: Path) -> None:
    done = concordance("check", "--impl", "js=/no/such/program", cwd=write_workspace(tmp_path))
    assert done.returncode == 1
    assert "js crashed: cannot be started: No such file or directory: /no/such/program" in done.stdout
