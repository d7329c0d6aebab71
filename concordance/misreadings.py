"""Faults that people really make when they implement a model, and which of its cases catch each one.

A model's catalogue is `vectors/MODEL/misreadings.toml`: each entry says what is misread, of which clause, and patches
one file of one side, so that it gives the answers of whoever made the mistake. The patched side is run on all cases
beside the other side, which stays right; a misreading is caught by every case on which the two now differ.

Not for finding faults that nobody thought of (`audit` injects those), and not for patches that may hang: they are
written by hand, and run in this process.
"""

from __future__ import annotations

import re
import tomllib
import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import msgspec

from concordance.cases import Case, generate
from concordance.compare import Comparison, Difference, compare
from concordance.errors import ImplementationError, VectorsError
from concordance.implementations import FOLDERS, Crash, Run, Side, load
from concordance.spec import Inputs, Spec
from concordance.workspace import Workspace

_CONVENTION: Final = re.compile(r"C-\d+")
"""A clause of the conventions, which every spec is read with."""


class Edit(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A piece of a source, which must occur in it once, and what takes its place."""

    old: str
    new: str


class _Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """An entry as it is written: one edit as `old` and `new`, or several as a list."""

    name: str
    says: str
    clause: str
    file: str
    source: str = ""
    old: str | None = None
    new: str | None = None
    edit: tuple[Edit, ...] = ()


class _Catalogue(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    misreading: tuple[_Entry, ...] = ()


@dataclass(frozen=True)
class Misreading:
    """A mistake that people make: `says` tells it in words, `source` is where it was seen, `patched` is the code."""

    name: str
    says: str
    clause: str
    file: str
    source: str
    patched: str

    @property
    def side(self) -> Side:
        """The side that the patch makes wrong."""
        return next(side for side, folder in FOLDERS.items() if self.file.startswith(f"{folder}/"))


@dataclass(frozen=True)
class Caught:
    """A misreading and the cases that catch it, edges first; with the first difference of the first one.

    If the first case has a `crash` instead, the patched code gives it no answer.
    """

    misreading: Misreading
    cases: tuple[Case, ...]
    first: Difference | None = None
    crash: Crash | None = None

    @property
    def ok(self) -> bool:
        """Whether any case catches it."""
        return bool(self.cases)


def read_misreadings(workspace: Workspace, model: str) -> tuple[Misreading, ...]:
    """A model's catalogue, empty where there is none. Raises `VectorsError` with path and entry."""
    path = f"vectors/{model}/misreadings.toml"
    if not (workspace.root / path).is_file():
        return ()
    try:
        entries = msgspec.convert(tomllib.loads(workspace.read_text(path)), _Catalogue).misreading
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise VectorsError(str(error), where=path) from None
    spec = workspace.spec(model)
    for name, times in Counter(entry.name for entry in entries).items():
        if times > 1:
            raise VectorsError(f"{times} entries have this name", where=f'{path}, "{name}"')
    return tuple(_misreading(workspace, spec, entry, f'{path}, "{entry.name}"') for entry in entries)


def try_misreadings(workspace: Workspace, spec: Spec) -> list[Caught]:
    """Run every misreading of a model on its cases. A case on which the two sides already differ catches nothing.

    Raises what `read_misreadings` raises, `ImplementationError` if a side cannot be loaded, and `VectorsError` if a
    patched one cannot.
    """
    misreadings = read_misreadings(workspace, spec.model)
    bench = _Bench(workspace, spec, generate(spec))
    return [bench.catch(misreading) for misreading in misreadings]


def _misreading(workspace: Workspace, spec: Spec, entry: _Entry, where: str) -> Misreading:
    """An entry with its patch applied."""
    if entry.clause not in spec.clauses and not _CONVENTION.fullmatch(entry.clause):
        raise VectorsError(f"{spec.path} has no clause {entry.clause}", where=where)
    folder, _, name = entry.file.partition("/")
    if folder not in FOLDERS.values() or "/" in name or not (workspace.root / entry.file).is_file():
        raise VectorsError(f"{entry.file} is no file of {' or '.join(FOLDERS.values())}", where=where)
    patched = workspace.read_text(entry.file)
    for edit in _edits(entry, where):
        patched = _replaced(patched, edit, entry.file, where)
    return Misreading(entry.name, entry.says, entry.clause, entry.file, entry.source, patched)


def _edits(entry: _Entry, where: str) -> tuple[Edit, ...]:
    if entry.old is None and entry.new is None and entry.edit:
        return entry.edit
    if entry.old is None or entry.new is None or entry.edit:
        raise VectorsError("gives neither `old` and `new` nor a list of edits, or both", where=where)
    return (Edit(entry.old, entry.new),)


def _replaced(source: str, edit: Edit, file: str, where: str) -> str:
    times = source.count(edit.old) if edit.old else 0
    shown = edit.old.strip().partition("\n")[0]
    if times != 1:
        said = f"occurs {times} times in {file}, not once" if times else f"is not in {file}"
        raise VectorsError(f"`old` {said}: {shown}", where=where, hint="follow the code that has changed")
    if edit.old == edit.new:
        raise VectorsError(f"`new` is the same as `old`: {shown}", where=where)
    return source.replace(edit.old, edit.new)


class _Bench:
    """A model's cases, and both sides' right answers to them."""

    def __init__(self, workspace: Workspace, spec: Spec, cases: Sequence[Case]) -> None:
        self._workspace, self._spec = workspace, spec
        self._cases = sorted(cases, key=lambda case: case.kind != "edge")
        self._inputs: list[Inputs] = [case.inputs for case in self._cases]
        self._right: dict[Side, Run] = {side: load(workspace, side, spec).run(self._inputs) for side in FOLDERS}
        self._before = self._compare("engine", self._right["engine"]).failed

    def catch(self, misreading: Misreading) -> Caught:
        """Run a misreading in place of its side."""
        wrong = self._run(misreading)
        comparison = self._compare(misreading.side, wrong)
        places = (comparison.failed & ~self._before).nonzero()[0].tolist()
        caught = tuple(self._cases[place] for place in places)
        if not places or places[0] in wrong.crashes:
            return Caught(misreading, caught, crash=wrong.crashes[places[0]] if places else None)
        return Caught(misreading, caught, comparison.differences(places[0], 1)[0])

    def _run(self, misreading: Misreading) -> Run:
        sources = {self._workspace.root / misreading.file: misreading.patched}
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # numpy's, about what the mistake divides by
                return load(self._workspace, misreading.side, self._spec, sources).run(self._inputs)
        except ImplementationError as error:
            where = f'vectors/{self._spec.model}/misreadings.toml, "{misreading.name}"'
            raise VectorsError(f"the patched code cannot be loaded: {error}", where=where) from None

    def _compare(self, side: Side, given: Run) -> Comparison:
        """What a side's run differs in from the other side's right one, which is the expected one here."""
        (right,) = (run for other, run in self._right.items() if other != side)
        return compare(self._spec.outputs, right.columns, given.columns)
