"""The wheel carries everything it needs and nothing else on the top level."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest
from conftest import ROOT


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built wheel."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True)
    return next(folder.glob("*.whl"))


def test_the_wheels_only_top_level_package_is_concordance(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0] for name in names if ".dist-info/" not in name} == {"concordance"}
    for carried in (
        "specs/CONVENTIONS.md",
        "engine/refinance.py",
        "reference_impl/refinance.py",
        "vectors/manifest.json",
    ):
        assert f"concordance/builtin/{carried}" in names
    assert "concordance/static/exam.js" in names


def test_the_installed_wheel_checks_its_models_from_an_empty_folder(wheel: Path, tmp_path: Path) -> None:
    home = tmp_path / "venv"
    venv.create(home, with_pip=True)
    python = home / ("Scripts" if os.name == "nt" else "bin") / "python"
    install = [str(python), "-m", "pip", "install", "--quiet", "-c", str(ROOT / "constraints.txt"), str(wheel)]
    subprocess.run(install, check=True, capture_output=True)
    empty = tmp_path / "empty"
    empty.mkdir()
    done = subprocess.run(
        [str(python), "-m", "concordance", "check"], cwd=empty, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("250/250") == 3
    verified = subprocess.run([str(python), "-m", "concordance", "verify"], cwd=empty, capture_output=True, check=False)
    assert verified.returncode == 0
    shown = (
        "import concordance, importlib.util as u; print([bool(u.find_spec(n)) for n in ('engine', 'reference_impl')])"
    )
    assert subprocess.check_output([str(python), "-c", shown], cwd=empty, text=True) == "[False, False]\n"
