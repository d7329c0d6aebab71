"""The ledger of an exam: append-only, chained rows in an SQLite file, written by any number of processes at once.

The file holds the lines of the ledger's export, row by row, and the footer. A row that `append` returned is on the
disk; an append that was killed left nothing. `docs/decisions/0005-the-ledger-is-sqlite.md` says why it is SQLite. It
does not stop who may write the file from changing it: that shows, by the rules in `chain`.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final

from concordance.errors import ConcordanceError, UnusableInputError
from concordance.exam.chain import (
    EMPTY,
    LONGEST,
    Checked,
    Head,
    Kind,
    Row,
    check_filed,
    check_lines,
    footer_line,
    next_row,
    read_row,
)

if TYPE_CHECKING:
    from concordance.keys import PrivateKey, PublicKey

_SCHEMA: Final = (
    "CREATE TABLE footer (line TEXT NOT NULL)",
    "CREATE TABLE row (number INTEGER PRIMARY KEY, line TEXT NOT NULL)",
)
_WAIT: Final = 60.0  # seconds that an append waits for others
_WARY: Final = ("PRAGMA trusted_schema = OFF", "PRAGMA cell_size_check = ON")
_DURABLE: Final = (
    "PRAGMA journal_mode = DELETE",
    "PRAGMA synchronous = EXTRA",  # FULL does not flush the folder that the journal was deleted from
    "PRAGMA fullfsync = ON",  # macOS flushes the drive's own cache only when asked
)


class Ledger:
    """The ledger in a file, which the first append makes. Holds nothing open between calls; may go to any process."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def append(self, kind: Kind, payload: dict[str, Any], now: str, key: PrivateKey | None = None) -> Row:
        """Add a row, to the disk, and sign it if a key is given.

        Raises `UnusableInputError` if the payload cannot stand in a row, or if the ledger is damaged at its end.
        """
        next_row(EMPTY, kind, payload, now)  # so that a refusal comes before a file is made
        with _connected(self.path, create=True) as connection:
            connection.execute("BEGIN IMMEDIATE")
            if not _is_ledger(connection, self.path):
                for statement in _SCHEMA:
                    connection.execute(statement)
                connection.execute("INSERT INTO footer VALUES (?)", [footer_line(EMPTY).decode()])
            row = next_row(self._last(connection), kind, payload, now, key)
            connection.execute("INSERT INTO row VALUES (?, ?)", [row.number, row.line.decode()])
            connection.execute("UPDATE footer SET line = ?", [footer_line(row.head).decode()])
            connection.execute("COMMIT")
        return row

    def head(self) -> Head:
        """How many rows there are, and the last one's hash."""
        if not _exists(self.path):
            return EMPTY
        with _connected(self.path) as connection:
            connection.execute("BEGIN")
            return self._last(connection) if _is_ledger(connection, self.path) else EMPTY

    def rows(self) -> Iterator[Row]:
        """The rows there are now, one at a time. Raises `UnusableInputError` at one that is damaged.

        Whether they are chained to one another is for `verify_ledger` to say.
        """
        for number, line in _filed(self.path) if _exists(self.path) else ():
            if number is not None:
                yield self._read(number, line.removesuffix(b"\n"))

    def export(self) -> Iterator[bytes]:
        """The lines of the export, each with its end: the rows there are now and a footer, as they are stored.

        Nothing is checked: a damaged ledger can be exported too, and its export has the same faults.
        """
        lines = (line for _, line in _filed(self.path)) if _exists(self.path) else iter(())
        yield next(lines, footer_line(EMPTY) + b"\n")
        yield from lines

    def _last(self, connection: sqlite3.Connection) -> Head:
        """The head, if footer and last row agree on it."""
        footers = connection.execute("SELECT line FROM footer LIMIT 2").fetchall()
        last = connection.execute("SELECT number, line FROM row ORDER BY number DESC LIMIT 1").fetchone()
        head = EMPTY if last is None else self._read(last[0], last[1]).head
        if len(footers) != 1 or footers[0][0] != footer_line(head) or (last and last[0] != head.count):
            hint = "verify says where"
            raise UnusableInputError(
                "was tampered with: its footer is not its last row's", where=str(self.path), hint=hint
            )
        return head

    def _read(self, number: int, line: object) -> Row:
        try:
            return read_row(line if isinstance(line, bytes) else b"")
        except UnusableInputError as error:
            raise UnusableInputError(f"row {number}: {error}", where=str(self.path)) from None


def verify_ledger(path: Path, *, keys: Collection[PublicKey] = (), head: Head | None = None) -> Checked:
    """Check the ledger in a file. Raises `UnusableInputError` if there is none."""
    if not _exists(path):
        raise UnusableInputError("there is no ledger", where=str(path))
    return check_filed(_filed(path), keys=keys, head=head)


def verify_export(export: Path | BinaryIO, *, keys: Collection[PublicKey] = (), head: Head | None = None) -> Checked:
    """Check an exported ledger, which needs nothing but its bytes. Raises `UnusableInputError` if it cannot be read."""
    if not isinstance(export, Path):
        return check_lines(iter(lambda: export.readline(LONGEST + 2), b""), keys=keys, head=head)
    try:
        with export.open("rb") as file:
            return verify_export(file, keys=keys, head=head)
    except OSError as error:
        raise UnusableInputError(error.strerror or "cannot be read", where=str(export)) from None


def _filed(path: Path) -> Iterator[tuple[int | None, bytes]]:
    """Each stored row with its number and the footer without one, as lines, none of what is appended meanwhile.

    Row by row, so that no writer waits for a slow reader.
    """
    with _connected(path) as connection:
        connection.execute("BEGIN")
        if not _is_ledger(connection, path):
            return
        footers = connection.execute("SELECT line FROM footer LIMIT 2").fetchall()
        (last,) = connection.execute("SELECT max(number) FROM row").fetchone()
        connection.execute("COMMIT")
        query = "SELECT number, line FROM row WHERE number > ? AND number <= ? ORDER BY number LIMIT 1"
        number = -(1 << 63)
        while (found := connection.execute(query, [number, last]).fetchone()) is not None:
            if found[0] <= number:
                raise UnusableInputError("is damaged: its rows are in no order", where=str(path))
            number, line = found
            yield number, _bytes(line) + b"\n"
        for (line,) in footers:
            yield None, _bytes(line) + b"\n"


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError as error:
        raise UnusableInputError(error.strerror or "cannot be read", where=str(path)) from None


def _bytes(line: object) -> bytes:
    return line if isinstance(line, bytes) else b""


def _is_ledger(connection: sqlite3.Connection, path: Path) -> bool:
    """Whether the database is a ledger's, under a lock; not if it is empty. Raises `UnusableInputError` if other."""
    found = connection.execute("SELECT sql FROM sqlite_master ORDER BY name").fetchall()
    if found and found != [(statement.encode(),) for statement in _SCHEMA]:
        raise UnusableInputError("is an SQLite database that is no ledger, or not only one", where=str(path))
    if not found and path.stat().st_size:  # SQLite takes a file of a few bytes for an empty database
        raise UnusableInputError("is no ledger: nothing is in it that a ledger holds", where=str(path))
    return bool(found)


@contextmanager
def _connected(path: Path, *, create: bool = False) -> Iterator[sqlite3.Connection]:
    """A connection, closed in the end, and whatever was not committed undone. Raises `ConcordanceError`."""
    try:
        uri = f"{path.absolute().as_uri()}?mode={'rwc' if create else 'rw'}"
        # An export may be streamed by a pool of threads, one at a time.
        connection = sqlite3.connect(uri, uri=True, timeout=_WAIT, isolation_level=None, check_same_thread=False)
        try:
            connection.text_factory = bytes
            connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 2 * LONGEST)
            for setting in (*_WARY, *(_DURABLE if create else ())):
                connection.execute(setting)
            yield connection
        finally:
            connection.close()
    except (sqlite3.Error, UnicodeError, MemoryError) as error:
        raise _explained(error, path) from None
    except OSError as error:
        raise UnusableInputError(error.strerror or "cannot be read", where=str(path)) from None


def _explained(error: Exception, path: Path) -> ConcordanceError:
    """What SQLite could not do, in one line."""
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF
    where = str(path)
    if code == sqlite3.SQLITE_BUSY:
        return ConcordanceError("is held by another process", where=where, hint=f"waited {_WAIT:.0f} s")
    if code == sqlite3.SQLITE_FULL:
        return ConcordanceError("there is no room on the disk; nothing was added", where=where)
    if code == sqlite3.SQLITE_NOTADB:
        return UnusableInputError("is no ledger: it is no SQLite database", where=where)
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM):
        return UnusableInputError("cannot be written", where=where)
    if code == sqlite3.SQLITE_CANTOPEN:
        return UnusableInputError("cannot be opened, or nothing can be written beside it", where=where)
    if code == sqlite3.SQLITE_IOERR:
        return ConcordanceError(f"cannot be read or written: {error}", where=where)
    return UnusableInputError(f"is damaged: {error}", where=where)
