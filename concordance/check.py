"""The gate: both implementations of a model on its cases, and what they disagree on.

The reference's answer is the expected one, the engine's is what was got. A finding names the case, why it is there,
every difference with its path, the clause that defines the first one, and the command that replays just this case.
Failed (a wrong answer) and errored (no answer) are kept apart. Agreement of outside sources' printed values is
checked beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal
from typing import Any, Final, Literal, TypeAlias

from concordance.cases import COUNT, Case, generate
from concordance.columns import MISSING, Columns
from concordance.compare import Comparison, Difference, compare
from concordance.errors import ImplementationError
from concordance.implementations import Implementation, load
from concordance.numbers import number_text
from concordance.spec import Spec
from concordance.workspace import Workspace

Verdict: TypeAlias = Literal["failed", "errored", "refuted"]
Progress: TypeAlias = Callable[[int], None]

CHUNK: Final = 500
"""Cases that are computed and compared at a time, so that memory stays level however many there are."""

SHOWN_DIFFERENCES: Final = 20


@dataclass(frozen=True)
class Finding:
    """One case that blocks: `failed` differs, `errored` has no answer, `refuted` contradicts a printed value."""

    case: Case
    verdict: Verdict
    clause: str
    differences: tuple[Difference, ...]
    left_out: int
    errors: tuple[str, ...]
    replay: str


@dataclass(frozen=True)
class Deviation:
    """The largest deviation of an output as a share of what the tolerance allows, and where it is."""

    output: str
    share: float
    case: str


@dataclass
class ModelCheck:
    """What the check of one model found."""

    model: str
    version: str
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
) -> ModelCheck:
    """Run both implementations of a model on its cases and compare them. `progress` is told how many more are done."""
    cases = generate(spec, COUNT) if cases is None else cases
    result = ModelCheck(spec.model, spec.version)
    try:
        pair = load(workspace, "reference", spec), load(workspace, "engine", spec)
    except ImplementationError as error:
        result.broken = str(error)
        return result
    for start in range(0, len(cases), CHUNK):
        chunk = cases[start : start + CHUNK]
        _check_chunk(result, workspace, spec, chunk, *pair)
        progress(len(chunk))
    return result


def reference_answers(workspace: Workspace, spec: Spec, cases: Sequence[Case]) -> list[dict[str, Any]]:
    """The expected outputs of the cases. Raises `ImplementationError` if the reference crashes on one."""
    return answers(load(workspace, "reference", spec), spec, cases)


def answers(implementation: Implementation, spec: Spec, cases: Sequence[Case]) -> list[dict[str, Any]]:
    """An implementation's outputs of the cases. Raises `ImplementationError` if it crashes on one."""
    run = implementation.run([case.inputs for case in cases])
    for place, crash in run.crashes.items():
        raise ImplementationError(crash.what, where=crash.where, hint=f"on {cases[place].id}")
    return run.columns.answers(spec.outputs)


def _replay(workspace: Workspace, spec: Spec, case: Case) -> str:
    return f"{workspace.command} check {spec.model} --case {case.id}"


def _check_chunk(
    result: ModelCheck,
    workspace: Workspace,
    spec: Spec,
    cases: Sequence[Case],
    reference: Implementation,
    engine: Implementation,
) -> None:
    inputs = [case.inputs for case in cases]
    expected, got = reference.run(inputs), engine.run(inputs)
    comparison = compare(spec.outputs, expected.columns, got.columns)
    result.cases += len(cases)
    for place, case in enumerate(cases):
        replay = _replay(workspace, spec, case)
        crashes = [run.crashes[place] for run in (expected, got) if place in run.crashes]
        if crashes:
            result.errored += 1
            result.findings.append(Finding(case, "errored", "", (), 0, tuple(map(str, crashes)), replay))
            continue
        if comparison.failed[place]:
            result.failed += 1
            result.findings.append(_failed(spec, case, place, comparison, replay))
        if case.printed:
            _confirm_printed(result, spec, case, expected.columns, place, replay)
    _keep_worst(result, cases, comparison, {*expected.crashes, *got.crashes})


def _failed(spec: Spec, case: Case, place: int, comparison: Comparison, replay: str) -> Finding:
    differences = tuple(comparison.differences(place, SHOWN_DIFFERENCES))
    left_out = comparison.count(place) - len(differences)
    return Finding(case, "failed", _clause(spec, differences[0].path), differences, left_out, (), replay)


def _confirm_printed(result: ModelCheck, spec: Spec, case: Case, expected: Columns, place: int, replay: str) -> None:
    refuted = []
    for name, printed in case.printed.items():
        computed = expected.leaves[name].value(place)
        result.witnesses += 1
        if not _prints_as(computed, printed):
            refuted.append(Difference(name, printed, computed, "value-mismatch"))
    if refuted:
        says = (f"printed by {case.source}",)
        result.findings.append(
            Finding(case, "refuted", _clause(spec, refuted[0].path), tuple(refuted), 0, says, replay)
        )


def _prints_as(value: Any, printed: str) -> bool:
    """Whether a value, rounded half up to as many decimals as were printed, is the printed value."""
    if value is MISSING or isinstance(value, str):
        return False
    exponent = Decimal(printed).as_tuple().exponent
    assert isinstance(exponent, int)
    return Decimal(number_text(value)).quantize(Decimal(1).scaleb(exponent), ROUND_HALF_UP) == Decimal(printed)


def _clause(spec: Spec, path: str) -> str:
    """The clause that defines the output at a path such as `yearlyData[3].move`, with its title."""
    name = path.partition("[")[0].partition(".")[0]
    clause = spec.clauses[spec.output[name].clause]
    return f"{clause.id} {clause.title}".strip()


def _keep_worst(result: ModelCheck, cases: Sequence[Case], comparison: Comparison, crashed: set[int]) -> None:
    for output, worst in comparison.worst.items():
        kept = result.deviations.get(output)
        if worst.case not in crashed and (kept is None or worst.share > kept.share):
            result.deviations[output] = Deviation(output, worst.share, cases[worst.case].id)
