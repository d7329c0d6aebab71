"""The published bytes do not depend on the processor's extensions or numpy's version."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from conftest import ROOT, Run

FEATURES = """
try:
    from numpy._core import _multiarray_umath as core
except ImportError:
    from numpy.core import _multiarray_umath as core
print(" ".join(name for name in core.__cpu_dispatch__ if core.__cpu_features__.get(name)))
"""


def test_the_gate_passes_without_the_processors_extensions(concordance: Run) -> None:
    features = subprocess.check_output([sys.executable, "-c", FEATURES], text=True).strip()
    if not features:
        pytest.skip("numpy has no optional processor features to switch off on this machine")
    env = os.environ | {"NPY_DISABLE_CPU_FEATURES": features}
    for command in ("check", "verify"):
        done = concordance(command, env=env)
        assert done.returncode == 0, done.stdout + done.stderr


def test_the_gate_passes_with_the_oldest_numpy_that_is_allowed(concordance: Run, tmp_path: Path) -> None:
    dependencies = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    oldest = next(re.fullmatch(r"numpy>=([\d.]+)", name)[1] for name in dependencies if name.startswith("numpy"))  # type: ignore[index]
    install = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--target",
        str(tmp_path),
        f"numpy=={oldest}.0",
    ]
    subprocess.run(install, check=True, capture_output=True)
    env = os.environ | {"PYTHONPATH": str(tmp_path)}
    version = subprocess.check_output(
        [sys.executable, "-c", "import numpy; print(numpy.__version__)"], text=True, env=env
    )
    assert version.strip() == f"{oldest}.0"
    for command in ("check", "verify"):
        done = concordance(command, env=env)
        assert done.returncode == 0, done.stdout + done.stderr
