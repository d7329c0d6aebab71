"""Read a published spec: Markdown in numbered clauses, a fenced `toml contract` and a fenced `toml edges`.

`parse_spec` turns one spec file into a frozen `Spec`: the single description of a model that case generation,
comparison, grading and the server work from. Every fault in the text raises `SpecError` with its path and line.
This module computes no answers and reads no files.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from numbers import Real
from typing import Any, Final, Literal, TypeAlias, TypeVar

import msgspec

from concordance.errors import FieldError, InvalidInputsError, SpecError
from concordance.numbers import NON_FINITE, json_text, meaning, number_text, sha256_hex

Value: TypeAlias = float | int | bool | str
Items: TypeAlias = list[dict[str, Value]]
Inputs: TypeAlias = dict[str, Any]
"""A `Value` per input, and `Items` for an input that is a list."""

_T = TypeVar("_T")

SMALLEST: Final = 1e-9
"""A nonzero `number` below this magnitude is out of every domain (C-3)."""

VERSION: Final = re.compile(r"(0|[1-9][0-9]*)(\.(0|[1-9][0-9]*)){2}")
"""MAJOR.MINOR.PATCH, without leading zeros."""

_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SHOWN_UNKNOWN: Final = 5
_MOST_STEPS: Final = 2**64
_MOST_CASES: Final = 250

SHARE_STEPS: Final = 10_000
"""Shares of an earlier field are drawn in steps of 1/10000 (C-17)."""


class Draw(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How a random value of an input is drawn (C-17): exactly one of the forms."""

    value: Value | None = None
    choose: tuple[Value, ...] | None = None
    uniform: tuple[float, float] | None = None
    log: tuple[float, float] | None = None
    of: str | None = None
    plus: tuple[float, float] | None = None
    times: tuple[float, float] | None = None

    def form(self) -> str | None:
        """The name of the one form that is given, or None when it is none or several."""
        forms = ("value", "choose", "uniform", "log", "plus", "times")
        given = [name for name in forms if getattr(self, name) is not None]
        if len(given) != 1 or (given[0] in ("plus", "times")) != (self.of is not None):
            return None
        return given[0]


class Input(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One input of a model: its type, unit and domain, and how its random values are drawn.

    A `list` holds from `length[0]` to `length[1]` objects, whose fields are its `items`; its draw is that of its
    length.
    """

    name: str
    type: Literal["number", "integer", "boolean", "text", "list"]
    description: str
    draw: Draw
    unit: str = ""
    min: float | None = None
    max: float | None = None
    grid: float | None = None
    values: tuple[str, ...] = ()
    length: tuple[int, int] | None = None
    items: tuple[Input, ...] = ()

    @property
    def numeric(self) -> bool:
        return self.type in ("number", "integer")

    @property
    def domain(self) -> str:
        """The domain as an error message shows it."""
        if self.type == "text":
            return "one of " + ", ".join(f'"{value}"' for value in self.values)
        if self.type == "boolean":
            return "true or false"
        if self.type == "list":
            low, high = self.length or (0, 0)
            return f"a list of {low} to {high} objects with {', '.join(item.name for item in self.items)}"
        assert self.min is not None and self.max is not None
        whole = "a whole number" if self.type == "integer" else "a number"
        return f"{whole} from {number_text(self.min)} to {number_text(self.max)}"

    def read(self, value: object) -> Value:
        """A scalar in this input's type (`float`, `int`, `bool`, `str`). Raises `ValueError` naming the domain."""
        if self.type == "boolean":
            if isinstance(value, bool):
                return value
        elif self.type == "text":
            if isinstance(value, str) and value in self.values:
                return value
        elif type(value) in (int, float) or (isinstance(value, Real) and not isinstance(value, bool)):
            return self._read_number(value)
        raise self._refusal(value)

    def _read_number(self, value: Any) -> float:
        assert self.min is not None and self.max is not None
        if not self.min <= value <= self.max:  # false for NaN too
            raise self._refusal(value)
        if self.type == "integer":
            if value != int(value):
                raise self._refusal(value)
            return int(value)
        if value and abs(value) < SMALLEST:
            raise ValueError(f"must be 0 or at least {number_text(SMALLEST)} in magnitude, not {shown(value)}")
        return float(value) or 0.0

    def check_list(self, value: object) -> list[Any]:
        """The value as a list whose length fits. Raises `ValueError` naming the domain."""
        assert self.length is not None
        if isinstance(value, list) and self.length[0] <= len(value) <= self.length[1]:
            return value
        raise self._refusal(value)

    def _refusal(self, value: object) -> ValueError:
        return ValueError(f"must be {self.domain}, not {shown(value)}")


class Sentinel(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A value that stands for a state and not for a quantity (C-7)."""

    value: float | str
    meaning: str


class Column(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One column of a table output."""

    name: str
    type: Literal["number", "integer", "boolean", "text"]
    unit: str = ""


class Output(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One output of a model, and the clause that defines it."""

    name: str
    type: Literal["number", "integer", "boolean", "text", "table"]
    clause: str
    description: str
    unit: str = ""
    sentinels: tuple[Sentinel, ...] = ()
    values: tuple[str, ...] = ()
    columns: tuple[Column, ...] = ()


class Profile(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A pattern of life: draws that replace the inputs' own in some of the random cases (C-18)."""

    name: str
    weight: int
    draws: dict[str, Draw]


class Flag(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A kind of mistake that edges are aimed at (C-21)."""

    mistake: str
    effect: str


class Edge(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A hand-picked case. `printed` holds values that `source` printed, at the precision that it printed them."""

    inputs: dict[str, Any]
    rationale: str
    flags: tuple[str, ...] = ()
    source: str = ""
    printed: dict[str, str] = {}
    number: int | None = None
    withdrawn: str = ""


class _Contract(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    model: str
    version: str
    title: str
    seed: str
    access: Literal["open", "key"]
    input: tuple[Input, ...]
    output: tuple[Output, ...]
    assumptions: tuple[str, ...] = ()
    profile: tuple[Profile, ...] = ()


class _Edges(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    flags: dict[str, Flag] = {}
    edge: tuple[Edge, ...] = ()


class Clause(msgspec.Struct, frozen=True):
    """A numbered clause: what code, findings and release notes cite."""

    id: str
    title: str
    text: str
    line: int


@dataclass(frozen=True)
class Spec:
    """One version of one model's published spec."""

    model: str
    version: str
    title: str
    seed: str
    access: str
    assumptions: tuple[str, ...]
    inputs: tuple[Input, ...]
    outputs: tuple[Output, ...]
    profiles: tuple[Profile, ...]
    flags: Mapping[str, Flag]
    edges: tuple[Edge, ...]
    clauses: Mapping[str, Clause]
    text: str
    path: str

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the published text."""
        return sha256_hex(self.text.encode("utf-8"))

    @cached_property
    def output(self) -> Mapping[str, Output]:
        """Outputs by name."""
        return {output.name: output for output in self.outputs}

    def read_inputs(self, given: object) -> Inputs:
        """Check one set of inputs against the contract; the result has its order and types.

        Raises `InvalidInputsError` naming every field at fault and its domain (C-3), a field of a list's item by its
        path: `debts[2].rate`.
        """
        errors: list[FieldError] = []
        read = _read_fields(self.inputs, given, "", errors)
        if errors:
            raise InvalidInputsError(errors)
        return read


def _read_fields(fields: Sequence[Input], given: object, at: str, errors: list[FieldError]) -> Inputs:
    """Read one object of fields, noting what is wrong under the path `at`."""
    read: Inputs = {}
    if not isinstance(given, Mapping):
        errors.append(FieldError(at.rstrip("."), f"must be an object of inputs, not {shown(given)}"))
        return read
    for field in fields:
        if field.name not in given:
            errors.append(FieldError(at + field.name, f"is missing; must be {field.domain}"))
            continue
        try:
            if field.type == "list":
                read[field.name] = _read_items(field, given[field.name], at + field.name, errors)
            else:
                read[field.name] = field.read(given[field.name])
        except ValueError as error:
            errors.append(FieldError(at + field.name, str(error)))
    if len(read) != len(given):
        names = [field.name for field in fields]
        message = f"is no input; the inputs{' here' if at else ''} are {', '.join(names)}"
        unknown = [str(name) for name in given if name not in names]
        errors += [FieldError(at + name[:80], message) for name in unknown[:_SHOWN_UNKNOWN]]
        if len(unknown) > _SHOWN_UNKNOWN:
            errors.append(
                FieldError(at.rstrip("."), f"has {len(unknown) - _SHOWN_UNKNOWN} more fields that are no input")
            )
    return read


def _read_items(field: Input, value: object, at: str, errors: list[FieldError]) -> Items:
    items = field.check_list(value)
    return [_read_fields(field.items, item, f"{at}[{place}].", errors) for place, item in enumerate(items)]


def parse_spec(text: str, path: str) -> Spec:
    """Read one spec file's text; `path` is used in errors. Raises `SpecError` with path and line."""
    reader = _Reader(text, path)
    contract_block = reader.block("contract")
    if contract_block is None:
        raise SpecError("has no fenced `toml contract` block", where=f"{path}:1", hint="see specs/CONVENTIONS.md")
    contract = contract_block.convert(_Contract)
    edges_block = reader.block("edges")
    edges = edges_block.convert(_Edges) if edges_block else _Edges()
    spec = Spec(
        model=contract.model,
        version=contract.version,
        title=contract.title,
        seed=contract.seed,
        access=contract.access,
        assumptions=contract.assumptions,
        inputs=contract.input,
        outputs=contract.output,
        profiles=contract.profile,
        flags=edges.flags,
        edges=edges.edge,
        clauses=reader.clauses(),
        text=text,
        path=path,
    )
    _check_contract(spec, contract_block)
    if edges_block:
        _check_edges(spec, edges_block)
    return spec


def read_clauses(text: str, path: str) -> Mapping[str, Clause]:
    """The numbered clauses of any page of `specs/`."""
    return _Reader(text, path).clauses()


@dataclass(frozen=True)
class _Block:
    """One fenced TOML block: its text, and where in the file it starts."""

    toml: str
    path: str
    first_line: int

    def convert(self, kind: type[_T]) -> _T:
        try:
            return msgspec.convert(tomllib.loads(self.toml), kind)
        except tomllib.TOMLDecodeError as error:
            place = re.search(r" \(at (?:line (\d+), column \d+|end of document)\)$", str(error))
            what = str(error)[: place.start()] if place else str(error)
            offset = int(place[1]) if place and place[1] else self.toml.count("\n")
            raise SpecError(f"not TOML: {what}", where=f"{self.path}:{self.first_line + offset - 1}") from None
        except msgspec.ValidationError as error:
            what, _, at = str(error).partition(" - at `")
            raise self.error(what, at.rstrip("`")) from None

    def error(self, what: str, at: str) -> SpecError:
        """A `SpecError` at the line of a path such as `$.input[3].draw`."""
        return SpecError(f"{at.removeprefix('$.')}: {what}" if at else what, where=f"{self.path}:{self._line(at)}")

    def _line(self, at: str) -> int:
        lines = self.toml.split("\n")
        first, last = 0, len(lines)
        *tables, key = re.findall(r"\w+(?:\[\d+\])?", at) or [""]
        if "[" in key:
            tables, key = [*tables, key], ""
        if tables and (item := re.fullmatch(r"(\w+)\[(\d+)\]", tables[0])):
            headers = [number for number, line in enumerate(lines) if line.strip() == f"[[{item[1]}]]"]
            if len(headers) > int(item[2]):
                first = headers[int(item[2])]
                last = headers[int(item[2]) + 1] if len(headers) > int(item[2]) + 1 else last
                key = tables[1] if len(tables) > 1 else key
        named = (
            number for number in range(first, last) if key and re.match(rf"\s*{key}\b|\[\w+\.{key}\]", lines[number])
        )
        return self.first_line + next(named, first)


class _Reader:
    """The Markdown of one page as blocks; inline marks stay as written."""

    def __init__(self, text: str, path: str) -> None:
        from markdown_it import MarkdownIt

        parser = MarkdownIt("commonmark")
        parser.core.ruler.disable(["inline", "text_join"])
        self._tokens = parser.parse(text)
        self._lines = text.split("\n")
        self._path = path

    def block(self, name: str) -> _Block | None:
        """The page's one fenced block with this info string, if there is any."""
        found = [token for token in self._tokens if token.type == "fence" and token.info.strip() == f"toml {name}"]
        if len(found) > 1:
            line = (found[1].map or [0])[0] + 1
            raise SpecError(f"has a second fenced `toml {name}` block", where=f"{self._path}:{line}")
        return _Block(found[0].content, self._path, (found[0].map or [0])[0] + 2) if found else None

    def clauses(self) -> Mapping[str, Clause]:
        """Clauses by identifier, in order; each reaches to the next clause, heading or fence."""
        clauses: dict[str, Clause] = {}
        for identifier, title, start, end in self._spans():
            if identifier in clauses:
                raise SpecError(f"clause {identifier} comes twice", where=f"{self._path}:{start + 1}")
            text = "\n".join(self._lines[start:end]).strip()
            clauses[identifier] = Clause(identifier, title, text, start + 1)
        return clauses

    def _spans(self) -> Iterator[tuple[str, str, int, int]]:
        opened: tuple[str, str, int] | None = None
        for token in self._tokens:
            if token.map is None or token.level > 1:
                continue
            head = _CLAUSE.match(token.content) if token.type == "inline" else None
            if opened and (head or token.type in ("heading_open", "fence")):
                yield (*opened, token.map[0])
                opened = None
            if head:
                opened = head["id"], (head["title"] or "").strip(" ."), token.map[0]
        if opened:
            yield (*opened, len(self._lines))


_CLAUSE: Final = re.compile(r"\*\*(?P<id>[A-Z]+-\d+)(?P<title>[^*]*)\*\*")


def _check_contract(spec: Spec, block: _Block) -> None:
    for at, what in _contract_faults(spec):
        raise block.error(what, at)


def _contract_faults(spec: Spec) -> Iterator[tuple[str, str]]:
    for kind, names in (("input", [i.name for i in spec.inputs]), ("output", [o.name for o in spec.outputs])):
        if not names:
            yield "$", f"the contract has no {kind}"
        for number, name in enumerate(names):
            if not _NAME.fullmatch(name):
                yield f"$.{kind}[{number}].name", f'a name is letters, digits and _, not "{name}"'
            if name in names[:number]:
                yield f"$.{kind}[{number}].name", f"the name {name} comes twice"
    if not VERSION.fullmatch(spec.version):
        yield "$.version", f'must be MAJOR.MINOR.PATCH, not "{spec.version}"'
    for number, field in enumerate(spec.inputs):
        for what in _input_faults(field, spec.inputs[:number]):
            yield f"$.input[{number}]", what
    for number, output in enumerate(spec.outputs):
        for what in _output_faults(output, spec.clauses):
            yield f"$.output[{number}]", what
    for number, profile in enumerate(spec.profiles):
        for what in _profile_faults(profile, spec.inputs):
            yield f"$.profile[{number}]", what


def _input_faults(field: Input, earlier: Sequence[Input]) -> Iterator[str]:
    if field.numeric:
        if field.min is None or field.max is None or field.grid is None:
            yield f"{field.name} needs min, max and grid"
            return
        if not all(map(math.isfinite, (field.min, field.max, field.grid))):
            yield f"{field.name} needs a finite min, max and grid"
            return
        if field.min > field.max:
            yield f"{field.name} has min above max"
            return
        if field.grid < SMALLEST:
            yield f"{field.name} needs a grid of at least {number_text(SMALLEST)}"
            return
        for end in (field.min, field.max):
            try:
                field.read(end)
            except ValueError as error:
                yield f"an end of the domain of {field.name} {error}"
                return
        grid = meaning(field.grid)
        if math.ceil(meaning(field.min) / grid) > math.floor(meaning(field.max) / grid):
            yield f"{field.name} has no point of its grid in its domain"
            return
    if field.type == "text" and not field.values:
        yield f"{field.name} needs its values"
        return
    if field.type == "list":
        yield from _list_faults(field, earlier)
    else:
        yield from _draw_faults(field, field.draw, earlier)


def _list_faults(field: Input, earlier: Sequence[Input]) -> Iterator[str]:
    if field.length is None or not 0 <= field.length[0] <= field.length[1] <= 10_000:
        yield f"{field.name} needs a length from its least to its most items, at most 10,000"
        return
    if not field.items:
        yield f"{field.name} needs items"
    names = [item.name for item in field.items]
    for place, name in enumerate(names):
        if name in names[:place]:
            yield f"the name {name} comes twice in {field.name}"
    yield from _draw_faults(as_length(field), field.draw, earlier)
    for place, item in enumerate(field.items):
        if item.type == "list":
            yield f"{field.name} holds the list {item.name}; lists hold scalars only"
            return
        yield from _input_faults(item, [*earlier, *field.items[:place]])


def as_length(field: Input) -> Input:
    """A list's length as an integer of its own, to be drawn like one."""
    low, high = field.length or (0, 0)
    return Input(name=field.name, type="integer", description="", draw=field.draw, min=low, max=high, grid=1)


def _draw_faults(field: Input, draw: Draw, earlier: Sequence[Input]) -> Iterator[str]:
    form = draw.form()
    if form is None:
        yield f"the draw of {field.name} must be one of value, choose, uniform, log, or of with plus or times (C-17)"
        return
    if form in ("value", "choose"):
        for value in [draw.value] if form == "value" else draw.choose or ():
            try:
                field.read(value)
            except ValueError as error:
                yield f"the draw of {field.name} {error}"
        if draw.choose == ():
            yield f"the draw of {field.name} has nothing to choose from"
        return
    if not field.numeric:
        yield f"{field.name} is drawn with value or choose, being {field.type}"
        return
    if draw.of is not None and draw.of not in {other.name for other in earlier if other.numeric}:
        yield f"the draw of {field.name} is relative to {draw.of}, which is no number before it"
    low, high = getattr(draw, form)
    if not (math.isfinite(low) and math.isfinite(high)):
        yield f"the draw of {field.name} needs finite ends"
        return
    step = Fraction(1, SHARE_STEPS) if form == "times" else meaning(field.grid or 1)
    if low > high:
        yield f"the draw of {field.name} has its low end above its high end"
    if form == "log" and low <= 0:
        yield f"the draw of {field.name} needs a low end above 0"
    if any((meaning(end) / step).denominator != 1 for end in (low, high)):
        yield f"the draw of {field.name} has ends off its grid of {number_text(float(step))}"
    if (meaning(high) - meaning(low)) / step >= _MOST_STEPS:
        yield f"the draw of {field.name} spans more than 2^64 steps of its grid"


def _output_faults(output: Output, clauses: Mapping[str, Clause]) -> Iterator[str]:
    if output.clause not in clauses:
        yield f"{output.name} cites clause {output.clause}, which the spec does not have"
    names = [column.name for column in output.columns]
    for place, name in enumerate(names):
        if not _NAME.fullmatch(name) or name in names[:place]:
            yield f'{output.name}: the column "{name}" has no name of its own'
    if (output.type == "table") != bool(output.columns):
        yield f"{output.name}: a table has columns, and nothing else has"
    if (output.type == "text") != bool(output.values):
        yield f"{output.name}: a text has values, and nothing else has"
    for sentinel in output.sentinels:
        if isinstance(sentinel.value, str) and sentinel.value not in NON_FINITE.values():
            yield f"{output.name}: a sentinel is a number or a non-finite value, not {shown(sentinel.value)}"
    if output.sentinels and output.type not in ("number", "integer"):
        yield f"{output.name}: only numbers and integers have sentinels"


def _profile_faults(profile: Profile, inputs: Sequence[Input]) -> Iterator[str]:
    if not 1 <= profile.weight <= 10**6:
        yield f'the profile "{profile.name}" needs a weight of 1 to 1,000,000'
    names = [field.name for field in inputs]
    for name, draw in profile.draws.items():
        if name not in names:
            yield f'the profile "{profile.name}" draws {name}, which is no input'
        else:
            place = names.index(name)
            field = inputs[place]
            yield from _draw_faults(as_length(field) if field.type == "list" else field, draw, inputs[:place])


def _check_edges(spec: Spec, block: _Block) -> None:
    first = 0 if any(field.type in ("text", "list") for field in spec.inputs) else 2
    taken = set(range(first))
    for number, edge in enumerate(spec.edges):
        for what in _edge_faults(edge, spec):
            raise block.error(what, f"$.edge[{number}]")
        slot = first + number if edge.number is None else edge.number
        if slot < 0 or slot in taken:
            raise block.error(f"its number {slot} is taken", f"$.edge[{number}]")
        taken.add(slot)
    if first + sum(not edge.withdrawn for edge in spec.edges) > _MOST_CASES:
        raise block.error(f"more edges than the {_MOST_CASES} cases have room for", "$.edge[0]")
    for name in spec.flags:
        if not any(name in edge.flags for edge in spec.edges):
            raise block.error(f"the flag {name} is explained but no edge has it", f"$.flags.{name}")


def _edge_faults(edge: Edge, spec: Spec) -> Iterator[str]:
    try:
        spec.read_inputs(edge.inputs)
    except InvalidInputsError as error:
        yield f"inputs: {error}"
    if not edge.rationale.strip():
        yield "has no rationale"
    for flag in edge.flags:
        if flag not in spec.flags:
            yield f"has the flag {flag}, which [flags] does not explain"
    if bool(edge.printed) != bool(edge.source):
        yield "a source comes with the values that it printed, and printed values with their source"
    for name, printed in edge.printed.items():
        if name not in spec.output or spec.output[name].type not in ("number", "integer"):
            yield f"printed names {name}, which is no number among the outputs"
        elif not re.fullmatch(r"-?\d+(\.\d+)?", printed):
            yield f"printed {name} must be plain digits in quotes, not {shown(printed)}"


def shown(value: object) -> str:
    """A caller's value as an error message shows it: as JSON, and never at full length."""
    try:
        text = json_text(value)
    except OverflowError:
        return "a number beyond binary64"
    except (TypeError, ValueError):
        text = repr(value)
    return text if len(text) <= 40 else f"{text[:40]}…"
