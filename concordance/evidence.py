"""How far the cases reach: clauses, branches, decisions and headroom of one model, measured on its reference.

Which clauses the cases reach, and what faults and misreadings of each they catch; which branches of the reference no
case takes; how near every case lies to every decision (both sides, and exactly on the edge); and the smallest relative
error of each output that the cases would catch. No fault is injected here: that is `audit`'s, and its published result
is read.
"""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

from concordance.audit import (
    Published,
    Reviewed,
    Tally,
    functions_by_line,
    functions_run,
    read_audit,
    read_reviewed,
    show_decisions,
)
from concordance.cases import Case, Kind, generate
from concordance.check import check_model
from concordance.citations import cited, imported_modules, inside, reached, read_source, run_lines
from concordance.columns import Columns
from concordance.compare import TOLERANCE
from concordance.errors import ImplementationError
from concordance.implementations import FOLDERS, Loaded, Side, load
from concordance.misreadings import try_misreadings
from concordance.numbers import sha256_hex
from concordance.spec import Spec
from concordance.workspace import Workspace

NEAR: Final = Fraction(1, 10**9)
"""A random case whose amounts differ by less than this share of the larger one is as good as on the edge: it should
be an edge with a name.
"""


@dataclass(frozen=True)
class ClauseReach:
    """One clause: the cases that reach it by kind, what became of the faults that the published audit injected into
    the code that cites it (none if there is no such audit), and how many of its misreadings are caught.
    """

    cases: Mapping[Kind, int]
    faults: Mapping[Side, Tally] | None
    misreadings: int
    caught: int

    @property
    def reached(self) -> int:
        """The number of cases that reach it."""
        return sum(self.cases.values())


@dataclass
class DecisionReach:
    """How the cases fall around one decision: left below, equal to, or above right."""

    clause: str
    question: str
    below: int = 0
    on: int = 0
    above: int = 0
    nearest: Fraction | None = None
    nearest_case: str = ""
    near_random: list[str] = field(default_factory=list)

    @property
    def sides(self) -> int:
        """How many of the three places have a case."""
        return sum(count > 0 for count in (self.below, self.on, self.above))


@dataclass(frozen=True)
class Headroom:
    """One numeric output: the smallest relative error in it that some case catches, and the engine's largest
    deviation.
    """

    output: str
    smallest_caught: float | None
    deviation: float


@dataclass
class Evidence:
    """What was measured of one model."""

    model: str
    version: str
    clauses: dict[str, ClauseReach]
    branches: int
    missed_branches: list[str]
    decisions: list[DecisionReach]
    headroom: list[Headroom]
    audited: str
    """What is to be known of the audit that the faults are of: empty if it was of the code that is here."""

    @property
    def ok(self) -> bool:
        """Whether every clause and branch is reached and no random case sits next to a decision."""
        near = any(decision.near_random for decision in self.decisions)
        return all(clause.reached for clause in self.clauses.values()) and not self.missed_branches and not near


def measure(workspace: Workspace, spec: Spec) -> Evidence:
    """Measure a model's cases. Raises what `load` raises, and `ImplementationError` if the reference crashes."""
    cases = generate(spec)
    reference = load(workspace, "reference", spec)
    run = reference.run([case.inputs for case in cases])
    for place, crash in run.crashes.items():
        raise ImplementationError(crash.what, where=crash.where, hint=f"on {cases[place].id}")
    branches, missed = _branches(workspace, spec, cases)
    published = read_audit(workspace, spec.model, spec.version)
    return Evidence(
        model=spec.model,
        version=spec.version,
        clauses=_clauses(workspace, spec, reference, cases, published),
        branches=branches,
        missed_branches=missed,
        decisions=_decisions(reference, cases),
        headroom=_headroom(workspace, spec, run.columns),
        audited=_audited(workspace, published),
    )


def _audited(workspace: Workspace, published: Published | None) -> str:
    if published is None:
        return "This version has not been audited."
    changed = [
        file
        for file, digest in published.sources.items()
        if not (workspace.root / file).is_file() or sha256_hex(read_source(workspace.root / file).encode()) != digest
    ]
    return f"Changed since the audit: {', '.join(changed)}." if changed else ""


def _clauses(
    workspace: Workspace, spec: Spec, reference: Loaded, cases: Sequence[Case], published: Published | None
) -> dict[str, ClauseReach]:
    """What reaches each clause, and what is caught of it."""
    reaching = _cases_by_clause(workspace, spec, reference, cases)
    misread: dict[str, list[bool]] = {clause: [] for clause in spec.clauses}
    for one in try_misreadings(workspace, spec):
        misread.setdefault(one.misreading.clause, []).append(one.ok)
    return {
        clause: ClauseReach(
            reaching[clause],
            published.clauses.get(clause, {}) if published else None,
            len(misread[clause]),
            sum(misread[clause]),
        )
        for clause in spec.clauses
    }


def _cases_by_clause(
    workspace: Workspace, spec: Spec, reference: Loaded, cases: Sequence[Case]
) -> dict[str, Counter[Kind]]:
    """How many cases of each kind reach each clause."""
    folder = workspace.root / FOLDERS["reference"]
    found = cited(workspace, FOLDERS["reference"], spec.model, spec.clauses)
    at_import = reached(found, run_lines(folder, lambda: load(workspace, "reference", spec)))
    counts: dict[str, Counter[Kind]] = {clause: Counter() for clause in spec.clauses}
    for case in cases:
        ran = run_lines(folder, lambda case=case: reference.run([case.inputs]))  # type: ignore[misc]
        for clause in reached(found, ran) | at_import:
            counts[clause][case.kind] += 1
    return counts


def _branches(workspace: Workspace, spec: Spec, cases: Sequence[Case]) -> tuple[int, list[str]]:
    """How many branches the reference has outside guards, and those that no case takes."""
    from coverage import Coverage

    folder = workspace.root / FOLDERS["reference"]
    watch = Coverage(data_file=None, branch=True, include=[inside(folder)], config_file=False, messages=False)
    watch.start()
    try:
        load(workspace, "reference", spec).run([case.inputs for case in cases])
    finally:
        watch.stop()
    with tempfile.TemporaryDirectory() as temporary:
        report = Path(temporary, "coverage.json")
        watch.json_report(outfile=str(report))
        files: Mapping[str, Any] = json.loads(report.read_text())["files"]
    reviewed = read_reviewed(workspace, spec.model)
    inputs = [case.inputs for case in cases]
    reference = load(workspace, "reference", spec)
    answered = run_lines(folder, lambda: reference.run(inputs))
    shown = run_lines(folder, lambda: show_decisions(reference, inputs))
    used = {path.name for path in imported_modules(folder, spec.model.replace("-", "_"))}
    total, missed = 0, []
    for name, data in files.items():
        path = Path(name).absolute()
        if path.name not in used:
            continue
        file = f"{FOLDERS['reference']}/{path.name}"
        functions = functions_by_line(read_source(path))
        ran = functions_run(functions, answered.get(path, set()))
        # Code that no answer needs: shared with other models, run on import alone, or there to show decisions.
        idle = {name for name, in_body in functions.values() if in_body} - ran
        own = path.stem == spec.model.replace("-", "_")
        idle = idle & (functions_run(functions, shown.get(path, set())) if own else idle)
        for start, end in [*data["executed_branches"], *data["missing_branches"]]:
            function = functions.get(start, ("", True))[0]
            if function in idle or _is_guard(reviewed, file, function):
                continue
            total += 1
            if [start, end] in data["missing_branches"]:
                missed.append(f"{file}:{start}" + (f" to {end}" if end > 0 else " to the end"))
    return total, missed


def _is_guard(reviewed: Reviewed, file: str, function: str) -> bool:
    return any((entry.file, entry.function) == (file, function) and entry.before is None for entry in reviewed.guard)


def _decisions(reference: Loaded, cases: Sequence[Case]) -> list[DecisionReach]:
    """Every decision that the reference can show, over all cases; none if it shows none."""
    if not hasattr(reference.module, "decisions"):
        return []
    found: dict[tuple[str, str], DecisionReach] = {}
    for case in cases:
        for clause, question, left, right in reference.module.decisions(dict(case.inputs)):
            reach = found.setdefault((clause, question), DecisionReach(clause, question))
            _place(reach, case, left, right)
    return list(found.values())


def _place(reach: DecisionReach, case: Case, left: Fraction, right: Fraction) -> None:
    if left == right:
        reach.on += 1
    elif left < right:
        reach.below += 1
    else:
        reach.above += 1
    distance = _distance(left, right)
    if left != right and (reach.nearest is None or distance < reach.nearest):
        reach.nearest, reach.nearest_case = distance, case.id
    if case.kind == "random" and 0 < distance < NEAR:
        reach.near_random.append(case.id)


def _distance(left: Fraction, right: Fraction) -> Fraction:
    """How far apart two amounts are, as a share of the larger."""
    larger = max(abs(left), abs(right))
    return abs(left - right) / larger if larger else Fraction(0)


def _headroom(workspace: Workspace, spec: Spec, expected: Columns) -> list[Headroom]:
    """|e| r > abs + rel |e| is caught: so the smallest r is rel + abs / |e|, at the case with the largest |e|."""
    (engine,) = check_model(workspace, spec)
    rows = []
    for output in spec.outputs:
        if output.type == "table":
            table = expected.tables[output.name].leaves
            largest = max((_largest(table[c.name].numbers) for c in output.columns if c.type == "number"), default=0.0)
        elif output.type == "number":
            largest = _largest(expected.leaves[output.name].numbers)
        else:
            continue
        smallest = TOLERANCE.rel + TOLERANCE.abs / largest if largest else None
        deviation = engine.deviations.get(output.name)
        rows.append(Headroom(output.name, smallest, deviation.share if deviation else 0.0))
    return rows


def _largest(numbers: Iterable[float]) -> float:
    return max((abs(float(number)) for number in numbers), default=0.0)
