"""Grounding: every amount stands literally in the document it cites, or the reply counts as a decline."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from concordance.exam.grounding import ground, year_of
from concordance.exam.referee import Reply

MARCH = "Statement of March 2031\nOpening balance 1,920.10\nDeposits 640.00\nEnding balance $2,310.45\n"
APRIL = "Statement of April 2031\nOpening balance 2,310.45\nEnding balance 1.877,30\n"
DOCUMENTS = {"march.txt": MARCH, "april.txt": APRIL}
amounts = st.integers(10_000, 99_999_999).map(lambda cents: f"{cents / 100:,.2f}")


@pytest.mark.parametrize(
    "reply",
    [
        Reply(text="The ending balance was $2,310.45.", cite="march.txt"),
        Reply(answer=2310.45, cite="march.txt"),
        Reply(answer="1,877.30", cite="april.txt"),
        Reply(text="I cannot tell.", cite="april.txt"),
        Reply(answer=None),
    ],
)
def test_an_amount_that_stands_in_the_cited_document_is_shown(reply: Reply) -> None:
    assert ground(reply, DOCUMENTS)


@pytest.mark.parametrize(
    "reply",
    [
        Reply(text="The ending balance was $1,877.30.", cite="march.txt"),
        Reply(text="A wage of $54,000.00 and a balance of $2,310.45.", cite="march.txt"),
        Reply(answer=99999.99, cite="march.txt"),
    ],
)
def test_one_amount_that_does_not_voids_the_whole_reply(reply: Reply) -> None:
    grounded = ground(reply, DOCUMENTS)
    assert not grounded
    assert grounded.reply.answer is None
    assert grounded.missing
    assert "not stand in march.txt" in grounded.reason


def test_a_wage_that_stands_nowhere_is_voided_with_its_reason() -> None:
    grounded = ground(Reply(text="The wages were $61,250.00.", cite="w2.txt"), {"w2.txt": "Wages, tips: 16,250.00"})
    assert (bool(grounded), grounded.missing) == (False, ("$61,250.00",))


def test_a_form_for_another_year_declines_though_its_figure_is_there() -> None:
    form = "Form 1098 for tax year 2030\nMailed April 14, 2031\nMortgage interest received: $4,310.22\n"
    reply = Reply(text="You paid $4,310.22.", cite="form-1098.txt")
    this_year = ground(reply, {"form-1098.txt": form}, question="How much mortgage interest in 2031?")
    assert not this_year
    assert "2030" in this_year.reason
    assert ground(reply, {"form-1098.txt": form}, question="How much mortgage interest in 2030?")


def test_the_year_of_a_form_is_in_its_name_or_declared_and_never_the_day_it_was_mailed() -> None:
    assert year_of("w2-2029.txt", "Mailed 2031") == {2029}
    assert year_of("scan.txt", "Tax year 2028. Printed January 3, 2029.") == {2028}
    assert year_of("scan.txt", "Printed January 3, 2029.") == frozenset()


@given(amounts, amounts)
def test_adding_an_amount_to_a_document_never_ungrounds_a_reply(stated: str, added: str) -> None:
    document = f"Ending balance {stated}\n"
    reply = Reply(text=f"It was ${stated}.", cite="a.txt")
    assert ground(reply, {"a.txt": document})
    assert ground(reply, {"a.txt": f"{document}Another {added}\n"})


@given(amounts, amounts)
def test_a_figure_elsewhere_never_grounds_a_reply_that_cites_another_document(stated: str, other: str) -> None:
    if stated == other:
        return
    documents = {"cited.txt": f"Balance {other}\n", "elsewhere.txt": f"Balance {stated}\n"}
    assert not ground(Reply(text=f"It was ${stated}.", cite="cited.txt"), documents)


@given(st.text(max_size=200), st.text(max_size=200), st.text(max_size=80))
def test_no_text_makes_it_fail(text: str, document: str, question: str) -> None:
    ground(Reply(text=text, cite="d"), {"d": document}, question=question)
