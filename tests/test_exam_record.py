"""The record over time: what moved, both ways, and what else than the candidate changed."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

import pytest
from conftest import Run

from concordance.exam.folder import Exam
from concordance.exam.golden import Golden
from concordance.exam.record import compare, run_of, stale_negatives
from concordance.exam.referee import Evidence, Item, Needles, Reference, Reply

NOW = "2031-05-01T00:00:00Z"
MONTHS = {
    f"statement-{month:02d}": f"Month {month}\nEnding balance ${100 * month + 0.25:,.2f}\n" for month in range(1, 31)
}
ITEMS = tuple(
    Item(
        f"Q{month:02d}",
        f"What was the ending balance of month {month}, in dollars and cents?",
        "money",
        Reference(100 * month + 0.25, "usd"),
        evidence=(Evidence(f"statement-{month:02d}", text=f"Ending balance ${100 * month + 0.25:,.2f}"),),
        corpus="bank" if month % 2 else "savings",
    )
    for month in range(1, 31)
)


def exam(root: Path, items: tuple[Item, ...] = ITEMS, documents: Mapping[str, str] = MONTHS) -> Exam:
    names = tuple(documents)
    return Exam.create(
        root, Golden("Bank", items, documents, {i.id: names for i in items}, "made up", "none"), NOW, os.urandom
    )


def sat(made: Exam, name: str, answers: Mapping[str, float | None]) -> None:
    sitting = made.next_sitting(name)
    transcript = made.transcript(sitting)
    with transcript.open(list(answers)):
        for identifier, answer in answers.items():
            transcript.append(identifier, Reply(answer=answer))
    made.enter(sitting, NOW)
    made.grade(NOW)


def right(wrong: range | tuple[int, ...] = ()) -> dict[str, float | None]:
    return {f"Q{m:02d}": 100 * m + (1_000.25 if m in wrong else 0.25) for m in range(1, 31)}


def test_a_repair_that_fixes_two_and_breaks_eleven_is_shown_both_ways_and_fails(
    concordance: Run, tmp_path: Path
) -> None:
    made = exam(tmp_path / "exam")
    sat(made, "before", right(wrong=(1, 2)))
    sat(made, "after", right(wrong=range(10, 21)))
    done = concordance("exam", "compare", f"{made.root}/before.1", f"{made.root}/after.1")
    assert done.returncode == 1
    assert "fixed: 2 (Q01, Q02)" in done.stdout
    assert f"broken: 11 ({', '.join(f'Q{m}' for m in range(10, 21))})" in done.stdout
    assert "wrong money: 2 before, 11 after" in done.stdout
    back = concordance("exam", "compare", f"{made.root}/after.1", f"{made.root}/before.1", "--format", "json")
    assert json.loads(back.stdout)["ok"] is False  # two were broken that way


def test_fixing_without_breaking_passes(concordance: Run, tmp_path: Path) -> None:
    made = exam(tmp_path / "exam")
    sat(made, "before", right(wrong=(1, 2)))
    sat(made, "after", right(wrong=(2,)) | {"Q02": None})
    done = concordance("exam", "compare", f"{made.root}/before.1", f"{made.root}/after.1")
    assert (done.returncode, "Nothing got worse." in done.stdout) == (0, True)
    assert "newly abstained: 1 (Q02)" in done.stdout


def test_what_else_changed_is_kept_apart(tmp_path: Path) -> None:
    one, other = exam(tmp_path / "one"), exam(tmp_path / "other", documents=MONTHS | {"statement-01": "Scanned anew"})
    rekeyed = exam(tmp_path / "rekeyed", (Item("Q01", "What?", "money", Reference(7, "usd")), *ITEMS[1:]))
    for made in (one, other, rekeyed):
        sat(made, "me", right())
    runs = [run_of(made, "me.1") for made in (one, other, rekeyed)]
    assert compare(runs[0], runs[0]).changed == ()
    assert compare(runs[0], runs[1]).changed == ("corpus",)
    assert compare(runs[0], runs[2]).changed == ("key",)
    assert [move.id for move in compare(runs[0], runs[2]).moves] == ["Q01"]


def test_the_record_has_denominators_per_corpus(concordance: Run, tmp_path: Path) -> None:
    made = exam(tmp_path / "exam")
    sat(made, "me", right(wrong=(1, 2, 4)))
    done = concordance("exam", "record", str(made.root), "--k", "2")
    rows = {line.split()[2]: line.split()[3:] for line in done.stdout.splitlines()[2:]}
    assert rows == {"bank": ["14/15", "1/15", "+12"], "savings": ["13/15", "2/15", "+9"]}


def test_a_question_that_had_to_be_declined_and_can_now_be_answered_is_found(concordance: Run, tmp_path: Path) -> None:
    lacking = Item(
        "N1", "What was the ending balance of month 31?", "money", needles=Needles(all=("3,100.25",)), negative=True
    )
    before = exam(tmp_path / "before", (*ITEMS, lacking))
    assert stale_negatives(before) == []
    after = exam(tmp_path / "after", (*ITEMS, lacking), MONTHS | {"statement-31": "Ending balance $3,100.25"})
    assert stale_negatives(after) == ["N1"]
    assert "STALE" in concordance("exam", "record", str(after.root)).stdout


def test_the_gate_holds_a_candidate_to_the_bar(concordance: Run, tmp_path: Path) -> None:
    made = exam(tmp_path / "exam")
    sat(made, "careful", right() | dict.fromkeys([f"Q{m:02d}" for m in range(1, 21)]))
    sat(made, "bold", right(wrong=(30,)))
    careful = concordance("exam", "gate", str(made.root), "careful", "--zero-wrong-money")
    assert careful.returncode == 0, careful.stdout
    assert "of 30 money questions 10 answered, 20 declined, 0 confidently wrong" in careful.stdout
    bold = concordance("exam", "gate", str(made.root), "bold", "--zero-wrong-money", "--min-governed", "20")
    assert bold.returncode == 1
    assert "FAILS  bold.1 Q30: wrong money, 4000.25" in bold.stdout
    low = concordance("exam", "gate", str(made.root), "careful", "--min-governed", "0", "--k", "3")
    assert (low.returncode, "is below +0" in low.stdout) == (1, True)


@pytest.mark.parametrize(
    "arguments",
    [
        ["gate", "EXAM", "nobody", "--zero-wrong-money"],
        ["gate", "EXAM", "me"],
        ["compare", "EXAM/me.1", "EXAM/me.7"],
        ["compare", "nowhere/me.1", "EXAM/me.1"],
        ["record", "nowhere"],
        ["record", "EXAM", "--k", "0"],
    ],
)
def test_what_cannot_be_asked_is_one_clear_line(concordance: Run, tmp_path: Path, arguments: list[str]) -> None:
    made = exam(tmp_path / "EXAM")
    sat(made, "me", right())
    done = concordance("exam", *arguments, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "Traceback" not in done.stderr
