"""Outside witnesses: what others have printed, and what two libraries that are not ours compute, against both
implementations.

The printed figures are in `witnesses.toml`. The libraries are numpy-financial and QuantLib, at their own accuracy: each
figure of a library comes with the largest error that its way of computing can have in binary64, so that the comparison
is as sharp as the library allows at those inputs. Where a library is wrong beyond rounding, a test says so and shows
that ours is right.

- numpy-financial subtracts 1 from (1 + i)^n. At n payments that loses a relative n·2^-52·g / (g - 1) of the result, g
  being the growth: nothing to speak of at 5 % a year, more than 1e-9 below annual rates of about 1e-6, all but five
  digits at 1e-9. It leaves a residue after the last payment, decides months on floats, and has the wrong sign at a rate
  of 0.
- QuantLib discounts flow by flow and loses no digits at small rates; only its table of balances does, as above.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, Protocol

import numpy_financial
import pytest
from built import anywhere
from conftest import ROOT
from hypothesis import given, settings
from witness_table import PAGE, Claim, Side, read, render

from concordance import AnswerKey, load_workspace
from concordance.cases import generate
from concordance.implementations import load

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning:numpy_financial")  # it also divides by a rate of 0

SIDES: Final[tuple[Side, ...]] = ("engine", "reference")
WITNESSES: Final = read()
CLAIMS: Final = [
    pytest.param(claim, id=f"{witness.id}: {claim.figure}") for witness in WITNESSES for claim in witness.claims
]


@pytest.fixture(scope="module")
def key() -> AnswerKey:
    """The product as its users load it."""
    return load_workspace(ROOT)


# What others have printed


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("claim", CLAIMS)
def test_a_printed_figure_is_ours_or_is_refuted(key: AnswerKey, side: Side, claim: Claim) -> None:
    assert claim.holds(key, side) is not claim.refuted
    if claim.refuted:
        assert claim.corrected.holds(key, side)


@pytest.mark.parametrize("claim", CLAIMS)
def test_a_figure_one_unit_beside_the_right_one_would_be_noticed(key: AnswerKey, claim: Claim) -> None:
    right = claim.corrected if claim.refuted else claim
    assert not right.moved(-1).holds(key, "engine")
    assert not right.moved(1).holds(key, "engine")


def test_every_known_witness_is_listed_with_its_verdict(shared_data: Path) -> None:
    lines = [json.loads(line) for line in (shared_data / "witnesses.jsonl").read_text().splitlines()]
    listed = {witness.id: witness for witness in WITNESSES}
    assert [line["id"] for line in lines] == list(listed)
    for line in lines:
        witness = listed[line["id"]]
        assert any(not claim.refuted for claim in witness.claims) or line["agrees"] is not True, witness.id
        assert any(claim.refuted for claim in witness.claims) or line["agrees"] is not False, witness.id
        from_memory = "UNVERIFIED" in line["note"] or "from memory" in line["note"] + line["source"]
        assert bool(witness.unverified) is from_memory, witness.id


def test_the_page_of_witnesses_is_what_the_implementations_give(key: AnswerKey) -> None:
    assert PAGE.read_text(encoding="utf-8") == render(WITNESSES, key), "run: python tests/witness_table.py"


# What two libraries compute

EPS: Final = sys.float_info.epsilon
MONTHS: Final = 1200


@dataclass(frozen=True)
class Measured:
    """A library's figure, and the largest error that its way of computing it can have."""

    value: float
    error: float


class Library(Protocol):
    """What a library can be asked. Rates are of a year, compounded monthly."""

    def payment(self, amount: float, rate: float, months: int) -> Measured: ...

    def balance(self, amount: float, rate: float, months: int, after: int) -> Measured: ...

    def future_value(self, savings: float, contribution: float, rate: float, months: int) -> Measured: ...


class NumpyFinancial:
    """numpy-financial: closed forms in (1 + i)^n."""

    def payment(self, amount: float, rate: float, months: int) -> Measured:
        i = rate / 12
        growth = (1 + i) ** months
        value = float(numpy_financial.pmt(i, months, -amount))
        lost = (months + 8) * growth / math.expm1(months * math.log1p(i)) if rate else 2
        return Measured(value, EPS * lost * value)

    def balance(self, amount: float, rate: float, months: int, after: int) -> Measured:
        i = rate / 12
        payment = self.payment(amount, rate, months)
        value = float(numpy_financial.fv(i, after, payment.value, -amount))
        parts = amount + (payment.value / i if rate else months * payment.value)
        paid = self.future_value(0, payment.error, rate, after).value
        return Measured(value, paid + EPS * (after + 8) * (1 + i) ** after * parts)

    def future_value(self, savings: float, contribution: float, rate: float, months: int) -> Measured:
        i = rate / 12
        value = float(numpy_financial.fv(i, months, -contribution, -savings))
        parts = savings + (contribution / i if rate else months * contribution)
        return Measured(value, EPS * (months + 8) * (1 + i) ** months * parts)

    def months(self, target: float, savings: float, contribution: float, rate: float) -> Measured:
        """How many months savings take to a target above them, as a real number."""
        i = rate / 12
        value = float(numpy_financial.nper(i, -contribution, -savings, target))
        return Measured(value, EPS * (8 + 2 * value) * (1 + (1 / i if rate else 0)))


class QuantLib:
    """QuantLib: cash flows discounted one by one."""

    def __init__(self) -> None:
        import QuantLib as ql  # noqa: N813

        self._ql = ql
        self._start = ql.Date(1, 1, 2000)
        self._days = ql.Thirty360(ql.Thirty360.BondBasis)
        self._flows = [ql.SimpleCashFlow(1.0, self._month(k)) for k in range(1, MONTHS + 1)]

    def _month(self, k: int) -> Any:
        return self._start + self._ql.Period(k, self._ql.Months)

    def _rate(self, rate: float) -> Any:
        return self._ql.InterestRate(rate, self._days, self._ql.Compounded, self._ql.Monthly)

    def _annuity(self, rate: float, months: int) -> Measured:
        """The value today of 1 a month."""
        if months == 0:
            return Measured(0, 0)
        value = self._ql.CashFlows.npv(self._flows[:months], self._rate(rate), False, self._start, self._start)
        return Measured(value, 2 * EPS * (months + 8) * value)

    def payment(self, amount: float, rate: float, months: int) -> Measured:
        annuity = self._annuity(rate, months)
        value = amount / annuity.value
        return Measured(value, value * (annuity.error / annuity.value + EPS))

    def balance(self, amount: float, rate: float, months: int, after: int) -> Measured:
        value = self.payment(amount, rate, months).value * self._annuity(rate, months - after).value
        return Measured(value, 4 * EPS * (months + 8) * value)

    def future_value(self, savings: float, contribution: float, rate: float, months: int) -> Measured:
        growth = self._rate(rate).compoundFactor(self._start, self._month(months))
        value = (savings + contribution * self._annuity(rate, months).value) * growth
        return Measured(value, 4 * EPS * (months + 8) * value)

    def balances(self, amount: float, rate: float, months: int) -> tuple[float, ...]:
        """QuantLib's own table of what is owed after 0, 1, ... payments."""
        ql = self._ql
        owed: tuple[float, ...] = ql.sinkingNotionals(ql.Period(months, ql.Months), ql.Monthly, rate, amount)
        return owed


@cache
def quantlib() -> QuantLib:
    """QuantLib, or a skip that says that it is missing."""
    if find_spec("QuantLib") is None:
        pytest.skip("QuantLib is not installed here (pip install QuantLib); numpy-financial still bears witness")
    return QuantLib()


@pytest.fixture(scope="module", params=[NumpyFinancial, quantlib], ids=["numpy-financial", "QuantLib"])
def library(request: pytest.FixtureRequest) -> Library:
    made: Library = request.param()
    return made


def agree(ours: float, theirs: Measured, side: Side, scale: float = 0) -> bool:
    """Whether our figure is the library's, within its error and ours: a hundredth of C-11, or a single rounding."""
    own = EPS * max(abs(ours), scale) if side == "reference" else 1e-8 + 1e-11 * abs(ours)
    return abs(ours - theirs.value) <= theirs.error + own


def loan_faults(library: Library, side: Side, inputs: dict[str, Any], outputs: dict[str, Any]) -> Iterator[str]:
    """What a library says otherwise about the two loans of a refinance."""
    for amount, rate, months, payment_name, interest_name, balance_name in (
        (inputs["currentBalance"], inputs["currentAnnualRate"], inputs["currentRemainingMonths"],
         "currentMonthlyPayment", "remainingInterestCurrent", "currentBalance"),
        (outputs["newLoanAmount"], inputs["newAnnualRate"], inputs["newTermMonths"],
         "newMonthlyPayment", "totalInterestNew", "newBalance"),
    ):  # fmt: skip
        payment = library.payment(amount, rate, months)
        if not agree(outputs[payment_name], payment, side):
            yield f"{payment_name}: {outputs[payment_name]}, {payment}"
        interest = Measured(months * payment.value - amount, months * (payment.error + 2 * EPS * payment.value))
        if not agree(outputs[interest_name], interest, side):
            yield f"{interest_name}: {outputs[interest_name]}, {interest}"
        for row in (outputs["yearlyData"][1], outputs["yearlyData"][-1]):
            after = min(row["month"], months)
            balance = library.balance(amount, rate, months, after)
            if not agree(row[balance_name], balance, side, amount):
                yield f"{balance_name} after {after}: {row[balance_name]}, {balance}"


def fund_faults(library: Library, side: Side, inputs: dict[str, Any], outputs: dict[str, Any]) -> Iterator[str]:
    """What a library says otherwise about the growth of an emergency fund, and the months to its target."""
    savings, contribution, rate = (inputs[name] for name in ("currentSavings", "monthlyContribution", "annualYield"))
    after = partial(library.future_value, savings, contribution, rate)
    target, reached = outputs["targetAmount"], outputs["monthsToTarget"]
    last = outputs["yearlyData"][-1]
    if not agree(last["balance"], after(last["month"]), side):
        yield f"balance after {last['month']}: {last['balance']}, {after(last['month'])}"
    months = MONTHS if reached == "Infinity" else reached
    there = after(months)
    paid_in = savings + months * contribution
    interest = Measured(there.value - paid_in, there.error + 2 * EPS * (there.value + paid_in))
    if not agree(outputs["projectedInterest"], interest, side):
        yield f"projectedInterest: {outputs['projectedInterest']}, {interest}"
    if reached != "Infinity" and there.value + there.error < target * (1 - EPS):
        yield f"monthsToTarget: {reached}, when there are {there}"
    before = after(months if reached == "Infinity" else months - 1) if reached else Measured(-math.inf, 0)
    if before.value - before.error >= target * (1 + EPS):
        yield f"monthsToTarget: {reached}, too late: {before}"


FAULTS: Final[dict[str, Callable[..., Iterator[str]]]] = {"refinance": loan_faults, "emergency-fund": fund_faults}


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("model", FAULTS)
def test_a_library_agrees_on_every_published_case(key: AnswerKey, library: Library, model: str, side: Side) -> None:
    spec = key.spec(model)
    inputs = [case.inputs for case in generate(spec, 250)]
    answers = load(key.workspace, side, spec).run(inputs).columns.answers(spec.outputs)
    faults = [list(FAULTS[model](library, side, *pair)) for pair in zip(inputs, answers, strict=True)]
    assert faults == [[]] * 250


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("model", FAULTS)
def test_a_library_agrees_on_inputs_from_all_over_the_domain(
    key: AnswerKey, library: Library, model: str, side: Side
) -> None:
    @settings(max_examples=100)
    @given(anywhere(model))
    def agrees(inputs: dict[str, Any]) -> None:
        assert list(FAULTS[model](library, side, inputs, key.compute(model, inputs, impl=side))) == []

    agrees()


@pytest.mark.parametrize("side", SIDES)
def test_the_number_of_periods_of_numpy_financial_rounds_up_to_our_months(key: AnswerKey, side: Side) -> None:
    @settings(max_examples=100)
    @given(anywhere("emergency-fund"))
    def rounds_up(inputs: dict[str, Any]) -> None:
        savings, contribution, rate = (
            inputs[name] for name in ("currentSavings", "monthlyContribution", "annualYield")
        )
        outputs = key.compute("emergency-fund", inputs, impl=side)
        target, months = outputs["targetAmount"], outputs["monthsToTarget"]
        if target <= savings or (rate == 0 and (savings > 0 or contribution == 0)):
            return  # met already; or numpy-financial is wrong, as two tests below show
        theirs = NumpyFinancial().months(target, savings, contribution, rate)
        if months == "Infinity":
            assert not theirs.value < MONTHS - theirs.error
        else:
            assert months - 1 - theirs.error <= theirs.value <= months + theirs.error

    rounds_up()


# Where the libraries are wrong, and ours is right


def right(ours: float, exact: Fraction, side: Side) -> bool:
    """Whether our figure is the exact one: to a rounding for the reference, to a hundredth of C-11 for the engine."""
    return agree(ours, Measured(float(exact), 0), side)


def exact_payment(amount: int, rate: Fraction, months: int) -> Fraction:
    """A loan's payment as a fraction of whole numbers."""
    i = rate / 12
    return amount * i / (1 - (1 + i) ** -months)


def exact_balance(savings: Fraction, paid: Fraction, rate: Fraction, months: int) -> Fraction:
    """What savings are after so many months of interest and then a payment, month by month."""
    for _ in range(months):
        savings = savings * (1 + rate / 12) + paid
    return savings


def loan(amount: int, rate: float, months: int) -> dict[str, Any]:
    """A refinance from a loan into the same loan."""
    return {
        "currentBalance": amount,
        "currentAnnualRate": rate,
        "currentRemainingMonths": months,
        "newAnnualRate": rate,
        "newTermMonths": months,
        "closingCosts": 0,
        "financeClosingCosts": False,
        "horizonMonths": months,
    }


def fund(target: float, savings: float, contribution: float, rate: float) -> dict[str, Any]:
    """An emergency fund with a target of one month's expenses."""
    return {
        "monthlyEssentialExpenses": target,
        "monthlyBackupIncome": 0,
        "targetMonths": 1,
        "currentSavings": savings,
        "monthlyContribution": contribution,
        "annualYield": rate,
    }


@pytest.mark.parametrize("side", SIDES)
def test_numpy_financial_makes_a_loan_at_a_billionth_earn_the_borrower_money(key: AnswerKey, side: Side) -> None:
    theirs = 360 * NumpyFinancial().payment(500_000, 1e-9, 360).value - 500_000
    exact = 360 * exact_payment(500_000, Fraction(1, 10**9), 360) - 500_000
    assert theirs < -0.03
    ours = key.compute("refinance", loan(500_000, 1e-9, 360), impl=side)["remainingInterestCurrent"]
    assert right(ours, exact, side)
    assert f"{ours:.7f}" == "0.0075208"


@pytest.mark.parametrize("side", SIDES)
def test_numpy_financial_finds_three_tenths_of_a_cent_too_much_in_a_fund_at_a_billionth(
    key: AnswerKey, side: Side
) -> None:
    theirs = NumpyFinancial().future_value(1000, 100, 1e-9, 360).value
    exact = exact_balance(Fraction(1000), Fraction(100), Fraction(1, 10**9), 360)
    assert 0.0029 < theirs - float(exact) < 0.0031
    ours = key.compute("emergency-fund", fund(37_000, 1000, 100, 1e-9), impl=side)
    assert ours["monthsToTarget"] == 360
    assert right(ours["yearlyData"][-1]["balance"], exact, side)


@pytest.mark.parametrize("side", SIDES)
def test_numpy_financial_owes_something_after_the_last_payment(key: AnswerKey, side: Side) -> None:
    assert NumpyFinancial().balance(300_000, 0.24, 480, 480).value < -1e-7
    payment = exact_payment(300_000, Fraction(24, 100), 480)
    assert exact_balance(Fraction(300_000), -payment, Fraction(24, 100), 480) == 0
    last = key.compute("refinance", loan(300_000, 0.24, 480), impl=side)["yearlyData"][-1]
    assert json.dumps([last["currentBalance"], last["newBalance"]]) in ("[0, 0]", "[0.0, 0.0]")


@pytest.mark.parametrize("side", SIDES)
def test_numpy_financial_needs_a_month_more_at_a_tie(key: AnswerKey, side: Side) -> None:
    assert exact_balance(Fraction(0), Fraction(500), Fraction(12, 100), 3) == Fraction("1515.05")
    assert math.ceil(NumpyFinancial().months(1515.05, 0, 500, 0.12).value) == 4
    assert key.compute("emergency-fund", fund(1515.05, 0, 500, 0.12), impl=side)["monthsToTarget"] == 3


@pytest.mark.parametrize("side", SIDES)
def test_numpy_financial_adds_the_savings_to_the_target_where_there_is_no_interest(key: AnswerKey, side: Side) -> None:
    assert exact_balance(Fraction(5_000), Fraction(500), Fraction(0), 38) == 24_000
    assert NumpyFinancial().months(24_000, 5_000, 500, 0).value == 58
    assert key.compute("emergency-fund", fund(24_000, 5_000, 500, 0), impl=side)["monthsToTarget"] == 38


@pytest.mark.parametrize("side", SIDES)
def test_numpy_financial_takes_less_than_no_time_where_nothing_ever_comes(key: AnswerKey, side: Side) -> None:
    assert exact_balance(Fraction(0), Fraction(0), Fraction(0), MONTHS) == 0
    assert NumpyFinancial().months(1_000, 0, 0, 0).value == -math.inf
    assert key.compute("emergency-fund", fund(1_000, 0, 0, 0), impl=side)["monthsToTarget"] == "Infinity"


@pytest.mark.parametrize("side", SIDES)
def test_quantlibs_table_of_balances_owes_most_of_a_cent_too_much_at_a_billionth(key: AnswerKey, side: Side) -> None:
    theirs = quantlib().balances(500_000, 1e-9, 360)[359]
    payment = exact_payment(500_000, Fraction(1, 10**9), 360)
    exact = exact_balance(Fraction(500_000), -payment, Fraction(1, 10**9), 359)
    assert 0.007 < theirs - float(exact) < 0.008
    case = loan(500_000, 1e-9, 360) | {"horizonMonths": 359}
    assert right(key.compute("refinance", case, impl=side)["yearlyData"][-1]["currentBalance"], exact, side)


@pytest.mark.parametrize("side", SIDES)
def test_quantlib_is_short_of_a_target_that_is_reached_exactly(key: AnswerKey, side: Side) -> None:
    exact = exact_balance(Fraction(0), Fraction(100), Fraction(12, 100), 2)
    assert exact == 201
    assert quantlib().future_value(0, 100, 0.12, 2).value < 201
    assert key.compute("emergency-fund", fund(201, 0, 100, 0.12), impl=side)["monthsToTarget"] == 2
