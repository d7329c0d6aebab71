"""Which clauses an implementation cites, and which of those the cases reach.

A clause is cited by its identifier in a docstring or a comment. It is reached when code that the citation stands
for was run: the body of the function or class whose docstring it is in, or the line that its comment is on or
above.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path

from concordance.workspace import Workspace


def cited_lines(source: str, clauses: Collection[str]) -> dict[str, set[int]]:
    """For each clause that a source cites, the lines that its citations stand for."""
    tree = ast.parse(source)
    found: dict[str, set[int]] = {}
    for text, lines in [*_docstrings(tree), *_comments(source, tree)]:
        for identifier in re.findall(r"[A-Z]+-\d+", text):
            if identifier in clauses:
                found.setdefault(identifier, set()).update(lines)
    return found


def cited(workspace: Workspace, folder: str, model: str, clauses: Collection[str]) -> dict[Path, dict[str, set[int]]]:
    """The same for a model's implementation in `engine` or `reference_impl`, by file: its module and shared ones."""
    files = imported_modules(workspace.root / folder, model.replace("-", "_"))
    return {path: cited_lines(read_source(path), clauses) for path in files}


def imported_modules(root: Path, name: str) -> list[Path]:
    """A module's file and those of its folder that it imports, at any remove."""
    found: dict[Path, None] = {}
    waiting = [root / f"{name}.py"]
    while waiting:
        path = waiting.pop(0)
        if path in found or not path.is_file():
            continue
        found[path] = None
        for node in ast.walk(ast.parse(read_source(path))):
            if isinstance(node, ast.ImportFrom) and node.level == 1:
                names = [node.module] if node.module else [alias.name for alias in node.names]
                waiting += [root / f"{module}.py" for module in names]
    return list(found)


def read_source(path: Path) -> str:
    """A Python file's text in the encoding that it declares, without a mark of its byte order."""
    with tokenize.open(path) as file:
        return file.read()


def run_lines(folder: Path, run: Callable[[], object]) -> Mapping[Path, set[int]]:
    """The lines of the Python files in a folder that a function runs, by file."""
    from coverage import Coverage

    watch = Coverage(data_file=None, include=[inside(folder)], config_file=False, messages=False)
    watch.set_option("run:disable_warnings", ["no-data-collected"])
    watch.start()
    try:
        run()
    finally:
        watch.stop()
    data = watch.get_data()
    return {Path(name): set(data.lines(name) or ()) for name in data.measured_files()}


def inside(folder: Path) -> str:
    """A pattern of the files in a folder; coverage takes no brackets in one, so `?` stands for those of its path."""
    return re.sub(r"[][{}*,]", "?", str(folder)) + "/*"


def reached(cited_by_file: Mapping[Path, Mapping[str, set[int]]], ran: Mapping[Path, set[int]]) -> set[str]:
    """The clauses of which a cited line was run."""
    return {
        clause
        for path, citations in cited_by_file.items()
        for clause, lines in citations.items()
        if lines & ran.get(path, set())
    }


def _docstrings(tree: ast.Module) -> Iterator[tuple[str, set[int]]]:
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and (text := ast.get_docstring(node)):
            yield text, {line for part in node.body[1:] for line in _span(part)}


def _comments(source: str, tree: ast.Module) -> Iterator[tuple[str, set[int]]]:
    statements = sorted({_span(node) for node in ast.walk(tree) if isinstance(node, ast.stmt)}, key=len)
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            line = token.start[0]
            around = next((span for span in statements if line in span and span.start < line + 1), None)
            alone = token.line.strip().startswith("#")
            below = min((span.start for span in statements if span.start > line), default=line)
            yield token.string, {below} if alone else set(around or [line])


def _span(node: ast.stmt) -> range:
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)
