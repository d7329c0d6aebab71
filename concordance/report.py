"""The HTML report of a check: one page that stands alone, for the person who has to decide on its verdict.

`render_report` turns the results of a check into a page that fetches nothing: no script, no font, no other address.
The same input gives the same bytes; the date on the page is the caller's text. Nothing is compared, computed or
written here. The workspace is read for what it has published: digests, and the answers whose states are counted.
The layout is in `templates/report.html.j2`; this module decides what the page says.
"""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markdown_it import MarkdownIt
from markupsafe import Markup

from concordance import __version__
from concordance.cases import Case
from concordance.check import Deviation, Finding, ModelCheck
from concordance.columns import MISSING
from concordance.compare import TOLERANCE, Difference
from concordance.evidence import Evidence
from concordance.numbers import json_text, sha256_hex
from concordance.spec import Flag, Input, Inputs, Output, Spec
from concordance.vectors import DISCLAIMER, MANIFEST, read_manifest, read_vectors, vectors_name
from concordance.workspace import Workspace

_KINDS: Final = ("corner", "edge", "listed", "random", "given")
_OPEN_FINDINGS: Final = 10
"""So many findings of an implementation are unfolded; the rest wait to be opened."""

_LONG: Final = 160
"""A text longer than this has a box of its own to scroll in."""

_DECADES: Final = 12
"""The chart reaches at most so many powers of ten from the allowance, either way."""

_DANGEROUS: Final = {
    code: f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"
    for code in (*range(9), *range(11, 32), *range(127, 160), *range(0x202A, 0x202F), *range(0x2066, 0x206A))
}
"""Control characters and those that turn the direction of a text, as they are shown."""


def render_report(
    workspace: Workspace,
    checks: Sequence[ModelCheck],
    specs: Mapping[str, Spec],
    cases: Mapping[str, Sequence[Case]],
    made: str,
    evidence: Mapping[str, Evidence] | None = None,
) -> str:
    """The page about `checks`; `specs` and `cases` are what was checked, by model, and `made` is the date as text.

    `evidence` is what was measured of the cases' reach, by model, where it was.

    Raises `VectorsError` if the workspace's manifest or vectors are malformed.
    """
    numbers = itertools.count(1)
    names = dict.fromkeys(check.model for check in checks)
    axis = _axis(deviation.share for check in checks for deviation in check.deviations.values())
    models = [
        _model(workspace, specs[name], cases.get(name, ()), [c for c in checks if c.model == name], axis, numbers)
        for name in names
    ]
    page = _template().render(
        ok=bool(checks) and all(check.ok for check in checks),
        verdict=_verdict(checks),
        totals=_totals(checks),
        models=models,
        several=len({check.implementation for check in checks}) > 1,
        kinds=[kind for kind in _KINDS if any(model.kinds[kind] for model in models)],
        findings=sum(len(check.findings) for check in checks),
        cannot_run=sum(1 for check in checks if check.broken),
        axis=axis,
        evidence=evidence or {},
        allowance=f"{TOLERANCE.abs:g} + {TOLERANCE.rel:g} · |expected|".replace("e-0", "e-"),
        disclaimer=DISCLAIMER,
        version=__version__,
        made=made,
    )
    return harmless(page)


def harmless(page: str) -> str:
    """A page that any file can hold: control characters, and halves of surrogate pairs, are shown as escapes."""
    return page.translate(_DANGEROUS).encode("utf-8", "backslashreplace").decode("utf-8")


# What the page shows of a model ---------------------------------------------------------------------------------


class _Published(NamedTuple):
    """What the workspace has published of a spec: `remark` says what is wrong with it, if anything is."""

    sha256: str
    remark: str
    lines: Mapping[str, Mapping[str, Any]]


class _Model(NamedTuple):
    """All that the page says of one model."""

    spec: Spec
    published: _Published
    kinds: Counter[str]
    states: list[_State]
    states_of: int
    edges: list[_EdgeRow]
    flags: Mapping[str, Flag]
    results: list[_Result]


class _Result(NamedTuple):
    """One implementation's check: its findings and its chart."""

    check: ModelCheck
    findings: list[_FindingView]
    outputs: list[_OutputRow]
    summary: str


class _State(NamedTuple):
    """How often an output takes a sentinel, a text or a truth value."""

    output: str
    value: str
    meaning: str
    hits: int
    random: int


class _EdgeRow(NamedTuple):
    """A hand-picked case and what became of it."""

    case: Case
    outcomes: list[tuple[str, int]]


class _OutputRow(NamedTuple):
    """One output in the chart and in its table. `width` is a share of the axis, None where there is no bar."""

    name: str
    exact: bool
    deviation: Deviation | None
    shown: str
    width: float | None
    differs: str
    wrong: bool


class _Shown(NamedTuple):
    """A value as text, what it stands for if it is a sentinel, and whether it needs a box to scroll in."""

    text: str
    meaning: str = ""
    absent: bool = False

    @property
    def long(self) -> bool:
        return len(self.text) > _LONG


class _Row(NamedTuple):
    """A difference: where, both values, the note, and by how much."""

    path: str
    expected: _Shown
    got: _Shown
    note: str
    off: str


class _InputRow(NamedTuple):
    """An input with its value and unit."""

    name: str
    value: _Shown
    unit: str


class _FindingView(NamedTuple):
    """A finding as the page shows it."""

    number: int
    finding: Finding
    heads: tuple[str, str]
    rows: list[_Row]
    inputs: list[_InputRow]
    clause: Markup
    clause_place: str
    simplest_inputs: list[_InputRow]
    simplest_row: _Row | None
    unfolded: bool


def _model(
    workspace: Workspace,
    spec: Spec,
    cases: Sequence[Case],
    checks: Sequence[ModelCheck],
    axis: _Axis,
    numbers: Iterator[int],
) -> _Model:
    published = _published(workspace, spec)
    results = [_result(spec, check, axis, numbers) for check in checks]
    answered = _answered(cases, published)
    return _Model(
        spec,
        published,
        Counter(case.kind for case in cases),
        _states(spec, answered),
        len(answered),
        _edge_rows(cases, results),
        spec.flags,
        results,
    )


def _result(spec: Spec, check: ModelCheck, axis: _Axis, numbers: Iterator[int]) -> _Result:
    findings = [
        _finding_view(spec, finding, next(numbers), unfolded=place < _OPEN_FINDINGS)
        for place, finding in enumerate(check.findings)
    ]
    differs = _differs([output.name for output in spec.outputs], check.findings)
    outputs = [_output_row(output, check, axis, differs[output.name]) for output in spec.outputs]
    return _Result(check, findings, outputs, _chart_summary(outputs))


# Verdict and totals ---------------------------------------------------------------------------------------------


def _verdict(checks: Sequence[ModelCheck]) -> str:
    """The headline."""
    if not checks:
        return "Nothing was checked"
    if blocked := dict.fromkeys(check.model for check in checks if not check.ok):
        return f"BLOCKED: {', '.join(blocked)}"
    outside = sorted({check.implementation for check in checks} - {"engine"})
    who = f"Reference, engine and {', '.join(outside)}" if outside else "Both implementations"
    cases: dict[str, int] = {}
    for check in checks:
        cases[check.model] = max(cases.get(check.model, 0), check.cases)
    return f"{who} agree on all {sum(cases.values()):,} cases"


def _totals(checks: Sequence[ModelCheck]) -> list[tuple[str, str, bool]]:
    """The figures under the headline: label, number, and whether it is one to worry about."""
    refuted = sum(_refuted(check) for check in checks)
    witnesses = sum(check.witnesses for check in checks)
    counted = [
        ("cases compared", sum(check.cases for check in checks), False),
        ("agreed", sum(check.agreed for check in checks), False),
        ("failed", sum(check.failed for check in checks), True),
        ("errored", sum(check.errored for check in checks), True),
        ("printed values confirmed", witnesses - refuted, False),
        ("printed values refuted", refuted, True),
    ]
    return [(label, f"{count:,}", alarming and count > 0) for label, count, alarming in counted]


def _refuted(check: ModelCheck) -> int:
    """How many printed values of outside sources the reference contradicts."""
    return sum(len(finding.differences) for finding in check.findings if finding.outcome == "refuted")


# Published vectors ----------------------------------------------------------------------------------------------


def _published(workspace: Workspace, spec: Spec) -> _Published:
    """The manifest's word on a spec's vectors, and their lines by case if the file is the one that it names."""
    name = vectors_name(spec.model, spec.version)
    if not _is_file(workspace, MANIFEST):
        return _Published("", "not published", {})
    manifest = read_manifest(workspace.read_bytes(f"vectors/{MANIFEST}"), f"vectors/{MANIFEST}")
    if (entry := manifest.files.get(name)) is None:
        return _Published("", "not published", {})
    if not _is_file(workspace, name):
        return _Published(entry.sha256, "the file is missing", {})
    content = workspace.read_bytes(f"vectors/{name}")
    if sha256_hex(content) != entry.sha256:
        return _Published(entry.sha256, "the file is another than the manifest names", {})
    if spec.digest != entry.spec_sha256:
        return _Published(entry.sha256, "made from another text of the spec", {})
    lines = itertools.islice(read_vectors(content, f"vectors/{name}"), 1, None)
    return _Published(entry.sha256, "", {line["id"]: line for line in lines})


def _is_file(workspace: Workspace, name: str) -> bool:
    return (workspace.root / "vectors" / name).is_file()


def _answered(cases: Sequence[Case], published: _Published) -> list[tuple[Case, Mapping[str, Any]]]:
    """The cases whose expected outputs are published, with these."""
    found = ((case, published.lines.get(case.id)) for case in cases)
    return [(case, line["expected"]) for case, line in found if line and line["inputsSha256"] == case.digest]


def _states(spec: Spec, answered: Sequence[tuple[Case, Mapping[str, Any]]]) -> list[_State]:
    """How often each sentinel, text and truth value is the published answer."""
    states = []
    for output in spec.outputs:
        sentinels = [(sentinel.value, sentinel.meaning) for sentinel in output.sentinels]
        plain: tuple[str | bool, ...] = (False, True) if output.type == "boolean" else output.values
        for value, meaning in [*sentinels, *((value, "") for value in plain)]:
            hits = [case.kind for case, expected in answered if expected[output.name] == value]
            text = value if isinstance(value, str) else json_text(value)
            states.append(_State(output.name, text, meaning, len(hits), hits.count("random")))
    return states if answered else []


def _edge_rows(cases: Sequence[Case], results: Sequence[_Result]) -> list[_EdgeRow]:
    """The hand-picked cases, each with its findings by outcome and number."""
    outcomes: dict[str, list[tuple[str, int]]] = {}
    for result in results:
        who = result.check.implementation
        for view in result.findings:
            text = view.finding.outcome if who == "engine" else f"{view.finding.outcome} ({who})"
            outcomes.setdefault(view.finding.case.id, []).append((text, view.number))
    return [_EdgeRow(case, outcomes.get(case.id, [])) for case in cases if case.kind == "edge"]


# Findings -------------------------------------------------------------------------------------------------------


def _finding_view(spec: Spec, finding: Finding, number: int, *, unfolded: bool) -> _FindingView:
    refuted = finding.outcome == "refuted"
    clause, place = _clause(spec, finding)
    simplest = finding.simplest
    return _FindingView(
        number,
        finding,
        ("printed", "computed") if refuted else ("expected", "got"),
        [_row(spec, difference, printed=refuted) for difference in finding.differences],
        _input_rows(spec.inputs, finding.case.inputs),
        clause,
        place,
        _input_rows(spec.inputs, simplest.inputs) if simplest else [],
        _row(spec, simplest.first, printed=False) if simplest else None,
        unfolded,
    )


def _row(spec: Spec, difference: Difference, *, printed: bool) -> _Row:
    output = spec.output.get(_output_name(difference.path))
    expected = _Shown(str(difference.expected)) if printed else _shown(difference.expected, output)
    got = _shown(difference.got, output)
    off = "" if expected.meaning or got.meaning else _off(difference.expected, difference.got)
    return _Row(difference.path, expected, got, difference.note, off)


def _shown(value: Any, output: Output | None = None) -> _Shown:
    if value is MISSING:
        return _Shown("(nothing)", absent=True)
    sentinels = output.sentinels if output and isinstance(value, (int, float, str)) else ()
    return _Shown(_text(value), next((s.meaning for s in sentinels if s.value == value), ""))


def _text(value: Any) -> str:
    """A value as JSON, or as Python shows it where it has something in it that JSON does not."""
    try:
        return json_text(value)
    except (TypeError, ValueError, ArithmeticError, RecursionError):
        return repr(value)


def _off(expected: Any, got: Any) -> str:
    """By how much two numbers differ."""
    if any(isinstance(value, bool) or not isinstance(value, (int, float)) for value in (expected, got)):
        return ""
    return f"off by {float(f'{abs(expected - got):.2g}'):,g}"


def _input_rows(fields: Sequence[Input], inputs: Inputs) -> list[_InputRow]:
    return [_InputRow(field.name, _shown(inputs.get(field.name, MISSING)), field.unit) for field in fields]


def _clause(spec: Spec, finding: Finding) -> tuple[Markup, str]:
    """The text of the clause that a finding cites, and where it stands."""
    clause = spec.clauses.get(finding.clause.partition(" ")[0])
    return (_markdown(clause.text), f"{spec.path}, line {clause.line}") if clause else (Markup(), "")


@cache
def _markdown(text: str) -> Markup:
    """A clause as HTML: paragraphs, lists, code and emphasis. Links, images and tags stay as written."""
    reader = MarkdownIt("commonmark", {"html": False})
    reader.disable(["html_inline", "html_block", "image", "link", "autolink", "reference", "heading", "lheading"])
    return Markup(reader.render(text))


def _output_name(path: str) -> str:
    """The output that a path such as `yearlyData[3].move` is in."""
    return re.split(r"[.\[]", path, maxsplit=1)[0]


# The chart ------------------------------------------------------------------------------------------------------


class _Tick(NamedTuple):
    at: float
    label: str
    anchor: str


class _Axis(NamedTuple):
    """Powers of ten of the allowance, from `low` to `high`, as shares of the chart's width."""

    low: int
    high: int

    def at(self, share: float) -> float:
        """Where a share of the allowance lies, from 0 to 1."""
        power = min(max(math.log10(share), self.low), self.high) if share else self.low
        return (power - self.low) / (self.high - self.low)

    @property
    def allowance(self) -> float:
        return self.at(1)

    @property
    def ticks(self) -> list[_Tick]:
        """The allowance, and as many powers of ten beside it as have room for their labels."""
        step = math.ceil((self.high - self.low) / 4)
        powers = [*range(-step, self.low - 1, -step), *range(0, self.high + 1, step)]
        return [_tick(self, power) for power in sorted(powers)]


def _axis(shares: Iterable[float]) -> _Axis:
    """An axis on which all of these shares can be read, and the allowance itself."""
    powers = [math.log10(min(share, 10.0**_DECADES)) for share in shares if share > 0]
    low = math.floor(min(powers, default=-6.0)) - 1
    high = math.ceil(max(powers, default=0.0))
    return _Axis(min(max(low, -_DECADES), -3), max(high, 1))


def _tick(axis: _Axis, power: int) -> _Tick:
    at = axis.at(10.0**power)
    anchor = "start" if at < 0.08 else "end" if at > 0.9 else "middle"
    return _Tick(at, _share_text(10.0**power), anchor)


def _output_row(output: Output, check: ModelCheck, axis: _Axis, differs: str) -> _OutputRow:
    exact = not any(part.type == "number" for part in output.columns or (output,))
    deviation = None if exact else check.deviations.get(output.name)
    shown = "exactly" if exact else "no answer" if deviation is None else _share_text(deviation.share)
    width = max(axis.at(deviation.share), 0.01) if deviation and deviation.share else None
    return _OutputRow(output.name, exact, deviation, shown, width, differs, not differs.startswith("0"))


def _differs(names: Sequence[str], findings: Sequence[Finding]) -> dict[str, str]:
    """In how many cases each output differs: `3`, or `3 or more` where differences that are left out may hide some."""
    hits, hidden_from = Counter[str](), len(names)
    for finding in findings:
        if finding.outcome == "failed":
            shown = [_output_name(difference.path) for difference in finding.differences]
            hits.update(set(shown))
            if finding.left_out:
                hidden_from = min(hidden_from, names.index(shown[-1]) + 1)
    return {name: f"{hits[name]}{' or more' if place >= hidden_from else ''}" for place, name in enumerate(names)}


def _share_text(share: float) -> str:
    """A share of the allowance: percents, or times, or a power of ten; one or two digits of it."""
    if share < 0.1:
        return f"{Decimal(f'{100 * share:.1g}'):f} %" if share else "0 %"
    if share < 10:
        return f"{100 * share:.0f} %"
    if share < 1_000_000:
        return f"{float(f'{share:.2g}'):,.0f} times"
    digit, _, power = f"{min(share, 9e307):.0e}".partition("e+")
    times = "" if digit == "1" else f"{digit} × "
    return f"{times}10{power.lstrip('0').translate(_SUPERSCRIPTS)} times"


_SUPERSCRIPTS: Final = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def _chart_summary(rows: Sequence[_OutputRow]) -> str:
    """The chart in a sentence, for those who do not see it."""
    said = []
    for row in rows:
        differs = f", cases that differ: {row.differs}" if row.wrong else ""
        if differs or not row.exact:
            said.append(f"{row.name} {'must match exactly' if row.exact else row.shown}{differs}")
    return "; ".join(said)


@cache
def _template() -> Any:
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.get_template("report.html.j2")
