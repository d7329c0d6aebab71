"""The rows of an exam's ledger: how one is made and chained to the last, and how a chain is checked.

A row is a line of canonical JSON (RFC 8785) that holds the hash of the row before it. Its own `hash` is the SHA-256
over the canonical JSON of all its other fields but `signature`, which is Ed25519 over the hash. A footer line counts
the rows and repeats the last one's hash. The bytes are checked and not what they mean: any other spelling is a fault.

What a check proves depends on what the reader brings along. Alone it finds every change that did not build the rest of
the chain anew. With a head kept elsewhere no row up to it can have changed. With public keys:

- every signature must be by one of the keys;
- a sign-off must carry one;
- any other row must carry one or be followed by a row that does, since a signature covers all rows before it.

Rows cut off after a signed row show by a kept head alone. It reads no file and knows no exam: `ledger` stores the rows.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, NamedTuple, TypeVar

import msgspec

from concordance.errors import UnusableInputError
from concordance.keys import is_signature, public_hex
from concordance.numbers import canonical_json, parse_json, sha256_hex

if TYPE_CHECKING:
    from concordance.keys import PrivateKey, PublicKey

T = TypeVar("T")
Kind = Literal["seal", "sitting", "grading", "sign-off"]
GENESIS: Final = "0" * 64
"""What the first row has as `previous`, and an empty ledger as head."""

LONGEST: Final = 1 << 24
"""The most bytes that a row's line may have, so that a check needs little memory whatever it is given."""

MOST_FAULTS: Final = 100
"""A check ends at this many faults: what it reads is no ledger then."""

_DOMAIN: Final = b"concordance exam ledger row v1\n"
_HEX: Final = r"\A[0-9a-f]{64}\Z"
_TIME: Final = r"\A[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?(Z|\+00:00)\Z"
_LARGEST_INTEGER: Final = 2**53 - 1

Number = Annotated[int, msgspec.Meta(ge=1, le=_LARGEST_INTEGER)]
Count = Annotated[int, msgspec.Meta(ge=0, le=_LARGEST_INTEGER)]
Digest = Annotated[str, msgspec.Meta(pattern=_HEX)]


class Head(msgspec.Struct, frozen=True):
    """How many rows there are and the last one's hash: all that must be kept elsewhere to pin the rows down."""

    count: Count
    hash: Digest

    def __str__(self) -> str:
        return f"{self.count}:{self.hash}"

    @classmethod
    def parse(cls, text: str) -> Head:
        """Read what `str` made. Raises `UnusableInputError`."""
        match = re.fullmatch(r"(0|[1-9][0-9]{0,14}):([0-9a-f]{64})", text.strip())
        if match is None:
            hint = "a count, a colon and 64 hexadecimal digits"
            raise UnusableInputError(f"{text.strip()[:80]!r} is no head of a ledger", hint=hint)
        return cls(int(match[1]), match[2])


EMPTY: Final = Head(0, GENESIS)


class Row(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One row. `key` is the public key of whoever signed, all of it, so that the ledger alone shows a bad signature."""

    number: Number
    time: Annotated[str, msgspec.Meta(pattern=_TIME)]
    kind: Kind
    payload: dict[str, Any]
    previous: Digest
    hash: Digest
    key: Digest | None = None
    signature: Annotated[str, msgspec.Meta(pattern=r"\A[0-9a-f]{128}\Z")] | None = None

    @property
    def head(self) -> Head:
        """The head of a ledger that ends with this row."""
        return Head(self.number, self.hash)

    @property
    def line(self) -> bytes:
        """The row as it is stored and exported, without the line's end."""
        return canonical_json(_given(self))


class Footer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The last line of an export."""

    count: Count
    head: Digest


class Fault(NamedTuple):
    """What a check found wrong at a row, or, where `row` is None, at the footer or the whole."""

    row: int | None
    what: str

    def __str__(self) -> str:
        return self.what if self.row is None else f"row {self.row} {self.what}"


class Checked(msgspec.Struct, frozen=True):
    """What a check found, in the order of the rows. `vouched` is the last row that one of the given keys covers."""

    faults: tuple[Fault, ...]
    head: Head
    vouched: int

    @property
    def ok(self) -> bool:
        return not self.faults


def next_row(last: Head, kind: Kind, payload: dict[str, Any], now: str, key: PrivateKey | None = None) -> Row:
    """The row that follows `last`. Its payload is as it reads back: numbers as binary64, tuples as lists.

    Raises `UnusableInputError` if the payload or the time cannot stand in a row.
    """
    content = {"number": last.count + 1, "time": now, "kind": kind, "payload": payload, "previous": last.hash}
    if key is not None:
        content["key"] = public_hex(key.public_key())
    try:
        msgspec.convert(now, datetime)  # the pattern in `Row` knows no calendar
        digest = sha256_hex(canonical_json(_binary64(content)))
        signature = {} if key is None else {"signature": key.sign(_signed(digest)).hex()}
        return _read(canonical_json(_binary64(content) | {"hash": digest} | signature))
    except (ValueError, TypeError, RecursionError, OverflowError, msgspec.ValidationError, UnusableInputError) as error:
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise UnusableInputError(f"cannot stand in a ledger: {reason}", where=f"a row of kind {kind}") from None


def read_row(line: bytes) -> Row:
    """The row in a stored line, if it is one and its hash is right. Raises `UnusableInputError`."""
    row = _read(line)
    if _digest(row) != row.hash:
        raise UnusableInputError("does not have the content that its hash was made of")
    return row


def footer_line(head: Head) -> bytes:
    """The line that ends an export, without the line's end."""
    return canonical_json({"footer": {"count": head.count, "head": head.hash}})


def read_footer(line: bytes) -> Head:
    """The head that a footer states. Raises `UnusableInputError`."""
    value = parse_json(line)
    try:
        footer = msgspec.convert(value, dict[Literal["footer"], Footer])["footer"]
    except (msgspec.ValidationError, KeyError):
        raise UnusableInputError("is no footer") from None
    head = Head(footer.count, footer.head)
    if footer_line(head) != line:
        raise UnusableInputError("is a footer in another spelling than the canonical one")
    return head


def check_lines(lines: Iterable[bytes], *, keys: Collection[PublicKey] = (), head: Head | None = None) -> Checked:
    """Check an export, line by line, each with its end. `head` is one kept elsewhere, of now or of any earlier time."""
    return check_filed(((None, line) for line in lines), keys=keys, head=head)


def check_filed(
    lines: Iterable[tuple[int | None, bytes]], *, keys: Collection[PublicKey] = (), head: Head | None = None
) -> Checked:
    """`check_lines` of lines that are filed under numbers, which must be those of the rows."""
    chain = _Chain(frozenset(map(public_hex, keys)), head)
    for (filed, line), is_last in _with_last(lines):
        chain.take(line, is_last, filed)
        if len(chain.faults) >= MOST_FAULTS:
            chain.fault(None, "there may be more faults: the check ended here")
            break
    else:
        chain.end()
    return chain.checked()


class _Chain:
    """A check under way. Rows are placed by what they are chained to first, and by their number second."""

    def __init__(self, trusted: frozenset[str], kept: Head | None) -> None:
        self.faults: list[Fault] = []
        self._trusted = trusted
        self._kept = kept
        self._count = 0  # the number of the last row in place
        self._tips: tuple[str, ...] = (GENESIS,)  # its hash as stored and as computed; nothing if it cannot be read
        self._vouched = 0
        self._unread_since: int | None = None  # the first of the unreadable lines just before
        self._missing: list[range] = []
        self._footer: Head | None = None
        self._footer_seen = False

    def fault(self, row: int | None, what: str) -> None:
        self.faults.append(Fault(row, what))

    def take(self, line: bytes, is_last: bool, filed: int | None) -> None:
        if self._footer_seen:
            self.fault(None, "something follows the footer")
            return
        content = line.removesuffix(b"\n")
        if content.startswith(b'{"footer"') or (is_last and not content.startswith(b'{"hash"')):
            self._take_footer(content)
        else:
            self._take_row(content, filed)
        if is_last and content == line:
            self.fault(None, "the last line does not end")

    def _take_footer(self, content: bytes) -> None:
        self._footer_seen = True
        try:
            self._footer = read_footer(content)
        except UnusableInputError as error:
            self.fault(None, f"the footer cannot be read: {error}")

    def _take_row(self, content: bytes, filed: int | None) -> None:
        try:
            row = _read(content)
        except UnusableInputError as error:
            self._count += 1
            self._tips = ()
            self._unread_since = self._unread_since or self._count
            self.fault(self._count, f"cannot be read: {error}")
            return
        digest = _digest(row)
        number = self._place(row, digest)
        if row.hash != digest:
            self.fault(number, "was changed: it does not have the content that its hash was made of")
        elif self._kept is not None and number == self._kept.count and row.hash != self._kept.hash:
            self.fault(number, "is not the row of the kept head: it or one before it was changed and the chain rebuilt")
        else:
            self._check_signature(row, number)
        if filed is not None and filed != row.number:
            self.fault(number, f"is filed under the number {filed}")

    def _place(self, row: Row, digest: str) -> int:
        """Find out which row this is, say so if it is not where it should be, and go on from there."""
        due = self._count + 1
        intact = row.hash == digest
        if row.previous in self._tips:
            if intact and row.number != due:
                self.fault(due, f"calls itself row {row.number}")
            number = due
        elif row.number == due or (self._unread_since or due) <= row.number < due:
            if intact and self._tips and len(set(self._tips)) == 1:
                self._break_before(row)
            number = row.number
        elif row.number > due:
            self._missing.append(range(due, row.number))
            number = row.number
        else:
            self._take_late(row.number)
            return row.number
        self._count, self._tips, self._unread_since = number, (row.hash, digest), None
        return number

    def _break_before(self, row: Row) -> None:
        """Name the row at fault where two rows in place are each whole but not chained to one another."""
        if self._count == 0:
            self.fault(row.number, "is not chained to the beginning")
        elif self._count <= self._vouched:
            self.fault(row.number, f"is not chained to row {self._count}, which is signed")
        else:
            self.fault(
                self._count, f"is not the row that row {row.number} was chained to: it was changed, hash and all"
            )

    def _take_late(self, number: int) -> None:
        for index, gap in enumerate(self._missing):
            if number in gap:
                parts = (range(gap.start, number), range(number + 1, gap.stop))
                self._missing[index : index + 1] = [part for part in parts if part]
                self.fault(number, f"is out of place: it comes after row {self._count}")
                return
        again = "again" if number == self._count else f"again after row {self._count}"
        self.fault(number, f"comes {again}")

    def _check_signature(self, row: Row, number: int) -> None:
        if row.key is None or row.signature is None:
            if row.key != row.signature:
                self.fault(number, "has a key without a signature" if row.key else "has a signature without a key")
            elif self._trusted and row.kind == "sign-off":
                self.fault(number, "is a sign-off and not signed")
        elif not is_signature(row.key, bytes.fromhex(row.signature), _signed(row.hash)):
            self.fault(number, "is not what its signature is about: it or one before it was changed")
        elif self._trusted and row.key not in self._trusted:
            self.fault(number, f"is signed with a key that is not among those given ({row.key})")
        elif self._trusted:
            self._vouched = max(self._vouched, number)

    def end(self) -> None:
        """What only shows once all lines were read."""
        for gap in self._missing:
            self._fault_missing(gap, "")
        self._check_footer()
        if self._kept is not None and self._kept.count > self._count:
            self._fault_missing(
                range(self._count + 1, self._kept.count + 1), f": the kept head is {self._kept.count}'s"
            )
        if self._trusted and self._vouched < self._count:
            since = "" if self._vouched + 1 == self._count else f" and those after it, up to {self._count},"
            verb = "is" if not since else "are"
            self.fault(self._vouched + 1, f"{since} {verb} covered by no signature with a given key".lstrip())

    def _check_footer(self) -> None:
        if self._footer is None:
            if not self._footer_seen:
                self.fault(None, "the footer is missing: the end was cut off")
            return
        count, digest = self._footer.count, self._footer.hash
        states = f"the footer counts {count}"
        if count > self._count and digest not in self._tips:
            self._fault_missing(range(self._count + 1, count + 1), f": {states}")
        elif count != self._count:
            self.fault(None, f"{states} rows, and there are {self._count}")
        elif self._tips and digest not in self._tips:
            if self._count <= self._vouched:
                self.fault(None, "the footer does not give the last row's hash")
            elif len(set(self._tips)) == 1:
                self.fault(self._count, "is not the row whose hash the footer gives: one of the two was changed")

    def _fault_missing(self, gap: range, why: str) -> None:
        if len(gap) == 1:
            self.fault(gap.start, f"is missing{why}")
        else:
            self.fault(gap.start, f"and those after it, up to {gap.stop - 1}, are missing{why}")

    def checked(self) -> Checked:
        faults = sorted(self.faults, key=lambda fault: (fault.row is None, fault.row or 0))
        return Checked(tuple(faults), Head(self._count, self._tips[0] if self._tips else GENESIS), self._vouched)


def _read(line: bytes) -> Row:
    """The row in a line of exactly the canonical bytes. Raises `UnusableInputError`."""
    if len(line) > LONGEST:
        raise UnusableInputError(f"has more than {LONGEST} bytes", hint="record the digest of what is larger")
    value = _binary64(parse_json(line))
    try:
        row = msgspec.convert(value, Row)
    except msgspec.ValidationError as error:
        raise UnusableInputError(f"is no row: {error}") from None
    if row.line != line:
        raise UnusableInputError("is in another spelling than the canonical one")
    return row


def _given(row: Row) -> dict[str, Any]:
    return {name: value for name, value in msgspec.structs.asdict(row).items() if value is not None}


def _digest(row: Row) -> str:
    return sha256_hex(canonical_json({k: v for k, v in _given(row).items() if k not in ("hash", "signature")}))


def _signed(digest: str) -> bytes:
    return _DOMAIN + bytes.fromhex(digest)


def _binary64(value: Any) -> Any:
    """The value with every integer that RFC 8785 does not take for exact as the float that it means (C-1)."""
    if isinstance(value, dict):
        return {key: _binary64(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_binary64(item) for item in value]
    if isinstance(value, int) and abs(value) > _LARGEST_INTEGER:
        return float(value)
    return value


def _with_last(lines: Iterable[T]) -> Iterator[tuple[T, bool]]:
    """Each line, and whether it is the last."""
    iterator = iter(lines)
    for held in iterator:
        for following in iterator:
            yield held, False
            held = following
        yield held, True
