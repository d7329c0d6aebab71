"""Agreement of answers with expected values: tolerance, verdicts, differences with paths (C-11 to C-13).

Pure: columns in, differences out. `compare` judges whole columns at once; `judge` is the rule for one pair of
values, and what the columns are judged by wherever a value is no plain number. Expected values are given; no
implementation is reached from here.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import repeat
from typing import Any, Final, Literal, NamedTuple, TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from concordance.columns import MISSING, Columns, Floats, Leaf, Table, as_json, whole
from concordance.numbers import NON_FINITE
from concordance.spec import Column, Output

Note: TypeAlias = Literal["value-mismatch", "missing", "type-mismatch"]
_Bools: TypeAlias = NDArray[np.bool_]
_MISMATCH: Final[Note] = "value-mismatch"
_NON_FINITE: Final = frozenset({*NON_FINITE.values(), "NaN"})


class Tolerance(NamedTuple):
    """How far a number may be from the expected one: |e - g| <= abs + rel * |e|."""

    rel: float = 1e-9
    abs: float = 1e-6


TOLERANCE: Final = Tolerance()
"""The published tolerance (C-11)."""


class Difference(msgspec.Struct, frozen=True):
    """One place where an answer differs: `got` is `MISSING` where there is nothing."""

    path: str
    expected: Any
    got: Any
    note: Note


class Worst(NamedTuple):
    """The largest deviation of an output, as a share of what the tolerance allows, and the case that has it."""

    share: float
    case: int


@dataclass(frozen=True)
class Comparison:
    """The result of comparing `count` cases. Cases and rows are numbered from 0 in the order given."""

    failed: _Bools
    failed_outputs: dict[str, _Bools]
    worst: dict[str, Worst]
    _parts: tuple[_Part, ...]

    def differences(self, case: int, limit: int | None = None) -> list[Difference]:
        """The differences of one case, at most `limit`, in the contract's order, tables row by row."""
        return list(
            itertools.islice(itertools.chain.from_iterable(part.differences(case) for part in self._parts), limit)
        )

    def count(self, case: int) -> int:
        """How many differences a case has."""
        return int(self.counts[case])

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """How many differences each case has."""
        counts: NDArray[np.int64] = sum((part.counts() for part in self._parts), np.zeros(len(self.failed), np.int64))
        return counts

    def all_differences(self, limit: int) -> dict[int, list[Difference]]:
        """The same as `differences` for every case that failed, all at once."""
        found: dict[int, list[Difference]] = {case: [] for case in np.flatnonzero(self.failed).tolist()}
        for part in self._parts:
            part.add_to(found, limit)
        return found


def compare(outputs: Sequence[Output], expected: Columns, got: Columns, tolerance: Tolerance = TOLERANCE) -> Comparison:
    """Compare answers with expected values, case by case in the order given."""
    with np.errstate(over="ignore"):  # an answer may be as large as doubles go
        parts = [_part(output, expected, got, tolerance) for output in outputs]
    failed = np.zeros(expected.count, np.bool_)
    for part in parts:
        failed |= part.failed
    return Comparison(
        failed,
        {part.output.name: part.failed for part in parts},
        {part.output.name: part.worst for part in parts},
        tuple(parts),
    )


def judge(column: Output | Column, expected: Any, got: Any, tolerance: Tolerance = TOLERANCE) -> Note | None:
    """The rule for one pair of values (C-11, C-12): None if they agree, else what is wrong."""
    if got is MISSING or expected is MISSING:
        return "missing"
    e, g = as_json(expected), as_json(got)
    if column.type in ("text", "boolean"):
        if type(e) is not type(g):
            return "type-mismatch"
        return None if e == g else "value-mismatch"
    if not (_numeric(e) and _numeric(g)):
        return "type-mismatch"
    exact = column.type == "integer" or isinstance(e, str) or isinstance(g, str) or _sentinels(column) & {e, g}
    agree = e == g if exact else abs(e - g) <= tolerance.abs + tolerance.rel * abs(e)
    return None if agree else "value-mismatch"


def _part(output: Output, expected: Columns, got: Columns, tolerance: Tolerance) -> _Part:
    if output.type == "table":
        return _TablePart(output, expected.tables[output.name], got.tables[output.name], tolerance)
    return _LeafPart(output, expected.leaves[output.name], got.leaves[output.name], tolerance)


def outside_contract(outputs: Sequence[Output], answers: Columns) -> dict[int, str]:
    """What answers of the expected side are not of their contract's types and values (C-7, C-8), by case.

    Two implementations may share such a fault, and would agree on it.
    """
    found: dict[int, str] = {}
    for output in outputs:
        if output.type != "table":
            for place, what in _outside(output, output.name, answers.leaves[output.name]):
                found.setdefault(place, what)
            continue
        table = answers.tables[output.name]
        case_of = np.repeat(np.arange(len(table.rows)), table.rows)
        for column in output.columns:
            for place, what in _outside(column, f"{output.name}.{column.name}", table.leaves[column.name]):
                found.setdefault(int(case_of[place]), what)
    return found


def _outside(column: Output | Column, name: str, values: Leaf) -> Iterator[tuple[int, str]]:
    kinds: dict[str, type] = {"text": str, "boolean": bool}
    if (kind := kinds.get(column.type)) is not None:
        for place in range(len(values.numbers)):
            value = values.odd.get(place, 0.0)
            if type(value) is not kind or (isinstance(column, Output) and column.values and value not in column.values):
                yield place, f"{name} is {values.value(place)!r}, which its contract does not allow"
        return
    declared = _sentinels(column)
    for place, value in values.odd.items():
        if value is not MISSING and not (isinstance(value, str) and value in declared):
            yield place, f"{name} is {value!r}, which its contract does not allow"
    if column.type == "integer":
        for place in np.flatnonzero(values.numbers != np.floor(values.numbers)).tolist():
            yield place, f"{name} is {values.value(place)!r}, which is no whole number"


class _LeafPart:
    """One output that is a single value per case."""

    def __init__(self, output: Output, expected: Leaf, got: Leaf, tolerance: Tolerance) -> None:
        self.output = output
        self._expected, self._got, self._tolerance = expected, got, tolerance
        self.failed, share = _judge_column(output, expected, got, tolerance)
        self.worst = _worst(share, None)

    def counts(self) -> NDArray[np.int64]:
        return self.failed.astype(np.int64)

    def add_to(self, found: dict[int, list[Difference]], limit: int) -> None:
        places = np.flatnonzero(self.failed)
        pairs = zip(places.tolist(), self._expected.at(places), self._got.at(places), strict=True)
        for case, expected, got in pairs:
            if len(found[case]) < limit:
                found[case].append(_difference(self.output.name, self.output, expected, got, self._tolerance))

    def differences(self, case: int) -> Iterator[Difference]:
        if self.failed[case]:
            pair = self._expected.value(case), self._got.value(case)
            yield _difference(self.output.name, self.output, *pair, self._tolerance)


class _TablePart:
    """One table output, judged row by row as far as both tables of a case have rows."""

    def __init__(self, output: Output, expected: Table, got: Table, tolerance: Tolerance) -> None:
        self.output = output
        self._expected, self._got, self._tolerance = expected, got, tolerance
        self._common = np.minimum(expected.rows, got.rows)
        self._starts = np.cumsum(self._common) - self._common
        self.failed: _Bools = expected.rows != got.rows
        self.failed[[*expected.odd, *got.odd]] = True
        case_of = self._case_of = np.repeat(np.arange(len(self._common)), self._common)
        row_of = np.arange(len(case_of)) - self._starts[case_of]
        self._leaves, marks, share = [], [], np.zeros(len(case_of))
        for column in output.columns:
            pair = (
                _common_rows(expected, column.name, self._common, case_of, row_of),
                _common_rows(got, column.name, self._common, case_of, row_of),
            )
            wrong, column_share = _judge_column(column, *pair, tolerance)
            self._leaves.append(pair)
            marks.append(wrong)
            np.maximum(share, column_share, out=share)
        self._marks = np.array(marks)
        self.failed[case_of[self._marks.any(axis=0)]] = True
        self.worst = _worst(share, case_of)

    def counts(self) -> NDArray[np.int64]:
        counts = np.bincount(self._case_of, self._marks.sum(axis=0), len(self.failed)).astype(np.int64)
        for case in self._unlike:
            counts[case] += len(self._structural(case))
        return counts

    def add_to(self, found: dict[int, list[Difference]], limit: int) -> None:
        for case in self._unlike:
            if len(found[case]) < limit:
                found[case] += self._structural(case)
        rows, columns = np.nonzero(self._marks.T)
        cases = self._case_of[rows]
        room = np.full(len(self.failed), limit)
        room[list(found)] -= [len(differences) for differences in found.values()]
        shown = np.arange(len(cases)) - np.searchsorted(cases, cases) < room[cases]
        rows, columns, cases = rows[shown], columns[shown], cases[shown]
        for case, difference in zip(cases.tolist(), self._all(rows, columns, cases), strict=True):
            found[case].append(difference)

    def _all(self, rows: NDArray[np.int64], columns: NDArray[np.int64], cases: NDArray[np.int64]) -> list[Difference]:
        """The differences at the given rows, counted over all cases, and columns."""
        row_of = rows - self._starts[cases]
        names = [column.name for column in self.output.columns]
        paths = [[f"{self.output.name}[{row}].{name}" for name in names] for row in range(row_of.max(initial=-1) + 1)]
        values: list[list[Any]] = []
        for side in (0, 1):
            numbers = np.array([pair[side].numbers for pair in self._leaves])
            values.append(whole(numbers[columns, rows].tolist()))
        places = zip(row_of.tolist(), columns.tolist(), strict=True)
        found = list(map(Difference, [paths[row][column] for row, column in places], *values, repeat(_MISMATCH)))
        for column, (expected, got) in enumerate(self._leaves):
            if expected.odd or got.odd:
                for place in np.flatnonzero(columns == column).tolist():
                    row = int(rows[place])
                    pair = expected.value(row), got.value(row)
                    at = (found[place].path, self.output.columns[column])
                    found[place] = _difference(*at, *pair, self._tolerance)
        return found

    @cached_property
    def _unlike(self) -> list[int]:
        """Cases of which a table is none, or has another length."""
        lengths = np.flatnonzero(self._expected.rows != self._got.rows).tolist()
        return sorted({*lengths, *self._expected.odd, *self._got.odd})

    def differences(self, case: int) -> Iterator[Difference]:
        if not self.failed[case]:
            return
        yield from self._structural(case)
        start = int(self._starts[case])
        for row, number in np.argwhere(self._marked(case).T).tolist():
            column, (expected, got) = self.output.columns[number], self._leaves[number]
            pair = expected.value(start + row), got.value(start + row)
            yield _difference(f"{self.output.name}[{row}].{column.name}", column, *pair, self._tolerance)

    def _marked(self, case: int) -> _Bools:
        """Which columns (first axis) differ in which of the case's common rows."""
        start = int(self._starts[case])
        marked: _Bools = self._marks[:, start : start + int(self._common[case])]
        return marked

    def _structural(self, case: int) -> list[Difference]:
        name = self.output.name
        rows, answered = int(self._expected.rows[case]), int(self._got.rows[case])
        if case in self._expected.odd:
            return [Difference(name, self._expected.odd[case], "a table", "missing")]
        got = self._got.odd.get(case)
        if case not in self._got.odd:
            return [Difference(f"{name}.length", rows, answered, "value-mismatch")] if rows != answered else []
        expected = f"a table of {rows} rows"
        if got is MISSING:
            return [Difference(name, expected, got, "missing")]
        if isinstance(got, list):
            place, value = next((place, value) for place, value in enumerate(got) if not isinstance(value, dict))
            return [Difference(f"{name}[{place}]", "a row", value, "type-mismatch")]
        return [Difference(name, expected, got, "type-mismatch")]


_Part: TypeAlias = _LeafPart | _TablePart


def _difference(path: str, column: Output | Column, expected: Any, got: Any, tolerance: Tolerance) -> Difference:
    return Difference(path, expected, got, judge(column, expected, got, tolerance) or _MISMATCH)


def _judge_column(column: Output | Column, expected: Leaf, got: Leaf, tolerance: Tolerance) -> tuple[_Bools, Floats]:
    """Which positions differ, and each position's deviation as a share of the allowance (0 where there is none)."""
    e, g = expected.numbers, got.numbers
    if column.type in ("text", "boolean"):
        return _judge_exact(column, expected, got), np.zeros(len(e))
    exact = column.type == "integer"
    if np.array_equal(e, g):  # as most answers are; the rest of the arithmetic would find nothing
        wrong, share = np.zeros(len(e), np.bool_), np.zeros(len(e))
        return _judge_odd(column, expected, got, tolerance, wrong, share)
    off, allowance = np.abs(e - g), tolerance.abs + tolerance.rel * np.abs(e)
    share = np.zeros(len(off)) if exact else off / allowance
    wrong = off != 0 if exact else off > allowance
    for sentinel in _sentinels(column):
        if not isinstance(sentinel, str):
            wrong |= (e == sentinel) != (g == sentinel)
    return _judge_odd(column, expected, got, tolerance, wrong, share)


def _judge_exact(column: Output | Column, expected: Leaf, got: Leaf) -> _Bools:
    """The same for texts and booleans: a number among them is of the wrong type."""
    count = len(expected.numbers)
    if expected.odd == got.odd and len(got.odd) == count and _all_texts(column, got.odd):
        return np.zeros(count, np.bool_)
    notes = (judge(column, expected.value(place), got.value(place)) for place in range(count))
    return np.array([note is not None for note in notes], np.bool_)


def _judge_odd(
    column: Output | Column, expected: Leaf, got: Leaf, tolerance: Tolerance, wrong: _Bools, share: Floats
) -> tuple[_Bools, Floats]:
    """The same where one of the two holds no number."""
    if expected.odd != got.odd or not _all_texts(column, got.odd):
        for position in expected.odd.keys() | got.odd.keys():
            note = judge(column, expected.value(position), got.value(position), tolerance)
            wrong[position] = note is not None
            share[position] = 0
    return wrong, share


def _all_texts(column: Output | Column, odd: Mapping[int, Any]) -> bool:
    """Whether values that are no numbers are all texts that the column may hold, so that equal means agreed."""
    if column.type == "boolean":
        return False
    return set(map(type, odd.values())) <= {str} and (column.type == "text" or _NON_FINITE.issuperset(odd.values()))


def _common_rows(
    table: Table, name: str, common: NDArray[np.int64], case_of: NDArray[np.int64], row_of: NDArray[np.int64]
) -> Leaf:
    """One column of a table, in the rows that both tables have."""
    leaf = table.leaves[name]
    return leaf if np.array_equal(table.rows, common) else leaf.take(table.starts[case_of] + row_of)


def _worst(share: Floats, case_of: NDArray[np.int64] | None) -> Worst:
    if not len(share):
        return Worst(0.0, 0)
    place = int(share.argmax())
    return Worst(float(share[place]), place if case_of is None else int(case_of[place]))


def _numeric(value: Any) -> bool:
    """A number, or a string that stands for a non-finite one."""
    return (isinstance(value, (int, float)) and not isinstance(value, bool)) or (
        isinstance(value, str) and value in _NON_FINITE
    )


def _sentinels(column: Output | Column) -> frozenset[float | str]:
    return frozenset(sentinel.value for sentinel in column.sentinels) if isinstance(column, Output) else frozenset()
