"""The answer key on disk: `vectors/MODEL/VERSION.jsonl` and `vectors/manifest.json` (C-20).

Rendering is a pure function of spec, cases and expected outputs, so the same spec gives the same bytes everywhere.
Nothing here computes an answer: the expected outputs are given.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec

from concordance.cases import Case
from concordance.compare import TOLERANCE
from concordance.errors import JsonError, VectorsError
from concordance.numbers import json_text, parse_json, sha256_hex
from concordance.spec import Spec

MANIFEST: Final = "manifest.json"
DISCLAIMER: Final = (
    "Agreement with a published, versioned spec is graded, never whether a piece of advice was right. "
    "Not financial advice."
)
PROVENANCE: Final = (
    "Cases are made from the published spec alone: domain corners, hand-picked edges with rationales, and seeded "
    "random draws. Expected values are those of the reference implementation, written from the spec text alone and "
    "certified to the last digit, after an independent production engine agreed within the tolerance."
)


class Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="camel", omit_defaults=True):
    """What the manifest says of one vectors file. A version that has a changelog entry is released: it never
    changes.
    """

    sha256: str
    cases: int
    spec_sha256: str
    changelog_sha256: str | None = None
    audit_sha256: str | None = None
    conventions_sha256: str | None = None


class Manifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Every vectors file by its path inside `vectors/`."""

    files: dict[str, Entry]


def vectors_name(model: str, version: str) -> str:
    """The path of a vectors file inside `vectors/`."""
    return f"{model}/{version}.jsonl"


def audit_name(model: str, version: str) -> str:
    """The path of a version's audit inside `vectors/`."""
    return f"{model}/{version}.audit.json"


def render_vectors(spec: Spec, cases: Sequence[Case], expected: Sequence[Mapping[str, Any]]) -> bytes:
    """The bytes of a model's vectors file: a line about the dataset, then a line a case."""
    lines = [json_text(_about(spec, len(cases)))]
    lines += [json_text(_line(case, outputs)) for case, outputs in zip(cases, expected, strict=True)]
    return ("\n".join(lines) + "\n").encode("utf-8")


def entry(content: bytes, spec: Spec, cases: int) -> Entry:
    """The manifest's entry for a vectors file just rendered; with a changelog entry's digest the version is
    released.
    """
    return Entry(sha256_hex(content), cases, spec.digest)


def render_manifest(manifest: Manifest) -> bytes:
    """The manifest's bytes, files in order of their names."""
    files = dict(sorted(manifest.files.items()))
    return msgspec.json.format(msgspec.json.encode(Manifest(files)), indent=2) + b"\n"


def read_manifest(content: bytes, path: str) -> Manifest:
    """Read a manifest. Raises `VectorsError` with `path` and line."""
    try:
        value = parse_json(content)
    except JsonError as error:
        line = re.search(r"line (\d+)", error.what)
        raise VectorsError(error.what, where=f"{path}:{line[1] if line else 1}", hint=error.hint) from None
    if not isinstance(value, dict) or set(value) != {"files"} or not isinstance(value["files"], dict):
        raise VectorsError('must be an object with the one key "files"', where=f"{path}:1")
    return Manifest({name: _read_entry(name, item, content, path) for name, item in value["files"].items()})


def _read_entry(name: str, value: Any, content: bytes, path: str) -> Entry:
    try:
        return msgspec.convert(value, Entry)
    except msgspec.ValidationError as error:
        lines = content.decode("utf-8").split("\n")
        line = next((number for number, text in enumerate(lines, 1) if f'"{name}"' in text), 1)
        raise VectorsError(f"{name}: {error}", where=f"{path}:{line}") from None


def read_vectors(content: bytes, path: str) -> Iterable[dict[str, Any]]:
    """The lines of a vectors file as objects, the line about the dataset first. Raises `VectorsError` with path and
    line.
    """
    for number, line in enumerate(content.splitlines(), 1):
        try:
            value = parse_json(line)
        except JsonError as error:
            raise VectorsError(error.what, where=f"{path}:{number}", hint=error.hint) from None
        if not isinstance(value, dict):
            raise VectorsError("is no object", where=f"{path}:{number}")
        yield value


def _about(spec: Spec, count: int) -> dict[str, Any]:
    return {
        "dataset": "concordance",
        "model": spec.model,
        "specVersion": spec.version,
        "specDigest": spec.digest,
        "count": count,
        "tolerance": TOLERANCE._asdict(),
        "seed": spec.seed,
        "flags": {name: {"mistake": flag.mistake, "effect": flag.effect} for name, flag in spec.flags.items()},
        "provenance": PROVENANCE,
        "specUrl": spec.path,
        "disclaimer": DISCLAIMER,
    }


def _line(case: Case, outputs: Mapping[str, Any]) -> dict[str, Any]:
    line: dict[str, Any] = {
        "id": case.id,
        "kind": case.kind,
        "inputs": case.inputs,
        "inputsSha256": case.digest,
        "expected": outputs,
    }
    if case.kind in ("corner", "edge"):
        line |= {"rationale": case.rationale, "flags": case.flags}
    return line
