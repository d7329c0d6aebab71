"""The example exam: thirty practice questions from the models that travel with the package, sat by the personas.

It shows how an exam works before there is one, and certifies nothing: its seed is published here, so are its answers,
and its times are invented. The same package makes the same example. A real exam is made by `Exam.create` from a seed
that nobody knows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Final

from concordance.exam.folder import Exam, Sitting
from concordance.exam.golden import Golden, from_model
from concordance.exam.personas import Transcript, write_transcripts
from concordance.numbers import sha256_hex
from concordance.workspace import builtin_workspace

if TYPE_CHECKING:
    from concordance.keys import PrivateKey

SEED: Final = "practice"
OWNER: Final = "example owner (nobody)"
_COUNT: Final = 30
_SIGNED_AT: Final = 3
_TIMES: Final = tuple(f"2026-01-{day:02d}T09:00:00Z" for day in (5, 6, 7, 8, 9, 12, 13, 14))


def make_example(root: Path) -> Exam:
    """Make the example in a new folder: sealed, sat, graded and signed off. Takes some seconds."""
    workspace = builtin_workspace()
    drawn = from_model(workspace, workspace.models, SEED, _COUNT, numeric=True)
    source = f"{', '.join(f'{m} {workspace.spec(m).version}' for m in workspace.models)}, drawn from a published seed"
    golden = replace(drawn, title="Example exam: loans, savings and a move", source=source)
    salts, times = count(), iter(_TIMES)
    exam = Exam.create(root, golden, next(times), lambda size: _salt(next(salts))[:size])
    for _ in sit_personas(exam, lambda: next(times)):
        exam.grade(next(times))
    exam.sign(OWNER, _SIGNED_AT, next(times))
    return exam


def sit_personas(
    exam: Exam, now: Callable[[], str], key: PrivateKey | None = None
) -> Iterator[tuple[Sitting, Transcript]]:
    """Have each persona sit an exam of thirty numeric questions, and enter it as scripted."""
    about = exam.about
    golden = Golden(about.title, exam.items, exam.documents, {}, about.source, about.licence)
    for name, transcript in write_transcripts(golden).items():
        sitting = exam.next_sitting(name)
        replies = transcript.replies
        stored = exam.transcript(sitting)
        with stored.open(list(replies)):
            for identifier, reply in replies.items():
                if identifier not in stored.replies:
                    stored.append(identifier, reply)
        exam.enter(sitting, now(), key, scripted=True)
        yield sitting, transcript


def _salt(number: int) -> bytes:
    return bytes.fromhex(sha256_hex(f"{SEED} {number}".encode()))
