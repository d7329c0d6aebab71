"""The record: how a candidate fared, per corpus, with denominators, and what moved between two runs.

A run is one graded sitting with the digests of what it was graded by. Two runs differ in the candidate alone only if
key, corpus and grader are the same; which of them is not is said beside every comparison. A repair is judged on the
whole set: each question that moved is listed, both ways. It judges nothing itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Literal, TypeAlias

import msgspec

from concordance.errors import UnusableInputError
from concordance.exam.folder import Exam, Result, Sitting
from concordance.exam.grounding import standing
from concordance.exam.money import money_reason, violations
from concordance.exam.referee import Item, Outcome, Reply
from concordance.numbers import canonical_json, sha256_hex

Moved: TypeAlias = Literal["fixed", "broken", "newly abstained", "newly answered wrong"]

_FIXED: Final[Moved] = "fixed"
_HOW: Final[Mapping[tuple[Outcome, Outcome], Moved]] = {
    ("wrong", "correct"): _FIXED,
    ("abstain", "correct"): _FIXED,
    ("correct", "wrong"): "broken",
    ("correct", "abstain"): "broken",
    ("wrong", "abstain"): "newly abstained",
    ("abstain", "wrong"): "newly answered wrong",
}


class Corpus(msgspec.Struct, frozen=True, rename="camel"):
    """One corpus in one run: all counts are of its questions."""

    questions: int
    correct: int
    abstain: int
    wrong: int
    money_questions: int
    wrong_money: int


class Run(msgspec.Struct, frozen=True, rename="camel"):
    """One graded sitting, and the digests of what it was graded by."""

    sitting: str
    graded: str
    key: str
    corpus: str
    grader: str
    corpora: dict[str, Corpus]
    outcomes: dict[str, Outcome]
    wrong_money: tuple[str, ...]
    scripted: bool = False


class Move(msgspec.Struct, frozen=True):
    """A question whose outcome is another than before."""

    id: str
    before: Outcome
    after: Outcome
    how: Moved


class Comparison(msgspec.Struct, frozen=True, rename="camel"):
    """What moved from one run to another. `changed` says what else than the candidate is not the same."""

    before: str
    after: str
    changed: tuple[str, ...]
    moves: tuple[Move, ...]
    not_in_both: tuple[str, ...]
    wrong_money_before: int
    wrong_money_after: int
    new_wrong_money: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing got worse: no question broken or newly wrong, and no new wrong money."""
        return all(move.how in (_FIXED, "newly abstained") for move in self.moves) and not self.new_wrong_money


def runs(exam: Exam) -> list[Run]:
    """Every graded sitting of an exam, in the order in which they were graded."""
    times = [(row.time, row.payload) for row in exam.ledger.rows() if row.kind == "grading"]
    results = {(result.candidate, result.sitting): result for result in exam.results()}
    found = []
    for time, payload in times:
        result = results[payload["candidate"], int(payload["sitting"])]
        found.append(_run(exam, result, time, int(payload["rules"])))
    return found


def run_of(exam: Exam, sitting: str) -> Run:
    """The run of a sitting such as `copilot.2`. Raises `UnusableInputError` if it was not graded."""
    all_runs = runs(exam)
    for each in all_runs:
        if each.sitting == sitting:
            return each
    known = ", ".join(each.sitting for each in all_runs) or "none yet"
    raise UnusableInputError(f"{sitting} was not graded", where=str(exam.root), hint=f"graded: {known}")


def compare(before: Run, after: Run) -> Comparison:
    """Every question that moved, both ways, and whether anything got worse."""
    shared = [name for name in before.outcomes if name in after.outcomes]
    moves = [
        Move(name, before.outcomes[name], after.outcomes[name], _HOW[before.outcomes[name], after.outcomes[name]])
        for name in shared
        if before.outcomes[name] != after.outcomes[name]
    ]
    return Comparison(
        before=before.sitting,
        after=after.sitting,
        changed=tuple(what for what in ("key", "corpus", "grader") if getattr(before, what) != getattr(after, what)),
        moves=tuple(moves),
        not_in_both=tuple(sorted(before.outcomes.keys() ^ after.outcomes.keys())),
        wrong_money_before=len(before.wrong_money),
        wrong_money_after=len(after.wrong_money),
        new_wrong_money=tuple(name for name in after.wrong_money if name not in before.wrong_money),
    )


def stale_negatives(exam: Exam) -> list[str]:
    """Questions that must be declined and that the documents can now answer: their figure stands in them.

    The figure is that of the item's reference, needles or expectation, which say what was lacking when it was written.
    """
    given = {question.id: question.documents for question in exam.questions}
    found = []
    for item in exam.items:
        names = given.get(item.id) or tuple(exam.documents)
        documents = {name: exam.documents[name] for name in names if name in exam.documents}
        if item.negative and any(standing(reply, documents) for reply in _lacking(item)):
            found.append(item.id)
    return found


def _lacking(item: Item) -> Iterator[Reply]:
    """What would answer a question that could not be answered."""
    if item.reference is not None:
        yield Reply(answer=item.reference.value)
    for text in (*item.needles.all, *item.needles.any, *([item.expected] if item.expected else [])):
        yield Reply(answer=text)


def _run(exam: Exam, result: Result, time: str, rules: int) -> Run:
    replies = exam.replies(Sitting(result.candidate, result.sitting))
    wrong_money = tuple(each.id for each in violations(exam.items, result.verdicts, replies))
    return Run(
        sitting=f"{result.candidate}.{result.sitting}",
        graded=time,
        key=sha256_hex(canonical_json([msgspec.to_builtins(item) for item in exam.items])),
        corpus=sha256_hex(canonical_json(dict(exam.documents))),
        grader=f"rules {rules}",
        corpora=_corpora(exam.items, result, wrong_money),
        outcomes={name: verdict.outcome for name, verdict in result.verdicts.items()},
        wrong_money=wrong_money,
        scripted=result.scripted,
    )


def _corpora(items: Sequence[Item], result: Result, wrong_money: Sequence[str]) -> dict[str, Corpus]:
    found: dict[str, list[Item]] = {}
    for item in items:
        found.setdefault(item.corpus or "all", []).append(item)
    return {name: _corpus(each, result, wrong_money) for name, each in found.items()}


def _corpus(items: Sequence[Item], result: Result, wrong_money: Sequence[str]) -> Corpus:
    outcomes = Counter(result.verdicts[item.id].outcome for item in items)
    return Corpus(
        questions=len(items),
        correct=outcomes["correct"],
        abstain=outcomes["abstain"],
        wrong=outcomes["wrong"],
        money_questions=sum(bool(money_reason(item)) for item in items),
        wrong_money=sum(item.id in wrong_money for item in items),
    )


def record_lines(found: Sequence[Run], k: int) -> list[tuple[str, ...]]:
    """The record's rows: when, who, which corpus, accuracy and wrong money with their denominators, governed score."""
    rows: list[tuple[str, ...]] = []
    for run in found:
        for name, each in run.corpora.items():
            score = each.correct - each.abstain - k * each.wrong
            rows.append(
                (
                    run.graded,
                    run.sitting + (" (scripted)" if run.scripted else ""),
                    name,
                    f"{each.correct}/{each.questions}",
                    f"{each.wrong_money}/{each.money_questions}",
                    f"{score:+d}",
                )
            )
    return rows
