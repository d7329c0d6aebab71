"""What the command line prints: tables for people, JSON for machines. Pure: results in, text out."""

from __future__ import annotations

import json
from collections.abc import Sequence
from decimal import Decimal
from typing import Any, Final

from concordance.cases import Case
from concordance.check import Finding, ModelCheck
from concordance.columns import MISSING
from concordance.compare import TOLERANCE, Difference
from concordance.numbers import json_text

_SHOWN_FINDINGS: Final = 5
_SHOWN_DIFFERENCES: Final = 5


def case_line(case: Case) -> str:
    """A case as one JSON line."""
    line: dict[str, Any] = {"id": case.id, "kind": case.kind, "inputs": case.inputs}
    if case.rationale:
        line |= {"rationale": case.rationale, "flags": case.flags}
    return json_text(line)


def check_text(results: Sequence[ModelCheck]) -> str:
    """A check as a person reads it: findings first, the table last."""
    blocks = [_findings_text(result) for result in results if result.findings or result.broken]
    return "\n\n".join([*blocks, _summary(results)])


def check_json(results: Sequence[ModelCheck]) -> str:
    """The same as data."""
    report = {
        "ok": all(result.ok for result in results),
        "tolerance": TOLERANCE._asdict(),
        "models": [_model_data(result) for result in results],
    }
    return json.dumps(report, indent=2, ensure_ascii=False)


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Left-aligned columns with a rule under the header."""
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in (header, *rows)
    ]
    return "\n".join([lines[0], "  ".join("-" * width for width in widths), *lines[1:]])


def percent(share: float) -> str:
    """A share in percent with one or two significant digits; a large one as a multiple."""
    if share > 10:
        return f"{share:.2g} times"
    if share >= 0.1:
        return f"{100 * share:.0f} %"
    return f"{Decimal(f'{100 * share:.1g}'):f} %" if share else "0 %"


def _summary(results: Sequence[ModelCheck]) -> str:
    header = ("model", "spec", "agree", "failed", "errored", "largest deviation, as a share of the allowance")
    rows = []
    for result in results:
        largest = result.largest
        deviation = (
            f"{percent(largest.share)} ({largest.output}, {largest.case})" if largest and largest.share else "0 %"
        )
        agree = f"{result.agreed}/{result.cases}"
        rows.append(
            (
                result.model,
                result.version,
                agree,
                str(result.failed),
                str(result.errored),
                deviation if result.cases else "",
            )
        )
    blocked = [result.model for result in results if not result.ok]
    cases, witnesses = sum(result.cases for result in results), sum(result.witnesses for result in results)
    if blocked:
        verdict = f"BLOCKED: {', '.join(blocked)}"
    else:
        verdict = (
            f"Both implementations agree on all {cases} cases; {witnesses} printed values of outside sources confirmed."
        )
    return f"{table(header, rows)}\n\n{verdict}"


def _findings_text(result: ModelCheck) -> str:
    if result.broken:
        return f"{result.model} {result.version}\n  cannot run: {result.broken}"
    shown = result.findings[:_SHOWN_FINDINGS]
    blocks = [_finding_text(finding) for finding in shown]
    if len(result.findings) > len(shown):
        blocks.append(f"  … and {len(result.findings) - len(shown)} more cases; --format json lists them all")
    return "\n\n".join([f"{result.model} {result.version}: {len(result.findings)} of {result.cases} cases", *blocks])


def _finding_text(finding: Finding) -> str:
    case = finding.case
    lines = [f"  {case.id}  {finding.verdict.upper()}  ({case.kind}){': ' + case.rationale if case.rationale else ''}"]
    lines += [f"    {error}" for error in finding.errors]
    if finding.differences:
        shown = finding.differences[:_SHOWN_DIFFERENCES]
        rows = [(d.path, _shown(d.expected), _shown(d.got), d.note) for d in shown]
        lines += ["    " + line for line in table(("path", "expected", "got", "note"), rows).split("\n")]
        left_out = finding.left_out + len(finding.differences) - len(shown)
        lines += [f"    … and {left_out} more differences"] if left_out else []
    lines += [f"    clause  {finding.clause}"] if finding.clause else []
    lines += [f"    inputs  {json_text(case.inputs)}", f"    replay  {finding.replay}"]
    return "\n".join(lines)


def _model_data(result: ModelCheck) -> dict[str, Any]:
    largest = result.largest
    return {
        "model": result.model,
        "specVersion": result.version,
        "ok": result.ok,
        "cases": result.cases,
        "agreed": result.agreed,
        "failed": result.failed,
        "errored": result.errored,
        "witnesses": result.witnesses,
        "broken": result.broken or None,
        "largestDeviation": {"output": largest.output, "share": largest.share, "case": largest.case}
        if largest
        else None,
        "deviations": {name: {"share": worst.share, "case": worst.case} for name, worst in result.deviations.items()},
        "findings": [_finding_data(finding) for finding in result.findings],
    }


def _finding_data(finding: Finding) -> dict[str, Any]:
    return {
        "case": finding.case.id,
        "kind": finding.case.kind,
        "verdict": finding.verdict,
        "rationale": finding.case.rationale,
        "clause": finding.clause,
        "inputs": finding.case.inputs,
        "differences": [_difference_data(difference) for difference in finding.differences],
        "differencesLeftOut": finding.left_out,
        "errors": finding.errors,
        "replay": finding.replay,
    }


def _difference_data(difference: Difference) -> dict[str, Any]:
    return {key: value for key, value in difference._asdict().items() if value is not MISSING}


def _shown(value: Any) -> str:
    return "(nothing)" if value is MISSING else json_text(value)
