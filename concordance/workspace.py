"""Find a workspace and its files: `specs/ engine/ reference_impl/ vectors/ changelog/`.

A workspace is a folder. The one that holds the current folder is used; outside of any, the built-in one that
travels with the package, which is read-only. This module reads specs and replaces vectors; it loads no
implementation (`implementations` does).
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Final

from concordance.errors import WorkspaceError
from concordance.spec import VERSION, Spec, parse_spec

JOURNAL: Final = "vectors/.releasing.json"
"""Names what a release is writing, until it is done."""

_PARTS: Final = ("specs", "engine", "reference_impl")


class Workspace:
    """One workspace. `root` is its folder; `builtin` says that it is the package's own and read-only.

    `command` is how the command line reaches it from the current folder, for messages that say what to run.
    """

    def __init__(self, root: Path, *, builtin: bool = False, command: str = "concordance") -> None:
        self.root = root
        self.builtin = builtin
        self.command = command
        self._specs: dict[tuple[str, str], Spec] = {}

    @cached_property
    def models(self) -> tuple[str, ...]:
        """The names of the models, in alphabetical order."""
        folders = (path for path in (self.root / "specs").iterdir() if path.is_dir() and path.name[0] not in "._")
        return tuple(sorted(path.name for path in folders if any(path.glob("*.md"))))

    def versions(self, model: str) -> tuple[str, ...]:
        """The published versions of a model, oldest first. Raises `WorkspaceError` for an unknown model."""
        if model not in self.models:
            known = ", ".join(self.models) or "none yet"
            raise WorkspaceError(f'no model "{model}"', where="specs", hint=f"there are: {known}")
        names = [path.stem for path in (self.root / "specs" / model).glob("*.md")]
        found = sorted((name for name in names if VERSION.fullmatch(name)), key=version_order)
        if not found:
            raise WorkspaceError("no spec named MAJOR.MINOR.PATCH.md", where=f"specs/{model}")
        return tuple(found)

    def spec(self, model: str, version: str | None = None) -> Spec:
        """A model's spec, the newest unless a version is asked for. Raises `WorkspaceError` or `SpecError`."""
        versions = self.versions(model)
        version = version or versions[-1]
        if version not in versions:
            raise WorkspaceError(f"{model} has no version {version}", hint=f"there are: {', '.join(versions)}")
        if (model, version) not in self._specs:
            self._specs[model, version] = self._read_spec(model, version)
        return self._specs[model, version]

    def _read_spec(self, model: str, version: str) -> Spec:
        path = f"specs/{model}/{version}.md"
        spec = parse_spec(self.read_text(path), path)
        if (spec.model, spec.version) != (model, version):
            raise WorkspaceError(f"its contract says {spec.model} {spec.version}", where=path)
        return spec

    def read_text(self, path: str) -> str:
        """A file's text by its path inside the workspace. Raises `WorkspaceError`."""
        try:
            return self.read_bytes(path).decode("utf-8")
        except UnicodeDecodeError as error:
            raise WorkspaceError(f"not UTF-8 at byte {error.start}", where=path) from None

    def read_bytes(self, path: str) -> bytes:
        """A file's bytes by its path inside the workspace. Raises `WorkspaceError`."""
        try:
            return (self.root / path).read_bytes()
        except OSError as error:
            raise WorkspaceError(error.strerror or "cannot be read", where=path) from None

    def replace_vectors(
        self, build: Callable[[], Mapping[str, bytes]], say: Callable[[str], None] = lambda _: None
    ) -> None:
        """Write what `build` returns (path inside `vectors/` to content) all at once, one writer at a time.

        What an interrupted writer left is cleared away first, and said through `say`.
        """
        from concordance.atomic import recover, replace_folder

        self.require_writable()
        vectors = (self.root / "vectors").resolve()
        with self.lock():
            for leftover in recover(vectors):
                say(f"cleared {leftover.name}, left by an interrupted run")
            if changes := build():
                replace_folder(vectors, changes)

    @contextmanager
    def lock(self, patience: float = 60) -> Iterator[None]:
        """One writer at a time. Raises `WorkspaceError` if another one is still writing after `patience` seconds."""
        from filelock import FileLock, Timeout

        try:
            with FileLock(self.root / ".concordance.lock", timeout=patience):
                yield
        except Timeout:
            raise WorkspaceError(
                "another command is writing here", where=str(self.root), hint="try again later"
            ) from None

    @property
    def interrupted(self) -> bool:
        """Whether a release was interrupted here, and left something to clear away."""
        return not self.builtin and (self.root / JOURNAL).exists()

    def require_writable(self) -> None:
        """Raise `WorkspaceError` if this is the built-in workspace."""
        if self.builtin:
            raise WorkspaceError(
                "the built-in workspace is read-only", hint="run this in a workspace folder, or give --workspace DIR"
            )


def find_workspace(start: Path | None = None) -> Workspace:
    """The workspace at or above `start` (the current folder), else the built-in one."""
    here = (start or Path.cwd()).resolve()
    for folder in (here, *here.parents):
        if is_workspace(folder):
            return Workspace(folder)
    return builtin_workspace()


def open_workspace(root: Path) -> Workspace:
    """The workspace in exactly this folder. Raises `WorkspaceError` where there is none."""
    if not is_workspace(root):
        raise WorkspaceError("not a workspace", where=str(root), hint=f"it needs the folders {', '.join(_PARTS)}")
    return Workspace(root.resolve(), command=f"concordance --workspace {shlex.quote(str(root))}")


def builtin_workspace() -> Workspace:
    """The workspace that travels with the package: inside it when installed, around it in a source checkout."""
    package = Path(__file__).resolve().parent
    for folder in (package / "builtin", package.parent):
        if is_workspace(folder):
            return Workspace(folder, builtin=True)
    raise WorkspaceError("the installation lacks its built-in workspace", where=str(package), hint="install it again")


def is_workspace(folder: Path) -> bool:
    """Whether a folder has the parts that make it a workspace."""
    return all((folder / part).is_dir() for part in _PARTS)


def version_order(version: str) -> tuple[int, ...]:
    """Sort key of a MAJOR.MINOR.PATCH version."""
    return tuple(map(int, version.split(".")))
