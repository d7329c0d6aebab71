"""Numbers and the texts that carry them: strict JSON in, ECMAScript numbers and canonical JSON out, digests.

Implements C-1, C-2, C-8 and C-9 of `specs/CONVENTIONS.md`. It knows no model and compares nothing.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from fractions import Fraction
from json.encoder import encode_basestring
from typing import Any, Final

from concordance.errors import JsonError

INFINITY: Final = "Infinity"
NON_FINITE: Final = {math.inf: INFINITY, -math.inf: "-Infinity"}
"""How a non-finite float is written, since JSON has none (C-8)."""

MAX_NESTING: Final = 64
_LARGEST_EXACT_INTEGER: Final = 2**53


def meaning(number: float) -> Fraction:
    """The exact value that an input stands for: the shortest decimal that reads back as the same binary64 (C-1)."""
    return Fraction(repr(float(number)))


def parse_json(text: str | bytes) -> Any:
    """Read one JSON value: RFC 8259 to the letter, no key twice, every number finite in binary64, no lone surrogate.

    Raises `JsonError` with the position and the reason.
    """
    try:
        decoded = text.decode("utf-8") if isinstance(text, bytes) else text
        value = _DECODER.decode(decoded)
    except UnicodeDecodeError as error:
        raise JsonError(f"not UTF-8 at byte {error.start}", hint="send UTF-8") from None
    except json.JSONDecodeError as error:
        raise JsonError(f"not JSON: {error.msg} at line {error.lineno} column {error.colno}") from None
    except RecursionError:
        raise JsonError("nested too deeply", hint=f"at most {MAX_NESTING} levels are read") from None
    _require_shallow(value)
    if _SURROGATE.search(decoded):
        _require_whole_characters(value)
    return value


def number_text(number: float) -> str:
    """A finite number as ECMAScript prints it (C-9). Raises `ValueError` on NaN and infinities."""
    if number == 0:
        return "0"
    if abs(number) < _LARGEST_EXACT_INTEGER:
        if isinstance(number, int) or number.is_integer():
            return str(int(number))
        text = repr(float(number))
        if "e" not in text:
            return text
    import rfc8785  # only numbers of unusual size need it

    return rfc8785.dumps(float(number)).decode("ascii")


def json_text(value: Any) -> str:
    """Compact JSON in the order given, numbers as ECMAScript prints them, non-finite ones as strings (C-8, C-9)."""
    if isinstance(value, str):
        return encode_basestring(value)
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, (int, float)):
        return encode_basestring(NON_FINITE[value]) if value in NON_FINITE else number_text(value)
    if isinstance(value, dict):
        return "{" + ",".join(f"{encode_basestring(key)}:{json_text(item)}" for key, item in value.items()) + "}"
    return "[" + ",".join(map(json_text, value)) + "]"


def canonical_json(value: Any) -> bytes:
    """RFC 8785 canonical JSON, by a library that does nothing else."""
    import rfc8785

    return rfc8785.dumps(value)


def sha256_hex(data: bytes) -> str:
    """The SHA-256 of the bytes, in lower-case hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise JsonError(f"the key {json.dumps(twice)} comes twice", hint="give each key once")
    return found


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise JsonError(f"{_excerpt(text)} is too large for a binary64")
    return number or 0.0  # -0 is 0 (C-2)


def _integer(text: str) -> int:
    # An integer keeps its digits while binary64 can hold them; beyond that it means the nearest binary64 (C-1).
    if len(text) <= 16:
        return int(text)
    return int(_finite(text))


def _refuse_constant(name: str) -> float:
    raise JsonError(f"{name} is not JSON", hint='an infinite value is the string "Infinity"')


def _excerpt(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:40]}…"


def _require_shallow(value: Any) -> None:
    """Refuse deep nesting, a level at a time: what reads the value may go as deep as it is."""
    level = [value] if type(value) in _CONTAINERS else []
    for _ in range(MAX_NESTING):
        if not level:
            return
        level = [
            inner
            for outer in level
            for inner in (outer.values() if type(outer) is dict else outer)
            if type(inner) in _CONTAINERS
        ]
    if level:
        raise JsonError("nested too deeply", hint=f"at most {MAX_NESTING} levels are read")


def _require_whole_characters(value: Any) -> None:
    """Refuse a lone surrogate, which the decoder makes of an escape."""
    if isinstance(value, str):
        if not value.isascii() and any("\ud800" <= character <= "\udfff" for character in value):
            raise JsonError("a text holds half of a surrogate pair", hint="send whole characters")
    elif isinstance(value, (dict, list)):
        for item in [*value, *value.values()] if isinstance(value, dict) else value:
            _require_whole_characters(item)


_CONTAINERS: Final = (dict, list)
_SURROGATE: Final = re.compile(r"\\u[dD][89a-fA-F]|[\ud800-\udfff]")
_DECODER: Final = json.JSONDecoder(
    object_pairs_hook=_unique, parse_float=_finite, parse_int=_integer, parse_constant=_refuse_constant
)
