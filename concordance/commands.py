"""Implementations in any language: a command that reads inputs as JSON lines and writes an answer a line.

The protocol is that of `concordance eval`: a line `{"outputs": {...}}` (or `{"errors": [...]}`) for each line of
inputs, in order. What goes wrong is told apart: the command crashed, it hung, a line is no answer, or the number of
lines is wrong. After a crash or a hang the command is started again behind the case that did it, a few times.
"""

from __future__ import annotations

import os
import selectors
import shlex
import signal
import subprocess
import tempfile
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic
from typing import IO, Any, Final, TypeAlias

from concordance.columns import from_answers
from concordance.errors import JsonError, UnusableInputError
from concordance.implementations import Crash, Run
from concordance.numbers import json_text, parse_json
from concordance.spec import Inputs, Spec

PATIENCE: Final = 30.0
"""Seconds that a command may take for its next answer."""

STARTS: Final = 4
"""How often a command that crashes or hangs is started in all."""

Started: TypeAlias = "tuple[subprocess.Popen[bytes], IO[bytes]]"

_LONGEST_LINE: Final = 16 * 2**20
_SHOWN: Final = 60


class CommandImplementation:
    """One outside implementation of one model. `run` never raises for what the command does."""

    def __init__(self, name: str, command: str, spec: Spec, folder: Path, patience: float = PATIENCE) -> None:
        """Raises `UnusableInputError` if the command line cannot be split into words."""
        self.side = name
        self._spec = spec
        self._folder = folder
        self._patience = patience
        self._words = words_of(command, name)
        if not self._words:
            raise UnusableInputError(f"{name} has no command", hint="--impl NAME='COMMAND'")

    def run(self, cases: Sequence[Inputs]) -> Run:
        """Answer all cases; a case without an answer has a `Crash` that says why."""
        answers: list[Any] = []
        crashes: dict[int, Crash] = {}
        for start in range(STARTS):
            stopped = self._attempt(cases, answers, crashes)
            if stopped is None:
                break
            crashes[len(answers)] = stopped
            answers.append({})
            if start == STARTS - 1 and len(answers) < len(cases):
                given_up = Crash(self.side, "crashed", f"was not asked again after {STARTS} crashes or hangs")
                crashes |= dict.fromkeys(range(len(answers), len(cases)), given_up)
                answers += [{}] * (len(cases) - len(answers))
        return Run(from_answers(self._spec.outputs, answers), crashes)

    def _attempt(self, cases: Sequence[Inputs], answers: list[Any], crashes: dict[int, Crash]) -> Crash | None:
        """Ask for the cases that have no answer yet; what stopped the command at the next one, if anything did."""
        left = cases[len(answers) :]
        if not left:
            return None
        try:
            with started(self._words, self._folder, map(json_text, left)) as (process, complaint):
                lines = Lines(process.stdout, self._patience)  # type: ignore[arg-type]
                for _ in left:
                    line = lines.next()
                    if line is None:
                        return self._ended(process, complaint, len(answers), len(cases), hung=lines.hung)
                    answer = self._read(line)
                    if isinstance(answer, Crash):
                        crashes[len(answers)] = answer
                    answers.append({} if isinstance(answer, Crash) else answer)
                if lines.next() is not None:
                    # Which answer belongs to which case cannot be told: none of them counts.
                    many = Crash(self.side, "miscounted", f"wrote more lines than it was asked for ({len(cases)})")
                    crashes |= dict.fromkeys(range(len(cases)), many)
                return None
        except OSError as error:
            return Crash(self.side, "crashed", f"cannot be started: {error.strerror}: {self._words[0]}")

    def _read(self, line: bytes) -> dict[str, Any] | Crash:
        try:
            value = parse_json(line)
        except JsonError as error:
            return Crash(self.side, "garbled", f"{error}: {excerpt(line)}")
        if isinstance(value, dict) and isinstance(value.get("outputs"), dict):
            outputs: dict[str, Any] = value["outputs"]
            return outputs
        if isinstance(value, dict) and "errors" in value:
            return Crash(self.side, "refused", f"answered errors for inputs of the contract: {excerpt(line)}")
        return Crash(self.side, "garbled", f'no object with "outputs" or "errors": {excerpt(line)}')

    def _ended(
        self, process: subprocess.Popen[bytes], complaint: IO[bytes], answered: int, asked: int, *, hung: bool
    ) -> Crash:
        if hung:
            return Crash(self.side, "hung", f"no answer within {self._patience:g} s")
        try:
            status = process.wait(self._patience)
        except subprocess.TimeoutExpired:
            return Crash(self.side, "hung", "closed its output and did not end")
        if status == 0:
            return Crash(self.side, "miscounted", f"ended after {answered} answers to {asked} cases")
        return Crash(self.side, "crashed", last_words(status, complaint))


def words_of(command: str, name: str) -> list[str]:
    """A command line split into words, as a shell would. Raises `UnusableInputError` if it cannot be."""
    try:
        return shlex.split(command)
    except ValueError as error:
        raise UnusableInputError(f"the command of {name} cannot be read: {error}", where=command) from None


@contextmanager
def started(words: Sequence[str], folder: Path, texts: Iterable[str]) -> Iterator[Started]:
    """A running command, being fed a line for each text, and what it complains; it and all that it started are gone
    afterwards. Raises `OSError` if it cannot be started."""
    with tempfile.TemporaryFile() as complaint:
        process = subprocess.Popen(
            words,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=complaint,
            cwd=folder,
            start_new_session=True,
        )
        feeder = threading.Thread(target=_feed, args=(process.stdin, texts), daemon=True)
        feeder.start()
        try:
            yield process, complaint
        finally:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            feeder.join()
            if process.stdout:
                process.stdout.close()


class Lines:
    """Lines of a stream as they come, each within a time."""

    def __init__(self, stream: IO[bytes], patience: float) -> None:
        self.patience = patience
        self._stream = stream
        self._ready: list[bytes] = []
        self._rest: list[bytes] = []
        self.hung = False
        self._selector = selectors.DefaultSelector()
        self._selector.register(stream, selectors.EVENT_READ)

    def next(self) -> bytes | None:
        """The next line, or None at the end or when `hung` says that none came in time."""
        deadline = monotonic() + self.patience
        while not self._ready:
            if not self._selector.select(max(deadline - monotonic(), 0)):
                self.hung = True
                return None
            block = os.read(self._stream.fileno(), 1 << 20)
            if not block:
                last, self._rest = b"".join(self._rest), []
                return last or None
            first, *others = block.split(b"\n")
            self._rest.append(first)
            if others:
                self._ready = [b"".join(self._rest), *others[:-1]][::-1]
                self._rest = others[-1:]
            elif sum(map(len, self._rest)) > _LONGEST_LINE:
                return b"".join(self._rest)[:_SHOWN]
        return self._ready.pop()


def _feed(stream: IO[bytes], texts: Iterable[str]) -> None:
    with suppress(BrokenPipeError, ValueError):
        for text in texts:
            stream.write(text.encode("utf-8") + b"\n")
            stream.flush()
    with suppress(BrokenPipeError):
        stream.close()


def last_words(status: int, complaint: IO[bytes]) -> str:
    """How a command ended, and the line of its complaint that tells most."""
    complaint.seek(0)
    said = complaint.read().decode("utf-8", "replace").strip().split("\n")
    how = f"killed by {signal.Signals(-status).name}" if status < 0 else f"exit status {status}"
    return f"{how}: {_telling(said)}"


def _telling(said: Sequence[str]) -> str:
    """The line of an interpreter's complaint that names the error."""
    named = [line.strip() for line in said if "Error" in line]
    return (named or [said[-1].strip()])[-1] or "said nothing"


def excerpt(line: bytes) -> str:
    """The beginning of a line, as text."""
    text = line.decode("utf-8", "replace")
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
