"""The wire contract, held against a real server by the public client, by schemathesis, and by hostile bodies."""

from __future__ import annotations

import http.client
import json
import random
import signal
import socket
import threading
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx2
import pytest
import worthune
from conftest import MODELS, ROOT
from miniatures import SPEC, write_workspace
from serving import Server, running

from concordance import AnswerKey
from concordance.cases import RandomCases, generate

ERRORS = {"ok", "errors"}
MOVE = {
    "currentSalary": 95_000,
    "newSalary": 120_000,
    "currentMonthlyExpenses": 4_200,
    "newMonthlyExpenses": 5_500,
    "movingCosts": 12_000,
    "currentSavings": 40_000,
    "annualReturn": 0.07,
    "yearsHorizon": 10,
}
POSTS = [f"/api/v1/{call}/{model}" for model in MODELS for call in ("models", "grade", "verify")]


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with running() as started:
        yield started


@pytest.fixture
def client(server: Server) -> Iterator[httpx2.Client]:
    with httpx2.Client(base_url=server.address, timeout=60) as made:
        yield made


@pytest.fixture
def public(server: Server) -> worthune.Worthune:
    """The public client of this API, unchanged."""
    return worthune.Worthune(base_url=server.address)


# The public client ------------------------------------------------------------------------------------------------


def test_the_public_client_reads_models_contracts_specs_and_facts(public: worthune.Worthune) -> None:
    assert [model["name"] for model in public.list_models()] == list(MODELS)
    for model in MODELS:
        contract = public.get_contract(model)
        assert contract["name"] == model
        assert {field["name"] for field in contract["inputs"]} == set(contract["inputSchema"]["required"])
        assert public.get_spec(model) == (ROOT / f"specs/{model}/{contract['specVersion']}.md").read_text()
    assert public.get_facts() == []


def test_the_public_client_runs_models_and_verifies_their_records(public: worthune.Worthune) -> None:
    for model in MODELS:
        for case in public.get_eval_dataset(model)["cases"][:40]:
            reply = public.run(model, case["inputs"])
            assert list(reply["outputs"]) == list(case["expected"])
            assert worthune.verify_record(reply)
            assert public.check_record(reply)["valid"]
            reply["outputs"][next(iter(reply["outputs"]))] = 1.5
            assert not worthune.verify_record(reply)
            assert not public.check_record(reply)["valid"]


def test_the_public_client_gets_the_dataset_and_its_own_answers_all_pass(public: worthune.Worthune) -> None:
    assert [dataset["model"] for dataset in public.list_evals()["datasets"]] == list(MODELS)
    for model in MODELS:
        dataset = public.get_eval_dataset(model)
        assert dataset["meta"]["count"] == len(dataset["cases"]) == 250
        cases = [{"inputs": case["inputs"], "answer": case["expected"]} for case in dataset["cases"]]
        reply = public.grade(model, cases)
        assert (reply["passed"], reply["failed"], reply["passRate"]) == (250, 0, 1)


def test_the_public_client_verifies_claims(public: worthune.Worthune) -> None:
    claims = [
        {"path": "breakEvenMonths", "value": 16},
        {"path": "annualNetDelta", "op": ">=", "value": 10_000},
        {"path": "yearlyData[10].year", "value": 10},
        {"path": "happiness", "value": 1},
    ]
    reply = public.verify_claims("relocation", MOVE, claims)
    assert [claim["verdict"] for claim in reply["claims"]] == ["verified", "violated", "verified", "out-of-scope"]
    assert [claim.get("computed") for claim in reply["claims"]] == [16, 9400, 10, None]


def test_errors_reach_the_public_client_as_an_envelope(public: worthune.Worthune) -> None:
    reply = public.run("relocation", MOVE | {"annualReturn": 7})
    assert reply == {
        "ok": False,
        "errors": [{"field": "annualReturn", "message": "must be a number from -0.5 to 0.2, not 7"}],
    }
    assert public.run("no-such-model", {})["errors"][0]["field"] == "model"


# Grading ----------------------------------------------------------------------------------------------------------


def test_a_right_headline_without_the_rest_fails_with_seven_missing_outputs(client: httpx2.Client) -> None:
    answer = {"breakEvenMonths": 16, "annualNetDelta": 9400}
    reply = client.post("/api/v1/grade/relocation", json={"cases": [{"inputs": MOVE, "answer": answer}]}).json()
    (result,) = reply["results"]
    assert result["verdict"] == "fail"
    assert [diff["note"] for diff in result["diffs"]] == ["missing"] * 7
    assert reply["byOutput"]["breakEvenMonths"] == {"passed": 1, "failed": 0, "missing": 0, "worst": None}
    assert reply["byOutput"]["yearlyData"]["missing"] == 1


def test_a_number_of_months_is_no_answer_where_the_move_never_pays(client: httpx2.Client) -> None:
    inputs = MOVE | {"currentSalary": 150_000, "newSalary": 110_000}
    reply = client.post(
        "/api/v1/grade/relocation", json={"cases": [{"inputs": inputs, "answer": {"breakEvenMonths": 84}}]}
    ).json()
    (diff,) = [diff for diff in reply["results"][0]["diffs"] if diff["path"] == "breakEvenMonths"]
    assert diff == {"path": "breakEvenMonths", "expected": 9999, "got": 84, "note": "value-mismatch"}


@pytest.mark.parametrize(
    ("asked", "applied"),
    [
        (None, {"rel": 1e-9, "abs": 1e-6}),
        ({"rel": 1e-6}, {"rel": 1e-6, "abs": 1e-6}),
        ({"rel": 0.5, "abs": 50}, {"rel": 1e-2, "abs": 1}),
        ({"rel": 1e-15, "abs": 0}, {"rel": 1e-9, "abs": 1e-6}),
    ],
)
def test_the_tolerance_that_was_applied_is_said(client: httpx2.Client, asked: Any, applied: dict[str, float]) -> None:
    body = {"cases": [{"inputs": MOVE, "answer": {}}]} | ({"tolerance": asked} if asked else {})
    assert client.post("/api/v1/grade/relocation", json=body).json()["tolerance"] == applied


def test_inputs_outside_the_contract_are_a_verdict_of_their_own(client: httpx2.Client) -> None:
    cases = [{"inputs": MOVE | {"yearsHorizon": 0}, "answer": {}}, {"inputs": MOVE, "answer": 3}]
    reply = client.post("/api/v1/grade/relocation", json={"cases": cases}).json()
    assert [result["verdict"] for result in reply["results"]] == ["invalid-inputs", "fail"]
    assert reply["results"][0]["errors"][0]["field"] == "yearsHorizon"
    assert (reply["invalid"], reply["failed"], reply["passRate"]) == (1, 1, 0)
    assert client.post("/api/v1/grade/relocation", json={"cases": cases[:1]}).json()["passRate"] is None


def test_an_output_that_hangs_on_the_last_digit_is_named(client: httpx2.Client) -> None:
    inputs = MOVE | {"newSalary": 95_769.2, "newMonthlyExpenses": 4_200, "movingCosts": 3_205}
    reply = client.post(
        "/api/v1/grade/relocation", json={"cases": [{"inputs": inputs, "answer": {"breakEvenMonths": 51}}]}
    ).json()
    assert reply["results"][0]["diffs"][3]["expected"] == 50
    assert reply["results"][0]["nearDecision"] == ["movingCostRecoveryMonths", "breakEvenMonths"]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"cases": []}, "cases"),
        ({"cases": [{"inputs": MOVE, "answer": {}}] * 501}, "cases"),
        ({"cases": [{"inputs": MOVE}]}, "cases[0].answer"),
        ({"cases": [{"inputs": MOVE, "answer": {}, "note": 1}]}, "cases[0].note"),
        ({"cases": {}}, "cases"),
        ({}, "cases"),
        ([], ""),
        ({"cases": [{"inputs": MOVE, "answer": {}}], "tolerance": {"rel": "1"}}, "tolerance.rel"),
        ({"cases": [{"inputs": MOVE, "answer": {}}], "tolerance": {"rel": True}}, "tolerance.rel"),
        ({"cases": [{"inputs": MOVE, "answer": {}}], "tolerance": 1}, ""),
    ],
)
def test_a_request_that_cannot_be_read_names_its_field(client: httpx2.Client, body: Any, field: str) -> None:
    done = client.post("/api/v1/grade/relocation", json=body)
    assert done.status_code == 400
    assert done.json()["errors"][0]["field"] == field


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"currentSalary": 95000', '"currentSalary": 95000, "currentSalary": 1'),
        ('"answer": {', '"answer": {"breakEvenMonths": 1, '),
        ('"currentSalary": 95000', '"currentSalary": NaN'),
        ('"currentSalary": 95000', '"currentSalary": 1e999'),
        ('"breakEvenMonths"', '"\\ud800"'),
        ('{"cases"', '\ufeff{"cases"'),
        ("]}", "]}]"),
    ],
)
def test_json_is_read_to_the_letter(client: httpx2.Client, old: str, new: str) -> None:
    answer = {"breakEvenMonths": 16}
    body = json.dumps({"cases": [{"inputs": MOVE, "answer": answer}]})
    assert client.post("/api/v1/grade/relocation", content=body).status_code == 200
    done = client.post("/api/v1/grade/relocation", content=body.replace(old, new).encode("utf-8"))
    assert (done.status_code, set(done.json())) == (400, ERRORS)


@pytest.mark.parametrize("value", [True, "95000", None, -1, 1e300, [95000], {"usd": 95000}])
def test_only_a_number_is_a_number(client: httpx2.Client, value: Any) -> None:
    done = client.post("/api/v1/models/relocation", json=MOVE | {"currentSalary": value})
    assert (done.status_code, done.json()["errors"][0]["field"]) == (400, "currentSalary")


# Documents --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", MODELS)
def test_the_datasets_bytes_are_the_published_ones_and_need_not_be_fetched_twice(
    client: httpx2.Client, answer_key: AnswerKey, model: str
) -> None:
    done = client.get(f"/api/v1/evals/{model}")
    for version in answer_key.workspace.versions(model):
        published = (ROOT / f"vectors/{model}/{version}.jsonl").read_bytes()
        assert client.get(f"/api/v1/evals/{model}", params={"version": version}).content == published
    assert done.content == published
    again = client.get(f"/api/v1/evals/{model}", headers={"if-none-match": done.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    unknown = client.get(f"/api/v1/evals/{model}", params={"version": "9.9.9"})
    assert (unknown.status_code, unknown.json()["errors"][0]["field"]) == (404, "version")


def test_a_pasted_command_of_the_home_page_works(client: httpx2.Client) -> None:
    import html
    import re
    import subprocess

    page = client.get("/").text
    commands = [html.unescape(text) for text in re.findall(r"<code>(curl .*?)</code>", page, re.S)]
    assert len(commands) == 3
    for command in commands:
        done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=60, check=True)
        assert json.loads(done.stdout.splitlines()[0])
    for link in re.findall(r'href="(/[^"]*)"', page):
        assert client.get(link).status_code == 200, link


def test_pages_load_nothing_from_elsewhere(client: httpx2.Client) -> None:
    for path in ("/", "/docs"):
        done = client.get(path)
        assert "default-src 'none'" in done.headers["content-security-policy"]
        assert "<script" not in done.text
        assert "https://" not in done.text


def test_what_is_not_there_is_said_in_the_same_envelope(client: httpx2.Client) -> None:
    for method, path, status in [
        ("GET", "/nothing", 404),
        ("GET", "/api/v1/models/nope", 404),
        ("POST", "/api/v1/models/nope", 404),
        ("GET", "/api/v1/models/../models", 200),
        ("DELETE", "/api/v1/models/relocation", 405),
        ("PUT", "/api/v1/grade/relocation", 405),
    ]:
        done = client.request(method, path)
        assert done.status_code == status, path
        if status != 200:
            assert set(done.json()) == ERRORS


# Hostile requests -------------------------------------------------------------------------------------------------


def hostile_bodies(rng: random.Random, count: int) -> Iterator[bytes]:
    """Bodies that are broken in every way that a body can be."""
    good = json.dumps({"cases": [{"inputs": MOVE, "answer": {"breakEvenMonths": 16}}]}).encode()
    inputs = json.dumps(MOVE).encode()
    tokens = [b"NaN", b"1e999", b"-1e999", b'"\\ud800"', b"\xff", b"\xed\xa0\x80", b"null", b"true", b'"a"', b"[", b"{"]
    tokens += [b"}", b"]", b",", b":", b"0" * 400, b"1e-400", b"-0", b"9" * 5000, b"\x00", b'{"a":1,"a":2}', b"[" * 300]
    for number in range(count):
        body = rng.choice((good, inputs))
        kind = number % 6
        place = rng.randrange(len(body))
        if kind == 0:
            yield body[:place]
        elif kind == 1:
            yield body[:place] + rng.choice(tokens) + body[place:]
        elif kind == 2:
            yield body[:place] + bytes([rng.randrange(256)]) + body[place + 1 :]
        elif kind == 3:
            value = rng.choice(tokens)
            yield body.replace(rng.choice((b"95000", b"16", b"0.07", b"10")), value)
        elif kind == 4:
            yield rng.randbytes(rng.randrange(200))
        else:
            depth = rng.randrange(1, 3000)
            yield b'{"cases":' + b"[" * depth + b"]" * rng.randrange(depth + 1) + b"}"


def test_ten_thousand_hostile_bodies_are_answered_in_kind(server: Server) -> None:
    def send(part: int) -> list[str]:
        rng, wrong = random.Random(part), []
        connection = http.client.HTTPConnection(server.address.removeprefix("http://"), timeout=60)
        for body in hostile_bodies(rng, 2_500):
            path = rng.choice([*POSTS, "/api/v1/records/verify"])
            kind = rng.choice(("application/json", "text/plain", "application/json; charset=utf-16", "x", ""))
            connection.request("POST", path, body, {"content-type": kind} if kind else {})
            done = connection.getresponse()
            content = done.read()
            reply = json.loads(content)
            fine = done.status == 200 and reply["ok"] is True
            refused = done.status == 400 and set(reply) == ERRORS and reply["ok"] is False and reply["errors"]
            if not (fine or refused) or b"Traceback" in content:
                wrong.append(f"{path} {done.status} {body[:80]!r}")
        connection.close()
        return wrong

    with ThreadPoolExecutor(4) as pool:
        assert [wrong for part in pool.map(send, range(4)) for wrong in part] == []


def test_a_body_that_is_too_large_is_refused_before_it_is_read(client: httpx2.Client) -> None:
    ten = b'{"cases": "' + b"x" * (10 * 2**20) + b'"}'
    assert client.post("/api/v1/grade/relocation", content=ten).status_code == 413

    def chunks() -> Iterator[bytes]:
        for _ in range(12):
            yield b"[" * 2**20

    assert client.post("/api/v1/grade/relocation", content=chunks()).status_code == 413


def test_the_openapi_document_is_kept(server: Server) -> None:
    import subprocess
    import sys

    done = subprocess.run(
        [
            *(sys.executable, "-m", "schemathesis.cli", "run", f"{server.address}/openapi.json"),
            *("--max-examples", "15", "--seed", "1", "--workers", "1", "--no-color", "--phases", "examples,fuzzing"),
            *("--checks", "not_a_server_error,status_code_conformance,content_type_conformance"),
            *("--checks", "response_schema_conformance"),
        ],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]


# Load and end -----------------------------------------------------------------------------------------------------


def right_answers(answer_key: AnswerKey, count: int, first: int) -> list[dict[str, Any]]:
    spec = answer_key.spec("relocation")
    inputs = [RandomCases(spec).inputs(first + number) for number in range(count)]
    answers = answer_key.source("relocation").expected(inputs).answers(spec.outputs)
    return [{"inputs": one, "answer": answer} for one, answer in zip(inputs, answers, strict=True)]


def test_sixteen_clients_get_each_the_reply_to_their_own_request(server: Server, answer_key: AnswerKey) -> None:
    def ask(client_number: int) -> None:
        cases = right_answers(answer_key, 500, 1_000 * client_number)
        wrong = random.Random(client_number).sample(range(500), 20 + client_number)
        for place in wrong:
            cases[place]["answer"]["netWealthGain"] += 1 + client_number
        with httpx2.Client(base_url=server.address, timeout=120) as client:
            for _ in range(2):
                reply = client.post("/api/v1/grade/relocation", json={"cases": cases}).json()
                failed = [place for place, result in enumerate(reply["results"]) if result["verdict"] == "fail"]
                assert failed == sorted(wrong)
                diffs = [reply["results"][place]["diffs"] for place in failed]
                assert all(
                    diff["got"] - diff["expected"] == pytest.approx(1 + client_number, 1e-3) for (diff,) in diffs
                )

    with ThreadPoolExecutor(16) as pool:
        list(pool.map(ask, range(1, 17)))


def test_what_was_accepted_is_finished_when_the_server_is_told_to_end(answer_key: AnswerKey) -> None:
    body = json.dumps({"cases": right_answers(answer_key, 500, 7_000)}).encode()
    with running() as server:
        replies: list[int] = []

        def ask() -> None:
            request = urllib.request.Request(
                f"{server.address}/api/v1/grade/relocation", body, {"content-type": "application/json"}
            )
            with urllib.request.urlopen(request, timeout=60) as reply:
                replies.append(json.loads(reply.read())["passed"])

        clients = [threading.Thread(target=ask) for _ in range(12)]
        for client in clients:
            client.start()
        threading.Event().wait(0.15)
        status = server.end(signal.SIGTERM)
        said = server.said
        for client in clients:
            client.join()
    assert status in (0, -signal.SIGTERM)
    assert "Traceback" not in said
    assert len(replies) >= said.count('grade/relocation HTTP/1.1" 200')
    assert set(replies) <= {500}


def test_a_port_that_is_taken_is_one_clear_line(server: Server, tmp_path: Path) -> None:
    import subprocess
    import sys

    port = server.address.rpartition(":")[2]
    done = subprocess.run(
        [sys.executable, "-m", "concordance", "serve", "--port", port], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr.startswith(f"error: 127.0.0.1:{port}: Address already in use")


# Keys and limits --------------------------------------------------------------------------------------------------


def test_a_model_that_needs_a_key_opens_to_it_until_it_is_revoked(concordance: Any, tmp_path: Path) -> None:
    root = write_workspace(tmp_path / "garage", spec=SPEC.replace('access = "open"', 'access = "key"'))
    keys = tmp_path / "keys.json"
    secret = concordance("keys", "create", "ada", "--file", str(keys)).stdout.strip()
    assert secret.startswith("ck_")
    assert secret not in keys.read_text()
    assert keys.stat().st_mode & 0o077 == 0
    inputs = {"hours": 3, "rate": 2.5, "budget": 40, "member": True}
    with running("--keys", str(keys), workspace=root) as server, httpx2.Client(base_url=server.address) as client:
        assert client.get("/api/v1/models/parking").status_code == 200
        refused = client.post("/api/v1/models/parking", json=inputs)
        assert (refused.status_code, set(refused.json())) == (401, ERRORS)
        for wrong in (secret[:-1], secret + "x", "ck_", "ck_ü"):
            header = {"authorization": f"Bearer {wrong}".encode()}
            assert client.post("/api/v1/models/parking", json=inputs, headers=header).status_code == 401
        header = {"authorization": f"Bearer {secret}"}
        assert client.post("/api/v1/models/parking", json=inputs, headers=header).status_code == 200
        (listed,) = json.loads(concordance("keys", "list", "--file", str(keys), "--format", "json").stdout)
        assert concordance("keys", "revoke", listed["id"], "--file", str(keys)).returncode == 0
        assert client.post("/api/v1/models/parking", json=inputs, headers=header).status_code == 401
    again = concordance("keys", "revoke", listed["id"], "--file", str(keys))
    assert (again.returncode, again.stderr.count("\n")) == (2, 1)


def test_more_requests_than_the_rate_are_told_when_to_come_back() -> None:
    with running("--rate", "5/minute") as server, httpx2.Client(base_url=server.address) as client:
        statuses = [client.get("/api/v1/models").status_code for _ in range(7)]
        assert statuses == [200] * 5 + [429] * 2
        refused = client.get("/api/v1/models")
        assert set(refused.json()) == ERRORS
        assert 0 < int(refused.headers["retry-after"]) <= 60
        assert client.get("/healthz").status_code == 200


def test_hostile_batches_are_answered_right(client: httpx2.Client, answer_key: AnswerKey) -> None:
    from built import hostile

    for model in MODELS:
        spec = answer_key.spec(model)
        reference = answer_key._implementation(model, "reference")
        for family in hostile(model):
            cases = [spec.read_inputs(one) for one in hostile(model)[family]][:60]
            right = reference.run(cases).columns.answers(spec.outputs)
            body = {"cases": [{"inputs": i, "answer": a} for i, a in zip(cases, right, strict=True)]}
            assert client.post(f"/api/v1/grade/{model}", json=body).json()["failed"] == 0, family


def test_the_examples_of_the_docs_are_cases(client: httpx2.Client, answer_key: AnswerKey) -> None:
    document = client.get("/openapi.json").json()
    for model in MODELS:
        example = document["paths"][f"/api/v1/models/{model}"]["post"]["requestBody"]["content"]["application/json"]
        assert example["example"] in [case.inputs for case in generate(answer_key.spec(model))]


def test_small_replies_are_sent_at_once() -> None:
    """asyncio turns Nagle's algorithm off only on sockets that name their protocol; else each reply takes 40 ms."""
    from concordance.server.serving import _listen

    with _listen("127.0.0.1", 0) as listening:
        assert listening.proto == socket.IPPROTO_TCP
