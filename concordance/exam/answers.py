"""Which of the figures in a reply is its answer.

A reply shows its working, restates the question, gives last year's figure beside this year's. `choose` finds the one
figure that a reader would take home, by where the reply says it: in a box or behind "answer:", in its conclusion,
else in the sentence that speaks most in the question's own words. A correction ("42, no wait, 43") replaces what it
corrects; a range or two unequal alternatives commit to nothing. It never sees the reference.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import pairwise
from typing import Final, Literal, TypeAlias

from concordance.exam.declines import Sentence, sentences
from concordance.exam.figures import SCALES, Figure, operand, read_plain

Kind: TypeAlias = Literal["money", "number", "percent", "months", "text"]


@dataclass(frozen=True, slots=True)
class Asked:
    """What the question wants: the kind of figure, the unit it names, the words and the years it speaks of."""

    kind: Kind
    scale: Decimal | None
    """The scale of the asked amount, where the question (or the reference) tells it."""
    places: int | None
    """To how many decimals the question wants the answer rounded."""
    fraction: bool
    words: frozenset[str]
    years: frozenset[str]
    change: bool
    """It asks for a change, and not for a level."""
    outflow: bool
    """It asks how much was paid or spent, so that a minus or parentheses only say which way the money went."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The answer's figure, or why there is none."""

    figure: Figure | None
    note: str = ""
    restated: tuple[Figure, ...] = ()
    """The same answer said again in another unit: "0.85 or 85 %"."""
    negated: bool = False
    """Words around it make it negative: "a loss of $5"."""


_ASKED_SCALE: Final = re.compile(
    r"\b(?:in|as|units?\sof)\s(?:units\sof\s)?(?:US\s?)?(?:\$|USD|US\sdollars?|dollars?|EUR|GBP|INR|€|£|₹)?\s?"
    r"(thousands?|millions?|billions?|trillions?|crores?|lakhs?|mn|mm|bn)\b(?:\sof\s(?:US\s)?dollars)?"
    r"|\b(?:USD|US\$|EUR|GBP|INR|Rs\.?|[$€£₹])\s?(thousands?|millions?|billions?|trillions?|crores?|lakhs?|mn|mm|bn|m|k|b)\b",
    re.IGNORECASE,
)
_PLACES: Final = re.compile(
    r"\b(?:to|with)\s(?:the\snearest\s)?(no|zero|one|two|three|four|five|[0-9])\s(?:decimals?|digits?\safter|d\.?p)\b"
    r"|\bnearest\s(tenth|hundredth|thousandth|whole|integer|cent)",
    re.IGNORECASE,
)
_PLACE_WORDS: Final = {
    "no": 0, "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5,
    "whole": 0, "integer": 0, "tenth": 1, "hundredth": 2, "cent": 2, "thousandth": 3,
}  # fmt: skip
_OUTFLOW: Final = re.compile(
    r"\b(?:capex|capital\s(?:expenditures?|spending)|pa(?:y|id)\b|payments?|dividends?|spen[dt]\b|repurchases?|buybacks?|outflows?|purchases?)",
    re.IGNORECASE,
)
_MIXED: Final = re.compile(
    r"\b(?:change|difference|less|minus|net|growth|flow|ratio|margin|profit|income|loss|cycle)\b", re.IGNORECASE
)
_STATEMENTS: Final = re.compile(
    r"\b(?:cash\sflows?|income|p&l)\sstatements?|\bstatements?\sof\s(?:\w+\s){0,2}(?:cash\sflows?|income)",
    re.IGNORECASE,
)
_YEAR: Final = re.compile(r"(?:19|20)[0-9]{2}|(?<=FY)[0-9]{2}(?![0-9])|(?<=FY )[0-9]{2}(?![0-9])")
_WORD: Final = re.compile(r"[a-z&]{2,}")
_STOP: Final = frozenset(
    [
        "the",
        "of",
        "and",
        "in",
        "to",
        "for",
        "is",
        "are",
        "was",
        "were",
        "what",
        "how",
        "much",
        "many",
        "by",
        "on",
        "at",
        "from",
        "as",
        "an",
        "be",
        "it",
        "its",
        "this",
        "that",
        "with",
        "or",
        "if",
        "your",
        "you",
        "answer",
        "question",
        "round",
        "decimal",
        "places",
        "two",
        "one",
        "please",
        "give",
        "response",
        "usd",
        "us",
        "millions",
        "billions",
        "million",
        "billion",
        "thousands",
        "thousand",
        "percent",
        "percents",
        "units",
        "unit",
        "based",
        "using",
        "information",
        "provided",
        "primarily",
        "shown",
        "details",
        "statement",
        "statements",
        "sheet",
        "balance",
        "income",
        "cash",
        "flow",
        "judgments",
        "basing",
        "utilize",
        "year",
        "end",
        "fiscal",
        "fy",
        "between",
        "which",
        "can",
        "only",
        "use",
        "analyst",
        "assume",
        "following",
        "company's",
        "company",
        "did",
        "does",
        "do",
        "has",
        "have",
        "about",
        "according",
        "calculated",
        "as",
        "state",
        "not",
        "then",
    ]
)
_EXPLICIT: Final = re.compile(
    r"(?:\\boxed|\bboxed\b|####|\bfinal\s(?:answer|result|value)\b|^\W*(?:answer|a|ans|result|final)\s?[:=]|\b(?:the|my|correct)\s(?:final\s)?answer\s(?:to\s[^.]{0,80}\s)?"
    r"(?:is|would\sbe|comes\sto|:)|\"(?:final_)?(?:answer|value|result)\"\s?:|\banswer\s?:)",
    re.IGNORECASE,
)
_PROSE: Final = re.compile(r"[A-Za-z]{4}|[=+/:]|(?:19|20)[0-9]{2}")
_CHANGE: Final = re.compile(
    r"\b(?:change[ds]?|growth|grow|grew|increased?|decreased?|difference|declined?|by\show\s(?:much|many)|cagr|rise|rose|fall|fell|drop|improve)\b",
    re.IGNORECASE,
)
_BOUND: Final = re.compile(
    r"\b(?:above|below|greater\sthan|higher\sthan|lower\sthan|(?:more|less)\sthan|exceed(?:s|ing)?|over|under|every|each|per|than|at\sleast|at\smost|up\sto|threshold\sof|benchmark\sof)\s\W?$|(?:±|\+/-?)\s?$",
    re.IGNORECASE,
)
_THEREFORE: Final = re.compile(
    r"\b(?:therefore|thus|hence|consequently|(?<=,\s)so(?!\sthat)|the\sresult\s(?:is|was|would\sbe|comes\sto))\b"
    r"|^\W*(?:since|as|because|given|when|expressed|converted|converting)\b[^.]{0,80},\s(?:this|that|it)\s(?:is|equals|means|comes|amounts)\b",
    re.IGNORECASE,
)
_CORRECTION: Final = re.compile(
    r"\b(?:no,?\swait|wait,|wait\s?[-.!—]|hold\son|scratch\sthat|correction\b|correcting|let\sme\s(?:correct|recalculate|recompute|redo|fix|re-check|recheck)"
    r"|i\smean\b|i\smade\s(?:a|an)\s(?:mistake|error)|i\smisspoke|on\ssecond\sthought|(?:or\s)?rather,|actually,?\s(?:it|that|the|no|this)|sorry,\s(?:it|that|the|i)|make\sthat|should\s(?:be|read)\sinstead|more\saccurately)",
    re.IGNORECASE,
)
_BY: Final = re.compile(
    r"\b(?:(?:increas|decreas|expand|contract|improv|declin|widen|narrow|rose|ris|fell|fall|gr[eo]w|drop|chang|mov)\w*|up|down)\sby\s(?:about\s|approximately\s|around\s)?$",
    re.IGNORECASE,
)
_RANGE_LINK: Final = re.compile(
    r"^\s?(?:-|to|and|through|until|~)\s?(?:about\s|around\s|approximately\s|roughly\s)?$", re.IGNORECASE
)
_HEADING: Final = re.compile(
    r"\bin\s(?:(?:US|U\.S\.)\s)?(?:USD\s|US\$\s?|\$\s?)?(thousands|millions|billions|crores|lakhs)\b", re.IGNORECASE
)
_CONVERTS: Final = re.compile(r"\bconver|\bdivid|[/÷]\s?1[0,]", re.IGNORECASE)
_RANGE_LEAD: Final = re.compile(
    r"\b(?:between|range\s(?:of|from)|ranging\sfrom|anywhere\sfrom|from\s(?:about|around|roughly))\s(?:about\s|around\s|approximately\s|roughly\s)?\W?$",
    re.IGNORECASE,
)
_OR_LINK: Final = re.compile(
    r"^[\s,;(]{0,3}(?:or|i\.e\.,?|that\sis,?|which\sis|equivalent(?:ly)?(?:\sto)?|also\sexpressed\sas|equal\sto|=|≈|aka|,\sor)?\s?(?:about\s|approximately\s|around\s|roughly\s|equivalently\s|simply\s|\W)?\(?$",
    re.IGNORECASE,
)
_SAYS_OR: Final = re.compile(r"\b(?:or|i\.e|that\sis|equivalent|expressed)\b", re.IGNORECASE)
_COMPARED: Final = re.compile(
    r"\b(?:compared\s(?:to|with)|versus|vs\.?|up\sfrom|down\sfrom|against|from|previously|(?:prior|previous|preceding|last)\syear|year\s(?:before|earlier|ago)|relative\sto|rather\sthan|instead\sof|not|out\sof|than)\s"
    r"(?:\W|the\s|a\s|about\s|approximately\s|revised\s|of\s|its\s|prior\s|previous\s|year's\s|year\s|restated\s|in\s|it\s|was\s)*$",
    re.IGNORECASE,
)
_VERB: Final = re.compile(
    r"(?:\b(?:is|was|were|are|be|equals?|totall?ed|totals|amounts?(?:ed)?\sto|stood\sat|came\s(?:to|in\sat)|comes\sto|reported|generated|of|to|by|at|paid(?:\sout)?|had|have|has|recorded|spent|gives?(?:\sus)?|get|yields?|results?\sin)|[=≈:|])\s?"
    r"(?:\W|approximately\s|about\s|around\s|roughly\s|only\s|an?\s|the\s|estimated\s|likely\s|to\sbe\s|negative\s|exactly\s|just\s|net\s|nearly\s|almost\s|calculated\s|as\s|out\s){0,8}$",
    re.IGNORECASE,
)
_NEGATED: Final = re.compile(
    r"\b(?:negative(?:\sat|\sby)?|minus|(?:net\s)?loss(?:es)?\s(?:of|was|is)|deficit\s(?:of|was|is)|(?:decrease[d]?|decline[d]?|drop(?:ped)?|fell|fallen|reduction|reduced|shrank|shrunk|down|contracted|contraction|outflow)"
    r"(?:\s(?:in|for)\s[^.,;0-9$]{1,60})?\s?(?:of|by|was|is)?)\s(?:\W|about\s|approximately\s|around\s|roughly\s|only\s|a\s|an\s|just\s|nearly\s)*$",
    re.IGNORECASE,
)
_MOST_FIGURES: Final = 60
_SHORT: Final = 80
_NEGATED_AFTER: Final = re.compile(
    r"\s(?:net\s)?(?:loss|deficit|decrease|decline|drop|reduction|outflow)\b", re.IGNORECASE
)
_WHOLE_FRACTION: Final = re.compile(r"\W*\(?([0-9]{1,9})\)?\s?/\s?\(?([0-9]{1,9})\)?\W*")
_WHOLE_ZERO: Final = re.compile(
    r"^\W*(?:none|nothing|nil|zero|no\s(?:charge|fee|amount|cost|restructuring)[\w\s]{0,40})\W*$", re.IGNORECASE
)


def asked(question: str, kind: Kind, scale: Decimal | None, fraction: bool) -> Asked:
    """Read what the question wants. `scale` and `fraction` are what the reference declares of its own unit."""
    found = _ASKED_SCALE.search(question)
    named = SCALES[(found[1] or found[2]).lower()] if found else scale
    places = _PLACES.search(question)
    return Asked(
        kind=kind,
        scale=named,
        places=_place_count((places[1] or places[2]).lower()) if places else None,
        fraction=fraction,
        words=frozenset(_WORD.findall(question.lower())) - _STOP,
        years=frozenset(year[-2:] for year in _YEAR.findall(question)),
        change=_CHANGE.search(question) is not None,
        outflow=kind == "money" and _asks_outflow(question),
    )


def _asks_outflow(question: str) -> bool:
    asking = _STATEMENTS.sub("", question)
    return bool(_OUTFLOW.search(asking)) and not _MIXED.search(asking)


def _place_count(word: str) -> int:
    return _PLACE_WORDS[word] if word in _PLACE_WORDS else int(word)


@dataclass(frozen=True, slots=True)
class _Line:
    """One sentence with the figures in it that could be an answer, and how much it looks like the answer's place."""

    part: Sentence
    figures: tuple[Figure, ...]
    everything: tuple[Figure, ...]
    rank: tuple[float, ...]


def choose(text: str, wanted: Asked) -> Choice:
    """The answer's figure in a text that `figures.plain` has been through."""
    if _WHOLE_ZERO.match(text[:80]) and len(text) < 80:
        return Choice(Figure(Decimal(0), Decimal(0), Decimal(1), "plain", Decimal(1), 0, len(text), scaled=True))
    fraction = _WHOLE_FRACTION.fullmatch(text[:80]) if len(text) < _SHORT else None
    if fraction and int(fraction[2]):
        number = Decimal(fraction[1]) / Decimal(fraction[2])
        return Choice(Figure(number, number, Decimal(1), "plain", Decimal(1), 0, len(text)))
    figures = read_plain(text)
    lines = _lines(text, figures, wanted)
    if not lines:
        return _without_amounts(text, figures)
    line = max(lines, key=lambda line: line.rank)
    return _choose_in(text, line, wanted)


def _without_amounts(text: str, figures: Sequence[Figure]) -> Choice:
    """A bare number that looked like a year or a list number is still an answer where there is nothing else."""
    words = [figure for figure in figures if figure.role == "word"]
    if len(words) == 1 and len(text) < _SHORT:
        return Choice(words[0])
    rest = [figure for figure in figures if figure.role in ("year", "period", "ordinal", "list")]
    if len(rest) == 1 and len(text.strip(" .\n*")) <= rest[0].end - rest[0].start + 40 and rest[0].role != "list":
        return Choice(rest[0])
    return Choice(None, "no answer")


def _lines(text: str, figures: Sequence[Figure], wanted: Asked) -> list[_Line]:
    """The sentences that hold a figure of the wanted kind, ranked."""
    amounts = [figure for figure in figures if figure.role == "amount"]
    fit = _fitting(amounts, wanted)
    lines, place, heard = [], 0, ""
    parts = sentences(text)
    corrected = max((m.start() for m in _CORRECTION.finditer(text)), default=-1)
    waiting = False
    for number, part in enumerate(parts):
        end = part.start + len(part.text)
        inside, everything = [], []
        while place < len(amounts) and amounts[place].start < end:
            if amounts[place].start >= part.start:
                everything.append(amounts[place])
                if amounts[place] in fit:
                    inside.append(amounts[place])
            place += 1
        headline = number == 0 and not _PROSE.search(part.text)
        explicit = headline or waiting or _EXPLICIT.search(part.text) is not None
        if inside:
            rank = _rank(text, part, heard, inside, wanted, explicit, corrected, number)
            lines.append(_line(text, part, inside, everything, rank))
        waiting = explicit and not everything
        # A value on a line of its own belongs to the words before the colon.
        heard = part.text if part.text.rstrip(" *").endswith((":", "=")) or not part.text.strip(" |-:*") else ""
    return lines


def _line(text: str, part: Sentence, inside: list[Figure], everything: list[Figure], rank: tuple[float, ...]) -> _Line:
    """A sentence as it is weighed: of a listing only the end, so that no text takes long."""
    if len(everything) > _MOST_FIGURES:
        start = everything[-_MOST_FIGURES].start
        part = Sentence(text[start : part.start + len(part.text)], start)
        inside = [figure for figure in inside if figure.start >= start] or inside[-1:]
        everything = everything[-_MOST_FIGURES:] if inside[0].start >= start else inside
    return _Line(part, tuple(inside), tuple(everything), rank)


def _rank(
    text: str,
    part: Sentence,
    heard: str,
    inside: Sequence[Figure],
    wanted: Asked,
    explicit: bool,
    corrected: int,
    number: int,
) -> tuple[float, ...]:
    """How much the sentence looks like the place of the answer; compared field by field."""
    after = corrected >= 0 and any(figure.start > corrected for figure in inside)
    free = any(not operand(text, figure) and not _bounds(text, figure) for figure in inside)
    words = frozenset(_WORD.findall((heard + " " + part.text).lower()))
    overlap = len(words & wanted.words) / max(1, len(wanted.words))
    concludes = part.concludes or _THEREFORE.search(part.text) is not None
    result = "=" in part.text or "≈" in part.text
    period = max(
        _period(
            text[max(part.start, figure.start - 80) : figure.start],
            text[figure.end : figure.end + 60].partition("\n")[0],
            wanted,
        )
        for figure in inside
    )
    return (
        float(free),
        float(after),
        float(explicit),
        float(concludes),
        min(period, 0.0),
        round(overlap, 1) + (0.2 if result else 0.0),
        float(number),
    )


def _bounds(text: str, figure: Figure) -> bool:
    """Whether the figure is one that something is measured against: "above 1", "for every $1"."""
    return _BOUND.search(text[max(0, figure.start - 24) : figure.start]) is not None


def _fitting(amounts: Sequence[Figure], wanted: Asked) -> set[Figure]:
    """The figures whose unit can answer the question; all of them where none can."""
    preferred: tuple[str, ...] = {
        "percent": ("percent", "bps"),
        "months": ("months",),
        "money": ("money",),
    }.get(wanted.kind, ("plain", "percent", "bps", "months"))
    fit = {figure for figure in amounts if figure.unit in preferred}
    if wanted.kind == "money":
        fit |= {figure for figure in amounts if figure.unit == "plain"}
    if wanted.kind in ("percent", "months"):
        # A fraction answers a question for a percentage, but only where no percentage is given.
        fit = fit or {figure for figure in amounts if figure.unit == "plain"}
    return fit or set(amounts)


def _choose_in(text: str, line: _Line, wanted: Asked) -> Choice:
    """The answer among the figures of one sentence."""
    figures: Sequence[Figure] = [figure for figure in line.figures if not operand(text, figure)] or list(line.figures)
    if wanted.kind == "number":
        figures = [figure for figure in figures if not _is_base(text, figure)] or figures
    corrections = [m.end() for m in _CORRECTION.finditer(line.part.text)]
    if corrections:
        later = [figure for figure in figures if figure.start >= line.part.start + corrections[-1]]
        earlier = [figure for figure in figures if figure.start < line.part.start + corrections[-1]]
        figures = later or earlier
    if links := [m.end() for m in _THEREFORE.finditer(line.part.text)]:
        figures = [figure for figure in figures if figure.start >= line.part.start + links[-1]] or figures
    figures = _moved_to(text, figures, line.part, wanted)
    if span := _range(text, figures, line.part):
        return Choice(None, f"no answer: a range, {text[span[0].start : span[1].end].strip()}")
    best = max(figures, key=lambda figure: _weight(text, figure, line, wanted, figures))
    restated, rival = _alternatives(text, best, line.figures, line.everything)
    if rival is not None:
        return Choice(
            None, f"no answer: {text[best.start : best.end].strip()} or {text[rival.start : rival.end].strip()}"
        )
    lead, tail = text[max(line.part.start, best.start - 90) : best.start], text[best.end : best.end + 20]
    negated = _NEGATED.search(lead) or _NEGATED_AFTER.match(tail)
    best = _headed(text, _with_months(text, best, line.figures), wanted)
    return Choice(best, "", restated, negated is not None)


def _headed(text: str, best: Figure, wanted: Asked) -> Figure:
    """The figure in the scale of a heading before it, such as "(in thousands)", if no amount has a scale of its own."""
    if wanted.kind != "money" or best.scaled or best.unit not in ("money", "plain"):
        return best
    heading = _HEADING.search(text, 0, best.start)
    if not heading or _CONVERTS.search(text, heading.end()) or any(figure.scaled for figure in read_plain(text)):
        return best
    scale = SCALES[heading[1].lower()]
    return best if scale == wanted.scale else replace(best, value=best.value * scale, scale=scale, scaled=True)


def _with_months(text: str, best: Figure, figures: Sequence[Figure]) -> Figure:
    """ "2 years and 6 months" is one length of time."""
    if best.unit != "months" or best.value == best.number:
        return best
    for other in figures:
        beside = re.fullmatch(r",?\s(?:and\s)?", text[best.end : other.start])
        if beside and other.unit == "months" and other.value == other.number:
            total = best.value + other.value
            return replace(best, value=total, number=total, end=other.end)
    return best


def _is_base(text: str, figure: Figure) -> bool:
    """The 1 of "1.73 to 1" and "1.73:1"."""
    return (
        figure.number == 1
        and re.search(r"[0-9]\s?(?:to|:)\s?$", text[max(0, figure.start - 5) : figure.start]) is not None
    )


def _moved_to(text: str, figures: Sequence[Figure], part: Sentence, wanted: Asked) -> Sequence[Figure]:
    """Of "by 230 bps, from 39.0 % to 41.3 %": where it moved to, or, if the change was asked for, by how much."""
    for low, high in pairwise(figures):
        if not re.search(r"\bfrom\b[^.;0-9]{0,40}$", text[max(part.start, low.start - 60) : low.start], re.IGNORECASE):
            continue
        if not re.search(r"\bto\s[^.;0-9]{0,24}$", text[low.end : high.start], re.IGNORECASE):
            continue
        others = [figure for figure in figures if figure not in (low, high)]
        return (others or figures) if wanted.change else [figure for figure in figures if figure is high] or figures
    return figures


def _range(text: str, figures: Sequence[Figure], part: Sentence) -> tuple[Figure, Figure] | None:
    """Two figures that bound a value and give none: "between 10 and 12", "10-12", "10 to 12"."""
    for low, high in pairwise(figures):
        link = text[low.end : high.start]
        if len(link) > 24 or not _RANGE_LINK.match(link) or low.number == high.number:
            continue
        if low.unit != high.unit and "plain" not in (low.unit, high.unit):
            continue
        lead = text[max(part.start, low.start - 40) : low.start]
        word = link.strip().split(" ")[0].lower()
        if word == "and" and not _RANGE_LEAD.search(lead):
            continue
        if word in ("to", "through", "until") and re.search(
            r"\b(?:from|rose|fell|grew|increased|decreased|changed|declined|dropped|went)\b", lead, re.IGNORECASE
        ):
            continue
        return low, high
    return None


def _weight(text: str, figure: Figure, line: _Line, wanted: Asked, figures: Sequence[Figure]) -> tuple[float, ...]:
    """How much a figure looks like the answer within its sentence; compared field by field."""
    lead = text[max(line.part.start, figure.start - 80) : figure.start]
    tail = text[figure.end : figure.end + 60]
    equals = max(text.rfind("=", line.part.start, figure.start), text.rfind("≈", line.part.start, figure.start))
    last_equals = max(line.part.text.rfind("="), line.part.text.rfind("≈")) + line.part.start
    aside = text.count("(", line.part.start, figure.end) > text.count(")", line.part.start, figure.end)
    return (
        float(not _COMPARED.search(lead) and not _bounds(text, figure)),
        float(wanted.change or not _BY.search(lead)),
        float(not aside or len(figures) == 1),
        _period(lead, tail, wanted),
        float(last_equals < line.part.start or equals == last_equals),
        float(bool(_VERB.search(lead))),
        float(_asked_unit(figure, wanted)),
        _clause(text, figure, line, wanted),
        -float(figure.start),
    )


def _period(lead: str, tail: str, wanted: Asked) -> float:
    """1 where the figure's nearest year is one that was asked for, -1 where it is another, 0 where there is none."""
    if not wanted.years:
        return 0.0
    following = re.match(
        r"(?!\W*(?:and|but|while)\s)[^.;,$%0-9|\n]{0,24}?(?:FY|fiscal(?:\syear)?\s?|in\s|for\s|of\s)?'?((?:19|20)[0-9]{2}|(?<=FY)[0-9]{2})\b",
        tail,
        re.IGNORECASE,
    )
    if following:
        return 1.0 if following[1][-2:] in wanted.years else -1.0
    leading = re.search(r"(?:FY\s?|\b)((?:19|20)[0-9]{2}|(?<=FY)[0-9]{2})[^0-9]{0,28}$", lead, re.IGNORECASE)
    if leading:
        return 1.0 if leading[1][-2:] in wanted.years else -1.0
    return 0.0


def _asked_unit(figure: Figure, wanted: Asked) -> bool:
    return wanted.kind != "money" or wanted.scale is None or not figure.scaled or figure.scale == wanted.scale


def _clause(text: str, figure: Figure, line: _Line, wanted: Asked) -> float:
    """How many of the question's words stand between the figure before and this one."""
    before = max((other.end for other in line.everything if other.end <= figure.start), default=line.part.start)
    return float(len(frozenset(_WORD.findall(text[before : figure.start].lower())) & wanted.words))


def _alternatives(
    text: str, best: Figure, figures: Sequence[Figure], everything: Sequence[Figure]
) -> tuple[tuple[Figure, ...], Figure | None]:
    """What the answer is said to be as well: equal restatements, or a rival value, which makes it no answer."""
    restated = []
    place = everything.index(best)
    for other in everything[place + 1 : place + 2]:
        link = text[best.end : other.start]
        if len(link) > 40 or not _OR_LINK.match(link):
            continue
        if _SAYS_OR.search(link) and other.unit == best.unit and not _same(best, other):
            return (), other
        if other.unit != best.unit or _same(best, other):
            restated.append(other)
    return tuple(restated), None


def _same(one: Figure, other: Figure) -> bool:
    """Whether two figures of one unit are one value at the coarser of their two precisions, whatever the scale."""
    a, b = one.value, other.value
    if one.scaled != other.scaled and a != b:
        a, b = one.number, other.number
        return abs(a - b) <= max(abs(a), abs(b)) / 50 or abs(one.value - other.value) <= max(one.step, other.step)
    return abs(a - b) <= max(one.step, other.step, abs(a) / 100)
