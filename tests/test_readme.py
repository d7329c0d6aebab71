"""Every command of the README works as printed, and its tables are those that the code gives."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

from benchmarks.readme import vectors_table

README = (ROOT / "README.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.S)


def commands(block: str) -> list[tuple[str, str]]:
    """Each `$ command` with the output printed under it."""
    parts = re.split(r"^\$ ", block, flags=re.M)[1:]
    return [(command, output) for command, _, output in (part.partition("\n") for part in parts)]


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout of the repository that the tour may write to."""
    root = tmp_path_factory.mktemp("tour") / "concordance"
    listed = subprocess.check_output(["git", "ls-files", "-z", "-co", "--exclude-standard"], cwd=ROOT, text=True)
    for name in filter(None, listed.split("\0")):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, root / name)
    return root


def shell(command: str, root: Path) -> subprocess.CompletedProcess[str]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    env = os.environ | {"PATH": path, "PYTHON": sys.executable}
    return subprocess.run(["bash", "-c", command], cwd=root, env=env, capture_output=True, text=True, check=False)


def test_the_tour_works_as_printed(checkout: Path) -> None:
    ran = 0
    for command, printed in (pair for block in blocks("console")[1:] for pair in commands(block)):
        done = shell(command, checkout)
        assert done.returncode < 3, done.stderr
        shown = re.escape(printed.strip()).replace("…", ".*")
        assert re.fullmatch(shown, (done.stdout + done.stderr).strip(), re.S), (
            f"$ {command}\n{done.stdout}{done.stderr}"
        )
        ran += 1
    assert ran >= 8


def test_the_first_command_sets_up_a_fresh_checkout_and_passes_the_gate(checkout: Path) -> None:
    first, second = (command.partition("#")[0].strip() for command, _ in commands(blocks("console")[0]))
    assert (first, second) == ("make check", "make test")
    done = shell(first, checkout)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("250/250") == 3


def test_the_python_of_the_tour_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    for block in blocks("python"):
        exec(compile(block, "README.md", "exec"), {})


def test_the_vectors_table_is_the_one_that_the_vectors_give() -> None:
    assert vectors_table() in README


def test_every_link_into_the_repository_resolves() -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", README):
        assert (ROOT / target).exists(), target
