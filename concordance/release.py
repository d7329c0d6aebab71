"""Release a version: every condition that must hold, then the files, and the manifest last, whose rename is the commit.

All conditions are examined and every one that fails is reported. A journal beside the manifest names what is being
written; if the process dies before the commit, `recover` removes just that. What was released never changes.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import msgspec

from concordance.atomic import replace_file, staged_path
from concordance.cases import case_by_id, generate
from concordance.change import (
    ClauseChanges,
    ContractChange,
    Moves,
    Step,
    accepted,
    clause_changes,
    contract_changes,
    moves,
    required_step,
)
from concordance.changelog import (
    Entry,
    Settled,
    Verdict,
    entry_name,
    read_settled,
    render_entry,
    settled_line,
    settled_name,
    since,
)
from concordance.check import check_model
from concordance.citations import cited, reached, run_lines
from concordance.columns import MISSING
from concordance.errors import VectorsError, WorkspaceError
from concordance.implementations import FOLDERS, load
from concordance.numbers import json_text, sha256_hex
from concordance.publish import conventions_digest, read_published_manifest, verify
from concordance.signing import sign_manifest, signature_name
from concordance.spec import VERSION
from concordance.vectors import (
    MANIFEST,
    Manifest,
    audit_name,
    entry,
    read_vectors,
    render_manifest,
    render_vectors,
    vectors_name,
)
from concordance.workspace import JOURNAL, Workspace, version_order

UNEXAMINED: Final = "cannot be examined until both implementations agree"
_NO_CHANGES: Final = ClauseChanges((), (), ())
_NO_MOVES: Final = Moves(0, 0, (), (), ())


@dataclass(frozen=True)
class Condition:
    """One thing that must hold for a release, and what stands against it."""

    name: str
    problems: tuple[str, ...]


@dataclass
class Release:
    """What examining a release found, and the files that it consists of, by path in the workspace."""

    model: str
    version: str
    conditions: list[Condition] = field(default_factory=list)
    files: dict[str, bytes] = field(default_factory=dict)
    manifest_before: bytes = b""
    """The manifest that the files go with: another release in between would be lost."""

    @property
    def ok(self) -> bool:
        """Whether every condition holds."""
        return not any(condition.problems for condition in self.conditions)


@dataclass(frozen=True)
class Request:
    """Who asks for what: a version of a model, why, approved by whom, and on which day (ISO 8601)."""

    model: str
    version: str
    why: str
    approver: str
    date: str


def examine(workspace: Workspace, request: Request, key: Path | None = None) -> Release:
    """Examine every condition, and render the files if all hold. Writes nothing."""
    release = Release(request.model, request.version)
    asked = Condition("why and approver are given", tuple(_asked_problems(request)))
    if not VERSION.fullmatch(request.version):
        problem = f'a version is MAJOR.MINOR.PATCH, not "{request.version}"'
        release.conditions = [Condition("the spec is there", (problem,)), asked]
        return release
    newest = workspace.versions(request.model)[-1]
    if newest != request.version:
        problem = (
            f"the newest spec is specs/{request.model}/{newest}.md: write specs/{request.model}/{request.version}.md"
        )
        if version_order(newest) > version_order(request.version):
            problem = f"{newest} is newer; only the newest spec can be released"
        release.conditions = [Condition("the spec is there", (problem,)), asked]
        return release
    examination = _Examination(workspace, request)
    release.conditions = [*examination.conditions(), asked]
    if release.ok:
        release.files = examination.files(key)
        release.manifest_before = _manifest_bytes(workspace)
        release.conditions.append(Condition("nothing is in the way", tuple(_in_the_way(workspace, release.files))))
    return release


def commit(workspace: Workspace, release: Release, say: Callable[[str], None] = lambda _: None) -> list[str]:
    """Write an examined release, all or nothing; the paths written.

    Raises `WorkspaceError` for the built-in workspace, and if another release was made since this one was examined.
    """
    workspace.require_writable()
    with workspace.lock():
        recover(workspace, say)
        if _manifest_bytes(workspace) != release.manifest_before:
            raise WorkspaceError("another release was made in the meantime", hint="run this one again")
        manifest = f"vectors/{MANIFEST}"
        others = {name: content for name, content in release.files.items() if name != manifest}
        created = {n: sha256_hex(c) for n, c in others.items() if not (workspace.root / n).exists()}
        _open_journal(workspace.root / JOURNAL, json.dumps(created).encode("ascii"))
        for name, content in others.items():
            if name in created:
                _write(workspace.root / name, content)
        _write(workspace.root / manifest, release.files[manifest])
        recover(workspace)
    return [*created, manifest]


def recover(workspace: Workspace, say: Callable[[str], None] = lambda _: None) -> None:
    """Clear away what a release that was interrupted before its commit had written, and say so."""
    journal = workspace.root / JOURNAL
    if workspace.builtin or not journal.exists():
        return
    created = _read_journal(journal)
    listed = _listed_digests(workspace)
    for name, digest in created.items():
        path = workspace.root / name
        for leftover in (staged_path(path), path):
            if leftover.exists() and not (leftover == path and (digest in listed or _digest(path) != digest)):
                leftover.unlink()
                say(f"removed {leftover.relative_to(workspace.root)}, left by an interrupted release")
    staged_path(workspace.root / "vectors" / MANIFEST).unlink(missing_ok=True)
    journal.unlink()


def settle(workspace: Workspace, model: str, identifier: str, verdict: Verdict, note: str, by: str) -> Settled:
    """Record a person's verdict on a disagreement that is there now. Raises `WorkspaceError` if there is none."""
    workspace.require_writable()
    spec = workspace.spec(model)
    case = case_by_id(spec, identifier)
    if case is None:
        raise WorkspaceError(f"{model} has no case {identifier}")
    finding = next((f for result in check_model(workspace, spec, [case]) for f in result.findings), None)
    if finding is None or not finding.differences:
        raise WorkspaceError(f"there is nothing to settle: both agree on {identifier}", hint="settle before you mend")
    first = finding.differences[0]
    expected, got = ("missing" if value is MISSING else value for value in (first.expected, first.got))
    settled = Settled(spec.version, case.id, case.inputs, first.path, expected, got, verdict, note, by)
    path = workspace.root / "changelog" / settled_name(model)
    with workspace.lock():
        before = path.read_bytes() if path.is_file() else b""
        _write(path, before + settled_line(settled))
    return settled


def entries(workspace: Workspace, model: str, since_version: str | None = None) -> list[str]:
    """A model's changelog entries as Markdown, newest first. Raises `WorkspaceError` for an unknown version."""
    versions = workspace.versions(model)
    if since_version is not None:
        workspace.spec(model, since_version)
        versions = versions[versions.index(since_version) + 1 :]
    names = [f"changelog/{entry_name(model, version)}" for version in reversed(versions)]
    return [workspace.read_text(name) for name in names if (workspace.root / name).is_file()]


class _Examination:
    """The conditions of one release, each examined as far as what it needs is there."""

    def __init__(self, workspace: Workspace, request: Request) -> None:
        self._workspace = workspace
        self._request = request
        self._spec = workspace.spec(request.model)
        self._manifest = read_published_manifest(workspace)
        self._previous = _last_released(workspace, self._manifest, request.model, request.version)
        self._cases = generate(self._spec)
        self._answers: list[dict[str, Any]] = []
        self._contract: list[ContractChange] = []
        self._moves = _NO_MOVES

    def conditions(self) -> list[Condition]:
        """All of them, in the order in which a person would mend them."""
        agreement = self._agreement()
        return [
            Condition("the version is not released yet", tuple(self._released())),
            Condition("both implementations declare the version and agree on all cases", tuple(agreement)),
            Condition("published files are untouched", tuple(self._untouched())),
            Condition("every clause is cited by both and reached by a case", tuple(self._clauses(bool(agreement)))),
            Condition("case identifiers keep their inputs", tuple(_readable(self._identifiers))),
            Condition("the version step fits what changed", tuple(_readable(lambda: self._step(bool(agreement))))),
        ]

    def files(self, key: Path | None) -> dict[str, bytes]:
        """Vectors, changelog entry and manifest, by path in the workspace; the signature too if there is a key."""
        model, version = self._request.model, self._request.version
        vectors = render_vectors(self._spec, self._cases, self._answers)
        changelog = render_entry(self._entry(sha256_hex(vectors))).encode("utf-8")
        listed = msgspec.structs.replace(
            entry(vectors, self._spec, len(self._cases)),
            changelog_sha256=sha256_hex(changelog),
            audit_sha256=self._audit_digest(),
            conventions_sha256=conventions_digest(self._workspace),
        )
        manifest = render_manifest(Manifest({**self._manifest.files, vectors_name(model, version): listed}))
        files = {
            f"vectors/{vectors_name(model, version)}": vectors,
            f"changelog/{entry_name(model, version)}": changelog,
            f"vectors/{MANIFEST}": manifest,
        }
        if key is not None:
            about = {name: getattr(self._request, name) for name in ("model", "version", "date", "approver", "why")}
            files[f"vectors/{signature_name(manifest)}"] = sign_manifest(manifest, about, key)
        return files

    def _audit_digest(self) -> str | None:
        """The digest of this version's audit, if there is one."""
        path = self._workspace.root / "vectors" / audit_name(self._request.model, self._request.version)
        return _digest(path) if path.is_file() else None

    def _released(self) -> list[str]:
        listed = self._manifest.files.get(vectors_name(self._request.model, self._request.version))
        return [f"{self._request.version} is released"] if listed and listed.changelog_sha256 else []

    def _agreement(self) -> list[str]:
        problems = []
        for result in check_model(self._workspace, self._spec, self._cases):
            if result.broken:
                problems.append(result.broken)
            elif not result.ok:
                names = ", ".join(finding.case.id for finding in result.findings[:3])
                problems.append(f"{len(result.findings)} of {result.cases} cases do not agree: {names}; see the check")
        if not problems:
            reference = load(self._workspace, "reference", self._spec)
            runs = [reference.run([case.inputs for case in self._cases]).columns for _ in range(2)]
            self._answers, again = (run.answers(self._spec.outputs) for run in runs)
            if json_text(self._answers) != json_text(again):
                problems.append("the reference answers otherwise each time that it is asked")
        return problems

    def _untouched(self) -> list[str]:
        name = vectors_name(self._request.model, self._request.version)
        if not self._manifest.files:
            there = list(self._workspace.root.glob("vectors/**/*.jsonl"))
            return [f"vectors/{MANIFEST} is missing, and {len(there)} published files are there"] if there else []
        problems = verify(self._workspace, [self._request.model])
        exported = name in self._manifest.files
        return [str(problem) for problem in problems if exported or problem.path != f"vectors/{name}"]

    def _clauses(self, unable: bool) -> list[str]:
        if unable:
            return [UNEXAMINED]
        clauses, model = self._spec.clauses, self._request.model
        problems = []
        for folder in FOLDERS.values():
            found: set[str] = {
                clause for file in cited(self._workspace, folder, model, clauses).values() for clause in file
            }
            missing = [clause for clause in clauses if clause not in found]
            problems += [f"{folder} does not cite {', '.join(missing)}"] if missing else []
        return problems + self._unreached()

    def _unreached(self) -> list[str]:
        folder = self._workspace.root / FOLDERS["reference"]
        inputs = [case.inputs for case in self._cases]
        ran = run_lines(folder, lambda: load(self._workspace, "reference", self._spec).run(inputs))
        clauses = self._spec.clauses
        found = cited(self._workspace, FOLDERS["reference"], self._request.model, clauses)
        hit = reached(found, ran)
        missed = [clause for clause in clauses if any(clause in file for file in found.values()) and clause not in hit]
        return [f"no case reaches {', '.join(missed)}"] if missed else []

    def _identifiers(self) -> list[str]:
        """C-15: within a major version an identifier never stands for other inputs."""
        now = {case.id: case.digest for case in self._cases}
        asked, name = version_order(self._request.version), self._request.model
        earlier = [version for version in self._workspace.versions(name) if version_order(version) < asked]
        same_major = [version for version in earlier if version_order(version)[0] == asked[0]]
        published = [version for version in same_major if vectors_name(name, version) in self._manifest.files]
        return [problem for version in published if (problem := self._renumbered(version, now))]

    def _renumbered(self, version: str, now: Mapping[str, str]) -> str | None:
        other = [
            case["id"]
            for case in self._old_cases(version)
            if now.get(case["id"], case["inputsSha256"]) != case["inputsSha256"]
        ]
        if not other:
            return None
        shown = ", ".join(other[:3]) + (", …" if len(other) > 3 else "")
        hint = "keep the seed and the draws, give a new edge a number that was never used, or release a major version"
        return f"{len(other)} identifiers stand for other inputs than in {version} ({shown}): {hint}"

    def _step(self, unable: bool) -> list[str]:
        if self._previous is None:
            return []
        if unable:
            return [UNEXAMINED]
        old = self._workspace.spec(self._request.model, self._previous)
        cases = self._old_cases(self._previous)
        inputs = accepted(self._spec, cases)
        answers = (
            load(self._workspace, "reference", self._spec)
            .run(list(inputs.values()))
            .columns.answers(self._spec.outputs)
        )
        self._contract = contract_changes(old, self._spec)
        self._moves = moves(cases, dict(zip(inputs, answers, strict=True)), old.outputs)
        return self._step_problems(required_step(self._contract, self._moves))

    def _step_problems(self, step: Step) -> list[str]:
        assert self._previous is not None
        fitting = [larger.next(self._previous) for larger in Step if larger <= step]
        if self._request.version in fitting:
            return []
        asked = _step_between(self._previous, self._request.version)
        reasons = [change.what for change in self._contract if change.step < asked]
        if self._moves.moved:
            reasons.append(f"{self._moves.moved} of {self._moves.asked} published cases have another answer")
        because = f" ({'; '.join(reasons)})" if reasons else ""
        versions = " or ".join(reversed(fitting))
        return [f"after {self._previous} this must be {versions}, not {self._request.version}{because}"]

    def _old_cases(self, version: str) -> list[dict[str, Any]]:
        path = f"vectors/{vectors_name(self._request.model, version)}"
        return list(read_vectors(self._workspace.read_bytes(path), path))[1:]

    def _entry(self, vectors_digest: str) -> Entry:
        model, previous = self._request.model, self._previous
        old = self._workspace.spec(model, previous) if previous else None
        return Entry(
            model=model,
            version=self._request.version,
            date=self._request.date,
            why=self._request.why,
            approver=self._request.approver,
            previous=previous,
            step=_step_between(previous, self._request.version) if previous else None,
            contract=self._contract,
            moves=self._moves,
            clauses=clause_changes(old, self._spec) if old else _NO_CHANGES,
            settled=_settled(self._workspace, model, previous),
            spec_digest=self._spec.digest,
            vectors_digest=vectors_digest,
            cases=len(self._cases),
        )


def _readable(examine_it: Callable[[], list[str]]) -> list[str]:
    """What stands against a condition; published files that cannot be read stand against it too."""
    try:
        return examine_it()
    except (VectorsError, WorkspaceError) as error:
        return [str(error)]
    except (KeyError, TypeError, AttributeError):
        return ["cannot be examined: a published vectors file has lines that are no cases"]


def _manifest_bytes(workspace: Workspace) -> bytes:
    path = workspace.root / "vectors" / MANIFEST
    return path.read_bytes() if path.is_file() else b""


def _in_the_way(workspace: Workspace, files: Mapping[str, bytes]) -> list[str]:
    """Files that a release would write and that are there with other content."""
    manifest = f"vectors/{MANIFEST}"
    there = [name for name in files if name != manifest and (workspace.root / name).exists()]
    other = [name for name in there if (workspace.root / name).read_bytes() != files[name]]
    return [f"{name} is there with other content; remove it, or export again" for name in other]


def _read_journal(journal: Path) -> dict[str, str]:
    """What an interrupted release was writing. Raises `WorkspaceError` if the journal names other files than a
    release's.
    """
    try:
        created = json.loads(journal.read_bytes())
    except ValueError:
        return {}  # killed while the journal itself was written: nothing else was yet
    names = re.compile(r"(vectors|changelog)/[a-z0-9-]+/[0-9a-f.]+\.(jsonl|md|dsse\.json)")
    if not isinstance(created, dict) or not all(names.fullmatch(name) for name in created):
        raise WorkspaceError("is no journal of a release", where=JOURNAL, hint="remove it")
    return created


def _asked_problems(request: Request) -> list[str]:
    problems = []
    if not request.why.strip():
        problems.append("the why is empty: say it in a sentence that a user of the answers understands")
    if not request.approver.strip():
        problems.append("the approver is empty")
    try:
        f"{request.why}{request.approver}".encode()
    except UnicodeEncodeError:
        problems.append("the why or the approver is not UTF-8")
    return problems


def _last_released(workspace: Workspace, manifest: Manifest, model: str, version: str) -> str | None:
    """The newest version of a model, before this one, whose vectors are published."""
    earlier = [v for v in workspace.versions(model) if version_order(v) < version_order(version)]
    published = [v for v in earlier if vectors_name(model, v) in manifest.files]
    return published[-1] if published else None


def _step_between(previous: str, version: str) -> Step:
    return next(step for step in Step if version_order(previous)[step] != version_order(version)[step])


def _settled(workspace: Workspace, model: str, previous: str | None) -> list[Settled]:
    """The findings settled since the last release."""
    path = f"changelog/{settled_name(model)}"
    if not (workspace.root / path).is_file():
        return []
    newer = [v for v in workspace.versions(model) if previous is None or version_order(v) >= version_order(previous)]
    return since(read_settled(workspace.read_bytes(path), path), newer)


def _listed_digests(workspace: Workspace) -> set[str]:
    """Digests of everything that the manifest on disk vouches for, its own signature's name among them."""
    path = workspace.root / "vectors" / MANIFEST
    if not path.is_file():
        return set()
    content = path.read_bytes()
    try:
        files = read_published_manifest(workspace).files.values()
    except VectorsError:
        return set()
    listed = {digest for entry in files for digest in (entry.sha256, entry.changelog_sha256) if digest}
    signature = workspace.root / "vectors" / signature_name(content)
    return listed | ({_digest(signature)} if signature.is_file() else set())


def _digest(path: Path) -> str:
    return sha256_hex(path.read_bytes())


def _open_journal(path: Path, content: bytes) -> None:
    """Written in place: half a journal says that nothing else was written yet."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_file(path, content)
