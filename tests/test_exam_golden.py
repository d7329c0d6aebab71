"""Golden sets: questions whose right answers stand in the documents, sealed so that nobody can re-key them unseen."""

from __future__ import annotations

import json
import os
import re
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import msgspec
import pytest
from conftest import MODELS, ROOT
from hypothesis import given, settings
from hypothesis import strategies as st
from miniatures import SPEC, write_workspace
from msgspec.structs import replace

from concordance.cases import RandomCases, generate
from concordance.compare import judge as agrees
from concordance.errors import UnusableInputError
from concordance.exam.fetch import Limits, read_source
from concordance.exam.golden import (
    FINANCEBENCH_COUNT,
    FINANCEBENCH_LICENCE,
    SELECTION,
    SLACK,
    Golden,
    check_items,
    from_financebench,
    from_lines,
    from_model,
    golden_schema,
)
from concordance.exam.papers import money, percent, wording
from concordance.exam.referee import Evidence, Item, Needles, Reference, Reply, Tolerance, judge
from concordance.exam.sealing import check, commitment, paper, root, seal
from concordance.implementations import load
from concordance.workspace import Workspace

SEED = "a seed for tests, and for nothing else"


@pytest.fixture(scope="module")
def workspace() -> Workspace:
    return Workspace(ROOT)


@pytest.fixture(scope="module")
def golden(workspace: Workspace) -> Golden:
    """Three hundred questions about all three models."""
    return from_model(workspace, MODELS, SEED, 300)


@pytest.fixture(scope="module")
def debts() -> Golden:
    """Questions about a team's own model, of which the package knows nothing but the contract."""
    return from_model(Workspace(ROOT / "tests" / "workspaces" / "debts"), ["debt-payoff"], SEED, 60)


# From models


@pytest.mark.parametrize("count", [1, 2, 7, 30, 61])
def test_there_are_as_many_questions_as_asked_for(workspace: Workspace, count: int) -> None:
    items = from_model(workspace, MODELS, SEED, count).items
    assert len(items) == count == len({item.id for item in items})


def test_the_same_seed_gives_the_same_set_and_another_seed_shares_no_question(
    workspace: Workspace, golden: Golden
) -> None:
    again, other = from_model(workspace, MODELS, SEED, 300), from_model(workspace, MODELS, SEED + "!", 300)
    assert (again.items, again.documents, again.given) == (golden.items, golden.documents, golden.given)
    assert not {item.reference for item in golden.items if item.reference and abs(item.reference.value) > 1000} & {
        item.reference for item in other.items
    }


def test_every_kind_of_question_is_asked_about_every_model_and_one_in_six_must_be_declined(golden: Golden) -> None:
    assert {item.kind for item in golden.items} == {"money", "number", "percent", "months", "text"}
    assert Counter(item.corpus for item in golden.items) == dict.fromkeys(MODELS, 100)
    assert sum(item.negative for item in golden.items) == 3 * 17
    for model in MODELS:
        asked = {question.output for question in wording(Workspace(ROOT).spec(model)).question}
        assert len(asked) >= 7


def test_every_quote_stands_literally_in_a_document_that_goes_with_the_question(golden: Golden, debts: Golden) -> None:
    for item in golden.items + debts.items:
        assert item.negative == (not item.evidence)
        for passage in item.evidence:
            source = debts if item.corpus == "debt-payoff" else golden
            assert passage.text and passage.text in source.documents[passage.doc]
            assert passage.doc in source.given[item.id]


def test_the_right_answer_follows_from_the_quotes_alone(workspace: Workspace) -> None:
    """The inputs are read back from what the documents print, and the reference makes the sealed answer of them."""
    spec = workspace.spec("relocation")
    reference = load(workspace, "reference", spec)
    tested = 0
    for item in from_model(workspace, ["relocation"], SEED, 60, numeric=True).items:
        quotes = {passage.doc.split("-", 2)[2]: "" for passage in item.evidence}
        for passage in item.evidence:
            quotes[passage.doc.split("-", 2)[2]] += passage.text + "\n"
        printed = [re.findall(r"-?\$[0-9,]+\.[0-9]+", quotes.get(name, "")) for name in ("pay-slip", "offer-letter")]
        if sorted(quotes) == ["offer-letter", "pay-slip"]:
            now, new = (float(found[-1].replace("$", "").replace(",", "")) for found in printed)
            inputs = RandomCases(spec).inputs(7) | {"currentSalary": now, "newSalary": new}
            answer = reference.expected([inputs]).answers(spec.outputs)[0]["annualSalaryDelta"]
            assert (
                item.reference is not None
                and agrees(spec.output["annualSalaryDelta"], answer, item.reference.value) is None
            )
            tested += 1
    assert tested >= 3


@pytest.mark.parametrize("model", MODELS)
def test_an_answer_hangs_on_each_input_that_its_question_needs_and_on_no_other(
    workspace: Workspace, model: str
) -> None:
    spec = workspace.spec(model)
    engine, draws = load(workspace, "engine", spec), RandomCases(spec)
    lives = [draws.inputs(number) for number in range(1000, 2000)]
    before = engine.expected(lives).answers(spec.outputs)
    moves: set[tuple[str, str]] = set()
    for field in spec.inputs:
        swapped = [
            life | {field.name: other[field.name]} for life, other in zip(lives, lives[1:] + lives[:1], strict=True)
        ]
        after = engine.expected(swapped).answers(spec.outputs)
        for name in {question.output for question in wording(spec).question}:
            judged = [agrees(spec.output[name], one[name], two[name]) for one, two in zip(before, after, strict=True)]
            if any(judged):
                moves.add((name, field.name))
    for question in wording(spec).question:
        assert {name for output, name in moves if output == question.output} == set(question.needs), question.output


def test_no_case_is_a_published_one(workspace: Workspace, golden: Golden) -> None:
    published = set()
    for model in MODELS:
        spec = workspace.spec(model)
        for answer in (
            load(workspace, "reference", spec).expected([case.inputs for case in generate(spec)]).answers(spec.outputs)
        ):
            published |= {value for value in answer.values() if isinstance(value, float) and abs(value) > 1000}
    sealed = {item.reference.value for item in golden.items if item.reference}
    assert len(sealed & published) == 0


def test_a_right_answer_is_right_in_every_style_and_a_wrong_sign_is_wrong(golden: Golden) -> None:
    for item in golden.items:
        if item.negative or item.reference is None:
            continue
        value = item.reference.value
        amount = f"{'-' if value < 0 else ''}${abs(value):,.2f}"
        styles = {
            "money": (
                amount,
                f"It comes to {amount}.",
                f"**{amount}**",
                f"Answer: {value:.2f}",
                f"$\\boxed{{{value:.2f}}}$",
            ),
            "months": (f"{value:.0f} months", f"After {value:.0f} months.", f"{value:.0f}"),
            "percent": (f"{value:.1f} %", f"About {value:.1f}% so far.", f"{value:.1f} percent"),
            "number": (f"{value:.3f}", f"The ratio is {value:.3f}."),
        }[item.kind]
        for style in styles:
            assert judge(item, Reply(text=style)).outcome == "correct", (item, style)
        assert (
            judge(item, Reply(answer=round(value, {"months": 0, "number": 3}.get(item.kind, 2)))).outcome == "correct"
        )
        if value <= -0.01:
            assert judge(item, Reply(text=amount.removeprefix("-"))).outcome == "wrong", item


def test_the_tolerance_is_that_of_the_rounding_asked_for(golden: Golden) -> None:
    for item in golden.items:
        if item.reference is None:
            continue
        wanted = {"money": 0.005, "percent": 0.05, "number": 0.0005, "months": 0.0}[item.kind]
        assert item.tolerance == Tolerance(0.0 if item.kind == "months" else SLACK, wanted)
        words = {"money": "ollars and cents", "percent": "one decimal", "number": "three decimals", "months": "month"}
        assert words[item.kind] in item.question
        if item.kind == "months":
            assert judge(item, Reply(text=f"{item.reference.value + 1:.0f} months")).outcome == "wrong"


def test_never_is_the_right_answer_where_it_is_never_and_a_number_is_not(golden: Golden) -> None:
    never = [item for item in golden.items if item.kind == "months" and item.reference is None and not item.negative]
    assert len(never) >= 3
    for item in never:
        assert item.expected and f"{item.expected}" in item.question.lower()
        assert judge(item, Reply(text=f"{item.expected.capitalize()}.")).outcome == "correct"
        assert judge(item, Reply(text="14 months")).outcome == "wrong"
        assert judge(item, Reply(answer=14)).outcome == "wrong"
        assert judge(item, Reply(answer=None)).outcome == "abstain"


def test_what_must_be_declined_is_declined_right_and_answered_wrong(golden: Golden, debts: Golden) -> None:
    negative = [item for item in golden.items + debts.items if item.negative]
    assert len(negative) >= 50
    for item in negative:
        assert item.reference is None and item.expected is None
        assert judge(item, Reply(text="The documents do not say.")).outcome == "correct"
        assert judge(item, Reply(text="$1,234.56")).outcome == "wrong"


def test_what_is_withheld_stands_nowhere_in_the_persons_papers(golden: Golden) -> None:
    """Of a statement that says "not available" there is no other one with the figure."""
    sheets = [text for name, text in golden.documents.items() if name.endswith("mortgage-statement")]
    assert any("under review" in text for text in sheets)
    for text in sheets:
        assert ("Outstanding principal balance ..." in text) == ("under review" not in text)
        assert "under review" not in text or "last year's statement" not in text


def test_a_question_gives_no_hint_whether_it_must_be_declined(golden: Golden) -> None:
    """Negative questions are of the same kinds, with as many documents, about people who are asked other things too."""
    kinds = {item.kind for item in golden.items if item.negative}
    assert kinds == {"money", "number", "percent", "months", "text"}
    sizes = {item.corpus: set[int]() for item in golden.items}
    for item in golden.items:
        sizes[item.corpus].add(len(golden.given[item.id]))
    assert all(len(found) == 1 for found in sizes.values())
    person = {item.id: golden.given[item.id][0] for item in golden.items}
    asked = Counter(person.values())
    alone = [item.negative for item in golden.items if asked[person[item.id]] == 1]
    assert not all(alone) and any(asked[person[item.id]] > 1 for item in golden.items if item.negative)


def test_documents_read_as_printed_and_distract(golden: Golden) -> None:
    sheet = next(text for name, text in golden.documents.items() if "Balance on" in text)
    assert re.search(r"\$[0-9]{1,3}(,[0-9]{3})*\.[0-9]{2}\b", sheet) and re.search(r"[0-9]\.[0-9]{2} %", sheet)
    assert (
        "Balance on" in sheet
        and "not part of the fund" in sheet
        and re.search(r"[A-Z][a-z]+ [0-9]{1,2}, 20[0-9]{2}", sheet)
    )
    for name, text in golden.documents.items():
        assert re.fullmatch(r"[a-z0-9-]+", name)
        assert "{{" not in text and "{%" not in text and "None" not in text and text.endswith("\n")


def test_people_are_not_mixed_up(golden: Golden) -> None:
    for item in golden.items:
        first = next(name for name in golden.given[item.id] if not name.startswith("method-note"))
        slug = first.rsplit("-", 2)[0]
        assert all(name.startswith((slug, "method-note")) for name in golden.given[item.id])
        assert all(part in re.sub(r"[^a-z]+", "-", item.question.lower()) for part in slug.split("-")[:1])


def test_numeric_sets_hold_numbers_only(workspace: Workspace) -> None:
    for item in from_model(workspace, MODELS, SEED, 90, numeric=True).items:
        assert item.reference is not None and item.reference.value and not item.negative and item.kind != "text"


def test_a_teams_own_model_is_asked_by_its_contract_alone(debts: Golden) -> None:
    assert len(debts.items) == 60 and sum(item.negative for item in debts.items) == 10
    assert {item.kind for item in debts.items} == {"money", "months", "text"}
    note = debts.documents["method-note-debt-payoff"]
    assert "DP-3" in note and "rounded to the cent" in note
    by_months = next(item for item in debts.items if "Months until everything is paid." in item.question)
    assert "as a whole number of months" in by_months.question
    assert any("debts 2: balance = $" in passage.text for item in debts.items for passage in item.evidence)


def test_a_model_of_the_same_name_with_another_contract_gets_the_generic_wording(workspace_copy: Path) -> None:
    path = workspace_copy / "specs" / "relocation" / "1.0.1.md"
    path.write_text(
        path.read_text().replace('name = "movingCosts"', 'name = "removal"').replace("movingCosts =", "removal =")
    )
    assert wording(Workspace(workspace_copy).spec("relocation")).generic
    assert not wording(Workspace(ROOT).spec("relocation")).generic


def test_no_key_is_made_where_the_engine_disagrees(workspace_copy: Path) -> None:
    engine = workspace_copy / "engine" / "emergency_fund.py"
    text = engine.read_text()
    broken = re.sub(r'"shortfall": ', '"shortfall": 1.001 * ', text, count=1)
    assert broken != text
    engine.write_text(broken)
    with pytest.raises(UnusableInputError, match=r"engine and reference disagree on a drawn case: shortfall"):
        from_model(Workspace(workspace_copy), ["emergency-fund"], SEED, 5)


@pytest.mark.parametrize(
    ("models", "seed", "count", "says"),
    [
        (MODELS, "  ", 5, "the secret seed is empty"),
        (MODELS, SEED, 0, "cannot make 0 questions"),
        (MODELS, SEED, 10**9, "cannot make 1000000000 questions"),
        ((), SEED, 5, "at least one model"),
        (("refinance", "refinance"), SEED, 5, "each once"),
        (("refinanse",), SEED, 5, 'no model "refinanse"'),
    ],
)
def test_a_wish_that_cannot_be_met_is_one_clear_line(
    workspace: Workspace, models: tuple[str, ...], seed: str, count: int, says: str
) -> None:
    with pytest.raises(UnusableInputError, match=says) as refused:
        from_model(workspace, models, seed, count)
    assert "\n" not in str(refused.value)


@given(st.floats(-1e9, 1e9).map(lambda value: round(value, 2)))
def test_amounts_are_printed_with_all_their_digits(value: float) -> None:
    assert float(money(value).replace("$", "").replace(",", "")) == value


@given(st.integers(-5000, 20_000))
def test_rates_are_printed_with_all_their_digits(steps: int) -> None:
    assert round(float(percent(steps / 100_000).removesuffix(" %").replace(",", "")) * 1000) == steps
    assert percent(0.06125) == "6.125 %" and percent(0.06) == "6.00 %"


def test_a_model_of_which_every_input_is_published_has_no_secret_cases(tmp_path: Path) -> None:
    spec = SPEC[: SPEC.index("```toml edges")]
    for name, old, new in [("rate", "max = 10", "max = 0"), ("budget", "min = 0\nmax = 1_000", "min = 5\nmax = 5")]:
        start = spec.index(f'name = "{name}"')
        spec = spec[:start] + spec[start:].replace(old, new, 1)
    spec = spec.replace("{ uniform = [0, 10] }", "{ value = 0 }").replace("{ log = [1, 1_000] }", "{ value = 5 }")
    with pytest.raises(UnusableInputError, match="every possible input is published"):
        from_model(Workspace(write_workspace(tmp_path, spec=spec)), ["parking"], SEED, 3)


# FinanceBench


@pytest.fixture(scope="module")
def benchmark_file(shared_data: Path) -> bytes:
    return (shared_data / "financebench" / "financebench_open_source.jsonl").read_bytes()


def test_thirty_numeric_questions_of_the_known_file(benchmark_file: bytes) -> None:
    golden = from_financebench(benchmark_file)
    assert len(golden.items) == FINANCEBENCH_COUNT == 30
    assert golden.licence == FINANCEBENCH_LICENCE == "CC-BY-NC-4.0" and SELECTION in golden.notes
    assert golden == from_financebench(benchmark_file)
    for item in golden.items:
        assert item.reference is not None and not item.negative and item.kind in ("money", "number", "percent")
        assert item.evidence and all(passage.text in golden.documents[passage.doc] for passage in item.evidence)
        assert golden.given[item.id] and set(golden.given[item.id]) <= set(golden.documents)


def test_the_selection_depends_on_identifiers_alone(benchmark_file: bytes) -> None:
    lines = benchmark_file.splitlines()
    turned = b"\n".join(reversed(lines))
    assert {item.id for item in from_financebench(turned, any_digest=True).items} == {
        item.id for item in from_financebench(benchmark_file).items
    }


def test_another_file_is_refused_unless_any_is_welcome(benchmark_file: bytes) -> None:
    with pytest.raises(UnusableInputError, match=r"not the known FinanceBench file: its SHA-256 is [0-9a-f]{64}"):
        from_financebench(benchmark_file + b"\n")
    assert len(from_financebench(benchmark_file + b"\n", any_digest=True).items) == 30


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "holds 0 numeric questions, and 30 are needed"),
        (b"{}", "line 1: Object missing required field `financebench_id`"),
        (b'\n{"financebench_id": 3}', "line 2: financebench_id: Expected `str`, got `int`"),
        (b"<html>", "line 1: not JSON"),
        (b"\xff", "line 1: not UTF-8"),
    ],
)
def test_a_file_that_is_no_benchmark_is_one_clear_line(content: bytes, says: str) -> None:
    with pytest.raises(UnusableInputError, match=re.escape(says)):
        from_financebench(content, any_digest=True)


# From an address


class _Server(BaseHTTPRequestHandler):
    patience = threading.Event()

    def do_GET(self) -> None:
        name, _, number = self.path.strip("/").partition("/")
        if name == "hop":
            target = f"/hop/{int(number) - 1}" if int(number) else "/file"
            return self._answer(302, b"", {"Location": target})
        if name == "away":
            return self._answer(302, b"", {"Location": "file:///etc/passwd"})
        if name == "slow":
            self.patience.wait(5)
        if name == "endless":
            self.send_response(200)
            self.end_headers()
            try:
                while True:
                    self.wfile.write(b"x" * 4096)
            except OSError:
                return None
        if name == "cut":
            return self._answer(200, b"half", {"Content-Length": "100"})
        if name == "drip":
            self.send_response(200)
            self.end_headers()
            try:
                while not self.patience.wait(0.02):
                    self.wfile.write(b"x")
            except OSError:
                return None
        return self._answer(200 if name == "file" else 404, b"content of the file\n", {})

    def _answer(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for key, value in ({"Content-Length": str(len(body))} | headers).items():
            self.send_header(key, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A server on this machine, asked without any proxy."""
    pytest.importorskip("httpx2", reason="reading from an address needs httpx2, which is not installed here")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    _Server.patience.clear()
    running = ThreadingHTTPServer(("127.0.0.1", 0), _Server)
    running.daemon_threads = True
    thread = threading.Thread(target=running.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{running.server_port}"
    _Server.patience.set()
    running.shutdown()
    running.server_close()
    thread.join()


def test_a_file_is_read_by_its_path_or_its_address(server: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"content of the file\n")
    assert read_source(str(tmp_path / "file")) == read_source(f"{server}/file") == read_source(f"{server}/hop/2")


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("missing", "answers 404"),
        ("hop/9", "redirects more than 3 times"),
        ("away", "cannot be read"),
        ("slow", "gives no answer within 0.3 seconds"),
        ("endless", "is larger than 10,000 bytes"),
        ("drip", "is not done after 3 seconds"),
        ("cut", "cannot be read"),
    ],
)
def test_a_server_that_does_not_deliver_is_one_clear_line(server: str, path: str, says: str) -> None:
    with pytest.raises(UnusableInputError, match=says) as refused:
        read_source(f"{server}/{path}", Limits(size=10_000, seconds=0.3, redirects=3))
    assert server in str(refused.value) and "\n" not in str(refused.value)


def test_an_address_that_is_none_is_one_clear_line(server: str, tmp_path: Path) -> None:
    for place, says in [
        ("ftp://example.org/file", "ftp is no scheme to read from"),
        ("http://127.0.0.1:1/file", "cannot be read"),
        ("http://", "cannot be read"),
        (str(tmp_path / "none"), "cannot be read: No such file"),
        (str(tmp_path), "cannot be read: Is a directory"),
    ]:
        with pytest.raises(UnusableInputError, match=says):
            read_source(place)
    (tmp_path / "large").write_bytes(bytes(11))
    with pytest.raises(UnusableInputError, match="is larger than 10 bytes"):
        read_source(str(tmp_path / "large"), Limits(size=10))


def test_without_the_http_client_an_address_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "httpx2", None)
    with pytest.raises(UnusableInputError, match=r"needs httpx2 \(pip install"):
        read_source("https://example.org/file")


# A team's lines

LINE = {
    "id": "A-1",
    "question": "What was paid in May, in dollars?",
    "kind": "money",
    "reference": {"value": 1234.5, "unit": "usd"},
    "evidence": [{"doc": "ledger", "page": 3, "text": "May: $1,234.50"}],
}


def lines(*changes: dict[str, object]) -> bytes:
    return b"\n".join(
        json.dumps(LINE | {"id": f"A-{place}"} | change).encode() for place, change in enumerate(changes, 1)
    )


def test_a_teams_lines_are_read_as_they_are() -> None:
    content = lines(
        {},
        {"reference": None, "kind": "text", "expected": "yes"},
        {"negative": True, "reference": None, "evidence": []},
    )
    golden = from_lines(content, "golden.jsonl", {"ledger": "May:   $1,234.50\nJune: none\n"})
    assert [item.id for item in golden.items] == ["A-1", "A-2", "A-3"]
    assert golden.items[0].reference == Reference(1234.5, "usd") and golden.items[0].tolerance == Tolerance()
    assert set(golden.given.values()) == {("ledger",)}
    assert from_lines(content, "golden.jsonl").given == {}


def test_an_exported_set_reads_back_the_same(golden: Golden) -> None:
    content = b"\n".join(msgspec.json.encode(item) for item in golden.items)
    assert from_lines(content, "golden.jsonl", golden.documents).items == golden.items


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"id": ""}, "id: must be 1 to 100 letters"),
        ({"id": 7}, "id: Expected `str`, got `int`"),
        ({"id": "../key"}, "id: must be 1 to 100 letters"),
        ({"id": "A-1"}, "id: 'A-1' comes twice (first in golden.jsonl:1)"),
        ({"question": " "}, "question: is empty"),
        ({"kind": "colour"}, "kind: Invalid enum value 'colour'"),
        ({"reference": {"value": "12"}}, "reference.value: Expected `float`, got `str`"),
        ({"reference": {"value": float("nan")}}, "reference.value: must be a finite number"),
        ({"reference": {"value": float("inf")}}, "reference.value: must be a finite number"),
        ({"reference": {"value": 1, "unit": "furlong"}}, "reference.unit: must be one of usd, percent"),
        ({"reference": {"value": 1, "scale": "zillion"}}, "reference.scale: is no scale word: 'zillion'"),
        ({"reference": {"value": 1, "scale": 0}}, "reference.scale: must be a finite number above 0"),
        ({"reference": None}, "reference: is missing; only a negative item has no answer"),
        ({"reference": None, "kind": "text"}, "needles or expected: is missing"),
        ({"kind": "text"}, "reference: an item of kind text has needles"),
        ({"reference": None, "needles": {"any": ["…"]}}, "needles: one of them has no words"),
        ({"evidence": []}, "evidence: is missing; only a negative item has none"),
        ({"evidence": [{"doc": "ledger", "text": ""}]}, "evidence[0].text: is empty"),
        ({"evidence": [{"doc": "../ledger", "text": "x"}]}, "evidence[0].doc: is no document's name"),
        ({"evidence": [{"doc": "book", "text": "x"}]}, "evidence[0].doc: no document is named 'book'"),
        ({"evidence": [{"doc": "ledger", "text": "June: $9"}]}, "evidence[0].text: does not stand in 'ledger'"),
        ({"evidence": [{"doc": "ledger", "line": 4}]}, "evidence[0]: Object contains unknown field `line`"),
        ({"negative": True}, "negative: an item that must be declined has no reference"),
        ({"tolerance": {"rel": -1}}, "tolerance.rel: Expected `float` >= 0"),
        ({"tolerance": {"rel": float("nan")}}, "tolerance.rel: must be a finite number"),
        ({"answer": 5}, "Object contains unknown field `answer`"),
    ],
)
def test_a_line_that_cannot_be_used_is_named_with_its_field(change: dict[str, object], says: str) -> None:
    with pytest.raises(UnusableInputError, match=re.escape(f"golden.jsonl:2: {says}")) as refused:
        from_lines(lines({}, change), "golden.jsonl", {"ledger": "May: $1,234.50"})
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "golden.jsonl: holds no questions"),
        (b"\n \n", "golden.jsonl: holds no questions"),
        (b"[]", "golden.jsonl:1: Expected `object`, got `array`"),
        (b"{", "golden.jsonl:1: not JSON"),
        (b'{"id": "a", "id": "b"}', 'golden.jsonl:1: the key "id" comes twice'),
        (b"\xef\xbb\xbf{}", "golden.jsonl:1: not JSON"),
    ],
)
def test_a_file_that_is_no_golden_set_is_one_clear_line(content: bytes, says: str) -> None:
    with pytest.raises(UnusableInputError, match=re.escape(says)):
        from_lines(content, "golden.jsonl")


def test_items_made_in_python_are_held_to_the_same() -> None:
    item = Item("x", "How much?", "money", Reference(float("nan")), evidence=(Evidence("d", None, "t"),))
    with pytest.raises(UnusableInputError, match=r"mine: x: reference\.value: must be a finite number"):
        check_items([item], "mine")


def test_the_schema_names_every_field_and_no_other() -> None:
    schema = golden_schema()
    assert set(schema["properties"]) == set(Item.__struct_fields__) and schema["additionalProperties"] is False
    assert schema["required"] == ["id", "question", "kind"]
    assert set(schema["$defs"]) == {"Evidence", "Needles", "Reference", "Tolerance"}
    assert schema["properties"]["kind"]["enum"] == ["money", "months", "number", "percent", "text"]
    json.dumps(schema)


@settings(max_examples=300)
@given(st.binary(max_size=80))
def test_no_bytes_bring_the_reader_down(content: bytes) -> None:
    for read in (lambda: from_lines(content, "x"), lambda: from_financebench(content, any_digest=True)):
        with pytest.raises(UnusableInputError):
            read()


# Sealing

_ITEM = Item("Q1", "How much?", "money", Reference(12.5, "usd"), evidence=(Evidence("d", 1, "It is $12.50."),))
_CHANGES: dict[str, Callable[[Item], Item]] = {
    "the value": lambda item: replace(item, reference=Reference(12.51, "usd")),
    "the unit": lambda item: replace(item, reference=Reference(12.5, "percent")),
    "the scale": lambda item: replace(item, reference=Reference(12.5, "usd", "million")),
    "the question": lambda item: replace(item, question="How much ?"),
    "the kind": lambda item: replace(item, kind="number"),
    "the tolerance": lambda item: replace(item, tolerance=Tolerance(0.02)),
    "the needles": lambda item: replace(item, needles=Needles(any=("12",))),
    "the words": lambda item: replace(item, expected="12.50"),
    "the evidence": lambda item: replace(item, evidence=()),
    "the page": lambda item: replace(item, evidence=(Evidence("d", 2, "It is $12.50."),)),
    "negativity": lambda item: replace(item, negative=True),
    "the corpus": lambda item: replace(item, corpus="other"),
}


def test_an_honest_key_opens_its_commitments(golden: Golden) -> None:
    sealed = seal(golden.items, os.urandom)
    assert check(golden.items, sealed.salts, sealed.commitments) == []
    assert list(sealed.commitments) == [item.id for item in golden.items]
    assert len({*sealed.salts.values()}) == len(golden.items) and re.fullmatch("[0-9a-f]{64}", sealed.root)


@pytest.mark.parametrize("change", _CHANGES)
def test_a_changed_item_is_named(change: str) -> None:
    others = [replace(_ITEM, id=f"Q{place}") for place in range(2, 5)]
    sealed = seal([_ITEM, *others], os.urandom)
    changed = _CHANGES[change](_ITEM)
    assert changed != _ITEM
    assert check([changed, *others], sealed.salts, sealed.commitments) == ["Q1"]


def test_items_that_went_came_or_lost_their_salt_are_named() -> None:
    items = [replace(_ITEM, id=f"Q{place}") for place in range(1, 5)]
    sealed = seal(items, os.urandom)
    assert check(items[1:], sealed.salts, sealed.commitments) == ["Q1"]
    assert check([*items, replace(_ITEM, id="Q9")], sealed.salts, sealed.commitments) == ["Q9"]
    assert check([*items, items[0]], sealed.salts, sealed.commitments) == ["Q1"]
    assert check(items, dict(list(sealed.salts.items())[1:]), sealed.commitments) == ["Q1"]
    assert check(items, sealed.salts | {"Q2": "not hex", "Q3": sealed.salts["Q1"]}, sealed.commitments) == ["Q2", "Q3"]


def test_the_root_stands_for_all_of_them_in_their_order() -> None:
    sealed = seal([replace(_ITEM, id=f"Q{place}") for place in range(1, 4)], os.urandom)
    pairs = list(sealed.commitments.items())
    for changed in (pairs[:-1], pairs[::-1], [*pairs, ("Q9", "0" * 64)], [("Q1", "0" * 64), *pairs[1:]]):
        assert root(dict(changed)) != sealed.root


def test_the_commitment_is_what_is_published() -> None:
    """Anyone can recompute it: SHA-256 over canonical JSON of id, item and salt, defaults left out."""
    from hashlib import sha256

    text = (
        '{"id":"Q1","item":{"evidence":[{"doc":"d","page":1,"text":"It is $12.50."}],"id":"Q1","kind":"money",'
        '"question":"How much?","reference":{"unit":"usd","value":12.5}},"salt":"00ff"}'
    )
    assert commitment(_ITEM, "00ff") == sha256(text.encode()).hexdigest()


def test_the_same_answer_under_another_salt_is_another_commitment() -> None:
    one, two = seal([_ITEM], os.urandom), seal([_ITEM], os.urandom)
    assert one.commitments != two.commitments and one.root != two.root


def test_salts_that_hide_nothing_are_refused() -> None:
    for random, says in ((lambda count: b"short", "a salt of 5 bytes"), (bytes, "comes twice")):
        with pytest.raises(UnusableInputError, match=says):
            seal([_ITEM, replace(_ITEM, id="Q2")], random)


@given(st.data())
@settings(max_examples=40)
def test_the_paper_is_a_function_of_the_questions_alone(golden: Golden, data: st.DataObject) -> None:
    """Whatever the answers were, the paper would be the same bytes: nothing of them can be in it."""
    value = data.draw(st.floats(-1e9, 1e9))
    text = data.draw(st.text(min_size=1, max_size=20))
    rekeyed = Golden(
        "t",
        tuple(
            replace(
                item,
                reference=Reference(value),
                expected=text,
                negative=not item.negative,
                needles=Needles(all=(text,)),
                evidence=(Evidence(text, None, text),),
                tolerance=Tolerance(0.5),
            )
            for item in golden.items
        ),
        golden.documents,
        golden.given,
        "s",
        "l",
    )
    for documents in (False, True):
        assert paper(rekeyed, documents=documents) == paper(golden, documents=documents)


def test_no_answer_needle_or_evidence_is_in_the_paper_or_in_the_commitments(golden: Golden) -> None:
    sealed = seal(golden.items, os.urandom)
    shown = paper(golden, documents=True).decode() + json.dumps(dict(sealed.commitments)) + sealed.root
    for item in golden.items:
        assert all(passage.text not in shown for passage in item.evidence)
        assert sealed.salts[item.id] not in shown
        if item.reference and abs(item.reference.value) >= 1000:
            value = item.reference.value
            assert not any(form in shown for form in (f"{value:.2f}", f"{abs(value):,.2f}", f"${abs(value):,.0f}"))
    assert '"negative"' not in shown and '"reference"' not in shown and '"needles"' not in shown


def test_the_paper_has_a_line_a_question_in_order(golden: Golden) -> None:
    read = [json.loads(line) for line in paper(golden, documents=True).splitlines()]
    assert [line["id"] for line in read] == [item.id for item in golden.items]
    assert all(set(line) == {"id", "question", "kind", "documents"} for line in read)
    assert all(set(line["documents"]) <= set(golden.documents) for line in read)
    assert all("documents" not in json.loads(line) for line in paper(golden, documents=False).splitlines())
