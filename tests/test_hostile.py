"""What a hostile or careless author might do, and what the gate says to it."""

from __future__ import annotations

import json
import shutil
import time
from pathlib import Path

import pytest
from conftest import Run
from miniatures import ENGINE, REFERENCE, SPEC, write_workspace

from concordance.cases import generate
from concordance.check import ModelCheck, check_model
from concordance.errors import SpecError
from concordance.numbers import sha256_hex
from concordance.spec import parse_spec
from concordance.workspace import Workspace

WHY = ("--why", "Because.", "--approver", "ada")


def checked(root: Path, engine: str = ENGINE, reference: str = REFERENCE, spec: str = SPEC) -> ModelCheck:
    workspace = Workspace(write_workspace(root, engine, reference, spec))
    (result,) = check_model(workspace, workspace.spec("parking"))
    return result


@pytest.fixture
def released(tmp_path: Path, concordance: Run) -> Path:
    """A workspace with two released models."""
    root = write_workspace(tmp_path / "ws")
    for folder in ("engine", "reference_impl"):
        path = root / f"{folder}/parking.py"
        path.write_text(path.read_text().replace('"""PK-1 to PK-4.', '"""PK-1, PK-2, PK-3, PK-4.'))
        shutil.copy(path, root / f"{folder}/garage.py")
    (root / "specs/garage").mkdir()
    (root / "specs/garage/1.0.0.md").write_text(SPEC.replace('model = "parking"', 'model = "garage"'))
    (root / "specs/CONVENTIONS.md").write_text("# Conventions\n")
    for model in ("parking", "garage"):
        assert concordance("release", model, "1.0.0", *WHY, cwd=root).returncode == 0
    return root


@pytest.mark.parametrize(
    ("engine", "says"),
    [
        (
            ENGINE.replace(
                "    hours, member",
                '    if len(inputs["hours"]) > 1:\n        raise RuntimeError("one by one")\n    hours, member',
            ),
            "on the whole batch: RuntimeError: one by one",
        ),
        (
            ENGINE.replace("cost = halfcents / 200", "cost = halfcents / 200 + (len(hours) == 1)"),
            "answers otherwise when the cases come alone",
        ),
        (ENGINE.replace("cost = halfcents / 200", "cost = halfcents / 200 + (np.arange(len(hours)) == 7)"), ""),
        (ENGINE + "\n\nclass Odd(BaseException):\n    pass\n\n\ndef compute(inputs):\n    raise Odd\n", "crashed"),
        (ENGINE.replace('"cost": cost,', '"cost": np.ma.masked_array(cost, cost > 5),'), "masked array"),
    ],
)
def test_an_engine_that_answers_by_circumstance_is_found(tmp_path: Path, engine: str, says: str) -> None:
    result = checked(tmp_path, engine=engine)
    assert not result.ok
    assert any(says in error for finding in result.findings for error in (*finding.errors, ""))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"advice": "park"', '"advice": "PARK"'),
        ('"visits": visits', '"visits": True if visits == 1 else visits'),
        ('"visits": visits', '"visits": visits if visits == "Infinity" else visits + 0.5'),
        ('"cost": float(cost)', '"cost": float("nan")'),
        ('"cost": float(cost)', '"cost": "Infinity"'),
        ('"cost": float(cost)', '"cost": None'),
        ('"cost": float(cost)', '"cost": [float(cost)]'),
        ('"cost": float(cost)', '"cost": {}'),
    ],
)
def test_two_implementations_that_share_a_breach_of_the_contract_do_not_agree(
    tmp_path: Path, old: str, new: str
) -> None:
    reference = REFERENCE.replace(old, new)
    assert reference != REFERENCE
    wrapper = (
        "\n\nimport importlib.util\nfrom pathlib import Path\n\n\ndef compute(inputs):\n"
        '    path = Path(__file__).parent.parent / "reference_impl/parking.py"\n'
        '    spec = importlib.util.spec_from_file_location("copied", path)\n'
        "    module = importlib.util.module_from_spec(spec)\n    spec.loader.exec_module(module)\n"
        "    names = list(inputs)\n"
        "    rows = [dict(zip(names, [v.item() for v in row])) for row in zip(*inputs.values())]\n"
        "    answers = [module.compute(row) for row in rows]\n"
        '    tables = [answer["hourly"] for answer in answers]\n'
        '    columns = {k: [row[k] for t in tables for row in t] for k in ("hour", "total")}\n'
        '    out = {k: np.array([a[k] for a in answers], object) for k in ("cost", "visits", "advice")}\n'
        '    return out | {"hourly": ([len(t) for t in tables], columns)}\n'
    )
    result = checked(tmp_path, engine=ENGINE + wrapper, reference=reference)
    assert not result.ok


def test_what_an_implementation_prints_is_no_data(concordance: Run, tmp_path: Path) -> None:
    root = write_workspace(
        tmp_path,
        engine='print("loading!")\n' + ENGINE,
        reference=REFERENCE.replace("    hours, rate", '    print("!")\n    hours, rate'),
    )
    done = concordance("check", "--format", "json", cwd=root)
    assert json.loads(done.stdout)["ok"] is True


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("max = 10\n", "max = inf\n", "needs a finite min, max and grid"),
        ("grid = 0.01\ndraw = { uniform = [0, 10] }", "grid = nan\ndraw = { uniform = [0, 10] }", "needs a finite"),
        ("log = [1, 1_000]", "log = [1, inf]", "needs finite ends"),
        ("grid = 0.01\ndraw = { log", "grid = 1e-10\ndraw = { log", "needs a grid of at least 1e-9"),
        ("min = 0\nmax = 10\ngrid = 0.01", "min = 1e-10\nmax = 10\ngrid = 0.01", "must be 0 or at least 1e-9"),
        ("min = 0\nmax = 10\ngrid = 0.01", "min = 1\nmax = 10\ngrid = 50", "no point of its grid"),
        ('name = "cost"', 'name = "co.st"', "a name is letters, digits and _"),
        ('{ name = "total"', '{ name = "hour"', "has no name of its own"),
        ('\n[[edge]]\nrationale = "A free', '\n[[edge]]\nnumber = 2\nrationale = "A free', "its number 2 is taken"),
        ('\n[[edge]]\nrationale = "A free', '\n[[edge]]\nnumber = -5\nrationale = "A free', "its number -5 is taken"),
        ('version = "1.0.0"', 'version = "01.0.0"', "must be MAJOR.MINOR.PATCH"),
    ],
)
def test_a_spec_that_cannot_be_worked_with_is_refused_at_once(old: str, new: str, says: str) -> None:
    assert old in SPEC
    with pytest.raises(SpecError) as caught:
        parse_spec(SPEC.replace(old, new, 1), "specs/parking/1.0.0.md")
    assert says in str(caught.value)


def test_a_model_with_some_hundreds_of_possible_inputs_has_cases() -> None:
    contract = (
        SPEC[: SPEC.index("```toml edges")].replace("max = 10\n", "max = 0\n").replace("uniform = [0, 10]", "value = 0")
    )
    contract = (
        contract.replace("max = 1_000\n", "max = 0\n")
        .replace("log = [1, 1_000]", "value = 0")
        .replace('type = "number"\nunit = "USD', 'type = "integer"\nunit = "USD')
    )
    contract = (
        contract.replace("max = 24", "max = 400")
        .replace("uniform = [0, 24]", "uniform = [0, 400]")
        .replace("grid = 0.01", "grid = 1")
    )
    cases = generate(parse_spec(contract, "specs/parking/1.0.0.md"))
    assert len({repr(case.inputs) for case in cases}) == len(cases) == 250


def test_a_release_that_was_marked_by_hand_is_still_examined(released: Path, concordance: Run) -> None:
    text = (released / "specs/parking/1.0.0.md").read_text().replace('"1.0.0"', '"1.0.1"')
    (released / "specs/parking/1.0.1.md").write_text(text)
    for folder, old, new in (
        ("engine", "visits >= 1", "visits >= 2"),
        ("reference_impl", "visits >= 1", "visits >= 2"),
    ):
        path = released / f"{folder}/parking.py"
        path.write_text(path.read_text().replace('"1.0.0"', '"1.0.1"').replace(old, new))
    assert concordance("export", cwd=released).returncode == 0
    (released / "changelog/parking/1.0.1.md").write_text("nothing to see\n")
    manifest = json.loads((released / "vectors/manifest.json").read_text())
    manifest["files"]["parking/1.0.1.jsonl"]["changelogSha256"] = sha256_hex(b"nothing to see\n")
    (released / "vectors/manifest.json").write_text(json.dumps(manifest))
    done = concordance("gate", cwd=released)
    assert done.returncode == 1
    assert "this must be 2.0.0" in done.stdout


def test_a_model_that_is_gone_is_missed(released: Path, concordance: Run) -> None:
    for folder in ("specs", "vectors", "changelog"):
        shutil.rmtree(released / folder / "garage")
    for command in ("verify", "gate"):
        done = concordance(command, cwd=released)
        assert done.returncode == 1
        assert "vectors/garage/1.0.0.jsonl: belongs to no spec" in done.stdout


def test_conventions_that_changed_after_a_release_are_noticed(released: Path, concordance: Run) -> None:
    (released / "specs/CONVENTIONS.md").write_text("# anything goes\n")
    done = concordance("verify", cwd=released)
    assert done.returncode == 1
    assert "specs/CONVENTIONS.md: has changed since" in done.stdout


def test_a_missing_manifest_is_no_fresh_start(released: Path, concordance: Run) -> None:
    (released / "vectors/manifest.json").unlink()
    done = concordance("release", "parking", "1.0.0", *WHY, cwd=released)
    assert done.returncode == 1
    assert "published files are there" in done.stdout


def test_a_draft_in_the_place_of_the_entry_stops_the_release(tmp_path: Path, concordance: Run) -> None:
    root = write_workspace(tmp_path)
    for folder in ("engine", "reference_impl"):
        path = root / f"{folder}/parking.py"
        path.write_text(path.read_text().replace('"""PK-1 to PK-4.', '"""PK-1, PK-2, PK-3, PK-4.'))
    (root / "changelog/parking").mkdir(parents=True)
    (root / "changelog/parking/1.0.0.md").write_text("draft\n")
    done = concordance("release", "parking", "1.0.0", *WHY, cwd=root)
    assert done.returncode == 1
    assert "changelog/parking/1.0.0.md is there with other content" in done.stdout
    assert not (root / "vectors").exists()


def test_a_journal_that_names_other_files_removes_nothing(released: Path, concordance: Run) -> None:
    victim = released.parent / "victim"
    victim.write_text("x")
    journal = json.dumps({"../victim": sha256_hex(b"x")})
    (released / "vectors/.releasing.json").write_text(journal)
    concordance("changelog", cwd=released)
    assert victim.exists()


@pytest.mark.parametrize("version", ["abc", "1.0.10-rc1", "01.0.0", "1.0"])
def test_a_version_is_three_plain_numbers(released: Path, concordance: Run, version: str) -> None:
    done = concordance("release", "parking", version, *WHY, cwd=released)
    assert done.returncode == 1
    assert f'a version is MAJOR.MINOR.PATCH, not "{version}"' in done.stdout


def test_a_workspace_may_have_any_path_and_scratch_files(tmp_path: Path, concordance: Run) -> None:
    root = write_workspace(tmp_path / "it's [1] ü")
    for folder in ("engine", "reference_impl"):
        path = root / f"{folder}/parking.py"
        path.write_text("\ufeff" + path.read_text().replace('"""PK-1 to PK-4.', '"""PK-1, PK-2, PK-3, PK-4.'))
        (root / folder / "scratch.py").write_text("def (")
    (root / "specs/.ipynb_checkpoints").mkdir()
    (root / "specs/images").mkdir()
    done = concordance("release", "parking", "1.0.0", *WHY, cwd=root)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("parking", "--case", "parking-0002", "--case", "bogus"),
        ("parking", "--case", "parking-0002", "--cases", "5"),
        ("parking", "--case", "parking-" + "9" * 5000),
        ("--inputs", "{}"),
        ("--impl", "z=a", "--impl", "z=b"),
    ],
)
def test_what_was_asked_is_never_dropped(released: Path, concordance: Run, arguments: tuple[str, ...]) -> None:
    done = concordance("check", *arguments, cwd=released)
    assert (done.returncode, done.stdout) == (2, "")


def test_any_case_is_made_at_once(concordance: Run) -> None:
    started = time.monotonic()
    done = concordance("cases", "refinance", "--start", "1000000000", "--count", "1")
    assert json.loads(done.stdout)["id"] == "refinance-1000000000"
    assert time.monotonic() - started < 30  # and not the hours that a thousand million cases take


def test_a_folder_that_cannot_be_read_is_one_clear_line(concordance: Run, tmp_path: Path) -> None:
    root = write_workspace(tmp_path)
    (root / "vectors/manifest.json").mkdir(parents=True)
    done = concordance("export", cwd=root)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1


def test_a_workspace_without_models_does_not_pass(concordance: Run, tmp_path: Path) -> None:
    for folder in ("specs", "engine", "reference_impl"):
        (tmp_path / folder).mkdir()
    for command in ("check", "gate", "verify", "export"):
        assert concordance(command, cwd=tmp_path).returncode == 2
