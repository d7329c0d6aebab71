"""The exam's page, in headless Chromium as a visitor has it, and the calls behind it as other sites try them."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import httpx2
import pytest
from conftest import Run
from serving import Server, running

from concordance.exam.example import make_example
from concordance.exam.folder import Exam

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

ORDER_AT_1 = ["confident-guesser", "ungoverned-copilot", "cite-or-abstain"]
ORDER_AT_3 = ["cite-or-abstain", "ungoverned-copilot", "confident-guesser"]
GRADINGS = (3, 5, 7)
WORKSHEET = "/exam/worksheet/ungoverned-copilot.1/Q002"
Visit = Callable[..., "Page"]


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Browser]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        started = play.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture(scope="module")
def example() -> Iterator[Server]:
    """A server that was given no exam."""
    with running() as started:
        yield started


@pytest.fixture(scope="module")
def sat(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An exam that was sat and graded, as a folder of its own."""
    return make_example(tmp_path_factory.mktemp("sat") / "exam").root


@pytest.fixture
def folder(sat: Path, tmp_path: Path) -> Path:
    """A copy that a test may change."""
    return Path(shutil.copytree(sat, tmp_path / "exam"))


@pytest.fixture
def visit(browser: Browser) -> Iterator[Visit]:
    """Open a page, and see at the end that nothing left the machine and nothing was complained about."""
    contexts, hosts, complaints = [], set(), []

    def open_page(address: str, *, width: int = 1280, scheme: str = "light", **options: Any) -> Page:
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(20_000)
        page.on("request", lambda request: hosts.add(urlsplit(request.url).hostname))
        page.on("console", lambda said: complaints.append(said.text) if said.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(address)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert hosts <= {"127.0.0.1"}
    assert complaints == []


def order(page: Page) -> list[str]:
    return [str(row.get_attribute("data-candidate")) for row in page.locator("#standings tbody tr").all()]


# The board --------------------------------------------------------------------------------------------------------


def test_the_slider_ranks_the_board_anew_by_keyboard(example: Server, visit: Visit) -> None:
    page = visit(f"{example.address}/exam?k=1")
    assert order(page) == ORDER_AT_1
    page.locator("#k").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert order(page) == ORDER_AT_3
    first = page.locator("#standings tbody tr").first.inner_text().replace("\u2212", "-")
    assert "19 abstained × -1" in first and "-12" in first
    assert page.locator("#surer").inner_text() == "50"
    assert page.locator("#ranked").inner_text().startswith("At k = 3: 1. cite-or-abstain, −12")
    assert page.url.endswith("k=3")


def test_the_slider_is_dragged(example: Server, visit: Visit) -> None:
    page = visit(f"{example.address}/exam?k=1")
    box = page.locator("#k").bounding_box()
    assert box is not None
    middle, thumb = box["y"] + box["height"] / 2, 8
    page.mouse.move(box["x"] + thumb, middle)
    page.mouse.down()
    page.mouse.move(box["x"] + thumb + (box["width"] - 2 * thumb) * 2 / 9, middle, steps=8)
    page.mouse.up()
    assert page.locator("#k-shown").inner_text() == "k = 3"
    assert order(page) == ORDER_AT_3


def test_the_browser_and_the_server_show_the_same_board_at_every_k(folder: Path, visit: Visit) -> None:
    sit_again(folder)
    with running("--exam", str(folder)) as server:
        live = visit(f"{server.address}/exam?k=1")
        assert "2 sittings: " in live.locator("#standings").inner_text()
        static = visit(f"{server.address}/exam", java_script_enabled=False)
        for k in range(1, 11):
            static.goto(f"{server.address}/exam?k={k}")
            for part in ("#standings", "#break-even", "#k-shown"):
                assert live.locator(part).inner_text() == static.locator(part).inner_text(), k
            assert marker(live) == pytest.approx(marker(static), abs=0.01)
            live.locator("#k").press("ArrowRight")


def marker(page: Page) -> float:
    """How far to the right the chart marks the k, in percent."""
    return float(str(page.locator("#here").get_attribute("x1")).rstrip("%"))


def sit_again(folder: Path) -> None:
    """Have one candidate sit again, with another outcome."""
    exam = Exam.open(folder)
    again = exam.next_sitting("cite-or-abstain")
    lines = [json.loads(line) for line in (folder / "transcripts/cite-or-abstain.1.jsonl").read_text().splitlines()]
    for line in lines[:7]:
        line |= {"answer": 1, "cite": None}
    (folder / f"transcripts/{again.file}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    exam.enter(again, "2026-02-01T09:00:00Z")
    exam.grade("2026-02-01T10:00:00Z")


def test_without_script_the_page_is_whole(example: Server, visit: Visit) -> None:
    page = visit(f"{example.address}/exam?k=1", java_script_enabled=False)
    assert order(page) == ORDER_AT_1
    page.locator("#k").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.get_by_role("button", name="Show").click()
    assert order(page) == ORDER_AT_3
    page.locator(".outcome.wrong").first.click()
    assert "Sealed answer" in page.locator("#worksheet").inner_text()


def test_the_figures_of_the_example_are_on_the_board(example: Server) -> None:
    data = httpx2.get(f"{example.address}/exam/api/board", params={"k": 3}, timeout=60).json()
    counts = {each["candidate"]: (each["correct"], each["abstain"], each["wrong"]) for each in data["standings"]}
    assert (counts["confident-guesser"], counts["cite-or-abstain"]) == ((19, 0, 11), (10, 19, 1))
    assert [each["candidate"] for each in data["standings"]] == ORDER_AT_3
    assert data["example"] and all(each["scripted"] for each in data["standings"])
    page = httpx2.get(f"{example.address}/exam", timeout=60).text
    assert page.count('<span class="badge">scripted</span>') == 3
    assert "cite-or-abstain overtakes confident-guesser at k = 3 (equal at 14/5)" in page
    assert "violation" in page


# Worksheets -------------------------------------------------------------------------------------------------------


def test_a_worksheet_opens_and_closes_by_keyboard(example: Server, visit: Visit) -> None:
    page = visit(f"{example.address}/exam")
    link = page.locator(f'.questions a[href="{WORKSHEET}"]')
    link.focus()
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name="Worksheet Q002, ungoverned-copilot.1")
    dialog.wait_for()
    text = dialog.inner_text()
    assert "Sealed answer" in text and "Read from the reply" in text and "Allowed deviation" in text
    dialog.get_by_role("link", name="Q003 →").click()
    page.get_by_role("dialog", name="Worksheet Q003, ungoverned-copilot.1").wait_for()
    page.keyboard.press("Escape")
    assert not page.locator("dialog").is_visible()
    assert link.evaluate("link => link === document.activeElement")


def test_only_graded_sittings_have_worksheets(folder: Path) -> None:
    exam = Exam.open(folder)
    shutil.copy(folder / "transcripts/cite-or-abstain.1.jsonl", folder / "transcripts/late.1.jsonl")
    exam.enter(exam.next_sitting("late"), "2026-02-01T09:00:00Z")
    with running("--exam", str(folder)) as server, httpx2.Client(base_url=server.address, timeout=60) as client:
        statuses = [
            client.get(f"/exam/worksheet/{name}/Q001").status_code for name in ("cite-or-abstain.1", "late.1", "..")
        ]
        assert statuses == [200, 404, 404]
        assert client.get("/exam/worksheet/cite-or-abstain.1/nothing").status_code == 404


def test_what_a_candidate_says_is_text_and_nothing_else(folder: Path, visit: Visit) -> None:
    exam = Exam.open(folder)
    hostile = '</dd><script>alert(1)</script><img src="https://example.com/x" onerror="alert(2)">\u202e'
    lines = [{"id": question.id, "answer": hostile, "cite": hostile} for question in exam.questions]
    (folder / "transcripts/hostile.1.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    exam.enter(exam.next_sitting("hostile"), "2026-02-01T09:00:00Z")
    exam.grade("2026-02-01T10:00:00Z")
    with running("--exam", str(folder)) as server:
        page = visit(f"{server.address}/exam")
        page.locator('a[href="/exam/worksheet/hostile.1/Q001"]').click()
        page.locator("dialog #worksheet").wait_for()
        assert "<script>alert(1)</script>" in page.locator("dialog").inner_text()
        assert page.locator("dialog img, dialog script").count() == 0


# Sign-off and replay ----------------------------------------------------------------------------------------------


def test_a_sign_off_lands_in_the_ledger(folder: Path, visit: Visit, concordance: Run) -> None:
    before = Exam.open(folder).ledger.head().count
    with running("--exam", str(folder)) as server:
        page = visit(f"{server.address}/exam?k=1")
        page.locator("#k").press("ArrowRight")
        page.get_by_label("Risk owner").fill("ada@risk")
        page.get_by_role("button", name="Sign off").click()
        page.get_by_text("ada@risk at k = 2: confident-guesser").wait_for()
        head = page.locator("#head").inner_text()
    *_, row = Exam.open(folder).ledger.rows()
    assert (row.number, row.kind, row.payload["owner"], row.payload["k"]) == (before + 1, "sign-off", "ada@risk", 2)
    done = concordance("exam", "verify", str(folder), "--head", head)
    assert done.stdout == f"{before + 1} rows, one chain; nothing was changed\n"


def test_a_sign_off_is_signed_with_the_servers_key(folder: Path, tmp_path: Path, concordance: Run) -> None:
    key = tmp_path / "risk.pem"
    concordance("exam", "key", str(key))
    with running("--exam", str(folder), "--exam-key", str(key)) as server:
        reply = httpx2.post(f"{server.address}/exam/api/sign", json={"owner": "ada", "k": 3}, timeout=60)
    assert reply.json()["signed"] is True
    *_, row = Exam.open(folder).ledger.rows()
    assert row.signature and row.key and row.key in reply_key(key)


def reply_key(key: Path) -> str:
    from concordance.keys import public_hex, read_public_key

    return public_hex(read_public_key(key.with_name(key.name + ".pub")))


def test_every_reply_is_judged_anew(example: Server, visit: Visit) -> None:
    page = visit(f"{example.address}/exam")
    page.get_by_role("button", name="Judge every stored reply anew").click()
    page.get_by_text("3 sittings judged anew: the same verdicts, byte for byte.").wait_for()


def test_the_example_is_never_signed_off(example: Server, visit: Visit) -> None:
    page = visit(f"{example.address}/exam")
    assert page.locator("#sign").count() == 0
    reply = httpx2.post(f"{example.address}/exam/api/sign", json={"owner": "ada", "k": 3}, timeout=60)
    assert reply.status_code == 403


@contextmanager
def served(folder: Path) -> Iterator[tuple[httpx2.Client, Callable[..., int]]]:
    """A client of a served exam, and how a sign-off is answered that is sent with some headers."""
    with running("--exam", str(folder)) as server, httpx2.Client(base_url=server.address, timeout=60) as client:

        def sign(headers: dict[str, str] | None = None, **more: Any) -> int:
            return client.post("/exam/api/sign", json={"owner": "ada", "k": 2} | more, headers=headers).status_code

        yield client, sign


def test_no_other_site_signs(folder: Path) -> None:
    before = Exam.open(folder).ledger.head()
    with served(folder) as (client, sign):
        own = str(client.base_url).rstrip("/")
        assert sign({"origin": "https://elsewhere.example"}) == 403
        assert sign({"origin": "null"}) == 403
        assert sign({"origin": own, "sec-fetch-site": "cross-site"}) == 403
        assert sign({"origin": own, "sec-fetch-site": "same-site"}) == 403
        assert sign({"origin": "http://pointed.example", "host": "pointed.example"}) == 403
        assert sign({"content-type": "text/plain"}) == 400
        assert Exam.open(folder).ledger.head() == before
        assert sign({"origin": own, "sec-fetch-site": "same-origin"}) == 200


@pytest.mark.parametrize(
    "asked",
    [{"owner": " "}, {"owner": 7}, {"owner": "a" * 201}, {"k": 0}, {"k": 11}, {"k": True}, {"k": "2"}, {"x": 1}],
)
def test_a_sign_off_that_cannot_stand_is_refused(asked: dict[str, Any], shared_folder: Any) -> None:
    _, sign = shared_folder
    assert sign(**asked) == 400


@pytest.fixture(scope="module")
def shared_folder(sat: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A served exam that no test changes."""
    with served(Path(shutil.copytree(sat, tmp_path_factory.mktemp("shared") / "exam"))) as found:
        yield found


def test_who_signs_signs_what_the_page_showed(folder: Path) -> None:
    head = str(Exam.open(folder).ledger.head())
    sit_again(folder)
    with served(folder) as (_, sign):
        assert sign(head=head) == 409
        assert sign(head=str(Exam.open(folder).ledger.head())) == 200


# Tampering --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rehash", [False, True])
def test_one_score_is_tampered_with_and_exactly_that_row_breaks(example: Server, visit: Visit, rehash: bool) -> None:
    page = visit(f"{example.address}/exam")
    form = page.locator("#tamper")
    for row, score in zip(GRADINGS, ("correct", "abstain", "wrong"), strict=True):
        form.locator('[name="row"]').select_option(str(row))
        form.locator('[name="score"]').select_option(score)
        form.locator('[name="rehash"]').set_checked(rehash)
        form.get_by_role("button", name="Change the copy and check it").click()
        page.get_by_text(f"Row {row} breaks; the other 7 rows hold.").wait_for()
        states = page.locator(".ledger .state").all_inner_texts()
        assert [n for n, state in enumerate(states, 1) if state.startswith("BROKEN")] == [row]
        assert states.count("holds") == 7
    form.get_by_role("button", name="Start again").click()
    assert page.locator(".ledger .state").all_inner_texts() == ["holds"] * 8


def test_tampering_leaves_the_ledger_alone(shared_folder: Any) -> None:
    client, _ = shared_folder
    before = client.get("/exam/api/ledger").content
    for change, status in [
        ({"row": 3, "score": "correct", "value": 30}, 200),
        ({"row": 3, "score": "correct", "value": 19}, 400),
        ({"row": 1, "score": "correct", "value": 30}, 400),
        ({"row": 99, "score": "correct", "value": 30}, 400),
        ({"row": 3, "score": "candidate", "value": 30}, 400),
        ({"row": 3, "score": "correct", "value": -1}, 400),
        ({"row": 3, "score": "correct", "value": 1.5}, 400),
    ]:
        assert client.post("/exam/api/tamper", json=change).status_code == status, change
    assert client.get("/exam/api/ledger").content == before


@pytest.mark.parametrize("name", ["results/cite-or-abstain.1.json", "transcripts/cite-or-abstain.1.jsonl", "key.jsonl"])
def test_an_exam_that_was_tampered_with_is_shown_as_broken(folder: Path, name: str) -> None:
    path = folder / name
    path.write_text(path.read_text().replace("0", "1", 1))
    with served(folder) as (client, sign):
        page = client.get("/exam")
        assert page.status_code == 409
        assert name in page.text
        assert "standings" not in page.text
        assert client.get("/exam/api/board").status_code == 409
        assert client.get("/exam/worksheet/cite-or-abstain.1/Q001").status_code == 409
        assert sign() == 409


# The page itself --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_axe_finds_no_serious_fault(example: Server, visit: Visit, scheme: str, width: int) -> None:
    from axe_playwright_python.sync_playwright import Axe

    for path in ("/", "/docs", "/exam", WORKSHEET):
        page = visit(example.address + path, width=width, scheme=scheme)
        page.locator("details").evaluate_all("all => all.forEach(each => each.open = true)")
        if path == "/exam":
            page.locator("#tamper button").first.click()
            page.locator("tr.broken").wait_for()
        faults(Axe().run(page), path)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), path
        if path == "/exam":
            page.locator(".outcome.wrong").first.click()
            page.locator("dialog #worksheet").wait_for()
            faults(Axe().run(page), "the dialog")


def faults(results: Any, where: str) -> None:
    found = [f"{each['id']}: {each['nodes'][0]['html']}" for each in results.response["violations"]
             if each["impact"] in ("serious", "critical")]  # fmt: skip
    assert found == [], where


def test_the_script_need_not_be_fetched_twice(example: Server) -> None:
    with httpx2.Client(base_url=example.address, timeout=60) as client:
        first = client.get("/static/exam.js")
        assert first.headers["content-type"].startswith("text/javascript")
        again = client.get("/static/exam.js", headers={"if-none-match": first.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")
        assert "script-src 'self'" in client.get("/exam").headers["content-security-policy"]


@pytest.mark.parametrize("query", ["k=0", "k=11", "k=two", "k=", "k=2.0", "k=٢", "from=0", "from=99999999999"])
def test_a_query_that_is_none_names_its_field(shared_folder: Any, query: str) -> None:
    reply = shared_folder[0].get(f"/exam?{query}")
    assert reply.status_code == 400
    assert reply.json()["errors"][0]["field"] == query.partition("=")[0]


def test_an_exam_without_a_sitting_says_what_to_do(tmp_path: Path, concordance: Run) -> None:
    root = tmp_path / "exam"
    concordance("exam", "new", str(root), "--count", "4", "--secret-seed", "a seed of an empty board")
    with served(root) as (client, sign):
        assert "Nothing was graded yet" in client.get("/exam").text
        assert sign() == 409


def test_a_folder_without_an_exam_is_one_clear_line(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "concordance", "serve", "--port", "0", "--exam", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "holds no exam" in done.stderr
