"""What shipped never changes, what changes says why, and a release happens wholly or not at all."""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from conftest import ROOT, Run
from miniatures import write_workspace

from concordance.changelog import entry_name
from concordance.release import Request, commit, examine, recover
from concordance.vectors import read_vectors
from concordance.workspace import Workspace

WHY = ("--why", "Because.", "--approver", "ada")


def edit(path: Path, *changes: tuple[str, str]) -> None:
    """Replace each text, which must be there."""
    text = path.read_text()
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    path.write_text(text)


def new_version(
    root: Path, version: str, *changes: tuple[str, str], model: str = "parking", old: str = "1.0.0"
) -> None:
    """Write the spec of a version from an older one, and let both implementations declare it."""
    spec = (root / f"specs/{model}/{old}.md").read_text()
    (root / f"specs/{model}/{version}.md").write_text(spec.replace(f'version = "{old}"', f'version = "{version}"'))
    edit(root / f"specs/{model}/{version}.md", *changes)
    for folder in ("engine", "reference_impl"):
        edit(root / f"{folder}/{model}.py", (f'SPEC_VERSION = "{old}"', f'SPEC_VERSION = "{version}"'))


def cite_all(root: Path) -> None:
    """The miniature's implementations cite their clauses one by one."""
    for folder in ("engine", "reference_impl"):
        edit(root / f"{folder}/parking.py", ('"""PK-1 to PK-4.', '"""PK-1, PK-2, PK-3, PK-4.'))


@pytest.fixture
def parking(tmp_path: Path, concordance: Run) -> Path:
    """The miniature's workspace with 1.0.0 released."""
    root = write_workspace(tmp_path / "parking")
    cite_all(root)
    done = concordance("release", "parking", "1.0.0", *WHY, cwd=root)
    assert done.returncode == 0, done.stdout + done.stderr
    return root


def released(root: Path) -> dict[str, bytes]:
    """Every file that a release writes."""
    folders = (root / "vectors", root / "changelog")
    return {str(path.relative_to(root)): path.read_bytes() for f in folders for path in f.rglob("*") if path.is_file()}


def test_the_story_of_a_changed_formula(concordance: Run, workspace_copy: Path) -> None:
    root, model, old = workspace_copy, "relocation", Workspace(workspace_copy).versions("relocation")[-1]
    patch = f"{old.rpartition('.')[0]}.{int(old.rpartition('.')[2]) + 1}"
    # The values that sources printed under the old formula are no longer those of the model.
    spec = root / f"specs/relocation/{old}.md"
    original = spec.read_text()
    spec.write_text(re.sub(r"^(source|printed) = .*\n", "", original, flags=re.M))
    # The gain of a month counts from the middle of it: one clause, and each implementation for itself.
    new_version(
        root,
        patch,
        ("with m · `annualNetDelta` / 12 >= `movingCosts`", "with m · `annualNetDelta` / 11 >= `movingCosts`"),
        model=model,
        old=old,
    )
    edit(root / "engine/relocation.py", ("-(-12 * moving //", "-(-11 * moving //"))
    edit(
        root / "reference_impl/relocation.py",
        ("-(-MONTHS_A_YEAR * moving_costs // net_delta)", "-(-11 * moving_costs // net_delta)"),
    )
    spec.write_text(original)
    refused = concordance("release", model, patch, *WHY, cwd=root)
    assert refused.returncode == 1
    assert re.search(
        rf"after {old} this must be 2\.0\.0, not {patch} \(\d+ of 250 published cases have another answer\)",
        refused.stdout,
    )
    assert not (root / f"changelog/relocation/{patch}.md").exists()

    (root / f"specs/relocation/{patch}.md").rename(root / "specs/relocation/2.0.0.md")
    for path in ("specs/relocation/2.0.0.md", "engine/relocation.py", "reference_impl/relocation.py"):
        edit(root / path, (f'"{patch}"', '"2.0.0"'))
    accepted = concordance("release", model, "2.0.0", "--why", "Eleven paydays a year.", "--approver", "ada", cwd=root)
    assert accepted.returncode == 0, accepted.stdout + accepted.stderr
    entry = (root / "changelog/relocation/2.0.0.md").read_text()
    before, after = (
        {case["id"]: case for case in list(read_vectors((root / f"vectors/relocation/{v}.jsonl").read_bytes(), v))[1:]}
        for v in (old, "2.0.0")
    )
    moves = {
        i: after[i]["expected"]["breakEvenMonths"] - case["expected"]["breakEvenMonths"] for i, case in before.items()
    }
    moved = sorted(abs(move) for move in moves.values() if move)
    assert f"{len(moved)} of the 250 published cases of {old} have another answer" in entry
    median = moved[len(moved) // 2] if len(moved) % 2 else (moved[len(moved) // 2 - 1] + moved[len(moved) // 2]) / 2
    assert f"| `breakEvenMonths` | {len(moved)} | {moved[-1]} | {median:g} |" in entry
    first = next(i for i, move in moves.items() if move)
    was, now = (cases[first]["expected"]["movingCostRecoveryMonths"] for cases in (before, after))
    assert f"- `{first}` " in entry
    assert f"`movingCostRecoveryMonths` was {was}, is {now}." in entry
    assert entry.count("\n- `relocation-") == 3
    assert "- reworded: RL-3" in entry
    assert "Eleven paydays a year." in entry
    assert f"Approved by ada. Follows {old} (major)." in entry
    assert concordance("gate", model, cwd=root).returncode == 0

    vectors = root / f"vectors/relocation/{old}.jsonl"
    content = bytearray(vectors.read_bytes())
    content[1000] ^= 1
    vectors.write_bytes(content)
    blocked = concordance("gate", model, cwd=root)
    assert blocked.returncode == 1
    assert f"vectors/relocation/{old}.jsonl: has another SHA-256 than the manifest says" in blocked.stdout


@pytest.mark.parametrize(
    ("changes", "step", "because"),
    [
        ([("What does parking cost", "What may parking cost")], "1.0.1", ""),
        ([("and half of that for a member.", "and one half of that for a member.")], "1.0.1", ""),
        ([("max = 10\n", "max = 20\n")], "1.1.0", "input rate was widened to 0 to 20, from 0 to 10"),
        (
            [("max = 10\n", "max = 9\n"), ("uniform = [0, 10]", "uniform = [0, 9]")],
            "2.0.0",
            "input rate was narrowed to 0 to 9",
        ),
        ([('values = ["park", "walk"]', 'values = ["park", "walk", "fly"]')], "1.1.0", 'output advice may be "fly"'),
        ([('access = "open"', 'access = "key"')], "2.0.0", "access is key, was open"),
        ([('unit = "USD an hour"', 'unit = "EUR an hour"')], "2.0.0", 'input rate is in "EUR an hour"'),
    ],
)
def test_the_version_step_is_computed_from_what_changed(
    parking: Path, changes: list[tuple[str, str]], step: str, because: str
) -> None:
    for version in ("1.0.1", "1.1.0", "2.0.0"):
        new_version(parking, version, *changes)
        release = examine(Workspace(parking), Request("parking", version, "x", "y", "2026-01-01"))
        problems = {c.name: c.problems for c in release.conditions}["the version step fits what changed"]
        fits = [int(place) for place in version.split(".")] >= [int(place) for place in step.split(".")]
        assert (problems == ()) == fits, (version, problems)
        if not fits:
            assert because in problems[0]
        (parking / f"specs/parking/{version}.md").unlink()
        for folder in ("engine", "reference_impl"):
            edit(parking / f"{folder}/parking.py", (f'SPEC_VERSION = "{version}"', 'SPEC_VERSION = "1.0.0"'))


def test_an_output_that_came_is_minor_and_one_that_went_is_major(parking: Path) -> None:
    half = 'name = "half"\ntype = "number"\nclause = "PK-1"\ndescription = "Half."\n\n[[output]]\nname = "visits"'
    new_version(parking, "1.0.1", ('name = "visits"', half))
    edit(parking / "engine/parking.py", ('"cost": cost,', '"cost": cost,\n        "half": cost / 2,'))
    edit(
        parking / "reference_impl/parking.py",
        ('"cost": float(cost),', '"cost": float(cost),\n        "half": float(cost / 2),'),
    )
    release = examine(Workspace(parking), Request("parking", "1.0.1", "x", "y", ""))
    step = release.conditions[5].problems[0]
    assert "this must be 1.1.0 or 2.0.0, not 1.0.1 (output half was added)" in step


def test_versions_are_not_skipped(parking: Path) -> None:
    new_version(parking, "1.0.2")
    release = examine(Workspace(parking), Request("parking", "1.0.2", "x", "y", ""))
    assert "this must be 1.0.1 or 1.1.0 or 2.0.0, not 1.0.2" in release.conditions[5].problems[0]


def test_a_changed_seed_would_give_identifiers_other_inputs(parking: Path) -> None:
    new_version(parking, "1.0.1", ('seed = "parking/1"', 'seed = "parking/2"'))
    release = examine(Workspace(parking), Request("parking", "1.0.1", "x", "y", ""))
    assert "246 identifiers stand for other inputs than in 1.0.0" in release.conditions[4].problems[0]


def test_a_late_edge_keeps_every_identifier(parking: Path) -> None:
    edge = (
        '[[edge]]\nnumber = 250\nrationale = "Late."\ninputs = { hours = 3, rate = 3, budget = 3, member = true }\n```'
    )
    new_version(parking, "1.0.1")
    path = parking / "specs/parking/1.0.1.md"
    path.write_text(path.read_text().rstrip().removesuffix("```") + edge + "\n")
    assert examine(Workspace(parking), Request("parking", "1.0.1", "x", "y", "")).ok


def test_every_failing_condition_is_reported_and_nothing_is_written(parking: Path, concordance: Run) -> None:
    new_version(parking, "1.0.1", ("max = 10\n", "max = 20\n"), ('seed = "parking/1"', 'seed = "parking/2"'))
    edit(parking / "engine/parking.py", ("PK-4", "the last clause"))
    before = released(parking)
    vectors = parking / "vectors/parking/1.0.0.jsonl"
    vectors.write_bytes(before["vectors/parking/1.0.0.jsonl"].replace(b"walk", b"wilk", 1))
    done = concordance("release", "parking", "1.0.1", "--why", " ", "--approver", "", cwd=parking)
    assert done.returncode == 1
    for said in (
        "vectors/parking/1.0.0.jsonl: has another SHA-256",
        "engine does not cite PK-4",
        "identifiers stand for other inputs",
        "input rate was widened",
        "the why is empty",
        "the approver is empty",
    ):
        assert said in done.stdout
    vectors.write_bytes(before["vectors/parking/1.0.0.jsonl"])
    assert released(parking) == before


def test_disagreement_stops_a_release(parking: Path, concordance: Run) -> None:
    new_version(parking, "1.0.1")
    edit(parking / "engine/parking.py", ("np.where(member, 1, 2)", "np.where(member, 1, 3)"))
    done = concordance("release", "parking", "1.0.1", *WHY, cwd=parking)
    assert done.returncode == 1
    assert re.search(r"\d+ of 250 cases do not agree: parking-0002", done.stdout)


def test_a_clause_that_no_case_reaches_stops_a_release(parking: Path, concordance: Run) -> None:
    new_version(parking, "1.0.1", ("**PK-4 Hourly.**", "**PK-5 Never.** Nothing.\n\n**PK-4 Hourly.**"))
    edit(parking / "engine/parking.py", ("PK-4.", "PK-4, PK-5."))
    unused = '"""PK-1, PK-2, PK-3, PK-4."""\n    if inputs["hours"] > 99:\n        return {}  # PK-5'
    edit(parking / "reference_impl/parking.py", ('"""PK-1, PK-2, PK-3, PK-4."""', unused))
    done = concordance("release", "parking", "1.0.1", *WHY, cwd=parking)
    assert "no case reaches PK-5" in done.stdout


def test_a_version_is_released_once(parking: Path, concordance: Run) -> None:
    done = concordance("release", "parking", "1.0.0", *WHY, cwd=parking)
    assert done.returncode == 1
    assert "1.0.0 is released" in done.stdout


def test_a_version_without_a_spec_says_what_to_write(parking: Path, concordance: Run) -> None:
    done = concordance("release", "parking", "1.1.0", *WHY, cwd=parking)
    assert done.returncode == 1
    assert "write specs/parking/1.1.0.md" in done.stdout


def test_a_dry_run_shows_the_entry_and_writes_nothing(tmp_path: Path, concordance: Run) -> None:
    root = write_workspace(tmp_path)
    cite_all(root)
    done = concordance("release", "parking", "1.0.0", *WHY, "--dry-run", cwd=root)
    assert done.returncode == 0
    assert "# parking 1.0.0" in done.stdout
    assert released(root) == {}


def test_export_never_changes_what_was_released(parking: Path, concordance: Run) -> None:
    before = released(parking)
    edit(parking / "specs/parking/1.0.0.md", ("What does parking cost", "What may parking cost"))
    done = concordance("export", cwd=parking)
    assert done.returncode == 1
    assert "1.0.0 is released and never changes" in done.stdout
    assert released(parking) == before


def kill_at(moment: int, root: Path) -> int:
    """Commit a release in a process that kills itself at its `moment`-th file operation; its exit status."""
    child = os.fork()
    if child == 0:
        left = moment

        def hook(event: str, arguments: tuple[object, ...]) -> None:
            nonlocal left
            if event in ("open", "os.rename", "os.remove", "os.mkdir") and str(root) in str(arguments[0]):
                left -= 1
                if left == 0:
                    os.kill(os.getpid(), signal.SIGKILL)

        workspace = Workspace(root)
        release = examine(workspace, Request("parking", "1.0.1", "Why.", "ada", "2026-01-01"))
        sys.addaudithook(hook)
        commit(workspace, release)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_a_release_killed_at_any_moment_leaves_the_workspace_as_it_was_or_complete(
    parking: Path, concordance: Run
) -> None:
    new_version(parking, "1.0.1")
    old = released(parking)
    seen, said = set(), []
    for moment in range(1, 100):
        status = kill_at(moment, parking)
        recover(Workspace(parking), said.append)
        left = released(parking)
        complete = "changelog/parking/1.0.1.md" in left
        assert complete or left == old, f"neither at moment {moment}"
        seen.add(complete)
        if complete:
            assert concordance("gate", cwd=parking).returncode == 0
            for name in left.keys() - old.keys():
                (parking / name).unlink()
            (parking / "vectors/manifest.json").write_bytes(old["vectors/manifest.json"])
        if status == 0:
            break
    assert (status, seen) == (0, {False, True})
    assert any("left by an interrupted release" in text for text in said)


def test_the_next_command_says_what_an_interrupted_release_left(parking: Path, concordance: Run) -> None:
    new_version(parking, "1.0.1")
    moment = next(m for m in range(1, 50) if kill_at(m, parking) and (parking / "vectors/parking/1.0.1.jsonl").exists())
    assert moment
    done = concordance("check", cwd=parking)
    assert done.returncode == 0
    assert "removed vectors/parking/1.0.1.jsonl, left by an interrupted release" in done.stderr
    assert not (parking / "vectors/.releasing.json").exists()


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Path]:
    """A private key, its public key, and somebody else's public key."""
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    folder = tmp_path_factory.mktemp("keys")
    paths = []
    for name in ("ours", "theirs"):
        key = Ed25519PrivateKey.generate()
        private, public = folder / f"{name}.pem", folder / f"{name}.pub"
        private.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
            )
        )
        public.write_bytes(
            key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
        )
        paths += [private, public]
    return paths[0], paths[1], paths[3]


def test_a_signed_release_verifies_with_its_key_and_no_other(
    tmp_path: Path, concordance: Run, keys: tuple[Path, Path, Path]
) -> None:
    private, public, other = keys
    root = write_workspace(tmp_path)
    cite_all(root)
    assert concordance("release", "parking", "1.0.0", *WHY, "--key", str(private), cwd=root).returncode == 0
    assert "signed with this key" in concordance("verify", "--public-key", str(public), cwd=root).stdout
    refused = concordance("verify", "--public-key", str(other), cwd=root)
    assert refused.returncode == 1
    assert "vectors/manifest.json: is not signed with this key" in refused.stdout

    envelope = next((root / "vectors/signatures").iterdir())
    statement = json.loads(base64.b64decode(json.loads(envelope.read_text())["payload"]))
    assert statement["_type"] == "https://in-toto.io/Statement/v1"
    assert statement["predicate"]["approver"] == "ada"

    envelope.write_text(envelope.read_text().replace('"payload": "', '"payload": "e30'))
    assert concordance("verify", "--public-key", str(public), cwd=root).returncode == 1
    envelope.write_text("{}")
    assert "no DSSE envelope" in concordance("verify", "--public-key", str(public), cwd=root).stdout
    envelope.unlink()
    assert "is not signed" in concordance("verify", "--public-key", str(public), cwd=root).stdout


def test_a_file_that_is_no_key_is_one_clear_line(parking: Path, concordance: Run) -> None:
    new_version(parking, "1.0.1")
    (parking / "not.pem").write_text("hello")
    for arguments in (("release", "parking", "1.0.1", *WHY, "--key", "not.pem"), ("verify", "--public-key", "not.pem")):
        done = concordance(*arguments, cwd=parking)
        assert done.returncode == 2
        assert re.fullmatch(r"error: not\.pem: is no .* in PEM \(make one with: .*\)\n", done.stderr)
    assert not (parking / "vectors/parking/1.0.1.jsonl").exists()


def test_the_changelog_is_printed_newest_first_and_checked(parking: Path, concordance: Run) -> None:
    new_version(parking, "1.0.1")
    unreleased = concordance("changelog", "--check", cwd=parking)
    assert unreleased.returncode == 1
    assert "specs/parking/1.0.1.md: has no changelog entry" in unreleased.stdout
    assert concordance("release", "parking", "1.0.1", *WHY, cwd=parking).returncode == 0
    assert concordance("changelog", "--check", cwd=parking).returncode == 0
    printed = concordance("changelog", "parking", cwd=parking).stdout
    assert printed.index("# parking 1.0.1") < printed.index("# parking 1.0.0")
    later = concordance("changelog", "parking", "--since", "1.0.0", cwd=parking).stdout
    assert "# parking 1.0.1" in later
    assert "# parking 1.0.0" not in later
    assert concordance("changelog", "parking", "--since", "9.9.9", cwd=parking).returncode == 2


def test_a_settled_finding_goes_to_the_changelog(parking: Path, concordance: Run) -> None:
    new_version(parking, "1.0.1")
    right = (parking / "engine/parking.py").read_text()
    nothing = concordance(
        "settle", "parking", "parking-0002", "--verdict", "engine", "--note", "x", "--by", "ada", cwd=parking
    )
    assert nothing.returncode == 2
    assert "there is nothing to settle" in nothing.stderr
    edit(parking / "engine/parking.py", ("np.where(member, 1, 2)", "np.where(member, 1, 3)"))
    note = "It charged visitors for half an hour more."
    done = concordance(
        "settle", "parking", "parking-0002", "--verdict", "engine", "--note", note, "--by", "ada", cwd=parking
    )
    assert done.returncode == 0
    report = json.loads(concordance("check", "--format", "json", cwd=parking).stdout)
    assert report["models"][0]["findings"][0]["verdict"] == "engine"
    assert report["models"][0]["findings"][1]["verdict"] is None
    (parking / "engine/parking.py").write_text(right)
    assert concordance("release", "parking", "1.0.1", *WHY, cwd=parking).returncode == 0
    entry = (parking / "changelog" / entry_name("parking", "1.0.1")).read_text()
    assert "`cost`, expected 0.1, got 0.15. Verdict: engine, by ada. It charged visitors" in entry


def git(root: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=Test", "-c", "user.email=test@example.org", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *identity, *arguments], cwd=root, check=True, capture_output=True)


@pytest.mark.parametrize("inside", ["", "models/ours"])
def test_the_gate_sees_a_file_and_its_digest_rewritten_together(
    parking: Path, concordance: Run, tmp_path: Path, inside: str
) -> None:
    root = tmp_path / "repository"
    workspace = root / inside
    shutil.copytree(parking, workspace)
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "released")
    assert concordance("gate", "--base", "HEAD", cwd=workspace).returncode == 0
    vectors, manifest = workspace / "vectors/parking/1.0.0.jsonl", workspace / "vectors/manifest.json"
    edit(workspace / "specs/parking/1.0.0.md", ("What does parking cost", "What may parking cost"))
    listed = json.loads(manifest.read_text())
    listed["files"]["parking/1.0.0.jsonl"].pop("changelogSha256")
    manifest.write_text(json.dumps(listed))
    assert concordance("export", cwd=workspace).returncode == 0
    assert vectors.exists()
    done = concordance("gate", "--base", "HEAD", cwd=workspace)
    assert done.returncode == 1
    assert "vectors/parking/1.0.0.jsonl: was published at HEAD and has changed" in done.stdout
    assert "specs/parking/1.0.0.md: was published at HEAD and has changed" in done.stdout
    nowhere = concordance("gate", "--base", "nowhere", cwd=workspace)
    assert nowhere.returncode == 2
    assert "--base takes a commit of this repository" in nowhere.stderr


def test_the_gate_speaks_text_json_junit_and_github(parking: Path, concordance: Run) -> None:
    open_gate = {
        form: concordance("gate", "--format", form, cwd=parking) for form in ("text", "json", "junit", "github")
    }
    assert {done.returncode for done in open_gate.values()} == {0}
    assert open_gate["text"].stdout.endswith("The gate is open.\n")
    edit(parking / "engine/parking.py", ("np.where(member, 1, 2)", "np.where(member, 1, 3)"))
    shut = {form: concordance("gate", "--format", form, cwd=parking).stdout for form in open_gate}
    assert shut["text"].endswith("BLOCKED\n")
    report = json.loads(shut["json"])
    assert [rule["ok"] for rule in report["rules"]] == [False, True, True, True]
    assert report["models"][0]["failed"] == len(report["rules"][0]["problems"])
    suite = ElementTree.fromstring(shut["junit"])
    assert (suite.get("tests"), suite.get("failures")) == ("4", "1")
    assert len(suite.findall("testcase/failure")) == report["models"][0]["failed"]
    first = shut["github"].splitlines()[0]
    assert first.startswith("::error file=engine/parking.py,title=implementations agree::parking-0002 failed")


def test_this_repositorys_gate_is_open(concordance: Run) -> None:
    done = concordance("gate", cwd=ROOT)
    assert done.returncode == 0, done.stdout
