"""What is asked and what came back: questions, reply lines read strictly, and a transcript that survives a kill.

A transcript is JSON lines, in any order: `{"id", "answer", "cite", "text"?}` where a reply was had, `{"id", "error"}`
where none was. `answer` is a number, a text, or null for a decline; a line without it has its reply in `text`. A
question that failed may be asked again: its reply then follows its error. This module asks nobody and judges nothing.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from typing import Any, Final, TypeAlias

import msgspec
from filelock import FileLock, Timeout
from msgspec import UNSET

from concordance.errors import ConcordanceError, JsonError, UnusableInputError
from concordance.exam.answers import Kind
from concordance.exam.referee import Reply
from concordance.numbers import json_text, parse_json


class Question(msgspec.Struct, frozen=True):
    """One question as a candidate sees it: never with its reference. `documents` are names."""

    id: str
    question: str
    kind: Kind
    documents: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Failure:
    """No reply was had to a question, and why. It may be asked again."""

    error: str


Outcome: TypeAlias = Reply | Failure


class CandidateError(ConcordanceError):
    """A candidate cannot be asked any further. What was stored before stays, and a later sitting goes on from there."""


class LineError(UnusableInputError):
    """A line is no reply. `id` is the question it belongs to, where that can be told."""

    def __init__(self, what: str, *, where: str = "", hint: str = "", question: str = "") -> None:
        super().__init__(what, where=where, hint=hint)
        self.question = question


_SHAPE: Final = '{"id": …, "answer": number, text or null, "cite": text or null, "text": free text}'
_FIELDS: Final = ("id", "answer", "cite", "text", "error")
_BAD_NUMBER: Final = re.compile(r'"(\w{1,40})"\s{0,9}:\s{0,9}(-?(?:NaN|Infinity|\d[\d.]{0,400}(?:[eE]\+?\d{1,9})?))')


def read_transcript(content: bytes, path: Path | str, ids: Collection[str]) -> dict[str, Reply]:
    """The reply to each of `ids`, in their order; a question that failed has an empty one, which is no answer.

    Raises `UnusableInputError` naming line and field.
    """
    outcomes = read_outcomes(content, path, ids)
    if missing := [name for name in ids if name not in outcomes]:
        others = f", nor have {len(missing) - 1} others" if len(missing) > 1 else ""
        raise UnusableInputError(
            f"the question {json_text(missing[0])} has no line{others}",
            where=str(path),
            hint="a transcript has a line for every question",
        )
    return {name: Reply() if isinstance(outcomes[name], Failure) else outcomes[name] for name in ids}  # type: ignore[misc]


def read_outcomes(content: bytes, path: Path | str, ids: Collection[str]) -> dict[str, Outcome]:
    """What became of each question that was asked, as far as a sitting has come. As strict as `read_transcript`."""
    known = frozenset(ids)
    outcomes: dict[str, Outcome] = {}
    first: dict[str, int] = {}
    for number, line in enumerate(content.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        if not line.strip():
            continue
        where = f"{path}:{number}"
        try:
            name, outcome = read_line(line)
        except LineError as error:
            raise UnusableInputError(error.what, where=where, hint=error.hint) from None
        if name not in known:
            raise UnusableInputError(f'"id": the exam has no question {json_text(name)}', where=where)
        if isinstance(outcomes.get(name), Reply):
            raise UnusableInputError(
                f'"id": the question {json_text(name)} is answered on line {first[name]} already', where=where
            )
        outcomes[name] = outcome
        first[name] = number
    return outcomes


def read_line(line: bytes) -> tuple[str, Outcome]:
    """The question's id and what became of it. Raises `LineError` naming the field at fault."""
    try:
        value = parse_json(line)
    except JsonError as error:
        raise LineError(_with_field(error, line), hint=error.hint) from None
    if not isinstance(value, dict):
        raise LineError("is no object", hint=_SHAPE)
    name = value.get("id")
    if not isinstance(name, str):
        raise LineError('"id": must be a text' if "id" in value else '"id": is missing', hint=_SHAPE)
    if fault := _fault(value):
        raise LineError(fault, hint=_SHAPE, question=name)
    if "error" in value:
        return name, Failure(value["error"])
    answer = value.get("answer", UNSET)
    if isinstance(answer, int):
        answer = float(answer)
    return name, Reply(answer, value.get("cite"), value.get("text"))


def _fault(value: Mapping[str, Any]) -> str:
    """What is wrong with the fields of a line, if anything is."""
    if unknown := [key for key in value if key not in _FIELDS]:
        return f"{json_text(unknown[0])}: is no field of a reply"
    answer = value.get("answer")
    if isinstance(answer, bool) or not isinstance(answer, (int, float, str, type(None))):
        return '"answer": must be a number, a text or null'
    if isinstance(answer, (int, float)) and not _is_binary64(answer):
        return '"answer": must be a finite number'
    if wrong := [key for key in ("cite", "text") if not isinstance(value.get(key), (str, type(None)))]:
        return f'"{wrong[0]}": must be a text or null'
    if not isinstance(value.get("error", ""), str):
        return '"error": must be a text'
    if "error" in value:
        return '"error": stands beside a reply' if value.keys() & {"answer", "cite", "text"} else ""
    return "" if "answer" in value or value.get("text") is not None else '"answer": is missing, and so is "text"'


def _is_binary64(number: float) -> bool:
    try:
        return math.isfinite(number)
    except OverflowError:  # a large int
        return False


def _with_field(error: JsonError, line: bytes) -> str:
    """The error, with the field that holds a number that is none, since the reader of JSON does not know it."""
    if error.what.endswith(("is not JSON", "is too large for a binary64")):
        for match in _BAD_NUMBER.finditer(line.decode("utf-8", "replace")):
            with suppress(ValueError):
                if not math.isfinite(float(match[2])):
                    return f'"{match[1]}": {error.what}'
    return error.what


class Transcript:
    """A transcript that a sitting appends to, reply by reply, each on the disk before the next question is asked.

    A run that was killed is resumed by opening the same path again: a last line that was torn is dropped, the
    replies before it are in `replies`. One writer at a time.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.replies: dict[str, Reply] = {}
        self.failures: dict[str, str] = {}
        """Questions that were asked in vain, and have no reply since."""
        self._file: FileIO | None = None

    @contextmanager
    def open(self, ids: Collection[str]) -> Iterator[None]:
        """Read what is stored, and hold the file for appending. Raises `UnusableInputError` if it is no transcript
        of these questions, and if another sitting is writing it."""
        with ExitStack() as held:
            try:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                # A sitting may take hours: whoever comes second is told at once.
                held.enter_context(FileLock(f"{self.path}.lock", timeout=0))
                self._resume(ids)
                self._file = held.enter_context(self.path.open("ab", buffering=0))
                _flush_folder(self.path.parent)
            except Timeout:
                raise UnusableInputError(
                    "another sitting is writing this transcript", where=str(self.path), hint="wait until it has ended"
                ) from None
            except OSError as error:
                raise self._unwritable(error) from None
            try:
                yield
            finally:
                self._file = None

    def append(self, name: str, outcome: Outcome) -> Outcome:
        """Store what became of a question, and return it as stored: a reply that no transcript can hold is a failure.

        It is on the disk when this returns. If it cannot be written, the file ends as it did before.
        """
        if self._file is None:
            raise ValueError("the transcript is not open")
        line, outcome = _line(name, outcome)
        end = os.fstat(self._file.fileno()).st_size
        try:
            rest = memoryview(line)
            while rest:
                rest = rest[self._file.write(rest) :]
            os.fsync(self._file.fileno())
        except BaseException as error:
            with suppress(OSError):
                self._file.truncate(end)
            if isinstance(error, OSError):
                raise self._unwritable(error) from None
            raise
        self._note(name, outcome)
        return outcome

    def _unwritable(self, error: OSError) -> UnusableInputError:
        return UnusableInputError(f"cannot be written: {error.strerror or error}", where=str(self.path))

    def _resume(self, ids: Collection[str]) -> None:
        content = self.path.read_bytes() if self.path.exists() else b""
        whole, _, last = content.rpartition(b"\n")
        if last.strip():
            # The last line has no end. It may be whole all the same: JSON tells, since a torn object never closes.
            try:
                read_line(last)
            except LineError:
                content = whole + b"\n" if whole else b""
                os.truncate(self.path, len(content))
        outcomes = read_outcomes(content, self.path, ids)
        self.replies.clear()
        self.failures.clear()
        for name, outcome in outcomes.items():
            self._note(name, outcome)
        if content and not content.endswith(b"\n"):
            with self.path.open("ab") as file:
                file.write(b"\n")

    def _note(self, name: str, outcome: Outcome) -> None:
        if isinstance(outcome, Failure):
            self.failures[name] = outcome.error
        else:
            self.replies[name] = outcome
            self.failures.pop(name, None)


def _line(name: str, outcome: Outcome) -> tuple[bytes, Outcome]:
    """A line and what reading it gives: nothing is written that could not be read back."""
    value: dict[str, Any] = {"id": name}
    if isinstance(outcome, Failure):
        value["error"] = outcome.error
    else:
        value |= {} if outcome.answer is UNSET else {"answer": outcome.answer}
        value |= {"cite": outcome.cite} | ({} if outcome.text is None else {"text": outcome.text})
    if fault := _fault(value):
        return _line(name, Failure(f"a reply that is none: {fault}"))
    line = json_text({key: _plain(item) for key, item in value.items()}).encode("utf-8")
    return line + b"\n", read_line(line)[1]


def _plain(value: Any) -> Any:
    """A text with halves of surrogate pairs, which UTF-8 cannot hold, replaced."""
    return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace") if isinstance(value, str) else value


def _flush_folder(folder: Path) -> None:
    if os.name != "nt":  # Windows cannot open a folder to flush it
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
