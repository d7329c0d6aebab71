"""A team gets a workspace of its own that works at once, nothing of its own is overwritten, and models may be unlike
ours: `workspaces/debts` takes a list.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, Run

from concordance import load_workspace, scaffold
from concordance.cases import generate
from concordance.check import check_model
from concordance.errors import SpecError, WorkspaceError
from concordance.scaffold import clause_prefix, init, new_model
from concordance.spec import parse_spec
from concordance.workspace import Workspace, builtin_workspace, open_workspace

DEBTS = Path(__file__).resolve().parent / "workspaces" / "debts"
MODEL_FILES = {
    "specs/car-loan/1.0.0.md",
    "engine/car_loan.py",
    "reference_impl/car_loan.py",
    "tests/test_car_loan.py",
}


def files(root: Path) -> dict[str, bytes]:
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def pytest_in(root: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    return subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=120, check=False)


@pytest.fixture
def team(tmp_path: Path) -> Path:
    """A new workspace with the new model car-loan."""
    root = tmp_path / "team"
    init(root)
    new_model(open_workspace(root), "car-loan")
    return root


def test_a_new_workspace_and_a_new_model_work_at_once(concordance: Run, tmp_path: Path) -> None:
    made = concordance("init", "team", cwd=tmp_path)
    assert (made.returncode, made.stderr) == (0, "")
    root = tmp_path / "team"
    for arguments, says in (
        (("new", "car-loan", "--title", "A car, on credit"), "next: concordance check car-loan"),
        (("check",), "250/250"),
        (("export",), "wrote vectors/car-loan/1.0.0.jsonl"),
        (("verify",), "every byte reproduced"),
    ):
        done = concordance(*arguments, cwd=root)
        assert (done.returncode, done.stderr) == (0, "")
        assert says in done.stdout
    assert set(files(root)) >= MODEL_FILES


def test_every_file_that_is_written_is_said_and_returned(tmp_path: Path) -> None:
    said: list[str] = []
    written = init(tmp_path, said.append)
    assert said == [f"wrote {path}" for path in written]
    assert {path.relative_to(tmp_path).as_posix() for path in written} == set(files(tmp_path))
    added = new_model(Workspace(tmp_path), "car-loan")
    assert {path.relative_to(tmp_path).as_posix() for path in added} == MODEL_FILES


def test_a_new_workspace_keeps_the_published_conventions_and_runs_the_gate_in_ci(team: Path) -> None:
    assert (team / "specs/CONVENTIONS.md").read_bytes() == (ROOT / "specs/CONVENTIONS.md").read_bytes()
    workflow = (team / ".github/workflows/concordance.yml").read_text()
    assert "- run: pip install concordance-key\n" in workflow
    assert "- run: concordance gate --base origin/main" in workflow
    for folder in ("engine", "reference_impl", "vectors", "changelog"):
        assert (team / folder).is_dir()


def test_the_tests_that_come_with_it_pass_and_fail_where_the_gate_blocks(team: Path) -> None:
    done = pytest_in(team)
    assert done.returncode == 0, done.stdout
    engine = team / "engine/car_loan.py"
    engine.write_text(engine.read_text().replace('"never", "saving"', '"saving", "never"'))
    done = pytest_in(team)
    assert done.returncode == 1
    assert "check car-loan --case car-loan-0000" not in done.stdout  # ready, and rightly so
    assert "check car-loan --case car-loan-0002" in done.stdout


def test_the_new_models_edges_are_worth_having(team: Path) -> None:
    engine = team / "engine/car_loan.py"
    floats_alone = engine.read_text().replace("<= error", "< 0")
    assert floats_alone != engine.read_text()
    engine.write_text(floats_alone)
    (result,) = load_workspace(team).check()
    first = result.findings[0]
    assert (first.case.kind, first.clause) == ("edge", "CL-2 Months")


def test_each_model_has_words_of_its_own(team: Path) -> None:
    new_model(open_workspace(team), "second-home", 'A "second" home \\ für später', "2.0.0")
    workspace = open_workspace(team)
    assert workspace.models == ("car-loan", "second-home")
    assert workspace.spec("car-loan").title == "Car loan"
    second = workspace.spec("second-home")
    assert (second.title, second.version, second.path) == (
        'A "second" home \\ für später',
        "2.0.0",
        "specs/second-home/2.0.0.md",
    )
    assert list(second.clauses) == ["SH-1", "SH-2", "SH-3", "SH-4"]
    assert all(result.ok and result.cases == 250 for result in load_workspace(team).check())


@pytest.mark.parametrize(
    ("name", "prefix"),
    [("car-loan", "CL"), ("savings", "SA"), ("a-b-c-d", "ABC"), ("plan-529", "PL"), ("x", "XX"), ("x1-y2", "XY")],
)
def test_clauses_are_named_after_the_model(name: str, prefix: str) -> None:
    assert clause_prefix(name) == prefix


@pytest.mark.parametrize("name", ["README.md", "specs", "engine/__init__.py", "tests", ".github"])
def test_init_overwrites_nothing(tmp_path: Path, name: str) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("mine")
    with pytest.raises(WorkspaceError, match="nothing is overwritten") as caught:
        init(tmp_path)
    assert f"holds {name}, and" in str(caught.value)
    assert files(tmp_path) == {name: b"mine"}


def test_init_leaves_what_is_not_in_the_way(tmp_path: Path) -> None:
    (tmp_path / "engine").mkdir()
    for name in ("LICENSE", "engine/ours.py"):
        (tmp_path / name).write_text("mine")
    init(tmp_path)
    assert {name for name, content in files(tmp_path).items() if content == b"mine"} == {"LICENSE", "engine/ours.py"}


def test_what_comes_into_the_way_meanwhile_is_not_overwritten_either(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "README.md").write_text("mine")
    monkeypatch.setattr(scaffold, "_in_the_way", lambda root, names: [])
    with pytest.raises(WorkspaceError, match=r"README\.md: cannot be written: File exists"):
        init(tmp_path)
    assert files(tmp_path) == {"README.md": b"mine"}


def test_init_refuses_a_workspace_and_a_file(concordance: Run, team: Path) -> None:
    before = files(team)
    done = concordance("init", str(team))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"error: {team}: is a workspace already (`concordance new MODEL` adds a model to it)\n"
    done = concordance("init", str(team / "README.md"))
    assert (done.returncode, done.stdout) == (2, "")
    assert "README.md" in done.stderr
    assert files(team) == before


@pytest.mark.parametrize(
    "name",
    [
        "Car",
        "car_loan",
        "car loan",
        "car.loan",
        "../car",
        "car/loan",
        "-car",
        "car-",
        "car--loan",
        "4car",
        "é",
        "a\n",
        "",
        "class",
        "import",
        "x" * 61,
    ],
)
def test_a_name_that_is_none_is_refused(team: Path, name: str) -> None:
    before = files(team)
    with pytest.raises(WorkspaceError, match="cannot name a model"):
        new_model(open_workspace(team), name)
    assert files(team) == before


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("car-loan",), 'has a model "car-loan" already'),
        (("answer-key",), r"holds tests/test_answer_key\.py, and nothing is overwritten"),
        (("other", " "), "the title is empty"),
        (("other", "two\nlines"), "the title is empty or not one line"),
        (("other", "Other", "1.0"), '"1.0" is no version'),
    ],
)
def test_new_refuses_what_it_cannot_add(team: Path, arguments: Any, says: str) -> None:
    before = files(team)
    with pytest.raises(WorkspaceError, match=says):
        new_model(open_workspace(team), *arguments)
    assert files(team) == before


def test_the_built_in_workspace_gets_no_model(concordance: Run, tmp_path: Path) -> None:
    with pytest.raises(WorkspaceError, match="the built-in workspace is read-only"):
        new_model(builtin_workspace(), "car-loan")
    done = concordance("new", "car-loan", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "run this in a workspace folder" in done.stderr
    assert files(tmp_path) == {}


def test_two_workspaces_never_see_each_others_code(tmp_path: Path) -> None:
    roots = [tmp_path / "one", tmp_path / "two"]
    for root, limit in zip(roots, (12, 24), strict=True):
        init(root)
        new_model(open_workspace(root), "car-loan")
        for side, module in (("engine", "car_loan"), ("reference_impl", "car_loan")):
            path = root / side / f"{module}.py"
            text = path.read_text().replace("LAST_MONTH = 1200", "from .limits import LAST_MONTH")
            path.write_text(text)
            (root / side / "limits.py").write_text(f'"""The last month that counts."""\n\nLAST_MONTH = {limit}\n')
    keys = [load_workspace(root) for root in roots]
    inputs = {"price": 2000, "saved": 0, "monthly": 100}
    for side in ("engine", "reference"):
        answers = [key.compute("car-loan", inputs, impl=side)["months"] for key in (*keys, *keys)]  # type: ignore[arg-type]
        assert answers == ["Infinity", 20, "Infinity", 20]
    assert all(result.ok for key in keys for result in key.check())
    assert "engine" not in sys.modules or not str(sys.modules["engine"].__file__).startswith(str(tmp_path))


def test_a_model_that_takes_a_list_passes_the_gate(concordance: Run) -> None:
    done = concordance("--workspace", str(DEBTS), "check")
    assert (done.returncode, done.stderr) == (0, "")
    assert "debt-payoff  1.0.0  250/250  0       0 " in done.stdout


def test_a_model_with_a_list_or_a_text_has_no_corners() -> None:
    spec = load_workspace(DEBTS).spec("debt-payoff")
    kinds = [case.kind for case in generate(spec)]
    assert kinds == ["edge"] * len(spec.edges) + ["random"] * (250 - len(spec.edges))
    assert len(spec.edges) >= 8


def test_the_random_lists_are_worth_having() -> None:
    key = load_workspace(DEBTS)
    cases = [case.inputs for case in generate(key.spec("debt-payoff")) if case.kind == "random"]
    answers = [key.compute("debt-payoff", inputs) for inputs in cases]
    assert {len(inputs["debts"]) for inputs in cases} == {1, 2, 3, 4, 5}
    assert {answer["firstPaid"] for answer in answers} >= {"1", "2", "3"}
    assert min([answer["budgetCoversMinimums"] for answer in answers].count(covers) for covers in (True, False)) > 50
    assert 5 < sum(answer["months"] == "Infinity" for answer in answers) < 50


DEBT = {"balance": 100, "annualRate": 0.1, "minimumPayment": 10}


@pytest.mark.parametrize(
    ("debts", "field", "says"),
    [
        ([DEBT, DEBT | {"balance": -1}], "debts[1].balance", "must be a number from 0 to 1000000, not -1"),
        ([DEBT, {"balance": 1, "annualRate": 0}], "debts[1].minimumPayment", "is missing; must be a number"),
        ([DEBT | {"colour": 1}], "debts[0].colour", "is no input; the inputs here are balance, annualRate"),
        ([DEBT, 5], "debts[1]", "must be an object of inputs, not 5"),
        ([DEBT] * 7, "debts", "must be a list of 0 to 6 objects with balance, annualRate, minimumPayment, not ["),
        (DEBT, "debts", "must be a list of 0 to 6 objects"),
    ],
)
def test_bad_items_are_named_by_their_path(concordance: Run, debts: Any, field: str, says: str) -> None:
    line = json.dumps({"monthlyBudget": 50, "strategy": "snowball", "debts": debts})
    done = concordance("--workspace", str(DEBTS), "eval", "debt-payoff", input=line + "\n")
    assert done.returncode == 2
    (error,) = json.loads(done.stdout)["errors"]
    assert error["field"] == field
    assert says in error["message"]


@pytest.fixture
def debts_copy(tmp_path: Path) -> Path:
    """A copy of the debts workspace that a test may break."""
    root = tmp_path / "debts"
    shutil.copytree(DEBTS, root, ignore=shutil.ignore_patterns("__pycache__"))
    return root


@pytest.mark.parametrize(
    ("right", "wrong", "edges"),
    [
        ("sorted(range(len(key))", "sorted(reversed(range(len(key)))", ["0002", "0003"]),
        ("[(k, self.minimums[k]) for k in debts]", "[(k, self.minimums[k]) for k in self.priority]", ["0014"]),
        ("sum(map(min, self.minimums, self.owed))", "sum(self.minimums)", ["0001", "0015"]),
        ("+ 12 * d)", "+ 12 * d - 1)", ["0010"]),
        ("if paid and not", "if not", ["0001"]),
        ("LAST_MONTH = 600", "LAST_MONTH = 599", ["0007"]),
    ],
)
def test_a_fault_in_the_debts_engine_is_found_by_the_edge_that_is_aimed_at_it(
    debts_copy: Path, right: str, wrong: str, edges: list[str]
) -> None:
    engine = debts_copy / "engine/debt_payoff.py"
    assert right in engine.read_text()
    engine.write_text(engine.read_text().replace(right, wrong))
    key = load_workspace(debts_copy)
    cases = {case.id: case.inputs for case in generate(key.spec("debt-payoff"))}
    for number in edges:
        inputs = cases[f"debt-payoff-{number}"]
        assert key.compute("debt-payoff", inputs) != key.compute("debt-payoff", inputs, impl="reference"), number


def test_vectors_of_lists_are_written_and_reproduced(concordance: Run, debts_copy: Path) -> None:
    for command in ("export", "verify"):
        assert concordance(command, cwd=debts_copy).returncode == 0


def test_a_reference_that_reorders_its_list_changes_nothing_that_the_engine_is_asked(debts_copy: Path) -> None:
    reference = debts_copy / "reference_impl/debt_payoff.py"
    reversing = '    inputs["debts"].reverse()\n    given = list('
    reference.write_text(reference.read_text().replace("    given = list(", reversing))
    workspace = open_workspace(debts_copy)
    spec = workspace.spec("debt-payoff")
    three_debts = next(case for case in generate(spec) if case.id == "debt-payoff-0005")
    (result,) = check_model(workspace, spec, [three_debts])
    assert result.failed == 1


def test_a_profile_may_draw_a_lists_length(debts_copy: Path) -> None:
    text = (debts_copy / "specs/debt-payoff/1.0.0.md").read_text()
    tight = "draws = { monthlyBudget = { uniform = [1, 100] } }"
    for draw, lengths in (("value = 6", {6}), ("uniform = [5, 6]", {5, 6}), ("choose = [0, 6]", {0, 6})):
        spec = parse_spec(text.replace(tight, f"draws = {{ debts = {{ {draw} }} }}"), "specs/x.md")
        drawn = {len(case.inputs["debts"]) for case in generate(spec) if case.kind == "random"}
        assert drawn == {1, 2, 3, 4, 5} | lengths
    with pytest.raises(SpecError, match="the draw of debts must be a whole number from 0 to 6, not 7"):
        parse_spec(text.replace(tight, "draws = { debts = { value = 7 } }"), "specs/x.md")


def test_a_reference_that_sorts_its_list_in_place_does_not_change_the_question(tmp_path: Path) -> None:
    root = tmp_path / "debts"
    shutil.copytree(ROOT / "tests/workspaces/debts", root)
    path = root / "reference_impl/debt_payoff.py"
    path.write_text(
        path.read_text()
        + "\n\n_right = compute\n\n\ndef compute(inputs):\n    inputs['debts'].reverse()\n    return _right(inputs)\n"
    )
    workspace = Workspace(root)
    (result,) = check_model(workspace, workspace.spec("debt-payoff"))
    assert result.failed > 20
