"""What can go wrong, as one tree: what failed, where, and what to do.

Every exception that Concordance raises on purpose is a `ConcordanceError`, carries the exit status that the command
line ends with, and prints as one line. Names end in `Error`. Findings (a disagreement, a wrong answer) are results
and not exceptions: they live in the modules that find them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class FieldError(NamedTuple):
    """One field of a caller's input that cannot be used; `field` is empty when the whole input cannot."""

    field: str
    message: str

    def __str__(self) -> str:
        return f"{self.field}: {self.message}" if self.field else self.message


class ConcordanceError(Exception):
    """Something failed. `where` is a path, a path:line or a name; `hint` says what to do."""

    exit_status = 3

    def __init__(self, what: str, *, where: str = "", hint: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.hint = hint

    def __str__(self) -> str:
        text = f"{self.where}: {self.what}" if self.where else self.what
        return f"{text} ({self.hint})" if self.hint else text


class UnusableInputError(ConcordanceError):
    """What was handed to Concordance cannot be used as it is."""

    exit_status = 2


class JsonError(UnusableInputError):
    """A text is not the JSON that Concordance accepts."""


class InvalidInputsError(UnusableInputError):
    """A model's inputs do not fit its contract. `errors` names every field at fault."""

    def __init__(self, errors: Sequence[FieldError]) -> None:
        super().__init__("; ".join(map(str, errors)))
        self.errors = tuple(errors)


class WorkspaceError(UnusableInputError):
    """A folder is not a workspace, or lacks what was asked of it."""


class SpecError(UnusableInputError):
    """A published spec is malformed. `where` is its path and line."""


class VectorsError(UnusableInputError):
    """A vectors file or the manifest is malformed. `where` is its path and line."""


class ImplementationError(ConcordanceError):
    """An implementation could not be loaded, crashed, or answered in a form that is no answer."""


class RefusedError(UnusableInputError):
    """A request that its sender can mend. `errors` names every field at fault."""

    def __init__(self, errors: Sequence[FieldError]) -> None:
        super().__init__("; ".join(map(str, errors)))
        self.errors = tuple(errors)
