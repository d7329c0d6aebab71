"""Salted commitments to the right answers: laid down before the first sitting, opened when somebody doubts them.

A commitment is the SHA-256 of canonical JSON (RFC 8785) of an item, its identifier and a secret random salt, so it
says nothing about the answer until the salt is shown, and afterwards admits no other answer. The root stands for all
commitments in their order. What candidates see (`paper`) is made of the questions alone.

It keeps no files, and draws no salts of its own: the caller hands in where they come from, as a rule `os.urandom`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from msgspec import NODEFAULT, Struct
from msgspec.structs import fields

from concordance.errors import UnusableInputError
from concordance.exam.golden import Golden
from concordance.exam.referee import Item
from concordance.numbers import canonical_json, json_text, sha256_hex

SALT_BYTES: Final = 32
_LEAST_BYTES: Final = 16
_SALT: Final = re.compile(r"(?:[0-9a-f]{2})+")


@dataclass(frozen=True)
class Seal:
    """The salts, to be kept as secret as the items, and what may be shown to anybody: commitments and their root."""

    salts: Mapping[str, str]
    commitments: Mapping[str, str]

    @property
    def root(self) -> str:
        return root(self.commitments)


def seal(items: Sequence[Item], random: Callable[[int], bytes]) -> Seal:
    """Commit to every item, each with a salt of its own from `random`, which is given a number of bytes.

    Raises `UnusableInputError` if what it gives is too short or not random enough to come only once.
    """
    salts: dict[str, str] = {}
    for item in items:
        salt = random(SALT_BYTES)
        if len(salt) < _LEAST_BYTES:
            raise UnusableInputError(f"a salt of {len(salt)} bytes hides nothing", hint=f"use {SALT_BYTES} bytes")
        if item.id in salts or salt.hex() in salts.values():
            raise UnusableInputError("an identifier or a salt comes twice", where=item.id, hint="each needs its own")
        salts[item.id] = salt.hex()
    return Seal(salts, {item.id: commitment(item, salts[item.id]) for item in items})


def commitment(item: Item, salt: str) -> str:
    """SHA-256 over canonical JSON of {id, salt, item}; the salt as lower-case hexadecimal."""
    if not _SALT.fullmatch(salt):
        raise UnusableInputError("its salt is no lower-case hexadecimal", where=item.id)
    return sha256_hex(canonical_json({"id": item.id, "salt": salt, "item": _content(item)}))


def root(commitments: Mapping[str, str]) -> str:
    """SHA-256 over canonical JSON of all commitments with their identifiers, in order."""
    return sha256_hex(canonical_json([[name, digest] for name, digest in commitments.items()]))


def check(items: Sequence[Item], salts: Mapping[str, str], commitments: Mapping[str, str]) -> list[str]:
    """The identifiers whose item is not the one committed to: changed, added, missing, or without its salt.

    Order is the root's matter: compare `root(commitments)` with the one recorded.
    """
    found = [name for name in commitments if name not in {item.id for item in items}]
    seen: set[str] = set()
    for item in items:
        salt = salts.get(item.id, "")
        opened = _SALT.fullmatch(salt) and commitment(item, salt) == commitments.get(item.id)
        if (not opened or item.id in seen) and item.id not in found:
            found.append(item.id)
        seen.add(item.id)
    return found


def _content(value: Any) -> Any:
    """A struct as JSON without fields at their default, so that one added later leaves old commitments as they are."""
    if isinstance(value, Struct):
        pairs = ((field, getattr(value, field.name)) for field in fields(value))
        return {
            field.encode_name: _content(part)
            for field, part in pairs
            if field.default is NODEFAULT or part != field.default
        }
    if isinstance(value, tuple):
        return [_content(part) for part in value]
    return value


def paper(golden: Golden, *, documents: bool) -> bytes:
    """What candidates are given: JSON lines of id, question and kind, and where asked the documents' names."""
    lines = []
    for item in golden.items:
        line: dict[str, Any] = {"id": item.id, "question": item.question, "kind": item.kind}
        if documents:
            line["documents"] = sorted(golden.given.get(item.id, ()))
        lines.append(json_text(line) + "\n")
    return "".join(lines).encode()
