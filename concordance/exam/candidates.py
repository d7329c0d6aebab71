"""Put an exam's questions to a candidate: `sit`.

A candidate is an OpenAI-compatible endpoint, a command that reads questions as JSON lines, or a function, such as a
scripted persona. It sees questions and documents, never a reference. What it replies is stored as it comes, so that a
sitting that stopped half way goes on where it stopped. Nothing is judged here.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Final, TypeAlias

from concordance.commands import STARTS, Lines, excerpt, last_words, started, words_of
from concordance.errors import UnusableInputError
from concordance.exam.endpoint import Endpoint
from concordance.exam.referee import Reply
from concordance.exam.transcripts import (
    CandidateError,
    Failure,
    LineError,
    Outcome,
    Question,
    Transcript,
    read_line,
    read_outcomes,
    read_transcript,
)
from concordance.numbers import json_text

__all__ = [
    "Candidate", "CandidateError", "Command", "Endpoint", "Failure", "Question", "Sitting", "Transcript",
    "read_outcomes", "read_transcript", "sit",
]  # fmt: skip

PATIENCE: Final = 120.0
"""Seconds that a command may take for its next reply."""

_FAREWELL: Final = 2.0
_NOTES: Final = 5

Store: TypeAlias = Callable[[str, Outcome], None]


@dataclass(frozen=True, slots=True)
class Sitting:
    """How far a sitting has come."""

    questions: int
    before: int = 0
    """Questions whose reply an earlier run stored: they are not asked again."""
    stored: int = 0
    """Replies stored by this run."""
    failed: int = 0
    """Questions that this run asked in vain. They can be asked again."""
    notes: tuple[str, ...] = ()
    """What else the candidate did that it should not have."""

    @property
    def asked(self) -> int:
        """Questions that this run asked and is done with."""
        return self.stored + self.failed

    @property
    def complete(self) -> bool:
        """Whether every question has its reply."""
        return self.before + self.stored == self.questions


Progress: TypeAlias = Callable[[Sitting], None]


def sit(
    candidate: Candidate,
    questions: Sequence[Question],
    documents: Mapping[str, str],
    transcript: Transcript,
    progress: Progress = lambda _: None,
) -> Sitting:
    """Put each question that has no stored reply yet, and store what comes; `progress` is called after each.

    Questions that failed before are asked again, after those that were never asked. Raises `CandidateError` if the
    candidate cannot be asked any further. Whatever ends a sitting, an interrupt too, what was stored stays.
    """
    ids = _usable(questions, documents)
    with transcript.open(ids):
        left = [question for question in questions if question.id not in transcript.replies]
        left.sort(key=lambda question: question.id in transcript.failures)
        sitting = Sitting(len(questions), before=len(questions) - len(left))

        def store(name: str, outcome: Outcome) -> None:
            nonlocal sitting
            if isinstance(transcript.append(name, outcome), Failure):
                sitting = replace(sitting, failed=sitting.failed + 1)
            else:
                sitting = replace(sitting, stored=sitting.stored + 1)
            progress(sitting)

        try:
            ask = candidate.ask if isinstance(candidate, (Endpoint, Command)) else _Function(candidate).ask
            notes = ask(left, documents, store) if left else ()
        except CandidateError as error:
            kept = f"{len(transcript.replies)} of {len(questions)} replies are stored"
            raise CandidateError(error.what, where=error.where, hint=f"{kept}; sit again to go on") from None
    return replace(sitting, notes=notes)


def _usable(questions: Sequence[Question], documents: Mapping[str, str]) -> list[str]:
    """The questions' ids. Raises `UnusableInputError` if one comes twice or a document is missing."""
    ids: dict[str, None] = {}
    for question in questions:
        if question.id in ids:
            raise UnusableInputError(f"the question {json_text(question.id)} comes twice")
        if missing := [name for name in question.documents if name not in documents]:
            raise UnusableInputError(f"the question {json_text(question.id)} needs the document {missing[0]}")
        ids[question.id] = None
    return list(ids)


class Command:
    """A command that reads questions and writes replies, as JSON lines, in any order.

    A question is `{"id", "question", "kind", "documents": {name: text}}`, a reply is a line of a transcript. After a
    crash or a hang the command is started again with what has no reply yet, less the first of it: most commands
    answer in order, and that is the question they failed at.
    """

    def __init__(self, command: str, folder: Path, patience: float = PATIENCE) -> None:
        """`folder` is where it runs. Raises `UnusableInputError` if the command line cannot be split into words."""
        self._words = words_of(command, "the candidate")
        if not self._words:
            raise UnusableInputError("the candidate has no command")
        self._folder = folder
        self._patience = patience

    def ask(self, questions: Sequence[Question], documents: Mapping[str, str], store: Store) -> tuple[str, ...]:
        """Put the questions, and store what became of each; what else it wrote. Raises `CandidateError` after some
        crashes or hangs, at once if it never replied."""
        left = {question.id: question for question in questions}
        notes: list[str] = []
        for start in range(STARTS):
            before = len(left)
            trouble = self._attempt(left, documents, store, notes)
            replied = len(left) < before
            if not left:
                break
            if trouble is None:
                for name in list(left):
                    store(name, Failure(_ended(notes)))
                break
            name = next(iter(left))
            del left[name]
            store(name, Failure(trouble))
            if left and (not replied or start == STARTS - 1):
                when = f"for the {STARTS}th time" if replied else "without one reply"
                raise CandidateError(f"stopped {when}: {trouble}", where=self._words[0])
        return (*notes[:_NOTES], f"and {len(notes) - _NOTES} more") if len(notes) > _NOTES else tuple(notes)

    def _attempt(
        self, left: dict[str, Question], documents: Mapping[str, str], store: Store, notes: list[str]
    ) -> str | None:
        """Start it and take what has a reply out of `left`; what made it stop early, if anything did."""
        asked = frozenset(left)
        texts = (json_text(_line(question, documents)) for question in tuple(left.values()))
        with ExitStack() as running:
            try:
                process, complaint = running.enter_context(started(self._words, self._folder, texts))
            except OSError as error:
                raise CandidateError(f"cannot be started: {error.strerror}", where=self._words[0]) from None
            lines = Lines(process.stdout, self._patience)  # type: ignore[arg-type]
            while (line := lines.next()) is not None:
                self._take(line, left, asked, store, notes)
                if not left:
                    # It may still say something, but need not be waited for.
                    lines.patience = min(self._patience, _FAREWELL)
            return self._trouble(process, complaint, hung=lines.hung) if left else None

    def _take(
        self, line: bytes, left: dict[str, Question], asked: frozenset[str], store: Store, notes: list[str]
    ) -> None:
        outcome: Outcome
        try:
            name, outcome = read_line(line)
        except LineError as error:
            name, outcome = error.question, Failure(f"{error.what}: {excerpt(line)}")
        if name in left:
            del left[name]
            store(name, outcome)
        elif name in asked:
            notes.append(f"a second reply to {json_text(name)} was left aside")
        elif isinstance(outcome, Failure) and not name:
            notes.append(f"a line that is no reply: {outcome.error}")
        else:
            notes.append(f"a reply to {json_text(name)}, which it was not asked")

    def _trouble(self, process: subprocess.Popen[bytes], complaint: IO[bytes], *, hung: bool) -> str | None:
        if hung:
            return f"hung: no reply within {self._patience:g} s"
        try:
            status = process.wait(self._patience)
        except subprocess.TimeoutExpired:
            return "hung: closed its output and did not end"
        return f"crashed: {last_words(status, complaint)}" if status else None


class _Function:
    """A function of Python as a candidate. What it raises is a failure of that question."""

    def __init__(self, function: Callable[[Question], Reply]) -> None:
        self._function = function

    def ask(self, questions: Sequence[Question], documents: Mapping[str, str], store: Store) -> tuple[str, ...]:
        for question in questions:
            try:
                reply: object = self._function(question)
            except CandidateError:
                raise
            except Exception as error:
                reply = Failure(f"{type(error).__name__}: {error}")
            known = isinstance(reply, (Reply, Failure))
            store(question.id, reply if known else Failure(f"a {type(reply).__name__} is no reply"))  # type: ignore[arg-type]
        return ()


Candidate: TypeAlias = Endpoint | Command | Callable[[Question], Reply]


def _line(question: Question, documents: Mapping[str, str]) -> dict[str, object]:
    value: dict[str, object] = {"id": question.id, "question": question.question, "kind": question.kind}
    if question.documents:
        value["documents"] = {name: documents[name] for name in question.documents}
    return value


def _ended(notes: Sequence[str]) -> str:
    what = "the command ended without a reply to it"
    return f"{what}; it wrote {notes[0]}" if notes else what
