"""Zero wrong money: which questions are about a sum of money, and which replies are confidently wrong about one.

A question is a money question if its kind is `money`, or if its reference, a needle or its prose expectation carries a
dollar-shaped figure: an optional `$`, digits with grouping commas, two decimals. That is the published rule; whatever
`referee.states_money` takes for money in a needle or an expectation counts too. A reference that declares another unit
(percent, fraction, basis points, months) is what it says it is.

A reply violates iff it was graded wrong, does not read as an honest decline, and still puts a dollar-shaped figure
before the reader. Published: `$` before a digit, or digits with two decimals. Beyond it: what `referee.states_money`
knows (US$ 5m, USD 1,234, 390 million dollars); and where the question asks for money, a bare figure with a scale word,
a number as the answer, and a figure with no more than a word beside it, so that no reply is safer for being terse.

The decline test appears only negated: a recogniser that hears more declines can only remove violations. Pure; it
grades nothing, and excuses nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from decimal import Decimal, InvalidOperation
from typing import Final, TypeAlias

import msgspec

from concordance.errors import UnusableInputError
from concordance.exam.figures import Figure, plain, read_plain
from concordance.exam.referee import NO_ANSWER, Item, Reply, Verdict, declines, states_money

Recogniser: TypeAlias = Callable[[str], bool]

PUBLISHED_EXPECTATION: Final = re.compile(r"\$?[0-9][0-9,]*+\.[0-9]{2}(?![0-9])")
"""The published rule for what a question expects: optional `$`, digits with grouping commas, two decimals."""

PUBLISHED_REPLY: Final = re.compile(r"\$\s?[0-9]|[0-9]\.[0-9]{2}(?![0-9])")
"""The published rule for what a reply says: `$` before a digit, or digits with two decimals."""

_AROUND: Final = re.compile(r"(?:(?:US)?\$\s?)?(?:[0-9]|(?<=[0-9])[.,])+\Z")
_ONWARDS: Final = re.compile(r"(?:[.,]?[0-9])*")
_WORD: Final = re.compile(r"[^\W\d_]+")
_LONGEST_TERSE: Final = 80


class Violation(msgspec.Struct, frozen=True):
    """A reply that is confidently wrong about a sum of money."""

    id: str
    figure: str
    """The dollar-shaped figure, as the reply prints it."""
    note: str
    """Why it is money, and what the referee said."""


class MoneyBar(msgspec.Struct, frozen=True, rename="camel"):
    """The bar with its denominators: `questions` = `answered` + `declined` + `unanswered`."""

    questions: int
    answered: int
    declined: int
    unanswered: int
    """Replies that hold neither an answer nor a decline."""
    violations: tuple[Violation, ...]

    @property
    def holds(self) -> bool:
        return not self.violations


def money_reason(item: Item) -> str:
    """Why a question is a money question, or nothing if it is none."""
    if item.kind == "money":
        return "asks for money"
    reference = item.reference
    if reference is not None and reference.unit == "usd":
        return "its reference is in dollars"
    if reference is not None and not reference.unit and item.kind not in ("percent", "months"):
        printed = _printed(reference.value)
        if PUBLISHED_EXPECTATION.fullmatch(printed.removeprefix("-")):
            return f"its reference {printed} is printed as money is"
    texts = (*item.needles.all, *item.needles.any, item.expected or "")
    figure = next(filter(None, (dollar_figure(text) for text in texts)), "")
    return f"its expectation carries {figure}" if figure else ""


def violations(
    items: Iterable[Item],
    verdicts: Mapping[str, Verdict],
    replies: Mapping[str, Reply],
    recognises: Recogniser = declines,
) -> list[Violation]:
    """Every violation of a run, in the items' order. Raises `UnusableInputError` if a verdict or reply is missing."""
    return [found for item in items for found in _violation(item, *_run(item, verdicts, replies), recognises)]


def bar(
    items: Iterable[Item],
    verdicts: Mapping[str, Verdict],
    replies: Mapping[str, Reply],
    recognises: Recogniser = declines,
) -> MoneyBar:
    """The violations of a run and how many money questions it was asked, answered and declined."""
    asked = [item for item in items if money_reason(item)]
    declined = answered = 0
    for item in asked:
        verdict, reply = _run(item, verdicts, replies)
        if _declined(item, verdict, reply, recognises):
            declined += 1
        elif not (verdict.outcome == "wrong" and verdict.note.startswith(NO_ANSWER)):
            answered += 1
    found = violations(asked, verdicts, replies, recognises)
    return MoneyBar(len(asked), answered, declined, len(asked) - answered - declined, tuple(found))


def spoken(reply: Reply) -> str:
    """The words that answer: the answer where it is text, else the free text. Nothing where the answer is a number."""
    if isinstance(reply.answer, (int, float)):
        return ""
    return (reply.answer if isinstance(reply.answer, str) and reply.answer.strip() else reply.text) or ""


def dollar_figure(text: str, asked_money: bool = False) -> str:
    """The first dollar-shaped figure of a text as it is printed, or nothing where it holds none."""
    if not states_money(text, asked_money):
        return ""
    cleaned = plain(text)
    for figure in read_plain(cleaned.text):
        scaled = asked_money and figure.role == "amount" and figure.scaled and figure.unit == "plain"
        if figure.dollar_shaped or scaled:
            return cleaned.text[figure.start : figure.end]
    match = PUBLISHED_REPLY.search(text)
    return _widened(text, match) if match else ""


def _run(item: Item, verdicts: Mapping[str, Verdict], replies: Mapping[str, Reply]) -> tuple[Verdict, Reply]:
    if item.id not in verdicts or item.id not in replies:
        lacking = "reply" if item.id not in replies else "verdict"
        raise UnusableInputError(f"the run has no {lacking} to the question", where=item.id)
    return verdicts[item.id], replies[item.id]


def _violation(item: Item, verdict: Verdict, reply: Reply, recognises: Recogniser) -> Iterator[Violation]:
    if verdict.outcome != "wrong" or _reads_as_decline(reply, recognises) or not (reason := money_reason(item)):
        return
    if figure := _stated(item, reply):
        yield Violation(item.id, figure, f"{reason}; {verdict.note or 'graded wrong'}")


def _declined(item: Item, verdict: Verdict, reply: Reply, recognises: Recogniser) -> bool:
    """A right answer to a question that can be answered is none, whatever a recogniser hears in it."""
    if verdict.outcome == "abstain" or (item.negative and verdict.outcome == "correct"):
        return True
    return verdict.outcome == "wrong" and _reads_as_decline(reply, recognises)


def _reads_as_decline(reply: Reply, recognises: Recogniser) -> bool:
    """Whether it does by its words. A number is an answer, whatever stands beside it."""
    return not isinstance(reply.answer, (int, float)) and recognises(spoken(reply))


def _stated(item: Item, reply: Reply) -> str:
    """The dollar-shaped figure that the reader is shown, in the answer or in the text beside it."""
    asked = item.kind == "money" or (item.reference is not None and item.reference.unit == "usd")
    if isinstance(reply.answer, (int, float)):
        printed = _printed(reply.answer)
        if asked or PUBLISHED_REPLY.search(printed):
            return printed
    shown = [part for part in (reply.answer, reply.text) if isinstance(part, str)]
    found = next(filter(None, (dollar_figure(part, asked) for part in shown)), "")
    return found or (_terse(spoken(reply)) if asked else "")


def _terse(text: str) -> str:
    """The one bare figure of a reply that is little else: 1577, "Answer: 1,577", {"answer": 1577}."""
    if len(text) > _LONGEST_TERSE:
        return ""
    cleaned = plain(text).text
    figures: list[Figure] = [figure for figure in read_plain(cleaned) if figure.role == "amount"]
    if len(figures) != 1 or figures[0].unit != "plain" or len(_WORD.findall(cleaned)) > 1:
        return ""
    return cleaned[figures[0].start : figures[0].end]


def _widened(text: str, match: re.Match[str]) -> str:
    """The whole figure around a match of the published rule, of which it marks only a part."""
    head = _AROUND.search(text[max(0, match.start() - 40) : match.start()])
    start = match.start() - (len(head[0]) if head else 0)
    onwards = _ONWARDS.match(text, match.end(), match.end() + 40)
    return text[start : onwards.end() if onwards else match.end()]


def _printed(value: float) -> str:
    try:
        return format(Decimal(repr(value)), "f")
    except (InvalidOperation, ValueError):
        return repr(value)
