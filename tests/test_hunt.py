"""A hunt finds what the published cases miss, gives the same bytes whoever computes it, and loses nothing to deaths."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any

import pytest
from conftest import MODELS, ROOT, Run
from miniatures import ENGINE, REFERENCE, WRONG, write_workspace

import concordance.hunt
from concordance import AnswerKey
from concordance.cases import RandomCases
from concordance.console import hunt_json, hunt_text
from concordance.errors import ConcordanceError, ImplementationError, UnusableInputError
from concordance.hunt import FIRST, Found, Hunt, HuntedCases, Kept, Record, Target, hunt, merged, remaining, search
from concordance.pool import Crew, cluster, local
from concordance.spec import Inputs
from concordance.workspace import Workspace

CASES = 4_000
MIDDLE = FIRST + CASES // 2 + 3

# Right on every decimal; the miniature's own engine counts in cents, which twists rightly show to be wrong.
EXACT = (
    ENGINE.replace("import numpy", "from fractions import Fraction\n\nimport numpy")
    .replace('np.rint(inputs["rate"] * 100).astype(np.int64)', 'inputs["rate"] * 100')
    .replace(
        'np.rint(inputs["budget"] * 200).astype(np.int64) // np.maximum(halfcents, 1)',
        'np.array(list(map(visits_of, *(inputs[n].tolist() for n in ("hours", "rate", "budget", "member")))))',
    )
    .replace(
        "def compute",
        "def visits_of(hours, rate, budget, member):\n"
        "    cost = hours * Fraction(repr(rate))\n"
        "    return int(Fraction(repr(budget)) * (1 + member) / cost) if cost else 0\n\n\ndef compute",
    )
)
# One visit too few on one case in a thousand, drawn or twisted, and noise, so that there are deviations to report.
RARE = EXACT.replace(
    "        visits = np.where(halfcents == 0",
    "        whole = whole - ((hours == 5) & member & (halfcents > 5 * 950))\n        visits = np.where(halfcents == 0",
).replace("total = cost[case] * hour /", "total = cost[case] * (1 + 1e-12 * np.sin(hour)) * hour /")


CRASH = '    if (hours == 24).any() and member.any():\n        raise OverflowError("too long")\n'


def hunted(root: Path, cases: int = CASES, workers: int = 2, **options: Any) -> Hunt:
    workspace = Workspace(root)
    return hunt(workspace, workspace.spec("parking"), cases, **{"crew": local(workers)} | options)


def lethal(inputs: Inputs, only_once: Path | None = None, engine: str = RARE) -> str:
    """An engine that kills its process when it is asked for these inputs: always, or until it has left a mark."""
    here = " & ".join(f"(inputs[{name!r}] == {value!r})" for name, value in inputs.items())
    mark = f"not os.path.exists({str(only_once)!r})" if only_once else "True"
    kill = f"    if ({here}).any() and {mark}:\n"
    kill += f"        open({str(only_once)!r}, 'w').close()\n" if only_once else ""
    kill += "        os.kill(os.getpid(), 9)\n"
    return engine.replace("import numpy", "import os\n\nimport numpy").replace("    rows =", kill + "    rows =")


def interrupting(after: int) -> Callable[[int], None]:
    """A progress that interrupts the hunt once so many cases are done."""
    done = 0

    def progress(cases: int) -> None:
        nonlocal done
        done += cases
        if done >= after:
            raise KeyboardInterrupt

    return progress


@pytest.fixture(scope="module", autouse=True)
def small_ranges() -> Iterator[None]:
    """Several ranges to share out in a hunt of a few thousand cases."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(concordance.hunt, "RANGE", 500)
        yield


@pytest.fixture(scope="module")
def rare(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Hunt]:
    """A workspace whose engine is rarely wrong, and what one process finds there."""
    root = write_workspace(tmp_path_factory.mktemp("rare"), RARE)
    return root, hunted(root, workers=1)


def test_a_planted_disagreement_is_found_counted_kept_and_made_simple(rare: tuple[Path, Hunt]) -> None:
    _, result = rare
    assert (result.found.cases, result.found.errored, result.stopped) == (CASES, 0, "")
    assert [finding.case.number for finding in result.findings] == [1189, 1329, 3711, 4983]
    assert [finding.case.kind for finding in result.findings] == ["given", "given", "random", "random"]
    assert result.found.failed == 4
    for finding in result.findings:
        assert finding.differences[0].path == "visits"
        assert finding.case.inputs["hours"] == 5 and finding.case.inputs["member"]
        assert finding.clause == "PK-2 Visits"
        simplest = finding.simplest
        assert simplest and simplest.inputs["hours"] == 5
        assert len(json.dumps(simplest.inputs)) < len(json.dumps(finding.case.inputs))
    assert list(result.deviations) == ["cost", "hourly"]
    worst = result.deviations["hourly"]
    assert worst.path.startswith("hourly[") and worst.expected != worst.got and 0 < worst.share < 0.001


def test_the_replay_command_shows_the_same(rare: tuple[Path, Hunt], concordance: Run) -> None:
    root, result = rare
    for twisted in (False, True):
        finding = next(f for f in result.findings if (f.case.kind == "given") == twisted)
        done = subprocess.run(
            finding.replay.replace("concordance", f"{sys.executable} -m concordance", 1),
            shell=True,
            cwd=root,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 1
        assert "visits" in done.stdout


def test_two_workers_find_the_same_to_the_byte(rare: tuple[Path, Hunt]) -> None:
    root, result = rare
    assert hunt_json(hunted(root)) == hunt_json(result)


def test_an_interrupted_hunt_keeps_what_it_found_and_goes_on(rare: tuple[Path, Hunt], tmp_path: Path) -> None:
    root, result = rare
    file = tmp_path / "record.jsonl"
    part = hunted(root, resume=file, progress=interrupting(2_000))
    assert (part.found.cases, part.stopped) == (2_000, "interrupted")
    assert "2,000 of 4,000 cases" in hunt_text(part)
    told: list[int] = []
    again = hunted(root, resume=file, progress=told.append)
    assert (sum(told[:4]), sum(told)) == (2_000, CASES)
    assert hunt_json(again) == hunt_json(result)
    whole = file.read_bytes()
    assert hunted(root, resume=file, progress=interrupting(CASES)).found == result.found
    assert file.read_bytes() == whole, "nothing was left to do"


def test_a_torn_last_line_is_computed_again(rare: tuple[Path, Hunt], tmp_path: Path) -> None:
    root, result = rare
    file = tmp_path / "record.jsonl"
    hunted(root, resume=file)
    whole = file.read_bytes()
    file.write_bytes(whole[:-10])
    told: list[int] = []
    assert hunt_json(hunted(root, resume=file, progress=told.append)) == hunt_json(result)
    assert sum(told) == CASES
    assert sorted(file.read_bytes().splitlines()) == sorted(whole.splitlines())


def test_a_line_torn_anywhere_is_dropped(tmp_path: Path) -> None:
    header = {"hunt": "x"}
    record = Record(tmp_path / "record", header)
    assert list(record.finished()) == []
    begun = (tmp_path / "record").read_bytes()
    record.add(range(5), Found(5))
    one = (tmp_path / "record").read_bytes()
    record.add(range(5, 9), Found(4))
    two = (tmp_path / "record").read_bytes()
    for length in range(len(two)):
        (tmp_path / "record").write_bytes(two[:length])
        read = list(Record(tmp_path / "record", header).finished())
        assert read == ([(range(5), Found(5))] if length >= len(one) else [])
        assert (tmp_path / "record").read_bytes() == (one if length >= len(one) else begun)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda header: header | {"cases": 20}, "is the record of another hunt: its cases is 20, this one's is 4000"),
        (lambda header: header | {"engine": "x"}, "its engine is x"),
        (lambda header: header | {"spec": "x"}, "its spec is x"),
        (lambda header: {"some": "file"}, "is no record of a hunt"),
        (lambda header: [1], "is no record of a hunt"),
    ],
)
def test_the_record_of_another_hunt_is_refused(
    rare: tuple[Path, Hunt], tmp_path: Path, change: Callable[[Any], Any], says: str
) -> None:
    root, _ = rare
    file = tmp_path / "record.jsonl"
    hunted(root, resume=file, progress=interrupting(0))
    header, *rest = file.read_text().splitlines()
    file.write_text("\n".join([json.dumps(change(json.loads(header))), *rest]) + "\n")
    before = file.read_bytes()
    with pytest.raises(UnusableInputError, match=says):
        hunted(root, resume=file)
    assert file.read_bytes() == before


@pytest.mark.parametrize("content", [b"precious", b"precious\n", b"\0\n"])
def test_a_file_that_is_no_record_is_left_alone(rare: tuple[Path, Hunt], tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "mine.txt"
    file.write_bytes(content)
    with pytest.raises(UnusableInputError, match=r"mine.txt: is no record of a hunt"):
        hunted(rare[0], resume=file)
    assert file.read_bytes() == content


def test_a_damaged_line_is_named(rare: tuple[Path, Hunt], tmp_path: Path) -> None:
    file = tmp_path / "record.jsonl"
    hunted(rare[0], resume=file, progress=interrupting(0))
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join([lines[0], b'{"start":1000}\n', *lines[1:]]))
    with pytest.raises(UnusableInputError, match=r"record.jsonl:2: is damaged"):
        hunted(rare[0], resume=file)


def test_a_record_keeps_every_value(tmp_path: Path) -> None:
    difference = {"path": "visits", "expected": 10**300, "got": "\ud800", "note": "type-mismatch"}
    found = Found(2, 1, 1, kept=(Kept(3, "failed", difference), Kept(4, "errored", errors=("é",))))
    record = Record(tmp_path / "record", {"hunt": "x"})
    assert list(record.finished()) == []
    for stretch in (range(5), range(5, 9), range(5)):
        record.add(stretch, found)
    assert list(record.finished()) == [(range(5), found), (range(5, 9), found)]


def test_a_worker_that_is_killed_loses_nothing(rare: tuple[Path, Hunt], tmp_path: Path) -> None:
    _, result = rare
    mark = tmp_path / "mark"
    inputs = HuntedCases(result.spec).inputs(MIDDLE)
    other = write_workspace(tmp_path / "workspace", lethal(inputs, mark))
    assert hunt_json(hunted(other)) == hunt_json(result)
    assert mark.exists()


def test_a_case_that_always_kills_is_named(
    rare: tuple[Path, Hunt], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(concordance.hunt, "RANGE", 20)
    inputs = HuntedCases(rare[1].spec).inputs(MIDDLE)
    options = {"first": MIDDLE - 50, "resume": tmp_path / "record"}
    found = hunted(write_workspace(tmp_path, lethal(inputs)), 100, **options)
    assert (found.found.cases, found.found.failed, found.found.errored, found.stopped) == (100, 0, 1, "")
    (named,) = (finding for finding in found.findings if finding.outcome == "errored")
    assert (named.case.number, named.case.inputs, named.errors) == (
        MIDDLE,
        inputs,
        ("the process that computed it died",),
    )
    assert hunt_json(hunted(tmp_path, 100, **options)) == hunt_json(found), "and is not run again"


def test_a_hunt_ends_early_when_everything_kills(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(concordance.hunt, "RANGE", 1)
    monkeypatch.setattr(concordance.hunt, "LETHAL", 1)
    root = write_workspace(tmp_path, ENGINE.replace("    rows =", "    __import__('os')._exit(1)\n    rows ="))
    result = hunted(root, 1_000)
    assert (result.found.errored, result.stopped) == (1, "cases kill the process that computes them (1 so far)")


def test_crashes_are_errors_of_their_cases(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(concordance.hunt, "KEPT", 5)
    root = write_workspace(tmp_path, EXACT.replace("    rows =", CRASH + "    rows ="))
    result = hunted(root, 2_000)
    cases = HuntedCases(result.spec)
    crashing = [n for n in result.numbers if (i := cases.inputs(n))["hours"] == 24 and i["member"]]
    assert (result.found.failed, result.found.errored) == (0, len(crashing))
    assert [finding.case.number for finding in result.findings] == crashing[:5]
    assert result.findings[0].errors[0].startswith("engine crashed: OverflowError: too long")
    assert f"and {len(crashing) - 5} more cases" in hunt_text(result)


def test_a_missing_output_is_shown_as_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(concordance.hunt, "KEPT", 2)
    result = hunted(write_workspace(tmp_path, WRONG["drops a key"]), 100)
    assert result.found.failed == 100
    assert "(nothing)" in hunt_text(result)
    assert "got" not in json.loads(hunt_json(result))["findings"][0]["differences"][0]


def test_an_answer_that_depends_on_its_neighbours_is_said_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(concordance.hunt, "KEPT", 2)
    root = write_workspace(
        tmp_path, ENGINE.replace("cost = halfcents / 200", "cost = halfcents / (199 + len(hours) % 2)")
    )
    result = hunted(root, 100)
    assert result.found.failed > 50
    assert result.findings[0].errors == ("alone the two agree, so an answer depends on the cases beside it",)
    assert result.findings[0].differences[0].path == "cost"


def test_what_cannot_be_loaded_is_one_error(tmp_path: Path) -> None:
    with pytest.raises(ImplementationError, match="has no function compute"):
        hunted(write_workspace(tmp_path, ENGINE.replace("def compute", "def calculate")))


def test_a_worker_refuses_other_sources(rare: tuple[Path, Hunt], tmp_path: Path) -> None:
    root, result = rare
    workspace = Workspace(root)
    target = Target.of(workspace, result.spec)
    other = write_workspace(tmp_path / "other", RARE + "\n")
    for path, says in ((other, "sees other sources"), (tmp_path / "none", "cannot read it")):
        with pytest.raises(UnusableInputError, match=says):
            search(Target(str(path), *[getattr(target, name) for name in target.__struct_fields__[1:]]), range(2))


def test_a_script_without_a_guard_is_told(rare: tuple[Path, Hunt], tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "from pathlib import Path\nfrom concordance.hunt import hunt\nfrom concordance.workspace import Workspace\n"
        f"w = Workspace(Path({str(rare[0])!r}))\nhunt(w, w.spec('parking'), 10)\n"
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=60, check=False)
    assert "ConcordanceError: worker processes end as soon as they start" in done.stderr


def test_ranges_are_cut_at_the_same_numbers_whatever_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(concordance.hunt, "RANGE", 2_000)
    numbers = range(1_000, 8_500)
    whole = list(remaining(numbers, []))
    assert [(r.start, r.stop) for r in whole] == [(1_000, 3_000), (3_000, 5_000), (5_000, 7_000), (7_000, 8_500)]
    assert list(remaining(numbers, whole)) == []
    assert list(remaining(numbers, [whole[2], whole[0]])) == [whole[1], whole[3]]
    assert list(remaining(numbers, [range(3_500, 3_501)]))[1:3] == [range(3_000, 3_500), range(3_501, 5_000)]


def test_merging_minds_no_order_and_no_grouping(rare: tuple[Path, Hunt], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(concordance.hunt, "KEPT", 3)
    root, result = rare
    target = Target.of(Workspace(root), result.spec)
    parts = [search(target, range(n, n + 200)) for n in range(1_000, 5_000, 200)]
    expected = search(target, range(1_000, 5_000))
    shuffle = random.Random(1)
    for _ in range(20):
        heap = list(parts)
        shuffle.shuffle(heap)
        while len(heap) > 1:
            one, other = heap.pop(shuffle.randrange(len(heap))), heap.pop(shuffle.randrange(len(heap)))
            heap.insert(shuffle.randrange(len(heap) + 1), merged(one, other))
        assert heap[0] == expected
    assert len(expected.kept) == 3 < expected.failed


def test_a_tenth_is_twisted_and_stays_in_the_domain(answer_key: AnswerKey) -> None:
    for model in MODELS:
        spec = answer_key.spec(model)
        cases, drawn = HuntedCases(spec), RandomCases(spec)
        changed = [n for n in range(1_000, 3_000) if cases.inputs(n) != drawn.inputs(n)]
        assert 140 < len(changed) <= 200 and {n % 10 for n in changed} == {9}
        for number in changed:
            inputs = cases.case(number).inputs
            assert spec.read_inputs(inputs) == inputs == HuntedCases(spec).inputs(number)


def test_twists_reach_the_items_of_lists() -> None:
    workspace = Workspace(ROOT / "tests" / "workspaces" / "debts")
    spec = workspace.spec(workspace.models[0])
    cases, drawn = HuntedCases(spec), RandomCases(spec)
    lists = [field.name for field in spec.inputs if field.type == "list"]
    changed = [n for n in range(9, 5_009, 10) if cases.inputs(n)[lists[0]] != drawn.inputs(n)[lists[0]]]
    assert len(changed) > 50
    for number in changed:
        assert spec.read_inputs(cases.inputs(number)) == cases.inputs(number)


MEASURE = """
import resource, sys
from pathlib import Path
from concordance.hunt import hunt
from concordance.pool import local
from concordance.workspace import Workspace

if __name__ == "__main__":
    workspace = Workspace(Path(sys.argv[1]))
    result = hunt(workspace, workspace.spec("parking"), int(sys.argv[2]), crew=local(2))
    assert result.found.cases == int(sys.argv[2])
    print(*(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="peak memory is read as Linux counts it")
def test_memory_stays_level(tmp_path: Path) -> None:
    script = tmp_path / "measure.py"
    script.write_text(MEASURE)
    quick = REFERENCE.replace("for h in range(int(hours) + 1)]", "for h in range(1)]")  # else it takes a minute
    engine = EXACT.replace("rows = hours + 1", "rows = np.ones_like(hours)")
    root = write_workspace(tmp_path / "workspace", engine, quick)
    peaks = []
    for cases in (20_000, 100_000):
        done = subprocess.run(
            [sys.executable, script, root, str(cases)], capture_output=True, text=True, timeout=120, check=True
        )
        peaks.append([int(peak) for peak in done.stdout.split()])
    for few, many in zip(*peaks, strict=True):
        assert many <= 1.2 * few


def start_hunting(root: Path, file: Path) -> subprocess.Popen[str]:
    """The real command at work in a session of its own, with some ranges on record."""
    command = [sys.executable, "-m", "concordance", "hunt", "parking", "--cases", "1000000", "--resume", str(file)]
    process = subprocess.Popen(
        [*command, "--workers", "2"], cwd=root, stdout=-1, stderr=-1, text=True, start_new_session=True
    )
    until(lambda: file.exists() and file.read_bytes().count(b"\n") > 2)
    return process


def until(holds: Callable[[], bool], seconds: float = 30) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)


def alive(session: int) -> bool:
    """Whether a process group still has a process."""
    try:
        os.killpg(session, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.skipif(os.name == "nt", reason="interrupts a process group as a terminal does")
def test_an_interrupt_ends_the_command_cleanly(rare: tuple[Path, Hunt], tmp_path: Path, concordance: Run) -> None:
    process = start_hunting(rare[0], tmp_path / "record")
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 1, "what was found so far has disagreements"
    assert "of 1,000,000 cases" in out and "The hunt ended early: interrupted." in out
    assert err == "the same command goes on from here\n"
    until(lambda: not alive(process.pid))


@pytest.mark.skipif(os.name == "nt", reason="kills a process outright")
def test_no_worker_outlives_a_killed_hunt(rare: tuple[Path, Hunt], tmp_path: Path) -> None:
    process = start_hunting(rare[0], tmp_path / "record")
    process.kill()
    process.communicate(timeout=30)
    until(lambda: not alive(process.pid))


def test_the_command_says_what_was_found(rare: tuple[Path, Hunt], concordance: Run) -> None:
    root, result = rare
    done = concordance("hunt", "parking", "--cases", str(CASES), "--format", "json", cwd=root)
    assert (done.returncode, done.stdout) == (1, hunt_json(result) + "\n")
    done = concordance("hunt", "parking", "--cases", "300", "--first", "2000", "--workers", "1", cwd=root)
    assert done.returncode == 0, done.stdout
    assert done.stdout.startswith("parking 1.0.0: numbers 2000 to 2299\n")
    assert done.stdout.endswith("\nBoth implementations agree on all 300 cases.\n")


@pytest.mark.parametrize("model", MODELS)
def test_both_implementations_agree_beyond_the_published(answer_key: AnswerKey, model: str) -> None:
    result = hunt(answer_key.workspace, answer_key.spec(model), 2_000)
    assert result.ok and result.found.cases == 2_000, hunt_text(result)


def test_unusable_options_end_with_2(concordance: Run) -> None:
    for options in ([], ["--cases", "10", "--workers", "2", "--scheduler", "tcp://127.0.0.1:1"]):
        done = concordance("hunt", "refinance", *options)
        assert (done.returncode, done.stdout) == (2, "")


def test_a_killed_dask_worker_loses_nothing(
    rare: tuple[Path, Hunt], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    distributed = pytest.importorskip("distributed", reason="needs the extra cluster: pip install -e '.[cluster]'")
    monkeypatch.setenv("PYTHONWARNINGS", "ignore")
    root, result = rare
    setup = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with (
        distributed.LocalCluster(**setup, worker_dashboard_address=None, silence_logs=50) as machines,
        distributed.Client(machines) as client,
        cluster(machines.scheduler_address) as crew,
    ):
        pids = list(client.run(os.getpid).values())
        assert len(set(pids)) == 2
        done = 0

        def kill_half_way(cases: int) -> None:
            nonlocal done
            if done < CASES // 2 <= done + cases:
                os.kill(pids[0], signal.SIGKILL)
            done += cases

        assert hunt_json(hunted(root, crew=crew, progress=kill_half_way)) == hunt_json(result)
        assert done == CASES
        until(lambda: pids[0] not in client.run(os.getpid).values())


def test_workers_that_are_lost_for_good_are_one_error(rare: tuple[Path, Hunt], monkeypatch: pytest.MonkeyPatch) -> None:
    class Silent(Executor):
        def submit(self, *_: Any, **__: Any) -> Future[Any]:  # type: ignore[override]
            return Future()

    monkeypatch.setattr("concordance.pool.PATIENCE", 0.1)
    nobody = Crew(Silent, lambda: 0, (), Executor.shutdown, chances=1)
    with pytest.raises(ConcordanceError, match="has lost all its workers"):
        hunted(rare[0], crew=nobody)


def test_a_cluster_that_is_not_there_is_one_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("concordance.pool.PATIENCE", 1)
    pytest.importorskip("distributed", reason="needs the extra cluster: pip install -e '.[cluster]'")
    with pytest.raises(UnusableInputError, match="no Dask scheduler answers"), cluster("tcp://127.0.0.1:1"):
        pass


def test_a_cluster_needs_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(UnusableInputError, match="pip install"), cluster("tcp://127.0.0.1:1"):
        pass
