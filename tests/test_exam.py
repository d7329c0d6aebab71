"""An exam from sealing to sign-off, by its commands: the demo's figures, tampering, replay, and what is refused."""

from __future__ import annotations

import json
import shutil
import sqlite3
from pathlib import Path

import pytest
from conftest import Run

from concordance.exam.folder import Exam

KNOWN = "cite-or-abstain.1"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the demo's exam, signed at every step, and its keys."""
    import subprocess
    import sys

    root = tmp_path_factory.mktemp("exam")

    def run(*arguments: str) -> None:
        subprocess.run([sys.executable, "-m", "concordance", "exam", *arguments], cwd=root, check=True)

    run("key", "risk.pem")
    run("new", "demo", "--count", "30", "--numeric", "--secret-seed", "a seed that nobody guesses", "--key", "risk.pem")
    run("personas", "demo", "--key", "risk.pem")
    run("grade", "demo", "--key", "risk.pem")
    run("sign", "demo", "--owner", "ada", "--k", "3", "--key", "risk.pem")
    return root


@pytest.fixture
def demo(made: Path, tmp_path: Path) -> Path:
    """A copy that a test may tamper with."""
    return Path(shutil.copytree(made, tmp_path / "copy")) / "demo"


def test_the_demos_figures_come_out_of_the_referee(concordance: Run, demo: Path) -> None:
    board = json.loads(concordance("exam", "board", str(demo), "--k", "3", "--format", "json").stdout)
    counts = {s["candidate"]: (s["correct"], s["abstain"], s["wrong"]) for s in board["standings"]}
    assert counts["confident-guesser"] == (19, 0, 11)
    assert counts["cite-or-abstain"] == (10, 19, 1)
    copilot = next(s for s in board["standings"] if s["candidate"] == "ungoverned-copilot")
    assert (copilot["correct"] + copilot["wrong"], copilot["citations"]["rejected"]) == (28, 3)
    cross = {(c["bold"], c["cautious"]): c["k"] for c in board["crossovers"]}
    assert cross["confident-guesser", "cite-or-abstain"] == 3
    assert all(s["scripted"] for s in board["standings"])


def test_the_ranking_turns_at_the_crossover(concordance: Run, demo: Path) -> None:
    first = [concordance("exam", "board", str(demo), "--k", k).stdout.split("\n1. ")[1] for k in ("1", "3")]
    assert first[0].startswith("confident-guesser (scripted): governed score +8")
    assert first[1].startswith("cite-or-abstain (scripted): governed score -12")
    shown = concordance("exam", "board", str(demo), "--k", "3").stdout
    assert "19 abstained × -1 = -19" in shown
    assert "Answer only if surer than 50%." in shown
    assert "95 % Wilson intervals" in shown


def test_the_same_on_financebench(concordance: Run, shared_data: Path, tmp_path: Path) -> None:
    source = shared_data / "financebench" / "financebench_open_source.jsonl"
    made = concordance("exam", "import", "financebench", str(source), str(tmp_path / "fb"))
    assert "30 questions, sealed" in made.stdout
    assert "CC-BY-NC-4.0" in made.stdout
    assert concordance("exam", "personas", str(tmp_path / "fb")).returncode == 0
    concordance("exam", "grade", str(tmp_path / "fb"))
    board = json.loads(concordance("exam", "board", str(tmp_path / "fb"), "--format", "json").stdout)
    counts = {s["candidate"]: (s["correct"], s["abstain"], s["wrong"]) for s in board["standings"]}
    assert (counts["confident-guesser"], counts["cite-or-abstain"]) == ((19, 0, 11), (10, 19, 1))


def test_all_is_well_until_something_is_touched(concordance: Run, demo: Path) -> None:
    public = demo.parent / "risk.pem.pub"
    done = concordance("exam", "verify", str(demo), "--trust", str(public))
    assert done.stdout == "8 rows, one chain; nothing was changed\n"
    assert concordance("exam", "replay", str(demo)).stdout.startswith("3 sittings judged anew: the same verdicts")


@pytest.mark.parametrize(
    ("name", "old", "new", "says"),
    [
        (f"transcripts/{KNOWN}.jsonl", "null", "   1", f"transcripts/{KNOWN}.jsonl: is not the transcript"),
        (f"results/{KNOWN}.json", '"correct":10', '"correct":11', f"results/{KNOWN}.json: is not the result"),
        ("key.jsonl", '"value":', '"value":1', "key.jsonl: the key is not the one that was sealed"),
        ("paper.jsonl", "months", "weeks", "paper.jsonl: is not the paper that was sealed"),
    ],
)
def test_a_changed_file_is_named(concordance: Run, demo: Path, name: str, old: str, new: str, says: str) -> None:
    path = demo / name
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    done = concordance("exam", "verify", str(demo))
    assert done.returncode == 1
    assert says in done.stdout


def test_a_changed_document_is_named(concordance: Run, demo: Path) -> None:
    path = sorted((demo / "documents").glob("*.txt"))[0]
    path.write_text(path.read_text() + " ")
    done = concordance("exam", "verify", str(demo))
    assert (done.returncode, done.stdout.count("BROKEN")) == (1, 1)
    assert path.name in done.stdout


def test_a_tampered_score_breaks_exactly_its_row(concordance: Run, demo: Path) -> None:
    with sqlite3.connect(demo / "ledger.sqlite") as database:
        number, line = database.execute("SELECT number, line FROM row WHERE line LIKE '%\"grading\"%'").fetchone()
        text = line if isinstance(line, str) else line.decode()
        database.execute("UPDATE row SET line = ? WHERE number = ?", (text.replace('"wrong":', '"wrong":1'), number))
    done = concordance("exam", "verify", str(demo))
    assert done.returncode == 1
    assert f"row {number} " in done.stdout
    assert done.stdout.count("BROKEN") == 1


def test_an_exported_ledger_is_verified_anywhere(concordance: Run, demo: Path, tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    assert concordance("exam", "export", str(demo), "-o", str(path)).returncode == 0
    assert concordance("exam", "verify", str(path)).returncode == 0
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:-2] + lines[-1:]))
    done = concordance("exam", "verify", str(path))
    assert (done.returncode, "row 8" in done.stdout) == (1, True)


def test_a_head_kept_elsewhere_reveals_a_rebuilt_ledger(concordance: Run, demo: Path) -> None:
    head = str(Exam.open(demo).ledger.head())
    (demo / "ledger.sqlite").unlink()
    rebuilt = Exam.open(demo)
    rebuilt.ledger.append("seal", {"root": "00"}, "2026-01-01T00:00:00Z")
    done = concordance("exam", "verify", str(demo), "--head", head)
    assert done.returncode == 1


def test_no_answer_is_shown_before_the_replies_are_stored(concordance: Run, tmp_path: Path) -> None:
    root = tmp_path / "fresh"
    said = concordance("exam", "new", str(root), "--count", "12", "--secret-seed", "another seed to keep").stdout
    key = [json.loads(line) for line in (root / "key.jsonl").read_text().splitlines()]
    for arguments in (
        ["grade", str(root)],
        ["board", str(root)],
        ["verify", str(root)],
        ["replay", str(root)],
        ["export", str(root)],
        ["worksheet", str(root), "me.1", key[0]["item"]["id"]],
        ["sign", str(root), "--owner", "ada", "--k", "2"],
    ):
        done = concordance("exam", *arguments)
        said += done.stdout + done.stderr
    said += (root / "paper.jsonl").read_text()
    for line in key:
        if (reference := line["item"].get("reference")) and len(str(reference["value"])) > 5:
            assert str(reference["value"]) not in said
        assert line["salt"] not in said
    assert (root / "key.jsonl").stat().st_mode & 0o077 == 0


def test_repeated_sittings_show_their_spread(concordance: Run, tmp_path: Path) -> None:
    root = tmp_path / "exam"
    concordance("exam", "new", str(root), "--count", "6", "--secret-seed", "seed of the spread")
    questions = [json.loads(line) for line in (root / "paper.jsonl").read_text().splitlines()]
    key = {each["item"]["id"]: each["item"] for each in map(json.loads, (root / "key.jsonl").read_text().splitlines())}
    for right in range(5):
        replies = []
        for place, question in enumerate(questions):
            item = key[question["id"]]
            known = item["reference"]["value"] if item.get("reference") else None
            replies.append({"id": question["id"], "answer": known if place < right else None, "cite": None})
        path = tmp_path / "replies.jsonl"
        path.write_text("".join(f"{json.dumps(reply)}\n" for reply in replies))
        assert concordance("exam", "sit", str(root), "me", "--transcript", str(path)).returncode == 0
    concordance("exam", "grade", str(root))
    (standing,) = json.loads(concordance("exam", "board", str(root), "--format", "json").stdout)["standings"]
    low, high, _, deviation = standing["spread"]
    assert (standing["sittings"], low < high, deviation > 0) == (5, True, True)
    assert "5 sittings: " in concordance("exam", "board", str(root)).stdout


def test_a_command_sits_the_exam(concordance: Run, tmp_path: Path) -> None:
    root = tmp_path / "exam"
    concordance("exam", "new", str(root), "--count", "5", "--secret-seed", "seed of the command")
    (tmp_path / "answer.py").write_text(
        "import json, sys\n"
        "for line in sys.stdin:\n"
        "    print(json.dumps({'id': json.loads(line)['id'], 'answer': None, 'cite': None}), flush=True)\n"
    )
    done = concordance("exam", "sit", str(root), "mine", "--command", "python3 answer.py", cwd=tmp_path)
    assert done.stdout == "mine.1: 5 replies stored and entered\n", done.stderr
    assert concordance("exam", "grade", str(root)).returncode == 0


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        ([], "Q001"),
        ([{"id": "Q001", "answer": 1, "cite": None}], "Q002"),
        ([{"id": "Q001", "answer": 1, "cite": None}] * 2, ":2"),
        ([{"id": "nobody", "answer": 1, "cite": None}], "nobody"),
        ([{"id": "Q001", "answer": [1], "cite": None}], "answer"),
    ],
)
def test_a_transcript_that_cannot_be_used_is_one_line_and_writes_nothing(
    concordance: Run, tmp_path: Path, lines: list[object], says: str
) -> None:
    root = tmp_path / "exam"
    concordance("exam", "new", str(root), "--count", "5", "--secret-seed", "seed of bad transcripts")
    before = sorted(path.name for path in root.rglob("*"))
    path = tmp_path / "replies.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    done = concordance("exam", "sit", str(root), "me", "--transcript", str(path))
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert says in done.stderr
    assert sorted(path.name for path in root.rglob("*")) == before


@pytest.mark.parametrize(
    "arguments",
    [
        ["board", "DEMO", "--k", "0"],
        ["board", "DEMO", "--k", "11"],
        ["board", "DEMO", "--k", "two"],
        ["sign", "DEMO", "--owner", " ", "--k", "2"],
        ["sign", "DEMO", "--owner", "ada", "--k", "2", "--key", "risk.pem.pub"],
        ["new", "DEMO"],
        ["new", "other", "--count", "0"],
        ["import", "lines", "empty.jsonl", "other"],
        ["board", "nowhere"],
        ["sit", "DEMO", "../me", "--transcript", "empty.jsonl"],
        ["verify", "empty.jsonl"],
    ],
)
def test_what_cannot_be_used_is_refused_and_nothing_is_written(
    concordance: Run, demo: Path, arguments: list[str]
) -> None:
    (demo.parent / "empty.jsonl").write_text("")
    before = {path: path.stat().st_mtime_ns for path in demo.parent.rglob("*")}
    done = concordance("exam", *("demo" if a == "DEMO" else a for a in arguments), cwd=demo.parent)
    assert done.returncode in (1, 2)
    assert "Traceback" not in done.stderr
    assert {path: path.stat().st_mtime_ns for path in demo.parent.rglob("*")} == before


def test_the_confusion_table_is_printed(concordance: Run, shared_data: Path) -> None:
    done = concordance("exam", "agreement", str(shared_data / "financebench"), timeout=300)
    assert "people's label" in done.stdout
    data = json.loads(
        concordance("exam", "agreement", str(shared_data / "financebench"), "--format", "json", timeout=300).stdout
    )
    assert data["labels"] == 416
    assert data["agreement"] >= 0.95
    assert data["undisputedAgreement"] >= 0.985
    assert all(each["why"] for each in data["disputed"])
