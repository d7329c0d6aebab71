"""Write a workspace's vectors, and verify those that are there.

`export` publishes only what both implementations agree on, and all files at once. `verify` recomputes the vectors
of every current version byte for byte and holds older ones, and the specs that they were made from, to the
manifest's digests.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import Final

from concordance.cases import generate
from concordance.check import ModelCheck, check_model, reference_answers
from concordance.errors import ImplementationError
from concordance.numbers import sha256_hex
from concordance.spec import Spec
from concordance.vectors import MANIFEST, Manifest, entry, read_manifest, render_manifest, render_vectors, vectors_name
from concordance.workspace import Workspace

_HEADER: Final = 1


@dataclass
class Export:
    """What an export did: the checks that it rests on, and the files whose bytes changed."""

    checks: list[ModelCheck] = field(default_factory=list)
    written: list[str] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """Whether every model agreed; otherwise nothing was written."""
        return all(check.ok for check in self.checks)


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
        result.checks.append(check_model(workspace, workspace.spec(model)))
    if result.ok:
        rendered = {model: _render(workspace, workspace.spec(model)) for model in models}

        def changes() -> dict[str, bytes]:
            manifest = _manifest(workspace)
            for model, content in rendered.items():
                spec = workspace.spec(model)
                manifest.files[vectors_name(model, spec.version)] = entry(content, spec, content.count(b"\n") - _HEADER)
            files = {vectors_name(model, workspace.spec(model).version): content for model, content in rendered.items()}
            files[MANIFEST] = render_manifest(manifest)
            changed = {name: content for name, content in files.items() if _present(workspace, name) != content}
            result.written += [f"vectors/{name}" for name in changed]
            return changed

        workspace.replace_vectors(changes, say)
    return result


def verify(workspace: Workspace, models: Sequence[str]) -> list[Problem]:
    """Everything in `vectors/` that differs from what it should be, for the given models; empty when all is well."""
    if _present(workspace, MANIFEST) is None:
        return [Problem(f"vectors/{MANIFEST}", "is missing; run `concordance export`")]
    manifest = _manifest(workspace)
    problems = []
    for model in models:
        current = workspace.versions(model)[-1]
        for version in workspace.versions(model):
            problems += _verify_file(workspace, manifest, model, version, recompute=version == current)
    on_disk = {path.relative_to(workspace.root / "vectors").as_posix() for path in _vector_files(workspace)}
    known = {name for name in {*manifest.files, *on_disk} if name.partition("/")[0] in models}
    expected = {vectors_name(model, version) for model in models for version in workspace.versions(model)}
    problems += [Problem(f"vectors/{name}", "belongs to no spec") for name in sorted(known - expected)]
    return problems


def _render(workspace: Workspace, spec: Spec) -> bytes:
    cases = generate(spec)
    return render_vectors(spec, cases, reference_answers(workspace, spec, cases))


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
    if recompute:
        problems += _recompute(workspace, spec, path, content)
    return problems


def _recompute(workspace: Workspace, spec: Spec, path: str, content: bytes) -> list[Problem]:
    try:
        fresh = _render(workspace, spec)
    except ImplementationError as error:
        return [Problem(path, f"cannot be recomputed: {error}")]
    lines = zip_longest(content.split(b"\n"), fresh.split(b"\n"))
    different = [number for number, (old, new) in enumerate(lines, 1) if old != new]
    if not different:
        return []
    return [Problem(f"{path}:{different[0]}", f"differs from what is computed now, in {len(different)} lines")]


def _manifest(workspace: Workspace) -> Manifest:
    content = _present(workspace, MANIFEST)
    return read_manifest(content, f"vectors/{MANIFEST}") if content is not None else Manifest({})


def _present(workspace: Workspace, name: str) -> bytes | None:
    path = workspace.root / "vectors" / name
    return path.read_bytes() if path.is_file() else None


def _vector_files(workspace: Workspace) -> list[Path]:
    return sorted((workspace.root / "vectors").rglob("*.jsonl"))
