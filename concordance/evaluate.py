"""Compute a model's outputs for given inputs, one set of them or a stream of JSON lines.

Inputs are validated against the contract; whatever is wrong with one line is answered on that line, and the lines
after it still answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from concordance.errors import (
    FieldError,
    ImplementationError,
    InvalidInputsError,
    JsonError,
    UnusableInputError,
)
from concordance.implementations import Implementation
from concordance.numbers import json_text, parse_json
from concordance.spec import Inputs, Spec


def compute(implementation: Implementation, spec: Spec, inputs: object) -> dict[str, Any]:
    """One model's outputs as JSON carries them. Raises `InvalidInputsError`, or `ImplementationError` on a crash."""
    run = implementation.run([spec.read_inputs(inputs)])
    if run.crashes:
        raise ImplementationError(run.crashes[0].what, where=run.crashes[0].where)
    return run.columns.answers(spec.outputs)[0]


def answer_lines(implementation: Implementation, spec: Spec, lines: Sequence[bytes]) -> tuple[list[str], int]:
    """One answer a line, `{"outputs": ...}` or `{"errors": [...]}`, and how many lines could not be answered."""
    read = [_read(spec, line) for line in lines]
    run = implementation.run([inputs for inputs in read if isinstance(inputs, dict)])
    outputs = iter(run.columns.answers(spec.outputs))
    crashes = dict(run.crashes)
    answers, failed, place = [], 0, 0
    for inputs in read:
        if isinstance(inputs, dict):
            computed, errors = next(outputs), [FieldError("", str(crashes[place]))] if place in crashes else []
            place += 1
        else:
            computed, errors = {}, inputs
        failed += bool(errors)
        answers.append(
            json_text({"errors": [error._asdict() for error in errors]} if errors else {"outputs": computed})
        )
    return answers, failed


def read_lines(spec: Spec, path: Path) -> list[Inputs]:
    """The inputs in a file of JSON lines. Raises `UnusableInputError` with path and line at the first that cannot
    be used.
    """
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise UnusableInputError(error.strerror or "cannot be read", where=str(path)) from None
    found = []
    for number, line in enumerate(lines, 1):
        read = _read(spec, line)
        if not isinstance(read, dict):
            raise UnusableInputError("; ".join(map(str, read)), where=f"{path}:{number}")
        found.append(read)
    return found


def _read(spec: Spec, line: bytes) -> Inputs | list[FieldError]:
    try:
        return spec.read_inputs(parse_json(line))
    except JsonError as error:
        return [FieldError("", str(error))]
    except InvalidInputsError as error:
        return list(error.errors)
