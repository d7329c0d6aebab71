"""Answers in the manner of the models that sit the exam, with the outcome a reader would give each.

All are written here about invented companies. They hold the referee's rules to the general case: none is taken from
a benchmark, and every rule that one of them needs has to do without naming a model or a question.
"""

# ruff: noqa: E501 -- a table of replies, one a line

from __future__ import annotations

from typing import Any

import pytest

from concordance.exam.referee import Item, Reference, Reply, declines, judge


def question(text: str, kind: Any, value: float, unit: str = "") -> Item:
    return Item(id="Q", question=text, kind=kind, reference=Reference(value, unit))


QUICK = question("What is Borealis's FY2022 quick ratio? Round your answer to two decimal places.", "number", 0.66)
REVENUE = question("What was Borealis's FY2022 revenue, in USD millions?", "money", 1577.0, "usd")
WORKING = question("What is Borealis's FY2021 net working capital? Answer in USD millions.", "money", -1561.0, "usd")
DEBT = question("What was Borealis's long-term debt at the end of FY2022? Answer in USD billions.", "money", 8.7, "usd")
MARGIN = question(
    "What is Borealis's FY2022 operating margin (in units of percents, rounded to one decimal)?",
    "percent",
    8.7,
    "percent",
)
SHARE = question(
    "What is capex as a % of revenue for Borealis in FY2022? Answer in percents, to two decimals.",
    "percent",
    0.83,
    "percent",
)
SPREAD = question(
    "By how much did Borealis's net interest margin change from FY2021 to FY2022, in percentage points?",
    "percent",
    0.25,
    "percent",
)
DAYS = question(
    "What is Borealis's FY2022 days payable outstanding (DPO)? Round to two decimal places.", "number", 93.86
)
TURNS = question("What is Borealis's FY2022 fixed asset turnover ratio? Round to two decimal places.", "number", 24.26)
PART = question("Which part of its revenue did Borealis earn abroad in FY2022?", "number", 0.5)
STORES = question("How many stores did Borealis run at the end of FY2022?", "number", 42)
GROWTH = question(
    "What is Borealis's FY2021-FY2022 revenue growth, in percent to one decimal place?", "percent", -4.1, "percent"
)
EPS = question("What was Borealis's diluted EPS in FY2022, in USD?", "money", 3.41, "usd")
CAPEX = question(
    "What is the FY2020 - FY2022 3 year average of capex as a % of revenue for Borealis, to one decimal place?",
    "percent",
    7.9,
    "percent",
)
RESTRUCTURING = question(
    "What were Borealis's restructuring costs in FY2022, in USD millions? If there are none, state 0.",
    "money",
    0.0,
    "usd",
)
DIVIDENDS = question(
    "How much did Borealis pay out in cash dividends for FY2022, in USD millions?", "money", 389.0, "usd"
)

ROA = question(
    "What is Borealis's FY2022 return on assets (ROA)? ROA is defined as: FY2022 net income / (average total assets between FY2021 and FY2022). Round your answer to two decimal places.",
    "number",
    -0.02,
)
PPE = question(
    "Using only the balance sheet, what is the year end FY2022 net PPNE for Borealis? Answer in USD billions.",
    "money",
    8.7,
    "usd",
)
INV = question(
    "What is FY2022 inventory turnover ratio for Borealis? Inventory turnover ratio is defined as: (FY2022 COGS) / (average inventory between FY2021 and FY2022). Round your answer to two decimal places.",
    "number",
    6.25,
)
CAGR = question(
    "What is the 2 year total revenue CAGR of Borealis from FY2020 to FY2022 (in units of percents and round to one decimal place)?",
    "percent",
    13.4,
    "percent",
)
NI = question(
    "What is Borealis's FY2022 unadjusted EBITDA less capex? Define EBITDA as operating income + D&A. Answer in USD millions.",
    "money",
    9068.0,
    "usd",
)
RET = question(
    "What is Borealis's FY2022 retention ratio (net income minus dividends, over net income)? Round to two decimals.",
    "number",
    0.54,
)
AP = question(
    "What is the year end FY2022 amount of accounts payable for Borealis, in USD millions?", "money", 303.0, "usd"
)

SHAPES: list[tuple[Item, str, str]] = [
    # Chatty openings
    (QUICK, " Sure! Based on the provided information, Borealis's quick ratio for FY2022 is 0.66.", "correct"),
    (
        QUICK,
        " Sure! Based on the provided information, the quick ratio can be calculated as follows:\n\nQuick ratio = (Cash + Receivables) / Current liabilities\n= ($4,120 million + $2,480 million) / $10,000 million\n= 0.66\n\nSo, the quick ratio for Borealis is 0.66. I hope this helps! Let me know if you have any other questions.",
        "correct",
    ),
    (QUICK, "Of course, I'd be happy to help! The quick ratio of Borealis at the end of FY2022 was 0.66:1.", "correct"),
    (
        QUICK,
        " Unfortunately, the given text does not contain the quick ratio. However, using cash plus receivables over current liabilities, $6,600 / $10,000 = 0.66.",
        "correct",
    ),
    (
        QUICK,
        "The ratio is not directly stated in the document. We can calculate it, though:\n\n(4,120 + 2,480) / 10,000 = 0.66\n\nTherefore, the quick ratio is approximately 0.66.",
        "correct",
    ),
    (QUICK, "Therefore, the FY2022 quick ratio of Borealis is approximately 1.01.", "wrong"),
    (
        QUICK,
        "As an AI language model, I do not have access to the balance sheet of Borealis for 2022. The quick ratio is (current assets - inventory) / current liabilities.",
        "abstain",
    ),
    (
        QUICK,
        "As an AI language model I can't look up filings, but from the figures you gave: (4.12 + 2.48) / 10.0 = 0.66.",
        "correct",
    ),
    (
        QUICK,
        "Using the formula:\n\n\\[ \\text{Quick Ratio} = \\frac{\\text{Cash} + \\text{Receivables}}{\\text{Current Liabilities}} \\]\n\n\\[ \\text{Quick Ratio} = \\frac{4,120 + 2,480}{10,000} \\]\n\n\\[ \\text{Quick Ratio} = 0.66 \\]",
        "correct",
    ),
    (QUICK, "\\[ \\frac{6600}{10000} \\approx 0.66 \\]", "correct"),
    (
        QUICK,
        "\\[ \\text{Ratio} = \\frac{\\$6,600 \\text{ million}}{\\$10,000 \\text{ million}} \\approx 0.66 \\]\n\nTherefore, the quick ratio is 0.66, which means that Borealis has $0.66 of liquid assets for every $1.00 of current liabilities.",
        "correct",
    ),
    (QUICK, "The quick ratio is 66%.", "correct"),
    (QUICK, "Borealis had a quick ratio of 0.66 in FY2022 and 0.71 in FY2021.", "correct"),
    (QUICK, "Borealis had a quick ratio of 0.71 in FY2022 and 0.66 in FY2021.", "wrong"),
    (QUICK, "FY2020: 0.80\nFY2021: 0.71\nFY2022: 0.66", "correct"),
    (QUICK, "0.66 (0.71 in the year before)", "correct"),
    (QUICK, "The quick ratio is 0.66, which is below the commonly used benchmark of 1.0.", "correct"),
    (QUICK, "The quick ratio is 0.66. A ratio of 1 or more is usually considered healthy.", "correct"),
    (QUICK, "two thirds", "wrong"),
    # Amounts and their scales
    (REVENUE, "$1.577 billion", "correct"),
    (REVENUE, "Based on the statement of income, revenue was $1,577,000 thousand in FY2022.", "correct"),
    (REVENUE, "Revenue was $1,577,041 (in thousands).", "correct"),
    (REVENUE, "(in thousands)\n\n| | 2022 | 2021 |\n|---|---|---|\n| Revenue | 1,577,041 | 1,403,120 |", "correct"),
    (
        REVENUE,
        "According to the income statement (amounts in thousands):\n- Net sales 2021: 1,403,120\n- Net sales 2022: 1,577,041",
        "correct",
    ),
    (REVENUE, "The figures in the filing are given in thousands. Net sales for FY2022: $1,577,041.", "correct"),
    (REVENUE, "The statement is in thousands; net sales for FY2022 were $1,577 million.", "correct"),
    (REVENUE, "Borealis reported 1,577,041,000 dollars of revenue in 2022.", "correct"),
    (REVENUE, "1577.0", "correct"),
    (REVENUE, "USD 1 577 million", "correct"),
    (REVENUE, "The revenue is 15,77 million.", "wrong"),
    (
        REVENUE,
        "Based on the income statement, Borealis's FY2022 revenue is $1,577 million, an increase of 12.4% over the $1,403 million of FY2021.",
        "correct",
    ),
    (
        REVENUE,
        "Borealis's FY2022 revenue was $1,577 million. This was $174 million more than the $1,403 million reported for FY2021.",
        "correct",
    ),
    (
        REVENUE,
        "FY2022 revenue: $1,577 million\n\nNote: the amount excludes $41 million of discontinued operations.",
        "correct",
    ),
    (
        REVENUE,
        "Here are the relevant line items:\n\n* Products: $1,200 million\n* Services: $377 million\n\nTotal: $1,577 million",
        "correct",
    ),
    (
        REVENUE,
        "* Products: $1,200 million\n* Services: $377 million\n\nAdding the two, we get $1,577 million.",
        "correct",
    ),
    (REVENUE, "Revenue was between $1.5 and $1.6 billion.", "wrong"),
    (REVENUE, "Revenue is likely around $1,700 million to $1,900 million.", "wrong"),
    (REVENUE, "one billion five hundred seventy-seven million dollars", "correct"),
    (WORKING, "(1,561)", "correct"),
    (WORKING, "$(1,561) million", "correct"),
    (WORKING, "Net working capital = current assets - current liabilities = 5,439 - 7,000 = (1,561)", "correct"),
    (
        WORKING,
        "Net working capital = $5,439 million - $7,000 million = -$1,561 million. So Borealis had a working capital deficit of $1,561 million.",
        "correct",
    ),
    (WORKING, "Borealis had net working capital of $1,561 million.", "wrong"),
    (
        WORKING,
        "Based on the balance sheet, the net working capital is negative $1,561 million, rounded to the nearest million.",
        "correct",
    ),
    (WORKING, "−1.561 billion USD", "correct"),
    (DEBT, "$8,738 million, i.e. about $8.7 billion", "correct"),
    (DEBT, "Long-term debt, which is 8.7, compared with 7.9 in the year before", "correct"),
    (DEBT, "8.7 billion; the year before it was 7.9 billion.", "correct"),
    (DEBT, "Total: 8,738", "wrong"),
    (DEBT, "$8.7B", "correct"),
    (DIVIDENDS, "Dividends paid: $(389) million", "correct"),
    (DIVIDENDS, "The cash flow statement shows dividends paid of (389) for 2022 and (353) for 2021.", "correct"),
    (DIVIDENDS, "$0.389 billion", "correct"),
    (EPS, "Diluted EPS came in at $3.41, versus $3.66 a year earlier.", "correct"),
    (EPS, "Basic earnings per share were $3.44 and diluted earnings per share were $3.41.", "correct"),
    (EPS, "341 cents", "correct"),
    # Percentages
    (MARGIN, "Based on the income statement, the answer is 8.7%, rounded to one decimal place.", "correct"),
    (
        MARGIN,
        "Operating margin = Operating income / Revenue = $137 million / $1,577 million = 0.0869 or 8.69%",
        "correct",
    ),
    (MARGIN, "Operating margin = (137 / 1,577) x 100 = 8.69%. Rounded to one decimal place, this is 8.7%.", "correct"),
    (MARGIN, "8.7% (FY2021: 7.9%)", "correct"),
    (MARGIN, "The operating margin expanded by 80 basis points to 8.7%.", "correct"),
    (MARGIN, "The operating margin expanded to 8.7%, up 80 bps.", "correct"),
    (MARGIN, "In FY2022 the operating margin was 8.7 %, which is 0.8 percentage points above FY2021.", "correct"),
    (
        MARGIN,
        "\\[ \\text{Operating Margin} = \\left( \\frac{137}{1577} \\right) \\times 100\\% \\approx 8.7\\% \\]",
        "correct",
    ),
    (
        MARGIN,
        "\\[ \\text{Operating Margin} = \\left( \\frac{\\$137}{\\$1,577} \\right) \\times 100 \\]\n\\[ \\text{Operating Margin} \\approx 0.0869 \\times 100 \\]\n\\[ \\text{Operating Margin} \\approx 8.69 \\]\n\nTherefore, Borealis's operating margin for FY2022 is approximately 8.7%.",
        "correct",
    ),
    (MARGIN, "To calculate the operating margin, divide operating income by revenue and multiply by 100.", "wrong"),
    (SHARE, "0.83%", "correct"),
    (SHARE, "83 basis points", "correct"),
    (SHARE, "0.0083", "correct"),
    (SHARE, "83%", "wrong"),
    (SHARE, "Capex / Revenue = 13.1 / 1,577 = 0.0083 = 0.83%", "correct"),
    (SPREAD, "It increased by 25 bps.", "correct"),
    (SPREAD, "The margin rose 25 basis points, from 3.10% to 3.35%.", "correct"),
    (SPREAD, "The net interest margin rose from 3.10% to 3.35%, an increase of 0.25 percentage points.", "correct"),
    (SPREAD, "a quarter of a percentage point", "correct"),
    (SPREAD, "¼ percentage point", "correct"),
    (SPREAD, "It increased by 25%.", "wrong"),
    (GROWTH, "Revenue declined 4.1% year over year.", "correct"),
    (GROWTH, "Revenue declined from $1,645 million to $1,577 million, which is a decrease of 4.1%.", "correct"),
    (GROWTH, "Growth = (1,577 - 1,645) / 1,645 = -0.0413 = -4.1%", "correct"),
    (GROWTH, "Revenue grew by 4.1%.", "wrong"),
    (GROWTH, "The growth rate is (4.1)%.", "correct"),
    (CAPEX, "2020: 8.4%\n2021: 7.6%\n2022: 7.7%\n\nAverage = (8.4% + 7.6% + 7.7%) / 3 = 7.9%", "correct"),
    (
        CAPEX,
        "FY2020: 8.4%, FY2021: 7.6%, FY2022: 7.7%. The 3 year average of capex as a percentage of revenue is therefore 7.9%.",
        "correct",
    ),
    (
        CAPEX,
        "Capex was 8.4% of revenue in 2020, 7.6% in 2021 and 7.7% in 2022, so the three-year average comes out at 7.9%.",
        "correct",
    ),
    # Ratios, days, counts
    (DAYS, "DPO = 365 * 29,963 / 116,520\n= 93.86 days", "correct"),
    (DAYS, "Approximately 94 days", "correct"),
    (DAYS, "Based on the financial statements the DPO is 93.86 days, rounded to two decimal places.", "correct"),
    (DAYS, "365 * ($29,963 million / $116,520 million) = 93.86", "correct"),
    (
        DAYS,
        "DPO is the average number of days that a company takes to pay its suppliers. For FY2022 it comes to 93.86 days (365 × 29,963 ÷ 116,520).",
        "correct",
    ),
    (TURNS, "24.26x", "correct"),
    (TURNS, "24.26 times", "correct"),
    (TURNS, "The turnover was 24.26 times per year (22.10 in FY2021).", "correct"),
    (
        TURNS,
        "Fixed asset turnover = $6,489 million / (($253 million + $282 million) / 2) = $6,489 million / $267.5 million = 24.26",
        "correct",
    ),
    (TURNS, "The ratio equals 6,489 divided by 267.5, or 24.26.", "correct"),
    (PART, "½", "correct"),
    (PART, "half of it", "correct"),
    (PART, "One half", "correct"),
    (PART, "half of its revenue", "correct"),
    (PART, "a third", "wrong"),
    (PART, "¾", "wrong"),
    (PART, "50%", "correct"),
    (STORES, "forty-two", "correct"),
    (STORES, "Forty-two stores.", "correct"),
    (STORES, "The answer is forty two.", "correct"),
    (STORES, "one hundred and forty-two", "wrong"),
    (STORES, "Borealis operated 42 stores at year end; of these, 30 were in the US and 12 abroad.", "correct"),
    (STORES, "There were 42 stores (page 14).", "correct"),
    (STORES, "As of December 31, 2022, Borealis had 42 stores in 9 states.", "correct"),
    # Declining
    (
        REVENUE,
        "I'm sorry, but I don't have real-time access to filings. As of my last update in September 2021, Borealis had not reported FY2022. Please check its 10-K.",
        "abstain",
    ),
    (
        REVENUE,
        "Unfortunately, the information provided does not include the FY2022 income statement, so I am unable to give the revenue in USD millions.",
        "abstain",
    ),
    (
        REVENUE,
        "The provided context gives revenue for 2020 ($1,310 million) and 2021 ($1,403 million), but not for 2022. Therefore, the FY2022 revenue cannot be determined.",
        "abstain",
    ),
    (
        QUICK,
        "To determine the quick ratio, we would need current liabilities. They aren't disclosed in the excerpts I was given. Cash was $4,120 million.",
        "abstain",
    ),
    (
        QUICK,
        " I apologize, but the given text does not provide enough detail to compute the ratio. If you could share the balance sheet, I would be glad to help.",
        "abstain",
    ),
    (QUICK, "It's not possible to work out the ratio from this extract.", "abstain"),
    (
        DAYS,
        "The excerpts make no mention of accounts payable. Consequently I can't arrive at a DPO of any precision.",
        "abstain",
    ),
    (
        DAYS,
        "Based on the excerpts, neither payables nor cost of sales are given for FY2022. DPO = 365 * payables / (COGS + change in inventory).",
        "abstain",
    ),
    (MARGIN, "I do not possess the operating income for 2022; without it no margin follows.", "abstain"),
    (
        MARGIN,
        "I cannot see the income statement. If operating income were $137 million, the margin would be 8.7%.",
        "abstain",
    ),
    (
        RESTRUCTURING,
        "The income statement does not list any restructuring costs. Therefore, the answer is 0.",
        "correct",
    ),
    (RESTRUCTURING, "There were no restructuring costs in FY2022, i.e. $0.", "correct"),
    (RESTRUCTURING, "$12 million", "wrong"),
    # Derivations, other declines
    (
        ROA,
        " Sure, I'd be happy to help you with that! To calculate ROA, we need:\n\n1. Net income FY2022: -$546 million\n2. Average total assets: ($32,963 million + $38,363 million) / 2 = $35,663 million\n\nNow, we can calculate the ROA:\n\nROA = -$546 million / $35,663 million = -0.0153\n\nRounding to two decimal places, the ROA is -0.02.",
        "correct",
    ),
    (ROA, "ROA = ($546) / $35,663 = (0.0153) or (1.53)%", "correct"),
    (ROA, "Therefore, Borealis' FY2022 ROA is -1.53%.", "correct"),
    (ROA, "The ROA is 0.02.", "wrong"),
    (
        ROA,
        "\\[ \\text{ROA} = \\frac{-546}{35,663} \\approx -0.0153 \\]\n\nRounded to two decimal places, the return on assets (ROA) is \\(-0.02\\).",
        "correct",
    ),
    (PPE, "The net PP&E as of December 31, 2022 was $8,738 million, or $8.738 billion.", "correct"),
    (
        PPE,
        "According to the consolidated balance sheet, property, plant and equipment – net was $8,738 (in millions) at December 31, 2022. In USD billions: $8.74 billion.",
        "correct",
    ),
    (
        PPE,
        "The balance sheet shows:\nProperty, plant and equipment: $24,873 million\nLess: Accumulated depreciation: ($16,135) million\nProperty, plant and equipment - net: $8,738 million",
        "correct",
    ),
    (
        PPE,
        "Property, plant and equipment 24,873\nLess: accumulated depreciation (16,135)\nProperty, plant and equipment, net 8,738",
        "wrong",
    ),
    (PPE, "Borealis's net PPNE at year end FY2022 is $8,738 million (8.738 billion).", "correct"),
    (
        INV,
        "Inventory turnover = COGS / average inventory\n\nCOGS (FY2022) = $1,000 million\nAverage inventory = ($150 million + $170 million) / 2 = $160 million\n\nInventory turnover = $1,000 million / $160 million = 6.25 times",
        "correct",
    ),
    (
        INV,
        "Inventory Turnover Ratio = 6.25 (rounded to two decimal places)\n\nThis indicates that the company sold and replaced its inventory about 6 times during the year.",
        "correct",
    ),
    (INV, "6.25 times, meaning inventory is turned over roughly every 58 days.", "correct"),
    (INV, "The inventory turnover ratio is 6.25, up from 5.90 in FY2021 and 5.75 in FY2020.", "correct"),
    (INV, "Using the data above, the ratio works out to be about 6.25.", "correct"),
    (INV, "COGS / Avg inventory = 1000/160=6.25", "correct"),
    (
        INV,
        " Based on the information provided in the text, we can calculate the inventory turnover ratio as follows: 1,000 / ((150+170)/2) = 6.25. Therefore, the inventory turnover ratio for FY2022 is 6.25. Note that a higher ratio is better than one below 4.",
        "correct",
    ),
    (
        CAGR,
        "CAGR = (Ending Value / Beginning Value)^(1/n) - 1\n= (1,577 / 1,226)^(1/2) - 1\n= 1.134 - 1\n= 0.134 or 13.4%",
        "correct",
    ),
    (
        CAGR,
        "\\[ \\text{CAGR} = \\left( \\frac{1577}{1226} \\right)^{\\frac{1}{2}} - 1 \\approx 0.134 \\]\n\nConverting to a percentage gives 13.4%.",
        "correct",
    ),
    (CAGR, "The 2-year CAGR of total revenue is about 13.4 percent.", "correct"),
    (CAGR, "Total revenue grew at a 13.4% CAGR, from $1,226 million to $1,577 million.", "correct"),
    (CAGR, "The 2 year CAGR is 28.6%, or 13.4% per year.", "wrong"),
    (
        NI,
        "EBITDA = operating income ($11,512 million) + D&A ($2,763 million) = $14,275 million\nLess capex: $5,207 million\nUnadjusted EBITDA less capex = $14,275 million - $5,207 million = $9,068 million.",
        "correct",
    ),
    (
        NI,
        "Operating income: $11,512\nDepreciation and amortization: $2,763\nCapital spending: $(5,207)\n\nUnadjusted EBITDA less capex = $11,512 + $2,763 - $5,207 = $9,068",
        "correct",
    ),
    (NI, "So the answer is $9,068 million.", "correct"),
    (NI, "The answer is: 9,068", "correct"),
    (
        NI,
        "The unadjusted EBITDA is $14,275 million. After subtracting capital expenditures of $5,207 million, the result is $9,068 million.",
        "correct",
    ),
    (NI, "$14,275 million − $5,207 million ⇒ $9,068 million", "correct"),
    (
        NI,
        "The unadjusted EBITDA less capex is $14,275 million minus $5,207 million, which equals $9,068 million.",
        "correct",
    ),
    (NI, "Unadjusted EBITDA less capex would be $14,275 million less $5,207 million: $9,068 million.", "correct"),
    (
        NI,
        "FY2022 unadjusted EBITDA less capex equals $9,068 million ($14,275 million EBITDA less $5,207 million capex).",
        "correct",
    ),
    (RET, "Retention ratio = (8,910 - 4,100)/8,910 = 0.54 or 54%", "correct"),
    (RET, "Retention Ratio = 1 - 0.46 = 0.54", "correct"),
    (RET, "The dividend payout ratio is 0.46, so the retention ratio is 0.54.", "correct"),
    (RET, "The retention ratio is 0.54, which means 54% of net income was kept and 46% paid out.", "correct"),
    (RET, "The retention ratio is 46%.", "wrong"),
    (RET, "It retained 54 cents of every dollar earned.", "correct"),
    (AP, "$302,578 thousand", "correct"),
    (AP, "The accounts payable were $302.578 million.", "correct"),
    (AP, "Accounts payable: $302,578 (in thousands), i.e. $302.6 million", "correct"),
    (
        AP,
        "Accounts payable at December 31, 2022 were $302,578. Since the balance sheet is in thousands, this is $302.578 million.",
        "correct",
    ),
    (AP, "As of December 31, 2022 (in thousands): accounts payable 302,578; accrued liabilities 2,151,054.", "correct"),
    (
        AP,
        "I could not find accounts payable for FY2022 in the provided context; the context covers 2019 only ($235 million).",
        "abstain",
    ),
    (
        AP,
        "The context provided does not include the balance sheet of Borealis for FY2022. Accounts payable would normally be listed under current liabilities.",
        "abstain",
    ),
    (
        AP,
        "The provided document excerpts do not contain the year end FY2022 amount of accounts payable for Borealis.",
        "abstain",
    ),
    (AP, "As of my knowledge cutoff in September 2021, I can't provide real-time financial data.", "abstain"),
    (
        AP,
        "As an AI language model, I don't have access to real-time data or specific financial documents. However, you can find this in the company's 10-K for 2022.",
        "abstain",
    ),
    (AP, "I'm sorry, as an AI, I am unable to provide that.", "abstain"),
    (AP, "The balance sheet isn't included in what you gave me.", "abstain"),
    (AP, "No balance sheet was supplied, so accounts payable can't be read off.", "abstain"),
    (
        AP,
        "Accounts payable are not broken out in the excerpt; only total current liabilities of $3,004 million are.",
        "abstain",
    ),
    (
        AP,
        " Thank you for your question! However, the document you gave only covers the cash flow statement, and I can't see a balance sheet. Could you please provide it?",
        "abstain",
    ),
    (AP, "Nothing in the given pages states accounts payable.", "abstain"),
    (AP, "There is nothing in the context about accounts payable at year end 2022.", "abstain"),
    (AP, "This question cannot be answered with the information at hand.", "abstain"),
    (AP, "The requested figure is absent from the extract.", "abstain"),
    (AP, "More information is needed to answer this.", "abstain"),
    (AP, "I would need the balance sheet to answer.", "abstain"),
    (AP, "The 10-K for FY2022 hasn't been provided, hence the figure is unknown to me.", "abstain"),
    (AP, "Insufficient data to determine.", "abstain"),
    (
        AP,
        "The answer is not explicitly provided, but based on the change of $67 million from $236 million, accounts payable were $303 million.",
        "correct",
    ),
    (
        AP,
        "While the filing doesn't break it out in the summary, Note 7 shows accounts payable of $302.6 million.",
        "correct",
    ),
    (AP, "I don't have the original filing at hand, but from memory it was about $303 million.", "correct"),
    (AP, "Although I cannot verify it, accounts payable were $350 million.", "wrong"),
    (AP, "It is not clear from the text, however accounts payable seem to be $303 million.", "correct"),
    # Comparisons, headlines, bases
    (
        QUICK,
        "Answer: The FY2022 quick ratio for Borealis is 0.66. (Calculated as (4,120 + 2,480) / 10,000.)",
        "correct",
    ),
    (
        QUICK,
        "To get the quick ratio:\nStep 1: Liquid assets = 4,120 + 2,480 = 6,600\nStep 2: Current liabilities = 10,000\nStep 3: 6,600 / 10,000 = 0.66\n\nFinal: 0.66",
        "correct",
    ),
    (
        QUICK,
        "Borealis's quick ratio was 0.66 as of December 31, 2022. Since it is below 1, the company may have difficulty meeting short-term obligations.",
        "correct",
    ),
    (QUICK, "The quick ratio can't be stated exactly, but it is roughly 0.66.", "correct"),
    (QUICK, "**0.66**\n\n*Computation:* (4,120 + 2,480)/10,000", "correct"),
    (QUICK, "0.66:1", "correct"),
    (QUICK, "The quick ratio for FY2022 is 0.66 (2021: 0.71; 2020: 0.80).", "correct"),
    (QUICK, "The quick ratio decreased from 0.71 to 0.66.", "correct"),
    (QUICK, "It went down by 0.05 to 0.66.", "correct"),
    (QUICK, "Quick ratio FY22: 0.66x vs 0.71x in FY21", "correct"),
    (REVENUE, "Net revenues ....... $ 1,577", "correct"),
    (REVENUE, "Revenue for the fiscal year ended December 31, 2022 totaled 1.58 billion US dollars.", "correct"),
    (REVENUE, "Total revenue (FY2022) = 1,577 USD millions", "correct"),
    (REVENUE, "$1,577 (USD millions)", "correct"),
    (
        REVENUE,
        "The revenue for FY2022 was $1,577 million, as shown on line 1 of the Consolidated Statements of Income on page 45 of the 10-K filed on February 9, 2023.",
        "correct",
    ),
    (REVENUE, "1,577 million USD (1,403 million USD in 2021)", "correct"),
    (
        REVENUE,
        "The company's revenue was $1.4 billion in 2021 and grew 12.4% to reach $1.577 billion in 2022.",
        "correct",
    ),
    (REVENUE, "Sales were $1,577,041,000.", "correct"),
    (REVENUE, "2022 revenue: 1577; 2021 revenue: 1403; growth: 12.4%", "correct"),
    (REVENUE, "Revenue increased $174 million, or 12.4%, to $1,577 million.", "correct"),
    (REVENUE, "Revenue increased by $174 million to $1,577 million in FY2022.", "correct"),
    (REVENUE, "I'd put it at $1,577 million.", "correct"),
    (REVENUE, "1,577 thousand", "wrong"),
    (REVENUE, "$1,577 billion", "wrong"),
    (REVENUE, "Revenue isn't shown. Net income is $120 million.", "abstain"),
    (WORKING, "-1,561", "correct"),
    (
        WORKING,
        "The net working capital comes to a deficit of $1,561 million (current assets $5,439 million, current liabilities $7,000 million).",
        "correct",
    ),
    (WORKING, "Net working capital: $ (1,561)", "correct"),
    (
        WORKING,
        "Current liabilities exceed current assets by $1,561 million, so net working capital is -$1,561 million.",
        "correct",
    ),
    (DEBT, "$8,738 million (approximately $8.7 billion)", "correct"),
    (DEBT, "Long-term debt stood at $8,738 million, or roughly 8.7 in USD billions.", "correct"),
    (DEBT, "$8.7 billion in FY2022 and $7.9 billion in FY2021", "correct"),
    (MARGIN, "8.7", "correct"),
    (MARGIN, "The operating margin was 8.69% in FY2022, down from 9.77% in FY2021", "correct"),
    (MARGIN, "Operating margin FY2022 = 8.7% | FY2021 = 7.9%", "correct"),
    (MARGIN, "The margin is approximately 8.7 percentage", "correct"),
    (MARGIN, "870 bps", "correct"),
    (MARGIN, "Operating margin = 137/1577 = .0869", "correct"),
    (MARGIN, "8.7% +/- 0.1%", "correct"),
    (MARGIN, "The operating margin for FY2022 is 8.7%. For comparison, the industry average is about 11%.", "correct"),
    (MARGIN, "Gross margin was 41.2% while operating margin was 8.7%.", "correct"),
    (MARGIN, "The text mentions a gross margin of 41.2%, but operating margin is not mentioned.", "abstain"),
    (GROWTH, "Revenue shrank by 4.1 percent", "correct"),
    (GROWTH, "a 4.1% decline", "correct"),
    (GROWTH, "-4.1 percentage points", "correct"),
    (GROWTH, "Revenue was down 4.1%", "correct"),
    (GROWTH, "Revenue growth was negative at 4.1%", "correct"),
    (GROWTH, "((1,577 - 1,645) / 1,645) * 100 = -4.13%\n\nHence revenue fell by about 4.1%.", "correct"),
    (SPREAD, "Up 25bp", "correct"),
    (SPREAD, "+0.25 pp", "correct"),
    (SPREAD, "From 3.10% to 3.35%, i.e. +25bps", "correct"),
    (DAYS, "DPO: 93.86", "correct"),
    (DAYS, "The company takes on average 93.86 days to pay (against 88.10 days in 2021).", "correct"),
    (DAYS, "93.86 days (about three months)", "correct"),
    (TURNS, "24.26 : 1", "correct"),
    (TURNS, "FATR = Revenue / Avg PP&E = 6489/267.5 ≈ 24.26", "correct"),
    (EPS, "Borealis earned $3.41 per diluted share in FY2022", "correct"),
    (EPS, "$3.41 (diluted); $3.44 (basic)", "correct"),
    (CAPEX, "Year 1: 8.4%; Year 2: 7.6%; Year 3: 7.7%. Average: 7.9%", "correct"),
    (CAPEX, "(8.4 + 7.6 + 7.7) / 3 = 7.9", "correct"),
    (CAPEX, "The average is 7.9% (8.4% in 2020, 7.6% in 2021, 7.7% in 2022).", "correct"),
    (
        CAPEX,
        "Without the 2020 cash flow statement, I can only compute two of the three years (7.6% and 7.7%), so the 3 year average cannot be determined.",
        "abstain",
    ),
    (STORES, "42 (forty-two)", "correct"),
    (STORES, "There are a total of 42.", "correct"),
    (STORES, "a dozen", "wrong"),
    (RESTRUCTURING, "0", "correct"),
    (RESTRUCTURING, "None reported, so 0.", "correct"),
    (
        RESTRUCTURING,
        "Restructuring costs are not explicitly outlined in the income statement, so the answer is $0 million.",
        "correct",
    ),
    (RESTRUCTURING, "No restructuring costs were recorded in FY2022.", "correct"),
    (DIVIDENDS, "Borealis paid $389 million ($1.02 per share) in cash dividends.", "correct"),
    (DIVIDENDS, "Cash dividends: $1.02 per share x 381 million shares = $389 million", "correct"),
    (
        DIVIDENDS,
        "Borealis paid dividends of $0.255 per share each quarter; in total, $389 million was paid out in FY2022.",
        "correct",
    ),
    # Refusals in other words, and answers with a caveat
    (AP, " I'm just an AI, it's not within my capabilities to look up the balance sheet of Borealis.", "abstain"),
    (
        AP,
        "As an AI developed by a company, I don't have the ability to access real-time or proprietary data.",
        "abstain",
    ),
    (
        AP,
        "I am not able to browse the internet, therefore I cannot tell you the accounts payable in FY2022.",
        "abstain",
    ),
    (AP, "I'm afraid the excerpt doesn't reach that far. It ends with note 2.", "abstain"),
    (AP, "The information needed is missing from the statement of cash flows you provided.", "abstain"),
    (AP, "Sorry, without the balance sheet I'm not in a position to answer.", "abstain"),
    (
        AP,
        "The balance sheet data for FY2022 is not provided, and thus the year end amount can't be extracted.",
        "abstain",
    ),
    (
        AP,
        "Based on the information provided, it is not possible to determine the accounts payable. The provided text only includes the income statement and discusses revenue of $1,577 million.",
        "abstain",
    ),
    (
        AP,
        "The context includes total liabilities ($7,000 million in 2022) but accounts payable is not separately itemized, which prevents an answer.",
        "abstain",
    ),
    (AP, "Accounts payable isn't something I can derive from these pages.", "abstain"),
    (AP, "I looked through the passages and found no accounts payable figure for FY2022.", "abstain"),
    (AP, "There isn't enough information in the passages.", "abstain"),
    (AP, "Not stated.", "abstain"),
    (
        AP,
        "The question can't be answered: the filing covers FY2021, in which accounts payable were $290 million.",
        "abstain",
    ),
    (
        AP,
        "To answer this, I'd look at the balance sheet in the 10-K for 2022. Unfortunately I don't have it.",
        "abstain",
    ),
    (AP, "The document does not appear to contain this figure.", "abstain"),
    (AP, "The year-end FY2022 amount of accounts payable for Borealis is not mentioned in the text.", "abstain"),
    (AP, "No relevant data found.", "abstain"),
    (AP, "No information.", "abstain"),
    (AP, "The text makes reference to accounts payable but gives no amounts.", "abstain"),
    (AP, "Data not available", "abstain"),
    (
        AP,
        "As of my last update in October 2021, I can't provide the FY2022 amount. For FY2020, it was $280 million. Please refer to the latest 10-K.",
        "abstain",
    ),
    (AP, "I can help with that! Accounts payable at the end of FY2022 were $303 million.", "correct"),
    (AP, "I couldn't find it in the text at first, but Note 12 gives $303 million.", "correct"),
    (
        AP,
        "While I can't access the live filing, Borealis's 10-K for 2022 reported accounts payable of $303 million.",
        "correct",
    ),
    (AP, "It isn't explicitly labelled, but the line 'trade payables' is $303 million.", "correct"),
    (AP, "Accounts payable: $303 million. Note that I cannot verify this against the original filing.", "correct"),
    (AP, "Accounts payable were $303 million. The maturity of these payables is not disclosed.", "correct"),
    (AP, "Not all liabilities are disclosed, yet accounts payable are: $303 million.", "correct"),
    (AP, "$303 million (the FY2021 amount is not provided)", "correct"),
    (
        AP,
        "The filing does not provide a separate total. Adding trade ($200 million) and other payables ($103 million) gives $303 million.",
        "correct",
    ),
    (AP, "Unfortunately accounts payable rose to $303 million.", "correct"),
    (AP, "Sorry for the confusion earlier. The correct amount is $303 million.", "correct"),
    (AP, "I apologize for the earlier mistake: accounts payable were $303 million.", "correct"),
    (AP, "There is no doubt: $303 million.", "correct"),
    (ROA, "ROA = -546/35,663 = -1.53%, i.e. -0.02 when rounded to two decimals", "correct"),
    (ROA, "-0.02 (or -1.53%)", "correct"),
    (ROA, "Borealis's ROA for FY2022 was negative, at about -1.5%.", "correct"),
    (CAGR, "Revenue CAGR FY20-FY22: 13.4%", "correct"),
    (CAGR, "√(1,577/1,226) − 1 = 13.4 %", "correct"),
    (CAGR, "[(1577/1226)^0.5 - 1]*100 = 13.4", "correct"),
    (NI, "9,068 (=11,512+2,763-5,207)", "correct"),
    (NI, "11,512 + 2,763 - 5,207 = 9,068", "correct"),
    (NI, "The unadjusted EBITDA less capex for FY2022 is $9.07 billion, which is $9,068 million.", "correct"),
    (NI, "EBITDA less capex: $9,068 mm (EBITDA: $14,275 mm; capex: $5,207 mm)", "correct"),
    (
        NI,
        "Based on the filings: Operating profit = $11,512 million, D&A = $2,763 million, Capex = $5,207 million. So: 11,512 + 2,763 - 5,207 = $9,068 million.",
        "correct",
    ),
    (PPE, "$8,738M", "correct"),
    (PPE, "8,738,000,000 USD", "correct"),
    (PPE, "Net PPNE (in USD billions): 8.74", "correct"),
    (PPE, "As of year-end FY2022, net PP&E was $8,738 million, which converts to about $8.7 billion.", "correct"),
    (INV, "6.25x (COGS of $1,000M / average inventory of $160M)", "correct"),
    (INV, "The ratio is 1,000 / 160, or 6.25.", "correct"),
    (INV, "Average inventory is $160 million. COGS is $1,000 million. The ratio is thus 6.25.", "correct"),
    (INV, "Inventory turnover is not a meaningful metric for Borealis, but it would be 6.25.", "correct"),
    (RET, "Retention ratio = 1 – payout ratio (46%) = 54%", "correct"),
    (RET, "54%, since 46% of net income went to dividends", "correct"),
    (RET, "0.5398", "correct"),
    (MARGIN, "8.7% (operating income of $137 million divided by revenue of $1,577 million)", "correct"),
    (MARGIN, "Operating income was $137 million on revenue of $1,577 million, for a margin of 8.7%.", "correct"),
    (MARGIN, "8.69% ≈ 8.7%", "correct"),
    (GROWTH, "Revenue fell from $1,645 million to $1,577 million (-4.1%).", "correct"),
    (GROWTH, "Minus 4.1 percent.", "correct"),
    (GROWTH, "There was no growth: revenue declined by 4.1%.", "correct"),
    (EPS, "EPS: $3.41 diluted, $3.44 basic", "correct"),
    (WORKING, "NWC = $5,439M – $7,000M = –$1,561M", "correct"),
    (WORKING, "$-1,561 million", "correct"),
    (DAYS, "94", "correct"),
    (DAYS, "DPO = 365 x (29,963 / 116,520) = 365 x 0.2571 = 93.86 days.", "correct"),
    (STORES, "Borealis had a total of 42 stores: 30 owned and 12 leased.", "correct"),
    (
        QUICK,
        "In conclusion, based on the above calculation, Borealis' quick ratio for FY2022 stands at 0.66.",
        "correct",
    ),
    (
        QUICK,
        "Quick Ratio = (Current Assets − Inventory) ÷ Current Liabilities = (8,600 − 2,000) ÷ 10,000 = 0.66.",
        "correct",
    ),
    (
        QUICK,
        " Based on the data given, we have: Cash: $4,120; Receivables: $2,480; Current liabilities: $10,000. So, quick ratio = ($4,120 + $2,480) / $10,000 = 0.66 (rounded to two decimal places).",
        "correct",
    ),
    (
        REVENUE,
        "Revenue in FY2022 totaled $1,577 million, made up of $1,200 million from products and $377 million from services.",
        "correct",
    ),
    (
        REVENUE,
        "Total net sales for the third quarter were $400 million and for the full fiscal year 2022 $1,577 million.",
        "correct",
    ),
    (REVENUE, "Total revenues FY2022: 1,577 | FY2021: 1,403 | FY2020: 1,226", "correct"),
    (REVENUE, "For the fiscal year 2022, which ended on January 28, 2023, the revenue was $1,577 million.", "correct"),
    (REVENUE, "$1.58B", "correct"),
    (
        DAYS,
        "First, average payables: (28,000 + 31,926) / 2 = 29,963. Next, purchases: 111,934 + 4,586 = 116,520. Finally, DPO = 365 × 29,963 / 116,520 ≈ 93.86. Hence DPO is about 93.86 days.",
        "correct",
    ),
    (CAPEX, "Averages: (8.4% + 7.6% + 7.7%) / 3 = 23.7% / 3 = 7.9%", "correct"),
    (CAPEX, "The three-year average (FY2020–FY2022) is 7.9%.", "correct"),
    (
        CAGR,
        "\\[ CAGR = \\left(\\frac{\\$1,577}{\\$1,226}\\right)^{1/2} - 1 = 0.1342 \\]\n\nSo the 2-year CAGR is approximately 13.4%.",
        "correct",
    ),
    (NI, "**Unadjusted EBITDA less capex:** $14,275 million - $5,207 million = **$9,068 million**", "correct"),
    (NI, "EBITDA: 14,275\nCapex: 5,207\nEBITDA less capex: 9,068", "correct"),
    (AP, "Accounts payable (Dec. 31, 2022): $302.6 million; (Dec. 31, 2021): $290.1 million", "correct"),
    (
        AP,
        "The year end FY2022 accounts payable for Borealis is $303 million. Please note that this is based on the provided balance sheet and may not include everything.",
        "correct",
    ),
    (
        AP,
        "According to the balance sheet, accounts payable amounted to $303 million at year end FY2022 and $290 million at year end FY2021.",
        "correct",
    ),
    (GROWTH, "Revenue growth was -4.1% in FY2022 compared to +16.2% in FY2021.", "correct"),
    (MARGIN, "It improved from 7.9% to 8.7%.", "correct"),
    (
        WORKING,
        "The net working capital for FY2021 is -$1,561 million, which indicates that current liabilities exceed current assets by $1,561 million.",
        "correct",
    ),
    (PPE, "The net PPNE is $8,738 million. To convert to billions, divide by 1,000: $8.738 billion.", "correct"),
    (PPE, "$8,738 million / 1,000 = $8.738 billion", "correct"),
    (RET, "1 - ($4,100 / $8,910) = 1 - 0.46 = 0.54", "correct"),
    (DIVIDENDS, "Cash dividends paid: 389", "correct"),
    (EPS, "FY2022 diluted EPS = $3.41 (FY2021: $3.66)", "correct"),
]


@pytest.mark.parametrize(("item", "text", "right"), SHAPES)
def test_an_answer_in_a_models_manner_is_judged_as_a_reader_would(item: Item, text: str, right: str) -> None:
    assert judge(item, Reply(text=text)).outcome == right, judge(item, Reply(text=text))


DECLINES: list[tuple[str, bool]] = [
    (
        "Yes, Borealis's liquidity looks healthy. Its quick ratio is 1.57, though the filing does not give the split of receivables.",
        False,
    ),
    ("Based on the information provided, Borealis operates in four segments. It does not report a fifth one.", False),
    ("Borealis does not have any debt securities registered on an exchange.", False),
    ("The company did not report any acquisitions in 2022.", False),
    ("Gross margin is not a relevant metric for Borealis since it is a bank.", False),
    (
        "The filing does not explicitly say what drove the change, but it points to higher volumes and better pricing in the medical segment.",
        False,
    ),
    (
        "While the text doesn't name customers, it says that airlines and the US government make up most of its sales.",
        False,
    ),
    (
        "It is difficult to attribute the change to a single factor. The main drivers were price increases, a better mix, and lower freight costs.",
        False,
    ),
    (
        "Based on the 10-K, the operating margin improved from 8% to 10%. However, the filing does not explain why.",
        False,
    ),
    ("No. The ratio was 0.96.", False),
    ("No, the text gives no indication of ongoing litigation that would be material.", False),
    (
        "The excerpt does not disclose the reasons in detail. In summary, margin fell because of higher raw material costs.",
        False,
    ),
    ("There is no single biggest driver; consumer segment sales shrank the most, by 0.9%.", False),
    ("The consumer segment dragged growth down the most.", False),
    (
        "Board members are elected annually. All eleven nominees were elected; exact vote counts are not available.",
        False,
    ),
    ("We cannot rule out further charges, the company says; it recorded $105 million of them in 2022.", False),
    (
        "I don't see any evidence of customer concentration above 10%, except for one customer with 16% of revenue.",
        False,
    ),
    (
        "Although it isn't stated outright, Borealis appears to be capital intensive: capex was 5.1% of revenue and fixed assets were 20% of total assets.",
        False,
    ),
    ("Unable to hold prices, Borealis saw margins fall by 2 points in 2022.", False),
    ("The company was unable to raise prices, which is why margins fell.", False),
    ("The board has not declared a dividend.", False),
    ("Borealis isn't exposed to foreign exchange risk to a large extent.", False),
    ("The ratio cannot be negative, and here it is 0.45.", False),
    ("The provided text does not discuss what drove the margin change.", True),
    ("I'm sorry, but I can't identify the segment from the context provided.", True),
    (
        "The context contains the auditor's report and exhibits only; nothing in it says which segments dragged growth.",
        True,
    ),
    (
        "As an AI, I don't have the capability to access FY2023 filings. You might want to consult the investor relations page.",
        True,
    ),
    (
        "Gross margin is computed as gross profit over revenue. The extract has neither, so one can't say whether it improved.",
        True,
    ),
    ("It is unclear from the given text whether Borealis has such debt securities.", True),
    (
        "The text gives revenue of $10 million for 2021 and $12 million for 2022 but no cost data, so the margin trend cannot be assessed.",
        True,
    ),
    ("The passages you gave do not mention the CEO's experience. I therefore cannot say.", True),
    ("Based on the information provided, I am not able to determine the primary customers of Borealis.", True),
    ("I would need the segment note to answer that.", True),
    ("Without the cash flow statement it is impossible to tell which activity brought in most cash.", True),
    ("The text mentions several restructuring programs; however, the nature of the liability isn't described.", True),
    ("This can't be determined.", True),
    ("I do not know which debt securities are registered.", True),
    ("There is insufficient context to answer the question about the nominees.", True),
    ("The answer is not in the document.", True),
    ("Regrettably, the document is silent on acquisitions.", True),
    (
        "The question asks about FY2023, whereas the filing covers FY2021 and earlier; it therefore can't be answered.",
        True,
    ),
    ("My training data ends in 2021, so I have no information about 2023.", True),
    ("It's not possible for me to provide an opinion on this, as the relevant statements weren't shared.", True),
    ("The statement of income does not break out restructuring costs. Please consult the notes.", True),
]


@pytest.mark.parametrize(("text", "declined"), DECLINES)
def test_a_prose_answer_is_told_from_a_decline(text: str, declined: bool) -> None:
    assert declines(text) is declined
