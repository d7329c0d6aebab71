"""Load a workspace's implementations and run them: the only way from the framework to `engine/` and `reference_impl/`.

Implementations are loaded by path, each workspace under names of its own, so a team's `engine/` is never confused
with another's, and always from source: bytecode caches compare times in whole seconds, and a gate must see the
change that was made this second. What an implementation does wrong is kept apart: a wrong answer is for `compare`,
a crash is a `Crash`.
"""

from __future__ import annotations

import importlib
import itertools
import sys
import traceback
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from copy import deepcopy
from dataclasses import dataclass
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, Final, Literal, Protocol, TypeAlias

import numpy as np

from concordance.columns import Columns, Leaf, from_answers, from_arrays
from concordance.errors import ImplementationError
from concordance.numbers import NON_FINITE, json_text
from concordance.spec import Input, Inputs, Spec
from concordance.workspace import Workspace

Side: TypeAlias = Literal["engine", "reference"]
FOLDERS: Final[Mapping[Side, str]] = {"engine": "engine", "reference": "reference_impl"}

_FLOATS: Final = {text: number for number, text in NON_FINITE.items()}
_TYPES: Final[Mapping[str, type]] = {"number": np.float64, "integer": np.int64, "boolean": np.bool_, "text": np.object_}


@dataclass(frozen=True)
class Crash:
    """An implementation gave no answer: who, how it failed, what it said, and the line of the workspace where."""

    side: str
    how: Literal["crashed", "hung", "garbled", "miscounted", "refused"]
    what: str
    where: str = ""

    def __str__(self) -> str:
        return f"{self.side} {self.how}: {self.what}" + (f" ({self.where})" if self.where else "")


@dataclass(frozen=True)
class Run:
    """One implementation's answers to some cases, and the crashes by the case's place among them."""

    columns: Columns
    crashes: Mapping[int, Crash]


class Implementation(Protocol):
    """Anything that answers a model's cases: a side of the workspace, or an outside command."""

    side: str

    def run(self, cases: Sequence[Inputs]) -> Run:
        """Answer all cases, in order. Never raises for what the implementation does."""


class Loaded:
    """One side of one model, loaded from a workspace. `run` never raises for what the implementation does."""

    def __init__(self, side: Side, spec: Spec, module: ModuleType, root: Path) -> None:
        self.side: str = side
        # A list that an implementation sorts in place would be another question to the next one.
        self._has_lists = any(field.type == "list" for field in spec.inputs)
        self._spec = spec
        self.module = module
        self._root = root

    def run(self, cases: Sequence[Inputs]) -> Run:
        """Answer all cases; a case on which the implementation crashes has no answer."""
        with redirect_stdout(sys.stderr):  # what an implementation prints is no part of anybody's data
            return self._run_columns(cases) if self.side == "engine" else self._run_each(cases, self._answer)

    def run_whole(self, cases: Sequence[Inputs]) -> Run:
        """Answer all cases, or raise what the implementation raises: where it matters only that it crashed."""
        if self.side == "engine":
            return Run(self._answer_columns(cases), {})
        return Run(from_answers(self._spec.outputs, [self._answer(case) for case in cases]), {})

    def expected(self, cases: Sequence[Inputs]) -> Columns:
        """The outputs of all cases. Raises `ImplementationError` if the implementation crashes on any."""
        run = self.run(cases)
        for place, crash in run.crashes.items():
            raise ImplementationError(crash.what, where=crash.where, hint=f"on {json_text(cases[place])}")
        return run.columns

    def near(self, cases: Sequence[Inputs], outputs: Columns) -> list[list[str]]:
        """For each case the exact outputs that hang on the inputs' last digits (C-22), as far as it can tell.

        An engine tells by a function `near_decisions(inputs, outputs)`, which has outputs that are no tables as
        columns, Infinity as a float, and answers with a column of booleans for each of the exact ones.
        """
        decide = getattr(self.module, "near_decisions", None)
        if decide is None or not cases:
            return [[] for _ in cases]
        given = {name: _output_column(leaf) for name, leaf in outputs.leaves.items()}
        try:
            found = decide(_input_columns(self._spec.inputs, cases), given)
            marks = [
                (output.name, found[output.name].tolist()) for output in self._spec.outputs if output.name in found
            ]
        except Exception as error:
            raise ImplementationError(_what(error), where=_where(error, self._root)) from error
        return [[name for name, near in marks if near[place]] for place in range(len(cases))]

    def _run_columns(self, cases: Sequence[Inputs]) -> Run:
        try:
            return Run(self._answer_columns(cases), {})
        except BaseException as error:
            _let_interrupts_through(error)
            whole = Crash(self.side, "crashed", f"on the whole batch: {_what(error)}", _where(error, self._root))
        # One case may spoil the batch: asking one by one tells which. If none does, the batch itself is the fault.
        each = self._run_each(cases, lambda case: self._answer_columns([case]).answers(self._spec.outputs)[0])
        return each if each.crashes else Run(each.columns, dict.fromkeys(range(len(cases)), whole))

    def _run_each(self, cases: Sequence[Inputs], answer: Any) -> Run:
        answers: list[Any] = []
        crashes = {}
        for place, case in enumerate(cases):
            try:
                answers.append(answer(case))
            except BaseException as error:
                _let_interrupts_through(error)
                answers.append({})
                crashes[place] = Crash(self.side, "crashed", _what(error), _where(error, self._root))
        try:
            return Run(from_answers(self._spec.outputs, answers), crashes)
        except Exception:
            return Run(self._readable(answers, crashes), crashes)

    def _readable(self, answers: list[Any], crashes: dict[int, Crash]) -> Columns:
        """The answers that can be read; one that cannot is a crash of its case."""
        for place, answer in enumerate(answers):
            try:
                from_answers(self._spec.outputs, [answer])
            except Exception as error:
                answers[place] = {}
                crashes[place] = Crash(self.side, "garbled", f"its answer cannot be read: {_what(error)}")
        return from_answers(self._spec.outputs, answers)

    def _answer(self, case: Inputs) -> dict[str, Any]:
        answer = self.module.compute(deepcopy(case) if self._has_lists else dict(case))
        if not isinstance(answer, dict):
            raise TypeError(f"compute() returned {type(answer).__name__}, not a dict of outputs")
        return answer

    def _answer_columns(self, cases: Sequence[Inputs]) -> Columns:
        result = self.module.compute(_input_columns(self._spec.inputs, cases))
        if not isinstance(result, Mapping):
            raise TypeError(f"compute() returned {type(result).__name__}, not a mapping of output columns")
        return from_arrays(self._spec.outputs, result, len(cases))


def load(workspace: Workspace, side: Side, spec: Spec, sources: Mapping[Path, str] | None = None) -> Loaded:
    """Load one side of a model, anew from its source; `sources` stand in for the files of their names.

    Raises `ImplementationError` if it is missing, cannot be imported, or declares another version than the spec's.
    """
    folder = workspace.root / FOLDERS[side]
    name = spec.model.replace("-", "_")
    where = f"{FOLDERS[side]}/{name}.py"
    if not (folder / f"{name}.py").is_file():
        raise ImplementationError(f"{spec.model} has no {side}", where=where, hint="write it from the spec")
    try:
        with redirect_stdout(sys.stderr):
            module = _import_fresh(folder, name, sources or {})
    except BaseException as error:
        _let_interrupts_through(error)
        raise ImplementationError(_what(error), where=_where(error, workspace.root) or where) from error
    declared = getattr(module, "SPEC_VERSION", None)
    if declared != spec.version:
        raise ImplementationError(
            f"declares SPEC_VERSION {declared!r}, but the spec is {spec.version}",
            where=where,
            hint="bring both to one version",
        )
    if not callable(getattr(module, "compute", None)):
        raise ImplementationError("has no function compute", where=where)
    return Loaded(side, spec, module, workspace.root)


def discard() -> None:
    """Forget every module that `load` loaded, for a process that loads thousands."""
    for name in [name for name in sys.modules if name.startswith(_FreshFinder.prefix)]:
        del sys.modules[name]
    _FINDER.sources.clear()


def _input_columns(fields: Sequence[Input], cases: Sequence[Inputs]) -> dict[str, Any]:
    """A column per input; a list is the pair of its lengths and the columns of all its items, one after another."""
    columns: dict[str, Any] = {}
    for field in fields:
        values = [case[field.name] for case in cases]
        if field.type == "list":
            items = [item for value in values for item in value]
            columns[field.name] = (
                np.array([len(value) for value in values], np.int64),
                _input_columns(field.items, items),
            )
        else:
            columns[field.name] = np.array(values, _TYPES[field.type])
    return columns


def _output_column(leaf: Leaf) -> Any:
    """One output's values as an engine has them."""
    odd = {place: _FLOATS.get(value, value) for place, value in leaf.odd.items()}
    if all(isinstance(value, float) for value in odd.values()):
        column = leaf.numbers.copy()
        column[list(odd)] = list(odd.values())
        return column
    return np.array([odd.get(place, number) for place, number in enumerate(leaf.numbers.tolist())], np.object_)


class _FreshLoader(SourceFileLoader):
    """Compiles the source each time."""

    def __init__(self, fullname: str, path: str, source: str | None) -> None:
        super().__init__(fullname, path)
        self._source = source

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        return self.source_to_code(self.get_data(path) if self._source is None else self._source, path)


class _FreshFinder(MetaPathFinder):
    """Finds the modules of the packages that `_import_fresh` makes, and nothing else."""

    prefix: Final = "_concordance_workspace_"

    def __init__(self) -> None:
        self.sources: dict[str, Mapping[Path, str]] = {}

    def find_spec(self, fullname: str, path: Any, target: ModuleType | None = None) -> ModuleSpec | None:
        if not fullname.startswith(self.prefix) or not path:
            return None
        file = Path(path[0], fullname.rpartition(".")[2] + ".py")
        if not file.is_file():
            return None
        source = self.sources.get(fullname.partition(".")[0], {}).get(file)
        return spec_from_file_location(fullname, file, loader=_FreshLoader(fullname, str(file), source))


_FINDER: Final = _FreshFinder()
_numbers: Final = itertools.count()


def _import_fresh(folder: Path, name: str, sources: Mapping[Path, str]) -> ModuleType:
    if _FINDER not in sys.meta_path:
        sys.meta_path.insert(0, _FINDER)
    package = ModuleType(f"{_FreshFinder.prefix}{next(_numbers)}_{folder.name}")
    package.__path__ = [str(folder)]
    sys.modules[package.__name__] = package
    if sources:
        _FINDER.sources[package.__name__] = sources
    return importlib.import_module(f"{package.__name__}.{name}")


def _let_interrupts_through(error: BaseException) -> None:
    """A person who presses Ctrl-C means Concordance, and not the implementation that happens to run."""
    if isinstance(error, KeyboardInterrupt):
        raise error


def _what(error: BaseException) -> str:
    try:
        said = str(error)
    except Exception:
        said = "(its message cannot be shown)"
    return f"{type(error).__name__}: {said}".strip().rstrip(":").split("\n")[0]


def _where(error: BaseException, root: Path) -> str:
    """The deepest line of the workspace that the error passed through."""
    if isinstance(error, SyntaxError) and error.filename and Path(error.filename).is_relative_to(root):
        return f"{Path(error.filename).relative_to(root)}:{error.lineno}"
    frames = traceback.extract_tb(error.__traceback__)
    inside = [
        frame
        for frame in frames
        if Path(frame.filename).is_relative_to(root) and _is_implementation(frame.filename, root)
    ]
    return f"{Path(inside[-1].filename).relative_to(root)}:{inside[-1].lineno}" if inside else ""


def _is_implementation(filename: str, root: Path) -> bool:
    return Path(filename).relative_to(root).parts[0] in FOLDERS.values()
