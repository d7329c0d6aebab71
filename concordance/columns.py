"""The outputs of many cases as columns: one column per output, and one per column of a table.

Engines answer in columns and comparison runs on them, so that 500 answers cost a few array operations and not
50,000 steps of Python. Answers that are lists of objects (references, files, HTTP) are turned into the same form.
Values that are no plain finite number are kept aside, as they came, in `odd`; nothing is judged here (`compare`
does).
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from operator import itemgetter
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from concordance.numbers import NON_FINITE, json_text
from concordance.spec import Column, Output

Rows: TypeAlias = list[dict[str, Any]]
Floats: TypeAlias = NDArray[np.float64]


class _Missing:
    """Marks a key that an answer does not have."""

    def __repr__(self) -> str:
        return "missing"

    def __reduce__(self) -> str:
        return "MISSING"  # one and the same in every process


MISSING: Final = _Missing()
_NUMBERS: Final = frozenset({float, int})
_PLAIN: Final = frozenset({str, bool, type(None), _Missing})


@dataclass
class Leaf:
    """One column of values. Positions in `odd` hold a text, a boolean, nothing, or anything else that is no finite
    number.
    """

    numbers: Floats
    odd: dict[int, Any] = field(default_factory=dict)

    def value(self, position: int) -> Any:
        """The value at a position as JSON would carry it."""
        if position in self.odd:
            return self.odd[position]
        number = float(self.numbers[position])
        return int(number) if number.is_integer() else number

    def at(self, positions: NDArray[np.int64]) -> list[Any]:
        """The values at positions as JSON would carry them."""
        values = whole(self.numbers[positions].tolist())
        if self.odd:
            return [self.odd.get(place, value) for place, value in zip(positions.tolist(), values, strict=True)]
        return values

    def values(self) -> list[Any]:
        """All values as JSON would carry them."""
        values: list[Any] = self.numbers.tolist()
        for position, value in self.odd.items():
            values[position] = value
        return values

    def take(self, positions: NDArray[np.int64]) -> Leaf:
        """The values at the given rising positions."""
        kept, values = np.array(list(self.odd), np.int64), list(self.odd.values())
        places = np.searchsorted(positions, kept)
        inside = np.flatnonzero(np.append(positions, -1)[places] == kept).tolist()
        return Leaf(self.numbers[positions], {int(places[place]): values[place] for place in inside})


@dataclass
class Table:
    """A table output: rows per case, the rows of all cases one after another, and cases whose value is no table."""

    rows: NDArray[np.int64]
    leaves: dict[str, Leaf]
    odd: dict[int, Any] = field(default_factory=dict)

    @property
    def starts(self) -> NDArray[np.int64]:
        """The position of each case's first row."""
        starts: NDArray[np.int64] = np.cumsum(self.rows) - self.rows
        return starts


@dataclass
class Columns:
    """The outputs of `count` cases."""

    count: int
    leaves: dict[str, Leaf]
    tables: dict[str, Table]

    def take(self, cases: Sequence[int]) -> Columns:
        """The same for some of the cases, in rising order; without their tables."""
        places = np.array(cases, np.int64)
        return Columns(len(cases), {name: leaf.take(places) for name, leaf in self.leaves.items()}, {})

    def missing(self, output: str) -> int:
        """In how many cases an output is missing."""
        odd = self.tables[output].odd if output in self.tables else self.leaves[output].odd
        return sum(value is MISSING for value in odd.values())

    def answers(self, outputs: Sequence[Output], order: Iterable[int] | None = None) -> Rows:
        """The same as a list of objects in the contract's order, for all cases or those asked for; a missing key
        stays so.
        """
        filled = [(output.name, self._values(output)) for output in outputs]
        return [
            {name: values[case] for name, values in filled if values[case] is not MISSING}
            for case in (range(self.count) if order is None else order)
        ]

    def _values(self, output: Output) -> list[Any]:
        if output.type != "table":
            return _typed(output, self.leaves[output.name])
        table = self.tables[output.name]
        names = [column.name for column in output.columns]
        columns = [_typed(column, table.leaves[column.name]) for column in output.columns]
        rows = [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]
        starts = table.starts.tolist()
        values: list[Any] = [
            rows[start : start + count] for start, count in zip(starts, table.rows.tolist(), strict=True)
        ]
        for case, value in table.odd.items():
            values[case] = value
        return values


def from_answers(outputs: Sequence[Output], answers: Sequence[Any]) -> Columns:
    """Columns of answers that came as objects; an answer that is no object has every output missing."""
    objects = [answer if isinstance(answer, dict) else {} for answer in answers]
    leaves, tables = {}, {}
    for output in outputs:
        values = _column(objects, output.name)
        if output.type == "table":
            tables[output.name] = _table(output.columns, values)
        else:
            leaves[output.name] = leaf(values)
    return Columns(len(objects), leaves, tables)


def from_arrays(outputs: Sequence[Output], result: Mapping[str, Any], count: int) -> Columns:
    """Columns of an engine's result: an array per output, and `(rows per case, {column: array})` per table.

    Raises `ValueError` naming the output whose shape does not fit; an output that is not there is missing.
    """
    leaves, tables = {}, {}
    for output in outputs:
        given = result.get(output.name, MISSING)
        if output.type != "table":
            leaves[output.name] = _array_leaf(output.name, given, count)
        elif given is MISSING:
            none = np.zeros(count, np.int64)
            tables[output.name] = Table(
                none, {column.name: leaf([]) for column in output.columns}, dict.fromkeys(range(count), MISSING)
            )
        else:
            tables[output.name] = _array_table(output, given, count)
    return Columns(count, leaves, tables)


def leaf(values: Sequence[Any]) -> Leaf:
    """A column of values of any kind."""
    try:
        numbers = np.array(array("d", values))  # refuses texts and nothing, but takes True for 1
    except (TypeError, OverflowError):
        return _mixed_leaf(values)
    if not np.isfinite(numbers).all():
        return _mixed_leaf(values)
    zeros_and_ones = np.flatnonzero(numbers == numbers.astype(np.bool_)).tolist()
    if bool in map(type, map(values.__getitem__, zeros_and_ones)):
        return _mixed_leaf(values)
    return Leaf(numbers)


def _mixed_leaf(values: Sequence[Any]) -> Leaf:
    odd = {place: value for place, value in enumerate(values) if type(value) not in _NUMBERS}
    if set(map(type, odd.values())) <= _PLAIN or all(type(v) in _PLAIN or _is_json(v) for v in odd.values()):
        try:
            numbers = np.array([0.0 if place in odd else value for place, value in enumerate(values)], np.float64)
            if np.isfinite(numbers).all():
                return Leaf(numbers, odd)
        except OverflowError:
            pass
    return _mixed_leaf([as_json(value) for value in values])  # shown as Python would where JSON could not carry it


def as_json(value: Any) -> Any:
    """A value as JSON carries it: a number that is not finite in binary64 is the string that stands for it (C-8).

    What JSON could not carry is shown as Python would.
    """
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return value if type(value) in _PLAIN or _is_json(value) else repr(value)
    try:
        number = float(value)
    except OverflowError:
        number = math.inf if value > 0 else -math.inf
    if math.isfinite(number):
        return number
    return "NaN" if math.isnan(number) else NON_FINITE[number]


def _is_json(value: Any) -> bool:
    try:
        json_text(value)
    except (TypeError, ValueError):
        return False
    return isinstance(value, (list, dict))


def whole(numbers: list[Any]) -> list[Any]:
    """Numbers as JSON carries them: those without a fraction are integers."""
    return [int(number) if number.is_integer() else number for number in numbers]


def _array_leaf(name: str, given: Any, count: int) -> Leaf:
    if given is MISSING:
        return Leaf(np.zeros(count), dict.fromkeys(range(count), MISSING))
    if isinstance(given, np.ma.MaskedArray):
        raise ValueError(f"{name} is a masked array; answer every case")
    array = np.asarray(given)
    if array.shape != (count,):
        raise ValueError(f"{name} has shape {array.shape}, not {(count,)}")
    if array.dtype.kind not in "fiu":
        return leaf(array.tolist())
    numbers = array.astype(np.float64, copy=False)
    return Leaf(numbers) if np.isfinite(numbers).all() else _mixed_leaf(numbers.tolist())


def _array_table(output: Output, given: Any, count: int) -> Table:
    try:
        rows, columns = given
        counts = np.asarray(rows)
        if (counts != np.floor(counts)).any():
            raise ValueError
        counts = counts.astype(np.int64)
        names = set(columns)
    except (TypeError, ValueError):
        raise ValueError(f"{output.name} is not a pair of rows per case and columns") from None
    if counts.shape != (count,) or (counts < 0).any():
        raise ValueError(f"{output.name} does not give a number of rows for each of {count} cases")
    total = int(counts.sum())
    leaves = {
        column.name: _array_leaf(
            f"{output.name}.{column.name}", columns[column.name] if column.name in names else MISSING, total
        )
        for column in output.columns
    }
    return Table(counts, leaves)


def _table(columns: Sequence[Column], values: Sequence[Any]) -> Table:
    if set(map(type, values)) <= {list}:
        try:
            rows = list(chain.from_iterable(values))
            leaves = {column.name: leaf(_column(rows, column.name)) for column in columns}
            return Table(_lengths(values), leaves)
        except (AttributeError, TypeError):
            pass  # a row is no object
    return _uneven_table(columns, values)


def _uneven_table(columns: Sequence[Column], values: Sequence[Any]) -> Table:
    odd = {case: value for case, value in enumerate(values) if not _is_table(value)}
    whole = [() if case in odd else value for case, value in enumerate(values)]
    rows = list(chain.from_iterable(whole))
    leaves = {column.name: leaf(_column(rows, column.name)) for column in columns}
    return Table(_lengths(whole), leaves, odd)


def _column(rows: Sequence[dict[str, Any]], name: str) -> list[Any]:
    try:
        return list(map(itemgetter(name), rows))
    except KeyError:
        return [row.get(name, MISSING) for row in rows]


def _lengths(values: Sequence[Any]) -> NDArray[np.int64]:
    return np.fromiter(map(len, values), np.int64, len(values))


def _is_table(value: Any) -> bool:
    return type(value) is list and set(map(type, value)) <= {dict}


def _typed(column: Output | Column, values: Leaf) -> list[Any]:
    if column.type != "integer":
        return values.values()
    return [int(value) if isinstance(value, float) and value.is_integer() else value for value in values.values()]
