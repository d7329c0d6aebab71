"""The OpenAPI document, made from the specs: one set of paths for each model, with its own schemas and an example."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from concordance.cases import generate
from concordance.grading import DISCLAIMER, MOST_CASES, OPERATORS, RECORD_FIELDS
from concordance.schemas import input_schema, output_schema
from concordance.spec import Spec

_TEXT: Final = {"type": "string"}
_NUMBER: Final = {"type": "number"}
_COUNT: Final = {"type": "integer", "minimum": 0}
_TRUE: Final = {"const": True}
_MARKDOWN: Final = "text/markdown"
_LINES: Final = "application/x-ndjson"
_HTML: Final = "text/html"
_JSON: Final = "application/json"


def document(specs: Sequence[Spec], version: str) -> dict[str, Any]:
    """The document for the models of a workspace."""
    names = [spec.model for spec in specs]
    paths = dict(_common(names)) | dict(_of_exam())
    for spec in specs:
        paths |= dict(_of_model(spec))
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Concordance",
            "version": version,
            "description": f"Answer keys for financial models: specs, right answers, and grading. {DISCLAIMER}",
        },
        "paths": paths,
        "components": {
            "schemas": _schemas(),
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer", "description": "A key, ck_…"}},
        },
    }


def _common(names: Sequence[str]) -> Iterator[tuple[str, Any]]:
    yield "/", {"get": _get("The home page", _HTML, tag="pages")}
    yield "/docs", {"get": _get("This documentation as a page", _HTML, tag="pages")}
    yield "/openapi.json", {"get": _get("This document", schema={"type": "object"}, tag="pages")}
    yield (
        "/healthz",
        {"get": _get("Whether the server lives, and its versions", schema={"type": "object"}, tag="pages")},
    )
    yield "/api/v1/models", {"get": _get("All models", schema={"type": "object", "required": ["models"]})}
    yield "/api/v1/facts", {"get": _get("Outside constants that models use: none", schema={"type": "object"})}
    yield "/api/v1/evals", {"get": _get("All datasets, with digests and versions", schema={"type": "object"})}
    record = {
        "type": "object",
        "properties": {"model": _TEXT, "specVersion": _TEXT, "inputs": {}, "outputs": {}, "sha256": _TEXT},
        "required": [*RECORD_FIELDS, "sha256"],
        "additionalProperties": False,
    }
    verdict = {"type": "object", "required": ["ok", "valid", "computed"]}
    yield "/api/v1/records/verify", {"post": _post("Whether a record's hash is that of its content", record, verdict)}


def _of_exam() -> Iterator[tuple[str, Any]]:
    """The exam's pages and the calls behind them; the POST ones are for the server's own page."""
    price = {"name": "k", "in": "query", "schema": {"type": "integer", "minimum": 1, "maximum": 10}}
    k = [price | {"description": "What a wrong answer costs"}]
    page = _get("The board of the exam, or of an example", _HTML, tag="pages", parameters=k)
    yield "/exam", {"get": page | {"responses": page["responses"] | _refusals(400, 409)}}
    board = _get("The board at a price of a wrong answer", schema=_reply({"k": _COUNT}, "standings"), parameters=k)
    yield "/exam/api/board", {"get": board | {"responses": board["responses"] | _refusals(400, 409)}}
    yield "/exam/api/ledger", {"get": _get("The exam's ledger, for concordance exam verify", _LINES)}
    signing = {
        "type": "object",
        "properties": {"owner": _TEXT, "k": price["schema"], "head": _TEXT},
        "required": ["owner", "k"],
        "additionalProperties": False,
    }
    score = {"enum": ["correct", "abstain", "wrong"]}
    change = {
        "type": "object",
        "properties": {"row": _COUNT, "score": score, "value": _COUNT, "rehash": {"type": "boolean"}},
        "required": ["row", "score", "value"],
        "additionalProperties": False,
    }
    calls = (
        ("sign", "Sign the exam off", signing, _reply({"owner": _TEXT, "k": _COUNT, "head": _TEXT}, "ranking")),
        ("replay", "Judge every stored reply anew", {"type": "object"}, _reply({"sittings": _COUNT}, "different")),
        ("tamper", "Check a copy of the ledger with one score changed", change, _reply({"rows": _COUNT}, "broken")),
    )
    for name, summary, body, reply in calls:
        post = _post(summary, body, reply)
        yield f"/exam/api/{name}", {"post": post | {"responses": post["responses"] | _refusals(403, 409)}}


def _of_model(spec: Spec) -> Iterator[tuple[str, Any]]:
    name, key = spec.model, spec.access == "key"
    inputs, outputs = _plain(input_schema(spec)), _plain(output_schema(spec))
    case = next(case for case in generate(spec) if case.kind != "corner")
    at = f"/api/v1/models/{name}"
    tolerance = {"anyOf": [{"$ref": "#/components/schemas/Tolerance"}, {"type": "null"}]}
    answers = {
        "type": "object",
        "properties": {
            "cases": {
                "type": "array",
                "minItems": 1,
                "maxItems": MOST_CASES,
                "items": _object({"inputs": inputs, "answer": {"description": "An answer, whatever it is"}}),
            },
            "tolerance": tolerance,
        },
        "required": ["cases"],
        "additionalProperties": False,
    }
    claim = {
        "type": "object",
        "properties": {"path": _TEXT, "op": {"enum": list(OPERATORS)}, "value": {}},
        "required": ["path", "value"],
        "additionalProperties": False,
    }
    claims = {
        "type": "object",
        "properties": {
            "inputs": inputs,
            "claims": {"type": "array", "minItems": 1, "maxItems": MOST_CASES, "items": claim},
            "tolerance": tolerance,
        },
        "required": ["inputs", "claims"],
        "additionalProperties": False,
    }
    ran = _reply({"model": {"const": name}, "specVersion": _TEXT, "inputs": inputs, "outputs": outputs}, "record")
    version = [{"name": "version", "in": "query", "schema": {"enum": [spec.version]}, "description": "An older one"}]
    yield (
        at,
        {
            "get": _get(f"The contract of {name}", schema={"type": "object", "required": ["inputs", "outputs"]}),
            "post": _post(f"Run {name}", inputs, ran, {"inputs": case.inputs}["inputs"], key=key),
        },
    )
    yield f"{at}/spec", {"get": _get(f"The spec of {name}", _MARKDOWN, parameters=version)}
    yield f"{at}/changelog", {"get": _get(f"What changed in {name}, and why", _MARKDOWN)}
    dataset = _get(f"The 250 cases of {name} as JSON lines", _LINES, parameters=version, key=key)
    yield f"/api/v1/evals/{name}", {"get": dataset}
    example: dict[str, Any] = {"cases": [{"inputs": case.inputs, "answer": {spec.outputs[0].name: 0}}]}
    graded = {"$ref": "#/components/schemas/Grading"}
    yield f"/api/v1/grade/{name}", {"post": _post(f"Grade answers to {name}", answers, graded, example, key=key)}
    stated = {"inputs": case.inputs, "claims": [{"path": spec.outputs[0].name, "op": ">=", "value": 0}]}
    verified = {"$ref": "#/components/schemas/Claims"}
    yield f"/api/v1/verify/{name}", {"post": _post(f"Check claims about {name}", claims, verified, stated, key=key)}


def _schemas() -> dict[str, Any]:
    error = _object({"field": _TEXT, "message": _TEXT})
    worst = {"anyOf": [_NUMBER, {"type": "null"}]}
    tally = _object({"passed": _COUNT, "failed": _COUNT, "missing": _COUNT, "worst": worst})
    difference = _object({"path": _TEXT, "expected": {}, "got": {}, "note": {"enum": list(_NOTES)}})
    result = {
        "type": "object",
        "properties": {
            "verdict": {"enum": ["pass", "fail", "invalid-inputs"]},
            "diffs": {"type": "array", "items": difference, "maxItems": 20},
            "diffsLeftOut": _COUNT,
            "nearDecision": {"type": "array", "items": _TEXT},
            "errors": {"type": "array", "items": error},
        },
        "required": ["verdict"],
        "additionalProperties": False,
    }
    counts = dict.fromkeys(("count", "passed", "failed", "invalid"), _COUNT)
    graded = {
        "model": _TEXT,
        "specVersion": _TEXT,
        "tolerance": _object({"rel": _NUMBER, "abs": _NUMBER}),
        **counts,
        "passRate": {"anyOf": [_NUMBER, {"type": "null"}]},
        "byOutput": {"type": "object", "additionalProperties": tally},
        "results": {"type": "array", "items": result},
    }
    claim = {
        "type": "object",
        "properties": {"path": _TEXT, "op": _TEXT, "value": {}, "verdict": {"enum": list(_VERDICTS)}, "message": _TEXT},
        "required": ["path", "op", "value", "verdict"],
    }
    return {
        "Errors": _object({"ok": {"const": False}, "errors": {"type": "array", "items": error, "minItems": 1}}),
        "Tolerance": {
            "type": "object",
            "properties": {"rel": _NUMBER | {"minimum": 0}, "abs": _NUMBER | {"minimum": 0}},
            "additionalProperties": False,
            "description": "Clamped between 1e-9 and 1e-2 relative, 1e-6 and 1 absolute, as the reply says.",
        },
        "Grading": _reply(graded, "disclaimer"),
        "Claims": _reply({"model": _TEXT, "claims": {"type": "array", "items": claim}}, "disclaimer"),
    }


_NOTES: Final = ("value-mismatch", "missing", "type-mismatch")
_VERDICTS: Final = ("verified", "violated", "out-of-scope")


def _reply(properties: dict[str, Any], *more: str) -> dict[str, Any]:
    return {"type": "object", "properties": {"ok": _TRUE, **properties}, "required": ["ok", *properties, *more]}


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _plain(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema as a part of a larger one."""
    return {name: value for name, value in schema.items() if name not in ("$schema", "title")}


def _get(
    summary: str,
    media_type: str = _JSON,
    schema: dict[str, Any] | None = None,
    tag: str = "reading",
    parameters: Sequence[dict[str, Any]] = (),
    *,
    key: bool = False,
) -> dict[str, Any]:
    content = {media_type: {"schema": schema or _TEXT}}
    refusals = _refusals(401, 404, 429) if key else _refusals(404, 429)
    return {
        "summary": summary,
        "tags": [tag],
        **({"parameters": list(parameters)} if parameters else {}),
        **({"security": [{"key": []}]} if key else {}),
        "responses": {"200": {"description": summary, "content": content}, **refusals},
    }


def _post(
    summary: str, body: dict[str, Any], reply: dict[str, Any], example: Any = None, *, key: bool = False
) -> dict[str, Any]:
    content: dict[str, Any] = {"schema": body} | ({"example": example} if example else {})
    refusals = _refusals(400, 413, 429, *([401] if key else []))
    return {
        "summary": summary,
        "tags": ["asking"],
        **({"security": [{"key": []}]} if key else {}),
        "requestBody": {"required": True, "content": {_JSON: content}},
        "responses": {"200": {"description": summary, "content": {_JSON: {"schema": reply}}}, **refusals},
    }


def _refusals(*statuses: int) -> dict[str, Any]:
    said = {
        400: "What the client can mend, with the fields at fault",
        401: "The model needs a key",
        403: "Another site asked, or the example was to be signed off",
        404: "There is no such model or version",
        409: "The exam is not as its ledger says, or not as it was when the page was opened",
        413: "The body is larger than 8 MiB",
        429: "More requests than the server allows",
    }
    content = {_JSON: {"schema": {"$ref": "#/components/schemas/Errors"}}}
    return {str(status): {"description": said[status], "content": content} for status in sorted(statuses)}
