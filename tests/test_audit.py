"""The audit injects real faults, tells caught from survived, and lets nothing survive without a reason."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import MODELS, ROOT, Run
from hypothesis import given, settings
from hypothesis import strategies as st
from miniatures import REFERENCE, write_workspace

from concordance import AnswerKey
from concordance.audit import Injected, audit, read_audit, read_reviewed
from concordance.citations import cited_lines
from concordance.errors import VectorsError
from concordance.faults import faults
from concordance.implementations import FOLDERS
from concordance.numbers import sha256_hex
from concordance.workspace import Workspace

SOURCE = '''"""Module."""

from collections.abc import Mapping

LIMIT: int = 3


def double(x: int, names: Mapping[str, int]) -> int:
    """Twice."""
    return 2 * x if x < LIMIT else -x
'''


def test_faults_are_small_changes_of_what_runs() -> None:
    found = {(fault.before, fault.after) for fault in faults(SOURCE)}
    assert {("3", "4"), ("2", "3"), ("2 * x", "2 / x"), (" < LIMIT", " <= LIMIT")} <= found
    assert not any("Mapping" in before or "Twice" in before or "Module" in before for before, _ in found)


@settings(max_examples=20)
@given(st.integers(1, 9), st.integers(1, 9))
def test_every_fault_compiles_differs_and_is_listed_once(a: int, b: int) -> None:
    source = f"def f(x):\n    if x >= {a} and not x == {b}:\n        return x + {b}\n    return [x, {a}]\n"
    found = [fault.source for fault in faults(source)]
    assert len(found) == len(set(found)) > 8
    for faulty in found:
        assert faulty != source
        compile(faulty, "fault", "exec")


def parking_audit(root: Path, reviewed: str = "", reference: str = REFERENCE) -> list[Injected]:
    write_workspace(root, reference=reference)
    (root / "vectors/parking").mkdir(parents=True, exist_ok=True)
    (root / "vectors/parking/audit.toml").write_text(reviewed)
    workspace = Workspace(root)
    return audit(workspace, workspace.spec("parking"), workers=2).injected


def test_wrong_answers_kill_and_crashes_are_errors(tmp_path: Path) -> None:
    found = {(i.file, i.before, i.after): i for i in parking_audit(tmp_path)}
    halved = found["reference_impl/parking.py", "2", "3"]
    assert (halved.outcome, halved.kills > 50) == ("killed", True)
    assert halved.killers[0].startswith("parking-")
    assert found["engine/parking.py", "hours + 1", "hours - 1"].outcome in ("killed", "errored")


def test_a_hang_and_a_dead_process_are_errors_and_stop_nothing(tmp_path: Path) -> None:
    trouble = (
        "    import os\n\n"
        '    while inputs["hours"] > 100 - 0:\n        pass\n'
        '    if inputs["hours"] == 99:\n        os._exit(1)\n'
    )
    deadly = REFERENCE.replace('    """PK-1 to PK-4."""\n', '    """PK-1 to PK-4."""\n' + trouble)
    found = parking_audit(tmp_path, reference=deadly)
    outcomes = {(i.before, i.after): i.outcome for i in found}
    assert outcomes[" > 100 - 0", " >= 100 - 0"] == "survived"
    assert outcomes["100", "101"] == "survived"
    assert "errored" in set(outcomes.values())
    assert len(found) > 60


def test_a_survivor_is_a_finding_until_its_reason_is_written(concordance: Run, tmp_path: Path) -> None:
    idle = REFERENCE.replace("    hours, rate", "    unused = 5\n    hours, rate")
    root = write_workspace(tmp_path, reference=idle)
    done = concordance("audit", "parking", cwd=root)
    assert done.returncode == 1
    assert "SURVIVED  reference_impl/parking.py:10 in compute: `5` -> `6`" in done.stdout
    report = json.loads(concordance("audit", "parking", "--format", "json", cwd=root).stdout)
    survivors = [s for s in report["models"][0]["survivors"] if not s["reason"]]
    entries = "".join(
        f"[[equivalent]]\nfile = {json.dumps(s['file'])}\nfunction = {json.dumps(s['function'])}\n"
        f'before = {json.dumps(s["before"])}\nafter = {json.dumps(s["after"])}\nreason = "Nothing reads it."\n'
        for s in survivors
    )
    (root / "vectors/parking").mkdir(parents=True)
    (root / "vectors/parking/audit.toml").write_text(entries)
    explained = concordance("audit", "parking", cwd=root)
    assert explained.returncode == 0, explained.stdout
    assert "Every fault is caught or explained." in explained.stdout
    (root / "vectors/parking/audit.toml").write_text(
        entries + '[[equivalent]]\nfile = "engine/parking.py"\nfunction = "gone"\nreason = "It was here once."\n'
    )
    stale = concordance("audit", "parking", cwd=root)
    assert stale.returncode == 1
    assert "EXPLAINS NOTHING  vectors/parking/audit.toml: engine/parking.py gone" in stale.stdout


def test_a_malformed_list_names_its_file(tmp_path: Path) -> None:
    root = write_workspace(tmp_path)
    (root / "vectors/parking").mkdir(parents=True)
    (root / "vectors/parking/audit.toml").write_text('[[equivalent]]\nfile = "engine/parking.py"\n')
    with pytest.raises(VectorsError, match=r"^vectors/parking/audit\.toml: .*reason"):
        read_reviewed(Workspace(root), "parking")


def test_a_written_audit_is_held_to_its_digest(concordance: Run, tmp_path: Path) -> None:
    root = write_workspace(tmp_path)
    concordance("export", cwd=root)
    concordance("audit", "parking", "--write", cwd=root)
    assert concordance("verify", cwd=root).returncode == 0
    path = root / "vectors/parking/1.0.0.audit.json"
    path.write_text(path.read_text().replace('"killed": ', '"killed": 9'))
    done = concordance("verify", cwd=root)
    assert done.returncode == 1
    assert "vectors/parking/1.0.0.audit.json: is not the audit that the manifest lists" in done.stdout


def test_a_citation_stands_for_the_code_that_it_is_on() -> None:
    source = (
        '"""About X-1."""\n\n\ndef f(x):\n    """X-2."""\n    if x:  # X-3\n        return 1\n    # X-4\n    return 2\n'
    )
    assert cited_lines(source, ["X-1", "X-2", "X-3", "X-4", "X-5"]) == {
        "X-1": {4, 5, 6, 7, 8, 9},
        "X-2": {6, 7, 9},
        "X-3": {6, 7},
        "X-4": {9},
    }


@pytest.mark.parametrize("model", MODELS)
def test_the_published_audit_is_of_this_code_and_leaves_nothing_unexplained(answer_key: AnswerKey, model: str) -> None:
    published = read_audit(answer_key.workspace, model, answer_key.spec(model).version)
    assert published is not None
    for file, digest in published.sources.items():
        assert sha256_hex((ROOT / file).read_bytes()) == digest, file
    assert (published.engine["unexplained"], published.reference["unexplained"]) == (0, 0)


def test_every_fault_in_a_model_of_ours_is_caught_or_explained(answer_key: AnswerKey) -> None:
    """The smallest of the three; `make audit` does all, and tries survivors on further inputs: that takes minutes."""
    found = audit(answer_key.workspace, answer_key.spec("relocation"), workers=1)
    assert found.unexplained == []
    assert found.stale == []
    for side in FOLDERS:
        counts = found.counts(side)
        assert counts["killed"] + counts["errored"] + counts["equivalent"] == counts["faults"] > 200
