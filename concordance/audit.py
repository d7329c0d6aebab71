"""How strong the answer key is: inject faults into both implementations, and count which ones the cases catch.

Each fault is loaded in place of its file, in a worker process, and run on all cases; the other side stays right. A
fault is killed when an answer differs, errored when there is none (a crash, a hang, code that cannot be loaded),
and survives otherwise. A survivor needs an entry in the model's reviewed list, `vectors/MODEL/audit.toml`:
equivalent, with its reason. Faults in guards (error bounds, choice of a path to the same answer) are counted apart,
since the right answer may still come out: the list says where guards are. An unexplained survivor, or an entry that
explains nothing, is a finding.
"""

from __future__ import annotations

import ast
import os
import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal, TypeAlias

import msgspec

from concordance.cases import Case, generate
from concordance.citations import cited_lines, imported_modules, read_source, run_lines
from concordance.columns import Columns
from concordance.compare import compare
from concordance.errors import ImplementationError, UnusableInputError, VectorsError
from concordance.faults import Fault, faults
from concordance.implementations import FOLDERS, Loaded, Side, discard, load
from concordance.numbers import sha256_hex
from concordance.spec import Inputs, Spec
from concordance.vectors import audit_name
from concordance.workspace import Workspace

Outcome: TypeAlias = Literal["killed", "errored", "survived"]
Progress: TypeAlias = Callable[[int], None]

PATIENCE: Final = 5.0
"""Seconds after which a faulty implementation counts as hung."""

_BATCH: Final = 20
_MEMORY: Final = 4 * 2**30
_SHOWN_KILLERS: Final = 5


class Explanation(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An entry of the reviewed list: faults at a place, and why they may survive.

    `function` is a qualified name, or empty for the module's own lines; with `before` and `after` it is about one
    fault, otherwise about all in it.
    """

    file: str
    reason: str
    function: str = ""
    before: str | None = None
    after: str | None = None

    def covers(self, injected: Injected) -> bool:
        """Whether a fault is one of those that this entry is about."""
        place = (self.file, self.function) == (injected.file, injected.function)
        one = (self.before is None or self.before == injected.before) and (
            self.after is None or self.after == injected.after
        )
        return place and one


class Reviewed(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The reviewed list of a model."""

    equivalent: tuple[Explanation, ...] = ()
    guard: tuple[Explanation, ...] = ()


class Injected(msgspec.Struct, frozen=True, rename="camel"):
    """One fault and what became of it. `killers` are the first cases that caught it, of `kills` in all."""

    file: str
    function: str
    line: int
    before: str
    after: str
    outcome: Outcome
    kills: int = 0
    killers: tuple[str, ...] = ()
    also: bool = False
    """Whether it survived the cases and was caught by the further inputs."""
    clauses: tuple[str, ...] = ()
    """The clauses that the faulty line is cited to implement."""


class Tally(msgspec.Struct, frozen=True):
    """What became of some faults outside guards."""

    faults: int = 0
    caught: int = 0
    equivalent: int = 0


class Published(msgspec.Struct, frozen=True, rename="camel"):
    """What the file of an earlier audit says, as far as others use it."""

    spec_version: str
    sources: dict[str, str]
    engine: dict[str, int]
    reference: dict[str, int]
    clauses: dict[str, dict[Side, Tally]]


@dataclass
class Audit:
    """What an audit found."""

    model: str
    version: str
    injected: list[Injected]
    reviewed: Reviewed
    sources: dict[str, str]
    clauses: tuple[str, ...] = ()
    unused: int = 0
    """Faults in shared code that this model does not run: other models answer for them."""
    kills_by_case: Counter[str] = field(default_factory=Counter)

    @property
    def unexplained(self) -> list[Injected]:
        """Survivors that no entry explains."""
        entries = (*self.reviewed.equivalent, *self.reviewed.guard)
        return [i for i in self.injected if _survived(i) and not any(entry.covers(i) for entry in entries)]

    @property
    def stale(self) -> list[Explanation]:
        """Entries that explain no survivor, and guards in which there is no fault."""
        idle = [e for e in self.reviewed.equivalent if not any(e.covers(i) and _survived(i) for i in self.injected)]
        return idle + [e for e in self.reviewed.guard if not any(e.covers(i) for i in self.injected)]

    @property
    def ok(self) -> bool:
        """Whether every fault was caught or is explained, and every explanation is needed."""
        return bool(self.injected) and not self.unexplained and not self.stale

    def in_guard(self, injected: Injected) -> bool:
        """Whether a fault lies in a guard."""
        return any(entry.covers(injected) for entry in self.reviewed.guard)

    def counts(self, side: Side) -> dict[str, int]:
        """The figures of one side; guards apart."""
        mine = [i for i in self.injected if i.file.startswith(f"{FOLDERS[side]}/")]
        plain = [i for i in mine if not self.in_guard(i)]
        guards = [i for i in mine if self.in_guard(i)]
        outcomes = Counter(i.outcome for i in plain)
        return {
            "faults": len(plain),
            "killed": outcomes["killed"],
            "errored": outcomes["errored"],
            "equivalent": outcomes["survived"] - sum(i in self.unexplained for i in plain),
            "unexplained": sum(i in self.unexplained for i in plain),
            "guards": len(guards),
            "guardsCaught": sum(i.outcome != "survived" for i in guards),
            "guardsCaughtByFurtherInputs": sum(i.also for i in guards),
            "guardsByDesign": sum(i.outcome == "survived" and not i.also for i in guards),
        }

    def by_clause(self, clauses: Iterable[str]) -> dict[str, dict[Side, Tally]]:
        """What became of the faults in code that cites each clause."""
        return {clause: {side: self._tally(clause, side) for side in FOLDERS} for clause in clauses}

    def _tally(self, clause: str, side: Side) -> Tally:
        plain = [i for i in self.injected if clause in i.clauses and not self.in_guard(i)]
        mine = [i for i in plain if i.file.startswith(f"{FOLDERS[side]}/")]
        survived = [i for i in mine if i.outcome == "survived"]
        return Tally(len(mine), len(mine) - len(survived), sum(i not in self.unexplained for i in survived))


def audit(
    workspace: Workspace,
    spec: Spec,
    further: Sequence[Inputs] = (),
    workers: int | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Audit:
    """Audit both implementations of a model. `further` inputs are tried on what survives the cases.

    `progress` is told how many faults are done, of how many. Raises `UnusableInputError` where processes cannot be
    forked, and what `load` raises.
    """
    if not hasattr(os, "fork"):
        raise UnusableInputError("auditing forks processes, which this operating system cannot do")
    bench = _Bench(workspace, spec, generate(spec), further)
    jobs, unused = bench.jobs()
    injected: list[Injected] = []
    for batch in _run_all(bench, jobs, workers or os.cpu_count() or 1):
        injected += batch
        progress(len(injected), len(jobs))
    found = Audit(
        spec.model,
        spec.version,
        sorted(injected, key=_place),
        read_reviewed(workspace, spec.model),
        bench.sources,
        tuple(spec.clauses),
        unused,
    )
    for one in injected:
        found.kills_by_case.update(one.killers)
    return found


def read_reviewed(workspace: Workspace, model: str) -> Reviewed:
    """A model's reviewed list, empty where there is none. Raises `VectorsError` with path and line."""
    import tomllib

    path = f"vectors/{model}/audit.toml"
    if not (workspace.root / path).is_file():
        return Reviewed()
    try:
        return msgspec.convert(tomllib.loads(workspace.read_text(path)), Reviewed)
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise VectorsError(str(error), where=path) from None


def read_audit(workspace: Workspace, model: str, version: str) -> Published | None:
    """The published audit of a version, if there is one. Raises `VectorsError` with its path."""
    path = f"vectors/{audit_name(model, version)}"
    if not (workspace.root / path).is_file():
        return None
    try:
        return msgspec.json.decode(workspace.read_text(path), type=Published)
    except msgspec.DecodeError as error:
        raise VectorsError(str(error), where=path) from None


def render_audit(found: Audit) -> bytes:
    """The result as the file that is published beside the vectors."""
    report = {
        "model": found.model,
        "specVersion": found.version,
        "sources": found.sources,
        "engine": found.counts("engine"),
        "reference": found.counts("reference"),
        "unused": found.unused,
        "clauses": found.by_clause(found.clauses),
        "survivors": [
            {"guard": found.in_guard(i), **msgspec.to_builtins(i), "reason": _reason(found, i)}
            for i in found.injected
            if i.outcome == "survived"
        ],
        "killsByCase": dict(sorted(found.kills_by_case.items())),
    }
    return msgspec.json.format(msgspec.json.encode(report), indent=1) + b"\n"


def _reason(found: Audit, injected: Injected) -> str:
    entries = (*found.reviewed.equivalent, *found.reviewed.guard)
    return next((entry.reason for entry in entries if entry.covers(injected)), "")


def _survived(injected: Injected) -> bool:
    return injected.outcome == "survived" and not injected.also


def _place(injected: Injected) -> tuple[str, int, str, str]:
    return injected.file, injected.line, injected.before, injected.after


@dataclass(frozen=True)
class _Job:
    """One fault to inject, and where."""

    side: Side
    path: Path
    file: str
    function: str
    fault: Fault
    clauses: tuple[str, ...]


class _Bench:
    """What workers share: the cases, and both sides' right answers to them."""

    def __init__(self, workspace: Workspace, spec: Spec, cases: Sequence[Case], further: Sequence[Inputs]) -> None:
        self._workspace, self._spec, self._cases = workspace, spec, cases
        self._inputs = [case.inputs for case in cases]
        self._further = list(further)
        self._right = {side: self._answers(load(workspace, side, spec), self._inputs) for side in FOLDERS}
        self._right_further = {side: self._answers(load(workspace, side, spec), self._further) for side in FOLDERS}
        self.sources: dict[str, str] = {}

    def jobs(self) -> tuple[list[_Job], int]:
        """Every fault of both sides' code that the cases run, and how many lie in shared code that they do not."""
        jobs, unused = [], 0
        for side, folder in FOLDERS.items():
            root = self._workspace.root / folder
            implementation = load(self._workspace, side, self._spec)
            ran = run_lines(root, lambda one=implementation: one.run(self._inputs))  # type: ignore[misc]
            measured = run_lines(root, lambda one=implementation: show_decisions(one, self._inputs))  # type: ignore[misc]
            name = self._spec.model.replace("-", "_")
            for path in imported_modules(root, name):
                source = read_source(path)
                file = f"{folder}/{path.name}"
                self.sources[file] = sha256_hex(source.encode("utf-8"))
                functions = functions_by_line(source)
                called = functions_run(functions, ran.get(path, set()))
                citations = cited_lines(source, self._spec.clauses)
                idle = functions_run(functions, measured.get(path, set())) - called  # measures cases, and answers none
                for fault in faults(source):
                    function, in_body = functions.get(fault.line, ("", True))
                    elsewhere = path.stem != name and function and not (in_body and function in called)
                    if function in idle or elsewhere:
                        unused += 1
                    else:
                        clauses = tuple(c for c in self._spec.clauses if fault.line in citations.get(c, ()))
                        jobs.append(_Job(side, path, file, function, fault, clauses))
        return jobs, unused

    def inject(self, job: _Job) -> Injected:
        """Run one fault. Never raises for what the faulty code does."""
        outcome: Outcome
        try:
            with _Limits():
                faulty = load(self._workspace, job.side, self._spec, {job.path: job.fault.source})
                killers = self._differing(job.side, self._answers(faulty, self._inputs), self._right)
                outcome = "killed" if killers else "survived"
                also = not killers and bool(
                    self._further
                    and self._differing(job.side, self._answers(faulty, self._further), self._right_further)
                )
        except (_Stopped, Exception, SystemExit):
            outcome, killers, also = "errored", [], False
        finally:
            discard()
        names = [self._cases[place].id for place in killers]
        fault = job.fault
        shown = (fault.line, fault.before, fault.after, outcome, len(names), tuple(names[:_SHOWN_KILLERS]), also)
        return Injected(job.file, job.function, *shown, job.clauses)

    def _answers(self, implementation: Loaded, inputs: Sequence[Inputs]) -> Columns:
        run = implementation.run_whole(inputs)
        for crash in run.crashes.values():
            raise ImplementationError(crash.what, where=crash.where)
        return run.columns

    def _differing(self, side: Side, faulty: Columns, right: Mapping[Side, Columns]) -> list[int]:
        pair = (right["reference"], faulty) if side == "engine" else (faulty, right["engine"])
        places: list[int] = compare(self._spec.outputs, *pair).failed.nonzero()[0].tolist()
        return places


class _Stopped(BaseException):
    """Time is up. No implementation that catches `Exception` holds it."""


class _Limits:
    """Within it, code is stopped after PATIENCE, and by the operating system if it does not listen."""

    def __enter__(self) -> None:
        import resource
        import signal

        def stop(*_: object) -> None:
            raise _Stopped

        signal.signal(signal.SIGALRM, stop)
        signal.setitimer(signal.ITIMER_REAL, PATIENCE)
        used = resource.getrusage(resource.RUSAGE_SELF)
        deaf = int(used.ru_utime + used.ru_stime + 4 * PATIENCE)
        resource.setrlimit(resource.RLIMIT_CPU, (deaf, resource.getrlimit(resource.RLIMIT_CPU)[1]))

    def __exit__(self, *_: object) -> None:
        import signal

        signal.setitimer(signal.ITIMER_REAL, 0)


_bench: _Bench | None = None


def _run_all(bench: _Bench, jobs: Sequence[_Job], workers: int) -> Iterator[list[Injected]]:
    """All jobs, in batches, on forked workers that share the bench; a batch that kills its worker is run one by one."""
    global _bench
    _bench = bench
    batches = [jobs[start : start + _BATCH] for start in range(0, len(jobs), _BATCH)]
    deadly: list[Sequence[_Job]] = []
    while batches:
        with _pool(workers) as pool:
            waiting = [(batch, pool.submit(_run_batch, batch)) for batch in batches]
            batches = []
            for batch, future in waiting:
                try:
                    yield future.result()
                except BrokenProcessPool:
                    (deadly if deadly or len(waiting) == 1 else batches).append(batch)
        if batches and len(batches) == len(waiting):
            deadly, batches = [*deadly, *batches], []
    for job in (job for batch in deadly for job in batch):
        with _pool(1) as pool:
            try:
                yield pool.submit(_run_batch, [job]).result()
            except BrokenProcessPool:
                fault = job.fault
                place = (job.file, job.function, fault.line, fault.before, fault.after)
                yield [Injected(*place, "errored", clauses=job.clauses)]


def _pool(workers: int) -> ProcessPoolExecutor:
    import multiprocessing

    return ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("fork"), initializer=_start)


def _start() -> None:
    """A worker says nothing: faulty code warns and prints as it likes."""
    import resource
    import warnings

    warnings.simplefilter("ignore")
    sys.stdout = sys.stderr = Path(os.devnull).open("w")  # noqa: SIM115
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))


def _run_batch(batch: Sequence[_Job]) -> list[Injected]:
    assert _bench is not None
    return [_bench.inject(job) for job in batch]


def show_decisions(implementation: Loaded, inputs: Sequence[Inputs]) -> None:
    """Run what an implementation has to show the decisions of cases, if it has."""
    implementation.near(inputs, implementation.run(inputs).columns)
    for one in inputs if hasattr(implementation.module, "decisions") else ():
        implementation.module.decisions(dict(one))


def functions_run(functions: Mapping[int, tuple[str, bool]], lines: Collection[int]) -> set[str]:
    """The functions of which lines in the body were run."""
    return {name for line in lines for name, in_body in [functions.get(line, ("", True))] if in_body}


def functions_by_line(source: str) -> dict[int, tuple[str, bool]]:
    """The qualified name of the innermost function or class at each line, and whether the line is in a function's
    body.
    """
    found: dict[int, tuple[str, bool]] = {}

    def visit(node: ast.AST, name: str) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.FunctionDef, ast.ClassDef)):
                inner = f"{name}.{child.name}" if name else child.name
                for line in range(child.lineno, (child.end_lineno or child.lineno) + 1):
                    found[line] = inner, isinstance(child, ast.FunctionDef) and line >= child.body[0].lineno
                visit(child, inner)
            else:
                visit(child, name)

    visit(ast.parse(source), "")
    return found
