"""The gate: both implementations of a model on its cases, and what they disagree on.

The reference's answer is the expected one, the engine's is what was got. A finding names the case, why it is there,
every difference with its path, the clause that defines the first one, and the command that replays just this case.
Failed (a wrong answer) and errored (no answer) are kept apart. Agreement of outside sources' printed values is
checked beside it.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any, Final, Literal, TypeAlias

from concordance.cases import COUNT, Case, generate
from concordance.changelog import Settled, read_settled, settled_name
from concordance.columns import MISSING, Columns, from_answers
from concordance.commands import PATIENCE, CommandImplementation
from concordance.compare import Comparison, Difference, compare, outside_contract
from concordance.errors import ImplementationError
from concordance.implementations import Implementation, Run, load
from concordance.numbers import json_text, number_text
from concordance.shrink import simplest
from concordance.spec import Inputs, Spec
from concordance.workspace import Workspace

Outcome: TypeAlias = Literal["failed", "errored", "refuted"]
Progress: TypeAlias = Callable[[int], None]

CHUNK: Final = 500
"""Cases that are computed and compared at a time, so that memory stays level however many there are."""

SHOWN_DIFFERENCES: Final = 20
SHRUNK_FINDINGS: Final = 3
"""Of so many findings the inputs are made simpler."""

BUDGET: Final = 1_500
OUTSIDE_BUDGET: Final = 60
"""How often both implementations are asked for that; an outside command is a new process each time."""


@dataclass(frozen=True)
class Simplest:
    """The simplest inputs found that still disagree in the same way, and how they do."""

    inputs: Inputs
    first: Difference
    replay: str


@dataclass(frozen=True)
class Finding:
    """One case that blocks: `failed` differs, `errored` has no answer, `refuted` contradicts a printed value."""

    case: Case
    outcome: Outcome
    clause: str
    differences: tuple[Difference, ...]
    left_out: int
    errors: tuple[str, ...]
    replay: str
    simplest: Simplest | None = None
    verdict: str = ""
    """A person's judgement of whose fault it is, once it is settled."""


@dataclass(frozen=True)
class Deviation:
    """The largest deviation of an output as a share of what the tolerance allows, and where it is."""

    output: str
    share: float
    case: str


@dataclass
class ModelCheck:
    """What comparing one implementation of a model with its reference found."""

    model: str
    version: str
    implementation: str = "engine"
    cases: int = 0
    failed: int = 0
    errored: int = 0
    witnesses: int = 0
    findings: list[Finding] = field(default_factory=list)
    deviations: dict[str, Deviation] = field(default_factory=dict)
    broken: str = ""
    """Why an implementation could not even be loaded; then no case was computed."""

    @property
    def agreed(self) -> int:
        return self.cases - self.failed - self.errored

    @property
    def ok(self) -> bool:
        """Whether nothing blocks, on at least one case."""
        return self.cases > 0 and not self.findings and not self.broken

    @property
    def largest(self) -> Deviation | None:
        """The output that comes nearest to the tolerance."""
        return max(self.deviations.values(), key=lambda deviation: deviation.share, default=None)


def check_model(
    workspace: Workspace,
    spec: Spec,
    cases: Sequence[Case] | None = None,
    progress: Progress = lambda _: None,
    others: Mapping[str, str] | None = None,
    patience: float = PATIENCE,
) -> list[ModelCheck]:
    """Compare the engine, and `others` (name to command), with the reference of a model on its cases, a result each.

    `progress` is told how many more cases are done; `patience` is how many seconds a command may take for an answer.
    """
    cases = generate(spec, COUNT) if cases is None else cases
    try:
        reference = load(workspace, "reference", spec)
        compared: list[Implementation] = [load(workspace, "engine", spec)]
    except ImplementationError as error:
        return [ModelCheck(spec.model, spec.version, broken=str(error))]
    for name, command in (others or {}).items():
        compared.append(CommandImplementation(name, command, spec, workspace.root, patience))
    verdicts = {finding.case: finding.verdict for finding in settled_findings(workspace, spec)}
    checks = [_Check(workspace, spec, reference, implementation, verdicts) for implementation in compared]
    for start in range(0, len(cases), CHUNK):
        chunk = cases[start : start + CHUNK]
        expected = reference.run([case.inputs for case in chunk])
        for check in checks:
            check.compare(chunk, expected)
        progress(len(chunk))
    for check in checks:
        check.simplify()
    return [check.result for check in checks]


def settled_findings(workspace: Workspace, spec: Spec) -> list[Settled]:
    """The findings of this version that a person has judged. Raises `VectorsError` if their file is malformed."""
    path = f"changelog/{settled_name(spec.model)}"
    if not (workspace.root / path).is_file():
        return []
    return [finding for finding in read_settled(workspace.read_bytes(path), path) if finding.version == spec.version]


def reference_answers(workspace: Workspace, spec: Spec, cases: Sequence[Case]) -> list[dict[str, Any]]:
    """The expected outputs of the cases. Raises `ImplementationError` if the reference crashes on one."""
    return answers(load(workspace, "reference", spec), spec, cases)


def answers(implementation: Implementation, spec: Spec, cases: Sequence[Case]) -> list[dict[str, Any]]:
    """An implementation's outputs of the cases. Raises `ImplementationError` if it crashes on one."""
    run = implementation.run([case.inputs for case in cases])
    for place, crash in run.crashes.items():
        raise ImplementationError(crash.what, where=crash.where, hint=f"on {cases[place].id}")
    return run.columns.answers(spec.outputs)


class _Check:
    """One implementation being compared with the reference."""

    def __init__(
        self,
        workspace: Workspace,
        spec: Spec,
        reference: Implementation,
        implementation: Implementation,
        verdicts: Mapping[str, str],
    ) -> None:
        self.result = ModelCheck(spec.model, spec.version, implementation.side)
        self._command = f"{workspace.command} check {spec.model}"
        self._spec = spec
        self._reference = reference
        self._verdicts = verdicts
        self._implementation = implementation

    def compare(self, cases: Sequence[Case], expected: Run) -> None:
        """Compare some cases, given the reference's run of them, and note every finding."""
        got = self._implementation.run([case.inputs for case in cases])
        comparison = compare(self._spec.outputs, expected.columns, got.columns)
        outside = outside_contract(self._spec.outputs, expected.columns)
        fickle = self._fickle(cases, expected, comparison) if not got.crashes else {}
        self.result.cases += len(cases)
        for place, case in enumerate(cases):
            crashes = [run.crashes[place] for run in (expected, got) if place in run.crashes]
            if crashes:
                self.result.errored += 1
                self._note(case, "errored", (), errors=tuple(map(str, crashes)))
                continue
            if place in outside or place in fickle:
                self.result.errored += 1
                errors = [f"the reference's {outside[place]}"] if place in outside else [fickle[place]]
                self._note(case, "errored", (), errors=tuple(errors))
                continue
            if comparison.failed[place]:
                self.result.failed += 1
                differences = comparison.differences(place, SHOWN_DIFFERENCES)
                self._note(case, "failed", differences, left_out=comparison.count(place) - len(differences))
            if case.printed and self._implementation.side == "engine":
                self._confirm_printed(case, expected.columns, place)
        self._keep_worst(cases, comparison, {*expected.crashes, *got.crashes})

    def _fickle(self, cases: Sequence[Case], expected: Run, comparison: Comparison) -> dict[int, str]:
        """Cases that the engine answers otherwise in another batch: in reverse order, or alone."""
        if isinstance(self._implementation, CommandImplementation):
            return {}
        found = {}
        for order, how in ((range(len(cases))[::-1], "in reverse order"), (range(1), "alone")):
            again = self._implementation.run([cases[place].inputs for place in order])
            right = from_answers(self._spec.outputs, expected.columns.answers(self._spec.outputs, order))
            failed = compare(self._spec.outputs, right, again.columns).failed
            for place, wrong in zip(order, failed.tolist(), strict=True):
                if wrong and not comparison.failed[place]:
                    found[place] = f"the {self.result.implementation} answers otherwise when the cases come {how}"
        return found

    def simplify(self) -> None:
        """Give the first failed findings the simplest inputs that still disagree in the same way."""
        outside = isinstance(self._implementation, CommandImplementation)
        number, budget = (1, OUTSIDE_BUDGET) if outside else (SHRUNK_FINDINGS, BUDGET)
        for place, finding in enumerate(self.result.findings[:number]):
            if finding.outcome == "failed":
                self.result.findings[place] = replace(finding, simplest=self._simplest(finding, budget))

    def first_difference(self, inputs: Inputs) -> Difference | None:
        """Where the two first differ on one set of inputs, or None if they agree or one of them crashes."""
        expected, got = self._reference.run([inputs]), self._implementation.run([inputs])
        if expected.crashes or got.crashes:
            return None
        comparison = compare(self._spec.outputs, expected.columns, got.columns)
        return next(iter(comparison.differences(0, 1)), None)

    def _simplest(self, finding: Finding, budget: int) -> Simplest | None:
        first = finding.differences[0]

        def alike(inputs: Inputs) -> bool:
            found = self.first_difference(inputs)
            return found is not None and _alike(first, found)

        inputs = simplest(self._spec.inputs, finding.case.inputs, alike, budget)
        found = self.first_difference(inputs)
        if found is None or inputs == finding.case.inputs:
            return None
        return Simplest(inputs, found, f"{self._command} --inputs {shlex.quote(json_text(inputs))}")

    def _note(
        self,
        case: Case,
        outcome: Outcome,
        differences: Sequence[Difference],
        *,
        left_out: int = 0,
        errors: tuple[str, ...] = (),
    ) -> None:
        clause = _clause(self._spec, differences[0].path) if differences else ""
        replay = f"{self._command} --case {case.id}"
        if case.kind == "given":
            replay = f"{self._command} --inputs {shlex.quote(json_text(case.inputs))}"
        verdict = self._verdicts.get(case.id, "")
        finding = Finding(case, outcome, clause, tuple(differences), left_out, errors, replay, verdict=verdict)
        self.result.findings.append(finding)

    def _confirm_printed(self, case: Case, expected: Columns, place: int) -> None:
        refuted = []
        for name, printed in case.printed.items():
            computed = expected.leaves[name].value(place)
            self.result.witnesses += 1
            if not _prints_as(computed, printed):
                refuted.append(Difference(name, printed, computed, "value-mismatch"))
        if refuted:
            self._note(case, "refuted", refuted, errors=(f"printed by {case.source}",))

    def _keep_worst(self, cases: Sequence[Case], comparison: Comparison, crashed: set[int]) -> None:
        deviations = self.result.deviations
        for output, worst in comparison.worst.items():
            kept = deviations.get(output)
            if worst.case not in crashed and (kept is None or worst.share > kept.share):
                deviations[output] = Deviation(output, worst.share, cases[worst.case].id)


def _alike(one: Difference, other: Difference) -> bool:
    """Whether two differences are of the same output and kind, and by a like amount.

    Without the amount, shrinking drifts to inputs on which the two are just past the tolerance, which looks like noise.
    """
    if (_output(one.path), one.note) != (_output(other.path), other.note):
        return False
    values = (one.expected, one.got, other.expected, other.got)
    if not all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in values):
        return [type(value) for value in values[:2]] == [type(value) for value in values[2:]]
    if (one.expected < one.got) != (other.expected < other.got):
        return False
    return _relative(other) >= _relative(one) / 10


def _relative(difference: Difference) -> float:
    """A numeric difference as a share of the larger value."""
    e, g = float(difference.expected), float(difference.got)
    return abs(e - g) / max(abs(e), abs(g))


def _output(path: str) -> str:
    """The output that a path such as `yearlyData[3].move` is in."""
    return path.partition("[")[0].partition(".")[0]


def _clause(spec: Spec, path: str) -> str:
    """The clause that defines the output at a path, with its title."""
    clause = spec.clauses[spec.output[_output(path)].clause]
    return f"{clause.id} {clause.title}".strip()


def _prints_as(value: Any, printed: str) -> bool:
    """Whether a value, rounded half up to as many decimals as were printed, is the printed value."""
    if value is MISSING or isinstance(value, str):
        return False
    exponent = Decimal(printed).as_tuple().exponent
    assert isinstance(exponent, int)
    context = Context(prec=400, rounding=ROUND_HALF_UP)
    return Decimal(number_text(value)).quantize(Decimal(1).scaleb(exponent), context=context) == Decimal(printed)
