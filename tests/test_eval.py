"""`eval` answers each line, right or wrong, and goes on."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import MODELS, ROOT, Run

from concordance import AnswerKey, load_workspace
from concordance.errors import InvalidInputsError, WorkspaceError

GOOD = {
    "monthlyEssentialExpenses": 4000,
    "monthlyBackupIncome": 0,
    "targetMonths": 6,
    "currentSavings": 5000,
    "monthlyContribution": 500,
    "annualYield": 0,
}


def line(**changes: object) -> str:
    return json.dumps({key: value for key, value in (GOOD | changes).items() if value is not ...})


BAD = [
    (line(colour=1), "colour", "is no input; the inputs are monthlyEssentialExpenses"),
    (line(targetMonths=...), "targetMonths", "is missing; must be a whole number from 1 to 36"),
    (line(targetMonths=True), "targetMonths", "must be a whole number from 1 to 36, not true"),
    (line(currentSavings="5"), "currentSavings", 'must be a number from 0 to 10000000, not "5"'),
    (line().replace("5000", "1e999"), "", "1e999 is too large"),
    (line().replace("5000", "NaN"), "", "NaN is not JSON"),
    (line(currentSavings=10000000.01), "currentSavings", "must be a number from 0 to 10000000, not 10000000.01"),
    (line(currentSavings=-0.01), "currentSavings", "must be a number from 0 to 10000000, not -0.01"),
    (line(targetMonths=12.5), "targetMonths", "must be a whole number from 1 to 36, not 12.5"),
    (line(annualYield=1e-10), "annualYield", "must be 0 or at least 1e-9 in magnitude"),
    ("[1, 2]", "", "must be an object of inputs, not [1,2]"),
    (
        line().replace('"annualYield": 0', '"annualYield": 0, "annualYield": 0.1'),
        "",
        'the key "annualYield" comes twice',
    ),
    ("not JSON", "", "not JSON"),
    ("", "", "not JSON"),
    ('{"monthlyEssentialExpenses": "\\ud800"}', "", "surrogate"),
]


@pytest.mark.parametrize("side", ["engine", "reference"])
def test_each_bad_line_is_answered_in_its_place_and_the_next_still_answers(concordance: Run, side: str) -> None:
    lines = [text for bad, _, _ in BAD for text in (bad, line())]
    done = concordance("eval", "emergency-fund", "--impl", side, input="\n".join(lines) + "\n")
    answers = [json.loads(answer) for answer in done.stdout.splitlines()]
    assert len(answers) == len(lines)
    for (bad, field, says), answer, next_answer in zip(BAD, answers[::2], answers[1::2], strict=True):
        assert answer["errors"][0]["field"] == field, bad
        assert says in answer["errors"][0]["message"], bad
        assert next_answer["outputs"]["monthsToTarget"] == 38
    assert done.returncode == 2
    assert done.stderr == f"error: {len(BAD)} of {len(lines)} lines could not be answered\n"


def test_good_lines_end_with_0(concordance: Run) -> None:
    done = concordance("eval", "emergency-fund", input=line())
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["outputs"]["status"] == "slow"


def test_no_lines_are_no_answers(concordance: Run) -> None:
    done = concordance("eval", "refinance", input="")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_pipe_that_waits_for_its_answer_gets_it() -> None:
    command = [sys.executable, "-m", "concordance", "eval", "emergency-fund"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for _ in range(3):
            process.stdin.write(line() + "\n")
            process.stdin.flush()
            assert "outputs" in json.loads(process.stdout.readline())
        process.stdin.close()


def test_non_utf8_and_huge_lines_are_answered(concordance: Run) -> None:
    data = b"\xff\xfe{}\n" + b"[" * 5_000_000 + b"\n" + line().encode() + b"\n"
    done = concordance("eval", "emergency-fund", input=data, text=False)
    answers = [json.loads(answer) for answer in done.stdout.splitlines()]
    assert ["errors" in answer for answer in answers] == [True, True, False]


def test_output_numbers_are_printed_as_ecmascript_prints_them(concordance: Run) -> None:
    done = concordance("eval", "emergency-fund", input=line(monthlyEssentialExpenses=0))
    assert '"monthlyGap":0,' in done.stdout
    assert '"runwayMonths":"Infinity"' in done.stdout


def test_the_python_api_computes_what_the_command_does(answer_key: AnswerKey, concordance: Run) -> None:
    done = concordance("eval", "emergency-fund", input=line())
    expected = json.loads(done.stdout)["outputs"]
    assert answer_key.compute("emergency-fund", GOOD) == expected
    assert answer_key.compute("emergency-fund", GOOD, impl="reference") == expected


def test_the_python_api_names_every_bad_field(answer_key: AnswerKey) -> None:
    with pytest.raises(InvalidInputsError) as caught:
        answer_key.compute("emergency-fund", GOOD | {"annualYield": 0.21, "targetMonths": 0})
    assert [error.field for error in caught.value.errors] == ["targetMonths", "annualYield"]


def test_the_python_api_opens_a_folder_or_says_why_not(tmp_path: Path) -> None:
    assert load_workspace(ROOT).models == MODELS
    with pytest.raises(WorkspaceError, match="not a workspace"):
        load_workspace(tmp_path)


def test_the_python_api_checks(answer_key: AnswerKey) -> None:
    assert [(result.model, result.ok) for result in answer_key.check()] == [(model, True) for model in MODELS]


def test_cases_are_printed_one_a_line(concordance: Run) -> None:
    done = concordance("cases", "refinance", "--start", "2", "--count", "3")
    printed = [json.loads(text) for text in done.stdout.splitlines()]
    assert [case["id"] for case in printed] == ["refinance-0002", "refinance-0003", "refinance-0004"]
    assert all(case["rationale"] for case in printed)
