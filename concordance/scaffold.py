"""Make a team's own workspace, and a new model in it that works at once and is meant to be rewritten.

`init` writes what a workspace needs, `new_model` a model's spec, both implementations and tests, from the templates in
`templates/workspace`. Nothing is ever overwritten: either all files are new and all are written, or none is. This
module runs no implementation, publishes nothing, and knows no model but the example in its templates.
"""

from __future__ import annotations

import json
import keyword
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from concordance.errors import WorkspaceError
from concordance.spec import shown
from concordance.workspace import Workspace, builtin_workspace, is_workspace

_CONVENTIONS: Final = "specs/CONVENTIONS.md"
_EMPTY: Final = ("vectors/.gitkeep", "changelog/.gitkeep")
_WORKSPACE_FILES: Final[Mapping[str, str]] = {
    "README.md": "init/README.md.j2",
    ".gitattributes": "init/gitattributes.j2",
    ".gitignore": "init/gitignore.j2",
    ".github/workflows/concordance.yml": "init/workflow.yml.j2",
    "engine/__init__.py": "init/engine.py.j2",
    "reference_impl/__init__.py": "init/reference_impl.py.j2",
    "tests/test_answer_key.py": "init/test_answer_key.py.j2",
}
_MODEL_FILES: Final[Mapping[str, str]] = {
    "specs/{name}/{version}.md": "model/spec.md.j2",
    "engine/{module}.py": "model/engine.py.j2",
    "reference_impl/{module}.py": "model/reference.py.j2",
    "tests/test_{module}.py": "model/test_model.py.j2",
}
_LONGEST_NAME: Final = 60


def init(folder: Path, say: Callable[[str], None] = lambda _: None) -> list[Path]:
    """Make a workspace in a new or empty folder, and say each file; the files that were written.

    A folder that holds other things is fine as long as no file is in the way. Raises `WorkspaceError`.
    """
    if is_workspace(folder):
        raise WorkspaceError(
            "is a workspace already", where=str(folder), hint="`concordance new MODEL` adds a model to it"
        )
    files = {_CONVENTIONS: builtin_workspace().read_bytes(_CONVENTIONS), **dict.fromkeys(_EMPTY, b"")}
    files |= {path: _rendered(template) for path, template in _WORKSPACE_FILES.items()}
    written = _write(folder, files, hint="choose a new or empty folder, or move what is there")
    for path in written:
        say(f"wrote {path}")
    return written


def new_model(workspace: Workspace, name: str, title: str | None = None, version: str = "1.0.0") -> list[Path]:
    """Add a model to a workspace; the files that were written. Open the workspace anew to see the model in it.

    The title is the name unless one is given. Raises `WorkspaceError`.
    """
    workspace.require_writable()
    _check_name(name)
    _check_version(version)
    title = _title(name, title)
    if name in workspace.models:
        raise WorkspaceError(f'has a model "{name}" already', where="specs", hint="choose another name")
    words = {"name": name, "module": name.replace("-", "_"), "version": version}
    values = words | {
        "title": title,
        # A text in JSON is one in TOML: control characters, on which they differ, are in no title.
        "quoted_title": json.dumps(title, ensure_ascii=False),
        "prefix": clause_prefix(name),
    }
    files = {path.format(**words): _rendered(template, values) for path, template in _MODEL_FILES.items()}
    return _write(workspace.root, files, hint="choose another name, or move what is there")


def clause_prefix(name: str) -> str:
    """The capitals that open a model's clause identifiers: CL for car-loan, SA for savings."""
    initials = [word[0] for word in name.split("-") if word[0].isalpha()]
    letters = re.sub("[^a-z]", "", name)
    return ("".join(initials[:3]) if len(initials) > 1 else (2 * letters)[:2]).upper()


def _check_name(name: str) -> None:
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name) or len(name) > _LONGEST_NAME:
        raise WorkspaceError(
            f"{shown(name)} cannot name a model",
            hint=f"use lower-case letters, digits and single hyphens, a letter first, at most {_LONGEST_NAME} in all",
        )
    if keyword.iskeyword(name):
        raise WorkspaceError(f'"{name}" cannot name a model, being a word of Python', hint=f'try "{name}-model"')


def _check_version(version: str) -> None:
    if not re.fullmatch(r"\d+\.\d+\.\d+", version, re.ASCII):
        raise WorkspaceError(f"{shown(version)} is no version", hint="use MAJOR.MINOR.PATCH, such as 1.0.0")


def _title(name: str, title: str | None) -> str:
    """The title as one line that Markdown and TOML take as it is."""
    if title is None:
        return name.replace("-", " ").capitalize()
    if not title.strip() or not title.isprintable():
        raise WorkspaceError("the title is empty or not one line of text", hint="give --title, or leave it out")
    return title.strip()


def _rendered(template: str, words: Mapping[str, str] | None = None) -> bytes:
    """A template's text as a file's content."""
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates" / "workspace"),
        undefined=StrictUndefined,
        keep_trailing_newline=True,
        autoescape=False,  # Markdown, TOML and Python, not HTML
    )
    return environment.get_template(template).render(words or {}).encode("utf-8")


def _write(root: Path, files: Mapping[str, bytes], hint: str) -> list[Path]:
    """Write files that are all new, or none of them. Raises `WorkspaceError`."""
    if in_the_way := sorted(set(_in_the_way(root, files))):
        raise WorkspaceError(f"holds {', '.join(in_the_way)}, and nothing is overwritten", where=str(root), hint=hint)
    written: list[Path] = []
    for name, content in files.items():
        path = root / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("xb") as file:  # refuses what came into the way this moment
                written.append(path)
                file.write(content)
        except OSError as error:
            for half in written:
                with suppress(OSError):
                    half.unlink()
            raise WorkspaceError(f"cannot be written: {error.strerror}", where=str(path)) from None
    return written


def _in_the_way(root: Path, names: Mapping[str, bytes]) -> Iterator[str]:
    """What stands where files or their folders would be written, by its path under `root`."""
    for name in names:
        path = root / name
        for part in (path, *path.parents[: len(Path(name).parts) - 1]):
            if (part.exists() or part.is_symlink()) and (part == path or not part.is_dir()):
                yield part.relative_to(root).as_posix()
