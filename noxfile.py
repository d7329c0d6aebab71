"""The published bytes on other Pythons and other versions of numpy: `make platforms`, or `nox`.

Each session installs the wheel built from this tree into an environment of its own and runs the gate outside of the
tree, so that nothing but the wheel is seen. It then exports all vectors anew and holds their digests to the published
manifest. All sessions are held to the same bytes, so they also agree with each other. An interpreter that is absent
is skipped.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import tempfile
from pathlib import Path

import nox

ROOT = Path(__file__).resolve().parent
PYTHONS = ("3.11", "3.12", "3.13")
WORKSPACE = ("specs", "engine", "reference_impl", "vectors", "changelog")


def oldest_numpy() -> str:
    """The oldest series of numpy that pyproject.toml allows, such as 1.26."""
    dependencies = nox.project.load_toml(ROOT / "pyproject.toml")["project"]["dependencies"]
    return next(match[1] for name in dependencies if (match := re.fullmatch(r"numpy>=([\d.]+)", name)))


OLDEST = oldest_numpy()
WITHOUT_WHEELS = {("1.26", "3.13")}  # numpy 1.26 was released for Python 3.9 to 3.12
COMBINATIONS = [
    nox.param(python, version, id=f"{python}, numpy {name}")
    for python in PYTHONS
    for name, version in ((OLDEST, f"numpy=={OLDEST}.*"), ("newest", "numpy"))
    if (name, python) not in WITHOUT_WHEELS
]

nox.needs_version = ">=2025.2.9"
nox.options.error_on_missing_interpreters = False
nox.options.sessions = ["platforms"]


@nox.session
def wheel(session: nox.Session) -> None:
    """Build the wheel that the other sessions install."""
    session.install("build")
    shutil.rmtree(dist(session), ignore_errors=True)
    session.run("python", "-m", "build", "--wheel", "--outdir", str(dist(session)), str(ROOT), silent=True)


@nox.session(requires=["wheel"])
@nox.parametrize(["python", "numpy"], COMBINATIONS)
def platforms(session: nox.Session, numpy: str) -> None:
    """The gate, and every published byte, with the built wheel on a Python and a numpy."""
    (built,) = dist(session).glob("*.whl")
    session.install("--only-binary", ":all:", str(built), numpy)
    session.run(
        "python", "-c", "import sys, numpy; print('Python', sys.version.split()[0], 'numpy', numpy.__version__)"
    )
    with tempfile.TemporaryDirectory() as folder:
        empty, copy = Path(folder, "empty"), Path(folder, "copy")
        empty.mkdir()
        for part in WORKSPACE:
            shutil.copytree(ROOT / part, copy / part, ignore=shutil.ignore_patterns("__pycache__", "*.jsonl"))
        with session.chdir(empty):
            session.run("concordance", "check")
            session.run("concordance", "verify")
            session.run("concordance", "--workspace", str(copy), "export")
        digests = {
            path.relative_to(copy / "vectors").as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted((copy / "vectors").rglob("*.jsonl"))
        }
    published = json.loads((ROOT / "vectors" / "manifest.json").read_text())["files"]
    for name, digest in digests.items():
        session.log(f"{digest}  {name}")
    models = {path.name for path in (ROOT / "specs").iterdir() if path.is_dir()}
    if {name.partition("/")[0] for name in digests} != models:
        session.error("not every model's vectors were exported")
    if changed := [name for name, digest in digests.items() if digest != published[name]["sha256"]]:
        session.error(f"not the published bytes: {', '.join(changed)}")


def dist(session: nox.Session) -> Path:
    """Where the built wheel is handed from one session to the others."""
    return session.cache_dir / "dist"
