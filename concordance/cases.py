"""Make a model's cases from its spec alone: corners, edges, random (C-14 to C-19).

A case is a pure function of the spec and its number, so any worker can make any case. Random draws use no library's
stream: each is a few words of SHA-256, counted, and all arithmetic is in whole grid steps. Nothing here reaches an
implementation.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from hashlib import sha256 as _sha256
from struct import Struct
from typing import Any, Final, Literal, TypeAlias

from concordance.errors import SpecError
from concordance.numbers import canonical_json, meaning, sha256_hex
from concordance.spec import SHARE_STEPS, Draw, Edge, Input, Inputs, Items, Spec, Value, as_length

COUNT: Final = 250
_first_word: Final = Struct(">Q24x").unpack
Kind: TypeAlias = Literal["corner", "edge", "random", "listed", "given"]


@dataclass(frozen=True)
class Case:
    """One set of inputs, its number and where it comes from."""

    id: str
    number: int
    kind: Kind
    inputs: Inputs
    rationale: str = ""
    flags: tuple[str, ...] = ()
    source: str = ""
    printed: Mapping[str, str] = dataclasses.field(default_factory=dict)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the inputs in canonical JSON (C-15)."""
        return sha256_hex(canonical_json(self.inputs))


def generate(spec: Spec, count: int = COUNT) -> list[Case]:
    """The first `count` cases of a model, by number. Raises `SpecError` if two have the same inputs (C-19)."""
    picked = _picked(spec)
    if (every := _every_input(spec)) is not None:
        taken = [case.inputs for case in picked]
        rest = [inputs for inputs in every if inputs not in taken]
        cases = picked + [
            _case(spec, number, "listed", inputs) for number, inputs in zip(_free(spec), rest, strict=False)
        ]
    else:
        draw = RandomCases(spec)
        cases = picked + list(itertools.islice(_random(spec, draw, picked), max(count - len(picked), 0)))
    cases.sort(key=lambda case: case.number)
    _refuse_twins(spec, cases)
    return cases[:count]


def case_by_id(spec: Spec, identifier: str) -> Case | None:
    """The case with this identifier, or None if the model has none such among its published cases or random numbers."""
    model, _, digits = identifier.rpartition("-")
    if model != spec.model or not re.fullmatch("[0-9]{4,18}", digits):
        return None
    number = int(digits)
    published = {case.number: case for case in generate(spec)}
    found = published.get(number) or RandomCases(spec).case(number)
    return found if found.id == identifier else None


def given_case(spec: Spec, inputs: object) -> Case:
    """A case of somebody's own inputs. Raises `InvalidInputsError`."""
    return Case(f"{spec.model}-given", -1, "given", spec.read_inputs(inputs))


class RandomCases:
    """Random access to a model's random cases by number (C-16 to C-18)."""

    def __init__(self, spec: Spec) -> None:
        self._spec = spec
        self._profiles = [(profile.weight, _drawings(spec.inputs, profile.draws)) for profile in spec.profiles]
        self._profiles = self._profiles or [(1, _drawings(spec.inputs, {}))]
        self._item_drawings = {field.name: _drawings(field.items, {}) for field in spec.inputs}
        self._weight = sum(weight for weight, _ in self._profiles)

    def case(self, number: int) -> Case:
        """The random case with this number."""
        return _case(self._spec, number, "random", self.inputs(number))

    def inputs(self, number: int) -> Inputs:
        """The inputs of the random case with this number."""
        inputs: Inputs = {}
        for field, drawing in self._profile(number):
            value = drawing(_Words(self._spec.seed, number, field.name), inputs)
            inputs[field.name] = self._items(field, int(value), number, inputs) if field.type == "list" else value
        return inputs

    def _items(self, field: Input, length: int, number: int, inputs: Inputs) -> Items:
        items: Items = []
        for place in range(length):
            item: dict[str, Value] = {}
            for part, drawing in self._item_drawings[field.name]:
                words = _Words(self._spec.seed, number, f"{field.name}[{place}].{part.name}")
                item[part.name] = drawing(words, inputs | item)
            items.append(item)
        return items

    def _profile(self, number: int) -> _Drawings:
        left = _Words(self._spec.seed, number, "profile").pick(self._weight) if len(self._profiles) > 1 else 0
        for weight, drawings in self._profiles:
            left -= weight
            if left < 0:
                return drawings
        raise AssertionError("the weights add up")


class _Words:
    """The words of one field in one case, and unbiased picks from them (C-16)."""

    def __init__(self, seed: str, number: int, field: str) -> None:
        self._stem = f"{seed}\n{number}\n{field}\n"
        self._used = 0

    def pick(self, n: int) -> int:
        """A whole number in 0..n-1."""
        while True:
            digest = _sha256(f"{self._stem}{self._used}".encode()).digest()
            self._used += 1
            word: int = _first_word(digest)[0]
            if word < 2**64 - 2**64 % n:
                return word % n


_Drawing: TypeAlias = Callable[[_Words, Mapping[str, Any]], Value]
_Drawings: TypeAlias = list[tuple[Input, _Drawing]]


def _drawings(fields: Sequence[Input], replaced: Mapping[str, Draw]) -> _Drawings:
    """Each field with its drawing, its own unless a profile replaces it."""
    return [
        (field, _drawing(as_length(field) if field.type == "list" else field, replaced.get(field.name, field.draw)))
        for field in fields
    ]


def _drawing(field: Input, draw: Draw) -> _Drawing:
    """C-17: a draw as a function of the field's words and the values drawn before it."""
    if draw.value is not None:
        constant = field.read(draw.value)
        return lambda words, earlier: constant
    if draw.choose is not None:
        choices = [field.read(choice) for choice in draw.choose]
        return lambda words, earlier: choices[words.pick(len(choices))]
    steps = _steps(field, draw)
    assert field.min is not None and field.max is not None and field.grid is not None
    grid = meaning(field.grid)
    low, high = math.ceil(meaning(field.min) / grid), math.floor(meaning(field.max) / grid)
    step, parts = grid.as_integer_ratio()
    whole = field.type == "integer"

    def drawn(words: _Words, earlier: Mapping[str, Any]) -> Value:
        units = min(max(steps(words, earlier), low), high) * step
        return units // parts if whole else units / parts

    return drawn


def _steps(field: Input, draw: Draw) -> Callable[[_Words, Mapping[str, Any]], int]:
    """The drawn value in whole grid steps, before it is brought into the domain."""
    grid = meaning(field.grid or 1)
    if draw.uniform is not None:
        low, high = (int(meaning(end) / grid) for end in draw.uniform)
        return lambda words, earlier: low + words.pick(high - low + 1)
    if draw.log is not None:
        low, high = (int(meaning(end) / grid) for end in draw.log)
        octaves = next(k for k in itertools.count(1) if low << k > high)
        return lambda words, earlier: _pick_log(words, low, high, octaves)
    of, step = draw.of or "", grid.as_integer_ratio()
    if draw.plus is not None:
        low, high = (int(meaning(end) / grid) for end in draw.plus)
        return lambda words, earlier: _floor_of(earlier[of], 1, step) + low + words.pick(high - low + 1)
    assert draw.times is not None
    low, high = (int(meaning(end) * SHARE_STEPS) for end in draw.times)
    step = (SHARE_STEPS * grid).as_integer_ratio()
    return lambda words, earlier: _floor_of(earlier[of], low + words.pick(high - low + 1), step)


def _pick_log(words: _Words, low: int, high: int, octaves: int) -> int:
    start = low << words.pick(octaves)
    return start + words.pick(min(2 * start - 1, high) - start + 1)


def _floor_of(value: Value, times: int, step: tuple[int, int]) -> int:
    """How many whole steps are in so many times an earlier value: in integers, for fractions take most of the time."""
    numerator, denominator = Decimal(repr(float(value))).as_integer_ratio()  # what the value means (C-1)
    return numerator * times * step[1] // (denominator * step[0])


def _case(spec: Spec, number: int, kind: Kind, inputs: Inputs, edge: Edge | None = None) -> Case:
    identifier = f"{spec.model}-{number:04d}"
    if edge is None:
        return Case(identifier, number, kind, inputs)
    return Case(identifier, number, kind, inputs, edge.rationale, edge.flags, edge.source, edge.printed)


def _picked(spec: Spec) -> list[Case]:
    """Corners and edges: the cases that are not random."""
    corners = [
        Case(f"{spec.model}-{number:04d}", number, "corner", inputs, f"Every input at its {name}.")
        for number, (name, inputs) in enumerate(_corners(spec))
    ]
    numbered = zip(_edge_numbers(spec), spec.edges, strict=True)
    live = [(number, edge) for number, edge in numbered if not edge.withdrawn]
    return corners + [_case(spec, number, "edge", spec.read_inputs(edge.inputs), edge) for number, edge in live]


def _corners(spec: Spec) -> list[tuple[str, Inputs]]:
    if any(field.type in ("text", "list") for field in spec.inputs):
        return []
    return [
        (
            name,
            {field.name: field.read(getattr(field, side) if field.numeric else side == "max") for field in spec.inputs},
        )
        for name, side in (("minimum", "min"), ("maximum", "max"))
    ]


def _edge_numbers(spec: Spec) -> list[int]:
    first = len(_corners(spec))
    return [place if edge.number is None else edge.number for place, edge in enumerate(spec.edges, first)]


def _free(spec: Spec) -> Iterator[int]:
    """Numbers that no corner or edge has or ever had, lowest first."""
    taken = {*range(len(_corners(spec))), *_edge_numbers(spec)}
    return (number for number in itertools.count() if number not in taken)


def _random(spec: Spec, draw: RandomCases, picked: list[Case]) -> Iterator[Case]:
    """Random cases in order; where all inputs are whole numbers or choices, those that repeat are passed over
    (C-19).
    """
    discrete = all(field.type not in ("number", "list") for field in spec.inputs)
    seen = {repr(case.inputs) for case in picked}
    for number in _free(spec):
        case = draw.case(number)
        if discrete and repr(case.inputs) in seen:
            continue
        seen.add(repr(case.inputs))
        yield case


def _every_input(spec: Spec) -> list[Inputs] | None:
    """Every possible input where there are at most COUNT of them, else None."""
    choices = [_choices(field) for field in spec.inputs]
    if any(choice is None for choice in choices) or math.prod(_size(choice) for choice in choices) > COUNT:
        return None
    names = [field.name for field in spec.inputs]
    return [
        dict(zip(names, values, strict=True)) for values in itertools.product(*[choice or () for choice in choices])
    ]


def _size(choices: Sequence[Value] | None) -> int:
    return choices.stop - choices.start if isinstance(choices, range) else len(choices or ())


def _choices(field: Input) -> Sequence[Value] | None:
    """All values of an input, or None where its domain is a stretch of the real line."""
    if field.type == "list":
        return None
    if not field.numeric:
        return field.values if field.type == "text" else (False, True)
    assert field.min is not None and field.max is not None
    if field.type == "number":
        return (field.read(field.min),) if field.min == field.max else None
    return range(math.ceil(field.min), math.floor(field.max) + 1)


def _refuse_twins(spec: Spec, cases: list[Case]) -> None:
    seen: dict[str, Case] = {}
    for case in cases:
        twin = seen.setdefault(repr(case.inputs), case)
        if twin is not case:
            raise SpecError(
                f"{twin.id} and {case.id} have the same inputs",
                where=spec.path,
                hint="choose another seed, or withdraw the edge that repeats",
            )
