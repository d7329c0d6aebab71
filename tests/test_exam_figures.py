"""Figures in free text: value, unit, scale and part, in every style in which amounts are printed."""

from __future__ import annotations

import time
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from concordance.exam.figures import Figure, plain, read


def amounts(text: str) -> list[Figure]:
    return [figure for figure in read(text) if figure.role == "amount"]


def only(text: str) -> Figure:
    (figure,) = amounts(text)
    return figure


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("20%", "20", "percent"),
        ("20 per cent", "20", "percent"),
        ("2 percentage points", "2", "percent"),
        ("25 bps", "25", "bps"),
        ("25 basis points", "25", "bps"),
        ("36 months", "36", "months"),
        ("3 years", "36", "months"),
        ("$1,577", "1577", "money"),
        ("US$ 5m", "5000000", "money"),
        ("USD 1,234", "1234", "money"),
        ("1,234 USD", "1234", "money"),
        ("390 million dollars", "390000000", "money"),
        ("five million dollars", "5000000", "money"),
        ("41 cents", "0.41", "money"),
        ("₹1,00,000", "100000", "money"),
        ("₹2 lakh crore", "2000000000000", "money"),
        ("£2.5bn", "2500000000", "money"),
        ("2,5 Mio. €", "2500000", "money"),
        ("$381.6M", "381600000", "money"),
        ("$5,466 (in thousands)", "5466000", "money"),
        ("$8.738 in USD billions", "8738000000", "money"),
        ("$ 12 k", "12000", "money"),
        ("1.5e6", "1500000", "plain"),
        ("1.5 × 10^6", "1500000", "plain"),
        ("zero", "0", "plain"),
        ("½", "0.5", "plain"),
        ("2¼ %", "2.25", "percent"),
        ("a third of it", str(Decimal(1) / 3), "plain"),
        ("three quarters of a percentage point", "0.75", "percent"),
        ("nine hundred sixty-nine", "969", "plain"),
        ("one billion five hundred and six million dollars", "1506000000", "money"),
        ("twenty-five basis points", "25", "bps"),
        ("4,2", "4.2", "plain"),
        ("0,125", "0.125", "plain"),
        ("1,234", "1234", "plain"),
        ("1.234.567,89", "1234567.89", "plain"),
        ("1 234 567,8", "1234567.8", "plain"),
        ("1\u00a0234", "1234", "plain"),
        ("1\u2009234", "1234", "plain"),
        ("1'234.5", "1234.5", "plain"),
        ("12,34,567", "1234567", "plain"),
        ("42²", "42", "plain"),
        ("24.26x", "24.26", "plain"),
        ("−5.3", "-5.3", "plain"),
        ("–5.3 %", "-5.3", "percent"),
        ("- $5 at the head of a line is a bullet", "5", "money"),
        ("-$1,577 thousand", "-1577000", "money"),
        ("$-5", "-5", "money"),
        ("$(1,577) million", "-1577000000", "money"),
        ("net: ($16,135 million)", "-16135000000", "money"),
        ("was (546)", "-546", "plain"),
        ("margin (3.1%)", "3.1", "percent"),
        ("**$\\boxed{1{,}234}$**", "1234", "money"),
        ("\\text{about } \\$1{,}234\\%", "1234", "percent"),
        ("**8.7** billion", "8700000000", "plain"),
    ],
)
def test_an_amount_is_read_in_the_style_it_is_printed_in(text: str, value: str, unit: str) -> None:
    figure = only(text)
    assert (figure.value, figure.unit) == (Decimal(value), unit)


@pytest.mark.parametrize(
    "text",
    [
        "in 2022",
        "FY2022",
        "FY 22",
        "Q2'2023",
        "December 31, 2018",
        "31 December 2018",
        "2018-12-31",
        "12/31/2018",
        "see page 57, note 3",
        "Item 8",
        "the 10-K of 3M",
        "401(k)",
        "1st and 2nd",
        "1. Read the table\n2. Add both",
        "to 2 decimal places",
        "a 3-year average",
        "version 1.2.3",
        "as stated [12]",
        "x^2",
        "S&P 500",
        "no figure at all",
        "the first half of 2022",
        "one of a quarter million",
        "in the third quarter",
        "forty-two stores",
        "",
    ],
)
def test_years_dates_marks_and_names_are_no_amounts(text: str) -> None:
    assert amounts(text) == []


@pytest.mark.parametrize(
    ("text", "step"), [("$8.7 billion", "100000000"), ("8,738", "1"), ("0.40", "0.01"), ("$5m", "1000000")]
)
def test_a_figure_knows_how_finely_it_was_printed(text: str, step: str) -> None:
    assert only(text).step == Decimal(step)


@pytest.mark.parametrize(
    ("text", "shaped"),
    [("$5", True), ("12.50", True), ("12.5", False), ("12.50%", False), ("5 million", False), ("USD 7", True)],
)
def test_money_beyond_doubt_or_two_decimals_are_dollar_shaped(text: str, shaped: bool) -> None:
    assert only(text).dollar_shaped is shaped


whole = st.integers(0, 10**12)


def grouped(number: int, separator: str) -> str:
    return f"{number:,}".replace(",", separator)


SEPARATORS = [",", "'", "\u00a0", "\u2009", "\u202f", " ", "’", "{,}"]


@given(whole, st.sampled_from(SEPARATORS), st.sampled_from(["", "-", "−"]))
def test_grouping_never_changes_a_value(number: int, separator: str, sign: str) -> None:
    for form in ("{}", "The total is {}.", "**{}**", "= {}", "| {} |"):
        figure = amounts(form.format(sign + "$" + grouped(number, separator)))[0]
        assert figure.value == (-number if sign else number)


@given(whole, st.integers(0, 99))
def test_both_decimal_conventions_are_read(number: int, cents: int) -> None:
    value = Decimal(number) + Decimal(cents) / 100
    english, german = f"{number:,}.{cents:02}", f"{grouped(number, '.')},{cents:02}"
    assert only(f"${english}").value == value
    assert only(f"€{german}").value == value


@given(
    st.decimals(0, 9999, places=2),
    st.sampled_from(
        [("thousand", 3), ("k", 3), ("million", 6), ("mn", 6), ("M", 6), ("bn", 9), ("billion", 9), ("trillion", 12)]
    ),
)
def test_a_scale_word_multiplies_once(number: Decimal, scale: tuple[str, int]) -> None:
    word, power = scale
    gap = "" if len(word) == 1 else " "
    assert only(f"${number}{gap}{word}").value == number * 10**power


@given(st.lists(st.sampled_from(["$5", "7%", "1,234 million", "(42)", "FY2022", "25 bps"]), min_size=1, max_size=8))
def test_figures_are_read_each_by_itself(pieces: list[str]) -> None:
    apart = [figure.value for piece in pieces for figure in amounts(f"was {piece};")]
    assert [figure.value for figure in amounts(" ".join(f"was {piece};" for piece in pieces))] == apart


@given(st.text(max_size=300))
def test_any_text_can_be_read_and_spans_lie_within_it(text: str) -> None:
    place = 0
    for figure in read(text):
        assert place <= figure.start < figure.end <= len(text)
        place = figure.end
    cleaned = plain(text)
    assert len(cleaned.origin) == len(cleaned.text) + 1


@pytest.mark.parametrize(
    "piece", ["1", "1,", "1.", "(", ")", "(1", "$", "-", "1 000 ", "\\frac{", "{", "*1*", "1e", "%"]
)
def test_a_long_text_of_anything_is_read_in_linear_time(piece: str) -> None:
    def seconds(length: int) -> float:
        begun = time.process_time()
        read(piece * (length // len(piece)))
        return time.process_time() - begun

    seconds(10_000)
    assert seconds(400_000) < 30 * max(seconds(40_000), 0.05)
