"""Three scripted personas to show the exam with: a confident guesser, an ungoverned copilot, and one that cites or
abstains.

They are no models and are labelled so: each transcript says `scripted`. What a persona does with each of thirty
numeric questions is authored in `templates/exam/personas.toml`; the words and figures are made from the golden set.
The referee then judges the replies like anybody's, and unless exactly the authored figures come out, nothing is
returned. No reply is retried until it fits.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal
from fractions import Fraction
from functools import cache
from importlib.resources import files
from itertools import pairwise
from typing import Final, Literal

import msgspec
from msgspec import Struct

from concordance.errors import UnusableInputError
from concordance.exam.figures import Figure, read
from concordance.exam.golden import Golden
from concordance.exam.referee import Item, Reply, judge
from concordance.exam.score import Tally, crossover


class Figures(Struct, frozen=True, forbid_unknown_fields=True):
    """What the referee makes of a transcript."""

    answered: int
    correct: int
    wrong: int
    abstained: int
    verified: int
    rejected: int

    @property
    def tally(self) -> Tally:
        return Tally(self.correct, self.abstained, self.wrong)


class Persona(Struct, frozen=True, forbid_unknown_fields=True):
    """One persona as authored: a play for each question, and the figures that must come of them."""

    name: str
    title: str
    about: str
    figures: Figures
    plays: tuple[str, ...]


class Script(Struct, frozen=True, forbid_unknown_fields=True):
    """All personas, and the words they use."""

    count: int
    crossover: tuple[str, str]
    crossover_exact: str
    crossover_whole: int
    say: dict[str, str]
    decline: dict[str, str]
    persona: tuple[Persona, ...]
    invented: dict[str, str]


@dataclass(frozen=True)
class Transcript:
    """A persona's replies by question, in the golden set's order."""

    name: str
    title: str
    about: str
    replies: Mapping[str, Reply]
    figures: Figures
    scripted: Literal[True] = True


@cache
def authored() -> Script:
    """The script that the package carries."""
    text = (files("concordance") / "templates" / "exam" / "personas.toml").read_text("utf-8")
    return msgspec.convert(tomllib.loads(text), Script)


def write_transcripts(golden: Golden, script: Script | None = None) -> dict[str, Transcript]:
    """Every persona's replies to a golden set of thirty numeric questions, by the persona's name.

    Raises `UnusableInputError` naming the figure if the referee makes other figures of them than the authored ones.
    """
    script = script or authored()
    _require_numeric(golden, script.count)
    replies = {persona.name: write_replies(golden, persona, script) for persona in script.persona}
    require_figures(golden, replies, script)
    return {
        persona.name: Transcript(persona.name, persona.title, persona.about, replies[persona.name], persona.figures)
        for persona in script.persona
    }


def require_figures(golden: Golden, replies: Mapping[str, Mapping[str, Reply]], script: Script | None = None) -> None:
    """Refuse replies of which the referee makes other figures than those authored. Raises `UnusableInputError`."""
    script = script or authored()
    found = {persona.name: measure(golden, replies[persona.name]) for persona in script.persona}
    for persona in script.persona:
        for name in Figures.__struct_fields__:
            got, wanted = getattr(found[persona.name], name), getattr(persona.figures, name)
            if got != wanted:
                raise UnusableInputError(
                    f"{persona.name}: {got} {name}, and the demo is about {wanted}",
                    where=golden.title,
                    hint="transcripts are not written: restore the authored answer",
                )
    _require_crossover(found, script, golden.title)


def _require_crossover(found: Mapping[str, Figures], script: Script, title: str) -> None:
    bold, cautious = script.crossover
    point = crossover(found[bold].tally, found[cautious].tally)
    exact, whole = Fraction(script.crossover_exact), script.crossover_whole
    if point is None or (point.exact, point.whole) != (exact, whole):
        got = "none" if point is None else f"{point.exact}, so k = {point.whole}"
        raise UnusableInputError(
            f"crossover of {bold} and {cautious}: {got}, and the demo is about {exact}, so k = {whole}", where=title
        )


def measure(golden: Golden, replies: Mapping[str, Reply]) -> Figures:
    """Have the referee judge a reply to every question, and count. A question without a reply was abstained on."""
    verdicts = [judge(item, replies.get(item.id, Reply(answer=None))) for item in golden.items]
    outcomes = [verdict.outcome for verdict in verdicts]
    citations = [verdict.citation for verdict in verdicts]
    return Figures(
        answered=len(outcomes) - outcomes.count("abstain"),
        correct=outcomes.count("correct"),
        wrong=outcomes.count("wrong"),
        abstained=outcomes.count("abstain"),
        verified=citations.count("verified"),
        rejected=citations.count("rejected"),
    )


def _require_numeric(golden: Golden, count: int) -> None:
    if len(golden.items) != count:
        raise UnusableInputError(
            f"the personas' script is for {count} questions, not {len(golden.items)}", where=golden.title
        )
    for item in golden.items:
        if item.negative or item.reference is None or item.kind == "text" or not item.evidence:
            raise UnusableInputError(
                f"{item.id} has no number for an answer, or no evidence to quote",
                where=golden.title,
                hint="the personas sit numeric questions only",
            )


# Writing a reply


def write_replies(golden: Golden, persona: Persona, script: Script) -> dict[str, Reply]:
    """One persona's replies, as its plays say. Raises `UnusableInputError` for a play that says nothing known."""
    if len(persona.plays) != len(golden.items):
        raise UnusableInputError(
            f"{persona.name} has {len(persona.plays)} plays for {len(golden.items)} questions", where=golden.title
        )
    return {
        item.id: _reply(item, play, script, f"{persona.name}, play {place}")
        for place, (item, play) in enumerate(zip(golden.items, persona.plays, strict=True), 1)
    }


def _reply(item: Item, play: str, script: Script, where: str) -> Reply:
    parts = play.split()
    what, style, cited = (*parts, "", "", "")[:3]
    words = script.decline if what == "decline" else script.say
    if len(parts) > 3 or style not in words or what not in ("right", "decline", *_SLIPS):
        raise UnusableInputError(f"no play is called {play!r}", where=where)
    if cited not in ("", "quote") and cited not in script.invented:
        raise UnusableInputError(f"no citation is called {cited!r}", where=where)
    cite = quotation(item) if cited == "quote" else script.invented.get(cited)
    if what == "decline":
        return Reply(answer=words[style] or None, cite=cite)
    value = _reference(item) if what == "right" else _slip(item, what)
    shown = _printed(item, value, scale_up=what == "scale")
    if not words[style]:
        return Reply(answer=float(shown.number), cite=cite)
    return Reply(answer=words[style].replace("{answer}", shown.text), cite=cite)


@dataclass(frozen=True)
class _Shown:
    number: Decimal
    text: str


_SCALE_WORD: Final = re.compile(r"\b(thousand|million|billion)s?\b", re.IGNORECASE)
_NEXT_SCALE: Final = {"thousand": "million", "million": "billion", "billion": "million"}
_UNIT_PLACES: Final = {"money": 2, "percent": 1, "number": 2, "months": 0}


def _printed(item: Item, value: Decimal, *, scale_up: bool) -> _Shown:
    """A value as people print it, in the unit asked for. A slip of scale takes the wrong scale word where one is."""
    number = _rounded(item, value)
    minus = "-" if number < 0 else ""
    digits = f"{abs(number):,f}"
    scale = _asked_scale(item)
    if scale and scale_up:
        step = Decimal(1000) if scale != "billion" else Decimal("0.001")
        number, scale = number * step, _NEXT_SCALE[scale]
    if item.kind == "money":
        return _Shown(number, f"{minus}${digits}{f' {scale}' if scale else ''}")
    unit = {"percent": "%", "months": " months", "number": ""}[item.kind]
    return _Shown(number, f"{minus}{digits}{unit}")


def _asked_scale(item: Item) -> str:
    word = _SCALE_WORD.search(item.question) if item.kind == "money" else None
    return word[1].lower() if word else ""


def _rounded(item: Item, value: Decimal) -> Decimal:
    """To the places usual for the unit, or to as many more as the item's tolerance wants."""
    places = _UNIT_PLACES[item.kind]
    if value == value.to_integral_value() and _asked_scale(item):
        places = 0
    allowed = _allowed(item)
    while places < 9 and abs(round(value, places) - value) > allowed:
        places += 1
    return value.quantize(Decimal(1).scaleb(-places), ROUND_HALF_EVEN)


def _reference(item: Item) -> Decimal:
    assert item.reference is not None
    return Decimal(repr(item.reference.value))


def _allowed(item: Item) -> Decimal:
    tolerance = item.tolerance
    return max(Decimal(repr(tolerance.rel)) * abs(_reference(item)), Decimal(repr(tolerance.abs)))


# Slips: what goes wrong when somebody answers in a hurry


def _slip(item: Item, name: str) -> Decimal:
    """The wrong value of this slip, or of the next one that can happen to this question at all."""
    if name == "scale" and _asked_scale(item) and _reference(item):
        return _reference(item)  # the right digits; the scale word is the slip
    for slip in (_SLIPS[name], *_SLIPS.values(), _off):
        for value in slip(item):
            if _wrong_enough(item, value):
                return value
    raise AssertionError("a value that is off is wrong")


def _wrong_enough(item: Item, value: Decimal) -> bool:
    """Whether a value is far outside the tolerance, its sign aside where a lost sign is not the slip."""
    reference, far = _reference(item), 2 * _allowed(item)
    shown = _rounded(item, value)
    return abs(shown - reference) > far and (reference < 0 or abs(abs(shown) - reference) > far)


def _other_year(item: Item) -> Iterator[Decimal]:
    """The figure that stands beside the right one, as last year's column does."""
    for passage in item.evidence:
        figures = _figures(passage.text)
        for figure, beside in pairwise(figures):
            if _is_reference(item, figure):
                yield from _of_like_size(item, [beside])


def _neighbour(item: Item) -> Iterator[Decimal]:
    """The figure of the evidence that comes nearest in size."""
    yield from _of_like_size(item, [figure for passage in item.evidence for figure in _figures(passage.text)])


_UNITS: Final = {
    "money": ("money", "plain"),
    "months": ("months", "plain"),
    "percent": ("percent",),
    "number": ("plain",),
}


def _of_like_size(item: Item, figures: Sequence[Figure]) -> Iterator[Decimal]:
    """The figures that could be taken for the answer, nearest in size first."""
    reference = abs(_reference(item))
    sizes = [
        abs(figure.number)
        for figure in figures
        if figure.unit in _UNITS[item.kind] and (item.kind != "months" or figure.number == int(figure.number))
    ]
    if not reference:
        yield from sorted(sizes)
        return
    near = [size for size in sizes if Decimal("0.1") <= size / reference <= 10]
    yield from sorted(near, key=lambda size: max(size / reference, reference / size))


_MARK: Final = re.compile(r"[0-9]{5,}")
"""Digits without a separator are an account's number, and nobody takes them for an amount."""


def _figures(text: str) -> list[Figure]:
    return [
        figure
        for figure in read(text)
        if figure.role == "amount" and not (figure.unit == "plain" and _MARK.fullmatch(text[figure.start : figure.end]))
    ]


def _is_reference(item: Item, figure: Figure) -> bool:
    return abs(abs(figure.number) - abs(_reference(item))) <= _allowed(item)


def _scale(item: Item) -> Iterator[Decimal]:
    """A month taken for a year, or the decimal point one place off."""
    yield _reference(item) * (12 if item.kind in ("months", "money") else 10)


def _sign(item: Item) -> Iterator[Decimal]:
    """A loss told as a gain."""
    if _reference(item) < 0:
        yield -_reference(item)


def _digits(item: Item) -> Iterator[Decimal]:
    """Two neighbouring digits in each other's place."""
    number = _rounded(item, _reference(item))
    sign, digits, exponent = number.as_tuple()
    assert isinstance(exponent, int)
    for place in range(len(digits) - 1):
        one, two = digits[place : place + 2]
        if one != two and (place or two):
            yield Decimal((sign, (*digits[:place], two, one, *digits[place + 2 :]), exponent))


def _off(item: Item) -> Iterator[Decimal]:
    """A value somewhere else."""
    yield _reference(item) * Decimal("1.3") + (1 if _reference(item) >= 0 else -1) * max(2 * _allowed(item), Decimal(2))


_SLIPS: Final[Mapping[str, Callable[[Item], Iterator[Decimal]]]] = {
    "year": _other_year,
    "neighbour": _neighbour,
    "digits": _digits,
    "scale": _scale,
    "sign": _sign,
}


# Citations

_LONGEST_QUOTE: Final = 200


def quotation(item: Item) -> str:
    """A short literal quote of the evidence, white space aside: around the right figure where it stands there."""
    passages = [passage.text for passage in item.evidence]
    passage = next((text for text in passages if _states_reference(item, text)), passages[0])
    lines = [" ".join(line.split()) for line in passage.split("\n") if line.strip()]
    start = next((place for place, line in enumerate(lines) if _states_reference(item, line)), 0)
    while start and len(" ".join(lines[start - 1 : start + 1])) < _LONGEST_QUOTE // 2:
        start -= 1
    quote = lines[start][:_LONGEST_QUOTE]
    for line in lines[start + 1 :]:
        if len(quote) + len(line) >= _LONGEST_QUOTE:
            break
        quote += f" {line}"
    return quote


def _states_reference(item: Item, text: str) -> bool:
    return any(_is_reference(item, figure) for figure in _figures(text))
