"""Grading by file, in process and over HTTP gives the same verdicts, through the same code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import msgspec
import pytest
from conftest import MODELS, ROOT, Run
from hypothesis import given
from hypothesis import strategies as st
from miniatures import write_workspace

import concordance as package
from concordance import AnswerKey
from concordance.errors import JsonError, RefusedError
from concordance.grading import grade, read_grading_request, verify_claims
from concordance.vectors import read_vectors

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**20), 10**20)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)


def published(answer_key: AnswerKey, model: str) -> list[dict[str, Any]]:
    version = answer_key.spec(model).version
    return list(read_vectors((ROOT / f"vectors/{model}/{version}.jsonl").read_bytes(), model))[1:]


def answers_file(path: Path, lines: list[Any]) -> Path:
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return path


@pytest.mark.parametrize("model", MODELS)
def test_the_published_answers_all_pass(answer_key: AnswerKey, model: str) -> None:
    cases = [{"id": case["id"], "answer": case["expected"]} for case in published(answer_key, model)]
    grading = answer_key.grade(model, cases)
    assert (grading.passed, grading.failed, grading.invalid) == (250, 0, 0)
    assert all((tally.failed, tally.missing) == (0, 0) for tally in grading.by_output.values())


def test_the_outputs_that_are_right_are_told_from_those_that_are_not(answer_key: AnswerKey) -> None:
    cases = [
        {"id": case["id"], "answer": {k: v for k, v in case["expected"].items() if k != "yearlyData"}}
        for case in published(answer_key, "refinance")
    ]
    grading = answer_key.grade("refinance", cases)
    assert grading.failed == 250
    assert grading.by_output["yearlyData"].missing == 250
    assert grading.by_output["breakEvenMonths"].passed == 250


def test_the_package_grades_in_one_call(answer_key: AnswerKey, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    case = published(answer_key, "relocation")[5]
    grading = package.grade("relocation", [{"inputs": case["inputs"], "answer": case["expected"]}])
    assert [result.verdict for result in grading.results] == ["pass"]
    with pytest.raises(RefusedError, match=r"cases\[0\]\.id: is no case of relocation"):
        package.grade("relocation", [{"id": "relocation-9999", "answer": {}}])


@given(st.lists(st.fixed_dictionaries({"inputs": json_values, "answer": json_values}), min_size=1, max_size=3))
def test_the_quick_reading_of_a_request_is_the_strict_one(cases: list[dict[str, Any]]) -> None:
    body = json.dumps({"cases": cases}, ensure_ascii=False)
    (quick, _), (strict, _) = (
        read_grading_request(text.encode()) for text in (body, body.replace("cases", "c\\u0061ses", 1))
    )
    assert list(map(msgspec.structs.astuple, quick)) == list(map(msgspec.structs.astuple, strict))


@pytest.mark.parametrize(
    "body",
    [
        '{"cases":[{"inputs":{"a":1,"a":2},"answer":{}}]}',
        '{"cases":[{"inputs":{},"answer":{"a":1,"a":1}}]}',
        '{"cases":[{"inputs":{},"answer":{"t":[{"a":1,"a":2}]}}]}',
        '{"cases":[{"inputs":{},"inputs":{},"answer":{}}]}',
        '{"cases":[],"cases":[{"inputs":{},"answer":{}}]}',
        '{"cases":[{"inputs":{"a":1,"a":"::"},"answer":{"b":"\\u003a"}}]}',
        '{"cases":[{"inputs":{"a":":","a":1},"answer":{}}],"tolerance":null}',
    ],
)
def test_a_key_that_comes_twice_is_never_let_through(body: str) -> None:
    with pytest.raises(JsonError, match="comes twice"):
        read_grading_request(body.encode())


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        ({"path": "breakEvenMonths", "value": 16}, "verified"),
        ({"path": "breakEvenMonths", "value": 16.0}, "verified"),
        ({"path": "breakEvenMonths", "value": True}, "violated"),
        ({"path": "breakEvenMonths", "op": "!=", "value": 16}, "violated"),
        ({"path": "breakEvenMonths", "op": "<=", "value": 16}, "verified"),
        ({"path": "breakEvenMonths", "op": "<", "value": 16}, "violated"),
        ({"path": "breakEvenMonths", "op": "lte", "value": 24}, "verified"),
        ({"path": "wealthAtHorizonStay", "op": "==", "value": 694899.6333646487}, "verified"),
        ({"path": "wealthAtHorizonStay", "op": ">", "value": 694899.63}, "verified"),
        ({"path": "wealthAtHorizonStay", "op": ">", "value": "a lot"}, "out-of-scope"),
        ({"path": "yearlyData[1].move", "value": 85580}, "verified"),
        ({"path": "yearlyData[99].move", "value": 0}, "out-of-scope"),
        ({"path": "yearlyData[1]", "value": 0}, "out-of-scope"),
        ({"path": "yearlyData.length", "value": 11}, "verified"),
        ({"path": "__class__", "value": 0}, "out-of-scope"),
    ],
)
def test_claims_are_verified_violated_or_out_of_scope(
    answer_key: AnswerKey, claim: dict[str, Any], verdict: str
) -> None:
    inputs = {
        "currentSalary": 95_000,
        "newSalary": 108_000,
        "currentMonthlyExpenses": 4_200,
        "newMonthlyExpenses": 4_900,
        "movingCosts": 6_000,
        "currentSavings": 40_000,
        "annualReturn": 0.07,
        "yearsHorizon": 10,
    }
    spec = answer_key.spec("relocation")
    (result,) = verify_claims(spec, answer_key.source("relocation"), inputs, [claim]).claims
    assert result.verdict == verdict


def test_a_state_has_no_place_among_quantities(answer_key: AnswerKey) -> None:
    """A move that never pays does not take 'at least 24 months'."""
    inputs = answer_key.spec("relocation").edges[8].inputs | {"newSalary": 0, "newMonthlyExpenses": 9_000}
    spec, source = answer_key.spec("relocation"), answer_key.source("relocation")
    claims = [{"path": "breakEvenMonths", "op": ">=", "value": 24}, {"path": "breakEvenMonths", "value": 9999}]
    ordered, equal = verify_claims(spec, source, inputs, claims).claims
    assert (ordered.verdict, equal.verdict) == ("out-of-scope", "verified")
    assert "stands for a state" in ordered.message


def test_a_file_of_answers_is_graded_with_a_table_and_a_status(
    concordance: Run, answer_key: AnswerKey, tmp_path: Path
) -> None:
    cases = published(answer_key, "relocation")
    lines = [{"id": case["id"], "answer": case["expected"]} for case in cases]
    right = concordance("grade", "relocation", str(answers_file(tmp_path / "right.jsonl", lines)))
    assert (right.returncode, right.stderr) == (0, "")
    assert "relocation 1.0.1: 250 of 250 answers pass (100.0%)." in right.stdout
    lines[3]["answer"]["breakEvenMonths"] += 1
    path = answers_file(tmp_path / "wrong.jsonl", lines)
    wrong = concordance("grade", "relocation", str(path))
    assert wrong.returncode == 1
    assert f"{lines[3]['id']}: fail" in wrong.stdout
    assert "249 of 250 answers pass (99.6%)." in wrong.stdout
    data = json.loads(concordance("grade", "relocation", str(path), "--format", "json").stdout)
    assert [r["id"] for r in data["results"] if r["verdict"] == "fail"] == [lines[3]["id"]]
    suite = ElementTree.fromstring(concordance("grade", "relocation", str(path), "--format", "junit").stdout)
    assert (suite.get("tests"), suite.get("failures")) == ("250", "1")
    github = concordance("grade", "relocation", str(path), "--format", "github").stdout
    assert github.startswith(f"::error title={lines[3]['id']}::")
    piped = concordance("grade", "relocation", "-", input=path.read_text())
    assert piped.stdout == wrong.stdout


def test_a_looser_tolerance_is_taken_and_said(concordance: Run, answer_key: AnswerKey, tmp_path: Path) -> None:
    case = published(answer_key, "relocation")[4]
    answer = {n: v * 1.0005 if isinstance(v, float) else v for n, v in case["expected"].items()}
    answer["yearlyData"] = [row | {"move": row["move"] * 1.0005} for row in answer["yearlyData"]]
    path = answers_file(tmp_path / "a.jsonl", [{"id": case["id"], "answer": answer}])
    assert concordance("grade", "relocation", str(path)).returncode == 1
    done = concordance("grade", "relocation", str(path), "--tolerance", "0.001,0.01")
    assert done.returncode == 0, done.stdout
    assert "Tolerance: rel 0.001, abs 0.01." in done.stdout


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("", "holds no answer"),
        ("{}\n", "a.jsonl:1.inputs: is missing"),
        ('{"id": "relocation-0001", "answer": {}}\nnot json\n', "a.jsonl:2: not JSON"),
        ('{"id": "relocation-9999", "answer": {}}\n', "a.jsonl:1.id: is no case of relocation"),
        ('{"id": "relocation-0001", "answer": {}}\n' * 2, "a.jsonl:2.id: relocation-0001 was answered before"),
        ('{"id": 1, "answer": {}}\n', "a.jsonl:1.id: is no case"),
        ('{"id": "relocation-0001", "answer": {}, "answer": {}}\n', 'a.jsonl:1: the key "answer" comes twice'),
        ("[]\n", "a.jsonl:1: must be an object"),
    ],
)
def test_a_file_that_cannot_be_read_is_one_clear_line(
    concordance: Run, tmp_path: Path, content: str, says: str
) -> None:
    (tmp_path / "a.jsonl").write_text(content)
    done = concordance("grade", "relocation", "a.jsonl", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert says in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_teams_own_model_is_graded_too(concordance: Run, tmp_path: Path) -> None:
    root = write_workspace(tmp_path)
    inputs = {"hours": 3, "rate": 2.5, "budget": 40, "member": True}
    answer = AnswerKey(package.load_workspace(root).workspace).compute("parking", inputs)
    path = answers_file(tmp_path / "a.jsonl", [{"inputs": inputs, "answer": answer}])
    assert concordance("grade", "parking", str(path), cwd=root).returncode == 0


def test_no_answers_is_no_pass(answer_key: AnswerKey) -> None:
    grading = grade(answer_key.spec("refinance"), answer_key.source("refinance"), [])
    assert (grading.count, grading.pass_rate) == (0, None)
