"""The papers of invented people: documents that state a case's inputs, and the wording of questions about it.

A model's wording is data: `templates/exam/MODEL/wording.toml` and the jinja2 templates beside it. A model without one,
such as a team's own, gets the generic wording of `templates/exam/exam.toml`: a data sheet of its inputs by description
and unit, questions by the descriptions of its outputs. A template wraps each statement of an input in `quote`, so the
evidence is what the document literally says, and a withheld input is said to be missing in its place.

Everything is a function of its arguments and a seed. It computes no answer, and knows no finance.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any, Final, TypeVar

import msgspec
from jinja2 import Environment, PackageLoader, StrictUndefined
from msgspec import Struct

from concordance.exam.answers import Kind
from concordance.exam.referee import Evidence
from concordance.numbers import json_text, number_text
from concordance.spec import Input, Inputs, Output, Spec, Value

_T = TypeVar("_T")

_FOLDER: Final = "templates/exam"
_ROW_WIDTH: Final = 66
_FIRST_YEAR, _YEARS = 2025, 6
_MONTHS: Final = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip


class Dice:
    """Unbiased picks that are a pure function of a text, on every platform and version of Python."""

    def __init__(self, *stem: str) -> None:
        self._stem = json_text(list(stem))
        self._used = 0

    def pick(self, n: int) -> int:
        """A whole number in 0..n-1."""
        while True:
            word = int.from_bytes(sha256(f"{self._stem}\n{self._used}".encode()).digest()[:8], "big")
            self._used += 1
            if word < 2**64 - 2**64 % n:
                return word % n

    def choice(self, values: Sequence[_T]) -> _T:
        return values[self.pick(len(values))]

    def shuffled(self, values: Sequence[_T]) -> list[_T]:
        left = list(values)
        return [left.pop(self.pick(len(left))) for _ in values]


# The wording, as data


class DocumentKind(Struct, frozen=True, forbid_unknown_fields=True):
    """One document a person has. `half` splits the inputs of the generic data sheet over two of them."""

    name: str
    template: str
    states: tuple[str, ...] = ()
    half: int = 0


class Question(Struct, frozen=True, forbid_unknown_fields=True):
    """How an output is asked for. `needs` are the inputs that it hangs on; `never` are words for its sentinel."""

    output: str
    kind: Kind
    ask: tuple[str, ...]
    needs: tuple[str, ...]
    unit: str = ""
    places: int = 0
    times: int = 1
    never: tuple[str, ...] = ()


class Absent(Struct, frozen=True, forbid_unknown_fields=True):
    """A question about something that no document states."""

    kind: Kind
    ask: tuple[str, ...]


class Wording(Struct, frozen=True, forbid_unknown_fields=True):
    """How a model's cases are put into documents and questions. `shared` documents are the same for everybody."""

    document: tuple[DocumentKind, ...]
    shared: tuple[DocumentKind, ...] = ()
    question: tuple[Question, ...] = ()
    absent: tuple[Absent, ...] = ()
    profiles: tuple[str, ...] = ()
    generic: bool = False


class _Unit(Struct, frozen=True, forbid_unknown_fields=True):
    kind: Kind
    say: str
    unit: str = ""
    places: int = 0


class _Generic(Struct, frozen=True, forbid_unknown_fields=True):
    ask: tuple[str, ...]
    text: str
    boolean: str
    unit: dict[str, _Unit]
    other: _Unit


class _Exam(Struct, frozen=True, forbid_unknown_fields=True):
    never: tuple[str, ...]
    document: tuple[DocumentKind, ...]
    shared: tuple[DocumentKind, ...]
    generic: _Generic


class _Names(Struct, frozen=True, forbid_unknown_fields=True):
    given: tuple[str, ...]
    surnames: tuple[str, ...]
    streets: tuple[str, ...]
    towns: tuple[str, ...]
    firms: dict[str, tuple[str, ...]]


def wording(spec: Spec) -> Wording:
    """The wording of a model: its own where there is one that fits its contract, else the generic one."""
    name = f"{spec.model}/wording.toml"
    own = msgspec.convert(_toml(name), Wording) if (files("concordance") / _FOLDER / name).is_file() else None
    return own if own is not None and _fits(own, spec) else _generic_wording(spec)


def _fits(own: Wording, spec: Spec) -> bool:
    """Whether a wording is about this contract, and not about a team's model of the same name."""
    inputs = {field.name for field in spec.inputs}
    stated = {name for document in own.document for name in document.states}
    profiles = {profile.name for profile in spec.profiles}
    outputs = {question.output for question in own.question}
    return stated == inputs and outputs <= {output.name for output in spec.outputs} and profiles >= set(own.profiles)


def _generic_wording(spec: Spec) -> Wording:
    exam = _exam()
    names = [field.name for field in spec.inputs]
    halves = {1: names[: (len(names) + 1) // 2], 2: names[(len(names) + 1) // 2 :]}
    documents = [msgspec.structs.replace(kind, states=tuple(halves.get(kind.half, ()))) for kind in exam.document]
    return Wording(
        document=tuple(kind for kind in documents if kind.states or not kind.half),
        shared=exam.shared,
        question=tuple(_generic_question(output, names, exam) for output in spec.outputs if output.type != "table"),
        generic=True,
    )


def _generic_question(output: Output, needs: Sequence[str], exam: _Exam) -> Question:
    words = exam.generic
    if output.type in ("text", "boolean"):
        values = ", ".join(output.values) if output.type == "text" else ""
        asked = _Unit("text", (words.text if output.type == "text" else words.boolean).format(values=values))
    else:
        asked = words.unit.get(output.unit.partition(" ")[0], words.other)
    say = asked.say.format(unit=output.unit or "no unit") if asked.kind != "text" else asked.say
    for sentinel in output.sentinels:
        say += f' (if this holds, "{exam.never[0]}": {sentinel.meaning.rstrip(".")})'
    return Question(
        output=output.name,
        kind=asked.kind,
        ask=tuple(ask.replace("{description}", output.description).replace("{say}", say) for ask in words.ask),
        needs=tuple(needs),
        unit=asked.unit,
        places=asked.places,
        never=exam.never if output.sentinels else (),
    )


@cache
def _exam() -> _Exam:
    return msgspec.convert(_toml("exam.toml"), _Exam)


@cache
def _names() -> _Names:
    return msgspec.convert(_toml("names.toml"), _Names)


def _toml(name: str) -> dict[str, Any]:
    return tomllib.loads((files("concordance") / _FOLDER / name).read_text("utf-8"))


# People


@dataclass(frozen=True)
class Person:
    """Somebody who does not exist."""

    first: str
    name: str
    street: str
    town: str

    @property
    def slug(self) -> str:
        """The name as part of a file's."""
        return re.sub(r"[^a-z0-9]+", "-", self.name.lower()).strip("-")


def people(dice: Dice) -> Iterator[Person]:
    """Invented people without end, no two of one name."""
    names = _names()
    surnames, taken = dice.shuffled(names.surnames), 0
    while True:
        for surname in surnames:
            first = dice.choice(names.given)
            middle = f" {_letters(taken // len(surnames))}." if taken >= len(surnames) else ""
            street = f"{1 + dice.pick(98)} {dice.choice(names.streets)}"
            yield Person(first, f"{first}{middle} {surname}", street, dice.choice(names.towns))
            taken += 1


def _letters(number: int) -> str:
    """1 is A, 27 is Aa: a middle initial for the second round of surnames and those after it."""
    head, last = divmod(number - 1, 26)
    return (_letters(head) + chr(97 + last)) if head else chr(65 + last)


# Documents


@dataclass(frozen=True)
class Papers:
    """The documents of one person, by name, and where each input stands in them."""

    person: Person
    documents: Mapping[str, str]
    stated: Mapping[str, tuple[Evidence, ...]]

    def evidence(self, inputs: Sequence[str]) -> tuple[Evidence, ...]:
        """A quote for each of these inputs, one of two only once."""
        return tuple(dict.fromkeys(passage for name in inputs for passage in self.stated[name]))


def write_papers(
    spec: Spec, words: Wording, person: Person, inputs: Inputs, other: Inputs, withheld: Collection[str], dice: Dice
) -> Papers:
    """The documents that state these inputs, but for those withheld. `other` are another life's, to distract with."""
    desk = _Desk(spec, person, inputs, other, withheld, dice)
    documents = {}
    for kind in words.document:
        name = f"{person.slug}-{kind.name}"
        documents[name] = desk.write(name, kind)
    return Papers(person, documents, {name: tuple(found) for name, found in desk.stated.items()})


def shared_papers(spec: Spec, words: Wording) -> dict[str, str]:
    """The documents that are the same for everybody whom the model is about."""
    values = {"spec": spec, "spelled_out": words.generic}
    return {
        f"{kind.name}-{spec.model}": _tidy(_environment().get_template(kind.template).render(values))
        for kind in words.shared
    }


class _Desk:
    """Writes one person's documents, and notes which passage states which input."""

    def __init__(
        self, spec: Spec, person: Person, inputs: Inputs, other: Inputs, withheld: Collection[str], dice: Dice
    ) -> None:
        self.stated: dict[str, list[Evidence]] = {}
        self._spec, self._dice, self._withheld = spec, dice, withheld
        self._firms = _names().firms
        self._chosen: dict[str, list[str]] = {}
        self._today = date(_FIRST_YEAR + dice.pick(_YEARS), 1 + dice.pick(12), 1 + dice.pick(28))
        self._values = {
            **inputs,
            "spec": spec,
            "person": person,
            "inputs": inputs,
            "other": other,
            "row": _row,
            "firm": self._firm,
            "date": self._date,
            "year": lambda years: self._today.year + years,
            "near": self._near,
            "digits": lambda count: "".join(str((1 if not place else 0) + dice.pick(9)) for place in range(count)),
            "shown": lambda name: name not in withheld,
        }

    def write(self, name: str, kind: DocumentKind) -> str:
        """One document's text."""
        quotes: list[tuple[str, str]] = []
        fields = [field for field in self._spec.inputs if field.name in kind.states]
        values = self._values | {"quote": self._quote(quotes), "half": kind.half, "fields": fields}
        text = _tidy(_environment().get_template(kind.template).render(values))
        for field, quoted in quotes:
            assert quoted in text, f"{name} lost its quote of {field}"
            self.stated.setdefault(field, []).append(Evidence(name, None, quoted))
        return text

    def _quote(self, quotes: list[tuple[str, str]]) -> Callable[..., str]:
        def quote(name: str, instead: str = "", *, caller: Callable[[], str]) -> str:
            if name in self._withheld:
                return f"{instead}\n" if instead else ""
            said = caller()
            quotes.append((name, _tidy(said).strip()))
            return said

        return quote

    def _firm(self, kind: str, number: int = 1) -> str:
        """The person's bank, employer and so on; another one by another number."""
        names = self._chosen.setdefault(kind, self._dice.shuffled(self._firms[kind]))
        return names[number - 1]

    def _date(self, days: int) -> str:
        day = self._today + timedelta(days)
        return f"{_MONTHS[day.month - 1]} {day.day}, {day.year}"

    def _near(self, value: float, low: float, high: float) -> float:
        """Another amount in cents, from `low` to `high` times this one."""
        span = [int(Decimal(repr(end)) * 10_000) for end in (low, high)]
        share = span[0] + self._dice.pick(span[1] - span[0] + 1)
        return float(round(Decimal(repr(value)) * share / 10_000, 2))


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("concordance", _FOLDER),
        undefined=StrictUndefined,
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"money": money, "percent": percent, "count": count, "plain": _plain}
    return environment


def _tidy(text: str) -> str:
    lines = "\n".join(line.rstrip() for line in text.split("\n"))
    return re.sub(r"\n{3,}", "\n\n", lines).strip("\n") + "\n"


def _row(label: str, value: str) -> str:
    """A label and its value, with dots between them."""
    return f"{label} {'.' * max(_ROW_WIDTH - len(label) - len(value), 3)} {value}"


def _decimals(value: float, least: int) -> str:
    """All digits of a number, at least so many of them behind the point, thousands grouped."""
    number = Decimal(repr(value))
    exponent = number.normalize().as_tuple().exponent
    places = max(least, -exponent if isinstance(exponent, int) else 0)
    return f"{number:,.{places}f}"


def money(value: float) -> str:
    """As printed on a statement: $1,234.56; more digits only where the amount has them."""
    text = _decimals(value, 2)
    return f"-${text[1:]}" if text.startswith("-") else f"${text}"


def percent(value: float) -> str:
    """A fraction as a percentage with all its digits: 6.125 %."""
    return f"{_decimals(float(Decimal(repr(value)) * 100), 2)} %"


def count(value: int) -> str:
    return f"{value:,}"


def _plain(value: Value, field: Input) -> str:
    """An input of any model, as it is."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value
    unit = _exam().generic.unit.get(field.unit.partition(" ")[0])
    return money(value) if unit is not None and unit.kind == "money" else number_text(value)
