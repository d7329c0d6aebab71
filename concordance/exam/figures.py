"""Figures in free text: every number a reader would see, with its value, unit, scale and what part it plays.

`read` returns all of them in order, those included that are no amounts (years, dates, list numbers, names such as
3M): a caller that wants amounts takes those whose role is `amount`. Values are exact decimals. It does not choose
among figures, and it knows no question: `referee` does both.

Linear in the length of the text, whatever it holds: every pattern is possessive or bounded, and a run of more than 40
digits is no figure.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from decimal import Context, Decimal
from typing import Final, Literal, NamedTuple, TypeAlias

Unit: TypeAlias = Literal["money", "percent", "bps", "months", "plain"]
Role: TypeAlias = Literal[
    "amount", "year", "date", "list", "reference", "name", "ordinal", "rounding", "period", "word"
]

_EXACT: Final = Context(prec=400)
_LONGEST: Final = 40

SCALES: Final[dict[str, Decimal]] = {
    **dict.fromkeys(("hundred", "hundreds"), Decimal(100)),
    **dict.fromkeys(("k", "thousand", "thousands", "thsd", "'000", "000s"), Decimal(1000)),
    **dict.fromkeys(("lakh", "lakhs", "lac", "lacs"), Decimal(10**5)),
    **dict.fromkeys(("m", "mm", "mn", "mln", "mio", "mil", "mill", "million", "millions"), Decimal(10**6)),
    **dict.fromkeys(("cr", "crore", "crores"), Decimal(10**7)),
    **dict.fromkeys(("b", "bn", "bln", "bil", "billion", "billions"), Decimal(10**9)),
    **dict.fromkeys(("t", "tn", "trn", "trillion", "trillions"), Decimal(10**12)),
}
"""What a scale word multiplies by."""

_LETTERS: Final = frozenset({"k", "m", "b", "t"})
_TENS: Final = {
    word: 10 * ten
    for ten, word in enumerate(["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"], 2)
}
_ONES: Final = {
    word: value
    for value, word in enumerate(
        [
            "zero",
            "one",
            "two",
            "three",
            "four",
            "five",
            "six",
            "seven",
            "eight",
            "nine",
            "ten",
            "eleven",
            "twelve",
            "thirteen",
            "fourteen",
            "fifteen",
            "sixteen",
            "seventeen",
            "eighteen",
            "nineteen",
        ]
    )
} | {"nil": 0}
_PARTS: Final = {
    "half": 2, "third": 3, "quarter": 4, "fourth": 4, "fifth": 5, "sixth": 6, "eighth": 8, "tenth": 10
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure. `value` is `number` (as printed, sign applied) times `scale`; `step` is one unit of its last digit.

    `start` and `end` bound it in the text that was read, sign, currency and unit included.
    """

    value: Decimal
    number: Decimal
    scale: Decimal
    unit: Unit
    step: Decimal
    start: int
    end: int
    role: Role = "amount"
    scaled: bool = False
    """A scale word stands with it, so that its magnitude is certain."""

    @property
    def dollar_shaped(self) -> bool:
        """It is money beyond doubt, or printed as money is: two decimals and no unit."""
        return self.role == "amount" and (
            self.unit == "money" or (self.unit == "plain" and not self.scaled and self.step == Decimal("0.01"))
        )


class Plain(NamedTuple):
    """A text without its typography, and where each character came from."""

    text: str
    origin: list[int]

    def source(self, start: int, end: int) -> tuple[int, int]:
        """Where a span of the plain text lies in the original."""
        return self.origin[start], (self.origin[end - 1] + 1 if end > start else self.origin[start])


_MINUS: Final = frozenset("-−‐‑‒–—﹣－⁻")
_APOSTROPHES: Final = frozenset("'’‘ʼ＇`´")
_DROPPED: Final = frozenset("\u200b\u200c\u200d\u2060\ufeff\u00ad\u200e\u200f")
_COMMANDS: Final[dict[str, str]] = {
    "times": "×",
    "cdot": "×",
    "div": "÷",
    "approx": "≈",
    "simeq": "≈",
    "sim": "≈",
    "cong": "≈",
    "quad": " ",
    "qquad": " ",
    "pm": "±",
    "le": "≤",
    "leq": "≤",
    "ge": "≥",
    "geq": "≥",
    "to": "→",
    "Rightarrow": "→",
    "rightarrow": "→",
    "implies": "→",
    "therefore": "Therefore",
    "text": "",
    "textbf": "",
    "mathbf": "",
    "mathrm": "",
    "textrm": "",
    "mathit": "",
    "textit": "",
    "operatorname": "",
    "boxed": "",
    "fbox": "",
    "left": "",
    "right": "",
    "displaystyle": "",
    "frac": "",
    "dfrac": "",
    "tfrac": "",
    "large": "",
    "Large": "",
    "bf": "",
}
_COMMAND: Final = re.compile(r"\\([A-Za-z]{1,16})\*?")
_FRACTION: Final = re.compile(r"\\[dt]?frac\s?\{([^{}]{0,200})\}\s?\{([^{}]{0,200})\}")
_ENTITY: Final = re.compile(r"&(nbsp|amp|minus|thinsp|#160|#36);")
_ENTITIES: Final = {"nbsp": " ", "amp": "&", "minus": "-", "thinsp": " ", "#160": " ", "#36": "$"}


def plain(text: str) -> Plain:
    """The text as a reader sees it: LaTeX, Markdown emphasis, odd spaces, odd minus signs and odd digits replaced."""
    if not text.isascii() or not _TYPOGRAPHY.isdisjoint(text):
        return _plain(text)
    return Plain(text, list(range(len(text) + 1)))


_TYPOGRAPHY: Final = frozenset("\\{}*_`&\r\t\v\f~'")


def _plain(text: str) -> Plain:
    out: list[str] = []
    origin: list[int] = []

    def put(piece: str, at: int) -> None:
        out.append(piece)
        origin.extend([at] * len(piece))

    place, length = 0, len(text)
    fraction_ends: dict[int, str] = {}  # where a fraction's two closing braces stand, and what they turn into
    while place < length:
        character = text[place]
        if character == "\\":
            place = _latex(text, place, put, fraction_ends)
            continue
        if character == "&" and (entity := _ENTITY.match(text, place)):
            put(_ENTITIES[entity[1]], place)
            place = entity.end()
            continue
        if place in fraction_ends:
            put(fraction_ends[place], place)
        elif character in "{}" or (character in "*_" and _is_emphasis(text, place)):
            pass
        else:
            put(_character(character, text, place), place)
        place += 1
    origin.append(length)
    return Plain("".join(out), origin)


def _latex(text: str, place: int, put: Callable[[str, int], None], fraction_ends: dict[int, str]) -> int:
    """Read the command at `place`; return where the text goes on."""
    following = text[place + 1 : place + 2]
    if fraction := _FRACTION.match(text, place):
        put("(", place)
        fraction_ends[fraction.end(1)] = ")/("
        fraction_ends[fraction.end(2)] = ")"
        return fraction.start(1)
    if command := _COMMAND.match(text, place):
        name = command[1]
        put(_COMMANDS[name] if name in _COMMANDS else text[place : command.end()], place)
        return command.end()
    if following and following in "$%&#_{}":
        put(following, place)
        return place + 2
    if following and following in ",;:! []()":
        put("" if following in "![]()" else " ", place)
        return place + 2
    put("\n" if following == "\\" else "\\", place)
    return place + (2 if following == "\\" else 1)


def _is_emphasis(text: str, place: int) -> bool:
    """Asterisks and underscores that mark words up, and not a product or a file name."""
    character = text[place]
    before = text[place - 1] if place else " "
    after = text[place + 1] if place + 1 < len(text) else " "
    if character in (before, after):
        return True
    if before == " " and after == " ":
        return False
    if before == "\n" or (not place and after == " "):
        return False  # a bullet
    return not (before.isalnum() and after.isalnum())


def _character(character: str, text: str, place: int) -> str:
    if character.isascii():
        if character in "\r\t\v\f":
            return " " if character != "\r" else ("" if text[place + 1 : place + 2] == "\n" else "\n")
        return character if character != "`" else ""
    if character in _DROPPED:
        return ""
    if character in _MINUS:
        return "-"
    if character in _APOSTROPHES:
        return "'"
    category = unicodedata.category(character)
    if category == "Zs":
        return " "
    if category in ("Zl", "Zp"):
        return "\n"
    if category == "Nd":
        return str(unicodedata.decimal(character))
    if category == "No" and unicodedata.decomposition(character).startswith("<fraction>"):
        return format(unicodedata.numeric(character), ".10g").lstrip("0")
    return {
        "，": ",",
        "．": ".",
        "％": "%",
        "＄": "$",
        "（": "(",
        "）": ")",
        "：": ":",
        "﹩": "$",
        "＝": "=",
        "٪": "%",
    }.get(character, character)


_TOKEN: Final = re.compile(
    r"(?P<run>(?<![0-9])\.?+[0-9]++(?:(?:[.,']|\ (?=[0-9]{3}(?![0-9])))[0-9]++)*+)"
    r"|(?P<part>\b(?:(?:an?|"
    + "|".join(_ONES)
    + r")[\s-]|(?<!first\s)(?<!second\s)(?<!other\s)(?<!the\s)(?=half\sof\b))"
    r"(?:" + "|".join(_PARTS) + r"|halve)s?\b(?!\s(?:of\s)?(?:fiscal|FY|[12][0-9]{3}|ended|year)))"
    r"|(?P<word>\b(?:" + "|".join((*_ONES, *_TENS)) + r")\b)",
    re.IGNORECASE,
)
_CURRENCY_BEFORE: Final = re.compile(
    r"(?:(?<![A-Za-z])(?:US|CA|AU|NZ|HK|C|A|S|R)?\$|[£€¥₹₩₽]"
    r"|(?<![A-Za-z])(?:USD|EUR|GBP|JPY|INR|CHF|CAD|AUD|CNY|RMB|HKD|SGD|NZD|SEK|NOK|DKK|BRL|MXN|KRW|ZAR|Rs\.?|US\s?\$))\s{0,2}$",
    re.IGNORECASE,
)
_CURRENCY_AFTER: Final = re.compile(
    r"\.?\s{0,2}(?:of\s)?(?:(?:USD|EUR|GBP|JPY|INR|CHF|CAD|AUD|CNY|RMB|HKD|SGD|NZD|US\ ?dollars?"
    r"|U\.S\.\ ?dollars?|dollars?"
    r"|euros?|pounds?\ sterling|yen|rupees?|yuan|francs?)(?![A-Za-z])|[€£₹])",
    re.IGNORECASE,
)
_CENTS: Final = re.compile(r"\s?(?:cents?(?![A-Za-z])|¢)", re.IGNORECASE)
_SCALE: Final = re.compile(
    r"(?P<gap>[\ -]?)\(?(?:(?P<in>in|of)\s)?(?P<word>"
    r"hundreds?|thousands?|thsd|lakhs?|lacs?|millions?|mill|mil|mln|mio|mn|mm|crores?|cr|billions?|bln|bil|bn"
    r"|trillions?|trn|tn|k|m|b|t)(?![A-Za-z0-9&])\)?",
    re.IGNORECASE,
)
_IN_SCALE: Final = re.compile(
    r"\s?\(?\s?(?:(?:expressed|stated|shown|reported|presented)\s)?in\s(?:(?:US|U\.S\.)\s)?(?:USD\s|US\$\s?|\$\s?)?"
    r"(?P<word>hundreds|thousands?|lakhs?|millions?|crores?|billions?|trillions?)(?![A-Za-z])"
    r"(?:\sof\s(?:US\s|U\.S\.\s)?dollars|\s(?:USD|dollars))?\)?",
    re.IGNORECASE,
)
_YEAR_HEADING: Final = re.compile(r"(?:19|20)[0-9]{2}\s\(?in\s", re.IGNORECASE)
"""The year over a table: "December 31, 2022 (in thousands)"."""
_POWER: Final = re.compile(r"\s?[×x*]\s?10\s?\^\s?\(?(-?[0-9]{1,2})\)?|[eE]([+-]?[0-9]{1,2})(?![0-9A-Za-z])")
_NEXT_WORD: Final = re.compile(
    r"(?:[\s-]|,?\sand\s|,\s)(?P<word>"
    + "|".join((*_ONES, *_TENS))
    + r"|hundred|thousand|million|billion|trillion)(?![A-Za-z])",
    re.IGNORECASE,
)
_OF_UNIT: Final = re.compile(r"\s(?:of\s)?(?:an?\s|one\s)?(?=per\s?cent|%|percentage|basis)", re.IGNORECASE)
_PERCENT: Final = re.compile(
    r"\s{0,2}-?(?:%\s?-?(?:points?|pts?)|%|per\s?cent(?:s|age)?(?:[\s-]points?)?(?![A-Za-z])"
    r"|(?:pct|ppts?|pps?)(?![A-Za-z]))",
    re.IGNORECASE,
)
_BPS: Final = re.compile(r"\s?-?(?:bps?|basis[\s-]points?)(?![A-Za-z])", re.IGNORECASE)
_MONTHS: Final = re.compile(r"\s?(?P<word>months?|mos?|years?|yrs?)(?![A-Za-z])", re.IGNORECASE)
_NAMES: Final = re.compile(
    r"(?:3M(?![A-Za-z0-9])|(?:10|8|20|6|11|40|13|144|424|485)-?\ ?(?:K|Q|F|A|D|G)(?:/A)?(?:T|s)?(?![A-Za-z0-9])"
    r"|401\s?\(?k\)?|403\s?\(?b\)?|[0-9]+[DG](?![A-Za-z])|7-Eleven|5G|1099|20th|21st\ Century|24/7)"
)
_ORDINAL: Final = re.compile(r"(?:st|nd|rd|th)(?![A-Za-z])", re.IGNORECASE)
_ROUNDING: Final = re.compile(
    r"\s?(?:-\s?)?(?:decimals?|d\.?p\.?|significant|sig\.?\ ?figs?|places)(?![A-Za-z])", re.IGNORECASE
)
_MONTH: Final = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)"
)
_MONTH_BEFORE: Final = re.compile(r"(?<![A-Za-z])" + _MONTH + r"\.?\ {0,2}$", re.IGNORECASE)
_MONTH_AFTER: Final = re.compile(r"(?:st|nd|rd|th)?\ (?:of\ )?" + _MONTH + r"(?![A-Za-z])", re.IGNORECASE)
_DATE: Final = re.compile(
    r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?![0-9])|[0-9]{1,2}/[0-9]{1,2}/(?:[0-9]{4}|[0-9]{2})(?![0-9/])"
)
_DATE_HEAD: Final = re.compile(r"(?<![0-9])[0-9]{1,4}[/-](?:[0-9]{1,2}[/-])?$")
_REFERENCE_BEFORE: Final = re.compile(
    r"(?<![A-Za-z])(?:pages?|pgs?\.?|pp?\.|notes?|items?|sections?|sec\.|tables?|exhibits?|fig(?:ure|\.)|steps?|footnotes?|lines?"
    r"|chapters?|parts?|question|form|no\.|nos\.|level|topic|asc|asu|ifrs|ias|sfas|fas|appendix|schedule|article|rule"
    r"|paragraph|s&p|fortune|russell|nasdaq|chunk|source|doc(?:ument)?|ref|covid|version|v\.|stage|phase|class|series|tier"
    r"|top|world|route|section\s§|§|fte|ftse|stoxx|slide|column|row|formula|equation|method|approach|option|case|scenario)"
    r"\s?[#(-]?\s?$|(?<!\#)\#$",
    re.IGNORECASE,
)
_FISCAL_BEFORE: Final = re.compile(
    r"(?<![A-Za-z])(?:fy|cy|fiscal(?:\ year)?|q[1-4]|[1-4]q|h[12]|year)[\s'’]{0,2}$", re.IGNORECASE
)
_PERIOD_AFTER: Final = re.compile(
    r"-(?:year|yr|month|quarter|week|day|hour|for|to|fold|point|way|step|digit|part|time|period|line|tier|star)s?(?![A-Za-z])"
    r"|\ ?(?:year|yr|month|quarter|week|day)s?\ "
    r"(?:average|avg|period|total|revenue|mean|cagr|compound|span|ended|ending|capex|range)",
    re.IGNORECASE,
)
_PERIOD_WORD: Final = re.compile(
    r"\ (?:fiscal\ )?(?:years?|quarters?|percentages"
    r"|ratios|figures|values|numbers|steps|items|companies|segments)(?![A-Za-z])",
    re.IGNORECASE,
)
_VERB_BEFORE: Final = re.compile(
    r"(?:^|[=:≈~|\n(>]|[0-9)]\ |(?<![A-Za-z])"
    r"(?:is|was|were|are|be|of|to|by|at|from|about|approximately|around|answer|total|equals?))\s{0,3}$",
    re.IGNORECASE,
)


def read(text: str) -> tuple[Figure, ...]:
    """Every figure of the text, in order. Spans are those of `text` itself."""
    cleaned = plain(text)
    return tuple(_moved(figure, cleaned) for figure in read_plain(cleaned.text))


def _moved(figure: Figure, cleaned: Plain) -> Figure:
    start, end = cleaned.source(figure.start, figure.end)
    return replace(figure, start=start, end=end)


def read_plain(text: str) -> tuple[Figure, ...]:
    """The same of a text that `plain` has been through already."""
    return tuple(_figures(text))


def _figures(text: str) -> Iterator[Figure]:
    taken = 0
    for token in _TOKEN.finditer(text):
        if token.start() < taken:
            continue
        if not token["run"]:
            spelled = _spelled(text, token) if token["word"] else _share(text, token)
            taken = spelled.end
            yield spelled
            continue
        for start, end in _pieces(text, token.start(), token.end()):
            if start < taken:
                continue
            figure = _printed(text, start, end)
            if figure is not None:
                taken = figure.end
                yield figure


def _spelled(text: str, token: re.Match[str]) -> Figure:
    """A number in words: an amount if it is nought or has a unit or a scale word, else just a word."""
    start, end, number, large = _number_words(text, token)
    if large:
        figure = replace(_with_unit(text, start, end, number, Decimal(1)), scaled=True)
    else:
        figure = _with_unit(text, start, end, number, Decimal(1))
    if text[end : end + 1] == "-" and not figure.scaled:
        return replace(figure, role="word")  # "zero-coupon", "two-year"
    if not number or figure.scaled or figure.unit in ("percent", "bps", "money"):
        return figure
    months = figure.unit == "months" and not _PERIOD_AFTER.match(text, end)
    return figure if months else replace(figure, role="word")


def _number_words(text: str, token: re.Match[str]) -> tuple[int, int, Decimal, bool]:
    """The span and value of "nine hundred sixty-nine", and whether it names a hundred or more itself.

    A scale word at its end is left for `_with_unit`, but where there was one before: "one billion five million".
    """
    word = token[0].lower()
    group, total, scaled = _ONES.get(word, _TENS.get(word, 0)), 0, False
    end, last = token.end(), word
    while found := _NEXT_WORD.match(text, end):
        word = found["word"].lower()
        if word == "hundred" and last in _ONES:
            group, scaled = group * 100, True
        elif word in SCALES:
            following = _NEXT_WORD.match(text, found.end())
            ends = following is None or following["word"].lower() in SCALES
            if word == "hundred" or (ends and not total) or total % (int(SCALES[word]) * 1000):
                break
            group, total, scaled = 0, total + group * int(SCALES[word]), True
        elif "," in found[0] and last not in SCALES:
            break
        elif last in SCALES or (last in _TENS and 0 < _ONES.get(word, 0) < 10):
            group += _ONES.get(word, _TENS.get(word, 0))
        else:
            break
        end, last = found.end(), word
    return token.start(), end, Decimal(total + group), scaled


def _share(text: str, token: re.Match[str]) -> Figure:
    """ "a third of", "three quarters of a percentage point": an amount where it is said to be a part of something."""
    count, _, part = token[0].lower().replace("-", " ").rpartition(" ")
    number = Decimal(_ONES.get(count, 1)) / _PARTS["half" if part.startswith("hal") else part.rstrip("s")]
    unit = _OF_UNIT.match(text, token.end())
    figure = _with_unit(text, token.start(), unit.end() if unit else token.end(), number, Decimal("0.01"))
    return figure if unit or text.startswith(" of ", token.end()) else replace(figure, role="word")


def _pieces(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """A run of digits and separators as one number if it is written as one, else as its parts."""
    if number_of(text[start:end]) is not None:
        yield start, end
        return
    groups = text[start:end]
    if len(groups) > 2 * _LONGEST:
        return  # a listing without a space, or noise
    if groups.count(".") > 1 and "," not in groups:
        return  # a version, a section or a date with points
    if _DATE.match(text, start) and not groups.strip("0123456789"):
        yield start, end
        return
    for part in re.finditer(r"[0-9]++(?:\.[0-9]++)?+", groups):
        if part.end() - part.start() <= _LONGEST:
            yield start + part.start(), start + part.end()


def number_of(run: str) -> Decimal | None:
    """The value of digits with separators, or None if that is no one number. Both decimal conventions are read."""
    if len(run) > 2 * _LONGEST or sum(map(str.isdigit, run)) > _LONGEST:
        return None
    separators = [character for character in run if not character.isdigit()]
    groups = re.split(r"[.,' ]", run)
    kinds = set(separators)
    if not separators:
        return Decimal(run)
    if len(separators) == 1:
        return _single(run, separators[0], groups)
    last = separators[-1]
    if len(kinds) == 1:
        return Decimal("".join(groups)) if _grouped(groups, last) else None
    head = kinds - {last} if separators.count(last) == 1 else set()
    if last in ".," and len(head) == 1 and _grouped(groups[:-1], head.pop()):
        return Decimal("".join(groups[:-1]) + "." + groups[-1])
    return None


def _single(run: str, separator: str, groups: list[str]) -> Decimal | None:
    whole, rest = groups
    if separator == ".":
        return Decimal(run)
    if _grouped(groups, separator) and whole.lstrip("0"):
        return Decimal(whole + rest)
    if separator == "," and (len(rest) <= 2 or not whole.lstrip("0") or (len(whole) > 3 and len(rest) == 3)):
        # A decimal comma; "2019,2020" and "365,1234" are two numbers.
        return Decimal(f"{whole}.{rest}")
    return None


def _grouped(groups: list[str], separator: str) -> bool:
    """Thousands, or lakhs and crores: 1,234,567 or 12,34,567."""
    first, *others = groups
    if not others:
        return False
    if 1 <= len(first) <= 3 and all(len(group) == 3 for group in others):
        return True
    indian = len(others) > 1 and len(others[-1]) == 3 and all(len(group) == 2 for group in others[:-1])
    return separator == "," and indian and 1 <= len(first) <= 2


def _printed(text: str, start: int, end: int) -> Figure | None:
    digits = text[start:end]
    number = number_of(digits)
    if number is None or len(digits) > 2 * _LONGEST:
        return None
    before = text[max(0, start - 24) : start]
    if before.endswith(("^", "^(")):
        return None  # an exponent
    places = _decimals(number)
    figure = _with_unit(text, start, end, number, Decimal(1).scaleb(-places))
    return replace(figure, role=_role(text, start, end, figure, before))


def _decimals(number: Decimal) -> int:
    exponent = number.as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0


def _with_unit(text: str, start: int, end: int, number: Decimal, step: Decimal) -> Figure:
    """Currency and sign before the digits; scale, unit and closing parenthesis behind them."""
    begin, money, sign, opened = _before(text, start)
    scale, scaled, stop, exponent = Decimal(1), False, end, 0
    if power := _POWER.match(text, stop):
        exponent = int(power[1] or power[2])
        stop = power.end()
    closed = False
    heading = not money and _YEAR_HEADING.match(text, start) is not None
    if opened and text[stop : stop + 1] == ")":
        stop, closed = stop + 1, True
    if unit := _unit_after(text, stop):
        kind, stop, factor = unit
    else:
        if not heading:
            scale, scaled, stop = _scale_after(text, stop, money)
        kind, factor = "plain", Decimal(1)
        if after := _CURRENCY_AFTER.match(text, stop):
            money, stop = True, after.end()
        elif not money and (cents := _CENTS.match(text, stop)):
            money, stop, scale = True, cents.end(), Decimal("0.01")
        elif money and (cents := _CENTS.match(text, stop)) and text[stop - 1 : stop] != ")":
            stop = cents.end()
    if opened and not closed and text[stop : stop + 1] == ")":
        stop, closed = stop + 1, True
        if not scaled:
            late = _scale_after(text, stop, money)
            scale, scaled, stop = (late[0], late[1], late[2]) if late[1] else (scale, scaled, stop)
    if opened and closed and _negative(text, begin, stop, opened):
        sign = -1
    if kind == "plain" and not scaled and not heading and (headed := _IN_SCALE.match(text, stop)):
        scale, scaled, stop = SCALES[headed["word"].lower()], True, headed.end()
    unit_name: Unit = kind if kind != "plain" else ("money" if money else "plain")
    signed = number.scaleb(exponent) * sign
    value = _EXACT.multiply(signed, scale * factor)
    return Figure(
        value, signed, scale, unit_name, _EXACT.multiply(step.scaleb(exponent), scale), begin, stop, "amount", scaled
    )


def _before(text: str, start: int) -> tuple[int, bool, int, str]:
    """What stands before the digits: where it begins, whether a currency is there, the sign, an open parenthesis."""
    place, money, sign, opened = start, False, 1, ""
    for _ in range(4):
        head = text[max(0, place - 8) : place]
        if not money and (currency := _CURRENCY_BEFORE.search(head)):
            place -= len(head) - currency.start()
            money = True
        elif head.endswith(("-", "- ")) and sign == 1 and _is_sign(text, place - (1 if head[-1] == "-" else 2), head):
            place -= 1 if head[-1] == "-" else 2
            sign = -1
        elif head.endswith("+") and not head[:-1].rstrip()[-1:].isalnum() and sign == 1:
            place -= 1
        elif head.endswith("(") and not opened:
            opened = "$" if _CURRENCY_BEFORE.search(head[:-1]) else "("
            place -= 1
        else:
            break
    return place, money, sign, opened


def _is_sign(text: str, place: int, head: str) -> bool:
    """Whether the minus at `place` belongs to the number behind it, and is no operator, range, hyphen or bullet."""
    before = text[max(0, place - 3) : place]
    if head.endswith("- "):
        return before.rstrip()[-1:] in ("=", "≈", ":") and before.strip() != ""
    return before[-1:] in ("", " ", "\n", "(", "=", "≈", ":", "~", '"', "|", "[", "$", "'", ">", "/", "*")


def _negative(text: str, begin: int, stop: int, opened: str) -> bool:
    """Whether a figure alone in parentheses is a negative amount and no aside."""
    if re.match(r"\s?[*×÷/+^]", text[stop : stop + 2]):
        return False
    return opened == "$" or _VERB_BEFORE.search(text[max(0, begin - 16) : begin]) is not None


def _unit_after(text: str, end: int) -> tuple[Unit, int, Decimal] | None:
    if found := _PERCENT.match(text, end):
        return "percent", found.end(), Decimal(1)
    if found := _BPS.match(text, end):
        return "bps", found.end(), Decimal(1)
    if found := _MONTHS.match(text, end):
        return "months", found.end(), Decimal(12 if found["word"].lower().startswith("y") else 1)
    return None


def _scale_after(text: str, end: int, money: bool) -> tuple[Decimal, bool, int]:
    """The scale word behind a number. A single letter must be glued to it, or follow money after one space."""
    found = _SCALE.match(text, end)
    if not found:
        return Decimal(1), False, end
    word = found["word"].lower()
    if word in _LETTERS and (found["gap"] == "-" or (found["gap"] and not money) or found["in"]):
        return Decimal(1), False, end
    if found["in"] == "of":
        return Decimal(1), False, end
    scale, stop = SCALES[word], found.end() - (1 if found[0].endswith(")") and "(" not in found[0] else 0)
    if "(" in found[0] and not found[0].endswith(")"):
        return Decimal(1), False, end
    again = _SCALE.match(text, stop)  # "5 thousand million", "2 lakh crore"
    if again and len(again["word"]) > 3 and word not in _LETTERS and not again["in"] and "(" not in again[0]:
        return scale * SCALES[again["word"].lower()], True, again.end() - (1 if again[0].endswith(")") else 0)
    return scale, True, stop


def _role(text: str, start: int, end: int, figure: Figure, before: str) -> Role:
    """What part the figure plays. Currency, scale and percent make it an amount, whatever stands around it."""
    digits = text[start:end]
    if before[-1:].isalpha() and figure.unit != "money":
        return "name"
    if _NAMES.match(text, start) and figure.unit != "money" and not before.endswith(("$", "-")):
        return "name"
    if figure.unit in ("percent", "bps", "money") or figure.scaled:
        return "amount"
    whole = digits.isdigit()
    if _is_date(text, start, end, before, digits):
        return "date"
    if whole and _ORDINAL.match(text, end):
        return "ordinal"
    if _ROUNDING.match(text, end):
        return "rounding"
    if _FISCAL_BEFORE.search(before):
        return "year"
    if whole and len(digits) == 4 and digits[:2] in ("19", "20") and figure.unit == "plain":
        return "year"
    if _PERIOD_AFTER.match(text, end) or (whole and len(digits) < 3 and _PERIOD_WORD.match(text, end)):
        return "amount" if figure.unit == "months" and not _PERIOD_AFTER.match(text, end) else "period"
    if whole and _is_mark(text, start, end, before):
        return "list"
    if _REFERENCE_BEFORE.search(before):
        return "reference"
    if before.endswith(("'",)) and whole and len(digits) == 2:
        return "year"
    if (
        text[end : end + 1].isalpha()
        and figure.end == end
        and not re.match(r"(?:x|d|days?|times)(?![A-Za-z])", text[end : end + 8])
    ):
        return "name"
    return "amount"


def _is_date(text: str, start: int, end: int, before: str, digits: str) -> bool:
    if _DATE.match(text, start):
        return True
    if (head := _DATE_HEAD.search(before)) and _DATE.match(text, start - (len(before) - head.start())):
        return True
    if not digits.isdigit() or len(digits) > 2:
        return False
    return bool(_MONTH_BEFORE.search(before) or _MONTH_AFTER.match(text, end))


def _is_mark(text: str, start: int, end: int, before: str) -> bool:
    """A list number at the head of a line, or a note in brackets."""
    if end - start > 2:
        return False
    line = before.rpartition("\n")[2] if "\n" in before else (before if start < 24 else "xx")
    if not line.strip(" #>*-") and re.match(r"[.):]\s+[A-Za-z(*\"'$]", text[end : end + 4] + " "):
        return True
    if (
        before.endswith("(")
        and text[end : end + 1] == ")"
        and not line[:-1].strip()
        and text[end + 1 : end + 3].strip()
    ):
        return True
    if before.endswith("(") and re.match(r"\)\s[A-Za-z]", text[end : end + 3]) and not _VERB_BEFORE.search(before[:-1]):
        return True
    return before.endswith("[") and text[end : end + 1] == "]"


_OPERATOR_AFTER: Final = re.compile(
    r"\s(?:divided\sby|multiplied\sby|plus|minus|less)\s(?=[$(0-9])"
    r"|[\s)\]]{0,3}(?!\+/-)(?:[*×÷/+^]|x\s?[(0-9$]|[xX]\s(?=[A-Za-z(])|-\s|-(?=[$(0-9]))(?!\s?share|unit)"
)
_OPERATOR_BEFORE: Final = re.compile(
    r"(?:(?:divided|multiplied)\sby|(?:[0-9)%]|illion|thousand)\s(?:plus|minus|less)"
    r"|[*×÷/+^]|(?<=[0-9)\]%\s])[x]|\s-|[0-9)%]-)[\s(\[]{0,3}$"
)


def operand(text: str, figure: Figure) -> bool:
    """Whether the figure takes part in a calculation that is written out, and is not its result."""
    return bool(
        _OPERATOR_AFTER.match(text, figure.end)
        or _OPERATOR_BEFORE.search(text[max(0, figure.start - 20) : figure.start])
    )
