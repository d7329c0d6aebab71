"""What tampering with a ledger looks like: an export in which one score was changed, for a check to find.

Works on a copy's lines and writes nothing. The check is `chain`'s, the same as for any ledger.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import msgspec

from concordance.errors import UnusableInputError
from concordance.exam.chain import Head, Row, next_row, read_row

SCORES: Final = ("correct", "abstain", "wrong")


def tampered(export: Iterable[bytes], number: int, score: str, value: int, *, rehash: bool = False) -> Iterator[bytes]:
    """The lines of an export with one score of the grading in row `number` changed.

    With `rehash` whoever changed it also made the row's own hash anew, as one who knows the rules but has no key can.
    Raises `UnusableInputError` if there is no such grading, or the score is that already.
    """
    found = False
    for line in export:
        row = _row(line)
        if row is not None and row.number == number:
            found = True
            line = _changed(row, score, value, rehash) + b"\n"
        yield line
    if not found:
        raise UnusableInputError(f"there is no row {number}")


def _row(line: bytes) -> Row | None:
    return None if line.startswith(b'{"footer"') else read_row(line.removesuffix(b"\n"))


def _changed(row: Row, score: str, value: int, rehash: bool) -> bytes:
    if row.kind != "grading" or score not in SCORES:
        raise UnusableInputError(f"row {row.number} has no such score", hint=f"a grading has {', '.join(SCORES)}")
    if row.payload[score] == value:
        raise UnusableInputError(f"row {row.number} says {value} {score} already", hint="change it to something else")
    payload = row.payload | {score: value}
    if rehash:
        return next_row(Head(row.number - 1, row.previous), row.kind, payload, row.time).line
    return msgspec.structs.replace(row, payload=payload).line
