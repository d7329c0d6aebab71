"""Numbers are read as the decimals that were written, and printed as ECMAScript prints them."""

from __future__ import annotations

import json
import math
import shutil
import subprocess
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from concordance.errors import JsonError
from concordance.numbers import canonical_json, json_text, meaning, number_text, parse_json

finite = st.floats(allow_nan=False, allow_infinity=False)


@given(st.decimals(allow_nan=False, allow_infinity=False, places=4, min_value=-(10**9), max_value=10**9))
def test_an_input_means_what_was_written_up_to_15_digits(written: object) -> None:
    assert meaning(float(str(written))) == Fraction(str(written))


def test_a_computed_float_means_its_own_digits() -> None:
    assert meaning(5.6 / 100) == Fraction("0.055999999999999994")


@given(finite)
def test_printed_numbers_read_back_as_themselves(number: float) -> None:
    assert float(number_text(number)) == number


@given(finite)
def test_printed_numbers_are_those_of_rfc_8785(number: float) -> None:
    assert number_text(number) == canonical_json(number).decode()


@pytest.mark.skipif(not shutil.which("node"), reason="needs Node.js, which is absent here")
def test_printed_numbers_are_those_of_javascript() -> None:
    numbers = [
        0.1,
        5e-324,
        1e-7,
        1.5e-6,
        1e21,
        123456789012345680000.0,
        1e16,
        2**53,
        2**53 + 2,
        1 / 3,
        40000.0,
        1e300,
        -2.5,
    ]
    script = f"console.log(JSON.stringify({json.dumps(numbers)}.map(String)))"
    shown = subprocess.run(["node", "-e", script], capture_output=True, text=True, check=True).stdout
    assert [number_text(number) for number in numbers] == json.loads(shown)


@pytest.mark.parametrize(
    ("number", "text"),
    [(40000.0, "40000"), (-0.0, "0"), (1e-7, "1e-7"), (0.1, "0.1"), (1e21, "1e+21"), (1e16, "10000000000000000")],
)
def test_numbers_as_ecmascript_prints_them(number: float, text: str) -> None:
    assert number_text(number) == text


def test_non_finite_numbers_are_strings() -> None:
    assert json_text([math.inf, -math.inf]) == '["Infinity","-Infinity"]'


json_values = st.recursive(
    st.none() | st.booleans() | finite | st.text(st.characters(codec="utf-8")),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(st.characters(codec="utf-8")), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(json_values)
def test_written_json_reads_back_as_itself(value: object) -> None:
    assert parse_json(json_text(value)) == value


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "not JSON"),
        ("{", "not JSON"),
        ('{"a": 1, "a": 2}', 'the key "a" comes twice'),
        ('[{"a": {"b": 1, "b": 1}}]', 'the key "b" comes twice'),
        ("NaN", "NaN is not JSON"),
        ("-Infinity", "-Infinity is not JSON"),
        ("1e999", "1e999 is too large"),
        ("-1e999", "-1e999 is too large"),
        ("9" * 400, "is too large"),
        ("[" * 100_000, "nested too deeply"),
        ("[" * 65 + "]" * 65, "nested too deeply"),
        (r'"\ud800"', "surrogate"),
        (r'{"\udfff": 1}', "surrogate"),
        (b"\xff{}", "not UTF-8"),
        (b'"\xe2\x82', "not UTF-8"),
        ("{} {}", "not JSON: Extra data"),
        ("01", "not JSON"),
        ("'a'", "not JSON"),
    ],
)
def test_what_is_not_plain_json_is_refused_with_a_reason(text: str | bytes, says: str) -> None:
    with pytest.raises(JsonError, match=None) as caught:
        parse_json(text)
    assert says in str(caught.value)


def test_minus_zero_is_read_as_zero() -> None:
    assert [math.copysign(1, parse_json(text)) for text in ("-0", "-0.0", "-1e-999")] == [1, 1, 1]
