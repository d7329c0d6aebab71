"""What a team puts in its CI to block a release: agreement, vectors, changelog, immutability and version rules in
one go.

Each rule is examined whatever the others found. Nothing is written. What came before is taken from the manifest's
digests, and, given a git commit, from that commit too, so that a change which rewrites a file and its digest
together is still seen.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from concordance.check import Finding, ModelCheck, check_model
from concordance.errors import UnusableInputError
from concordance.publish import Problem, read_published_manifest, verify
from concordance.release import UNEXAMINED, Request, examine
from concordance.vectors import MANIFEST, read_manifest, vectors_name
from concordance.workspace import Workspace

_VERSION_RULES: Final = (
    "every clause is cited by both and reached by a case",
    "case identifiers keep their inputs",
    "the version step fits what changed",
)


@dataclass(frozen=True)
class Rule:
    """One rule of the gate and what breaks it. A problem's path may end in `:line`."""

    name: str
    problems: tuple[Problem, ...]


@dataclass(frozen=True)
class Gate:
    """The result: rules, and the checks that agreement was judged by."""

    rules: tuple[Rule, ...]
    checks: tuple[ModelCheck, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing blocks."""
        return not any(rule.problems for rule in self.rules)


def run_gate(workspace: Workspace, models: Sequence[str], base: str | None = None) -> Gate:
    """Examine every rule. Raises `UnusableInputError` if `base` is no commit of the workspace's repository."""
    checks = [result for model in models for result in check_model(workspace, workspace.spec(model))]
    rules = [
        Rule("implementations agree", tuple(_disagreements(checks))),
        Rule("vectors are as published", tuple(verify(workspace, models))),
        Rule("every spec version has a changelog entry", tuple(changelog_problems(workspace, models))),
        Rule("version rules hold", tuple(_version_problems(workspace, models))),
    ]
    if base is not None:
        rules.append(Rule(f"nothing published at {base} changed", tuple(_changed_since(workspace, models, base))))
    return Gate(tuple(rules), tuple(checks))


def changelog_problems(workspace: Workspace, models: Sequence[str]) -> Iterator[Problem]:
    """Spec versions that are not released: a spec changed, and no entry says why."""
    manifest = read_published_manifest(workspace)
    for model in models:
        for version in workspace.versions(model):
            listed = manifest.files.get(vectors_name(model, version))
            if listed is None or listed.changelog_sha256 is None:
                what = f"has no changelog entry; run `concordance release {model} {version} --why … --approver …`"
                yield Problem(f"specs/{model}/{version}.md", what)
            elif workspace.spec(model, version).digest != listed.spec_sha256:
                what = "changed after its release; write the change into a spec of a new version"
                yield Problem(f"specs/{model}/{version}.md", what)


def _disagreements(checks: Sequence[ModelCheck]) -> Iterator[Problem]:
    for result in checks:
        path = f"{_folder(result)}/{result.model.replace('-', '_')}.py"
        if result.broken:
            yield Problem(path, result.broken)
        for finding in result.findings:
            yield Problem(path, f"{finding.case.id} {finding.outcome}: {_told(finding)}; replay: {finding.replay}")


def _folder(result: ModelCheck) -> str:
    return "engine" if result.implementation == "engine" else result.implementation


def _told(finding: Finding) -> str:
    if not finding.differences:
        return "; ".join(finding.errors)
    first = finding.differences[0]
    more = finding.left_out + len(finding.differences) - 1
    others = f" and {more} more" if more else ""
    return f"{first.path} expected {first.expected}, got {first.got}{others} ({finding.clause})"


def _version_problems(workspace: Workspace, models: Sequence[str]) -> Iterator[Problem]:
    # Those of a released version too: what the manifest says of itself is no proof that it was examined.
    for model in models:
        version = workspace.versions(model)[-1]
        for condition in examine(workspace, Request(model, version, "-", "-", "")).conditions:
            if condition.name in _VERSION_RULES:
                for problem in condition.problems:
                    if problem == UNEXAMINED:
                        continue  # the first rule says why
                    yield Problem(f"specs/{model}/{version}.md", problem)


def _changed_since(workspace: Workspace, models: Sequence[str], base: str) -> Iterator[Problem]:
    """Released files that differ from what they were at a commit."""
    prefix = _git(workspace, "rev-parse", "--show-prefix").decode().rstrip("\n")
    commit = _git(workspace, "rev-parse", "--verify", "--quiet", f"{base}^{{commit}}").decode().strip()
    then = _released_then(workspace, commit, prefix)
    everything = set(models) >= set(workspace.models)  # then also models that are gone
    for name in then:
        model, _, version = name.removesuffix(".jsonl").rpartition("/")
        if not everything and model not in models:
            continue
        for path in (f"vectors/{name}", f"specs/{model}/{version}.md", f"changelog/{model}/{version}.md"):
            old = _git(workspace, "show", f"{commit}:{prefix}{path}")
            file = workspace.root / path
            if not file.is_file():
                yield Problem(path, f"was published at {base} and is gone")
            elif file.read_bytes() != old:
                yield Problem(path, f"was published at {base} and has changed")


def _released_then(workspace: Workspace, commit: str, prefix: str) -> list[str]:
    path = f"vectors/{MANIFEST}"
    listed = _git(workspace, "ls-tree", "--name-only", commit, "--", path)
    if not listed:
        return []
    manifest = read_manifest(_git(workspace, "show", f"{commit}:{prefix}{path}"), f"{commit[:12]}:{path}")
    return [name for name, entry in manifest.files.items() if entry.changelog_sha256]


def _git(workspace: Workspace, *arguments: str) -> bytes:
    try:
        done = subprocess.run(["git", *arguments], cwd=workspace.root, capture_output=True, check=False)
    except FileNotFoundError:
        raise UnusableInputError("--base needs git, which is not installed") from None
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().split("\n")[0] or "no such commit"
        raise UnusableInputError(said, where=f"git {arguments[0]}", hint="--base takes a commit of this repository")
    return done.stdout
