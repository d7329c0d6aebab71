"""Candidates are asked, and what they reply is stored: no question is lost, none whose reply is stored asked again."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import UNSET
from openai_server import KEY, TROUBLES, completion

from concordance.errors import ConcordanceError, UnusableInputError
from concordance.exam.candidates import (
    Candidate,
    CandidateError,
    Command,
    Endpoint,
    Failure,
    Question,
    Sitting,
    Transcript,
    read_outcomes,
    read_transcript,
    sit,
)
from concordance.exam.endpoint import FAILURES_IN_A_ROW, read_completion, read_reply, retry_after
from concordance.exam.referee import Reply

SERVER = Path(__file__).with_name("openai_server.py")


def paper(count: int) -> list[Question]:
    return [Question(f"q{number}", f"q{number}: how much is it?", "number") for number in range(count)]


class Protocol:
    """The test server's process, and the log of what it was asked."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "requests.jsonl"
        self.port = "0"
        self.start()

    def start(self) -> None:
        command = [sys.executable, str(SERVER), str(self.path), self.port]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout
        self.url = self.process.stdout.readline().strip()
        self.port = self.url.split(":")[2].split("/")[0]

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        assert self.process.stdout
        self.process.stdout.close()

    def log(self, model: str) -> list[dict[str, Any]]:
        lines = [json.loads(line) for line in self.path.read_text().splitlines()]
        return [line for line in lines if line["model"] == model]

    def tries(self, model: str) -> Counter[str]:
        return Counter(f"q{line['question']}" for line in self.log(model))

    def endpoint(self, model: str, **settings: Any) -> Endpoint:
        usual: dict[str, Any] = {"api_key": KEY, "timeout": 2, "first_wait": 0.01}
        return Endpoint(self.url, model, **(usual | settings))


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Protocol]:
    protocol = Protocol(tmp_path_factory.mktemp("server"))
    yield protocol
    protocol.kill()


@pytest.fixture
def own_server(tmp_path: Path) -> Iterator[Protocol]:
    """A server that may be killed."""
    protocol = Protocol(tmp_path)
    yield protocol
    protocol.kill()


@pytest.fixture
def transcript(tmp_path: Path) -> Transcript:
    return Transcript(tmp_path / "transcripts" / "one.1.jsonl")


def stored(transcript: Transcript, questions: list[Question]) -> dict[str, Reply]:
    return read_transcript(transcript.path.read_bytes(), transcript.path, [question.id for question in questions])


def ask_one(server: Protocol, transcript: Transcript, model: str, **settings: Any) -> Reply | Failure:
    """What becomes of one question."""
    sit(server.endpoint(model, **settings), paper(1), {}, transcript)
    return read_outcomes(transcript.path.read_bytes(), transcript.path, ["q0"])["q0"]


def right(number: int) -> Reply:
    return Reply(number + 0.5, f"the passage of q{number}", None)


# An endpoint


def test_every_question_gets_its_reply_though_half_of_them_meet_trouble(
    server: Protocol, transcript: Transcript
) -> None:
    questions = paper(100)
    seen: list[Sitting] = []
    sitting = sit(server.endpoint("half", concurrency=8), questions, {}, transcript, seen.append)
    assert sitting == Sitting(100, stored=100) and sitting.complete
    assert stored(transcript, questions) == {f"q{number}": right(number) for number in range(100)}
    assert [one.asked for one in seen] == list(range(1, 101))
    tries = server.tries("half")
    assert len(TROUBLES) == 10 and sum(count == 1 for count in tries.values()) < 65 and max(tries.values()) == 4
    assert max(line["in_flight"] for line in server.log("half")) <= 8


SITTER = """
import sys
from pathlib import Path
from concordance.exam.candidates import Endpoint, Question, Transcript, sit
url, model, key, path, count = sys.argv[1:]
questions = [Question(f"q{n}", f"q{n}: how much is it?", "number") for n in range(int(count))]
try:
    sit(Endpoint(url, model, key, timeout=2, first_wait=0.01), questions, {}, Transcript(Path(path)))
except KeyboardInterrupt:
    print("interrupted")
"""


def sitter(server: Protocol, model: str, transcript: Transcript, count: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", SITTER, server.url, model, KEY, str(transcript.path), str(count)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def lines_of(transcript: Transcript) -> int:
    return transcript.path.read_bytes().count(b"\n") if transcript.path.exists() else 0


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.002)


def test_a_sitting_killed_again_and_again_loses_no_question_and_asks_none_again_that_has_its_reply(
    own_server: Protocol, transcript: Transcript
) -> None:
    questions = paper(120)
    ids = [question.id for question in questions]
    for until in (13, 40, 71, 95):
        process = sitter(own_server, "half", transcript, len(questions))
        wait_for(lambda until=until: lines_of(transcript) >= until)  # type: ignore[misc]
        process.kill()
        process.communicate()
        whole = transcript.path.read_bytes().rpartition(b"\n")[0]
        before = {name for name, outcome in read_outcomes(whole, "", ids).items() if isinstance(outcome, Reply)}
        asked = own_server.tries("half")
        if until == 40:  # the endpoint too may go away
            own_server.kill()
            own_server.start()
        process = sitter(own_server, "half", transcript, len(questions))
        count = lines_of(transcript)
        wait_for(lambda count=count: lines_of(transcript) > count + 5)  # type: ignore[misc]
        process.kill()
        process.communicate()
        assert {name for name, count in (own_server.tries("half") - asked).items() if count} & before == set()
    kept = Transcript(transcript.path)
    with kept.open(ids):
        before = set(kept.replies)
    asked = own_server.tries("half")
    sitting = sit(own_server.endpoint("half"), questions, {}, transcript)
    assert sitting.complete and sitting.before == len(before) >= 95
    assert set(own_server.tries("half") - asked) == set(ids) - before
    assert stored(transcript, questions) == {f"q{number}": right(number) for number in range(120)}


def test_an_interrupt_keeps_what_is_stored(server: Protocol, transcript: Transcript) -> None:
    process = sitter(server, "always-slow", transcript, 200)
    wait_for(lambda: lines_of(transcript) >= 8)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert (out, err) == ("interrupted\n", "")
    content = transcript.path.read_bytes()
    assert content.endswith(b"\n") and len(read_outcomes(content, "", [f"q{n}" for n in range(200)])) >= 8


def test_a_question_that_failed_is_stored_with_its_error_and_asked_again_by_the_next_sitting(
    server: Protocol, transcript: Transcript
) -> None:
    questions = paper(6)
    sitting = sit(server.endpoint("first-2-503", retries=2), questions, {}, transcript)
    assert sitting == Sitting(6, stored=4, failed=2) and not sitting.complete
    assert transcript.failures == dict.fromkeys(("q0", "q1"), "HTTP 503: trouble on purpose, after 3 tries")
    assert server.tries("first-2-503")["q0"] == 3
    assert stored(transcript, questions)["q0"] == Reply(UNSET, None, None)
    again = sit(server.endpoint("right"), questions, {}, transcript)
    assert again == Sitting(6, before=4, stored=2) and again.complete
    assert server.tries("right").keys() >= {"q0", "q1"} and not transcript.failures
    assert stored(transcript, questions) == {f"q{number}": right(number) for number in range(6)}
    assert sit(server.endpoint("never-asked"), questions, {}, transcript) == Sitting(6, before=6)
    assert not server.log("never-asked")


def test_questions_that_failed_come_last_so_that_they_never_keep_others_from_being_asked(
    server: Protocol, transcript: Transcript
) -> None:
    questions = paper(15)
    endpoint = server.endpoint("first-12-400", concurrency=1)
    with pytest.raises(CandidateError, match=f"{FAILURES_IN_A_ROW} questions in a row had no reply.*HTTP 400"):
        sit(endpoint, questions, {}, transcript)
    assert len(transcript.failures) == FAILURES_IN_A_ROW and sum(server.tries("first-12-400").values()) == 10
    with pytest.raises(CandidateError):
        sit(endpoint, questions, {}, transcript)
    assert sorted(transcript.replies) == ["q12", "q13", "q14"]


@pytest.mark.parametrize(
    ("model", "least"), [("once-429=1", 1.0), ("once-429-date", 1.0), ("once-429=0", 0.0), ("once-503=1", 1.0)]
)
def test_a_server_that_asks_to_wait_is_waited_for(
    server: Protocol, transcript: Transcript, model: str, least: float
) -> None:
    assert ask_one(server, transcript, model) == right(0)
    first, second = (line["at"] for line in server.log(model))
    assert least <= second - first < least + 3


def test_a_limit_makes_all_wait_and_no_longer_than_is_allowed(server: Protocol, transcript: Transcript) -> None:
    questions = paper(8)
    sitting = sit(
        server.endpoint("once-429=3600", longest_wait=0.3, concurrency=4, retries=9), questions, {}, transcript
    )
    assert sitting.complete
    log = server.log("once-429=3600")
    assert log[1]["at"] - log[0]["at"] >= 0.3 and log[-1]["at"] - log[0]["at"] < 5


@given(st.text() | st.sampled_from(["nan", "inf", "-5", "1e9", "Wed, 21 Oct 2015 07:28:00 GMT", "9" * 400]))
def test_a_wait_is_always_a_number_of_seconds(asked: str) -> None:
    assert 0 <= retry_after({"retry-after": asked, "date": "Wed, 21 Oct 2015 07:27:00 GMT"}) < 1e10
    assert retry_after({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}) == 0


def test_a_date_to_wait_for_is_relative_to_the_servers_own_clock() -> None:
    headers = {"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT", "date": "Wed, 21 Oct 2015 07:27:30 GMT"}
    assert retry_after(headers) == 30


@pytest.mark.parametrize(
    ("trouble", "error"),
    [
        ("prose-body", "the body is not JSON, or was cut off, after 2 tries"),
        ("short", "the body is not JSON, or was cut off, after 2 tries"),
        ("cut-off", "the connection broke: .*, after 2 tries"),
        ("dropped", "the connection broke: .*, after 2 tries"),
        ("no-choices", "the body holds no choices, after 2 tries"),
        ("null", r"the reply has no text \(finish_reason stop\), after 2 tries"),
        ("nothing-length", r"the reply has no text \(finish_reason length\)"),
        ("wrong-shape", "the body is no completion, after 2 tries"),
        ("error-200", "upstream is down, after 2 tries"),
        ("not-utf8", "the body is not JSON, or was cut off, after 2 tries"),
        ("huge", "the body is larger than 8 MiB, after 2 tries"),
        ("dripping", "no reply within 0.4 s, after 2 tries"),
        ("500", "HTTP 500: trouble on purpose, after 2 tries"),
        ("404", "HTTP 404: trouble on purpose"),
        ("400", "HTTP 400: trouble on purpose"),
        ("moved", "HTTP 302: the address has moved"),
    ],
)
def test_each_trouble_is_told_apart_and_none_is_an_exception(
    server: Protocol, transcript: Transcript, trouble: str, error: str
) -> None:
    began = time.monotonic()
    outcome = ask_one(server, transcript, f"always-{trouble}", retries=1, timeout=0.4 if trouble == "dripping" else 10)
    assert isinstance(outcome, Failure) and re.fullmatch(error, outcome.error)
    assert time.monotonic() - began < 8


def test_text_that_is_no_json_is_kept_for_the_referee(server: Protocol, transcript: Transcript, tmp_path: Path) -> None:
    cut = ask_one(server, transcript, "always-length")
    assert cut == Reply(UNSET, None, "Revenue grew, so that the answer would have b")
    refusal = ask_one(server, Transcript(tmp_path / "two"), "always-refusal")
    assert refusal == Reply(UNSET, None, "I cannot help with that.")


@pytest.mark.parametrize(
    ("model", "error"),
    [
        ("always-401", "the key was refused (HTTP 401: trouble on purpose)"),
        ("always-402", "the account has no credit (HTTP 402: trouble on purpose)"),
        ("always-quota", "the quota is used up (HTTP 429: You exceeded your current quota)"),
    ],
)
def test_what_no_repetition_can_mend_stops_the_sitting_at_the_first_request(
    server: Protocol, transcript: Transcript, model: str, error: str
) -> None:
    with pytest.raises(CandidateError) as caught:
        sit(server.endpoint(model, concurrency=8), paper(50), {}, transcript)
    assert str(caught.value) == f"{server.url}: {error} (0 of 50 replies are stored; sit again to go on)"
    assert len(server.log(model)) == 1


def test_a_wrong_key_stops_the_sitting_and_is_shown_nowhere(server: Protocol, transcript: Transcript) -> None:
    wrong = "sk-the-wrong-key-0123456789"
    endpoint = server.endpoint("wrong-key", api_key=wrong)
    with pytest.raises(CandidateError, match=r"the key was refused \(HTTP 401: Incorrect API key provided: \[key\]\)"):
        sit(endpoint, paper(50), {}, transcript)
    assert [line["key"] for line in server.log("wrong-key")] == [wrong]
    assert transcript.path.read_bytes() == b"" and wrong not in repr(endpoint)


def test_no_one_listening_is_one_clear_error(transcript: Transcript) -> None:
    endpoint = Endpoint("http://127.0.0.1:9/v1", "m", KEY, retries=2, first_wait=0.01, concurrency=8)
    with pytest.raises(CandidateError) as caught:
        sit(endpoint, paper(50), {}, transcript)
    told = r"http://127\.0\.0\.1:9/v1: cannot be reached: .+, after 3 tries \(0 of 50 replies are stored; .+\)"
    assert re.fullmatch(told, str(caught.value))
    assert transcript.path.read_bytes() == b""


def test_an_endpoint_that_goes_away_for_good_ends_the_sitting_and_blames_no_question(
    own_server: Protocol, transcript: Transcript
) -> None:
    def away(sitting: Sitting) -> None:
        if sitting.stored == 10:
            own_server.kill()

    with pytest.raises(CandidateError, match=r"cannot be reached.*10 of 300 replies are stored"):
        sit(own_server.endpoint("right", retries=2, concurrency=1), paper(300), {}, transcript, away)
    own_server.start()
    assert not any("cannot be reached" in error for error in transcript.failures.values())
    sitting = sit(own_server.endpoint("right"), paper(300), {}, transcript)
    assert sitting.complete and sitting.before == 10


@pytest.mark.parametrize("model", ["always-echo", "always-parrot", "right"])
def test_the_key_is_in_no_error_log_or_transcript(
    server: Protocol, transcript: Transcript, model: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    endpoint = server.endpoint(model, retries=1)
    outcome = ask_one(server, transcript, model, retries=1)
    texts = [repr(endpoint), repr(outcome), caplog.text, transcript.path.read_text()]
    assert not [text for text in texts if KEY in text]
    assert model == "right" or "[key]" in repr(outcome)


@pytest.mark.parametrize(
    "settings",
    [
        {"base_url": "api.example.com/v1"},
        {"base_url": f"https://user:{KEY}@host/v1"},
        {"base_url": f"https://host/v1?key={KEY}"},
        {"base_url": ""},
        {"api_key": KEY + "\n"},
        {"api_key": f"“{KEY}”"},
        {"timeout": 0},
        {"timeout": float("nan")},
        {"retries": -1},
        {"concurrency": 0},
        {"first_wait": -1},
    ],
)
def test_unusable_settings_are_refused_in_a_line_without_the_key(settings: dict[str, Any]) -> None:
    with pytest.raises(UnusableInputError) as caught:
        Endpoint(**({"base_url": "https://host/v1", "model": "m", "api_key": KEY} | settings))
    assert KEY not in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize("address", ["http://[::1", "http://host:99999/v1"])
def test_an_address_that_leads_nowhere_is_one_clear_error(address: str, transcript: Transcript) -> None:
    with pytest.raises(ConcordanceError) as caught:
        sit(Endpoint(address, "m", retries=0, timeout=5), paper(2), {}, transcript)
    assert "\n" not in str(caught.value)


def test_the_server_sees_no_more_requests_at_once_than_allowed(server: Protocol, transcript: Transcript) -> None:
    sit(server.endpoint("once-slow", concurrency=5), paper(40), {}, transcript)
    assert max(line["in_flight"] for line in server.log("once-slow")) == 5


def test_a_thousand_questions_are_quick(server: Protocol, transcript: Transcript) -> None:
    began = time.monotonic()
    assert sit(server.endpoint("thousand", concurrency=16), paper(1000), {}, transcript).complete
    assert time.monotonic() - began < 20
    assert set(server.tries("thousand").values()) == {1}


def test_a_model_sees_documents_where_they_are_named_and_how_to_answer(
    server: Protocol, transcript: Transcript
) -> None:
    questions = [Question("a", "q1: what is the rent?", "money", ("lease",)), Question("b", "q2: who?", "text")]
    documents = {"lease": "The rent is $1,200.", "other": "not for you"}
    sit(server.endpoint("documents", concurrency=1), questions, documents, transcript)
    (first, second) = (line["body"] for line in server.log("documents"))
    assert first["temperature"] == 0 and "declining is fine" in first["messages"][0]["content"]
    shown = first["messages"][1]["content"]
    assert shown.startswith('<document name="lease">\nThe rent is $1,200.\n</document>') and "amount of money" in shown
    assert "document" not in second["messages"][1]["content"] and "not for you" not in json.dumps([first, second])
    sit(server.endpoint("cool", temperature=None), questions[1:], {}, Transcript(transcript.path.with_name("c")))
    assert "temperature" not in server.log("cool")[0]["body"]


def test_a_sitting_can_be_held_inside_a_running_event_loop(server: Protocol, transcript: Transcript) -> None:
    async def notebook() -> Sitting:
        return sit(server.endpoint("right"), paper(3), {}, transcript)

    assert asyncio.run(notebook()).complete


def test_asking_an_endpoint_without_the_extra_names_it(transcript: Transcript, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "httpx2", None)
    with pytest.raises(UnusableInputError, match=r"needs httpx2 \(pip install 'concordance-key\[exam\]'\)"):
        sit(Endpoint("http://127.0.0.1:9", "m"), paper(1), {}, transcript)


def test_the_client_is_loaded_by_asking_alone() -> None:
    script = "import sys, concordance.exam.candidates; print([name for name in sys.modules if 'http' in name])"
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


# What a model says


@pytest.mark.parametrize(
    ("said", "reply"),
    [
        ('{"answer": 12.5, "cite": "rent 12.5", "text": "read it"}', Reply(12.5, "rent 12.5", "read it")),
        ('{"answer": null}', Reply(None, None, None)),
        ('{"answer": "Spain", "cite": ""}', Reply("Spain", None, None)),
        ('```json\n{"answer": 5, "cite": null}\n```', Reply(5.0, None, None)),
        ('Let me see.\n```json\n{"answer": 5}\n```\nDone.', Reply(5.0, None, "Let me see.\nDone.")),
        ('{"answer": 4} no wait {"answer": 5}', Reply(5.0, None, '{"answer": 4} no wait')),
        ('{"answer": 1, "text": "two\nlines"}', Reply(1.0, None, "two\nlines")),
        ('{"answer": 3, "cite": ["one", "two", 3]}', Reply(3.0, "one\ntwo", None)),
        ('{"answer": 3, "unit": "USD millions"}', Reply("3 USD millions", None, None)),
        ('I think of {x} and {"answer": 7}', Reply(7.0, None, "I think of {x} and")),
        ('<think>{"answer": 1}</think>\n{"answer": 2}', Reply(2.0, None, None)),
        ("It is $5 million.", Reply(UNSET, None, "It is $5 million.")),
        ('{"answer": 12', Reply(UNSET, None, '{"answer": 12')),
        ('{"answer": NaN}', Reply(UNSET, None, '{"answer": NaN}')),
        ('{"answer": 1e999}', Reply(UNSET, None, '{"answer": 1e999}')),
        ('{"answer": true}', Reply(UNSET, None, '{"answer": true}')),
        ('{"answer": {"value": 3}}', Reply(UNSET, None, '{"answer": {"value": 3}}')),
        ('{"result": 3}', Reply(UNSET, None, '{"result": 3}')),
    ],
)
def test_a_models_words_are_read_as_json_where_they_hold_it_and_kept_where_not(said: str, reply: Reply) -> None:
    assert read_reply(said) == reply
    assert read_completion(completion(said)) == reply


@given(st.text() | st.text(alphabet='{}[]":answer019,.\\n`<think>/ -'))
def test_whatever_a_model_says_is_a_reply_that_a_transcript_can_hold(
    tmp_path_factory: pytest.TempPathFactory, said: str
) -> None:
    transcript = Transcript(tmp_path_factory.mktemp("any") / "t")
    with transcript.open(["q"]):
        assert isinstance(transcript.append("q", read_reply(said)), (Reply, Failure))
    read_transcript(transcript.path.read_bytes(), "t", ["q"])


def test_a_hostile_text_is_read_in_no_time() -> None:
    began = time.monotonic()
    for said in ('{"answer":' * 10_000, "{" * 100_000, '{"a": "' + "{" * 90_000, "<think>" * 10_000, "```" * 30_000):
        read_reply(said)
    read_reply('{"answer": 1' + "0" * 5000 + "}")
    assert time.monotonic() - began < 3


# A command


def command(tmp_path: Path, body: str, patience: float = 10) -> Command:
    """A command in Python; `q` is a question, `n` its number, `say` writes a reply."""
    (tmp_path / "candidate.py").write_text(
        f"import json, sys, time, os\ndef say(**fields): print(json.dumps(fields), flush=True)\n{body}\n"
    )
    return Command(f"{sys.executable} candidate.py", tmp_path, patience)


IN_ORDER = """
for line in sys.stdin:
    q = json.loads(line)
    n = int(q["id"][1:])
    TROUBLE
    say(id=q["id"], answer=n + 0.5, cite=f"the passage of q{n}")
"""


def test_a_command_answers_in_any_order_and_sees_the_documents(tmp_path: Path, transcript: Transcript) -> None:
    candidate = command(
        tmp_path,
        "for q in [json.loads(line) for line in sys.stdin][::-1]:\n"
        "    say(id=q['id'], answer=None, text=q['kind'] + ''.join(q.get('documents', {}).values()))",
    )
    questions = [Question("a", "?", "money", ("x",)), Question("b", "?", "text")]
    assert sit(candidate, questions, {"x": "seen", "y": "unseen"}, transcript) == Sitting(2, stored=2)
    assert list(transcript.replies) == ["b", "a"]
    assert stored(transcript, questions) == {"a": Reply(None, None, "moneyseen"), "b": Reply(None, None, "text")}


@pytest.mark.parametrize(
    ("trouble", "patience", "error"),
    [
        ("if n == 3: time.sleep(60)", 2, "hung: no reply within 2 s"),
        ("if n == 3: raise ValueError('no such year')", 10, "crashed: exit status 1: ValueError: no such year"),
        ("if n == 3: os.kill(os.getpid(), 9)", 10, "crashed: killed by SIGKILL: said nothing"),
        (
            "if n == 3: say(id='q3', answer=[1]); continue",
            10,
            '"answer": must be a number, a text or null: {"id": "q3", "answer": [1]}',
        ),
        ("if n == 3: continue", 10, "the command ended without a reply to it"),
        (
            "if n == 3: print('oops'); continue",
            10,
            "the command ended without a reply to it; it wrote a line that is no reply: "
            "not JSON: Expecting value at line 1 column 1: oops",
        ),
    ],
)
def test_a_command_in_trouble_loses_one_question_and_answers_the_others(
    tmp_path: Path, transcript: Transcript, trouble: str, patience: float, error: str
) -> None:
    sitting = sit(command(tmp_path, IN_ORDER.replace("TROUBLE", trouble), patience), paper(8), {}, transcript)
    assert (sitting.stored, sitting.failed) == (7, 1)
    assert transcript.failures == {"q3": error}
    assert sit(command(tmp_path, IN_ORDER.replace("TROUBLE", "")), paper(8), {}, transcript).complete
    assert stored(transcript, paper(8)) == {f"q{number}": right(number) for number in range(8)}


def test_what_a_command_says_beside_its_replies_is_noted(tmp_path: Path, transcript: Transcript) -> None:
    trouble = "if n == 1: say(id='q0', answer=9); print('loading…'); say(id='zzz', answer=1)"
    sitting = sit(command(tmp_path, IN_ORDER.replace("TROUBLE", trouble)), paper(3), {}, transcript)
    assert sitting.complete and len(sitting.notes) == 3
    assert sitting.notes[0] == 'a second reply to "q0" was left aside'
    assert stored(transcript, paper(3))["q0"] == right(0)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("no-such-program --now", "no-such-program: cannot be started: No such file or directory"),
        ("/", "/: cannot be started: Permission denied"),
        (f"{sys.executable} -c 'import nowhere'", "without one reply: crashed: exit status 1: ModuleNotFoundError"),
    ],
)
def test_a_command_that_never_runs_is_one_clear_error(
    tmp_path: Path, transcript: Transcript, words: str, told: str
) -> None:
    with pytest.raises(CandidateError, match=re.escape(told)) as caught:
        sit(Command(words, tmp_path), paper(20), {}, transcript)
    assert "\n" not in str(caught.value) and len(transcript.failures) <= 1


def test_a_command_that_keeps_crashing_is_given_up_and_goes_on_at_the_next_sitting(
    tmp_path: Path, transcript: Transcript
) -> None:
    candidate = command(tmp_path, IN_ORDER.replace("TROUBLE", "if n % 2: sys.exit('odd')"))
    with pytest.raises(CandidateError, match="stopped for the 4th time: crashed: exit status 1: odd"):
        sit(candidate, paper(20), {}, transcript)
    assert list(transcript.failures) == ["q1", "q3", "q5", "q7"] and len(transcript.replies) == 4


def test_a_command_that_has_answered_everything_is_not_waited_for(tmp_path: Path, transcript: Transcript) -> None:
    began = time.monotonic()
    candidate = command(tmp_path, IN_ORDER.replace("TROUBLE", "") + "time.sleep(60)", patience=30)
    assert sit(candidate, paper(3), {}, transcript).complete
    assert time.monotonic() - began < 15


@pytest.mark.parametrize("words", ["", "'unclosed"])
def test_a_command_line_that_is_none_is_refused(tmp_path: Path, words: str) -> None:
    with pytest.raises(UnusableInputError):
        Command(words, tmp_path)


# A function


def test_a_function_is_a_candidate_and_what_it_raises_fails_one_question(transcript: Transcript) -> None:
    odd: list[Any] = [Reply(1.5), Reply(float("nan")), None, Reply(10**400), Reply(text="half \ud83d"), Reply(True)]

    def persona(question: Question) -> Reply:
        number = int(question.id[1:])
        return odd[number] if number < len(odd) else odd[99]  # type: ignore[no-any-return]

    sitting = sit(persona, paper(7), {}, transcript)
    assert (sitting.stored, sitting.failed) == (2, 5)
    assert transcript.failures["q1"] == 'a reply that is none: "answer": must be a finite number'
    assert transcript.failures["q2"] == "a NoneType is no reply"
    assert transcript.failures["q6"] == "IndexError: list index out of range"
    assert stored(transcript, paper(7))["q4"] == Reply(UNSET, None, "half \ufffd")


# A transcript


REPLIES = st.builds(
    Reply,
    st.none() | st.text() | st.floats(allow_nan=False, allow_infinity=False).map(lambda number: number or 0.0),
    st.none() | st.text(),
    st.none() | st.text(),
) | st.builds(Reply, st.just(UNSET), st.none() | st.text(), st.text())


@given(st.lists(REPLIES | st.builds(Failure, st.text()), max_size=8))
@settings(max_examples=50)
def test_what_is_appended_is_what_is_read(
    tmp_path_factory: pytest.TempPathFactory, outcomes: list[Reply | Failure]
) -> None:
    ids = [f"q{number}" for number in range(len(outcomes))]
    transcript = Transcript(tmp_path_factory.mktemp("law") / "t.jsonl")
    with transcript.open(ids):
        assert [transcript.append(name, outcome) for name, outcome in zip(ids, outcomes, strict=True)] == outcomes
    assert list(read_outcomes(transcript.path.read_bytes(), "t", ids).values()) == outcomes


def test_a_transcript_cut_at_any_byte_keeps_every_whole_line_and_is_resumed(tmp_path: Path) -> None:
    questions = paper(4)
    path = tmp_path / "t.jsonl"

    def answer(question: Question) -> Reply:
        asked.append(question.id)
        return Reply(1.0, "ein Übertrag", "€ 1")

    asked: list[str] = []
    sit(answer, questions, {}, Transcript(path))
    whole = path.read_bytes()
    for cut in range(len(whole)):
        path.write_bytes(whole[:cut])
        asked.clear()
        sitting = sit(answer, questions, {}, Transcript(path))
        # A last line that lacks its line break alone is whole.
        kept = whole[: cut + 1].count(b"\n")
        assert sitting == Sitting(4, before=kept, stored=4 - kept) and asked == [f"q{n}" for n in range(kept, 4)]
        assert path.read_bytes() == whole


def test_one_writer_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    with (
        Transcript(path).open(["q"]),
        pytest.raises(UnusableInputError, match="another sitting is writing this transcript"),
        Transcript(path).open(["q"]),
    ):
        pass
    with Transcript(path).open(["q"]):
        pass


def test_a_full_disk_is_one_clear_error_and_tears_nothing(tmp_path: Path) -> None:
    script = """if True:
        import resource, signal, sys
        from pathlib import Path
        from concordance.exam.candidates import *
        from concordance.exam.referee import Reply
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
        questions = [Question(f"q{n}", "?", "number") for n in range(9)]
        try:
            sit(lambda _: Reply(1.0), questions, {}, Transcript(Path(sys.argv[1])))
        except Exception as error:
            print(type(error).__name__, error)
    """
    path = tmp_path / "t.jsonl"
    command = [sys.executable, "-c", script, str(path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == f"UnusableInputError {path}: cannot be written: File too large\n"
    assert path.read_text() == "".join(f'{{"id":"q{n}","answer":1,"cite":null}}\n' for n in range(2))


@pytest.mark.skipif(os.name == "nt", reason="folders are read-only otherwise there")
def test_a_place_that_cannot_be_written_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UnusableInputError, match=r"cannot be written|another"):
        sit(lambda _: Reply(1.0), paper(1), {}, Transcript(tmp_path / "file" / "t.jsonl"))


GOOD = '{"id": "a", "answer": 1, "cite": null}'


@pytest.mark.parametrize(
    ("second", "told"),
    [
        ("{", "t.jsonl:2: not JSON"),
        ("[1]", "t.jsonl:2: is no object"),
        ("42", "t.jsonl:2: is no object"),
        ('{"id": "b", "answer": 1, "answer": 2}', 't.jsonl:2: the key "answer" comes twice'),
        ('{"id": "b", "answer": NaN}', 't.jsonl:2: "answer": NaN is not JSON'),
        ('{"id": "b", "text": "x", "answer": -Infinity}', 't.jsonl:2: "answer": -Infinity is not JSON'),
        ('{"id": "b", "answer": 1e999}', 't.jsonl:2: "answer": 1e999 is too large'),
        ('{"id": "b", "answer": true}', 't.jsonl:2: "answer": must be a number, a text or null'),
        ('{"id": "b", "answer": [1]}', 't.jsonl:2: "answer": must be a number, a text or null'),
        ('{"id": "b", "answer": 1, "cite": 7}', 't.jsonl:2: "cite": must be a text or null'),
        ('{"id": "b", "answer": 1, "text": {}}', 't.jsonl:2: "text": must be a text or null'),
        ('{"id": "b", "answer": 1, "error": "x"}', 't.jsonl:2: "error": stands beside a reply'),
        ('{"id": "b", "error": 5}', 't.jsonl:2: "error": must be a text'),
        ('{"id": "b"}', 't.jsonl:2: "answer": is missing, and so is "text"'),
        ('{"id": "b", "cite": "x", "text": null}', 't.jsonl:2: "answer": is missing, and so is "text"'),
        ('{"id": "b", "anwser": 1}', 't.jsonl:2: "anwser": is no field of a reply'),
        ('{"answer": 1}', 't.jsonl:2: "id": is missing'),
        ('{"id": 2, "answer": 1}', 't.jsonl:2: "id": must be a text'),
        ('{"id": "zebra", "answer": 1}', 't.jsonl:2: "id": the exam has no question "zebra"'),
        (GOOD, 't.jsonl:2: "id": the question "a" is answered on line 1 already'),
        ('{"id": "a", "error": "x"}', 't.jsonl:2: "id": the question "a" is answered on line 1 already'),
        ("\n", 't.jsonl: the question "b" has no line (a transcript has a line for every question)'),
        ('{"id": "b", "text": "\\ud83d"}', "t.jsonl:2: a text holds half of a surrogate pair"),
    ],
)
def test_a_transcript_that_is_none_is_refused_in_one_line_naming_line_and_field(second: str, told: str) -> None:
    with pytest.raises(UnusableInputError) as caught:
        read_transcript(f"{GOOD}\n{second}\n".encode(), "t.jsonl", ["a", "b"])
    assert str(caught.value).startswith(told) and "\n" not in str(caught.value) and caught.value.exit_status == 2


def test_bytes_that_are_no_text_are_refused_and_a_mark_of_byte_order_is_not() -> None:
    with pytest.raises(UnusableInputError, match=r"^t:1: not UTF-8"):
        read_transcript(b'{"id": "\xff"}', "t", ["a"])
    assert read_transcript(b"\xef\xbb\xbf" + GOOD.encode() + b"\r\n", "t", ["a"]) == {"a": Reply(1.0)}


def test_several_missing_replies_are_counted() -> None:
    with pytest.raises(UnusableInputError, match='the question "b" has no line, nor have 2 others'):
        read_transcript(GOOD.encode(), "t", ["a", "b", "c", "d"])


@given(st.binary(max_size=80) | st.text(alphabet='{}[]":,ab idanswertxc019.-\n', max_size=60).map(str.encode))
def test_any_content_is_read_or_refused_in_one_line(content: bytes) -> None:
    told = ""
    try:
        read_transcript(content, "t", ["a", "b"])
    except UnusableInputError as error:
        told = str(error)
    assert "\n" not in told


def test_a_transcript_of_another_exam_is_refused_before_anything_is_asked(transcript: Transcript) -> None:
    sit(lambda _: Reply(1.0), paper(3), {}, transcript)
    with pytest.raises(UnusableInputError, match='the exam has no question "q2"'):
        sit(never, paper(2), {}, Transcript(transcript.path))


@pytest.mark.parametrize(
    ("questions", "told"),
    [
        (paper(1) * 2, 'the question "q0" comes twice'),
        ([Question("a", "?", "text", ("gone",))], 'the question "a" needs the document gone'),
    ],
)
def test_a_paper_that_cannot_be_sat_is_refused_before_anything_is_asked(
    questions: list[Question], told: str, transcript: Transcript
) -> None:
    with pytest.raises(UnusableInputError, match=told):
        sit(never, questions, {}, transcript)
    assert not transcript.path.exists()


def never(_: Question) -> Reply:
    raise AssertionError("was asked")


def test_every_kind_of_candidate_is_one(tmp_path: Path) -> None:
    candidates: list[Candidate] = [Endpoint("http://127.0.0.1:9", "m"), Command("true", tmp_path), never]
    assert len(candidates) == 3
