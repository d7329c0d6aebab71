"""What changed between two versions of a model, and the smallest version step that may carry it (C-23).

Pure: two specs, and the old published cases with the answers of then and now. The old cases' inputs are what both
versions are asked, so that a change in case generation never hides a change in answers.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Final

from concordance.errors import InvalidInputsError
from concordance.numbers import json_text
from concordance.spec import Column, Input, Inputs, Output, Spec
from concordance.workspace import version_order

SHOWN_EXAMPLES: Final = 3


class Step(IntEnum):
    """A version step, by the place in MAJOR.MINOR.PATCH that it raises; a smaller number is a larger step."""

    MAJOR = 0
    MINOR = 1
    PATCH = 2

    def next(self, version: str) -> str:
        """The version that this step leads to."""
        places = list(version_order(version))
        return ".".join(map(str, [*places[:self], places[self] + 1, *[0] * (2 - self)]))


@dataclass(frozen=True)
class ContractChange:
    """One change of the contract, and the step that it asks for."""

    step: Step
    what: str


@dataclass(frozen=True)
class Example:
    """One published case whose answer moved: the first output that did, before and after."""

    case: str
    inputs: Inputs
    output: str
    before: Any
    after: Any


@dataclass(frozen=True)
class OutputMove:
    """How one output moved over the old cases; `largest` and `median` only where it is a number before and after."""

    output: str
    cases: int
    largest: float | None
    median: float | None


@dataclass(frozen=True)
class Moves:
    """How the answers to the old version's published inputs moved."""

    asked: int
    moved: int
    refused: tuple[str, ...]
    outputs: tuple[OutputMove, ...]
    examples: tuple[Example, ...]


@dataclass(frozen=True)
class ClauseChanges:
    """Clauses by identifier, as the changelog lists them."""

    added: tuple[str, ...]
    reworded: tuple[str, ...]
    removed: tuple[str, ...]


def required_step(contract: Sequence[ContractChange], moves: Moves) -> Step:
    """The smallest step that may carry these changes."""
    answers = [Step.MAJOR] if moves.moved else []
    return min([Step.PATCH, *answers, *(change.step for change in contract)])


def contract_changes(old: Spec, new: Spec) -> list[ContractChange]:
    """Every change of inputs, outputs and access that a caller could notice."""
    changes = [*_input_changes(old.inputs, new.inputs, ""), *_output_changes(old.outputs, new.outputs)]
    if old.access != new.access:
        step = Step.MAJOR if new.access == "key" else Step.MINOR
        changes.append(ContractChange(step, f"access is {new.access}, was {old.access}"))
    return changes


def clause_changes(old: Spec, new: Spec) -> ClauseChanges:
    """Which clauses came, changed their wording, or went."""
    both = [name for name in new.clauses if name in old.clauses]
    return ClauseChanges(
        added=tuple(name for name in new.clauses if name not in old.clauses),
        reworded=tuple(name for name in both if _words(old, name) != _words(new, name)),
        removed=tuple(name for name in old.clauses if name not in new.clauses),
    )


def moves(
    old_cases: Sequence[Mapping[str, Any]], now: Mapping[str, Mapping[str, Any]], outputs: Sequence[Output]
) -> Moves:
    """Compare the published answers of the old cases with today's, by case id, output by output.

    `now` lacks the cases whose inputs the new contract refuses. Any difference counts: published values are exact.
    """
    pairs = [(case, now[case["id"]]) for case in old_cases if case["id"] in now]
    shared = [output for output in outputs if pairs and output.name in pairs[0][0]["expected"]]
    moved_by_output = {output.name: [pair for pair in pairs if _moved(output.name, pair)] for output in shared}
    moved = [pair for pair in pairs if any(_moved(output.name, pair) for output in shared)]
    return Moves(
        asked=len(pairs),
        moved=len(moved),
        refused=tuple(case["id"] for case in old_cases if case["id"] not in now),
        outputs=tuple(_output_move(name, pairs) for name, pairs in moved_by_output.items() if pairs),
        examples=tuple(_example(pair, shared) for pair in moved[:SHOWN_EXAMPLES]),
    )


def accepted(spec: Spec, cases: Sequence[Mapping[str, Any]]) -> dict[str, Inputs]:
    """The inputs of published cases that a spec accepts, by case id."""
    found = {}
    for case in cases:
        try:
            found[case["id"]] = spec.read_inputs(case["inputs"])
        except InvalidInputsError:
            continue
    return found


def _moved(name: str, pair: tuple[Mapping[str, Any], Mapping[str, Any]]) -> bool:
    case, after = pair
    return json_text(case["expected"][name]) != json_text(after.get(name))


def _output_move(name: str, pairs: Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]]) -> OutputMove:
    values = [(case["expected"][name], after.get(name)) for case, after in pairs]
    sizes = [abs(after - before) for before, after in values if _is_number(before) and _is_number(after)]
    return OutputMove(name, len(pairs), max(sizes, default=None), statistics.median(sizes) if sizes else None)


def _example(pair: tuple[Mapping[str, Any], Mapping[str, Any]], outputs: Sequence[Output]) -> Example:
    case, after = pair
    name = next(output.name for output in outputs if _moved(output.name, pair))
    return Example(case["id"], case["inputs"], name, case["expected"][name], after.get(name))


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _words(spec: Spec, clause: str) -> list[str]:
    return spec.clauses[clause].text.split()


def _input_changes(old: Sequence[Input], new: Sequence[Input], at: str) -> Iterator[ContractChange]:
    before, after = {field.name: field for field in old}, {field.name: field for field in new}
    for name in before.keys() - after.keys():
        yield ContractChange(Step.MAJOR, f"input {at}{name} went away")
    for name in after.keys() - before.keys():
        # Every input must be given, so what callers send today would be refused.
        yield ContractChange(Step.MAJOR, f"input {at}{name} was added, and is required")
    for name in (name for name in before if name in after):
        yield from _field_changes(before[name], after[name], f"input {at}{name}")
        yield from _input_changes(before[name].items, after[name].items, f"{at}{name}[].")


def _field_changes(old: Input, new: Input, who: str) -> Iterator[ContractChange]:
    if (old.type, new.type) == ("integer", "number"):
        yield ContractChange(Step.MINOR, f"{who} takes any number, not only whole ones")
    elif old.type != new.type:
        yield ContractChange(Step.MAJOR, f"{who} is of type {new.type}, was {old.type}")
        return
    if old.unit != new.unit:
        yield ContractChange(Step.MAJOR, f'{who} is in "{new.unit}", was in "{old.unit}"')
    low, high = _ends(old), _ends(new)
    if low and high and low != high:
        narrower = high[0] > low[0] or high[1] < low[1]
        step, how = (Step.MAJOR, "narrowed") if narrower else (Step.MINOR, "widened")
        shown = [f"{ends[0]:g} to {ends[1]:g}" for ends in (high, low)]
        yield ContractChange(step, f"{who} was {how} to {shown[0]}, from {shown[1]}")
    yield from _value_changes(old.values, new.values, who)


def _ends(field: Input) -> tuple[float, float] | None:
    if field.length:
        return field.length
    return None if field.min is None or field.max is None else (field.min, field.max)


def _value_changes(old: Sequence[Any], new: Sequence[Any], who: str) -> Iterator[ContractChange]:
    for value in (value for value in old if value not in new):
        yield ContractChange(Step.MAJOR, f"{who} no longer has {json_text(value)}")
    for value in (value for value in new if value not in old):
        yield ContractChange(Step.MINOR, f"{who} may be {json_text(value)}")


def _output_changes(old: Sequence[Output], new: Sequence[Output]) -> Iterator[ContractChange]:
    before, after = {output.name: output for output in old}, {output.name: output for output in new}
    for name in (name for name in before if name not in after):
        yield ContractChange(Step.MAJOR, f"output {name} went away")
    for name in (name for name in after if name not in before):
        yield ContractChange(Step.MINOR, f"output {name} was added")
    for name in (name for name in before if name in after):
        one, other = before[name], after[name]
        yield from _kind_changes(one, other, f"output {name}")
        yield from _value_changes(one.values, other.values, f"output {name}")
        then, now = ([sentinel.value for sentinel in output.sentinels] for output in (one, other))
        yield from _value_changes(then, now, f"output {name}")
        yield from _column_changes(one.columns, other.columns, f"output {name}")


def _kind_changes(old: Output | Column, new: Output | Column, who: str) -> Iterator[ContractChange]:
    if old.type != new.type:
        yield ContractChange(Step.MAJOR, f"{who} is of type {new.type}, was {old.type}")
    if old.unit != new.unit:
        yield ContractChange(Step.MAJOR, f'{who} is in "{new.unit}", was in "{old.unit}"')


def _column_changes(old: Sequence[Column], new: Sequence[Column], who: str) -> Iterator[ContractChange]:
    before, after = {column.name: column for column in old}, {column.name: column for column in new}
    for name in (name for name in before if name not in after):
        yield ContractChange(Step.MAJOR, f"{who} lost its column {name}")
    for name in (name for name in after if name not in before):
        yield ContractChange(Step.MINOR, f"{who} has the new column {name}")
    for name in (name for name in before if name in after):
        yield from _kind_changes(before[name], after[name], f"{who}, column {name},")
