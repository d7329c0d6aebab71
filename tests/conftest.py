"""What the tests share: this repository's workspace, copies of it that may be broken, and the real command."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

from concordance import AnswerKey
from concordance.workspace import Workspace

ROOT = Path(__file__).resolve().parent.parent
SHARED_DATA = ROOT.parent / "shared" / "data"
MODELS = ("emergency-fund", "refinance", "relocation")

settings.register_profile("steady", derandomize=True, deadline=None, print_blob=True)
settings.load_profile("steady")

NO_BROWSER = "no Chromium is installed here"
Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="session")
def answer_key() -> AnswerKey:
    """This repository's workspace, loaded once."""
    return AnswerKey(Workspace(ROOT))


@pytest.fixture
def workspace_copy(tmp_path: Path) -> Path:
    """A copy of this repository's workspace that a test may break."""
    root = tmp_path / "workspace"
    for part in ("specs", "engine", "reference_impl", "vectors", "changelog"):
        shutil.copytree(ROOT / part, root / part, ignore=shutil.ignore_patterns("__pycache__"))
    return root


@pytest.fixture
def concordance(tmp_path: Path) -> Run:
    """Run the real command in a process of its own; keyword arguments go to `subprocess.run`."""

    def run(*arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
        options = {"cwd": ROOT, "capture_output": True, "text": True, "timeout": 120} | options
        command = [sys.executable, "-m", "concordance", *arguments]
        return subprocess.run(command, check=False, **options)  # type: ignore[call-overload,no-any-return]

    return run


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of public bug reports and witnesses; tests that need it are skipped where it is absent."""
    if not SHARED_DATA.is_dir():
        pytest.skip("needs the shared data folder beside the repository (../shared/data), which is absent here")
    return SHARED_DATA


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say in one line which browser tests were left out, and why."""
    left_out = [report for report in terminalreporter.stats.get("skipped", ()) if NO_BROWSER in str(report.longrepr)]
    if left_out:
        names = ", ".join(sorted({report.nodeid.rpartition("::")[2].partition("[")[0] for report in left_out}))
        terminalreporter.write_line(f"{NO_BROWSER}; left out: {names}")


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of Chromium. Tests that need it are skipped where there is none, and fail where it is required."""
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if found is None:
        required = os.environ.get("CI") or os.environ.get("CONCORDANCE_BROWSER") == "required"
        (pytest.fail if required else pytest.skip)(NO_BROWSER)
    return found
