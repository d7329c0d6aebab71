"""Write a workspace's vectors, and verify those that are there.

`export` publishes only what both implementations agree on, and all files at once. `verify` recomputes the vectors
of every current version byte for byte and holds older ones, and the specs that they were made from, to the
manifest's digests.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import Final

import msgspec

from concordance.audit import Audit, render_audit
from concordance.cases import generate
from concordance.changelog import entry_name
from concordance.check import ModelCheck, check_model, reference_answers
from concordance.errors import ImplementationError, VectorsError
from concordance.numbers import sha256_hex
from concordance.signing import signature_fault, signature_name
from concordance.spec import Spec
from concordance.vectors import (
    MANIFEST,
    Manifest,
    audit_name,
    entry,
    read_manifest,
    render_manifest,
    render_vectors,
    vectors_name,
)
from concordance.workspace import Workspace

_HEADER: Final = 1


@dataclass
class Export:
    """What an export did: the checks that it rests on, the files whose bytes changed, and why it refused."""

    checks: list[ModelCheck] = field(default_factory=list)
    written: list[str] = field(default_factory=list)
    refused: list[Problem] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """Whether every model agreed and nothing released would change; otherwise nothing was written."""
        return all(check.ok for check in self.checks) and not self.refused


@dataclass(frozen=True)
class Problem:
    """A published file that is not what it should be."""

    path: str
    what: str

    def __str__(self) -> str:
        return f"{self.path}: {self.what}"


def export(workspace: Workspace, models: Sequence[str], say: Callable[[str], None] = lambda _: None) -> Export:
    """Check the models and write their current vectors and the manifest, all or nothing.

    Raises `WorkspaceError` for the built-in workspace, and `VectorsError` if the manifest that is there cannot be read.
    """
    workspace.require_writable()
    result = Export()
    for model in models:
        result.checks += check_model(workspace, workspace.spec(model))
    if result.ok:
        rendered = {vectors_name(model, workspace.spec(model).version): render(workspace, model) for model in models}
        workspace.replace_vectors(lambda: _changes(workspace, rendered, result), say)
    return result


def _changes(workspace: Workspace, rendered: Mapping[str, tuple[Spec, bytes]], result: Export) -> dict[str, bytes]:
    """The files whose bytes an export changes; none if one of them is released."""
    manifest = read_published_manifest(workspace)
    files = {}
    for name, (spec, content) in rendered.items():
        listed = manifest.files.get(name)
        if listed and listed.changelog_sha256 and listed.sha256 != sha256_hex(content):
            what = f"{spec.version} is released and never changes; write the change into a spec of a new version"
            result.refused.append(Problem(f"vectors/{name}", what))
        fresh = entry(content, spec, content.count(b"\n") - _HEADER)
        if listed:
            names = ("changelog_sha256", "audit_sha256", "conventions_sha256")
            fresh = msgspec.structs.replace(fresh, **{kept: getattr(listed, kept) for kept in names})
        manifest.files[name] = fresh
        files[name] = content
    files[MANIFEST] = render_manifest(manifest)
    changed = {name: content for name, content in files.items() if _present(workspace, name) != content}
    if result.refused:
        return {}
    result.written += [f"vectors/{name}" for name in changed]
    return changed


def verify(workspace: Workspace, models: Sequence[str]) -> list[Problem]:
    """Everything in `vectors/` that differs from what it should be, for the given models; empty when all is well."""
    if _present(workspace, MANIFEST) is None:
        return [Problem(f"vectors/{MANIFEST}", "is missing; run `concordance export`")]
    manifest = read_published_manifest(workspace)
    problems = []
    for model in models:
        current = workspace.versions(model)[-1]
        for version in workspace.versions(model):
            problems += _verify_file(workspace, manifest, model, version, recompute=version == current)
    on_disk = {path.relative_to(workspace.root / "vectors").as_posix() for path in _vector_files(workspace)}
    known = {name for name in {*manifest.files, *on_disk} if name.partition("/")[0] in models}
    expected = {vectors_name(model, version) for model in models for version in workspace.versions(model)}
    if set(models) >= set(workspace.models):  # all were asked for, so those that are gone too
        known = {*manifest.files, *on_disk}
    problems += [Problem(f"vectors/{name}", "belongs to no spec") for name in sorted(known - expected)]
    return problems + _conventions_problems(workspace, manifest, models)


def conventions_digest(workspace: Workspace) -> str | None:
    """SHA-256 of the page that binds every spec, or None where a workspace has none."""
    path = workspace.root / "specs" / "CONVENTIONS.md"
    return sha256_hex(path.read_bytes()) if path.is_file() else None


def _conventions_problems(workspace: Workspace, manifest: Manifest, models: Sequence[str]) -> list[Problem]:
    """Newest released versions that were released under other conventions."""
    now = conventions_digest(workspace)
    for model in models:
        listed = manifest.files.get(vectors_name(model, workspace.versions(model)[-1]))
        if listed and listed.conventions_sha256 and listed.conventions_sha256 != now:
            what = f"has changed since {model} was released under it; put it back, or release new versions"
            return [Problem("specs/CONVENTIONS.md", what)]
    return []


def verify_signature(workspace: Workspace, public_key: Path) -> list[Problem]:
    """Whether the manifest is signed with a key. Raises `UnusableInputError` if the file is no public key."""
    manifest = _present(workspace, MANIFEST)
    if manifest is None:
        return []  # `verify` says so
    fault = signature_fault(manifest, _present(workspace, signature_name(manifest)), public_key)
    return [Problem(f"vectors/{MANIFEST}", fault)] if fault else []


def write_audits(workspace: Workspace, audits: Sequence[Audit], say: Callable[[str], None] = lambda _: None) -> None:
    """Write audits beside the vectors, and their digests into the manifest, all at once.

    Raises `WorkspaceError` for the built-in workspace, and `VectorsError` where a version has no vectors yet.
    """

    def changes() -> dict[str, bytes]:
        manifest = read_published_manifest(workspace)
        files = {}
        for found in audits:
            name = vectors_name(found.model, found.version)
            if name not in manifest.files:
                raise VectorsError(
                    "is not exported yet", where=f"vectors/{name}", hint="run `concordance export` first"
                )
            content = render_audit(found)
            files[audit_name(found.model, found.version)] = content
            manifest.files[name] = msgspec.structs.replace(manifest.files[name], audit_sha256=sha256_hex(content))
        return {**files, MANIFEST: render_manifest(manifest)}

    workspace.replace_vectors(changes, say)


def render(workspace: Workspace, model: str) -> tuple[Spec, bytes]:
    """A model's current spec, and the bytes of its vectors as they are computed now."""
    spec = workspace.spec(model)
    cases = generate(spec)
    return spec, render_vectors(spec, cases, reference_answers(workspace, spec, cases))


def _verify_file(
    workspace: Workspace, manifest: Manifest, model: str, version: str, *, recompute: bool
) -> list[Problem]:
    name = vectors_name(model, version)
    path = f"vectors/{name}"
    content = _present(workspace, name)
    if content is None:
        return [Problem(path, "is missing; run `concordance export`")]
    if name not in manifest.files:
        return [Problem(path, "is not in the manifest")]
    listed = manifest.files[name]
    spec = workspace.spec(model, version)
    problems = []
    if sha256_hex(content) != listed.sha256:
        problems.append(Problem(path, f"has another SHA-256 than the manifest says ({listed.sha256})"))
    if content.count(b"\n") - _HEADER != listed.cases:
        problems.append(
            Problem(path, f"holds {content.count(bytes([10])) - _HEADER} cases, the manifest says {listed.cases}")
        )
    if spec.digest != listed.spec_sha256:
        problems.append(Problem(spec.path, "has changed since its vectors were published"))
    if (
        listed.audit_sha256
        and sha256_hex(_present(workspace, audit_name(model, version)) or b"") != listed.audit_sha256
    ):
        problems.append(Problem(f"vectors/{audit_name(model, version)}", "is not the audit that the manifest lists"))
    if listed.changelog_sha256:
        problems += _verify_changelog(workspace, model, version, listed.changelog_sha256)
    if recompute:
        problems += _recompute(workspace, spec, path, content)
    return problems


def _verify_changelog(workspace: Workspace, model: str, version: str, digest: str) -> list[Problem]:
    path = f"changelog/{entry_name(model, version)}"
    file = workspace.root / path
    if not file.is_file():
        return [Problem(path, "is missing, though the version is released")]
    return [] if sha256_hex(file.read_bytes()) == digest else [Problem(path, "has changed since the release")]


def _recompute(workspace: Workspace, spec: Spec, path: str, content: bytes) -> list[Problem]:
    try:
        _, fresh = render(workspace, spec.model)
    except ImplementationError as error:
        return [Problem(path, f"cannot be recomputed: {error}")]
    lines = zip_longest(content.split(b"\n"), fresh.split(b"\n"))
    different = [number for number, (old, new) in enumerate(lines, 1) if old != new]
    if not different:
        return []
    return [Problem(f"{path}:{different[0]}", f"differs from what is computed now, in {len(different)} lines")]


def read_published_manifest(workspace: Workspace) -> Manifest:
    """The manifest as it is, empty where there is none. Raises `VectorsError` with path and line."""
    content = _present(workspace, MANIFEST)
    return read_manifest(content, f"vectors/{MANIFEST}") if content is not None else Manifest({})


def _present(workspace: Workspace, name: str) -> bytes | None:
    path = workspace.root / "vectors" / name
    return path.read_bytes() if path.is_file() else None


def _vector_files(workspace: Workspace) -> list[Path]:
    return sorted((workspace.root / "vectors").rglob("*.jsonl"))
