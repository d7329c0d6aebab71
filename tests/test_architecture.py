"""The house's rules hold, and breaking one is noticed."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import MODELS, ROOT

CODE = ("concordance", "engine", "reference_impl")


def lint(root: Path) -> subprocess.CompletedProcess[str]:
    command = [
        sys.executable,
        "-c",
        "from importlinter.cli import lint_imports_command; lint_imports_command()",
        "--no-cache",
    ]
    return subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)


@pytest.fixture
def house(tmp_path: Path) -> Path:
    """A copy of the code, whose rules may be broken."""
    for part in CODE:
        shutil.copytree(ROOT / part, tmp_path / part, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def test_the_import_rules_hold(house: Path) -> None:
    done = lint(house)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("path", "planted"),
    [
        ("engine/refinance.py", "import reference_impl.refinance"),
        ("reference_impl/refinance.py", "import engine.refinance"),
        ("engine/refinance.py", "import concordance.numbers"),
        ("reference_impl/relocation.py", "from concordance.numbers import meaning"),
        ("reference_impl/relocation.py", "import numpy"),
        ("engine/relocation.py", "import flint"),
        ("concordance/check.py", "import engine.refinance"),
        ("concordance/cases.py", "import concordance.implementations"),
        ("concordance/compare.py", "import concordance.check"),
        ("concordance/vectors.py", "import concordance.implementations"),
        ("concordance/errors.py", "import concordance.numbers"),
        ("concordance/unplaced.py", '"""A module that no layer names."""'),
    ],
)
def test_a_planted_violation_breaks_them(house: Path, path: str, planted: str) -> None:
    file = house / path
    file.write_text((file.read_text() if file.exists() else "") + f"\n{planted}\n")
    assert lint(house).returncode == 1


WALL = """
import builtins, importlib, importlib.util, json, sys

forbidden = ("numpy", "concordance", "engine", "tests")
real_import, real_module = builtins.__import__, importlib.import_module

def refuse(name):
    if name.split(".")[0] in forbidden:
        raise ImportError("behind the wall: " + name)

def walled_import(name, *rest, **named):
    refuse(name)
    return real_import(name, *rest, **named)

def walled_module(name, package=None):
    refuse(name)
    return real_module(name, package)

builtins.__import__, importlib.import_module = walled_import, walled_module
model, inputs = sys.argv[1], json.loads(sys.argv[2])
module = real_module("reference_impl." + model)
print(json.dumps(module.compute(inputs)))
assert not [name for name in sys.modules if name.split(".")[0] in forbidden]
"""


@pytest.mark.parametrize("model", MODELS)
def test_the_reference_runs_behind_an_import_wall(model: str, answer_key: object, tmp_path: Path) -> None:
    import json

    from concordance import AnswerKey
    from concordance.cases import generate

    assert isinstance(answer_key, AnswerKey)
    shutil.copytree(ROOT / "reference_impl", tmp_path / "reference_impl")
    inputs = generate(answer_key.spec(model))[7].inputs
    arguments = [sys.executable, "-c", WALL, model.replace("-", "_"), json.dumps(inputs)]
    done = subprocess.run(arguments, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == answer_key.compute(model, inputs, impl="reference")


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("folder", ["engine", "reference_impl"])
def test_every_clause_is_cited_where_it_is_implemented(model: str, folder: str, answer_key: object) -> None:
    from concordance import AnswerKey

    assert isinstance(answer_key, AnswerKey)
    source = (ROOT / folder / f"{model.replace('-', '_')}.py").read_text()
    cited = set(re.findall(r"\b[A-Z]{2}-\d+\b", source))
    assert set(answer_key.spec(model).clauses) <= cited
    assert {clause for clause in cited if clause[:2] in ("RF", "RL", "EF")} <= set(answer_key.spec(model).clauses)


def test_every_module_says_what_it_is_for() -> None:
    for path in (path for part in CODE for path in (ROOT / part).rglob("*.py")):
        assert ast.get_docstring(ast.parse(path.read_text())), path


def test_nothing_below_the_command_line_reads_the_clock_or_the_environment() -> None:
    allowed = {"cli.py", "exam_commands.py", "limits.py", "workspace.py"}
    clock = re.compile(
        r"\b(time\.(time|monotonic|perf_counter)|datetime\.|os\.environ|os\.getenv|random\.(Random|random|seed|randint|choice)\b)"
    )
    for path in (ROOT / "concordance").rglob("*.py"):
        if path.name not in allowed:
            assert not clock.search(path.read_text()), path


def test_help_imports_nothing_heavy() -> None:
    script = """if True:
        import sys
        from concordance.cli import main
        main(["--help"], standalone_mode=False)
        print(sorted(sys.modules))
    """
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    for heavy in ("numpy", "flint", "msgspec", "markdown_it", "hypothesis", "jinja2"):
        assert f"'{heavy}'" not in done.stdout
