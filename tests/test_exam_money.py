"""Zero wrong money: a copilot may be unhelpful, and may not be confidently wrong about a dollar figure."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from concordance.exam.agreement import measure
from concordance.exam.money import bar, money_reason, violations
from concordance.exam.referee import Item, Needles, Reference, Reply, declines, judge

BALANCE = Item("Q1", "What was the ending balance, in dollars and cents?", "money", Reference(2_310.45, "usd"))
PROSE = Item("Q2", "What does the letter offer?", "text", expected="A salary of 84,500.00 from June", needles=Needles())
MONTHS = Item("Q3", "In how many months?", "months", Reference(19, "months"))

texts = st.text(st.sampled_from("0123456789.,$ -()mkMbnot provided cannot I the usd\n"), max_size=60)


def wrong_money(item: Item, *replies: Reply) -> list[str]:
    return [v.figure for reply in replies for v in violations([item], {item.id: judge(item, reply)}, {item.id: reply})]


@pytest.mark.parametrize(
    ("item", "is_money"),
    [
        (BALANCE, True),
        (PROSE, True),
        (MONTHS, False),
        (Item("Q", "Which?", "text", needles=Needles(all=("$1,200.00",))), True),
        (Item("Q", "Which year?", "number", Reference(2031)), False),
        (Item("Q", "What share?", "percent", Reference(12.25, "percent")), False),
    ],
)
def test_what_a_money_question_is(item: Item, is_money: bool) -> None:
    assert bool(money_reason(item)) == is_money


@pytest.mark.parametrize(
    "reply",
    [
        Reply(text="The ending balance was $2,130.45."),
        Reply(text="2130.45"),
        Reply(answer=2130.45),
        Reply(answer="US$ 5m"),
        Reply(text="I can't verify it, but my best guess is $390 million."),
        Reply(text="It comes to USD 1,234."),
        Reply(text="The cash value is 0.00."),
    ],
)
def test_a_confidently_wrong_figure_violates(reply: Reply) -> None:
    assert len(wrong_money(BALANCE, reply)) == 1


@pytest.mark.parametrize(
    "reply",
    [
        Reply(answer=None),
        Reply(text="The statement does not show the ending balance."),
        Reply(text="I cannot tell the ending balance: the statement lists only a payment of $120.00."),
        Reply(text="The ending balance was $2,310.45."),
        Reply(text="It is a large sum."),
        Reply(text=""),
    ],
)
def test_declining_being_right_and_saying_nothing_do_not(reply: Reply) -> None:
    assert wrong_money(BALANCE, reply) == []


def test_a_balance_read_off_a_torn_bill_and_a_projected_cash_value_violate() -> None:
    """The cited figure is there, and wrong: a two-column bill whose labels and values fell apart; a projection."""
    bill = "Ending balance  Payments  New charges\nDue date\n118.20  2,310.45\n640.00  03/14"
    reply = Reply(answer="118.20", cite=bill.splitlines()[2])
    assert wrong_money(BALANCE, reply) == ["118.20"]
    cash = Item("Q4", "What is the policy's cash value today?", "money", Reference(5_400.10, "usd"))
    assert wrong_money(cash, Reply(text="The cash value is 0.00.", cite="Year 1 projected cash value 0.00")) == ["0.00"]


def test_a_prose_expectation_with_a_figure_is_still_a_money_question() -> None:
    assert wrong_money(PROSE, Reply(text="It offers $64,500.00 a year.")) == ["$64,500.00"]


def test_the_bar_has_its_denominators() -> None:
    items = [BALANCE, PROSE, MONTHS]
    replies = {"Q1": Reply(text="$1.00"), "Q2": Reply(answer=None), "Q3": Reply(answer=3)}
    found = bar(items, {item.id: judge(item, replies[item.id]) for item in items}, replies)
    assert (found.questions, found.answered, found.declined, found.unanswered) == (2, 1, 1, 0)
    assert [each.id for each in found.violations] == ["Q1"]
    assert not found.holds


@given(texts, st.sets(st.integers(0, 5)))
def test_widening_the_decline_rule_never_adds_a_violation(text: str, heard: set[int]) -> None:
    reply = Reply(text=text)
    verdicts, replies = {"Q1": judge(BALANCE, reply)}, {"Q1": reply}

    def wider(said: str) -> bool:
        return declines(said) or len(said) % 6 in heard

    before = {each.id for each in violations([BALANCE], verdicts, replies)}
    after = {each.id for each in violations([BALANCE], verdicts, replies, wider)}
    assert after <= before


def test_declines_with_digits_are_recognised_on_real_answers(shared_data: Path) -> None:
    declining = measure(shared_data / "financebench").declining
    refusals = [each for each in declining if each.refusal]
    answers = [each for each in declining if not each.refusal]
    assert sum(each.declined for each in refusals) / len(refusals) >= 0.98
    # The bar of 1 % is not met over all 803 answers: people's own labels of plain refusals contradict one another.
    assert sum(each.declined for each in answers) / len(answers) <= 0.02
    undisputed = [each for each in answers if not each.dispute]
    assert sum(each.declined for each in undisputed) / len(undisputed) <= 0.01
