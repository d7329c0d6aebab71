"""Twist drawn inputs towards ties, knowing nothing of a model but its contract.

Implementations part where two amounts are equal, or as near as decimals and doubles allow, and draws seldom come
there. A twist makes one field equal to another of its unit, a whole multiple of one or of a difference of two, round,
a bound or 0, or moves it by one step of its grid or by one double; or it rounds all fields of a unit to thousands.
One to three twists are made, as a pure function of the seed and the case's number. Whether a tie results is not known
here.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from fractions import Fraction
from typing import Any, Final, NamedTuple, TypeAlias

from concordance.numbers import meaning
from concordance.spec import SMALLEST, Input, Inputs, Spec, Value

_MOST: Final = 3


class _Digits:
    """A few picks, by a digest of the seed and the number."""

    def __init__(self, seed: str, number: int) -> None:
        self._left = int.from_bytes(hashlib.sha256(f"{seed}\n{number}\ntwist".encode()).digest(), "big")

    def pick(self, n: int) -> int:
        """A whole number in 0..n-1."""
        self._left, place = divmod(self._left, n)
        return place


class _Slot(NamedTuple):
    """A numeric field, and the object of the inputs that holds it."""

    field: Input
    holder: dict[str, Any]

    @property
    def value(self) -> float:
        value: float = self.holder[self.field.name]
        return value

    def put(self, value: float | Fraction) -> None:
        self.holder[self.field.name] = _fitted(self.field, value)


_Twist: TypeAlias = Callable[[_Slot, Sequence[_Slot], _Digits], None]


def twisted(spec: Spec, number: int, inputs: Inputs) -> Inputs:
    """The inputs of a case, twisted; always in the contract's domain, and now and then as they were."""
    digits = _Digits(spec.seed, number)
    inputs = deepcopy(inputs)
    slots = list(_slots(spec.inputs, inputs))
    for _ in range(1 + digits.pick(_MOST) if slots else 0):
        twist = _TWISTS[digits.pick(len(_TWISTS))]
        twist(slots[digits.pick(len(slots))], slots, digits)
    return inputs


def _equal(slot: _Slot, slots: Sequence[_Slot], digits: _Digits) -> None:
    if others := _others(slot, slots):
        slot.put(others[digits.pick(len(others))].value)


def _multiple(slot: _Slot, slots: Sequence[_Slot], digits: _Digits) -> None:
    """The nearest whole multiple of another field, or of its difference from one of the same unit."""
    rest = [other for other in slots if other is not slot and other.field.type == "number"]
    if not rest:
        return
    other = rest[digits.pick(len(rest))]
    base = meaning(other.value)
    if (less := _others(other, rest)) and digits.pick(2):
        base = abs(base - meaning(less[digits.pick(len(less))].value))
    if base:
        slot.put(base * max(round(meaning(slot.value) / base), 1))


def _round(slot: _Slot, slots: Sequence[_Slot], digits: _Digits) -> None:
    slot.put(float(f"{slot.value:.{1 + digits.pick(3)}g}"))


def _bound(slot: _Slot, slots: Sequence[_Slot], digits: _Digits) -> None:
    slot.put((slot.field.min or 0, slot.field.max or 0, 0)[digits.pick(3)])


def _step(slot: _Slot, slots: Sequence[_Slot], digits: _Digits) -> None:
    grid = meaning(slot.field.grid or 1)
    slot.put(meaning(slot.value) + (-grid, grid)[digits.pick(2)])


def _ulp(slot: _Slot, slots: Sequence[_Slot], digits: _Digits) -> None:
    slot.put(math.nextafter(slot.value, (-math.inf, math.inf)[digits.pick(2)]))


def _thousands(slot: _Slot, slots: Sequence[_Slot], digits: _Digits) -> None:
    for other in slots:
        if other.field.unit == slot.field.unit and other.value >= 1_000:
            other.put(round(other.value, -3))


# Equality and multiples come twice: they are what thresholds are made of.
_TWISTS: Final[Sequence[_Twist]] = (_equal, _equal, _multiple, _multiple, _round, _bound, _step, _ulp, _thousands)


def _slots(fields: Sequence[Input], inputs: dict[str, Any]) -> Iterator[_Slot]:
    """All numbers of the inputs, those of a list's items too."""
    for field in fields:
        if field.numeric:
            yield _Slot(field, inputs)
        elif field.type == "list":
            for item in inputs[field.name]:
                yield from _slots(field.items, item)


def _others(slot: _Slot, slots: Sequence[_Slot]) -> list[_Slot]:
    """The other slots of the same unit."""
    return [other for other in slots if other is not slot and other.field.unit == slot.field.unit]


def _fitted(field: Input, value: float | Fraction) -> Value:
    """A value brought into the field's domain; one too small to be in any is the bound or 0 below it (C-3)."""
    assert field.min is not None and field.max is not None
    number = float(min(max(value, field.min), field.max))
    if field.type == "integer":
        return field.read(min(max(round(number), math.ceil(field.min)), math.floor(field.max)))
    return field.read(number if abs(number) >= SMALLEST else max(field.min, 0.0))
