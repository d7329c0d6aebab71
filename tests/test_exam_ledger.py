"""The ledger shows every change and names the row; it loses nothing; and many processes write one chain."""

from __future__ import annotations

import io
import json
import multiprocessing
import os
import random
import resource
import signal
import sqlite3
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from concordance import keys as key_files
from concordance.errors import ConcordanceError, UnusableInputError
from concordance.exam.chain import (
    EMPTY,
    GENESIS,
    LONGEST,
    MOST_FAULTS,
    Checked,
    Head,
    Row,
    check_lines,
    footer_line,
    next_row,
    read_footer,
    read_row,
)
from concordance.exam.ledger import Ledger, verify_export, verify_ledger
from concordance.numbers import canonical_json, sha256_hex

NOW = "2026-03-01T09:30:00Z"
FORK = multiprocessing.get_context("fork")
KINDS = ("seal", "sitting", "grading", "sign-off")
EACH = int(os.environ.get("CONCORDANCE_LEDGER_ROWS", "125"))
"""Rows of each of the eight writers. 1000 take some 20 seconds or more, as the disk flushes."""


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


@pytest.fixture(scope="module")
def key(folder: Path) -> Any:
    return key_files.new_key(folder / "key.pem")


@pytest.fixture(scope="module")
def stranger(folder: Path) -> Any:
    return key_files.new_key(folder / "stranger.pem")


def chain(count: int, sign: Callable[[int], Any] = lambda _: None, start: Head = EMPTY) -> list[Row]:
    """Rows of all kinds, chained."""
    rows: list[Row] = []
    for number in range(1, count + 1):
        last = rows[-1].head if rows else start
        payload = {"candidate": f"Müller & Söhne №{number} 🙂", "wrong": number, "share": number / 7}
        rows.append(next_row(last, KINDS[(number - 1) % 4], payload, NOW, sign(number)))  # type: ignore[arg-type]
    return rows


def exported(rows: list[Row]) -> list[bytes]:
    return [*(row.line + b"\n" for row in rows), footer_line(rows[-1].head if rows else EMPTY) + b"\n"]


def with_row(rows: list[Row], at: int, changed: Row) -> list[bytes]:
    """The export with one line (`at` counts from 0) put in another's place."""
    return [changed.line + b"\n" if index == at else line for index, line in enumerate(exported(rows))]


def edited(row: Row, *, rehash: bool = True, **changes: Any) -> Row:
    """The row with other content, its hash made anew or not, and its old signature if it had one."""
    changed = msgspec.structs.replace(row, **changes)
    content = {name: value for name, value in msgspec.structs.asdict(changed).items() if value is not None}
    digest = sha256_hex(canonical_json({k: v for k, v in content.items() if k not in ("hash", "signature")}))
    return msgspec.structs.replace(changed, hash=digest) if rehash else changed


def rebuilt(rows: list[Row], at: int, **changes: Any) -> list[Row]:
    """The rows with one edited (`at` counts from 0) and every hash from there on made anew."""
    result = rows[:at]
    for row in rows[at:]:
        previous = result[-1].hash if result else GENESIS
        result.append(edited(row, previous=previous, **(changes if row is rows[at] else {})))
    return result


def named(checked: Checked) -> list[int | None]:
    return [fault.row for fault in checked.faults]


def read(data: bytes, **options: Any) -> Checked:
    return verify_export(io.BytesIO(data), **options)


# What a row is


def test_a_row_is_a_canonical_line_whose_hash_and_signature_anyone_can_compute(tmp_path: Path, key: Any) -> None:
    ledger = Ledger(tmp_path / "ledger.sqlite")
    row = ledger.append("sign-off", {"k": 3, "owner": "ada"}, NOW, key)
    (line, footer) = ledger.export()
    fields = json.loads(line)
    content = {name: fields[name] for name in ("key", "kind", "number", "payload", "previous", "time")}
    spelled = json.dumps(content, separators=(",", ":"), sort_keys=True, ensure_ascii=False).encode()
    assert fields["hash"] == sha256_hex(spelled) == row.hash
    assert fields["previous"] == "0" * 64
    key.public_key().verify(
        bytes.fromhex(fields["signature"]), b"concordance exam ledger row v1\n" + bytes.fromhex(row.hash)
    )
    assert fields["key"] == key.public_key().public_bytes_raw().hex()
    assert json.loads(footer) == {"footer": {"count": 1, "head": row.hash}}


def test_what_was_appended_reads_back(tmp_path: Path, key: Any) -> None:
    ledger = Ledger(tmp_path / "ledger.sqlite")
    added = [ledger.append("seal", {"n": n}, NOW, key if n % 2 else None) for n in range(5)]
    assert list(ledger.rows()) == added
    assert [row.number for row in added] == [1, 2, 3, 4, 5]
    assert ledger.head() == added[-1].head
    assert verify_ledger(ledger.path, head=added[2].head) == Checked((), added[-1].head, 0)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["ledger.sqlite"]


def test_an_empty_ledger_is_whole_and_no_file_is_made_for_it(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.sqlite")
    assert (ledger.head(), list(ledger.rows())) == (EMPTY, [])
    assert read(b"".join(ledger.export())) == Checked((), EMPTY, 0)
    with pytest.raises(UnusableInputError, match="there is no ledger"):
        verify_ledger(ledger.path)
    assert list(tmp_path.iterdir()) == []


NAMES = st.text(st.characters(exclude_categories=["Cs"]))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False) | NAMES,
    lambda values: st.lists(values, max_size=4) | st.dictionaries(NAMES, values, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(NAMES, VALUES, max_size=5), st.sampled_from(KINDS))
@example({"\x00\u2028\ufeff": ["", "\n", '"', -0.0, 1e300, 5e-324, 2**53, 1e21, 10**20]}, "seal")
def test_whatever_json_can_hold_reads_back_as_the_same_line(payload: dict[str, Any], kind: Any) -> None:
    row = next_row(EMPTY, kind, payload, NOW)
    assert read_row(row.line) == row
    assert b"\n" not in row.line
    assert check_lines(exported([row])).ok
    assert next_row(EMPTY, kind, row.payload, NOW) == row


@pytest.mark.parametrize(
    ("kind", "payload", "now"),
    [
        ("seal", {"x": float("nan")}, NOW),
        ("seal", {"x": float("inf")}, NOW),
        ("seal", {"x": 10**400}, NOW),
        ("seal", {"x": "\ud800"}, NOW),
        ("seal", {"\udfff": 1}, NOW),
        ("seal", {1: "x"}, NOW),
        ("seal", {"x": {1, 2}}, NOW),
        ("seal", {"x": b"x"}, NOW),
        ("seal", ["x"], NOW),
        ("seal", None, NOW),
        ("deal", {}, NOW),
        ("seal", {}, "yesterday"),
        ("seal", {}, "2026-02-30T00:00:00Z"),
        ("seal", {}, "2026-03-01T09:30:00+01:00"),
        ("seal", {}, "2026-03-01T09:30:00Z\n"),
        ("seal", {}, "2026-03-01"),
        ("seal", {}, 5),
        ("seal", {"x": json.loads("[" * 64 + "]" * 64)}, NOW),
        ("seal", {"x": "x" * LONGEST}, NOW),
    ],
)
def test_what_cannot_stand_in_a_row_is_refused_in_one_line_and_nothing_is_written(
    tmp_path: Path, kind: Any, payload: Any, now: Any
) -> None:
    with pytest.raises(UnusableInputError) as refused:
        Ledger(tmp_path / "ledger.sqlite").append(kind, payload, now)
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 300
    assert list(tmp_path.iterdir()) == []


def test_a_payload_that_holds_itself_is_refused(tmp_path: Path) -> None:
    payload: dict[str, Any] = {}
    payload["self"] = payload
    with pytest.raises(UnusableInputError, match="nested too deeply"):
        Ledger(tmp_path / "ledger.sqlite").append("seal", payload, NOW)


def test_a_payload_of_a_megabyte_is_a_row_like_any_other(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.sqlite")
    text = "".join(map(chr, range(0x20, 0xD800, 7))) * 60
    rows = [ledger.append("sitting", {"text": text}, NOW) for _ in range(3)]
    assert len(rows[0].line) > 1_000_000
    assert [row.payload["text"] == text for row in ledger.rows()] == [True] * 3
    assert verify_ledger(ledger.path).ok
    assert read(b"".join(ledger.export())).ok


def test_memory_stays_level_however_many_rows(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.sqlite")
    for _ in range(80):
        ledger.append("sitting", {"text": "x" * 100_000}, NOW)
    export = tmp_path / "export.jsonl"
    tracemalloc.start()
    with export.open("wb") as file:
        file.writelines(ledger.export())
    assert sum(1 for _ in ledger.rows()) == 80
    assert verify_ledger(ledger.path).ok
    assert verify_export(export).ok
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert export.stat().st_size > 8_000_000
    assert peak < 3_000_000


# Tampering with an export


def test_any_byte_of_an_export_changed_is_found_and_its_row_named(key: Any) -> None:
    rows = chain(5, lambda number: key if number in (2, 4) else None)
    lines = exported(rows)
    data = b"".join(lines)
    assert read(data).ok
    owners = [owner for owner, line in zip([1, 2, 3, 4, 5, None], lines, strict=True) for _ in line]
    for at, owner in enumerate(owners):
        for other in {data[at] ^ 1, data[at] ^ 0x20, data[at] ^ 0x80, ord("\n"), ord(" ")} - {data[at]}:
            checked = read(data[:at] + bytes([other]) + data[at + 1 :])
            # A digit of the footer's hash may as well be a change of the last row, and the fault names both.
            footer = owner is None and (None in named(checked) or "the footer" in checked.faults[0].what)
            assert footer or named(checked)[0] == owner, (at, other, checked)


def test_any_value_of_any_byte_is_found(key: Any) -> None:
    data = b"".join(exported(chain(1, lambda _: key)))
    for at in range(len(data)):
        for other in random.Random(at).sample(range(256), 40):
            if other != data[at]:
                assert not read(data[:at] + bytes([other]) + data[at + 1 :]).ok, (at, other)


@given(st.data())
def test_bytes_dropped_added_or_moved_are_found(data: st.DataObject) -> None:
    whole = b"".join(exported(chain(4)))
    start, stop = sorted(data.draw(st.tuples(*[st.integers(0, len(whole))] * 2)))
    other = data.draw(st.binary(max_size=8) | st.just(whole[start:stop] * 2) | st.just(whole[start:stop][::-1]))
    changed = whole[:start] + other + whole[stop:]
    assert read(changed).ok == (changed == whole)


def test_a_row_dropped_is_named(key: Any) -> None:
    rows = chain(7, lambda number: key if number % 3 == 0 else None)
    for drop in range(7):
        lines = exported(rows)
        del lines[drop]
        checked = check_lines(lines)
        assert named(checked) == [drop + 1], checked
        assert "is missing" in checked.faults[0].what


def test_several_rows_dropped_are_named() -> None:
    lines = exported(chain(9))
    checked = check_lines(lines[:2] + lines[4:6] + lines[9:])
    assert [str(fault) for fault in checked.faults] == [
        "row 3 and those after it, up to 4, are missing",
        "row 7 and those after it, up to 9, are missing: the footer counts 9",
    ]
    assert named(check_lines([lines[-1]])) == [1]


def test_a_row_doubled_is_named_wherever_its_copy_stands() -> None:
    lines = exported(chain(6))
    for row in range(6):
        for at in range(row + 1, 7):
            checked = check_lines([*lines[:at], lines[row], *lines[at:]])
            assert named(checked) == [row + 1], (row, at, checked)
            assert "comes again" in checked.faults[0].what


def test_a_row_swapped_with_its_neighbour_or_moved_is_named() -> None:
    lines = exported(chain(7))
    for row in range(6):
        swapped = [*lines[:row], lines[row + 1], lines[row], *lines[row + 2 :]]
        checked = check_lines(swapped)
        assert [str(fault) for fault in checked.faults] == [
            f"row {row + 1} is out of place: it comes after row {row + 2}"
        ]
    moved = [lines[0], *lines[2:6], lines[1], *lines[6:]]
    assert [str(fault) for fault in check_lines(moved).faults] == ["row 2 is out of place: it comes after row 6"]


def test_lines_in_any_order_but_theirs_are_found() -> None:
    lines = exported(chain(6))

    @given(st.lists(st.integers(0, 6), max_size=9))
    def shuffled(order: list[int]) -> None:
        assert check_lines([lines[index] for index in order]).ok == (order == list(range(7)))

    shuffled()


EDITS = [
    {"payload": {"wrong": 0}},
    {"time": "2020-01-01T00:00:00Z"},
    {"kind": "seal"},
    {"kind": "grading"},
    {"number": 99},
    {"number": 1},
]


@pytest.mark.parametrize("edit", EDITS)
@pytest.mark.parametrize("rehash", [False, True])
def test_a_row_edited_is_named_even_with_its_hash_made_anew(edit: dict[str, Any], rehash: bool) -> None:
    rows = chain(6)
    for at, row in enumerate(rows):
        changed = edited(row, rehash=rehash, **edit)
        if changed != row:
            checked = check_lines(with_row(rows, at, changed))
            assert set(named(checked)) == {at + 1}, (at, checked)


def test_a_row_chained_to_another_is_named() -> None:
    rows = chain(6)
    for at, row in enumerate(rows):
        changed = edited(row, previous="ab" * 32)
        assert at + 1 in named(check_lines(with_row(rows, at, changed)))


def test_a_row_of_another_ledger_is_named(tmp_path: Path) -> None:
    ours, theirs = Ledger(tmp_path / "ours.sqlite"), Ledger(tmp_path / "theirs.sqlite")
    for number in range(5):
        ours.append("sitting", {"n": number}, NOW)
        theirs.append("sitting", {"n": number, "theirs": True}, NOW)
    lines, others = list(ours.export()), list(theirs.export())
    assert ours.head() != theirs.head()
    for at in range(5):
        checked = check_lines([*lines[:at], others[at], *lines[at + 1 :]])
        assert at + 1 in named(checked), (at, checked)
    assert not check_lines(lines[:3] + others[3:]).ok


def test_a_cut_export_shows_by_its_footer() -> None:
    data = b"".join(exported(chain(3)))
    for size in range(len(data)):
        checked = read(data[:size])
        assert None in named(checked), (size, checked)
        assert "footer" in str(checked.faults[-1]) or "does not end" in str(checked.faults[-1])


@pytest.mark.parametrize(
    "respelled",
    [
        lambda data: b"\xef\xbb\xbf" + data,
        lambda data: data.replace(b"\n", b"\r\n"),
        lambda data: data + b"\n",
        lambda data: data + b"\0",
        lambda data: b"\n" + data,
        lambda data: data[:-1],
        lambda data: data.replace(b'"kind":', b'"kind": ', 1),
        lambda data: data.replace(b'{"hash"', b' {"hash"', 1),
        lambda data: data.replace(b'"wrong":1', b'"wrong":1.0', 1),
        lambda data: data.replace(b'"wrong":1', b'"wrong":1,"wrong":1', 1),
        lambda data: data.replace(b'"wrong":1', b'"wrong":2,"wrong":1', 1),
        lambda data: data.replace(b'"number":1', b'"key":null,"number":1', 1),
        lambda data: data.replace(b'"number":1', b'"note":1,"number":1', 1),
        lambda data: data.replace("ü".encode(), b"\\u00fc", 1),
        lambda data: data.replace("ü".encode(), b"u\xcc\x88", 1),
        lambda data: data.replace("ü".encode(), b"\xfc", 1),
        lambda data: data.replace(b'"count":3', b'"count":3.0'),
        lambda data: data.replace(b'"count":3', b'"count":3,"by":"x"'),
        lambda data: data.replace(b"}}\n", b'},"x":1}\n'),
        lambda data: data + data,
        lambda data: data.decode().encode("utf-16"),
    ],
)
def test_another_spelling_of_the_same_rows_is_a_fault(respelled: Callable[[bytes], bytes]) -> None:
    data = b"".join(exported(chain(3)))
    assert respelled(data) != data
    assert read(data).ok
    assert not read(respelled(data)).ok


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n",
        b"question,answer\n1,2\n",
        b"{}\n" * 5,
        b"[" * 100_000,
        b'{"footer":[]}\n',
        b'{"footer":{"count":-1,"head":""}}\n',
        b'{"footer":' + b"9" * 5000 + b"}\n",
        b"\x00" * 5000,
        b"null\n" * 5000,
        bytes(range(256)) * 50,
        b'{"hash":"' + b"x" * (LONGEST + 10),
    ],
)
def test_what_is_no_export_gives_faults_and_not_too_many(data: bytes, tmp_path: Path) -> None:
    checked = read(data)
    assert 1 <= len(checked.faults) <= MOST_FAULTS + 2
    assert all("\n" not in str(fault) and len(str(fault)) < 400 for fault in checked.faults)
    path = tmp_path / "export.jsonl"
    path.write_bytes(data)
    assert verify_export(path) == checked


def test_an_export_that_cannot_be_read_is_one_line(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none.jsonl", tmp_path / ("x" * 300)):
        with pytest.raises(UnusableInputError, match=str(tmp_path)):
            verify_export(path)


# A chain that was built anew


def test_a_chain_built_anew_without_signatures_shows_by_a_head_kept_at_any_time() -> None:
    rows = chain(6)
    for at in range(6):
        lines = exported(rebuilt(rows, at, payload={"wrong": 0}))
        assert check_lines(lines).ok  # nothing in the ledger itself can show it
        for kept in rows:
            checked = check_lines(lines, head=kept.head)
            assert named(checked) == ([kept.number] if kept.number > at else []), (at, kept.number)


def test_a_kept_head_shows_rows_cut_off_whatever_the_footer_says() -> None:
    rows = chain(6)
    for count in range(6):
        lines = exported(rows[:count])
        assert check_lines(lines).ok
        assert named(check_lines(lines, head=rows[-1].head)) == [count + 1]
    assert check_lines(exported(rows), head=EMPTY).ok


def test_a_chain_built_anew_with_its_old_signatures_shows_without_any_key(key: Any) -> None:
    rows = chain(6, lambda _: key)
    for at in range(6):
        checked = check_lines(exported(rebuilt(rows, at, payload={"wrong": 0})))
        assert named(checked) == list(range(at + 1, 7))


def test_a_chain_built_anew_with_other_signatures_or_none_shows_by_the_public_key(key: Any, stranger: Any) -> None:
    rows = chain(6, lambda _: key)
    trusted = [key.public_key()]
    assert check_lines(exported(rows), keys=trusted) == Checked((), rows[-1].head, 6)
    for at in range(6):
        start = rows[at - 1].head if at else EMPTY
        for forger in (None, stranger):
            forged = rows[:at]
            for row in rows[at:]:
                last = forged[-1].head if forged else start
                forged.append(next_row(last, row.kind, {"wrong": 0}, NOW, forger))
            checked = check_lines(exported(forged), keys=trusted)
            assert named(checked)[0] == at + 1, checked
            assert check_lines(exported(forged)).ok  # who does not know the key cannot know


def test_a_signature_taken_off_or_from_another_row_is_named(key: Any) -> None:
    rows = chain(5, lambda _: key)
    for at, row in enumerate(rows):
        other = rows[at - 1]
        for changes in (
            {"signature": None},
            {"key": None, "signature": None},
            {"key": None},
            {"signature": other.signature},
        ):
            changed = msgspec.structs.replace(row, **changes)
            checked = check_lines(with_row(rows, at, changed))
            assert named(checked) == [at + 1], (changes, checked)


def test_a_signature_covers_the_rows_before_it_and_a_sign_off_needs_its_own(key: Any) -> None:
    trusted = [key.public_key()]
    sealed_and_signed = chain(4, lambda number: key if number == 4 else None)
    assert check_lines(exported(sealed_and_signed), keys=trusted).ok
    tail = chain(6, lambda number: key if number == 4 else None)
    assert [str(fault) for fault in check_lines(exported(tail), keys=trusted).faults] == [
        "row 5 and those after it, up to 6, are covered by no signature with a given key"
    ]
    unsigned = chain(5, lambda number: key if number == 5 else None)
    assert [str(fault) for fault in check_lines(exported(unsigned), keys=trusted).faults] == [
        "row 4 is a sign-off and not signed"
    ]


def test_several_people_may_sign(key: Any, stranger: Any) -> None:
    rows = chain(4, lambda number: stranger if number == 4 else key)
    assert check_lines(exported(rows), keys=[key.public_key(), stranger.public_key()]).ok
    checked = check_lines(exported(rows), keys=[key.public_key()])
    assert set(named(checked)) == {4}
    assert "not among those given" in checked.faults[0].what


def test_where_a_signed_row_vouches_the_fault_is_the_other_rows(key: Any) -> None:
    rows = chain(5, lambda number: key if number == 3 else None)
    changed = edited(rows[3], previous="cd" * 32)
    checked = check_lines(with_row(rows, 3, changed), keys=[key.public_key()])
    assert 3 not in named(checked)
    assert 4 in named(checked)


def test_a_head_is_a_short_text() -> None:
    head = chain(2)[-1].head
    assert Head.parse(f" {head}\n") == head
    assert read_footer(footer_line(head)) == head
    for text in ("", "2", "2:", f"-1:{GENESIS}", f"02:{GENESIS}", f"2:{GENESIS.replace('0', 'G')}", f"2:{GENESIS}0"):
        with pytest.raises(UnusableInputError, match="is no head of a ledger"):
            Head.parse(text)


# Tampering with the database


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    """A ledger of six rows."""
    ledger = Ledger(tmp_path / "ledger.sqlite")
    for number in range(1, 7):
        ledger.append("grading", {"wrong": number}, NOW)
    return ledger


def tamper(ledger: Ledger, *statements: str) -> None:
    connection = sqlite3.connect(ledger.path)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()


@pytest.mark.parametrize(
    ("statements", "rows"),
    [
        (["""UPDATE row SET line = replace(line, '"wrong":3', '"wrong":0') WHERE number = 3"""], {3}),
        (["""UPDATE row SET line = replace(line, '"wrong":6', '"wrong":0') WHERE number = 6"""], {6}),
        (["DELETE FROM row WHERE number = 1"], {1}),
        (["DELETE FROM row WHERE number = 4"], {4}),
        (["DELETE FROM row WHERE number = 6"], {6}),
        (["DELETE FROM row"], {1}),
        (["INSERT INTO row SELECT 7, line FROM row WHERE number = 6"], {6}),
        (["INSERT INTO row SELECT -5, line FROM row WHERE number = 2"], {1, 2}),
        (["INSERT INTO row VALUES (7, 'x')"], {7, None}),
        (["UPDATE row SET number = 99 WHERE number = 6"], {6}),
        (["UPDATE row SET number = 99 WHERE number = 3"], {3}),
        (
            [
                "UPDATE row SET number = 99 WHERE number = 3",
                "UPDATE row SET number = 3 WHERE number = 4",
                "UPDATE row SET number = 4 WHERE number = 99",
            ],
            {3, 4},
        ),
        (["UPDATE row SET line = line || ' ' WHERE number = 2"], {2}),
        (["UPDATE row SET line = line || char(10) WHERE number = 2"], {2}),
        (["UPDATE row SET line = 5 WHERE number = 2"], {2}),
        (["UPDATE row SET line = x'ff00' WHERE number = 2"], {2}),
        (["DELETE FROM row WHERE number < 4"], {1}),
        (["DELETE FROM footer"], {None}),
        (["INSERT INTO footer SELECT line FROM footer"], {None}),
        (["UPDATE footer SET line = replace(line, '6', '5')"], {None, 6}),
    ],
)
def test_a_database_changed_by_hand_shows_where(ledger: Ledger, statements: list[str], rows: set[int | None]) -> None:
    tamper(ledger, *statements)
    checked = verify_ledger(ledger.path)
    assert not checked.ok
    assert set(named(checked)) <= rows, checked
    # What it exports has a fault too, unless only the filing was wrong, which no export holds.
    assert not read(b"".join(ledger.export())).ok or "filed" in str(checked.faults)


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM row WHERE number = 6",
        "INSERT INTO row VALUES (7, 'x')",
        "DELETE FROM footer",
        "UPDATE row SET number = 9 WHERE number = 6",
        """UPDATE row SET line = replace(line, '"wrong":6', '"wrong":0')""",
    ],
)
def test_nothing_is_appended_to_a_ledger_that_is_damaged_at_its_end(ledger: Ledger, statement: str) -> None:
    tamper(ledger, statement)
    before = ledger.path.read_bytes()
    with pytest.raises(UnusableInputError) as refused:
        ledger.append("seal", {}, NOW)
    assert str(ledger.path) in str(refused.value)
    assert ledger.path.read_bytes() == before


@pytest.mark.parametrize(
    "statements",
    [
        ["DROP TABLE footer"],
        ["DROP TABLE footer", "DROP TABLE row"],
        ["DROP TABLE row", "CREATE VIEW row AS SELECT 1 AS number, 'x' AS line"],
        ["CREATE TABLE further (x)"],
        ["CREATE TRIGGER quiet AFTER INSERT ON row BEGIN DELETE FROM row; END"],
        ["ALTER TABLE row ADD COLUMN x"],
        ["CREATE INDEX fast ON row (line)"],
    ],
)
def test_a_database_with_anything_else_in_it_is_refused(ledger: Ledger, statements: list[str]) -> None:
    tamper(ledger, *statements)
    for use in (
        lambda: verify_ledger(ledger.path),
        lambda: ledger.append("seal", {}, NOW),
        lambda: list(ledger.rows()),
        lambda: list(ledger.export()),
        ledger.head,
    ):
        with pytest.raises(UnusableInputError, match="no ledger"):
            use()


def test_another_applications_database_and_other_files_are_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE moz_places (id INTEGER PRIMARY KEY, url TEXT)")
    connection.close()
    for content in (path.read_bytes(), b"hello\n" * 400, b"SQLite format 3\0", b"x", b"\0" * 600, os.urandom(5000)):
        path.write_bytes(content)
        for use in (lambda: verify_ledger(path), lambda: Ledger(path).append("seal", {}, NOW), Ledger(path).head):
            with pytest.raises(UnusableInputError) as refused:
                use()
            assert "\n" not in str(refused.value)
            assert "is no" in str(refused.value)
        assert path.read_bytes() == content
    with pytest.raises(UnusableInputError, match="cannot be opened"):
        Ledger(tmp_path).append("seal", {}, NOW)
    with pytest.raises(UnusableInputError, match="cannot be opened"):
        Ledger(tmp_path / "none" / "ledger.sqlite").append("seal", {}, NOW)


def outcome(path: Path) -> Checked | str:
    """What verifying says: what it found, or its one line."""
    try:
        return verify_ledger(path)
    except ConcordanceError as error:
        return str(error)


def test_bytes_flipped_in_the_database_never_pass_for_other_rows(ledger: Ledger) -> None:
    whole = ledger.path.read_bytes()
    lines = list(ledger.export())
    steps = random.Random(8)
    for at in [at for at, byte in enumerate(whole) if byte or steps.random() < 0.02]:
        changed = bytearray(whole)
        changed[at] ^= 1 << steps.randrange(8)
        ledger.path.write_bytes(changed)
        found = outcome(ledger.path)
        assert "\n" not in str(found)
        if isinstance(found, Checked) and found.ok:
            assert list(ledger.export()) == lines, at


def test_a_database_cut_anywhere_gives_faults_or_one_line(ledger: Ledger) -> None:
    whole = ledger.path.read_bytes()
    for size in [*range(0, len(whole), 97), len(whole) - 1]:
        ledger.path.write_bytes(whole[:size])
        found = outcome(ledger.path)
        assert "\n" not in str(found)
        assert isinstance(found, str) or not found.ok


def test_a_ledger_that_was_turned_to_a_write_ahead_log_still_works(ledger: Ledger) -> None:
    tamper(ledger, "PRAGMA journal_mode = WAL")
    assert verify_ledger(ledger.path).ok
    ledger.append("seal", {}, NOW)
    assert verify_ledger(ledger.path) == Checked((), ledger.head(), 0)


# Several processes, kills, and disks that refuse


def write(path: Path, writer: int, count: int, told: int | None = None) -> None:
    """Append rows, telling each row that was acknowledged over a pipe."""
    ledger = Ledger(path)
    for index in range(count):
        row = ledger.append("sitting", {"writer": writer, "index": index}, NOW)
        if told is not None:
            os.write(told, f"{row.head}\n".encode())


def run(*processes: Any) -> None:
    for process in processes:
        process.start()
    for process in processes:
        process.join()
        assert process.exitcode == 0


def assert_one_chain(path: Path, writers: int, count: int) -> None:
    checked = verify_ledger(path)
    assert checked.ok
    assert checked.head.count == writers * count
    written: dict[int, list[int]] = {}
    for row in Ledger(path).rows():
        written.setdefault(row.payload["writer"], []).append(row.payload["index"])
    assert written == {writer: list(range(count)) for writer in range(writers)}


def test_eight_processes_write_one_chain(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    run(*[FORK.Process(target=write, args=(path, writer, EACH)) for writer in range(8)])
    assert_one_chain(path, 8, EACH)


def read_while_written(path: Path) -> None:
    """Every export is whole and ends where its footer says, and none goes back behind one before."""
    count = 0
    while count < 200:
        lines = list(Ledger(path).export())
        checked = check_lines(lines)
        assert checked.ok, checked.faults
        assert checked.head.count == len(lines) - 1 >= count
        assert verify_ledger(path).ok if path.exists() and count else True
        count = checked.head.count


def test_readers_see_a_whole_ledger_while_others_write(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    writers = [FORK.Process(target=write, args=(path, writer, 100)) for writer in range(2)]
    run(*writers, *[FORK.Process(target=read_while_written, args=(path,)) for _ in range(2)])
    assert_one_chain(path, 2, 100)


def test_a_slow_reader_holds_nobody_up_and_sees_the_rows_there_were(ledger: Ledger) -> None:
    reader = ledger.export()
    lines = [next(reader), next(reader)]
    started = time.monotonic()
    ledger.append("seal", {}, NOW)
    assert time.monotonic() - started < 5
    lines += reader
    assert len(lines) == 7
    assert check_lines(lines).ok
    assert ledger.head().count == 7


def test_a_writer_killed_at_any_moment_loses_no_row_and_tears_none(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    moments = random.Random(6)
    acknowledged: list[str] = []
    bystander_out, bystander_in = os.pipe()
    bystander = FORK.Process(target=write, args=(path, 99, 10**9, bystander_in))
    bystander.start()
    try:
        for kill in range(60):
            out, told = os.pipe()
            victim = FORK.Process(target=write, args=(path, kill, 10**9, told))
            victim.start()
            os.close(told)
            said = os.read(out, 100) if kill % 3 else b""  # wait for the first row, then a little
            time.sleep(moments.random() * 0.02)
            assert victim.pid
            os.kill(victim.pid, signal.SIGKILL)
            victim.join()
            with os.fdopen(out, "rb") as pipe:
                acknowledged += (said + pipe.read()).decode().split()
            if kill % 20 == 19:
                assert verify_ledger(path).ok
    finally:
        bystander.kill()
        bystander.join()
        os.close(bystander_in)
    with os.fdopen(bystander_out, "rb") as pipe:
        others = pipe.read().decode().split()
    assert len(acknowledged) > 40
    assert others
    heads = {str(row.head) for row in Ledger(path).rows()}
    assert heads.issuperset(acknowledged)
    assert heads.issuperset(others)
    checked = verify_ledger(path)
    assert checked.ok
    # At most the one row of each kill was added and not told.
    assert checked.head.count - len(acknowledged) - len(others) <= 61
    assert Ledger(path).append("seal", {}, NOW).number == checked.head.count + 1


def test_a_row_returned_was_flushed_with_the_folder_of_its_journal(ledger: Ledger, monkeypatch: Any) -> None:
    seen = []
    connect = sqlite3.connect

    def watched(*arguments: Any, **options: Any) -> sqlite3.Connection:
        connection = connect(*arguments, **options)
        connection.set_trace_callback(seen.append)
        return connection

    monkeypatch.setattr(sqlite3, "connect", watched)
    ledger.append("seal", {}, NOW)
    assert seen[-1] == "COMMIT"
    assert seen.index("PRAGMA synchronous = EXTRA") < seen.index("BEGIN IMMEDIATE")
    assert seen.index("PRAGMA journal_mode = DELETE") < seen.index("BEGIN IMMEDIATE")


def in_a_process(action: Callable[[], None]) -> str:
    """What the action ended with, in a process of its own: nothing, or its error."""
    out, told = os.pipe()

    def body() -> None:
        try:
            action()
            text = ""
        except ConcordanceError as error:
            text = f"{error.exit_status} {error}"
        os.write(told, text.encode())

    process = FORK.Process(target=body)
    process.start()
    process.join()
    os.close(told)
    assert process.exitcode == 0
    with os.fdopen(out, "rb") as pipe:
        return pipe.read().decode()


@pytest.mark.parametrize("locked", ["folder", "file", "both"])
def test_a_ledger_in_a_read_only_place_can_be_verified_and_says_that_it_cannot_grow(locked: str) -> None:
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        ledger = Ledger(root / "ledger.sqlite")
        row = ledger.append("seal", {}, NOW)
        ledger.path.chmod(0o444 if locked != "folder" else 0o666)
        root.chmod(0o555 if locked != "file" else 0o777)

        def as_nobody() -> None:
            if os.getuid() == 0:  # root may write anywhere
                os.setuid(65534)
            assert verify_ledger(ledger.path).ok
            assert list(ledger.rows()) == [row]
            ledger.append("seal", {}, NOW)

        said = in_a_process(as_nobody)
        root.chmod(0o700)
        assert said.startswith(f"2 {ledger.path}: cannot be "), said
        assert ledger.head() == row.head


@pytest.mark.skipif(sys.platform == "win32", reason="no limit on a file's size")
@pytest.mark.parametrize("room", [0, 1000, 5000, 9000, 20000])
def test_a_disk_that_is_full_is_one_line_and_the_rows_stay(ledger: Ledger, room: int) -> None:
    before = list(ledger.export())

    def cramped() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
        ledger.append("sitting", {"text": "x" * 100_000}, NOW)

    said = in_a_process(cramped)
    assert said.startswith(("3 ", "2 ")) and str(ledger.path) in said and "\n" not in said
    assert list(ledger.export()) == before
    assert verify_ledger(ledger.path).ok
    assert ledger.append("sitting", {}, NOW).number == 7


# Keys


def test_a_key_file_is_for_its_owner_alone_and_never_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "key.pem"
    key = key_files.new_key(path)
    content = path.read_bytes()
    assert path.stat().st_mode & 0o777 == 0o600
    assert key_files.read_private_key(path).private_bytes_raw() == key.private_bytes_raw()
    (tmp_path / "public.pem").write_bytes(key_files.public_pem(key.public_key()))
    assert key_files.read_public_key(tmp_path / "public.pem") == key.public_key()
    (tmp_path / "link.pem").symlink_to(tmp_path / "elsewhere.pem")
    for taken in (path, tmp_path / "link.pem", tmp_path):
        with pytest.raises(UnusableInputError, match="exists already"):
            key_files.new_key(taken)
    with pytest.raises(UnusableInputError, match="No such file"):
        key_files.new_key(tmp_path / "none" / "key.pem")
    assert path.read_bytes() == content


def other_keys() -> dict[str, bytes]:
    """Files that are no Ed25519 key of the kind asked for."""
    from cryptography.hazmat.primitives import serialization as form
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519

    pem, pkcs8, public = form.Encoding.PEM, form.PrivateFormat.PKCS8, form.PublicFormat.SubjectPublicKeyInfo
    curve, edwards = ec.generate_private_key(ec.SECP256R1()), ed25519.Ed25519PrivateKey.generate()
    return {
        "empty": b"",
        "text": b"hello\n",
        "binary": os.urandom(500),
        "another algorithm": curve.private_bytes(pem, pkcs8, form.NoEncryption()),
        "another algorithm's public key": curve.public_key().public_bytes(pem, public),
        "with a passphrase": edwards.private_bytes(pem, pkcs8, form.BestAvailableEncryption(b"x")),
        "cut": edwards.private_bytes(pem, pkcs8, form.NoEncryption())[:80],
        "mixed up": b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
    }


@pytest.mark.parametrize("what", other_keys())
def test_a_file_that_is_no_key_is_one_line(tmp_path: Path, what: str) -> None:
    path = tmp_path / "key.pem"
    path.write_bytes(other_keys()[what])
    for read_key, kind in ((key_files.read_private_key, "private"), (key_files.read_public_key, "public")):
        with pytest.raises(UnusableInputError) as refused:
            read_key(path)
        assert f"{path}: is no " in str(refused.value) and f"Ed25519 {kind} key in PEM" in str(refused.value)
        assert "\n" not in str(refused.value)
        for absent in (tmp_path, tmp_path / "none"):
            with pytest.raises(UnusableInputError, match=str(absent)):
                read_key(absent)


def test_the_wrong_half_of_a_key_is_refused(tmp_path: Path) -> None:
    key = key_files.new_key(tmp_path / "key.pem")
    (tmp_path / "public.pem").write_bytes(key_files.public_pem(key.public_key()))
    with pytest.raises(UnusableInputError, match="is no Ed25519 public key"):
        key_files.read_public_key(tmp_path / "key.pem")
    with pytest.raises(UnusableInputError, match="is no unencrypted Ed25519 private key"):
        key_files.read_private_key(tmp_path / "public.pem")


# Laws


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.tuples(st.sampled_from(KINDS), st.dictionaries(NAMES, VALUES, max_size=2), st.booleans()), max_size=6)
)
def test_any_ledger_exports_what_verifies_and_only_that(
    key: Any, entries: list[tuple[Any, dict[str, Any], bool]]
) -> None:
    with tempfile.TemporaryDirectory() as name:
        ledger = Ledger(Path(name) / "ledger.sqlite")
        rows = [ledger.append(kind, payload, NOW, key if sign else None) for kind, payload, sign in entries]
        lines = list(ledger.export())
        assert lines == exported(rows)
        for row in [*rows, None]:
            assert check_lines(lines, head=row.head if row else ledger.head()).ok
        signed_last = not rows or rows[-1].key is not None
        covered = signed_last and all(row.key for row in rows if row.kind == "sign-off")
        assert check_lines(lines, keys=[key.public_key()]).ok == covered
