"""Grade answers, check claims and seal records: the rules behind every way to ask whether a number is right.

Expected values come from an `AnswerSource`, which the caller provides: no implementation is reached from here, and no
file or connection either. Commands, the HTTP server and test plugins are thin layers over this module, so that they
cannot give different verdicts. It knows no model and judges numbers only, never advice.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, Final, Literal, Protocol, TypeAlias

import msgspec

from concordance.cases import generate
from concordance.columns import MISSING, Columns, from_answers
from concordance.compare import TOLERANCE, Comparison, Difference, Tolerance, compare, judge
from concordance.errors import FieldError, InvalidInputsError, RefusedError
from concordance.numbers import canonical_json, parse_json, sha256_hex
from concordance.spec import Column, Inputs, Output, Spec, shown

MOST_CASES: Final = 500
SHOWN_DIFFERENCES: Final = 20
LOOSEST: Final = Tolerance(1e-2, 1.0)
"""A caller's tolerance is brought between the published one and this one."""

DISCLAIMER: Final = (
    "Numeric agreement with a published, versioned spec is graded, never whether the advice was right. "
    "Not financial advice."
)

Verdict: TypeAlias = Literal["pass", "fail", "invalid-inputs"]
ClaimVerdict: TypeAlias = Literal["verified", "violated", "out-of-scope"]
Operator: TypeAlias = Literal["==", "!=", "<", "<=", ">", ">="]

OPERATORS: Final[Mapping[str, Operator]] = {
    **{name: name for name in ("==", "!=", "<", "<=", ">", ">=")},
    "=": "==",
    "eq": "==",
    "ne": "!=",
    "lt": "<",
    "lte": "<=",
    "gt": ">",
    "gte": ">=",
}

_Scalar: TypeAlias = float | int | str | bool | None
_Object: TypeAlias = dict[str, _Scalar | list[dict[str, _Scalar]]]
_PATH: Final = re.compile(r"(\w+)(?:\[(\d{1,9})\]\.(\w+)|\.(length))?")


class AnswerSource(Protocol):
    """Where expected values come from: one model's production engine, as a rule."""

    def expected(self, cases: Sequence[Inputs]) -> Columns:
        """The outputs of all cases, as columns. The inputs are known to fit the contract."""

    def near(self, cases: Sequence[Inputs], outputs: Columns) -> list[list[str]]:
        """For each case the exact outputs that hang on the inputs' last digits (C-22)."""


class Answer(msgspec.Struct, forbid_unknown_fields=True):
    """One answer to be graded: the inputs that it is about, and what was answered, whatever that is."""

    inputs: Any
    answer: Any


class CaseResult(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel"):
    """What became of one answer. A fail shows its first differences and counts those left out."""

    verdict: Verdict
    diffs: tuple[Difference, ...] = ()
    diffs_left_out: int = 0
    near_decision: tuple[str, ...] = ()
    errors: tuple[FieldErrorData, ...] = ()


class FieldErrorData(msgspec.Struct, frozen=True):
    """A `FieldError` as JSON carries it."""

    field: str
    message: str


class OutputTally(msgspec.Struct, frozen=True):
    """How one output fared over all graded answers. `worst` is its largest deviation as a share of the tolerance."""

    passed: int
    failed: int
    missing: int
    worst: float | None


class Grading(msgspec.Struct, frozen=True, rename="camel"):
    """The reply to a grading request."""

    ok: Literal[True]
    model: str
    spec_version: str
    tolerance: dict[str, float]
    count: int
    passed: int
    failed: int
    invalid: int
    pass_rate: float | None
    by_output: dict[str, OutputTally]
    results: list[CaseResult]
    disclaimer: str = DISCLAIMER


class ClaimResult(msgspec.Struct, frozen=True, omit_defaults=True):
    """A claim about one output, and what the model says of it."""

    path: str
    op: Operator
    value: Any
    verdict: ClaimVerdict
    computed: Any = msgspec.UNSET
    message: str = ""


class Claims(msgspec.Struct, frozen=True, rename="camel"):
    """The reply to a request to verify claims."""

    ok: Literal[True]
    model: str
    spec_version: str
    tolerance: dict[str, float]
    inputs: Inputs
    claims: list[ClaimResult]
    verified: int
    violated: int
    out_of_scope: int
    near_decision: list[str]
    disclaimer: str = DISCLAIMER


# Grading ----------------------------------------------------------------------------------------------------------


def grade(spec: Spec, source: AnswerSource, answers: Sequence[Answer], tolerance: Tolerance = TOLERANCE) -> Grading:
    """Grade answers to a model, in the order given. Inputs outside the contract have a verdict of their own."""
    inputs, invalid = _read_all(spec, answers)
    places = [place for place in range(len(answers)) if place not in invalid]
    expected = source.expected(inputs)
    got = from_answers(spec.outputs, [answers[place].answer for place in places])
    comparison = compare(spec.outputs, expected, got, tolerance)
    failed = comparison.failed.nonzero()[0].tolist()
    results = [CaseResult("pass")] * len(answers)
    for place, errors in invalid.items():
        results[place] = CaseResult("invalid-inputs", errors=tuple(FieldErrorData(*error) for error in errors))
    for place, result in zip(failed, _fails(spec, source, inputs, comparison, expected, failed), strict=True):
        results[places[place]] = result
    passed = len(places) - len(failed)
    return Grading(
        ok=True,
        model=spec.model,
        spec_version=spec.version,
        tolerance=tolerance._asdict(),
        count=len(answers),
        passed=passed,
        failed=len(failed),
        invalid=len(invalid),
        pass_rate=passed / len(places) if places else None,
        by_output=_by_output(spec, comparison, got),
        results=results,
    )


def _read_all(spec: Spec, answers: Sequence[Answer]) -> tuple[list[Inputs], dict[int, Sequence[FieldError]]]:
    """The inputs that fit the contract, in order, and what is wrong with the others by their place."""
    read: list[Inputs] = []
    invalid: dict[int, Sequence[FieldError]] = {}
    for place, answer in enumerate(answers):
        try:
            read.append(spec.read_inputs(answer.inputs))
        except InvalidInputsError as error:
            invalid[place] = error.errors
    return read, invalid


def _fails(
    spec: Spec,
    source: AnswerSource,
    inputs: Sequence[Inputs],
    comparison: Comparison,
    expected: Columns,
    failed: Sequence[int],
) -> list[CaseResult]:
    """The results of the cases that failed."""
    if not failed:
        return []
    near = source.near([inputs[place] for place in failed], expected.take(failed))
    differences = comparison.all_differences(SHOWN_DIFFERENCES)
    counts = comparison.counts.tolist()
    return [
        CaseResult("fail", _sendable(differences[place]), counts[place] - len(differences[place]), tuple(hanging))
        for place, hanging in zip(failed, near, strict=True)
    ]


def _sendable(differences: Sequence[Difference]) -> tuple[Difference, ...]:
    """Differences as JSON carries them: what is missing is null."""
    return tuple(d if d.got is not MISSING else Difference(d.path, d.expected, None, d.note) for d in differences)


def _by_output(spec: Spec, comparison: Comparison, got: Columns) -> dict[str, OutputTally]:
    tallies = {}
    for output in spec.outputs:
        failed = int(comparison.failed_outputs[output.name].sum())
        missing = got.missing(output.name)
        share = comparison.worst[output.name].share
        compared = got.count > missing and output.type in ("number", "table")
        worst = min(share, 1e308) if compared else None
        tallies[output.name] = OutputTally(got.count - failed, failed - missing, missing, worst)
    return tallies


# Requests ---------------------------------------------------------------------------------------------------------


class _QuickAnswer(Answer, forbid_unknown_fields=True):
    inputs: _Object
    answer: _Object


class _QuickRequest(msgspec.Struct, forbid_unknown_fields=True):
    cases: list[_QuickAnswer]
    tolerance: dict[Literal["rel", "abs"], float] | None = None


_QUICK: Final = msgspec.json.Decoder(_QuickRequest)


def read_grading_request(body: bytes) -> tuple[Sequence[Answer], Tolerance]:
    """The answers and the tolerance of a request's body. Raises `JsonError`, or `RefusedError` naming fields at fault.

    A body of the usual shape is read by a decoder that is ten times as fast as the strict one, and that takes a key
    which comes twice. It has dropped none if its value, written again, has as many colons as the body.
    """
    try:
        quick = _QUICK.decode(body)
    except msgspec.DecodeError:
        quick = None
    answers: Sequence[Answer]
    if quick and b"\\u" not in body and body.count(b":") == msgspec.json.encode(quick).count(b":") - _unsent(quick):
        answers, tolerance = quick.cases, quick.tolerance
    else:
        answers, tolerance = _read_strictly(parse_json(body))
    if not 1 <= len(answers) <= MOST_CASES:
        raise RefusedError([FieldError("cases", f"must hold 1 to {MOST_CASES} cases, not {len(answers)}")])
    return answers, read_tolerance(tolerance)


def _unsent(quick: _QuickRequest) -> int:
    """Colons of the written value that the body need not have."""
    return quick.tolerance is None  # written as null


def read_answers(spec: Spec, items: Iterable[Any], where: str = "") -> tuple[list[Answer], list[str | None]]:
    """Answers by inputs, `{"inputs", "answer"}`, or by case, `{"id", "answer"}`, and the cases' ids where given.

    Raises `RefusedError` naming the first item at fault: as `cases[3]`, or as a line of the file that `where` names.
    """
    items = list(items)
    named = any(isinstance(item, Mapping) and "id" in item for item in items)
    by_id = {case.id: case.inputs for case in generate(spec)} if named else {}
    answers: list[Answer] = []
    ids: list[str | None] = []
    seen: set[str | None] = set()
    for place, item in enumerate(items):
        at = f"{where}:{place + 1}" if where else f"cases[{place}]"
        by_name = isinstance(item, Mapping) and "id" in item
        if faults := _object_faults(item, ("id" if by_name else "inputs", "answer"), (), at):
            raise RefusedError(faults)
        if by_name and (not isinstance(item["id"], str) or item["id"] not in by_id):
            raise RefusedError(
                [FieldError(f"{at}.id", f"is no case of {spec.model} {spec.version}: {shown(item['id'])}")]
            )
        if by_name and item["id"] in seen:
            raise RefusedError([FieldError(f"{at}.id", f"{item['id']} was answered before")])
        seen.add(item["id"] if by_name else None)
        answers.append(Answer(by_id[item["id"]] if by_name else item["inputs"], item["answer"]))
        ids.append(item["id"] if by_name else None)
    return answers, ids


def _read_strictly(value: Any) -> tuple[list[Answer], Any]:
    read_object(value, ("cases",), ("tolerance",))
    if not isinstance(value["cases"], list):
        raise RefusedError([FieldError("cases", f"must be a list of cases, not {shown(value['cases'])}")])
    errors: list[FieldError] = []
    for place, case in enumerate(islice(value["cases"], MOST_CASES)):
        errors += _object_faults(case, ("inputs", "answer"), (), f"cases[{place}]")
    if errors:
        raise RefusedError(errors[:SHOWN_DIFFERENCES])
    return [Answer(case["inputs"], case["answer"]) for case in value["cases"][: MOST_CASES + 1]], value.get("tolerance")


def read_object(value: Any, required: Sequence[str], optional: Sequence[str] = ()) -> dict[str, Any]:
    """A request as an object with just these fields. Raises `RefusedError` naming each field at fault."""
    if errors := _object_faults(value, required, optional, ""):
        raise RefusedError(errors)
    found: dict[str, Any] = value
    return found


def _object_faults(value: Any, required: Sequence[str], optional: Sequence[str], at: str) -> list[FieldError]:
    names = ", ".join((*required, *optional))
    if not isinstance(value, Mapping):
        return [FieldError(at, f"must be an object with {names}, not {shown(value)}")]
    inside = f"{at}." if at else ""
    missing = [FieldError(inside + name, "is missing") for name in required if name not in value]
    unknown = [name for name in value if name not in required and name not in optional]
    return missing + [
        FieldError(inside + str(name)[:80], f"is unknown; the fields are {names}") for name in unknown[:5]
    ]


def read_tolerance(value: Any) -> Tolerance:
    """A caller's tolerance, clamped between the published one and `LOOSEST`. Raises `RefusedError`."""
    if value is None:
        return TOLERANCE
    read_object(value, (), Tolerance._fields)
    given = []
    for name in Tolerance._fields:
        wanted = value.get(name, getattr(TOLERANCE, name))
        if isinstance(wanted, bool) or not isinstance(wanted, (int, float)) or not wanted >= 0:
            raise RefusedError(
                [FieldError(f"tolerance.{name}", f"must be a number of at least 0, not {shown(wanted)}")]
            )
        given.append(min(max(float(wanted), getattr(TOLERANCE, name)), getattr(LOOSEST, name)))
    return Tolerance(*given)


# Claims -----------------------------------------------------------------------------------------------------------


def verify_claims(
    spec: Spec, source: AnswerSource, given: object, claims: Any, tolerance: Tolerance = TOLERANCE
) -> Claims:
    """What the model says of claims about its outputs for one set of inputs.

    Raises `InvalidInputsError`, or `RefusedError` if the claims cannot be read.
    """
    if not isinstance(claims, list) or not 1 <= len(claims) <= MOST_CASES:
        raise RefusedError([FieldError("claims", f"must be a list of 1 to {MOST_CASES} claims, not {shown(claims)}")])
    faults = [fault for place, claim in enumerate(claims) for fault in _claim_faults(claim, f"claims[{place}]")]
    if faults:
        raise RefusedError(faults)
    inputs = spec.read_inputs(given)
    outputs = source.expected([inputs])
    computed = outputs.answers(spec.outputs)[0]
    results = [_verify(spec, computed, claim, tolerance) for claim in claims]
    verdicts = [result.verdict for result in results]
    return Claims(
        ok=True,
        model=spec.model,
        spec_version=spec.version,
        tolerance=tolerance._asdict(),
        inputs=inputs,
        claims=results,
        verified=verdicts.count("verified"),
        violated=verdicts.count("violated"),
        out_of_scope=verdicts.count("out-of-scope"),
        near_decision=source.near([inputs], outputs)[0],
    )


def _claim_faults(claim: Any, at: str) -> list[FieldError]:
    if faults := _object_faults(claim, ("path", "value"), ("op",), at):
        return faults
    if not isinstance(claim["path"], str):
        return [FieldError(f"{at}.path", f"must be a text such as yearlyData[3].move, not {shown(claim['path'])}")]
    op = claim.get("op", "==")
    if not isinstance(op, str) or op not in OPERATORS:
        return [FieldError(f"{at}.op", f"must be one of {', '.join(OPERATORS)}, not {shown(op)}")]
    return []


def _verify(spec: Spec, computed: Mapping[str, Any], claim: Mapping[str, Any], tolerance: Tolerance) -> ClaimResult:
    path, value, op = claim["path"], claim["value"], OPERATORS[claim.get("op", "==")]
    found = _find(spec, computed, path)
    if isinstance(found, str):
        return ClaimResult(path[:200], op, value, "out-of-scope", message=found)
    column, actual = found
    if op in ("==", "!="):
        agrees = judge(column, actual, value, tolerance) is None
        return ClaimResult(path, op, value, "verified" if agrees == (op == "==") else "violated", actual)
    if message := _unordered(column, actual, value):
        return ClaimResult(path, op, value, "out-of-scope", actual, message)
    equal = judge(column, actual, value, tolerance) is None
    holds = equal if op in ("<=", ">=") else False
    holds = holds or (actual < value if op in ("<", "<=") else actual > value)
    return ClaimResult(path, op, value, "verified" if holds else "violated", actual)


def _find(spec: Spec, computed: Mapping[str, Any], path: str) -> tuple[Output | Column, Any] | str:
    """The contract's column at a path and its computed value, or why there is none."""
    match = _PATH.fullmatch(path)
    output = spec.output.get(match[1]) if match else None
    if match is None or output is None:
        return f"is no output; the outputs are {', '.join(spec.output)}"
    _, row, name, length = match.groups()
    if output.type != "table":
        return (output, computed[output.name]) if row is None and not length else f"{output.name} is no table"
    rows = computed[output.name]
    if length:
        return Column(name="length", type="integer"), len(rows)
    columns = {column.name: column for column in output.columns}
    if row is None or name not in columns:
        return f"is no cell; a cell is {output.name}[0].{output.columns[0].name}, with {', '.join(columns)} as columns"
    if int(row) >= len(rows):
        return f"{output.name} has rows 0 to {len(rows) - 1} for these inputs"
    return columns[name], rows[int(row)][name]


def _unordered(column: Output | Column, actual: Any, value: Any) -> str:
    """Why two values have no order, if they have none: a sentinel stands for a state and not for a quantity (C-7)."""
    for each in (actual, value):
        for sentinel in column.sentinels if isinstance(column, Output) else ():
            if each == sentinel.value and not isinstance(each, bool):
                return f"{shown(each)} stands for a state: {sentinel.meaning}"
        if isinstance(each, bool) or not isinstance(each, (int, float)):
            return f"{shown(each)} has no place among numbers"
    return ""


# Runs and their records -------------------------------------------------------------------------------------------

RECORD_FIELDS: Final = ("model", "specVersion", "inputs", "outputs")
HOW_TO_VERIFY: Final = (
    "SHA-256, in lower-case hexadecimal, of the RFC 8785 canonical JSON of an object with these fields of the reply."
)


def run(spec: Spec, source: AnswerSource, given: object) -> dict[str, Any]:
    """A model's answer to one set of inputs, with what its numbers rest on and a record that seals them.

    Raises `InvalidInputsError`.
    """
    inputs = spec.read_inputs(given)
    columns = source.expected([inputs])
    outputs = columns.answers(spec.outputs)[0]
    return {
        "ok": True,
        "model": spec.model,
        "specVersion": spec.version,
        "inputs": inputs,
        "outputs": outputs,
        "sentinels": _sentinels(spec, outputs),
        "nearDecision": source.near([inputs], columns)[0],
        "assumptions": list(spec.assumptions),
        "facts": [],
        "record": {
            "sha256": record_digest(spec.model, spec.version, inputs, outputs),
            "fields": list(RECORD_FIELDS),
            "howToVerify": HOW_TO_VERIFY,
        },
        "disclaimer": DISCLAIMER,
    }


def record_digest(model: str, version: str, inputs: Any, outputs: Any) -> str:
    """The seal of one run: what was asked, of which version of which spec, and what was answered."""
    fields = dict(zip(RECORD_FIELDS, (model, version, inputs, outputs), strict=True))
    return sha256_hex(canonical_json(fields))


def verify_record(value: Any) -> dict[str, Any]:
    """Whether a record's seal is that of its content. Raises `RefusedError` if it is no record.

    That says nothing of whether the content is right: to ask that, run the inputs again.
    """
    record = read_object(value, (*RECORD_FIELDS, "sha256"))
    texts = ("model", "specVersion", "sha256")
    if faults := [
        FieldError(n, f"must be a text, not {shown(record[n])}") for n in texts if type(record[n]) is not str
    ]:
        raise RefusedError(faults)
    try:
        computed = record_digest(*(record[name] for name in RECORD_FIELDS))
    except ValueError as error:  # no canonical form, such as of an integer beyond 2**53
        raise RefusedError([FieldError("", f"has no canonical JSON: {error}")]) from None
    return {
        "ok": True,
        "valid": computed == record["sha256"].lower(),
        "computed": computed,
        "model": record["model"],
        "specVersion": record["specVersion"],
        "howToVerify": HOW_TO_VERIFY,
    }


def _sentinels(spec: Spec, outputs: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Every sentinel of the contract, and whether an answer has it."""
    return [
        {
            "field": output.name,
            "value": sentinel.value,
            "meaning": sentinel.meaning,
            "triggered": outputs.get(output.name, MISSING) == sentinel.value,
        }
        for output in spec.outputs
        for sentinel in output.sentinels
    ]
