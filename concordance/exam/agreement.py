"""How far the referee agrees with people: FinanceBench's labelled answers, its numeric questions, a confusion table.

`measure` takes the folder of the benchmark's files (`financebench_open_source.jsonl`, `results/*.jsonl`), which are not
ours and are not shipped. A label is *disputed* by rule, never by name, and never by the figure that the referee chose:

- the reply states one value (its only figure, or the only value of its concluding statement), and that value lies
  within the published tolerance of the reference although it is called wrong, or outside although it is called correct;
- the same value, so stated, in answer to the same question is labelled the other way in another reply;
- every sentence of the reply declines although it is called an answer, or it states one value although it is called a
  refusal.

Each dispute comes with its reason. It bends no rule for any label, and knows no model.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, TypeAlias, cast

import msgspec

from concordance.errors import UnusableInputError
from concordance.exam.declines import Sentence, only_declines, refuses_plain, sentences
from concordance.exam.figures import Figure, operand, plain, read, read_plain
from concordance.exam.referee import Item, Outcome, Reference, Reply, Verdict, declines, judge

Label: TypeAlias = Literal["Correct Answer", "Incorrect Answer", "Refusal"]
OUTCOME_OF: Final[dict[str, Outcome]] = {"Correct Answer": "correct", "Incorrect Answer": "wrong", "Refusal": "abstain"}
QUESTIONS: Final = "financebench_open_source.jsonl"

_ONE_NUMBER: Final = re.compile(
    r"\s*[-−+]?\s*\$?\s*\(?\$?\s*[-−+]?[0-9][0-9,]*(?:\.[0-9]+)?\s*\)?\s*%?\s*(?:thousand|million|billion|trillion|k|mn?|bn?)?\s*",
    re.IGNORECASE,
)


class LabelledAnswer(msgspec.Struct, frozen=True):
    """One line of a result file: a model's answer to a question, and the label that people gave it."""

    financebench_id: str
    model_answer: str
    label: Label


@dataclass(frozen=True)
class Labelled:
    """A labelled answer to a numeric question, and what the referee made of it."""

    run: str
    item: Item
    answer: str
    label: Outcome
    verdict: Verdict
    dispute: str = ""

    @property
    def agrees(self) -> bool:
        return self.label == self.verdict.outcome


@dataclass(frozen=True)
class Declining:
    """A labelled answer to any question: whether people called it a refusal, and whether it reads as a decline."""

    run: str
    id: str
    refusal: bool
    declined: bool
    dispute: str = ""


@dataclass(frozen=True)
class Agreement:
    """The measurement: every label of the numeric questions, and the declines of all questions."""

    labelled: tuple[Labelled, ...]
    declining: tuple[Declining, ...]

    @property
    def confusion(self) -> Counter[tuple[Outcome, Outcome]]:
        """How many labels (first) got which outcome (second)."""
        return Counter((one.label, one.verdict.outcome) for one in self.labelled)

    @property
    def disputed(self) -> tuple[Labelled, ...]:
        return tuple(one for one in self.labelled if one.dispute)

    @property
    def disagreements(self) -> tuple[Labelled, ...]:
        return tuple(one for one in self.labelled if not one.agrees)

    @property
    def overall(self) -> float:
        """The share of all labels that the referee agrees with."""
        return _share([one.agrees for one in self.labelled])

    @property
    def undisputed(self) -> float:
        """The same of the labels that are not disputed."""
        return _share([one.agrees for one in self.labelled if not one.dispute])

    @property
    def recall(self) -> float:
        """The share of refusals that are heard as declines."""
        return _share([one.declined for one in self.declining if one.refusal])

    @property
    def false_declines(self) -> tuple[Declining, ...]:
        """The answers that are heard as declines, disputed ones among them."""
        return tuple(one for one in self.declining if one.declined and not one.refusal)

    @property
    def false_decline_rate(self) -> float:
        """Their share of all that people called answers."""
        return 1 - _share([not one.declined for one in self.declining if not one.refusal])

    @property
    def undisputed_false_decline_rate(self) -> float:
        """The same without the replies of which every sentence declines."""
        return 1 - _share([not one.declined for one in self.declining if not one.refusal and not one.dispute])

    def by_run(self) -> dict[str, Agreement]:
        """The same for each result file by itself, disputes as they stand among all of them."""
        return {
            run: Agreement(
                tuple(one for one in self.labelled if one.run == run),
                tuple(one for one in self.declining if one.run == run),
            )
            for run in sorted({one.run for one in self.declining})
        }


def _share(agreed: Sequence[bool]) -> float:
    return sum(agreed) / len(agreed) if agreed else 1.0


def numeric_items(questions: Path) -> list[Item]:
    """The questions whose answer is one number and nothing else but a sign, $, %, grouping or a scale word."""
    items = []
    for line in _lines(questions):
        record = cast("Mapping[str, Any]", msgspec.json.decode(line))
        item = numeric_item(str(record["financebench_id"]), str(record["question"]), str(record["answer"]))
        if item is not None:
            items.append(item)
    return items


def numeric_item(name: str, question: str, answer: str) -> Item | None:
    """The item of a question whose answer is one number, or None. Unit by the answer, scale by the question."""
    if not _ONE_NUMBER.fullmatch(answer):
        return None
    figure = next((figure for figure in read(answer) if figure.role in ("amount", "year")), None)
    if figure is None:
        return None
    kind: Literal["money", "percent", "number"] = (
        "percent" if figure.unit == "percent" else "money" if _is_money(figure, question) else "number"
    )
    unit = {"percent": "percent", "money": "usd", "number": ""}[kind]
    return Item(
        id=name,
        question=question,
        kind=kind,
        reference=Reference(float(figure.value if figure.scaled else figure.number), unit),
        corpus="financebench",
    )


def _is_money(figure: Figure, question: str) -> bool:
    return figure.unit == "money" or re.search(r"\bUSD\b|\bdollars?\b|\$", question) is not None


def measure(folder: Path, runs: Iterable[str] | None = None) -> Agreement:
    """Run the referee over a folder's labelled result files, or over those of them that are named."""
    items = {item.id: item for item in numeric_items(folder / QUESTIONS)}
    wanted = None if runs is None else set(runs)
    files = [path for path in sorted((folder / "results").glob("*.jsonl")) if wanted is None or path.stem in wanted]
    if not files:
        raise UnusableInputError("holds no labelled result files", where=str(folder / "results"))
    labelled: list[Labelled] = []
    declining: list[Declining] = []
    for path in files:
        for line in _lines(path):
            answer = msgspec.json.decode(line, type=LabelledAnswer)
            refusal = answer.label == "Refusal"
            mute = "" if refusal or not only_declines(answer.model_answer) else "called an answer, and only declines"
            declining.append(Declining(path.stem, answer.financebench_id, refusal, declines(answer.model_answer), mute))
            if item := items.get(answer.financebench_id):
                verdict = judge(item, Reply(text=answer.model_answer))
                labelled.append(Labelled(path.stem, item, answer.model_answer, OUTCOME_OF[answer.label], verdict, mute))
    return Agreement(_with_disputes(labelled), tuple(declining))


def _lines(path: Path) -> list[bytes]:
    try:
        return [line for line in path.read_bytes().splitlines() if line.strip()]
    except OSError as error:
        raise UnusableInputError(f"cannot be read: {error.strerror}", where=str(path)) from None


class _Stated(NamedTuple):
    """The one value that a reply states, and how it prints it."""

    value: Decimal
    printed: str


def _with_disputes(labelled: Sequence[Labelled]) -> tuple[Labelled, ...]:
    """Mark the labels that contradict the published tolerance or each other."""
    values = [_stated(one.answer) for one in labelled]
    called: dict[tuple[str, Decimal], dict[Outcome, str]] = defaultdict(dict)
    for one, stated in zip(labelled, values, strict=True):
        if stated:
            called[one.item.id, stated.value].setdefault(one.label, one.run)
    return tuple(
        replace(one, dispute=_dispute(one, stated, called[one.item.id, stated.value])) if stated else one
        for one, stated in zip(labelled, values, strict=True)
    )


def _dispute(one: Labelled, stated: _Stated, called: Mapping[Outcome, str]) -> str:
    """Why the label of a reply that states one value cannot stand, or nothing."""
    assert one.item.reference is not None
    if one.label == "abstain":
        return f"called a refusal, and states {stated.printed}"
    verdict = judge(one.item, Reply(text=stated.printed))
    if verdict.outcome != one.label:
        side = "within" if verdict.outcome == "correct" else "not within"
        target = f"{verdict.allowed} of {one.item.reference.value:g}"
        return f"called {one.label}, and {stated.printed} is {side} {target}"
    other: Outcome = "wrong" if one.label == "correct" else "correct"
    if other in called:
        return f"{stated.printed} is called {one.label} here and {other} in {called[other]}"
    return ""


def _stated(answer: str) -> _Stated | None:
    """The only value of a reply that refuses nothing, or of its last conclusion, if that refuses nothing; else None."""
    text = plain(answer).text
    figures = [figure for figure in read_plain(text) if figure.role == "amount" and not operand(text, figure)]
    if not figures:
        return None
    spoken = next(part for part in sentences(text) if part.holds(figures[-1].start))
    if spoken.concludes:
        figures = [figure for figure in figures if spoken.holds(figure.start)]
    else:
        spoken = Sentence(text, 0)
    if refuses_plain(spoken.text):
        return None
    values = {_comparable(figure) for figure in figures}
    return _Stated(values.pop(), text[figures[0].start : figures[0].end]) if len(values) == 1 else None


def _comparable(figure: Figure) -> Decimal:
    """Its value as a plain number, so that 0.85 and 85 % are one."""
    return figure.value / {"percent": 100, "bps": 10_000}.get(figure.unit, 1)
