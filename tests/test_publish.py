"""Vectors are written all at once or not at all, and verified to the byte."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import MODELS, ROOT, Run
from miniatures import SPEC, WRONG, write_workspace

from concordance import AnswerKey
from concordance.atomic import recover
from concordance.publish import export, verify
from concordance.vectors import read_vectors
from concordance.workspace import Workspace

FILE_EVENTS = {
    "open",
    "os.rename",
    "os.mkdir",
    "os.remove",
    "os.rmdir",
    "shutil.copytree",
    "shutil.rmtree",
    "ctypes.dlsym",
}


def killed_export(root: Path, moment: int) -> int:
    """Export in a process that kills itself at its `moment`-th file operation; its exit status, -9 if it was killed."""
    child = os.fork()
    if child == 0:
        left = moment

        def kill_at(event: str, arguments: tuple[object, ...]) -> None:
            nonlocal left
            if event in FILE_EVENTS and (event == "ctypes.dlsym" or str(root) in str(arguments[0])):
                left -= 1
                if left == 0:
                    os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(kill_at)
        workspace = Workspace(root)
        export(workspace, workspace.models)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def two_models(root: Path, seed: str) -> Path:
    """A workspace with two models, whose vectors depend on the seed."""
    write_workspace(root, spec=SPEC.replace("parking/1", seed))
    for part, extension in (("engine", ".py"), ("reference_impl", ".py")):
        (root / part / f"garage{extension}").write_text((root / part / f"parking{extension}").read_text())
    garage = SPEC.replace("parking/1", seed).replace('model = "parking"', 'model = "garage"')
    (root / "specs/garage").mkdir(exist_ok=True)
    (root / "specs/garage/1.0.0.md").write_text(garage)
    return root


def exported(root: Path, seed: str) -> Path:
    """The same with its vectors written."""
    workspace = Workspace(two_models(root, seed))
    assert export(workspace, workspace.models).ok
    return root


def snapshot(root: Path) -> dict[str, bytes]:
    folder = root / "vectors"
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_every_published_byte_is_reproduced(concordance: Run) -> None:
    done = concordance("verify")
    assert (done.returncode, done.stderr) == (0, "")
    assert "every byte reproduced" in done.stdout


@pytest.mark.parametrize("model", MODELS)
def test_a_vectors_file_says_what_it_is_and_explains_its_flags(answer_key: AnswerKey, model: str) -> None:
    version = answer_key.spec(model).version
    about, *cases = read_vectors((ROOT / f"vectors/{model}/{version}.jsonl").read_bytes(), "v")
    assert list(about) == [
        *("dataset", "model", "specVersion", "specDigest", "count", "tolerance", "seed", "flags", "provenance"),
        *("specUrl", "disclaimer"),
    ]
    assert about["count"] == len(cases) == 250
    assert "green" not in about["provenance"]
    for case in cases:
        assert list(case)[:5] == ["id", "kind", "inputs", "inputsSha256", "expected"]
        assert ("rationale" in case) == ("flags" in case) == (case["kind"] != "random")
        assert set(case.get("flags", [])) <= set(about["flags"])
        assert set(about["flags"]) == {flag for other in cases for flag in other.get("flags", [])}


def test_export_writes_once_and_then_has_nothing_to_do(concordance: Run, tmp_path: Path) -> None:
    root = two_models(tmp_path, "one")
    first, second = concordance("export", cwd=root), concordance("export", cwd=root)
    written = ["wrote vectors/garage/1.0.0.jsonl", "wrote vectors/parking/1.0.0.jsonl", "wrote vectors/manifest.json"]
    assert first.stdout.splitlines() == written
    assert second.stdout == "vectors are up to date\n"
    assert concordance("verify", cwd=root).returncode == 0


def test_export_refuses_while_the_implementations_disagree(concordance: Run, tmp_path: Path) -> None:
    root = write_workspace(tmp_path, WRONG["wrong sign"])
    done = concordance("export", cwd=root)
    assert done.returncode == 1
    assert "BLOCKED: parking" in done.stdout
    assert "nothing was written" in done.stderr
    assert not (root / "vectors").exists()


def test_the_builtin_workspace_is_read_only(concordance: Run, tmp_path: Path) -> None:
    done = concordance("export", cwd=tmp_path)
    assert done.returncode == 2
    assert "built-in workspace is read-only" in done.stderr


def test_a_kill_at_any_moment_leaves_the_old_vectors_or_the_new_ones(tmp_path: Path) -> None:
    old, new = snapshot(exported(tmp_path / "old", "old")), snapshot(exported(tmp_path / "new", "new"))
    root = exported(tmp_path / "killed", "old")
    two_models(root, "new")
    seen = set()
    for moment in range(1, 200):
        status = killed_export(root, moment)
        left = snapshot(root)
        assert left in (old, new), f"a mixture at moment {moment}"
        if status == 0:
            break
        assert status == -signal.SIGKILL
        seen.add(left == new)
        if left == new:  # the next attempt starts from the old vectors again
            exported(root, "old")
            two_models(root, "new")
    assert (status, seen, left == new) == (0, {False, True}, True)
    assert [path.name for path in root.iterdir() if path.name.startswith(".vectors")] == []


def test_the_next_export_says_what_it_cleared_away(concordance: Run, tmp_path: Path) -> None:
    root = exported(tmp_path, "old")
    (root / ".vectors.staged").mkdir()
    done = concordance("export", cwd=root)
    assert (done.returncode, done.stderr) == (0, "cleared .vectors.staged, left by an interrupted run\n")
    assert not (root / ".vectors.staged").exists()


def test_without_an_exchange_in_one_step_the_next_run_puts_the_old_vectors_back(tmp_path: Path) -> None:
    root = exported(tmp_path, "old")
    old = snapshot(root)
    (root / "vectors").rename(root / ".vectors.replaced")  # what a kill between the two renames leaves
    recover(root / "vectors")
    assert snapshot(root) == old


def test_writers_at_the_same_time_leave_one_whole_result(concordance: Run, tmp_path: Path) -> None:
    root = two_models(tmp_path, "one")
    command = [sys.executable, "-m", "concordance", "--workspace", str(root), "export"]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(4)]
    assert [process.wait(60) for process in running] == [0, 0, 0, 0]
    assert concordance("verify", cwd=root).returncode == 0


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (lambda root: damage_byte(root / "vectors/parking/1.0.0.jsonl"), "has another SHA-256"),
        (lambda root: (root / "vectors/parking/1.0.0.jsonl").unlink(), "parking/1.0.0.jsonl: is missing"),
        (lambda root: (root / "vectors/manifest.json").unlink(), "manifest.json: is missing"),
        (
            lambda root: (root / "vectors/parking/0.9.0.jsonl").write_text("{}\n"),
            "parking/0.9.0.jsonl: belongs to no spec",
        ),
        (lambda root: damage_byte(root / "specs/parking/1.0.0.md", b"What does", b"How much"), "has changed since"),
    ],
)
def test_verify_names_what_is_not_as_published(tmp_path: Path, damage: object, says: str) -> None:
    root = exported(tmp_path, "one")
    workspace = Workspace(root)
    assert verify(workspace, workspace.models) == []
    damage(root)  # type: ignore[operator]
    problems = verify(Workspace(root), workspace.models)
    assert says in "\n".join(map(str, problems))


def damage_byte(path: Path, old: bytes = b'"kind":"edge"', new: bytes = b'"kind":"edgy"') -> None:
    path.write_bytes(path.read_bytes().replace(old, new, 1))


def test_verify_names_the_line_that_an_implementation_no_longer_gives(tmp_path: Path) -> None:
    root = write_workspace(tmp_path)
    export(Workspace(root), ["parking"])
    reference = (root / "reference_impl/parking.py").read_text()
    (root / "reference_impl/parking.py").write_text(reference.replace("if inputs", "if not inputs"))
    problems = verify(Workspace(root), ["parking"])
    assert str(problems[0]).startswith("vectors/parking/1.0.0.jsonl:3: differs from what is computed now, in ")


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("{", 1, "not JSON"),
        ('{\n  "files": {,}\n}', 2, "not JSON"),
        ('{"files": 5}', 1, 'must be an object with the one key "files"'),
        ('{"files": {\n"a": {"sha256": "x", "cases": 1, "specSha256": "y"},\n"b": {"sha256": 5}}}', 3, "b: "),
        ('{"files": {\n"b": {"sha256": "x", "cases": 1, "specSha256": "y", "more": 1}}}', 2, "unknown field `more`"),
    ],
)
def test_a_malformed_manifest_names_file_and_line(
    concordance: Run, tmp_path: Path, text: str, line: int, says: str
) -> None:
    root = write_workspace(tmp_path)
    (root / "vectors").mkdir()
    (root / "vectors/manifest.json").write_text(text)
    for command in ("verify", "export"):
        done = concordance(command, cwd=root)
        assert done.returncode == 2
        assert f"vectors/manifest.json:{line}: " in done.stderr
        assert says in done.stderr
        assert len(done.stderr.splitlines()) == 1


def test_the_manifest_lists_digests_and_counts(answer_key: AnswerKey) -> None:
    manifest = json.loads((ROOT / "vectors/manifest.json").read_text())
    assert {name: entry["cases"] for name, entry in manifest["files"].items()} == {
        f"{model}/{version}.jsonl": 250 for model in MODELS for version in answer_key.workspace.versions(model)
    }
