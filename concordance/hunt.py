"""Search beyond the published cases: millions of random ones and twists of them, on all cores or a cluster.

A case is a pure function of its number, so a hunt is a stretch of numbers, cut into ranges that any worker computes
with both implementations. What ranges find merges in any order to the same bytes, whatever the workers, their deaths
and resumes. This is no gate (`check` is), and proves nothing about numbers that it did not visit.
"""

from __future__ import annotations

import itertools
import json
import shlex
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

import msgspec

from concordance import __version__
from concordance.cases import Case, RandomCases
from concordance.check import CHUNK, Finding, check_model
from concordance.columns import MISSING, Columns, Table
from concordance.compare import TOLERANCE, Comparison, Difference, compare
from concordance.compare import Worst as Largest
from concordance.errors import UnusableInputError
from concordance.implementations import FOLDERS, load
from concordance.numbers import json_text, sha256_hex
from concordance.pool import Crew, local, run
from concordance.spec import Inputs, Output, Spec
from concordance.twists import twisted
from concordance.workspace import Workspace

Progress: TypeAlias = Callable[[int], None]

FIRST: Final = 1_000
"""The number at which a hunt starts unless told: clear of the published cases."""

RANGE: Final = 2_000
"""Cases that a worker is given at a time."""

TWISTED: Final = 10
"""One in so many cases is twisted towards ties."""

KEPT: Final = 100
"""So many failed cases, and as many errored ones, are kept with their inputs; all are counted."""

LETHAL: Final = 10
"""A hunt ends after so many cases that kill the process that computes them: finding one costs many processes."""

_DIED: Final = "the process that computed it died"
_ONE_AT_A_TIME: Final = threading.Lock()
"""A cluster may give a process several threads, and implementations need not stand that."""


class Worst(msgspec.Struct, frozen=True):
    """The largest deviation of an output as a share of the allowance: in which case, where, and the two values."""

    share: float
    number: int
    path: str
    expected: Any
    got: Any


class Kept(msgspec.Struct, frozen=True):
    """A case without agreement as its range reports it: its first difference, or why it has no answer."""

    number: int
    outcome: Literal["failed", "errored"]
    difference: dict[str, Any] | None = None
    errors: tuple[str, ...] = ()


class Found(msgspec.Struct, frozen=True):
    """What some ranges found. `lethal` are those of the errored cases that killed their process."""

    cases: int = 0
    failed: int = 0
    errored: int = 0
    lethal: int = 0
    worst: dict[str, Worst] = {}
    kept: tuple[Kept, ...] = ()


def merged(one: Found, other: Found) -> Found:
    """What two disjoint sets of ranges found, as one: associative, and in any order."""
    worst = dict(one.worst)
    for output, rival in other.worst.items():
        best = worst.get(output)
        if best is None or (-rival.share, rival.number) < (-best.share, best.number):
            worst[output] = rival
    counts = (one.cases + other.cases, one.failed + other.failed, one.errored + other.errored)
    return Found(*counts, one.lethal + other.lethal, worst, _first((*one.kept, *other.kept)))


def _first(kept: Iterable[Kept]) -> tuple[Kept, ...]:
    """The first few of each outcome, by number."""
    ordered = sorted(kept, key=lambda k: k.number)
    few = [[k for k in ordered if k.outcome == outcome][:KEPT] for outcome in ("failed", "errored")]
    return tuple(sorted(itertools.chain(*few), key=lambda k: k.number))


@dataclass(frozen=True)
class Hunt:
    """The result. `stopped` says why it ended early, if it did; the findings are those kept, by number."""

    spec: Spec
    numbers: range
    found: Found
    findings: tuple[Finding, ...]
    stopped: str = ""

    @property
    def ok(self) -> bool:
        """Whether both implementations agreed on every case that was visited."""
        return not (self.found.failed or self.found.errored)

    @property
    def deviations(self) -> dict[str, Worst]:
        """The largest deviation of each output that deviates at all, in the contract's order."""
        worst = self.found.worst
        return {output.name: worst[output.name] for output in self.spec.outputs if output.name in worst}


class Target(msgspec.Struct, frozen=True):
    """What is hunted: enough for a worker anywhere to load it, and to be sure that it is the same."""

    root: str
    command: str
    model: str
    version: str
    spec: str
    engine: str
    reference: str

    @classmethod
    def of(cls, workspace: Workspace, spec: Spec) -> Target:
        sources = [_digest(workspace.root / folder) for folder in FOLDERS.values()]
        return cls(str(workspace.root.resolve()), workspace.command, spec.model, spec.version, spec.digest, *sources)


def _digest(folder: Path) -> str:
    """One digest of all sources in a folder: models share code."""
    files = sorted(folder.rglob("*.py"))
    return sha256_hex(b"".join(f"{path.relative_to(folder)}\n".encode() + path.read_bytes() for path in files))


def hunt(
    workspace: Workspace,
    spec: Spec,
    cases: int,
    *,
    first: int = FIRST,
    crew: Crew | None = None,
    resume: Path | None = None,
    progress: Progress = lambda _: None,
) -> Hunt:
    """Compare both implementations of a model on so many cases, numbered from `first` on.

    `crew` are the workers: all cores unless given. `resume` is a file that records finished ranges, which are not run
    again. An interrupt ends the hunt with what was found so far. Raises `ImplementationError` if an implementation
    cannot be loaded, and `UnusableInputError` if `resume` is the record of another hunt.
    """
    for side in FOLDERS:
        load(workspace, side, spec)  # what cannot be loaded is one error here, and not one in each worker
    hunting = _Hunting(Target.of(workspace, spec), spec, range(first, first + cases), crew or local(), progress)
    return hunting.result(resume)


class _Hunting:
    """One hunt under way."""

    def __init__(self, target: Target, spec: Spec, numbers: range, crew: Crew, progress: Progress) -> None:
        self._target, self._spec, self._numbers, self._crew, self._progress = target, spec, numbers, crew, progress
        self._cases = HuntedCases(spec)
        self._found = Found()
        self._findings: dict[int, Finding] = {}

    def result(self, resume: Path | None) -> Hunt:
        stopped = ""
        try:
            stopped = self._search(Record(resume, self._header()) if resume else None)
            if not stopped:
                self._examine()
        except KeyboardInterrupt:
            stopped = "interrupted"
        findings = (self._findings.get(kept.number) or self._plain(kept) for kept in self._found.kept)
        return Hunt(self._spec, self._numbers, self._found, tuple(findings), stopped)

    def _header(self) -> dict[str, Any]:
        """What must be the same for a range's result to be of use; where the workspace lies need not be."""
        target = msgspec.structs.asdict(self._target)
        del target["root"], target["command"]
        return {"hunt": __version__, **target, "first": self._numbers.start, "cases": len(self._numbers)}

    def _search(self, record: Record | None) -> str:
        """Search all ranges that are not on record; why it ended early, if it did."""
        done: list[range] = []
        for stretch, found in record.finished() if record else ():
            done.append(stretch)
            self._add(found)
        with closing(run(self._crew, partial(search, self._target), remaining(self._numbers, done))) as outcomes:
            for stretch, outcome in outcomes:
                found = outcome or _lethal(stretch)
                if record:
                    record.add(stretch, found)
                self._add(found)
                if self._found.lethal >= LETHAL:
                    return f"cases kill the process that computes them ({self._found.lethal} so far)"
        return ""

    def _add(self, found: Found) -> None:
        self._found = merged(self._found, found)
        self._progress(found.cases)

    def _examine(self) -> None:
        """Make a whole finding, with the simplest inputs that differ alike, of each case that was kept."""
        kept = {k.number: k for k in self._found.kept if _DIED not in k.errors}
        if not kept:
            return
        each = (range(number, number + 1) for number in kept)
        with closing(run(self._crew, partial(examine, self._target), each)) as outcomes:
            for (number,), findings in outcomes:
                if findings:
                    self._findings[number] = findings[0]
                elif findings is not None:
                    self._findings[number] = self._plain(kept[number], _NOT_ALONE)

    def _plain(self, kept: Kept, *more: str) -> Finding:
        """A finding of which no more is known than its range reported."""
        case = self._cases.case(kept.number)
        absent = {"expected": MISSING, "got": MISSING}
        differences = (Difference(**absent | kept.difference),) if kept.difference else ()
        which = f"--case {case.id}" if case.kind == "random" else f"--inputs {shlex.quote(json_text(case.inputs))}"
        replay = f"{self._target.command} check {self._target.model} {which}"
        return Finding(case, kept.outcome, "", differences, 0, (*kept.errors, *more), replay)


_NOT_ALONE: Final = "alone the two agree, so an answer depends on the cases beside it"


def _lethal(stretch: range) -> Found:
    return Found(cases=1, errored=1, lethal=1, kept=(Kept(stretch.start, "errored", errors=(_DIED,)),))


def remaining(numbers: range, done: Iterable[range]) -> Iterator[range]:
    """The ranges of a hunt less what is done, always cut at the same numbers, so that each is the same batch."""
    reached = numbers.start
    for stretch in (*sorted(done, key=lambda s: s.start), range(numbers.stop, numbers.stop)):
        while reached < stretch.start:
            end = min(reached + RANGE - (reached - numbers.start) % RANGE, stretch.start)
            yield range(reached, end)
            reached = end
        reached = max(reached, stretch.stop)


class HuntedCases:
    """The cases of hunts by number: the model's random ones, every tenth of them twisted."""

    def __init__(self, spec: Spec) -> None:
        self._spec = spec
        self._random = RandomCases(spec)

    def inputs(self, number: int) -> Inputs:
        """The inputs of the case with this number."""
        inputs = self._random.inputs(number)
        return twisted(self._spec, number, inputs) if _is_twisted(number) else inputs

    def case(self, number: int) -> Case:
        """The case with this number."""
        if not _is_twisted(number):
            return self._random.case(number)
        name = f"{self._spec.model}-{number:04d}-twisted"
        return Case(name, number, "given", self.inputs(number), f"Random case {number}, twisted towards a tie.")


def _is_twisted(number: int) -> bool:
    return number % TWISTED == TWISTED - 1


class Record:
    """The file that makes a hunt resumable: a header, then a line for each finished range. One hunt writes it.

    Its methods raise `UnusableInputError` if the file is the record of another hunt, is damaged, or cannot be used.
    """

    def __init__(self, path: Path, header: Mapping[str, Any]) -> None:
        self._path, self._header = path, header

    def finished(self) -> Iterator[tuple[range, Found]]:
        """What is on record. A last line that a killed hunt left torn is dropped; a new file is begun."""
        try:
            with self._path.open("r+b" if self._path.exists() else "w+b") as file:
                whole, seen = 0, set()
                for place, line in enumerate(file, 1):
                    if not line.endswith(b"\n") and (place > 1 or _line(self._header).startswith(line)):
                        break
                    whole += len(line)
                    if place == 1:
                        self._check_header(line)
                    elif (read := self._read(line, place))[0] not in seen:
                        seen.add(read[0])
                        yield read
                file.truncate(whole)
                if not whole:
                    file.seek(0)
                    file.write(_line(self._header))
        except OSError as error:
            raise UnusableInputError(error.strerror or "cannot be used", where=str(self._path)) from None

    def add(self, stretch: range, found: Found) -> None:
        """Record what a range found."""
        try:
            with self._path.open("ab") as file:
                file.write(_line(msgspec.to_builtins(_Line(stretch.start, stretch.stop, found))))
        except OSError as error:
            raise UnusableInputError(error.strerror or "cannot be written", where=str(self._path)) from None

    def _check_header(self, line: bytes) -> None:
        try:
            header = json.loads(line)
            known = header.keys() == self._header.keys()
        except (ValueError, AttributeError):
            known = False
        if not known:
            raise UnusableInputError("is no record of a hunt", where=str(self._path), hint="name another file")
        for name, value in self._header.items():
            if header[name] != value:
                what = f"is the record of another hunt: its {name} is {header[name]}, this one's is {value}"
                raise UnusableInputError(what, where=str(self._path), hint="name another file, or hunt as before")

    def _read(self, line: bytes, place: int) -> tuple[range, Found]:
        try:
            read = msgspec.convert(json.loads(line), _Line)
        except (ValueError, msgspec.ValidationError):
            where = f"{self._path}:{place}"
            raise UnusableInputError("is damaged", where=where, hint="delete this line, or the file") from None
        return range(read.start, read.stop), read.found


class _Line(msgspec.Struct, frozen=True):
    start: int
    stop: int
    found: Found


def _line(value: Any) -> bytes:
    # Escaped, since an answer may hold half of a surrogate pair, which UTF-8 cannot carry.
    return json.dumps(value, separators=(",", ":")).encode("ascii") + b"\n"


def search(target: Target, numbers: range) -> Found:
    """What a range finds. Runs in a worker."""
    found = Found()
    with _ONE_AT_A_TIME:
        bench = _bench(target)
        for start in range(0, len(numbers), CHUNK):
            found = merged(found, bench.compare(numbers[start : start + CHUNK]))
    return found


def examine(target: Target, numbers: range) -> list[Finding]:
    """The finding of one case, made simpler by the gate itself; none if the two agree on it alone. Runs in a worker."""
    with _ONE_AT_A_TIME:
        bench = _bench(target)
        (result,) = check_model(bench.workspace, bench.spec, [bench.cases.case(numbers.start)])
    return result.findings


@lru_cache(maxsize=1)
def _bench(target: Target) -> _Bench:
    return _Bench(target)


class _Bench:
    """Both implementations, loaded once in a worker."""

    def __init__(self, target: Target) -> None:
        self.workspace = Workspace(Path(target.root), command=target.command)
        hint = "every worker needs the workspace at the same path, and unchanged during the hunt"
        try:
            self.spec = self.workspace.spec(target.model, target.version)
            same = Target.of(self.workspace, self.spec) == target
        except (OSError, UnusableInputError) as error:
            raise UnusableInputError(f"a worker cannot read it: {error}", where=target.root, hint=hint) from None
        if not same:
            raise UnusableInputError("a worker sees other sources than the hunt", where=target.root, hint=hint)
        self.cases = HuntedCases(self.spec)
        self._reference = load(self.workspace, "reference", self.spec)
        self._engine = load(self.workspace, "engine", self.spec)

    def compare(self, numbers: range) -> Found:
        """Run both on some cases, and report what differs."""
        cases = [self.cases.inputs(number) for number in numbers]
        expected, got = self._reference.run(cases), self._engine.run(cases)
        comparison = compare(self.spec.outputs, expected.columns, got.columns)
        crashed = sorted({*expected.crashes, *got.crashes})
        failed = [place for place in comparison.failed.nonzero()[0].tolist() if place not in crashed]
        kept = [_failed(comparison, place, numbers[place]) for place in failed[:KEPT]]
        for place in crashed[:KEPT]:
            errors = (str(run.crashes[place]) for run in (expected, got) if place in run.crashes)
            kept.append(Kept(numbers[place], "errored", errors=tuple(errors)))
        worst = {
            output.name: _worst(output, comparison.worst[output.name], numbers, expected.columns, got.columns)
            for output in self.spec.outputs
            if comparison.worst[output.name].share
        }
        return Found(len(numbers), len(failed), len(crashed), 0, worst, tuple(kept))


def _failed(comparison: Comparison, place: int, number: int) -> Kept:
    (first,) = comparison.differences(place, 1)
    return Kept(number, "failed", {k: v for k, v in msgspec.structs.asdict(first).items() if v is not MISSING})


def _worst(output: Output, largest: Largest, numbers: range, expected: Columns, got: Columns) -> Worst:
    """An output's largest deviation, with the place and the two values."""
    name, place = output.name, largest.case
    if output.type == "table":
        at = _worst_cell(output, place, expected.tables[name], got.tables[name])
    else:
        at = name, expected.leaves[name].value(place), got.leaves[name].value(place)
    share = min(largest.share, sys.float_info.max)  # JSON has no infinity
    return Worst(share, numbers[place], *at)


def _worst_cell(output: Output, place: int, expected: Table, got: Table) -> tuple[str, Any, Any]:
    """The path and the two values of the cell of a case's table that deviates most."""
    starts = int(expected.starts[place]), int(got.starts[place])
    worst, largest = ("", None, None), -1.0
    for row, column in itertools.product(range(min(expected.rows[place], got.rows[place])), output.columns):
        leaves = expected.leaves[column.name], got.leaves[column.name]
        e, g = (leaf.value(start + row) for leaf, start in zip(leaves, starts, strict=True))
        if column.type == "number" and _is_number(e) and _is_number(g):
            share = abs(e - g) / (TOLERANCE.abs + TOLERANCE.rel * abs(e))
            if share > largest:
                worst, largest = (f"{output.name}[{row}].{column.name}", e, g), share
    return worst


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
