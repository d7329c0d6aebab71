"""What the exam's pages say: the board, the ledger and the worksheets of an exam, as HTML.

Reads an exam and renders it. No rule is here: scores are `board`'s, verdicts the referee's, faults the ledger's. The
script in `static/exam.js` only moves what is on the page already, and asks the server for the rest.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import astuple
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from msgspec import UNSET

from concordance import __version__
from concordance.errors import UnusableInputError
from concordance.exam.board import board
from concordance.exam.chain import Row
from concordance.exam.example import SEED
from concordance.exam.folder import Exam, Result, total
from concordance.exam.money import MoneyBar, bar, violations
from concordance.exam.referee import CITATION_SHARE, Item
from concordance.exam.score import K_RANGE, Interval, break_even, governed, spread
from concordance.report import harmless
from concordance.server.charts import COLOURS, across, record_chart, score_chart
from concordance.server.pages import templates

PER_PAGE: Final = 100
"""So many questions are listed on one page."""

_MOST_ROWS: Final = 200
"""So many of the ledger's last rows are shown one by one."""

_DISCLAIMER: Final = "A deterministic referee judges every answer; no model grades a model. No financial advice."


class Shown(NamedTuple):
    """What an exam's page is made of, apart from the folder."""

    example: bool
    folder: str
    keyed: bool
    """Whether a sign-off is signed with a key."""
    k: int
    first: int = 1
    """The number of the first question listed."""


@cache
def script() -> bytes:
    """The pages' script."""
    return (Path(__file__).resolve().parent.parent / "static" / "exam.js").read_bytes()


def exam_page(exam: Exam, shown: Shown) -> tuple[str, bool]:
    """The exam's page, and whether the exam is as its ledger says; if it is not, the page says where, and no more."""
    faults = exam.verify()
    if faults:
        return _render("exam_broken.html.j2", faults=faults, shown=shown, title=exam.about.title), False
    standings, rows = exam.standings(), list(exam.ledger.rows())
    tallies = {name: total(results) for name, results in standings.items()}
    ranked = board(exam.about.title, standings, shown.k)
    money = money_bars(exam)
    crossings = sorted(ranked.crossovers, key=lambda each: Fraction(each.exact))
    words = {row.number: _words(row) for row in rows}
    page = _render(
        "exam.html.j2",
        shown=shown,
        seed=SEED,
        about=exam.about,
        board=ranked,
        crossings=crossings,
        money=_money(standings, money),
        data=json.dumps({name: [*astuple(tally)] for name, tally in tallies.items()}),
        spreads={name: [_spread(results, k) for k in K_RANGE] for name, results in standings.items()},
        style={name: place % COLOURS for place, name in enumerate(sorted(tallies))},
        interval=_interval,
        share=_share,
        ks=K_RANGE,
        break_evens={k: break_even(k) for k in K_RANGE},
        scores={name: [governed(tally, k) for k in K_RANGE] for name, tally in sorted(tallies.items())},
        chart=score_chart(tallies, crossings) if tallies else None,
        across=across,
        colours=COLOURS,
        record=record_chart(rows, words),
        rows=rows[-_MOST_ROWS:],
        words=words,
        head=exam.ledger.head(),
        signed=[row for row in rows if row.kind == "sign-off"],
        questions=_questions(exam, standings, shown.first, money),
        sittings=[result for results in standings.values() for result in results],
        pages=range(1, len(exam.questions) + 1, PER_PAGE),
        per_page=PER_PAGE,
    )
    return page, True


def worksheet_page(exam: Exam, shown: Shown, sitting: str, question: str) -> str | None:
    """How one reply of a graded sitting was judged; None if there is no such sitting, or no such question."""
    results = {f"{result.candidate}.{result.sitting}": result for result in exam.results()}
    item = next((item for item in exam.items if item.id == question), None)
    if sitting not in results or item is None:
        return None
    result = results[sitting]
    entered = next(each for each in exam.entered() if each.file == sitting)
    reply = exam.replies(entered)[question]
    ids = [each.id for each in exam.questions]
    place = ids.index(question)
    return _render(
        "worksheet.html.j2",
        shown=shown,
        title=exam.about.title,
        sitting=sitting,
        result=result,
        item=item,
        reply=reply,
        verdict=result.verdicts[question],
        right=_right(item),
        commitment=exam.commitments[question],
        needed=CITATION_SHARE,
        before=ids[place - 1] if place else None,
        after=ids[place + 1] if place + 1 < len(ids) else None,
        wrong_money=next(iter(violations([item], result.verdicts, {question: reply})), None),
        answered=None if reply.answer in (None, UNSET) else str(reply.answer),
        others=[(name, other.verdicts[question].outcome) for name, other in results.items() if name != sitting],
    )


def missing_example_page(error: UnusableInputError, shown: Shown) -> str:
    """What is said where not even the example can be made."""
    return _render("exam_broken.html.j2", faults=[error.what], shown=shown, title="The example exam")


def _render(template: str, **values: Any) -> str:
    page = templates().get_template(template).render(version=__version__, disclaimer=_DISCLAIMER, **values)
    return harmless(page)


def _spread(results: Sequence[Result], k: int) -> str:
    """How far the sittings lie apart at a price, nothing for a single one."""
    if len(results) < 2:
        return ""
    found = spread([result.tally for result in results], k)
    text = f": {found.lowest:+d} to {found.highest:+d}, mean {float(found.mean):+.1f}, deviation {found.deviation:.1f}"
    return text.replace("-", "−")


def _interval(interval: Interval) -> str:
    return f"{100 * interval.low:.0f}–{100 * interval.high:.0f}\N{NO-BREAK SPACE}%"


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.0%}".replace("%", " %") if whole else "none"


def money_bars(exam: Exam) -> dict[str, MoneyBar]:
    """The bar of zero wrong money of every graded sitting, by the sitting's name."""
    files = {each.file: each for each in exam.entered()}
    graded = {f"{result.candidate}.{result.sitting}": result for result in exam.results()}
    return {name: bar(exam.items, result.verdicts, exam.replies(files[name])) for name, result in graded.items()}


class _Money(NamedTuple):
    """The bar of all of a candidate's sittings together."""

    questions: int
    answered: int
    declined: int
    violations: int


def _money(standings: Mapping[str, Sequence[Result]], bars: Mapping[str, MoneyBar]) -> dict[str, _Money]:
    found = {}
    for name, results in standings.items():
        each = [bars[f"{name}.{result.sitting}"] for result in results]
        counts = [(one.questions, one.answered, one.declined, len(one.violations)) for one in each]
        found[name] = _Money(*map(sum, zip(*counts, strict=True)))
    return found


class _Outcome(NamedTuple):
    sitting: str
    outcome: str
    wrong_money: bool


class _Listed(NamedTuple):
    id: str
    question: str
    outcomes: tuple[_Outcome, ...]


def _questions(
    exam: Exam, standings: Mapping[str, Sequence[Result]], first: int, bars: Mapping[str, MoneyBar]
) -> list[_Listed]:
    """The questions from the first on, each with its outcome in every graded sitting."""
    results = {f"{result.candidate}.{result.sitting}": result for each in standings.values() for result in each}
    wrong = {name: {violation.id for violation in bars[name].violations} for name in results}
    return [
        _Listed(
            question.id,
            question.question,
            tuple(
                _Outcome(name, result.verdicts[question.id].outcome, question.id in wrong[name])
                for name, result in results.items()
            ),
        )
        for question in exam.questions[first - 1 : first - 1 + PER_PAGE]
    ]


def _right(item: Item) -> str:
    """The sealed answer as one text."""
    if item.negative:
        return "must be declined: the documents do not say"
    if item.reference is not None:
        return " ".join(filter(None, (repr(item.reference.value), str(item.reference.scale), item.reference.unit)))
    return item.expected or " and ".join((*item.needles.all, *filter(None, [" or ".join(item.needles.any)])))


def _words(row: Row) -> str:
    """What a row of the ledger says, for people."""
    told = row.payload
    if row.kind == "seal":
        return f"{len(told['commitments'])} answers sealed"
    if row.kind == "sign-off":
        return f"{told['owner']} signed at k = {told['k']}: {', '.join(told['ranking'])}"
    name = f"{told['candidate']}.{told['sitting']}"
    if row.kind == "sitting":
        return f"{name} sat{' (scripted)' if told['scripted'] else ''}"
    return f"{name}: {told['correct']} correct, {told['abstain']} abstained, {told['wrong']} wrong"
