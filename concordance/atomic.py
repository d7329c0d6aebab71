"""Replace a whole folder at once: a reader, or a kill at any moment, finds the old folder or the new one, never a
mixture.

The new folder is staged beside the old one, flushed to disk and exchanged with it by the operating system in one
step (Linux `renameat2`, macOS `renamex_np`). Where there is no such step, the old folder is first renamed aside,
and `recover` brings it back if the process died between the two renames. Callers hold a lock; see
`Workspace.replace_vectors`.
"""

from __future__ import annotations

import ctypes
import errno
import os
import shutil
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path


def replace_folder(target: Path, changes: Mapping[str, bytes]) -> None:
    """Make `target` hold its present files with `changes` (relative path to content) written over them."""
    staged = staged_path(target)
    if target.exists():
        shutil.copytree(target, staged)
    else:
        staged.mkdir(parents=True)
    for name, content in changes.items():
        path = staged / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    _flush_tree(staged)
    if target.exists():
        _exchange(staged, target)
    else:
        os.rename(staged, target)
    _flush(target.parent)
    recover(target)


def replace_file(target: Path, content: bytes) -> None:
    """Write one file, whole or not at all, and to the disk. Raises `OSError`, and then leaves what was there."""
    target = target.resolve()
    if target.exists() and not target.is_file():
        raise OSError(errno.EINVAL, "is not a regular file")
    staged = staged_path(target)
    try:
        staged.write_bytes(content)
        _flush(staged)
        staged.replace(target)
    except OSError:
        with suppress(OSError):
            staged.unlink()
        raise


def recover(target: Path) -> list[Path]:
    """Clear away what a killed `replace_folder` left beside `target`; the paths that were removed or brought back."""
    aside = _aside(target)
    cleared = []
    if aside.exists() and not target.exists():
        os.rename(aside, target)
        cleared.append(aside)
    for leftover in (staged_path(target), aside):
        if leftover.exists():
            shutil.rmtree(leftover)
            cleared.append(leftover)
    return cleared


def staged_path(target: Path) -> Path:
    """Where what is to replace a file or folder is written first."""
    return target.with_name(f".{target.name}.staged")


def _aside(target: Path) -> Path:
    return target.with_name(f".{target.name}.replaced")


def _exchange(staged: Path, target: Path) -> None:
    if not _exchange_at_once(os.fsencode(staged), os.fsencode(target)):
        os.rename(target, _aside(target))
        os.rename(staged, target)


def _exchange_at_once(one: bytes, other: bytes) -> bool:
    """Exchange two paths in one step where the operating system and the file system can."""
    at_cwd, exchange = -100, 2
    try:
        if sys.platform == "darwin":
            return bool(ctypes.CDLL(None).renamex_np(one, other, exchange) == 0)
        if sys.platform == "linux":
            return bool(ctypes.CDLL(None).renameat2(at_cwd, one, at_cwd, other, exchange) == 0)
    except (AttributeError, OSError):
        pass
    return False


def _flush_tree(folder: Path) -> None:
    for path in [*folder.rglob("*"), folder]:
        _flush(path)


def _flush(path: Path) -> None:
    if path.is_dir() and os.name == "nt":
        return  # Windows cannot open a folder to flush it
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
