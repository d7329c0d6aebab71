"""Measure every speed promise as a ratio of two things timed in turns in this run, and print the median with its
bar.
"""

from __future__ import annotations

import json
import platform
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
import numpy_financial

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from built import hostile
from serving import running

from benchmarks import plain
from concordance import load_workspace
from concordance.cases import RandomCases, generate
from concordance.columns import from_answers
from concordance.compare import compare
from concordance.console import table
from concordance.grading import MOST_CASES, grade, read_grading_request
from concordance.implementations import Implementation, load
from concordance.spec import Inputs

ROOT = Path(__file__).resolve().parent.parent
KEY = load_workspace(ROOT)
ROUNDS = 9
LOANS = 1_000_000

Action = Callable[[], object]


class Ratio(NamedTuple):
    """One promise: what is timed against what, the ratio that was measured, and the bar."""

    what: str
    against: str
    measured: float
    bar: float
    at_most: bool = True

    @property
    def kept(self) -> bool:
        return self.measured <= self.bar if self.at_most else self.measured >= self.bar


def main() -> int:
    rows = []
    for ratio in measure():
        bar = f"{'at most' if ratio.at_most else 'at least'} {ratio.bar:g}"
        rows.append((ratio.what, ratio.against, f"{ratio.measured:.2f}", bar, "" if ratio.kept else "MISSED"))
        print(".", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    print(table(("timed", "against", "ratio", "bar", ""), rows))
    versions = f"Python {platform.python_version()}, numpy {np.__version__}"
    print(f"\nMedians of {ROUNDS} rounds; {platform.system()} {platform.machine()}, {versions}.")
    return any(row[-1] for row in rows)


def measure() -> Iterator[Ratio]:
    yield from comparison()
    yield from grading()
    yield reference()
    yield from loans()
    yield from processes()
    for model in KEY.models:
        yield from worst_batches(model)


def loans() -> Iterator[Ratio]:
    """The engine's payment, balance and interest of a million loans, against numpy_financial's on the same arrays."""
    rng = np.random.default_rng(1)
    balance, rate = rng.uniform(1e4, 1e6, LOANS), rng.uniform(0.01, 0.12, LOANS)
    months = rng.integers(60, 481, LOANS)
    after = (months * rng.uniform(0.1, 0.9, LOANS)).astype(np.int64)
    amortise = load(KEY.workspace, "engine", KEY.spec("refinance")).module.amortise

    def ours() -> None:
        amortise(balance, rate, months, after)

    def two() -> None:
        payment = numpy_financial.pmt(rate / 12, months, balance)
        numpy_financial.fv(rate / 12, after, payment, balance)

    def three() -> None:
        two()
        numpy_financial.ipmt(rate / 12, after, months, balance)

    engine = "engine: payment, balance, interest of 1e6 loans"
    yield Ratio(engine, "pmt + fv + ipmt (times faster)", ratio(three, ours), 2, at_most=False)
    yield Ratio(engine, "pmt + fv (times faster)", ratio(two, ours), 1, at_most=False)


def reference() -> Ratio:
    """The reference's certified outputs of a refinance case against the same outputs in plain floats."""
    spec = KEY.spec("refinance")
    inputs = [case.inputs for case in generate(spec) if case.kind == "random"]
    compute = load(KEY.workspace, "reference", spec).module.compute

    def certified() -> None:
        for one in inputs:
            compute(one)

    def floats() -> None:
        for one in inputs:
            plain.refinance(one)

    return Ratio("reference: a refinance case", "the same in plain Python floats", ratio(certified, floats), 10)


def comparison() -> Iterator[Ratio]:
    """Comparing a batch of parsed answers with expected columns against parsing it."""
    spec = KEY.spec("refinance")
    lines = (ROOT / f"vectors/refinance/{spec.version}.jsonl").read_text().splitlines()[1:]
    published = [json.loads(line)["expected"] for line in lines]
    expected = from_answers(spec.outputs, published)
    body = json.dumps(published)
    answers = json.loads(body)

    def compared() -> None:
        compare(spec.outputs, expected, from_answers(spec.outputs, answers))

    def plainly() -> None:
        for one, other in zip(published, answers, strict=True):
            plain.compare("", one, other)

    what = "comparing 250 refinance answers"
    yield Ratio(what, "json.loads of them", ratio(compared, lambda: json.loads(body)), 0.4)
    yield Ratio(what, "a plain recursive comparator (times faster)", ratio(plainly, compared), 3, at_most=False)


def grading() -> Iterator[Ratio]:
    """Grading 500 relocation answers in process and over HTTP, against json.loads of the same request."""
    spec, source = KEY.spec("relocation"), KEY.source("relocation")
    inputs = [RandomCases(spec).inputs(1_000 + number) for number in range(MOST_CASES)]
    right = source.expected(inputs).answers(spec.outputs)
    body, wrong = _request(inputs, right), _request(inputs, [_off(answer) for answer in right])
    bare = _request(inputs, [{n: v for n, v in answer.items() if n != "yearlyData"} for answer in right])

    def graded(request: bytes) -> Action:
        def action() -> bytes:
            answers, tolerance = read_grading_request(request)
            return msgspec.json.encode(grade(spec, source, answers, tolerance))

        return action

    def loaded(request: bytes) -> Action:
        return lambda: json.loads(request)

    against = "json.loads of the request"
    yield Ratio("grading 500 right relocation answers", against, ratio(graded(body), loaded(body)), 2.5)
    yield Ratio("grading 500 wrong relocation answers", against, ratio(graded(wrong), loaded(wrong)), 5)
    yield Ratio("the same without their tables", "with them", ratio(graded(bare), graded(body)), 1)
    with running() as server:
        connection = HTTPConnection(server.address.removeprefix("http://"))

        def posted() -> None:
            connection.request("POST", "/api/v1/grade/relocation", body, {"content-type": "application/json"})
            connection.getresponse().read()

        yield Ratio("grading 500 right ones over HTTP", against, ratio(posted, loaded(body)), 4)
        connection.close()
    for model in KEY.models:
        spec, draw = KEY.spec(model), RandomCases(KEY.spec(model))
        ordinary = _request([draw.inputs(number) for number in range(MOST_CASES)], [{}] * MOST_CASES)
        for name, batch in hostile(model).items():
            built = _request(batch, [{}] * len(batch))
            measured = ratio(_graded(model, built), _graded(model, ordinary))
            yield Ratio(f"grading {model}: {name}", "an ordinary batch", measured, 10)


def _graded(model: str, request: bytes) -> Action:
    return lambda: grade(KEY.spec(model), KEY.source(model), *read_grading_request(request))


def _request(inputs: Sequence[Inputs], answers: Sequence[Any]) -> bytes:
    cases = [{"inputs": one, "answer": answer} for one, answer in zip(inputs, answers, strict=True)]
    return json.dumps({"cases": cases}).encode()


def _off(value: Any) -> Any:
    """An answer with every number of it wrong."""
    if isinstance(value, dict):
        return {name: _off(item) for name, item in value.items()}
    return [_off(item) for item in value] if isinstance(value, list) else value * 1.01 + 1


def processes() -> Iterator[Ratio]:
    """Whole commands against importing what they stand on."""
    command = [sys.executable, "-m", "concordance"]
    script = Path(sys.executable).with_name("concordance")
    if script.exists():
        command = [str(script)]
    yield Ratio(
        "concordance --help",
        'python -c "import click"',
        ratio(_process(*command, "--help"), _python("import click")),
        1.5,
    )
    yield Ratio(
        "concordance check, all three models",
        'python -c "import numpy"',
        ratio(_process(*command, "check"), _python("import numpy")),
        6,
    )


def worst_batches(model: str) -> Iterator[Ratio]:
    """Batches built to need the most settling, against as many ordinary cases."""
    spec = KEY.spec(model)
    engine = load(KEY.workspace, "engine", spec)
    draw = RandomCases(spec)
    for name, inputs in hostile(model).items():
        ordinary = [draw.inputs(number) for number in range(len(inputs))]
        yield Ratio(f"{model}: {name}", "an ordinary batch", ratio(_run(engine, inputs), _run(engine, ordinary)), 10)


def ratio(one: Action, other: Action) -> float:
    """The median of the ratios of their times, taken in turns so that a slow spell of the machine meets both."""
    one(), other()
    return statistics.median(_seconds(one) / _seconds(other) for _ in range(ROUNDS))


def _seconds(action: Action) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def _run(engine: Implementation, inputs: list[Inputs]) -> Action:
    return lambda: engine.run(inputs)


def _process(*command: str) -> Action:
    return lambda: subprocess.run(command, cwd=ROOT, check=True, capture_output=True)


def _python(code: str) -> Action:
    return _process(sys.executable, "-c", code)


if __name__ == "__main__":
    random.seed(1)
    sys.exit(main())
