"""What the command line prints: tables for people, JSON for machines. Pure: results in, text out."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final
from xml.etree import ElementTree

import msgspec

from concordance.columns import MISSING
from concordance.compare import TOLERANCE, Difference
from concordance.implementations import FOLDERS
from concordance.numbers import json_text

if TYPE_CHECKING:
    from concordance.audit import Audit
    from concordance.cases import Case
    from concordance.check import Finding, ModelCheck, Simplest
    from concordance.evidence import ClauseReach, Evidence
    from concordance.gate import Gate
    from concordance.grading import CaseResult, Grading, OutputTally
    from concordance.hunt import Hunt
    from concordance.misreadings import Caught
    from concordance.release import Condition

_SHOWN_FINDINGS: Final = 5
_SHOWN_DIFFERENCES: Final = 5
_SHOWN_PROBLEMS: Final = 10


def case_line(case: Case) -> str:
    """A case as one JSON line."""
    line: dict[str, Any] = {"id": case.id, "kind": case.kind, "inputs": case.inputs}
    if case.rationale:
        line |= {"rationale": case.rationale, "flags": case.flags}
    return json_text(line)


def check_text(results: Sequence[ModelCheck]) -> str:
    """A check as a person reads it: findings first, the table last."""
    blocks = [_findings_text(result) for result in results if result.findings or result.broken]
    return encodable("\n\n".join([*blocks, _summary(results)]))


def check_json(results: Sequence[ModelCheck]) -> str:
    """The same as data."""
    report = {
        "ok": all(result.ok for result in results),
        "tolerance": TOLERANCE._asdict(),
        "models": [_model_data(result) for result in results],
    }
    return encodable(json.dumps(report, indent=2, ensure_ascii=False))


def encodable(text: str) -> str:
    """Text with halves of surrogate pairs, which no output can carry, as the escapes that JSON too would read."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def conditions_text(conditions: Sequence[Condition]) -> str:
    """The conditions of a release: which hold, and everything that stands against the others."""
    lines = []
    for condition in conditions:
        lines.append(f"{'FAILS' if condition.problems else 'holds'}  {condition.name}")
        lines += [f"         {problem}" for problem in condition.problems]
    return "\n".join(lines)


def hunt_text(result: Hunt) -> str:
    """What a hunt found: findings first, then each output's largest deviation and the verdict."""
    found, model = result.found, result.spec.model
    lines = [f"{model} {result.spec.version}: numbers {result.numbers.start} to {result.numbers.stop - 1}"]
    for finding in result.findings[:_SHOWN_FINDINGS]:
        lines += ["", _finding_text(finding)]
    left_out = found.failed + found.errored - len(result.findings[:_SHOWN_FINDINGS])
    if left_out:
        kept = f"the first {len(result.findings)}" if left_out + _SHOWN_FINDINGS > len(result.findings) else "them all"
        lines += ["", f"  … and {left_out} more cases; --format json has {kept}"]
    rows = [
        (output, percent(worst.share), str(worst.number), worst.path, json_text(worst.expected), json_text(worst.got))
        for output, worst in result.deviations.items()
    ]
    header = ("output", "largest deviation, as a share of the allowance", "number", "path", "expected", "got")
    lines += ["", table(header, rows), "", _hunt_verdict(result)]
    return encodable("\n".join(lines))


def _hunt_verdict(result: Hunt) -> str:
    found = result.found
    visited = f"{found.cases:,} cases" if not result.stopped else f"{found.cases:,} of {len(result.numbers):,} cases"
    ended = f" The hunt ended early: {result.stopped}." if result.stopped else ""
    if result.ok:
        agree = "Both implementations agree on all" if not result.stopped else "No disagreement in"
        return f"{agree} {visited}.{ended}"
    return f"DISAGREEMENT: of {visited}, {found.failed:,} failed and {found.errored:,} errored.{ended}"


def hunt_json(result: Hunt) -> str:
    """The same as data."""
    found = result.found
    report = {
        "ok": result.ok,
        "model": result.spec.model,
        "specVersion": result.spec.version,
        "tolerance": TOLERANCE._asdict(),
        "first": result.numbers.start,
        "asked": len(result.numbers),
        "cases": found.cases,
        "failed": found.failed,
        "errored": found.errored,
        "stopped": result.stopped or None,
        "deviations": {
            output: {
                "share": worst.share,
                "number": worst.number,
                "path": worst.path,
                "expected": worst.expected,
                "got": worst.got,
            }
            for output, worst in result.deviations.items()
        },
        "findings": [_finding_data(finding) for finding in result.findings],
    }
    return encodable(json.dumps(report, indent=2, ensure_ascii=False))


def audit_text(results: Sequence[Audit]) -> str:
    """What audits found: survivors that nothing explains first, the table last."""
    lines = []
    for result in results:
        for survivor in result.unexplained:
            shown = f"{_code(survivor.before)} -> {_code(survivor.after)}"
            lines.append(f"SURVIVED  {survivor.file}:{survivor.line} in {survivor.function or 'the module'}: {shown}")
        for entry in result.stale:
            about = f" ({_code(entry.before)} -> {_code(entry.after or '')})" if entry.before is not None else ""
            lines.append(f"EXPLAINS NOTHING  vectors/{result.model}/audit.toml: {entry.file} {entry.function}{about}")
    header = (
        "model",
        "side",
        "faults",
        "killed",
        "errored",
        "equivalent",
        "unexplained",
        "in guards",
        "caught",
        "by design",
    )
    rows = []
    for result in results:
        for side in FOLDERS:
            count = result.counts(side)
            guards = (
                count["guards"],
                count["guardsCaught"] + count["guardsCaughtByFurtherInputs"],
                count["guardsByDesign"],
            )
            plain = (count[name] for name in ("faults", "killed", "errored", "equivalent", "unexplained"))
            rows.append((result.model, side, *map(str, (*plain, *guards))))
    verdict = "Every fault is caught or explained." if all(result.ok for result in results) else "BLOCKED"
    return encodable("\n".join([*lines, *([""] if lines else []), table(header, rows), "", verdict]))


def evidence_text(results: Sequence[Evidence]) -> str:
    """What was measured of the cases' reach, a block a model."""
    return encodable("\n\n".join(_evidence_block(result) for result in results))


def _evidence_block(result: Evidence) -> str:
    clauses = table(
        ("clause", "corners", "edges", "others", "engine faults", "reference faults", "misreadings"),
        [(clause, *_clause_cells(reach)) for clause, reach in result.clauses.items()],
    )
    decisions = table(
        ("clause", "decision", "below", "on it", "above", "nearest", "at"),
        [
            (d.clause, d.question, str(d.below), str(d.on), str(d.above), _distance(d.nearest), d.nearest_case)
            for d in result.decisions
        ],
    )
    headroom = table(
        ("output", "smallest relative error caught", "engine's largest deviation, as a share of the allowance"),
        [(h.output, _distance(h.smallest_caught), percent(h.deviation)) for h in result.headroom],
    )
    near = [f"NEAR  {case} lies next to: {d.question} ({d.clause})" for d in result.decisions for case in d.near_random]
    missed = [f"MISSED  branch at {branch}" for branch in result.missed_branches]
    unreached = [f"UNREACHED  clause {clause}" for clause, reach in result.clauses.items() if not reach.reached]
    branches = (
        f"{result.branches - len(result.missed_branches)} of {result.branches} branches of the reference are taken."
    )
    parts = [
        f"{result.model} {result.version}",
        *unreached,
        *missed,
        *near,
        "",
        clauses,
        *([result.audited] if result.audited else []),
        "",
        branches,
        "",
        decisions,
        "",
        headroom,
    ]
    return "\n".join(parts)


def _clause_cells(reach: ClauseReach) -> tuple[str, ...]:
    """Cases by kind, then what is caught of what was tried; faults that change no answer are no part of that."""
    kinds = (reach.cases.get("corner", 0), reach.cases.get("edge", 0))
    rest = reach.reached - sum(kinds)
    tallies = [reach.faults.get(side) if reach.faults else None for side in FOLDERS]
    faults = [f"{t.caught}/{t.faults - t.equivalent}" if t else "" for t in tallies]
    return (*map(str, (*kinds, rest)), *faults, f"{reach.caught}/{reach.misreadings}" if reach.misreadings else "")


def evidence_json(results: Sequence[Evidence]) -> str:
    """The same as data; distances as decimals."""
    models = [
        {
            "model": result.model,
            "specVersion": result.version,
            "ok": result.ok,
            "clauses": {
                clause: {
                    "cases": dict(reach.cases),
                    "faults": msgspec.to_builtins(reach.faults),
                    "misreadings": reach.misreadings,
                    "misreadingsCaught": reach.caught,
                }
                for clause, reach in result.clauses.items()
            },
            "audited": result.audited or None,
            "branches": result.branches,
            "missedBranches": result.missed_branches,
            "decisions": [
                {
                    "clause": d.clause,
                    "question": d.question,
                    "below": d.below,
                    "on": d.on,
                    "above": d.above,
                    "nearest": None if d.nearest is None else float(d.nearest),
                    "nearestCase": d.nearest_case or None,
                    "nearRandom": d.near_random,
                }
                for d in result.decisions
            ],
            "headroom": [
                {"output": h.output, "smallestCaught": h.smallest_caught, "deviation": h.deviation}
                for h in result.headroom
            ],
        }
        for result in results
    ]
    return json.dumps({"ok": all(result.ok for result in results), "models": models}, indent=2, ensure_ascii=False)


def _distance(value: Fraction | float | None) -> str:
    return "" if value is None else f"{float(value):.1e}"


def audit_json(results: Sequence[Audit]) -> str:
    """The same as data."""
    from concordance.audit import render_audit

    models = [json.loads(render_audit(result)) | {"ok": result.ok} for result in results]
    return json.dumps({"ok": all(result.ok for result in results), "models": models}, indent=2, ensure_ascii=False)


def _code(text: str) -> str:
    """Code on one line, not at full length."""
    line = " ".join(text.split())
    return f"`{line}`" if len(line) <= 80 else f"`{line[:80]}…`"


def misreadings_text(results: Mapping[str, Sequence[Caught]]) -> str:
    """Which case catches each misreading: those that none does first, then a table."""
    every = [(model, one) for model, caught in results.items() for one in caught]
    missed = [f"NOT CAUGHT  {model}: {one.misreading.name}" for model, one in every if not one.ok]
    rows = [
        (
            model,
            one.misreading.name,
            one.misreading.clause,
            f"{one.cases[0].id} ({one.cases[0].kind})" if one.ok else "none",
            str(len(one.cases)),
        )
        for model, one in every
    ]
    found = len(every) - len(missed)
    verdict = f"{found} of {len(every)} misreadings caught{'' if missed else ', each by a named case'}."
    shown = table(("model", "misreading", "clause", "caught by", "cases"), rows)
    return encodable("\n".join([*missed, *([""] if missed else []), shown, "", verdict]))


def misreadings_json(results: Mapping[str, Sequence[Caught]]) -> str:
    """The same as data."""
    models = [
        {"model": model, "ok": all(one.ok for one in caught), "misreadings": [_misreading_data(one) for one in caught]}
        for model, caught in results.items()
    ]
    report = {"ok": all(model["ok"] for model in models), "models": models}
    return encodable(json.dumps(report, indent=2, ensure_ascii=False))


def _misreading_data(one: Caught) -> dict[str, Any]:
    misreading = one.misreading
    return {
        "name": misreading.name,
        "says": misreading.says,
        "source": misreading.source or None,
        "clause": misreading.clause,
        "file": misreading.file,
        "cases": [case.id for case in one.cases],
        "kind": one.cases[0].kind if one.ok else None,
        "first": _difference_data(one.first) if one.first else None,
        "crash": str(one.crash) if one.crash else None,
    }


def grading_text(grading: Grading, ids: Sequence[str | None], form: str) -> str:
    """The verdicts as text, JSON, JUnit XML or GitHub annotations; an answer without an id is named by its place."""
    names = [name or f"answer {place}" for place, name in enumerate(ids, 1)]
    forms = {"text": _grading_lines, "junit": _grading_junit, "github": _grading_github}
    if form == "json":
        results = [{"id": ids[place], **msgspec.to_builtins(r)} for place, r in enumerate(grading.results)]
        return encodable(json.dumps(msgspec.to_builtins(grading) | {"results": results}, indent=2, ensure_ascii=False))
    return encodable(forms[form](grading, names))


def _grading_lines(grading: Grading, names: Sequence[str]) -> str:
    wrong = [(name, result) for name, result in zip(names, grading.results, strict=True) if result.verdict != "pass"]
    lines = []
    for name, result in wrong[:_SHOWN_PROBLEMS]:
        lines += [f"{name}: {result.verdict}", *(f"  {text}" for text in _result_lines(result)), ""]
    if len(wrong) > _SHOWN_PROBLEMS:
        lines += [f"… and {len(wrong) - _SHOWN_PROBLEMS} more; --format json lists them all", ""]
    rows = [(name, str(t.passed), str(t.failed), str(t.missing), _worst(t)) for name, t in grading.by_output.items()]
    lines.append(table(("output", "right", "wrong", "missing", "largest deviation, as a share of the allowance"), rows))
    share = "" if grading.pass_rate is None else f" ({grading.pass_rate:.1%})"
    rest = f", {grading.invalid} with inputs outside the contract" if grading.invalid else ""
    verdict = f"{grading.model} {grading.spec_version}: {grading.passed} of {grading.count} answers pass{share}{rest}."
    tolerance = f"Tolerance: rel {grading.tolerance['rel']:g}, abs {grading.tolerance['abs']:g}."
    return "\n".join([*lines, "", verdict, tolerance])


def _worst(tally: OutputTally) -> str:
    if tally.worst is not None:
        return percent(tally.worst)
    return "must match exactly" if tally.passed + tally.failed else ""


def _result_lines(result: CaseResult) -> list[str]:
    """What is wrong with one answer, a line each."""
    rows = [
        (d.path, json_text(d.expected), "" if d.note == "missing" else json_text(d.got), d.note)
        for d in result.diffs[:_SHOWN_DIFFERENCES]
    ]
    lines = table(("path", "expected", "got", "note"), rows).split("\n") if rows else []
    more = len(result.diffs) - len(rows) + result.diffs_left_out
    lines += [f"… and {more} more"] if more else []
    lines += [f"{error.field}: {error.message}" for error in result.errors]
    if result.near_decision:
        lines.append(f"hangs on the inputs' last digits: {', '.join(result.near_decision)}")
    return lines


def _grading_junit(grading: Grading, names: Sequence[str]) -> str:
    wrong = grading.failed + grading.invalid
    suite = ElementTree.Element("testsuite", name="concordance", tests=str(grading.count), failures=str(wrong))
    for name, result in zip(names, grading.results, strict=True):
        case = ElementTree.SubElement(suite, "testcase", classname=f"concordance.{grading.model}", name=name)
        if result.verdict != "pass":
            failure = ElementTree.SubElement(case, "failure", message=result.verdict)
            failure.text = _printable("\n".join(_result_lines(result)))
    ElementTree.indent(suite)
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True)


def _grading_github(grading: Grading, names: Sequence[str]) -> str:
    lines = [
        f"::error title={_escaped(name)}::{_escaped(chr(10).join(_result_lines(result)), in_message=True)}"
        for name, result in zip(names, grading.results, strict=True)
        if result.verdict != "pass"
    ]
    summary = f"{grading.passed} of {grading.count} answers pass"
    return "\n".join([*lines, f"::notice title={_escaped(grading.model)}::{summary}"])


def gate_text(gate: Gate, form: str) -> str:
    """The gate's result as text, JSON, JUnit XML or GitHub annotations."""
    forms = {"text": _gate_lines, "json": _gate_json, "junit": _gate_junit, "github": _gate_github}
    return encodable(forms[form](gate))


def _gate_lines(gate: Gate) -> str:
    lines = []
    for rule in gate.rules:
        lines.append(f"{'FAILS' if rule.problems else 'holds'}  {rule.name}")
        lines += [f"         {problem}" for problem in rule.problems[:_SHOWN_PROBLEMS]]
        left_out = len(rule.problems) - _SHOWN_PROBLEMS
        lines += [f"         … and {left_out} more; --format json lists them all"] if left_out > 0 else []
    verdict = "The gate is open." if gate.ok else "BLOCKED"
    return "\n".join([*lines, "", verdict])


def _gate_json(gate: Gate) -> str:
    rules = [
        {
            "name": rule.name,
            "ok": not rule.problems,
            "problems": [{"path": p.path, "message": p.what} for p in rule.problems],
        }
        for rule in gate.rules
    ]
    report = {"ok": gate.ok, "rules": rules, "models": [_model_data(check) for check in gate.checks]}
    return json.dumps(report, indent=2, ensure_ascii=False)


def _gate_junit(gate: Gate) -> str:
    """A test case per rule, with a failure per problem."""
    failed = sum(bool(rule.problems) for rule in gate.rules)
    suite = ElementTree.Element("testsuite", name="concordance", tests=str(len(gate.rules)), failures=str(failed))
    for rule in gate.rules:
        case = ElementTree.SubElement(suite, "testcase", classname="concordance.gate", name=rule.name)
        for problem in rule.problems:
            failure = ElementTree.SubElement(case, "failure", message=_printable(problem.what))
            failure.text = _printable(str(problem))
    ElementTree.indent(suite)
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True)


def _gate_github(gate: Gate) -> str:
    """Workflow commands that GitHub shows at the file and line."""
    lines = []
    for rule in gate.rules:
        for problem in rule.problems:
            path, _, line = problem.path.partition(":")
            where = f"file={_escaped(path)}" + (f",line={line}" if line.isdecimal() else "")
            lines.append(f"::error {where},title={_escaped(rule.name)}::{_escaped(problem.what, in_message=True)}")
    return "\n".join(lines) or "::notice title=Concordance::The gate is open."


def _escaped(text: str, *, in_message: bool = False) -> str:
    """Text as GitHub's workflow commands take it."""
    for character in "%\r\n" if in_message else "%\r\n:,":
        text = text.replace(character, f"%{ord(character):02X}")
    return text


def _printable(text: str) -> str:
    """Text without the control characters that XML cannot hold."""
    return "".join(character if character.isprintable() or character in "\n\t" else "�" for character in text)


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
    header: tuple[str, ...] = (
        "model",
        "spec",
        "against",
        "agree",
        "failed",
        "errored",
        "largest deviation, as a share of the allowance",
    )
    rows: list[tuple[str, ...]] = []
    for result in results:
        largest = result.largest
        deviation = (
            f"{percent(largest.share)} ({largest.output}, {largest.case})" if largest and largest.share else "0 %"
        )
        agree = f"{result.agreed}/{result.cases}"
        counts = (agree, str(result.failed), str(result.errored), deviation if result.cases else "")
        rows.append((result.model, result.version, result.implementation, *counts))
    if {result.implementation for result in results} == {"engine"}:
        header, rows = (*header[:2], *header[3:]), [(*row[:2], *row[3:]) for row in rows]
    return f"{table(header, rows)}\n\n{_verdict(results)}"


def _verdict(results: Sequence[ModelCheck]) -> str:
    blocked = sorted({result.model for result in results if not result.ok})
    if blocked:
        return f"BLOCKED: {', '.join(blocked)}"
    outside = {result.implementation for result in results} - {"engine"}
    who = "Both implementations" if not outside else f"Reference, engine and {', '.join(sorted(outside))}"
    cases = sum(result.cases for result in results if result.implementation == "engine")
    witnesses = sum(result.witnesses for result in results)
    confirmed = f"; {witnesses} printed values of outside sources confirmed" if witnesses else ""
    return f"{who} agree on all {cases} cases{confirmed}."


def _findings_text(result: ModelCheck) -> str:
    if result.broken:
        return f"{result.model} {result.version}\n  cannot run: {result.broken}"
    who = "" if result.implementation == "engine" else f", {result.implementation} against the reference"
    shown = result.findings[:_SHOWN_FINDINGS]
    blocks = [_finding_text(finding) for finding in shown]
    if len(result.findings) > len(shown):
        blocks.append(f"  … and {len(result.findings) - len(shown)} more cases; --format json lists them all")
    return "\n\n".join(
        [f"{result.model} {result.version}{who}: {len(result.findings)} of {result.cases} cases", *blocks]
    )


def _finding_text(finding: Finding) -> str:
    case = finding.case
    lines = [f"  {case.id}  {finding.outcome.upper()}  ({case.kind}){': ' + case.rationale if case.rationale else ''}"]
    lines += [f"    {error}" for error in finding.errors]
    if finding.differences:
        shown = finding.differences[:_SHOWN_DIFFERENCES]
        rows = [(d.path, _shown(d.expected), _shown(d.got), d.note) for d in shown]
        lines += ["    " + line for line in table(("path", "expected", "got", "note"), rows).split("\n")]
        left_out = finding.left_out + len(finding.differences) - len(shown)
        lines += [f"    … and {left_out} more differences"] if left_out else []
    lines += [f"    clause  {finding.clause}"] if finding.clause else []
    lines += [f"    inputs  {json_text(case.inputs)}", f"    replay  {finding.replay}"]
    lines += [f"    verdict {finding.verdict}"] if finding.verdict else []
    if finding.simplest:
        first = finding.simplest.first
        values = f"expected {_shown(first.expected)}, got {_shown(first.got)}"
        lines += [
            f"    simplest inputs that differ alike  {json_text(finding.simplest.inputs)}",
            f"      {first.path}: {values}",
            f"      replay  {finding.simplest.replay}",
        ]
    return "\n".join(lines)


def _model_data(result: ModelCheck) -> dict[str, Any]:
    largest = result.largest
    return {
        "model": result.model,
        "specVersion": result.version,
        "implementation": result.implementation,
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
        "outcome": finding.outcome,
        "verdict": finding.verdict or None,
        "rationale": finding.case.rationale,
        "clause": finding.clause,
        "inputs": finding.case.inputs,
        "differences": [_difference_data(difference) for difference in finding.differences],
        "differencesLeftOut": finding.left_out,
        "errors": finding.errors,
        "replay": finding.replay,
        "simplest": _simplest_data(finding.simplest) if finding.simplest else None,
    }


def _simplest_data(found: Simplest) -> dict[str, Any]:
    return {"inputs": found.inputs, "first": _difference_data(found.first), "replay": found.replay}


def _difference_data(difference: Difference) -> dict[str, Any]:
    return {key: value for key, value in msgspec.structs.asdict(difference).items() if value is not MISSING}


def _shown(value: Any) -> str:
    return "(nothing)" if value is MISSING else json_text(value)
