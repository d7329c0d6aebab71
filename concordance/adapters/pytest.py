"""A pytest plugin: `@pytest.mark.answer_key("refinance")` over a test that returns a model's answer runs it on every
published case.

    @pytest.mark.answer_key("refinance")
    def test_my_model(inputs):
        return my_model(**inputs)

Each of the 250 cases is a test of its own, named by its id. What the function returns is graded; a wrong answer fails
with its differences, the reason why the case is there, and what an answer may hang on. The marker takes `outputs` (only
these are compared), `rel` and `abs` (a looser tolerance, as in the API) and `workspace` (a folder). Installed with
Concordance, it does nothing unless a test has the marker.
"""

from __future__ import annotations

import copy
from collections.abc import Generator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from concordance import AnswerKey
    from concordance.cases import Case
    from concordance.grading import CaseResult

MARKER = "answer_key"
_keys: dict[str, AnswerKey] = {}


class _Inputs(dict[str, Any]):
    """A copy of a case's inputs that the test may do with as it likes."""

    def __init__(self, case: Case) -> None:
        super().__init__(copy.deepcopy(case.inputs))
        self.case = case


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        f"{MARKER}(model, *, outputs=(), rel=None, abs=None, workspace=None): run the test on each of the model's "
        "published cases as `inputs`, and grade the answer that it returns",
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    marker = metafunc.definition.get_closest_marker(MARKER)
    if marker is None:
        return
    if "inputs" not in metafunc.fixturenames:
        raise pytest.UsageError(f"{metafunc.definition.nodeid}: a test marked {MARKER} takes an argument `inputs`")
    cases = _cases(marker, metafunc.definition.nodeid)
    metafunc.parametrize("inputs", list(map(_Inputs, cases)), ids=[case.id for case in cases])


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> object | None:
    marker = pyfuncitem.get_closest_marker(MARKER)
    if marker is None:
        return None
    names = pyfuncitem._fixtureinfo.argnames
    answer = pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names})
    inputs = pyfuncitem.callspec.params["inputs"]
    assert isinstance(inputs, _Inputs)
    if wrong := _wrong(marker, inputs.case, answer):
        pytest.fail(wrong, pytrace=False)
    return True


def _model(marker: pytest.Mark, where: str) -> tuple[AnswerKey, str]:
    from concordance import load_workspace

    if len(marker.args) != 1 or not isinstance(marker.args[0], str):
        raise pytest.UsageError(f'{where}: the marker names one model: @pytest.mark.{MARKER}("refinance")')
    if unknown := set(marker.kwargs) - {"outputs", "rel", "abs", "workspace"}:
        raise pytest.UsageError(f"{where}: the marker {MARKER} does not take {', '.join(sorted(unknown))}")
    root = marker.kwargs.get("workspace")
    if (name := str(root)) not in _keys:
        _keys[name] = load_workspace(root)
    return _keys[name], marker.args[0]


def _cases(marker: pytest.Mark, where: str) -> list[Case]:
    from concordance.cases import generate
    from concordance.errors import ConcordanceError

    try:
        key, model = _model(marker, where)
        spec = key.spec(model)
    except ConcordanceError as error:
        raise pytest.UsageError(f"{where}: {error}") from None
    if unknown := [name for name in marker.kwargs.get("outputs", ()) if name not in spec.output]:
        raise pytest.UsageError(f"{where}: {model} has no output {', '.join(unknown)}; it has {', '.join(spec.output)}")
    return generate(spec)


def _wrong(marker: pytest.Mark, case: Case, answer: Any) -> str:
    """Why an answer is wrong, as a person reads it; empty if it is right."""
    key, model = _model(marker, "")
    tolerance = {name: marker.kwargs[name] for name in ("rel", "abs") if marker.kwargs.get(name) is not None}
    grading = key.grade(model, [{"inputs": case.inputs, "answer": _plain(answer)}], tolerance or None)
    (result,) = grading.results
    outputs = marker.kwargs.get("outputs") or tuple(grading.by_output)
    if not any(grading.by_output[name].failed or grading.by_output[name].missing for name in outputs):
        return ""
    return "\n".join(_lines(case, result, outputs))


def _plain(value: Any) -> Any:
    """An answer as JSON carries it: numbers of numpy, Decimal and Fraction are numbers here."""
    from numbers import Integral, Real

    if isinstance(value, dict):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, (bool, str)) or value is None:
        return value
    if type(value).__name__ == "bool_":
        return bool(value)
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real) or type(value).__name__ == "Decimal":
        return float(value)
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    return value


def _lines(case: Case, result: CaseResult, outputs: tuple[str, ...]) -> Generator[str, None, None]:
    from concordance.console import table
    from concordance.numbers import json_text

    yield f"{case.id} ({case.kind}): the answer is wrong"
    if case.rationale:
        yield case.rationale
    yield ""
    rows = [
        (d.path, json_text(d.expected), json_text(d.got) if d.note != "missing" else "", d.note)
        for d in result.diffs
        if d.path.partition("[")[0].partition(".")[0] in outputs
    ]
    yield (
        table(("path", "expected", "got", "note"), rows) if rows else "the differences are beyond those that are shown"
    )
    if result.diffs_left_out:
        yield f"… and {result.diffs_left_out} more"
    if result.near_decision:
        yield f"hangs on the inputs' last digits: {', '.join(result.near_decision)}"
    yield f"inputs: {json_text(case.inputs)}"
