"""JSON Schemas of a model's inputs and outputs, and its contract as data, all made from the spec.

An output schema serves as the structured-output format of a copilot: every key is required and none is extra. The
schemas are for others to validate with; here, `Spec.read_inputs` and `compare` are the rules.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from concordance.spec import SMALLEST, Column, Input, Output, Spec

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"


def input_schema(spec: Spec) -> dict[str, Any]:
    """The JSON Schema of one set of inputs."""
    return {"$schema": DIALECT, "title": f"{spec.model} inputs", **_inputs(spec.inputs)}


def output_schema(spec: Spec) -> dict[str, Any]:
    """The JSON Schema of one answer."""
    properties = {output.name: _output(output) for output in spec.outputs}
    return {"$schema": DIALECT, "title": f"{spec.model} outputs", **_object(properties)}


def contract(spec: Spec) -> dict[str, Any]:
    """A model's contract as data: what goes in, what comes out, and what special values stand for."""
    return {
        "name": spec.model,
        "title": spec.title,
        "specVersion": spec.version,
        "specSha256": spec.digest,
        "access": spec.access,
        "inputs": [_input_data(field) for field in spec.inputs],
        "outputs": [_output_data(output) for output in spec.outputs],
        "sentinels": [
            {"field": output.name, "value": sentinel.value, "meaning": sentinel.meaning}
            for output in spec.outputs
            for sentinel in output.sentinels
        ],
        "assumptions": list(spec.assumptions),
        "inputSchema": input_schema(spec),
        "outputSchema": output_schema(spec),
    }


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _inputs(fields: Sequence[Input]) -> dict[str, Any]:
    return _object({field.name: _input(field) for field in fields})


def _input(field: Input) -> dict[str, Any]:
    about: dict[str, Any] = {"description": _described(field.description, field.unit)}
    if field.type == "boolean":
        return {"type": "boolean", **about}
    if field.type == "text":
        return {"type": "string", "enum": list(field.values), **about}
    if field.type == "list":
        low, high = field.length or (0, 0)
        return {"type": "array", "items": _inputs(field.items), "minItems": low, "maxItems": high, **about}
    bounds = {"minimum": field.min, "maximum": field.max}
    if field.type == "integer":
        return {"type": "integer", **{name: int(bound or 0) for name, bound in bounds.items()}, **about}
    tiny = {"exclusiveMinimum": -SMALLEST, "exclusiveMaximum": SMALLEST, "not": {"const": 0}}
    return {"type": "number", **bounds, "not": tiny, **about}  # a nonzero number below the least is in no domain (C-3)


def _output(output: Output) -> dict[str, Any]:
    about = {"description": _described(output.description, output.unit)}
    if output.type == "table":
        row = _object({column.name: _value(column) for column in output.columns})
        return {"type": "array", "items": row, **about}
    texts = [sentinel.value for sentinel in output.sentinels if isinstance(sentinel.value, str)]
    if texts:
        return {"anyOf": [_value(output), {"type": "string", "enum": texts}], **about}
    return {**_value(output), **about}


def _value(column: Output | Column) -> dict[str, Any]:
    if column.type == "text":
        values = column.values if isinstance(column, Output) else ()
        return {"type": "string", **({"enum": list(values)} if values else {})}
    return {"type": column.type}


def _described(description: str, unit: str) -> str:
    return f"{description} ({unit})" if unit else description


def _input_data(field: Input) -> dict[str, Any]:
    data: dict[str, Any] = {"name": field.name, "type": field.type, "unit": field.unit}
    if field.numeric:
        data["domain"] = {"min": field.min, "max": field.max}
    elif field.type == "text":
        data["domain"] = {"values": list(field.values)}
    elif field.type == "list":
        low, high = field.length or (0, 0)
        data["domain"] = {"minItems": low, "maxItems": high}
        data["items"] = [_input_data(item) for item in field.items]
    else:
        data["domain"] = {"values": [False, True]}
    return data | {"description": field.description}


def _output_data(output: Output) -> dict[str, Any]:
    data: dict[str, Any] = {"name": output.name, "type": output.type, "unit": output.unit, "clause": output.clause}
    if output.values:
        data["values"] = list(output.values)
    if output.columns:
        data["columns"] = [{"name": c.name, "type": c.type, "unit": c.unit} for c in output.columns]
    return data | {"description": output.description}
