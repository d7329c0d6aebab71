"""Concordance: answer keys for financial models, and the gate that keeps two implementations of each in agreement.

>>> import concordance
>>> workspace = concordance.load_workspace()
>>> all(model.ok for model in workspace.check())
True
>>> workspace.compute("refinance", {...})["breakEvenMonths"]
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from concordance.check import ModelCheck
    from concordance.grading import AnswerSource, Grading
    from concordance.implementations import Loaded, Side
    from concordance.spec import Spec
    from concordance.workspace import Workspace

__version__ = "0.1.0"
__all__ = ["AnswerKey", "grade", "load_workspace"]


class AnswerKey:
    """A workspace, ready to answer: its models' specs, both implementations, and the check."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self._loaded: dict[tuple[str, str], Loaded] = {}

    @property
    def models(self) -> tuple[str, ...]:
        """The names of the workspace's models."""
        return self.workspace.models

    def spec(self, model: str, version: str | None = None) -> Spec:
        """A model's spec: contract, clauses and edges. Raises `WorkspaceError` or `SpecError`."""
        return self.workspace.spec(model, version)

    def check(self, *models: str) -> list[ModelCheck]:
        """Run the gate on the named models, or on all. Raises what `spec` raises; findings are in the results."""
        from concordance.check import check_model

        return [result for model in models or self.models for result in check_model(self.workspace, self.spec(model))]

    def compute(self, model: str, inputs: Mapping[str, Any], *, impl: Side = "engine") -> dict[str, Any]:
        """A model's outputs for one set of inputs, as JSON carries them (Infinity is `"Infinity"`).

        Raises `InvalidInputsError` naming every field at fault, or `ImplementationError` if the implementation crashes.
        """
        from concordance.evaluate import compute

        return compute(self._implementation(model, impl), self.spec(model), inputs)

    def grade(
        self, model: str, cases: Iterable[Mapping[str, Any]], tolerance: Mapping[str, float] | None = None
    ) -> Grading:
        """Grade answers: each case is `{"inputs": ..., "answer": ...}`, or `{"id": "refinance-0007", "answer": ...}`.

        `tolerance` may have `rel` and `abs`, and is clamped as the reply says. Raises `RefusedError` naming what cannot
        be read, and `WorkspaceError` or `SpecError`.
        """
        from concordance.grading import grade, read_answers, read_tolerance

        spec = self.spec(model)
        answers, _ = read_answers(spec, cases)
        return grade(spec, self.source(model), answers, read_tolerance(tolerance))

    def source(self, model: str) -> AnswerSource:
        """Where a model's expected values come from: its engine."""
        return self._implementation(model, "engine")

    def _implementation(self, model: str, side: Side) -> Loaded:
        from concordance.implementations import load

        if side not in ("engine", "reference"):
            raise ValueError(f'impl is "engine" or "reference", not {side!r}')
        if (model, side) not in self._loaded:
            self._loaded[model, side] = load(self.workspace, side, self.spec(model))
        return self._loaded[model, side]


def load_workspace(root: str | PathLike[str] | None = None) -> AnswerKey:
    """The workspace in `root`, or the one around the current folder, or the built-in one.

    Raises `WorkspaceError` if `root` is given and is no workspace.
    """
    from pathlib import Path

    from concordance.workspace import find_workspace, open_workspace

    return AnswerKey(find_workspace() if root is None else open_workspace(Path(root)))


def grade(model: str, cases: Iterable[Mapping[str, Any]], tolerance: Mapping[str, float] | None = None) -> Grading:
    """Grade answers to a model of the workspace around the current folder, or of the built-in one: `AnswerKey.grade`.

    >>> grading = concordance.grade("refinance", [{"id": "refinance-0002", "answer": my_model(...)}, ...])
    >>> grading.passed, grading.by_output["breakEvenMonths"].failed
    """
    return load_workspace().grade(model, cases, tolerance)
