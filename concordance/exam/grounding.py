"""Grounding: every amount of an answer stands literally in the document it cites, or the reply counts as a decline.

    grounded = ground(reply, {"statement-2031-03.pdf": text}, question="What was the balance in March 2031?")
    show(grounded.reply if grounded else f"I cannot tell: {grounded.reason}")

A document app hands over the documents that a reply cites, by name. Each is checked by itself and never as a pile: one
of them must hold every amount. Where `cite` names some of them, only those count. An amount stands in a document if its
digits do, grouping commas aside, and the periods that recognisers put for them; cents of zero may be left out, and may
be added to what the document marks as money. Signs are not compared. With a scale word it must stand so scaled, in
full, or under a heading such as "in millions". Bare whole numbers below 100 are amounts only where a reply has no
other.

The year guard reads the year that a form is *for*: a year by itself in its name's stem, else the first tax-year
declaration in its text. The date a form was mailed on is neither. A document for another year than the question asks
about grounds nothing, and where every document is for another year the reply is a decline, amounts or not.

It does not tell whether a figure is the right one: a wrong figure that stands in the document is grounded, and for the
referee. It reads no files and no clock, never raises on any text, and takes time linear in it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Final

from concordance.exam.figures import SCALES, Figure, number_of, plain, read, read_plain
from concordance.exam.referee import Reply, declines

DECLINE: Final = Reply(answer=None)
"""What a voided reply is replaced by. The referee takes it for an abstention."""

_SHOWN: Final = 3


@dataclass(frozen=True, slots=True)
class Grounded:
    """A reply that may be shown, or a decline and its reason. True if it may be shown."""

    reply: Reply
    reason: str = ""
    document: str = ""
    """The document that holds every amount, if there are amounts."""
    missing: tuple[str, ...] = ()
    """The amounts that stand in none, or not in one with the others."""

    def __bool__(self) -> bool:
        return not self.reason


@dataclass(frozen=True, slots=True)
class Amount:
    """An amount as a reply prints it, and the readings of which one must stand in the document."""

    printed: str
    digits: tuple[str, ...]
    words: str = ""
    heading: tuple[str, Decimal] | None = None
    """Digits that suffice under a heading of that scale."""


def ground(reply: Reply, cited_documents: Mapping[str, str], *, question: str = "", today: str = "") -> Grounded:
    """The reply if a cited document holds every amount of it, else a decline with its reason.

    `question` turns the year guard on; `today`, an ISO date, is what "this year" and "last year" are told by.
    """
    if _is_decline(reply):
        return Grounded(reply)
    cited = _named(reply.cite or "", cited_documents)
    if reason := year_conflict(question, cited, today):
        return Grounded(DECLINE, reason)
    amounts = amounts_of(reply)
    if not amounts:
        return Grounded(reply)
    if not cited:
        return Grounded(DECLINE, "the reply cites no document", missing=_printed(amounts))
    asked = years_asked(question, today)
    fitting = {name: text for name, text in cited.items() if not _for_another(name, text, asked)}
    lacking = {name: _lacking(amounts, text) for name, text in fitting.items()}
    for name, absent in lacking.items():
        if not absent:
            return Grounded(reply, document=name)
    nearest = min(lacking, key=lambda name: len(lacking[name]))
    missing = _printed(lacking[nearest])
    more = f" and {len(missing) - _SHOWN} more" if len(missing) > _SHOWN else ""
    verb = "does" if len(missing) == 1 else "do"
    reason = f"{', '.join(missing[:_SHOWN])}{more} {verb} not stand in {nearest}"
    return Grounded(DECLINE, reason, missing=missing)


def standing(reply: Reply, documents: Mapping[str, str]) -> tuple[str, ...]:
    """The documents, each by itself, in which every amount of a reply stands; none if it has no amount."""
    amounts = amounts_of(reply)
    return tuple(name for name, text in documents.items() if amounts and not _lacking(amounts, text))


def holds(text: str, document: str) -> bool:
    """Whether a text has amounts, and the document holds every one."""
    return bool(standing(Reply(text=text), {"": document}))


def _is_decline(reply: Reply) -> bool:
    if isinstance(reply.answer, (int, float)):
        return False
    spoken = (reply.answer if isinstance(reply.answer, str) and reply.answer.strip() else reply.text) or ""
    return (reply.answer is None and not spoken.strip()) or declines(spoken)


def _named(cite: str, documents: Mapping[str, str]) -> Mapping[str, str]:
    """The documents that a citation names; all of them if it names none, since then the caller has said so."""
    words = f" {' '.join(_words(cite))} "
    named = {name for name in documents if any(each and f" {each} " in words for each in _callings(name))}
    return {name: text for name, text in documents.items() if name in named} if named else documents


def _callings(name: str) -> Iterator[str]:
    """What a citation may call a document: its name, or the stem where that is no mere word such as "statement"."""
    yield " ".join(_words(name)) if _stem(name) != name else ""
    stem = _words(_stem(name))
    if len(stem) > 1 or any(character.isdigit() for character in name):
        yield " ".join(stem)


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", text.casefold())


def _printed(amounts: Iterable[Amount]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(amount.printed for amount in amounts))


# The amounts of a reply

_RUN: Final = re.compile(r"[0-9]++(?:[.,'][0-9]++)*+")
_DOTTED_MONEY: Final = re.compile(r"[0-9]{1,3}(?:\.[0-9]{3})++(?:\.[0-9]{2})?")
_SPACED: Final = re.compile(r"(?<![0-9.,])[0-9]{1,3}(?: [0-9]{3}(?![0-9]))++(?:[.,][0-9]{1,2}(?![0-9]))?")
_GROUPS: Final = re.compile(r"([1-9][0-9]{0,2}(?:[.,'][0-9]{3})++)(?:[.,]([0-9]{1,2}))?")
_CURRENCY: Final = re.compile(r"(?:[$£€¥₹]|USD|US|EUR|GBP)\s?\Z")
_FEW: Final = 2
_GROUPED: Final = 4
_LONGEST: Final = 40


def amounts_of(reply: Reply) -> tuple[Amount, ...]:
    """Every amount that a reply shows: in its answer and in the text beside it, but not in its citation."""
    found: list[Amount] = []
    if isinstance(reply.answer, (int, float)):
        found.append(_number(reply.answer))
    for part in (reply.answer, reply.text):
        if isinstance(part, str):
            found += _amounts(part)
    return tuple(dict.fromkeys(found))


def _number(value: float) -> Amount:
    """A number has no cents of its own: they may be there or not."""
    try:
        digits = format(abs(Decimal(repr(value))), "f")
    except (InvalidOperation, ValueError):
        digits = repr(value)
    whole, _, cents = digits.partition(".")
    cents = cents.rstrip("0")
    forms = {digits, whole if not cents else f"{whole}.{cents}", f"{whole}.{cents:0<2}"}
    return Amount(repr(value), tuple(sorted(form.lstrip("0") or "0" for form in forms)))


def _amounts(text: str) -> list[Amount]:
    cleaned = plain(text).text
    figures = read_plain(cleaned)
    found = [
        (figure.start, _amount(cleaned, figure), _is_small(figure)) for figure in figures if _counts(cleaned, figure)
    ]
    found += [(start, amount, False) for start, amount in _unread(cleaned, figures)]
    large = [amount for _, amount, small in sorted(found, key=lambda each: each[0]) if not small]
    return large or [amount for _, amount, _ in found[:1]]


def _counts(text: str, figure: Figure) -> bool:
    """Whether a figure is an amount. Two decimals are money, whatever part a figure seems to play."""
    if not any(character.isdigit() for character in text[figure.start : figure.end]):
        return figure.role == "amount" and (figure.scaled or figure.unit in ("money", "percent", "bps"))
    return figure.role == "amount" or (figure.step == Decimal("0.01") and figure.role not in ("date", "year"))


def _is_small(figure: Figure) -> bool:
    """A count such as 2 accounts or 12 months, which no document need print."""
    whole = figure.step == 1 and not figure.scaled and abs(figure.number) < 10**_FEW
    return whole and figure.unit in ("plain", "months")


def _amount(text: str, figure: Figure) -> Amount:
    printed = text[figure.start : figure.end].strip()
    if (spaced := _SPACED.search(printed)) is not None and not figure.scaled:
        return Amount(printed, (_form(figure.number), _raw(spaced[0])))
    run = _RUN.search(printed)
    words = "" if run else " ".join(_words(printed))
    if not figure.scaled:
        digits = _normal(run[0]) if run else _form(figure.value)
        return Amount(printed, (digits, *((_raw(run[0]),) if run else ())), words)
    scale = figure.scale
    number = _normal(run[0]) if run and spaced is None else _form(figure.number)
    return Amount(printed, (_form(figure.value), f"{number}×{_form(scale)}"), words, (number, scale))


def _unread(text: str, figures: Iterable[Figure]) -> Iterator[tuple[int, Amount]]:
    """Digits that are no figure, and may be money all the same: 1.234.56, or more digits than any sum has."""
    spans = iter([*((figure.start, figure.end) for figure in figures), (len(text), len(text))])
    start, end = next(spans)
    for run in _RUN.finditer(text):
        while end <= run.start() and start < len(text):
            start, end = next(spans)
        if start < run.end() and run.start() < end:
            continue
        money = _CURRENCY.search(text[max(0, run.start() - 4) : run.start()]) is not None
        long = len(run[0]) > _LONGEST
        if money or long or _DOTTED_MONEY.fullmatch(run[0]):
            yield run.start(), Amount(run[0][:_LONGEST], (_normal(run[0]), _raw(run[0])))


def _raw(run: str) -> str:
    """The digits as they are printed, so that a copy of what a recogniser read is found again."""
    return f"={run}"


def _normal(run: str) -> str:
    """Digits without grouping: 1,234.50, 1'234.50 and the recogniser's 1.234.50 are 1234.50."""
    value = number_of(run)
    if value is not None:
        return _form(value)
    return _degrouped(run) or re.sub(r"[.,']", "", run)


def _degrouped(run: str) -> str | None:
    """The digits with every separator taken for grouping, but one before cents. None where they cannot be so read."""
    found = _GROUPS.fullmatch(run)
    return re.sub(r"[.,']", "", found[1]) + (f".{found[2]}" if found[2] else "") if found else None


def _form(value: Decimal) -> str:
    whole, point, decimals = format(abs(value), "f").partition(".")
    if point and not decimals.strip("0") and len(decimals) != 2:
        point = decimals = ""
    return f"{whole.lstrip('0') or '0'}{point}{decimals}"


# What stands in a document

_TOKEN: Final = re.compile(
    r"(?P<run>(?<![0-9])[0-9]++(?:[.,'’][0-9]++)*+)"
    r"(?:[ -]?(?P<scale>thousand|million|billion|trillion|[mb]n|[kmb])(?![a-z0-9]))?",
    re.IGNORECASE,
)
_MARKED: Final = re.compile(r"(?:[$£€¥₹]|USD|EUR|GBP)\s?\Z")
_MARKED_AFTER: Final = re.compile(r"\s?(?:USD|EUR|GBP|dollars|€|£)")
_PART: Final = re.compile(r"[0-9]++(?:\.[0-9]++)?+")
_HEADING: Final = re.compile(
    r"(?<![a-z])in (?:US |U\.S\. |US)?\$? ?(thousand|million|billion|trillion)s?(?![a-z])|\$ ?(000)s?(?![0-9])",
    re.IGNORECASE,
)
_DROPPED: Final = frozenset("\u200b\u200c\u200d\u2060\ufeff\u00ad\u200e\u200f")
_LETTERS: Final = {"k": "thousand", "m": "million", "b": "billion"}


@dataclass(frozen=True, slots=True)
class _Index:
    """What a document prints: readings of its digits, the scales of its headings."""

    digits: frozenset[str]
    scales: frozenset[Decimal]


def _lacking(amounts: Iterable[Amount], document: str) -> list[Amount]:
    """The amounts that do not stand in one document's own text."""
    amounts = tuple(amounts)
    text = _legible(document)
    index = _index(text)
    words = _worded(text) if any(amount.words for amount in amounts) else frozenset()
    return [amount for amount in amounts if not _stands(amount, index, words)]


def _stands(amount: Amount, index: _Index, words: frozenset[str]) -> bool:
    if not index.digits.isdisjoint(amount.digits) or (amount.words and amount.words in words):
        return True
    return amount.heading is not None and amount.heading[1] in index.scales and amount.heading[0] in index.digits


def _index(text: str) -> _Index:
    digits: set[str] = set()
    for token in _TOKEN.finditer(text):
        run = token["run"].replace("’", "'")
        marked = _MARKED.search(text[max(0, token.start() - 4) : token.start()]) or _MARKED_AFTER.match(
            text, token.end("run")
        )
        forms = _readings(run, marked=marked is not None)
        digits |= forms
        digits.add(_raw(run))
        if token["scale"]:
            word = token["scale"].lower()
            scale = SCALES[_LETTERS.get(word, word)]
            number = number_of(run)
            digits |= {f"{form}×{_form(scale)}" for form in forms}
            digits |= {_form(number * scale)} if number is not None else set()
    for spaced in _SPACED.finditer(text):
        groups = spaced[0].split(" ")
        for first in range(len(groups)):  # columns side by side look like grouping too
            digits |= {_raw(" ".join(groups[first:last])) for last in range(first + 2, first + 2 + _GROUPED)}
    scales = {SCALES[(match[1] or "thousand").lower()] for match in _HEADING.finditer(text)}
    return _Index(frozenset(digits), frozenset(scales))


def _readings(run: str, *, marked: bool) -> set[str]:
    """What digits may mean: as printed, and with periods for grouping; without cents of zero, or with them."""
    degrouped = _degrouped(run)
    if degrouped is None and number_of(run) is None:
        forms = {_normal(part[0]) for part in _PART.finditer(run)}  # a listing without spaces
    else:
        forms = {_normal(run), degrouped or _normal(run)}
    for form in tuple(forms):
        if form.endswith(".00"):
            forms.add(form[:-3])
        elif marked and "." not in form:
            forms.add(f"{form}.00")
    return forms


def _worded(text: str) -> frozenset[str]:
    """The spelled numbers of a text, with their units."""
    spelled = (line[figure.start : figure.end] for line in text.splitlines() for figure in read(line))
    return frozenset(" ".join(_words(each)) for each in spelled if not any(c.isdigit() for c in each))


def _legible(text: str) -> str:
    """A document's text with plain digits and spaces, and nothing that a reader cannot see."""
    if text.isascii():
        return text
    return "".join(_character(character) for character in text if character not in _DROPPED)


def _character(character: str) -> str:
    if not character.isascii() and character.isdecimal():
        return str(unicodedata.decimal(character))
    return {"，": ",", "．": ".", "＄": "$", "\u00a0": " ", "\u202f": " ", "\u2009": " "}.get(character, character)


# The year that a form is for

_BOUNDED: Final = re.compile(r"(?<![0-9])(?:19|20)[0-9]{2}(?![0-9])")
_MONTHS: Final = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\.?"
_FULL_DATE: Final = re.compile(
    r"(?<![0-9])(?:[0-9]{4}[-_./ ][0-9]{1,2}[-_./ ][0-9]{1,2}|[0-9]{1,2}[-_./ ][0-9]{1,2}[-_./ ][0-9]{4})(?![0-9])"
    rf"|(?<![a-z]){_MONTHS}[-_ ]?[0-9]{{1,2}}(?:st|nd|rd|th)?,?[-_ ]{{1,2}}[0-9]{{4}}(?![0-9])"
    rf"|(?<![0-9])[0-9]{{1,2}}(?:st|nd|rd|th)?[-_ ]?{_MONTHS}[-_ ,]{{0,2}}[0-9]{{4}}(?![0-9])",
    re.IGNORECASE,
)
_YEAR: Final = r"(?P<{}>(?:19|20)[0-9]{{2}})(?![0-9]|[.,][0-9])"
_DECLARED: Final = re.compile(
    r"(?<![a-z])(?:tax|calendar|taxable|reporting)[ \t]{1,3}year"
    r"(?:[ \t]{1,3}(?:of|ended|ending|is|beginning))?[ \t]{0,3}:?[ \t]{0,3}"
    rf"(?:(?:{_MONTHS})[ \t][0-9]{{1,2}},?[ \t])?{_YEAR.format('after')}"
    r"|(?<![a-z])for[ \t](?:the[ \t])?year(?:[ \t]ended|[ \t]ending)?[ \t]"
    rf"(?:{_MONTHS}[ \t][0-9]{{1,2}},?[ \t])?{_YEAR.format('for')}"
    r"|(?<![0-9.,$])(?P<before>(?:19|20)[0-9]{2})[ \t](?:tax|calendar|taxable)[ \t]year(?![a-z])"
    rf"|(?<![a-z])form[ \t][0-9a-z-]{{1,12}}[ \t]{{1,3}}\(?{_YEAR.format('form')}"
    r"|(?<![0-9.,$])(?P<titled>(?:19|20)[0-9]{2})[ \t]form[ \t][0-9a-z-]{1,12}(?![0-9a-z])",
    re.IGNORECASE,
)


def year_of(name: str, text: str) -> frozenset[int]:
    """The year that a document is for; nothing where it does not say, several where its name has several."""
    stem = _FULL_DATE.sub(" ", _stem(name))
    if years := _BOUNDED.findall(stem):
        return frozenset(map(int, years))
    declared = _DECLARED.search(_legible(text))
    return frozenset(int(year) for year in declared.groups() if year) if declared else frozenset()


def years_asked(question: str, today: str = "") -> frozenset[int]:
    """The years that a question names, dates aside; "this year" and "last year" where today's date is given."""
    years = {int(year) for year in _BOUNDED.findall(_FULL_DATE.sub(" ", question))}
    if now := _BOUNDED.match(today):
        this, lowered = int(now[0]), question.casefold()
        years |= {this} if re.search(r"\b(?:this|the current) (?:tax |calendar )?year\b", lowered) else set()
        years |= (
            {this - 1} if re.search(r"\b(?:last|the previous|the prior) (?:tax |calendar )?year\b", lowered) else set()
        )
    return frozenset(years)


def year_conflict(question: str, candidates: Mapping[str, str], today: str = "") -> str:
    """Why no candidate document can answer the question: each is for another year. Nothing where one may."""
    asked = years_asked(question, today)
    if not candidates or not all(_for_another(name, text, asked) for name, text in candidates.items()):
        return ""
    shown = [f"{name} is for {_listed(year_of(name, text))}" for name, text in candidates.items()]
    return f"asked about {_listed(asked)}, and {'; '.join(shown[:_SHOWN])}{'; …' if len(shown) > _SHOWN else ''}"


def _for_another(name: str, text: str, asked: frozenset[int]) -> bool:
    declared = year_of(name, text) if asked else frozenset()
    return bool(declared) and declared.isdisjoint(asked)


def _listed(years: Iterable[int]) -> str:
    return ", ".join(map(str, sorted(years)))


def _stem(name: str) -> str:
    """The last part of a path, without an ending such as .pdf: statement.2031 has none."""
    return re.sub(r"(?:\.[A-Za-z][A-Za-z0-9]{0,4})+\Z", "", re.split(r"[/\\]", name)[-1])
