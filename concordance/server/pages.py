"""Pages for people: the home page, and the API's documentation made from its OpenAPI document. No script, no other
host.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from concordance import __version__
from concordance.cases import generate
from concordance.grading import DISCLAIMER
from concordance.numbers import json_text
from concordance.spec import Spec


@cache
def templates() -> Environment:
    """The pages' templates."""
    folder = Path(__file__).resolve().parent.parent / "templates"
    return Environment(
        loader=FileSystemLoader(folder),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def home_page(specs: Sequence[Spec], address: str) -> str:
    """What this is, the models, and commands that work when pasted; `address` is the server's."""
    examples = [_curl(address, spec) for spec in specs[-1:]]
    return (
        templates()
        .get_template("home.html.j2")
        .render(specs=specs, address=address, examples=examples, version=__version__, disclaimer=DISCLAIMER)
    )


def docs_page(document: Mapping[str, Any], address: str) -> str:
    """Every call with its purpose, what it takes and an example."""
    groups: dict[str, list[dict[str, Any]]] = {"asking": [], "reading": [], "pages": []}
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            body = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
            groups[operation["tags"][0]].append(
                {
                    "method": method.upper(),
                    "path": path,
                    "summary": operation["summary"],
                    "parameters": [p["name"] for p in operation.get("parameters", ())],
                    "statuses": list(operation["responses"].items()),
                    "example": _command(address, path, body["example"]) if "example" in body else "",
                }
            )
    return templates().get_template("docs.html.j2").render(groups=groups, version=__version__, disclaimer=DISCLAIMER)


def _curl(address: str, spec: Spec) -> dict[str, str]:
    case = next(case for case in generate(spec) if case.kind != "corner")
    answer = {output.name: 0 for output in spec.outputs if output.type in ("number", "integer")}
    grading = {"cases": [{"inputs": case.inputs, "answer": answer}]}
    return {
        "run": _command(address, f"/api/v1/models/{spec.model}", case.inputs),
        "grade": _command(address, f"/api/v1/grade/{spec.model}", grading),
        "dataset": f"curl -s {shlex.quote(f'{address}/api/v1/evals/{spec.model}')}",
        "model": spec.model,
    }


def _command(address: str, path: str, body: Any) -> str:
    return (
        f"curl -s {shlex.quote(address + path)} \\\n  -H 'content-type: application/json' \\\n"
        f"  -d {shlex.quote(json_text(body))}"
    )
