"""The referee: which figure is the answer, whether it is right, and whether a reply declines.

The replies are written here in the shapes in which models answer. What is measured on people's labels is read from the
shared data folder, of which nothing is copied.
"""

# ruff: noqa: E501 -- a table of replies, one a line

from __future__ import annotations

import json
import re
import time
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from concordance.exam.agreement import Agreement, measure, numeric_item
from concordance.exam.referee import (
    Evidence,
    Item,
    Needles,
    Reference,
    Reply,
    Tolerance,
    check_citation,
    declines,
    judge,
    states_money,
)


def question(text: str, kind: Any, value: float, unit: str = "") -> Item:
    return Item(id="Q", question=text, kind=kind, reference=Reference(value, unit))


def outcome(item: Item, text: str) -> str:
    return judge(item, Reply(text=text)).outcome


REVENUE = question("What was Acme's FY2022 revenue? Answer in USD millions.", "money", 8738.0, "usd")
DEBT = question("What was the year end FY2022 net debt of Acme, in USD billions?", "money", 8.7, "usd")
MARGIN = question(
    "What was Acme's FY2022 gross margin? Answer in units of percents and round to one decimal place.",
    "percent",
    41.3,
    "percent",
)
RATIO = question("What is Acme's FY2022 current ratio? Round your answer to two decimal places.", "number", 1.73, "")
MONTHS = question("How many months of expenses does the emergency fund cover?", "months", 6.0, "months")
CYCLE = question("What is Acme's FY2022 cash conversion cycle? Round to two decimal places.", "number", -3.7, "")
CAPEX = question("How much capital expenditure did Acme have in FY2022 (in USD millions)?", "money", 1577.0, "usd")
PAYMENT = question("What is the monthly payment, in dollars?", "money", 1847.32, "usd")
INCOME = question("What was Acme's FY2022 net income, in USD millions?", "money", -546.0, "usd")
CHANGE = question(
    "What is Acme's FY2021 to FY2022 year-over-year change in revenue (in units of percents and round to one decimal place)?",
    "percent",
    -3.2,
    "percent",
)
FEE = question("What is the relocation fee?", "money", 0.0, "usd")
STORES = question("How many stores did Acme have at the end of FY2022?", "number", 969, "")
PIECES = [
    "$",
    "5",
    "1,234",
    " million",
    "%",
    "(",
    ")",
    "-",
    " is ",
    "therefore ",
    "\\boxed{",
    "}",
    "\n",
    "FY2022 ",
    " to ",
    " or ",
    "cannot determine",
    ". ",
    "= ",
    "²",
    "\u202f",
    "−",
    "nan",
    "e9",
    '{"answer": ',
]

SHAPES: list[tuple[Item, str, str]] = [
    (REVENUE, "$8.738 billion", "correct"),
    (REVENUE, "approximately $8.7 billion", "correct"),
    (REVENUE, "A: 8,738", "correct"),
    (REVENUE, "| Year | Revenue ($m) |\n|---|---|\n| FY2021 | 8,100 |\n| FY2022 | 8,738 |", "correct"),
    (REVENUE, "Revenue rose from $8,100 million in FY2021 to $8,738 million in FY2022.", "correct"),
    (REVENUE, "Revenue rose to $8,738 million in FY2022, up from $8,100 million in FY2021.", "correct"),
    (REVENUE, "In FY2022 revenue was $8,738 million, compared to $8,100 million in FY2021.", "correct"),
    (REVENUE, "FY2021: $8,100 million; FY2022: $8,738 million", "correct"),
    (REVENUE, "FY2022: $8,100 million; FY2021: $8,738 million", "wrong"),
    (REVENUE, "$8,738,000,000", "correct"),
    (REVENUE, "$8,738,000 (in thousands)", "correct"),
    (REVENUE, "$8,738,000 thousand", "correct"),
    (REVENUE, "8738000000", "correct"),
    (REVENUE, "**Answer:** $8,738M", "correct"),
    (REVENUE, '{"answer": 8738, "unit": "USD millions"}', "correct"),
    (REVENUE, '{"answer": "8.738 billion USD", "cite": "page 42"}', "correct"),
    (REVENUE, '{"answer": null}', "wrong"),
    (REVENUE, "$8.738 million", "wrong"),
    (REVENUE, "-$8,738 million", "wrong"),
    (
        REVENUE,
        "Product revenue was $5,000 million and service revenue was $3,738 million.\nTotal revenue = $5,000 million + $3,738 million = $8,738 million",
        "correct",
    ),
    (REVENUE, "Total revenue was $8,738 million, of which $5,000 million was product revenue.", "correct"),
    (REVENUE, "It was either $8,738 million or $8,100 million.", "wrong"),
    (REVENUE, "Somewhere between $8,000 million and $9,000 million.", "wrong"),
    (REVENUE, "$8.0-9.5 billion", "wrong"),
    (REVENUE, "The provided context does not include Acme's revenue for FY2022.", "abstain"),
    (REVENUE, "I don't have access to Acme's filings. As of FY2021 its 10-K lists 12 segments.", "abstain"),
    (
        REVENUE,
        "I'm sorry, but the excerpt only shows inventories of $542 million; the revenue line is not included.",
        "abstain",
    ),
    (
        REVENUE,
        "To calculate revenue we would need units sold (2022) and price. The document does not provide either, so the figure cannot be determined.",
        "abstain",
    ),
    (
        REVENUE,
        "The filing does not state it explicitly. However, adding $5,000 million and $3,738 million, revenue was $8,738 million.",
        "correct",
    ),
    (REVENUE, "I cannot find it, but I'd estimate around $9,900 million.", "wrong"),
    (REVENUE, "Revenue was strong in fiscal 2022.", "wrong"),
    (REVENUE, "See page 42 of the 10-K, note 3.", "wrong"),
    (REVENUE, "", "wrong"),
    (REVENUE, "N/A", "abstain"),
    (REVENUE, "8 738 millions", "correct"),
    (REVENUE, "8\u202f738 M$", "correct"),
    (REVENUE, "EUR 8.738,00 Mio.", "correct"),
    (REVENUE, "US$8.738bn", "correct"),
    (REVENUE, "USD 8,738 mn (per the income statement, page 57)", "correct"),
    (REVENUE, "The answer is $8,700 million. Correction: the answer is $9,738 million.", "wrong"),
    (REVENUE, "First I thought 8,100, actually it is 8,738.", "correct"),
    (
        REVENUE,
        "1. Find the income statement (page 57).\n2. Read total revenue.\n3. The total is $8,738 million.",
        "correct",
    ),
    (REVENUE, "Revenue: $8,738 million [1]\n\n[1] 10-K 2022, p. 57", "correct"),
    (DEBT, "Net debt is $8,738 million", "correct"),
    (DEBT, "8.738", "correct"),
    (DEBT, "Net debt = 24.873 - 16.135 = 8.738 (in USD billions)", "correct"),
    (DEBT, "$8.738 billion ($8,738 million)", "correct"),
    (DEBT, "$87 billion", "wrong"),
    (MARGIN, "41.3%", "correct"),
    (MARGIN, "0.413", "correct"),
    (MARGIN, "41.3 percent", "correct"),
    (MARGIN, "Gross margin = (8,738 - 5,129) / 8,738 = 3,609 / 8,738 ≈ 0.413, i.e. 41.3%", "correct"),
    (MARGIN, "\\[ \\frac{3609}{8738} \\times 100 = \\boxed{41.3\\%} \\]", "correct"),
    (MARGIN, "The gross margin was 41.34%, against 39.0% in FY2021.", "correct"),
    (MARGIN, "The gross margin improved by 230 basis points from 39.0% to 41.3%.", "correct"),
    (MARGIN, "It is 39.0%.", "wrong"),
    (MARGIN, "41.3 bps", "wrong"),
    (MARGIN, "Therefore, the FY2022 gross margin is approximately **41.3 %**.", "correct"),
    (RATIO, "1.73x", "correct"),
    (RATIO, "Current ratio = $1,001,425 / $577,464 = 1.734", "correct"),
    (
        RATIO,
        "$1,001,425 / $577,464 = 1.734, which rounds to 1.73. A ratio above 1 means that assets exceed liabilities.",
        "correct",
    ),
    (
        RATIO,
        "The current ratio is 1.73. This means that for every $1 of liabilities Acme has $1.73 of assets.",
        "correct",
    ),
    (RATIO, "173%", "correct"),
    (RATIO, "17.3", "wrong"),
    (
        RATIO,
        "Current ratio = current assets / current liabilities. The balance sheet for FY2022 is not part of the excerpt.",
        "abstain",
    ),
    (
        RATIO,
        "The current ratio is calculated as current assets divided by current liabilities. I cannot calculate it without the $ amounts for 2022.",
        "abstain",
    ),
    (MONTHS, "6 months", "correct"),
    (MONTHS, "Half a year, that is 6 months", "correct"),
    (MONTHS, "6", "correct"),
    (MONTHS, "About 0.5 years", "correct"),
    (MONTHS, "The fund covers 5 months of expenses.", "wrong"),
    (CYCLE, "-3.7 days", "correct"),
    (CYCLE, "(3.70) days", "correct"),
    (CYCLE, "negative 3.70 days", "correct"),
    (CYCLE, "CCC = DIO + DSO - DPO = 52.6 + 36.4 - 92.7 = −3.70", "correct"),
    (CYCLE, "3.7 days", "wrong"),
    (CAPEX, "Purchases of PP&E: $(1,577) million", "correct"),
    (CAPEX, "$1,577 million", "correct"),
    (PAYMENT, "$1,847.32", "correct"),
    (PAYMENT, "The monthly payment is $1,847.32 on a 30-year loan of $300,000 at 6.25%.", "correct"),
    (PAYMENT, "On a 30-year loan of $300,000 at 6.25%, the monthly payment comes to $1,847.32.", "correct"),
    (PAYMENT, "Loan: $300,000\nRate: 6.25%\nTerm: 360 months\n\nMonthly payment: $1,847.32", "correct"),
    (INCOME, "Acme had a net loss of $546 million.", "correct"),
    (INCOME, "$(546) million", "correct"),
    (INCOME, "Net income was $546 million.", "wrong"),
    (INCOME, "Net income (loss): (546)", "correct"),
    (CHANGE, "Revenue decreased by 3.2%.", "correct"),
    (CHANGE, "Revenue fell 3.2% from $9,027 million to $8,738 million.", "correct"),
    (CHANGE, "-3.2%", "correct"),
    (CHANGE, "The change was (3.2)%.", "correct"),
    (CHANGE, "The change was (3.2%).", "correct"),
    (CHANGE, "Revenue increased by 3.2%.", "wrong"),
    (CHANGE, "Percentage change = [(8,738 - 9,027) / 9,027] × 100 = -3.20%", "correct"),
    (
        CHANGE,
        "Step 1: 8,738 - 9,027 = -289\nStep 2: -289 / 9,027 = -0.0320\nStep 3: -0.0320 * 100 = -3.20%\n\nSo the answer is -3.2 %.",
        "correct",
    ),
    (
        CHANGE,
        "The formula is (FY2022 - FY2021) / FY2021 * 100%. I don't have the two revenue figures, so I can't compute it.",
        "abstain",
    ),
    (FEE, "There is no fee: $0.00", "correct"),
    (FEE, "zero", "correct"),
    (FEE, "None", "correct"),
    (FEE, "$250", "wrong"),
    (FEE, "The document does not mention a fee.", "abstain"),
    (STORES, "969", "correct"),
    (STORES, "Acme had 969 stores at the end of FY2022, down from 982 a year earlier.", "correct"),
    (STORES, "982 stores in 2021 and 969 stores in 2022.", "correct"),
    (STORES, "The number of stores decreased by 1.32%, from 982 to 969.", "correct"),
    (STORES, "I am not sure.", "abstain"),
    (STORES, "I don't know, maybe 900.", "wrong"),
    (STORES, "infinity", "wrong"),
    (STORES, "NaN", "wrong"),
    (STORES, "I'd rather not guess.", "abstain"),
    (STORES, "nine hundred sixty-nine", "correct"),
    (STORES, "3M had 969 stores.", "correct"),
    (STORES, "Answer:\n969", "correct"),
    (STORES, "Final answer: 969 (source: 10-K 2022, page 14)", "correct"),
    (STORES, '```json\n{"answer": "969"}\n```', "correct"),
    (STORES, "<answer>969</answer>", "correct"),
    (
        STORES,
        "The answer is 969.\n\nExplanation: the table on page 14 lists 500 stores in the US and 469 abroad.",
        "correct",
    ),
    (STORES, "The table on page 14 lists 500 stores in the US and 469 abroad. That gives us 969 stores.", "correct"),
    (STORES, "500 + 469 = 969", "correct"),
    (STORES, "#### 969", "correct"),
    (STORES, "~969", "correct"),
    (STORES, "969 ± 5", "correct"),
    (
        REVENUE,
        "Revenue (FY2022): $8,738 million; cost of sales: $5,129 million; gross profit: $3,609 million.",
        "correct",
    ),
    (
        REVENUE,
        "I was not able to find revenue for FY2022 in the document. The 10-K for FY2021 shows $8,100 million.",
        "abstain",
    ),
    (REVENUE, "Unfortunately, the text doesn't give FY2022 revenue. My best guess would be $8,738 million.", "correct"),
    (
        REVENUE,
        "Based on the income statement, I can't be fully certain, but revenue appears to be $8,738 million.",
        "correct",
    ),
    (REVENUE, "The 2022 revenue of Acme Corp. was USD 8.738 bn.", "correct"),
    (REVENUE, "$8738", "correct"),
    (REVENUE, "8,738.0", "correct"),
    (REVENUE, "Rs. 8,738 million", "correct"),
    (REVENUE, "87.38 hundred million dollars", "correct"),
    (REVENUE, "$ 8 738 million", "correct"),
    (
        REVENUE,
        "Q1: $2,000 million\nQ2: $2,100 million\nQ3: $2,238 million\nQ4: $2,400 million\n\nTotal: $8,738 million",
        "correct",
    ),
    (MARGIN, "41,3 %", "correct"),
    (MARGIN, "0.413 or 41.3%", "correct"),
    (MARGIN, "FY2021: 39.0%, FY2022: 41.3%", "correct"),
    (MARGIN, "2022 | 41.3%\n2021 | 39.0%", "correct"),
    (
        MARGIN,
        "The text lacks cost of sales for 2022, without which the margin cannot be computed (we know revenue: $8,738 million).",
        "abstain",
    ),
    (RATIO, "The ratio is 1.73:1", "correct"),
    (RATIO, "1.73 to 1", "correct"),
    (PAYMENT, "$1,847.32/month", "correct"),
    (PAYMENT, "You would pay 1847.32 dollars a month, or $22,167.84 a year.", "correct"),
    (MONTHS, "It covers six months.", "correct"),
]


@pytest.mark.parametrize(("item", "text", "right"), SHAPES)
def test_a_reply_is_judged_by_the_answer_that_a_reader_takes_home(item: Item, text: str, right: str) -> None:
    assert outcome(item, text) == right
    assert judge(item, Reply(answer=text)).outcome == right or not text


def test_every_answer_that_real_graders_misjudged_is_judged_right(shared_data: Path) -> None:
    for line in map(json.loads, (shared_data / "answer_parsing.jsonl").read_text(encoding="utf-8").splitlines()):
        item = Item(id=line["id"], question="", kind=line["question_kind"], reference=Reference(line["reference"]))
        verdict = judge(item, Reply(text=line["answer_text"]))
        parsed = None if verdict.parsed is None else float(verdict.parsed)
        money = states_money(line["answer_text"], line["question_kind"] == "money")
        assert (verdict.outcome, parsed, money) == (
            line["right_outcome"],
            line["parsed_value"],
            line["money_figure_present"],
        ), line["id"]


SHORT: list[tuple[Any, float, str, str]] = [
    ("money", -1234.0, "(1,234)", "correct"),
    ("money", -1234.0, "$(1,234)", "correct"),
    ("money", -1234.0, "−1 234", "correct"),
    ("money", 1234567.89, "1.234.567,89 €", "correct"),
    ("number", 3500000.0, "3.5e6", "correct"),
    ("number", 5.0, "five", "correct"),
    ("number", 12.0, "The answer is twelve.", "correct"),
    ("number", 0.5, "1/2", "correct"),
    ("percent", 50.0, "one half", "correct"),
    ("percent", 50.0, "fifty percent", "correct"),
    ("number", 5.0, "inf", "wrong"),
    ("number", 5.0, "", "wrong"),
    ("number", 0.0, "", "wrong"),
    ("number", 0.0, "none", "correct"),
    ("money", 0.0, "nil", "correct"),
    ("money", 0.0, "no fee", "correct"),
    ("percent", -2.5, "It fell by 2.5 percentage points.", "correct"),
    ("percent", 2.5, "2.5 pp", "correct"),
    ("percent", 25.0, "0.25", "correct"),
    ("percent", 0.25, "25%", "correct"),
    ("percent", 0.25, "0.25", "correct"),
    ("number", 1000.0, "1.000", "wrong"),
    ("number", 1000.0, "1,000", "correct"),
    ("number", 1234.0, "1.234", "wrong"),
    ("number", 1234.5, "1.234,5", "correct"),
    ("money", 412.0, "Revenue was $412 million; I cannot say why margins fell.", "correct"),
    ("money", 412.0, "I don't know. $412 million?", "correct"),
    ("money", 412.0, "$410 million to $415 million", "wrong"),
    ("money", 412.0, "It could be $390 million or $412 million.", "wrong"),
    ("number", 42.0, "42[3]", "correct"),
    ("number", 42.0, "42 (3)", "correct"),
    ("number", 42.0, "42*", "correct"),
    ("number", 42.0, "42.", "correct"),
    ("number", 42.0, "**42**", "correct"),
    ("number", 42.0, "The answer is 42 (not 43).", "correct"),
    ("number", 42.0, "41... wait, 42.", "correct"),
    ("number", 42.0, "I initially said 40 but the correct value is 42.", "correct"),
    ("number", 42.0, "42, not 40", "correct"),
    ("number", 42.0, "not 40 but 42", "correct"),
    ("money", 5.0, "$5 million (in thousands: 5,000)", "correct"),
    ("money", 5.0, "5 M USD", "correct"),
    ("money", 25000000.0, "₹2.5 crore", "correct"),
    ("money", 10000000.0, "₹1,00,00,000", "correct"),
    ("percent", 0.04, "4 bps", "correct"),
    ("months", 30.0, "2.5 years", "correct"),
    ("months", 30.0, "30", "correct"),
    ("months", 30.0, "2 years and 6 months", "correct"),
    ("months", 30.0, "30 months (2.5 years)", "correct"),
    ("number", 2019.0, "2019", "correct"),
    ("number", 2019.0, "The plan has 2,019 members.", "correct"),
    ("number", 7.0, "7 out of 10", "correct"),
    ("number", 100.0, "$100", "correct"),
    ("money", 100.0, "100%", "wrong"),
    ("number", 711.0, "ANSWER: 711", "correct"),
    ("money", 1000000.0, "$1 mm", "correct"),
    ("money", -5.0, "minus $5 million", "correct"),
    ("money", -5.0, "$5 million loss", "correct"),
    ("money", -5.0, "-5", "correct"),
    ("money", -5.0, "$ -5 million", "correct"),
    ("money", 1577.0, "$1,577 Million USD in 2018 (2017: $1,373)", "correct"),
    ("number", 4.0, "I can't answer that.", "abstain"),
    ("number", 4.0, "N.A.", "abstain"),
    ("number", 4.0, "?", "wrong"),
    ("number", 4.0, "-", "wrong"),
    ("number", 4.0, "null", "abstain"),
    ("number", 4.0, "I have no idea", "abstain"),
    ("number", 4.0, "Not enough information.", "abstain"),
    ("number", 4.0, "The context doesn't say.", "abstain"),
    ("money", 5.0, "\\$5\\text{ million}", "correct"),
    ("money", 1234.0, "$$\\boxed{\\$1{,}234}$$", "correct"),
    ("number", 42.0, "$42^{2}$ footnote", "correct"),
    ("percent", 12.5, "$12.5\\%$", "correct"),
    ("number", 0.75, "\\frac{3}{4}", "correct"),
]


@pytest.mark.parametrize(("kind", "value", "text", "right"), SHORT)
def test_a_short_answer_is_read_where_question_and_unit_are_not_told(
    kind: Any, value: float, text: str, right: str
) -> None:
    assert outcome(question("", kind, value), text) == right


# Agreement with people


@pytest.fixture(scope="module")
def agreement(shared_data: Path) -> Agreement:
    return measure(shared_data / "financebench")


def test_the_referee_agrees_with_the_people_who_labelled_financebench(agreement: Agreement) -> None:
    assert len(agreement.labelled) == 52 * 8
    assert agreement.overall >= 0.95
    assert agreement.undisputed >= 0.985


def test_labels_are_disputed_by_rule_and_are_few(agreement: Agreement) -> None:
    assert 0 < len(agreement.disputed) <= 0.05 * len(agreement.labelled)
    assert all(one.dispute for one in agreement.disputed)
    unexplained = [one.item.id for one in agreement.disagreements if not one.dispute]
    assert len(unexplained) <= 0.015 * len(agreement.labelled)


def test_declines_are_recognised_with_digits_in_them(agreement: Agreement) -> None:
    assert agreement.recall >= 0.98
    assert agreement.undisputed_false_decline_rate <= 0.01
    # People call several plain declines answers ("the text does not provide …"), so that 1 % of all is out of reach.
    assert agreement.false_decline_rate <= 0.02


@pytest.mark.parametrize(
    ("answer", "kind", "value"),
    [
        ("$1577.00", "money", 1577),
        ("-0.02", "number", -0.02),
        ("101.5%", "percent", 101.5),
        ("$2.5 billion", "money", 2.5e9),
        ("0", "number", 0),
    ],
)
def test_a_numeric_question_is_one_whose_answer_is_one_number(answer: str, kind: str, value: float) -> None:
    item = numeric_item("Q", "What is it?", answer)
    assert item is not None and item.reference is not None
    assert (item.kind, item.reference.value) == (kind, value)


@pytest.mark.parametrize("answer", ["Yes, 5%", "There are none", "36%. The answer assumes 2023", "9.5 times", ""])
def test_any_other_answer_makes_no_numeric_question(answer: str) -> None:
    assert numeric_item("Q", "What is it?", answer) is None


REPLIES: dict[str, list[tuple[str, str, str]]] = {
    "one": [
        ("The revenue was $31 million.", "Incorrect Answer", "within"),
        ("The margin was 7.8%. Therefore, revenue was $28 million.", "Correct Answer", "not within"),
        ("I'm sorry, I cannot find it. Please share the 10-K.", "Correct Answer", "only declines"),
        ("The text does not list any. Therefore, it is $0.", "Refusal", "called a refusal"),
        ("Revenue was $28 million, and income $31 million.", "Correct Answer", ""),
        ("It cannot be found; a total of $31 million is shown.", "Refusal", ""),
        ("$27 million", "Incorrect Answer", ""),
        ("$30.9 million", "Correct Answer", ""),
    ],
    "two": [
        ("So the answer is $30.95 million.", "Correct Answer", ""),
        ("$30.95 million", "Correct Answer", ""),
        ("$25 million", "Incorrect Answer", "is called wrong here and correct in two"),
        ("$0.025 billion", "Correct Answer", "not within"),
    ],
}


def test_a_label_is_disputed_for_what_the_reply_states_and_not_for_what_the_referee_chose(tmp_path: Path) -> None:
    asking = {"financebench_id": "Q", "question": "What was revenue, in USD millions?", "answer": "$30.80"}
    (tmp_path / "financebench_open_source.jsonl").write_text(json.dumps(asking), encoding="utf-8")
    (tmp_path / "results").mkdir()
    for run, replies in REPLIES.items():
        lines = [
            json.dumps({"financebench_id": "Q", "model_answer": text, "label": label}) for text, label, _ in replies
        ]
        (tmp_path / "results" / f"{run}.jsonl").write_text("\n".join(lines), encoding="utf-8")
    found = measure(tmp_path)
    for one, (text, _, reason) in zip(found.labelled, REPLIES["one"] + REPLIES["two"], strict=True):
        assert reason in one.dispute, text
        assert bool(one.dispute) is bool(reason), (text, one.dispute)
    assert {run: len(part.labelled) for run, part in found.by_run().items()} == {"one": 8, "two": 4}
    assert [one.dispute for one in found.false_declines] == ["called an answer, and only declines"]


# Tolerance


@pytest.mark.parametrize(
    ("reference", "tolerance", "answer", "right"),
    [
        (100.0, Tolerance(), "101", "correct"),
        (100.0, Tolerance(), "101.01", "wrong"),
        (0.0, Tolerance(), "0.005", "correct"),
        (0.0, Tolerance(), "0.0051", "wrong"),
        (0.02, Tolerance(), "0.015", "correct"),
        (0.02, Tolerance(abs=0.0), "0.015", "wrong"),
        (0.02, Tolerance(abs=0.0), "0.0201", "correct"),
        (100.0, Tolerance(rel=0.0, abs=0.0), "100.00001", "wrong"),
    ],
)
def test_the_tolerance_is_the_larger_of_both_and_an_item_may_set_its_own(
    reference: float, tolerance: Tolerance, answer: str, right: str
) -> None:
    item = Item(id="Q", question="What is it?", kind="number", reference=Reference(reference), tolerance=tolerance)
    assert judge(item, Reply(answer=answer)).outcome == right
    assert judge(item, Reply(answer=float(answer))).outcome == right


def test_a_percentage_stored_as_a_fraction_is_compared_in_points() -> None:
    item = question("What is the margin in percent?", "percent", 0.004, "fraction")
    assert outcome(item, "0.4%") == "correct"
    assert outcome(item, "0.8%") == "wrong"  # within 0.005 as a fraction, which nobody would accept
    assert judge(item, Reply(text="0.4%")).parsed == "0.004"


def test_an_answer_with_more_decimals_than_asked_is_also_compared_as_rounded() -> None:
    item = question("What is the share in percent, rounded to one decimal place?", "percent", 1.9, "percent")
    assert outcome(item, "1.94%") == "correct"
    assert outcome(item, "1.96%") == "wrong"


@given(st.decimals(-(10**9), 10**9, places=2))
def test_the_reference_itself_is_always_correct(value: Decimal) -> None:
    item = question("What is the amount in dollars?", "money", float(value), "usd")
    for text in (f"{value}", f"${value:,}", f"The amount is {value:,} dollars.", f"**Answer:** {value:,} USD"):
        assert outcome(item, text) == "correct", text


@given(st.floats(0.01, 1e9), st.floats(1.02, 50))
def test_an_answer_beyond_the_tolerance_is_wrong(value: float, factor: float) -> None:
    item = question("What is the amount in dollars?", "money", value + 1, "usd")
    assert judge(item, Reply(answer=(value + 1) * factor)).outcome == "wrong"


@given(st.text(max_size=200) | st.lists(st.sampled_from(PIECES), max_size=40).map("".join))
def test_no_text_makes_the_referee_fail(text: str) -> None:
    for item in {id(item): item for item, _, _ in SHAPES}.values():
        assert judge(item, Reply(text=text, cite=text)).outcome in ("correct", "wrong", "abstain")
    states_money(text, True)


HOSTILE = [
    "1",
    "1,",
    "1 ",
    "(",
    "(1)",
    "$",
    "-",
    "= 5 ",
    "5% or ",
    "5 to 6 ",
    "1 000 ",
    "not provided. ",
    "does not ",
    "no wait ",
]
HOSTILE += ["neither nor ", "while it does not, ", "one hundred and ", "a third of ", "\\frac{", "Mr. A. ", "½"]


@pytest.mark.parametrize("piece", HOSTILE)
def test_a_hostile_reply_takes_no_longer_than_its_length(piece: str) -> None:
    def seconds(length: int) -> float:
        begun = time.process_time()
        judge(REVENUE, Reply(text=piece * (length // len(piece))))
        return time.process_time() - begun

    seconds(1_000)
    assert seconds(64_000) < 16 * max(seconds(16_000), 0.05)


def test_a_megabyte_is_read_at_both_its_ends_only() -> None:
    middle = "not provided (1,234) " * 50_000
    begun = time.process_time()
    assert outcome(REVENUE, middle + "\nTherefore, the answer is $8,738 million.") == "correct"
    assert outcome(REVENUE, "$8,738 million\n" + "the rest is said about the filing. " * 30_000) == "correct"
    assert time.process_time() - begun < 30


# Declining


def test_null_abstains_and_silence_is_no_answer() -> None:
    assert judge(REVENUE, Reply(answer=None)).outcome == "abstain"
    assert judge(REVENUE, Reply(answer=None, cite="page 57")).outcome == "abstain"
    for silent in (Reply(), Reply(answer=""), Reply(text="  ")):
        assert (judge(REVENUE, silent).outcome, judge(REVENUE, silent).note) == ("wrong", "no answer")


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_no_number_is_no_answer(value: float) -> None:
    verdict = judge(STORES, Reply(answer=value))
    assert (verdict.outcome, verdict.parsed) == ("wrong", None)
    assert verdict.note.startswith("no answer")


def test_a_question_that_nothing_answers_must_be_declined() -> None:
    item = Item(id="N", question="What will revenue be in 2031?", kind="money", negative=True)
    assert outcome(item, "The document does not say.") == "correct"
    assert judge(item, Reply(answer=None)).outcome == "correct"
    assert outcome(item, "$9,000 million") == "wrong"
    assert outcome(item, "I cannot know this, but it will be $9,000 million.") == "wrong"
    assert judge(item, Reply()).note == "no answer"


@pytest.mark.parametrize(
    ("text", "declined"),
    [
        ("The filing for 2022 shows $5,000 of inventory, but it does not disclose revenue.", True),
        ("I'm sorry, but the information provided does not include the 2019 to 2022 figures.", True),
        ("I do not have access to real-time data.", True),
        ("It cannot be determined from the excerpt.", True),
        ("unknown", True),
        ("Abstain.", True),
        ("As an AI, I can't browse filings. Margin is defined as gross profit / revenue * 100.", True),
        ("Yes. The company paid dividends; the amount is not disclosed.", False),
        ("The company did not make any acquisitions.", False),
        ("Revenue was $5 million. The segment split is not disclosed.", False),
        ("I cannot say why, but revenue was $5 million.", False),
        ("It is not stated directly. Therefore, adding both parts, revenue is $5 million.", False),
        ("", False),
    ],
)
def test_a_decline_says_that_it_has_no_answer_and_gives_none(text: str, declined: bool) -> None:
    assert declines(text) is declined


# Texts and citations


def test_a_text_answer_is_judged_by_needles_or_by_the_expected_words() -> None:
    item = Item(
        id="T",
        question="Who signed?",
        kind="text",
        needles=Needles(all=("Ms. Okafor",), any=("CFO", "chief financial officer")),
    )
    assert outcome(item, "It was signed by MS OKAFOR, the Chief Financial  Officer.") == "correct"
    assert outcome(item, "It was signed by Ms. Okafor.") == "wrong"
    assert outcome(item, "It was signed by the CFO.") == "wrong"
    plain = Item(id="T", question="Which month?", kind="text", expected="April 2021")
    assert outcome(plain, "In **April 2021**.") == "correct"
    assert outcome(plain, "In April 2022.") == "wrong"
    assert outcome(plain, "The text does not say.") == "abstain"


EVIDENCE = (
    Evidence("acme_2022_10k", 57, "Total revenue was $8,738 million for the year."),
    Evidence("acme_2022_10k", 58, "Inventories amounted to $542 million."),
)


@pytest.mark.parametrize(
    ("cite", "found"),
    [
        ("Total revenue was $8,738 million", "verified"),
        ("total revenue was $8738 million for the YEAR", "verified"),
        ("Net income fell sharply to $12 million", "rejected"),
        ("Total revenue. Inventories amounted to nothing at all in the end", "rejected"),
        ("million million million million million", "rejected"),
        ("", "none"),
        (None, "none"),
    ],
)
def test_a_citation_must_stand_in_one_passage_of_the_evidence(cite: str | None, found: str) -> None:
    assert check_citation(cite, EVIDENCE)[0] == found


def test_without_evidence_no_citation_is_verified() -> None:
    assert check_citation("Total revenue", ()) == ("rejected", 0.0)


# Money


@pytest.mark.parametrize(
    ("text", "asked_money", "states"),
    [
        ("$5", False, True),
        ("US$ 5m", False, True),
        ("USD 1,234", False, True),
        ("390 million dollars", False, True),
        ("12.50", False, True),
        ("390 million", True, True),
        ("390 million", False, False),
        ("390 units in 2022", True, False),
        ("3M's 10-K", True, False),
        ("12.504%", True, False),
    ],
)
def test_a_money_figure_is_a_dollar_shaped_one(text: str, asked_money: bool, states: bool) -> None:
    assert states_money(text, asked_money) is states


@given(
    st.lists(st.sampled_from(["$", " ", "5", ".", ",", "12", "a", "-", "(", "^", "3M", "\n"]), max_size=12).map("".join)
)
def test_the_published_money_rule_is_contained_in_ours(text: str) -> None:
    if re.search(r"\$[0-9]|[0-9]\.[0-9]{2}(?![0-9])", text):
        assert states_money(text, False)
