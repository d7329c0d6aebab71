"""The referee: one question, one reply, one verdict. Deterministic, and no model's opinion in it.

`judge` compares a reply with a sealed item: `correct`, `wrong` or `abstain`, with the value it read, the tolerance it
applied and what became of the citation. `states_money` says whether a text puts a sum of money before the reader.
Pure: no files, no clock, no network. It does not score (`score`), and it does not keep anything.

The rules it publishes:

- A number matches when |answer - reference| <= max(rel · |reference|, abs), 1 % and 0.005 unless the item says
  otherwise, in the unit that was asked for. A percentage stored as a fraction is compared in percentage points.
  Where the question asks for so many decimals, an answer with more of them is also compared as rounded.
- Exactly one scale is applied. A scale word at the figure counts; else a heading such as "(in thousands)" before it,
  if no amount of the reply has a scale word and nothing is converted after it; else the figure is in the asked unit,
  unless it is at least a million and as large as the asked unit itself, as raw dollars are.
- A sign counts. Only where the question asks what was paid or spent may a minus say which way the money went.
- Declining is an abstention. Declining and naming a figure all the same is an answer. A reply with neither is wrong,
  noted "no answer", and so is a range, or two values at once.
- Of a reply of more than 100,000 characters only the two ends are read.
- A negative item must be declined: then declining is correct, and any answer is wrong.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from typing import Annotated, Final, Literal, TypeAlias

import msgspec
from msgspec import UNSET, Struct, UnsetType

from concordance.exam import declines as _declines
from concordance.exam.answers import Asked, Choice, Kind, asked, choose
from concordance.exam.figures import SCALES, Figure, plain, read

Outcome: TypeAlias = Literal["correct", "wrong", "abstain"]
Cited: TypeAlias = Literal["verified", "rejected", "none"]

CITATION_SHARE: Final = 0.7
"""The share of a citation's tokens that must stand in the evidence."""

NO_ANSWER: Final = "no answer"

_END: Final = 50_000
"""How much of each end of a reply is read. Nobody answers at greater length, and no reply may take long to judge."""


class Tolerance(Struct, frozen=True, forbid_unknown_fields=True):
    """How far an answer may be from the reference: max(rel · |reference|, abs), in the reference's unit."""

    rel: Annotated[float, msgspec.Meta(ge=0)] = 0.01
    abs: Annotated[float, msgspec.Meta(ge=0)] = 0.005


TOLERANCE: Final = Tolerance()
"""The published tolerance. An absolute 0.005 is more than 1 % of anything below 0.5: small ratios need their own."""


class Reference(Struct, frozen=True, forbid_unknown_fields=True):
    """The sealed value. `unit`: usd, percent, fraction, bps, months or nothing; `scale`: thousand, million, …"""

    value: float
    unit: str = ""
    scale: str | float = ""


class Needles(Struct, frozen=True, forbid_unknown_fields=True):
    """Texts that an answer must contain: every one of `all`, and at least one of `any`."""

    all: tuple[str, ...] = ()
    any: tuple[str, ...] = ()


class Evidence(Struct, frozen=True, forbid_unknown_fields=True):
    """A passage that supports the reference."""

    doc: str
    page: int | str | None = None
    text: str = ""


class Item(Struct, frozen=True, forbid_unknown_fields=True):
    """One sealed question of a golden set."""

    id: str
    question: str
    kind: Kind
    reference: Reference | None = None
    needles: Needles = Needles()
    expected: str | None = None
    evidence: tuple[Evidence, ...] = ()
    negative: bool = False
    corpus: str = ""
    tolerance: Tolerance = TOLERANCE


class Reply(Struct, frozen=True):
    """What a candidate answered. `answer: null` abstains; an absent answer is looked for in the free text."""

    answer: float | str | UnsetType | None = UNSET
    cite: str | None = None
    text: str | None = None


class Verdict(Struct, frozen=True):
    """What the referee decided, and everything it decided by. Values are exact decimals, as text."""

    outcome: Outcome
    note: str = ""
    parsed: str | None = None
    """The answer's value in the reference's unit."""
    read: str | None = None
    """The figure as the reply prints it."""
    allowed: str | None = None
    """The largest deviation that is still correct, in the reference's unit."""
    citation: Cited = "none"
    citation_share: float | None = None


def judge(item: Item, reply: Reply) -> Verdict:
    """The verdict on one reply. Never raises, whatever the reply holds."""
    verdict = _judge_negative(item, reply) if item.negative else _judge_answer(item, reply)
    cited, share = check_citation(reply.cite, item.evidence)
    return msgspec.structs.replace(verdict, citation=cited, citation_share=share)


def declines(text: str) -> bool:
    """Whether a text is an honest decline: it says that it has no answer, and gives none."""
    return _declines.declines(text)


# Declining, and saying nothing


def _judge_negative(item: Item, reply: Reply) -> Verdict:
    """A question that the documents cannot answer: the right answer is to decline."""
    if _abstains(reply):
        return Verdict("correct", "declined, as it had to")
    if not _says_anything(reply):
        return Verdict("wrong", NO_ANSWER)
    return Verdict("wrong", "answered a question that had to be declined", read=_spoken(reply)[:200])


def _judge_answer(item: Item, reply: Reply) -> Verdict:
    if isinstance(reply.answer, (int, float)):
        return _judge_figure(item, _number_figure(reply.answer))
    if _abstains(reply):
        return Verdict("abstain", "declined")
    spoken = _spoken(reply)
    if not spoken.strip():
        return Verdict("wrong", NO_ANSWER)
    if item.kind == "text" or item.reference is None:
        return _judge_text(item, spoken)
    return _judge_number(item, spoken)


def _abstains(reply: Reply) -> bool:
    """Null with nothing beside it, or words that decline."""
    if isinstance(reply.answer, (int, float)):
        return False
    spoken = _spoken(reply)
    if reply.answer is None and not spoken.strip():
        return True
    return declines(spoken)


def _says_anything(reply: Reply) -> bool:
    return isinstance(reply.answer, (int, float)) or bool(_spoken(reply).strip())


def _spoken(reply: Reply) -> str:
    """The words to judge: the answer where it is text, else the free text, a JSON reply opened."""
    spoken = (reply.answer if isinstance(reply.answer, str) and reply.answer.strip() else reply.text) or ""
    return _opened(spoken if len(spoken) <= 2 * _END else f"{spoken[:_END]}\n{spoken[-_END:]}")


def _opened(text: str) -> str:
    """The answer within a reply that is one JSON object, as some models send it; the text itself otherwise."""
    body = re.sub(r"^```\w{0,10}\s|```$", "", text.strip()) if len(text) < 20_000 else ""
    if not body.strip().startswith("{"):
        return text
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return text
    for key in ("answer", "final_answer", "result", "value"):
        if isinstance(value, dict) and key in value and isinstance(value[key], (str, int, float)):
            unit = value.get("unit")
            return f"{value[key]} {unit}" if isinstance(unit, str) else str(value[key])
    return "" if isinstance(value, dict) and value.get("answer", 0) is None else text


# Numbers


def _number_figure(value: float) -> Choice:
    try:
        number = Decimal(repr(value))
    except InvalidOperation:
        return Choice(None, NO_ANSWER)
    if not number.is_finite():
        return Choice(None, f"{NO_ANSWER}: {value} is no number")
    exponent = number.as_tuple().exponent
    step = Decimal(1).scaleb(min(0, exponent if isinstance(exponent, int) else 0))
    return Choice(Figure(number, number, Decimal(1), "plain", step, 0, 0))


def _judge_number(item: Item, spoken: str) -> Verdict:
    text = plain(_boxed(spoken)).text
    choice = choose(text, _wanted(item))
    if choice.figure is None and choice.note == NO_ANSWER and _declines.refuses_plain(text):
        return Verdict("abstain", "declined: says what is missing, and names no figure")
    return _judge_figure(item, choice)


def _boxed(text: str) -> str:
    """From the last LaTeX box on, where there is one: that is where a solution puts its answer."""
    place = text.rfind("\\boxed")
    if place < 0:
        return text
    start = place - 1 if text[place - 1 : place] in ("$", "-") else place
    return text[start:].partition("\n")[0]


def _wanted(item: Item) -> Asked:
    reference = item.reference
    unit = reference.unit.lower() if reference else ""
    scale = _declared_scale(reference) if reference else None
    return asked(item.question, item.kind, scale, unit == "fraction")


def _declared_scale(reference: Reference) -> Decimal | None:
    if isinstance(reference.scale, (int, float)):
        return Decimal(repr(reference.scale))
    word = reference.scale.strip().lower().rstrip(".")
    return SCALES.get(word) if word else None


def _judge_figure(item: Item, choice: Choice) -> Verdict:
    """Compare every reading of the chosen figure with the reference; the reading nearest to it is reported."""
    if choice.figure is None:
        return Verdict("wrong", choice.note)
    printed = format(choice.figure.number.normalize(), "f")
    if item.reference is None:
        return _judge_text(item, printed)
    wanted = _wanted(item)
    target, points = _target(item, wanted)
    allowed = max(Decimal(repr(item.tolerance.rel)) * abs(target), Decimal(repr(item.tolerance.abs)))
    values = list(dict.fromkeys(_readings(choice, wanted, item.reference, points)))
    nearest = min(values, key=lambda value: (abs(value - target) > allowed, abs(abs(value) - abs(target))))
    right = any(_matches(value, target, allowed, wanted.places) for value in values)
    unit = Decimal(100) if points else Decimal(1)
    return Verdict(
        "correct" if right else "wrong",
        "" if right else f"off by {_shown(abs(nearest - target) / unit)}",
        parsed=_shown(nearest / unit),
        read=printed,
        allowed=_shown(allowed / unit),
    )


def _target(item: Item, wanted: Asked) -> tuple[Decimal, bool]:
    """The reference in the unit of comparison, and whether it was a fraction turned into percentage points."""
    assert item.reference is not None
    value = Decimal(repr(item.reference.value))
    if item.kind == "percent" and wanted.fraction:
        return value * 100, True
    return value, False


def _matches(value: Decimal, target: Decimal, allowed: Decimal, places: int | None) -> bool:
    if abs(value - target) <= allowed:
        return True
    if places is None or abs(value) >= Decimal(10**15):
        return False
    return value.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP) == target


def _readings(choice: Choice, wanted: Asked, reference: Reference, points: bool) -> Iterator[Decimal]:
    """What the answer may mean in the reference's unit: one value, or two where the reply leaves the unit open."""
    assert choice.figure is not None
    for figure in (choice.figure, *choice.restated):
        for value in _in_unit(figure, wanted, reference, points):
            yield value
            if wanted.outflow:
                yield abs(value)
            if choice.negated and value > 0:
                yield -value


def _in_unit(figure: Figure, wanted: Asked, reference: Reference, points: bool) -> Iterator[Decimal]:
    if wanted.kind == "percent":
        yield from _as_percent(figure, wanted, reference, points)
    elif wanted.kind == "money" or (figure.unit == "money" and wanted.kind == "number"):
        yield from _as_money(figure, wanted)
    elif wanted.kind == "months":
        yield figure.value
    else:
        yield from _as_number(figure, wanted)


def _as_percent(figure: Figure, wanted: Asked, reference: Reference, points: bool) -> Iterator[Decimal]:
    """In percentage points where the reference is; a reference of undeclared unit may also be a fraction."""
    basis = reference.unit.lower() in ("bps", "bp", "basis points")
    value = figure.value / 100 if figure.unit == "bps" else figure.value
    if basis:
        yield value * 100 if figure.unit in ("percent", "bps") else figure.value
        return
    yield value
    if figure.unit == "plain" and abs(value) <= 2:
        yield value * 100  # "0.654", where 65.4 % was asked for
    if figure.unit in ("percent", "bps") and not points and not reference.unit:
        yield value / 100


def _as_money(figure: Figure, wanted: Asked) -> Iterator[Decimal]:
    """In the asked scale. Exactly one scale is applied: the reply's own, or else the asked one."""
    if figure.unit in ("percent", "bps"):
        return (yield figure.value / 100)  # a share, where an amount was asked for
    if wanted.scale is not None:
        raw = figure.scaled or (abs(figure.number) >= wanted.scale and abs(figure.number) >= 10**6)
        yield figure.value / wanted.scale if raw else figure.number
        return None
    yield figure.value
    if figure.scaled:  # nobody says what the reference is in: it is in the scale that fits
        yield from (figure.value / scale for scale in (Decimal(10**3), Decimal(10**6), Decimal(10**9), Decimal(10**12)))
    return None


def _as_number(figure: Figure, wanted: Asked) -> Iterator[Decimal]:
    """A plain number; a percentage is the ratio it stands for, and as printed where nobody asked anything else."""
    if figure.unit in ("percent", "bps"):
        ratio = figure.value / (10_000 if figure.unit == "bps" else 100)
        yield ratio
        if not wanted.words:
            yield figure.value
    elif figure.unit == "months":
        yield figure.number
    elif wanted.scale is not None and figure.scaled:
        yield figure.value / wanted.scale
    else:
        yield figure.value
        if figure.scaled and wanted.scale is None:
            yield from (figure.value / scale for scale in (Decimal(10**3), Decimal(10**6), Decimal(10**9)))


def _shown(value: Decimal) -> str:
    rounded = value if abs(value) >= Decimal(10**18) else round(value, 10)
    return format(rounded.normalize(), "f")


# Texts


def _judge_text(item: Item, spoken: str) -> Verdict:
    """Needles and the expected words, both without case, spacing, typography and punctuation."""
    words = _tokens(spoken)
    said = f" {' '.join(words)} "
    missing = [needle for needle in item.needles.all if not _holds(said, needle)]
    if missing:
        return Verdict("wrong", f"lacks {missing[0]!r}", read=spoken[:200])
    if item.needles.any and not any(_holds(said, needle) for needle in item.needles.any):
        return Verdict("wrong", "lacks every one of its accepted wordings", read=spoken[:200])
    needles = item.needles.all or item.needles.any
    if not needles and (not item.expected or not _holds(said, item.expected)):
        return Verdict("wrong", "lacks the expected words", read=spoken[:200])
    return Verdict("correct", read=spoken[:200])


def _holds(said: str, needle: str) -> bool:
    tokens = _tokens(needle)
    return bool(tokens) and f" {' '.join(tokens)} " in said


_TOKEN: Final = re.compile(r"[0-9]++(?:[.,][0-9]++)*+|[^\W_0-9]++")


def _tokens(text: str) -> list[str]:
    """The words and numbers of a text, without case, typography and grouping commas."""
    return [
        token.replace(",", "") if token[0].isdigit() else token for token in _TOKEN.findall(plain(text).text.casefold())
    ]


# Citations


def check_citation(cite: str | None, evidence: Sequence[Evidence]) -> tuple[Cited, float | None]:
    """Whether a citation stands in a passage of the evidence: 70 % of its tokens, each as often as it occurs there."""
    tokens = Counter(_tokens(cite or ""))
    if not tokens:
        return "none", None
    shares = [
        sum((tokens & Counter(_tokens(f"{passage.doc} {passage.page or ''} {passage.text}"))).values()) / tokens.total()
        for passage in evidence
    ]
    share = max(shares, default=0.0)
    return ("verified" if share >= CITATION_SHARE else "rejected"), round(share, 4)


# Money

_PUBLISHED_MONEY: Final = re.compile(r"\$\s?[0-9]|[0-9]\.[0-9]{2}(?![0-9])")


def states_money(text: str, asked_money: bool) -> bool:
    """Whether the text holds a dollar-shaped figure.

    The published rule (`$` before a digit, or digits with two decimals), and beyond it whatever `figures` reads as
    money, such as US$ 5m or 390 million dollars; where money was asked for, also a bare figure with a scale word.
    """
    if _PUBLISHED_MONEY.search(text):
        return True
    return any(
        figure.role == "amount"
        and (figure.unit == "money" or (asked_money and figure.scaled and figure.unit == "plain"))
        for figure in read(text)
    )
