"""Changelog entries, `changelog/MODEL/VERSION.md`: what moved from one version to the next, and why.

An entry is rendered from what `change` computed; the only words of a person in it are the why, the approver and the
notes of settled findings. This module decides nothing about whether a version may be released.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

import msgspec

from concordance.change import ClauseChanges, ContractChange, Moves, Step
from concordance.errors import JsonError, VectorsError
from concordance.numbers import json_text, number_text, parse_json

Verdict: TypeAlias = Literal["engine", "reference", "spec-ambiguous", "case-wrong"]
VERDICTS: Final[tuple[Verdict, ...]] = ("engine", "reference", "spec-ambiguous", "case-wrong")


class Settled(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A finding that a person has judged: whose fault the disagreement was."""

    version: str
    case: str
    inputs: dict[str, Any]
    path: str
    expected: Any
    got: Any
    verdict: Verdict
    note: str
    by: str


@dataclass(frozen=True)
class Entry:
    """Everything that an entry says."""

    model: str
    version: str
    date: str
    why: str
    approver: str
    previous: str | None
    step: Step | None
    contract: Sequence[ContractChange]
    moves: Moves
    clauses: ClauseChanges
    settled: Sequence[Settled]
    spec_digest: str
    vectors_digest: str
    cases: int


def entry_name(model: str, version: str) -> str:
    """The path of an entry inside `changelog/`."""
    return f"{model}/{version}.md"


def settled_name(model: str) -> str:
    """The path of a model's settled findings inside `changelog/`."""
    return f"{model}/findings.jsonl"


def render_entry(entry: Entry) -> str:
    """An entry as Markdown. The same entry gives the same text."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("concordance"), undefined=StrictUndefined, keep_trailing_newline=True, autoescape=False
    )
    environment.filters |= {"number": _number, "json": json_text, "short": _short}
    fields: dict[str, Any] = {name: getattr(entry, name) for name in entry.__dataclass_fields__}
    fields |= {"step": entry.step.name.lower() if entry.step is not None else "", "why": entry.why.strip()}
    labelled = [
        ("added", entry.clauses.added),
        ("reworded", entry.clauses.reworded),
        ("removed", entry.clauses.removed),
    ]
    fields["clauses"] = [(label, names) for label, names in labelled if names and entry.previous]
    return environment.get_template("changelog.md.j2").render(fields)


def read_settled(content: bytes, path: str) -> list[Settled]:
    """The settled findings of a model, in the order in which they were settled. Raises `VectorsError` with path and
    line.
    """
    found = []
    for number, line in enumerate(content.splitlines(), 1):
        try:
            found.append(msgspec.convert(parse_json(line), Settled))
        except (JsonError, msgspec.ValidationError) as error:
            raise VectorsError(str(error), where=f"{path}:{number}") from None
    return found


def settled_line(settled: Settled) -> bytes:
    """A settled finding as its line of the file."""
    return json_text(msgspec.structs.asdict(settled)).encode("utf-8") + b"\n"


def since(settled: Sequence[Settled], versions: Sequence[str]) -> list[Settled]:
    """The findings that were settled while one of these versions was the newest."""
    return [finding for finding in settled if finding.version in versions]


def _number(value: float | None) -> str:
    return "" if value is None else number_text(value)


def _short(value: Any) -> str:
    text = json_text(value)
    return text if len(text) <= 120 else f"{text[:120]}…"
