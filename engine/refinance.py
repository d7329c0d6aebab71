"""Refinance 1.0.0 for a whole batch at once: payments, three break-evens, savings and balances; and a loan kernel.

Not the definition (`specs/refinance/1.0.0.md`, whose clauses are cited), and no validation of inputs.

A decision is a sign: of the savings, of costs repaid, of a position, of a position's step. Three classes know these four
quantities: `_Estimate` in float64 for all cases, `_Settlement` in double-double for those that it cannot prove, `_Exact`
for single ties. The search for months is written once, over any of the first two.

Shape of the position (RF-7). It is -c plus the interest on the current loan less that on the new one, so that
step(m) = position(m + 1) - position(m) = i B(m) - i' B'(m), with B = balance_C and B' = balance_N. **The position falls,
then rises, then falls; each part may be missing, and if n' >= n nothing is ever ahead unless step(0) > 0.** Proof:
1. While both loans run, step(m) = (P - P') + P' v'^n' (1+i')^m - P v^n (1+i)^m, a sum of three exponentials. Ordered by base it changes
   sign at most as often as its coefficients do (Descartes). After that only one loan runs, and step has that loan's sign.
2. n' >= n, i <= i': B' >= B, since L' >= L and a dearer, longer loan is repaid later. step <= 0, and position <= -c <= 0.
3. n' >= n, i > i': the coefficients are (P - P', +, -): step is -, +, - at most. If step(0) <= 0, then either P >= P' and step stays <= 0, or
   P < P' and at the end m of any rise i B <= i' B', so B <= B', so position(m) <= (P - P') m + B - B' <= 0 (c >= L' - L).
4. n' < n: step ends as the current loan's, >= 0. If i > i', the coefficients (P - P', +, -) then leave -, + at most; if i <= i', P' > P and
   they are (-, -, +), or there are only two of them: -, + at most.
So up to its last rise "position > 0" turns from false to true once, and a bisection finds where.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .decimals import meaning
from .precision import DD, DoubleDouble, Floats, U, stacked, too_wide
from .tables import Outputs, in_slices, ragged

SPEC_VERSION = "1.0.0"

Column = NDArray[Any]
Bounded = tuple[Floats, Floats]

FOREVER = 1e9
# A rate of 0 is computed as this one: the same formulas, and they differ from the limit by a relative n * 1e-200.
NO_RATE = 1e-200


def amortise(balance: Floats, annual_rate: Floats, months: Column, after: Column) -> tuple[Floats, Floats, Floats]:
    """RF-3 and RF-4 alone: payment, balance after `after` payments, and the interest in payment number `after`.

    The interest is that on the balance before the payment; 0 where there is no such payment (0, or beyond the last).
    """
    payment, left, interest = (np.empty(len(balance)) for _ in range(3))
    for start in range(0, len(balance), 4096):
        part = slice(start, start + 4096)
        rate, remaining = np.maximum(annual_rate[part] / 12, NO_RATE), np.maximum(months[part] - after[part], 0)
        growth = np.log1p(rate)
        perpetuity = balance[part] / _discount(growth, months[part])
        np.multiply(perpetuity, rate, out=payment[part])
        np.multiply(perpetuity, _discount(growth, remaining), out=left[part])
        # (left + payment) / (1 + i) is the balance before the payment: no cancellation, and no third power.
        due = (left[part] + payment[part]) * rate / (1 + rate)
        np.multiply(due, (after[part] > 0) & (after[part] <= months[part]), out=interest[part])
    return payment, left, interest


def _discount(growth: Floats, months: Column) -> Floats:
    """1 - (1 + i)^-k = i A(i, k) from growth = log(1 + i)."""
    discount: Floats = -np.expm1(-growth * months)
    return discount


def compute(inputs: Mapping[str, Column]) -> Outputs:
    """All outputs of the contract, a column each, for inputs that were already validated."""
    return in_slices(_compute, inputs, 1024)


@dataclass(frozen=True)
class _Cases:
    """RF-1. In columns of two rows the first is the current loan and the second the new one."""

    balance: Floats
    costs: Floats
    financed: NDArray[np.bool_]
    rate: Floats
    months: Floats
    horizon: Floats

    def take(self, index: Column) -> _Cases:
        return _Cases(*(getattr(self, field.name)[..., index] for field in fields(self)))

    @property
    def last(self) -> Floats:
        last: Floats = self.months.max(axis=0)
        return last

    @property
    def identical(self) -> NDArray[np.bool_]:
        """Two loans of which every number is the same: savings are 0, positions -c."""
        identical: NDArray[np.bool_] = self._twins & (self.months[0] == self.months[1])
        return identical

    @property
    def still(self) -> Floats:
        """The month through which the position is exactly -c: today by RF-7, the first month if amounts and rates are the same,
        every month if neither loan bears interest that the other does not."""
        interest_free = (self.rate == 0).all(axis=0)
        return np.where(self.identical | interest_free, FOREVER, np.where(self._twins, 1.0, 0.0))

    @property
    def _twins(self) -> NDArray[np.bool_]:
        twins: NDArray[np.bool_] = (self.rate[0] == self.rate[1]) & (~self.financed | (self.costs == 0))
        return twins


def _compute(inputs: Mapping[str, Column]) -> Outputs:
    column = {name: values.astype(np.float64) for name, values in inputs.items() if values.dtype != bool}
    rates = np.stack([column["currentAnnualRate"], column["newAnnualRate"]])
    months = np.stack([column["currentRemainingMonths"], column["newTermMonths"]])
    cases = _Cases(column["currentBalance"], column["closingCosts"], inputs["financeClosingCosts"], rates, months, column["horizonMonths"])
    estimate = _Estimate.of(cases)
    answers = _decisions(estimate)

    counts = np.ceil(cases.horizon / 12).astype(np.int64) + 1
    case, year = ragged(counts)
    month = np.minimum(12.0 * year, cases.horizon[case])
    every, final = np.arange(counts.size), np.cumsum(counts) - 1
    # The table's positions, its last being the one at the horizon, and then position(T).
    where, when = np.concatenate([case, every]), np.concatenate([month, cases.last])
    position, position_bound = estimate.take(where).position(when)
    savings, savings_bound = estimate.savings()
    interest, interest_bound = estimate.interest(months)
    
    wide = too_wide(position, position_bound)
    wide_interest = too_wide(interest, interest_bound).any(axis=0) | too_wide(savings, savings_bound)
    rows = np.union1d(where[wide], np.flatnonzero(estimate.doubt | wide_interest))
    if rows.size:
        settlement = _Settlement.of(cases.take(rows))
        position[wide] = settlement.take(np.searchsorted(rows, where[wide])).position(when[wide])[0]
        savings[rows] = settlement.savings()[0]
        interest[:, rows] = settlement.interest(months[:, rows])[0]
        doubtful = np.flatnonzero(estimate.doubt[rows])
        for name, settled in _decisions(settlement.take(doubtful)).items():
            answers[name][rows[doubtful]] = settled

    balances = estimate.take(case).balances(month)
    balances[:, month == 0] = estimate.amount[:, case[month == 0]]  # RF-4, to the last digit
    return {
        "newLoanAmount": estimate.amount[1],
        "currentMonthlyPayment": estimate.payment[0],
        "newMonthlyPayment": estimate.payment[1],
        "monthlySavings": savings + 0.0,
        "breakEvenMonths": answers["breakEvenMonths"],
        "firstAheadMonth": answers["firstAheadMonth"],
        "netBreakEvenMonths": answers["netBreakEvenMonths"],
        "remainingInterestCurrent": interest[0],
        "totalInterestNew": interest[1],
        "lifetimeSavings": position[case.size :] + 0.0,
        "savingsAtHorizon": position[final] + 0.0,
        "recommendation": answers["recommendation"],
        "yearlyData": (
            counts,
            {
                "year": year,
                "month": month.astype(np.int64),
                "currentBalance": balances[0],
                "newBalance": balances[1],
                "position": position[: case.size] + 0.0,
            },
        ),
    }


class _Pair:
    """The two loans of each case, and the four quantities whose signs decide. Each comes with the bound of its error."""

    cases: _Cases

    def take(self, index: Column) -> _Pair:
        raise NotImplementedError

    def savings(self) -> Bounded:
        """RF-6: P - P'."""
        raise NotImplementedError

    def repaid(self, month: Floats) -> Bounded:
        """RF-8: m (P - P') - c."""
        raise NotImplementedError

    def position(self, month: Floats, over: float = 0.0) -> Bounded:
        """RF-7: position(m), less `over`."""
        raise NotImplementedError

    def step(self, month: Floats) -> Bounded:
        """position(m + 1) - position(m)."""
        raise NotImplementedError

    def sign(self, quantity: str, *arguments: Any) -> Floats:
        value, bound = getattr(self, quantity)(*arguments)
        sign: Floats = np.sign(value)
        unsure = np.flatnonzero((np.abs(value) <= bound) & (bound > 0))
        if unsure.size:
            sign[unsure] = self.settled(unsure, quantity, *arguments)
        return sign

    def settled(self, unsure: NDArray[np.int64], quantity: str, *arguments: Any) -> Any:
        raise NotImplementedError


def _decisions(pair: _Pair) -> dict[str, Column]:
    first, net = _ahead(pair)
    return {
        "breakEvenMonths": _break_even(pair),
        "firstAheadMonth": first,
        "netBreakEvenMonths": net,
        "recommendation": _recommendation(pair),
    }


def _break_even(pair: _Pair) -> Floats:
    """RF-8: the whole number nearest to c / (P - P'), or the next."""
    result = np.full(pair.cases.costs.size, np.inf)
    gaining = np.flatnonzero(pair.sign("savings") > 0)
    pair = pair.take(gaining)
    term = pair.cases.months[0]
    # A gain below 1e-30 that is known to be one is noise of the value; any costs then take longer than any term.
    month = np.rint(np.minimum(pair.cases.costs / np.maximum(pair.savings()[0], 1e-30), term + 1))
    month += pair.sign("repaid", month) < 0
    result[gaining] = np.where(month <= term, month, np.inf)
    return result


def _ahead(pair: _Pair) -> tuple[Floats, Floats]:
    """RF-9 and RF-10, by the shape of the position."""
    first, net = np.full((2, pair.cases.costs.size), np.inf)
    rate, months = pair.cases.rate, pair.cases.months
    hopeful = np.flatnonzero((months[1] < months[0]) | (rate[0] > rate[1]))
    pair = pair.take(hopeful)
    reach = pair.cases.months[0].copy()  # the end of the last rise
    restarted = np.flatnonzero(pair.cases.months[1] >= reach)
    restart = pair.take(restarted)
    reach[restarted] = _first(lambda m: restart.sign("step", m) <= 0, np.full(restarted.size, -1.0), reach[restarted])

    ahead = np.flatnonzero(pair.sign("position", reach) > 0)
    pair = pair.take(ahead)
    month = _first(lambda m: pair.sign("position", m) > 0, np.zeros(ahead.size), reach[ahead])
    first[hopeful[ahead]] = month
    # Before the first month ahead the position is below 0, or exactly 0 for a while.
    since = month.copy()
    level = np.flatnonzero(pair.sign("position", since - 1) >= 0)
    while level.size:
        since[level] -= 1
        level = level[since[level] > 0]
        level = level[pair.take(level).sign("position", since[level] - 1) >= 0]
    net[hopeful[ahead]] = np.where(pair.sign("position", pair.cases.last) > 0, since, np.inf)
    return first, net


def _first(holds: Callable[[Floats], NDArray[np.bool_]], low: Floats, high: Floats) -> Floats:
    """The smallest month at which something holds that does not at `low`, and does from there on to `high`."""
    while (high - low > 1).any():
        middle = np.maximum(np.floor((low + high) / 2), 0)
        held = holds(middle)
        low, high = np.where(held, low, middle), np.where(held, middle, high)
    return high


def _recommendation(pair: _Pair) -> Column:
    """RF-13."""
    month = np.minimum(pair.cases.horizon, pair.cases.last)
    refinance, keep = pair.sign("position", month, 1.0) >= 0, pair.sign("position", month, -1.0) <= 0
    return np.where(refinance, "refinance", np.where(keep, "keep", "indifferent"))


@dataclass(frozen=True)
class _Estimate(_Pair):
    """In float64. A case with a sign that is not certain is marked in `doubt`.

    Errors in U, for numbers as given: i has 2, log1p(i) 10, k log1p(i) 11, a discount 19 (an expm1 of a negative number and
    a log1p pass on at most what they get, and add 8), L' 2, L / discount 22, P 25. A balance then has 42.
    """

    cases: _Cases
    rows: NDArray[np.int64]
    doubt: NDArray[np.bool_]
    growth: Floats
    amount: Floats
    perpetuity: Floats
    payment: Floats

    @classmethod
    def of(cls, cases: _Cases) -> _Estimate:
        """RF-2 and RF-3."""
        rate = np.maximum(cases.rate / 12, NO_RATE)
        growth = np.log1p(rate)
        amount = np.stack([cases.balance, np.where(cases.financed, cases.balance + cases.costs, cases.balance)])
        perpetuity = amount / _discount(growth, cases.months)
        rows = np.arange(cases.costs.size)
        return cls(cases, rows, np.zeros(rows.size, bool), growth, amount, perpetuity, perpetuity * rate)

    def take(self, index: Column) -> _Estimate:
        columns = (self.growth, self.amount, self.perpetuity, self.payment)
        taken = (column[:, index] for column in columns)
        return _Estimate(self.cases.take(index), self.rows[index], self.doubt, *taken)

    def settled(self, unsure: NDArray[np.int64], quantity: str, *arguments: Any) -> float:
        self.doubt[self.rows[unsure]] = True
        return -1.0

    def balances(self, month: Floats) -> Floats:
        """RF-4: of both loans."""
        return self.perpetuity * _discount(self.growth, np.maximum(self.cases.months - month, 0))

    def interest(self, month: Floats) -> Bounded:
        """RF-11 and RF-5: paid(m) + balance(m) - L, the interest paid so far on either loan."""
        paid, left = self.payment * np.minimum(month, self.cases.months), self.balances(month)
        bearing = self.cases.rate > 0
        return np.where(bearing, paid + left - self.amount, 0.0), np.where(bearing, 50 * U * (paid + left), 0.0)

    def savings(self) -> Bounded:
        value, scale = self.payment[0] - self.payment[1], self.payment.sum(axis=0)
        return np.where(self.cases.identical, 0.0, value), np.where(self.cases.identical, 0.0, 28 * U * scale)

    def repaid(self, month: Floats) -> Bounded:
        value, bound = self.savings()
        paid = month * value
        return paid - self.cases.costs, month * bound + 3 * U * (np.abs(paid) + self.cases.costs)

    def position(self, month: Floats, over: float = 0.0) -> Bounded:
        interest, bound = self.interest(month)
        moving, costs = month > self.cases.still, self.cases.costs
        value = np.where(moving, interest[0] - interest[1], 0.0) - costs - over
        scale = np.abs(interest).sum(axis=0) + costs
        return value, np.where(moving, bound.sum(axis=0) + 4 * U * scale, 0.0)

    def step(self, month: Floats) -> Bounded:
        due = self.payment * _discount(self.growth, np.maximum(self.cases.months - month, 0))
        return due[0] - due[1], 48 * U * due.sum(axis=0)


# 22 * 22 > 480: any month is 22 a + b.
STRIDE = 22


@dataclass(frozen=True)
class _Settlement(_Pair):
    """In double-double, through s(m) = ((1+i)^m - 1) / i, which is m at a rate of 0: with the principal p = L / s(n) in the
    first payment, P = p + i L, balance(m) = L - p s(m), and the interest paid through month m is P m - p s(m).

    Errors in DD: u = 1 + i has 2, a power u^b 3 b, s(b) 4 b, hence u^22 66 and s(22) 88; s(22 a) has at most 88 + 68 a, and
    s(22 a + b) = s(22 a) u^b + s(b) below 1600. p and P have 1604, the interest 5000 of P m, which is no less than p s(m).
    """

    cases: _Cases
    at: NDArray[np.int64]
    tables: tuple[DoubleDouble, DoubleDouble, DoubleDouble]
    rate: DoubleDouble
    costs: DoubleDouble
    amount: DoubleDouble
    principal: DoubleDouble
    payment: DoubleDouble

    ERROR = 5000 * DD

    @classmethod
    def of(cls, cases: _Cases) -> _Settlement:
        costs, balance, rate = meaning(cases.costs), meaning(cases.balance), meaning(cases.rate) / 12.0
        amount = stacked([balance, balance + costs * cases.financed.astype(np.float64)])
        at, tables = np.arange(cases.costs.size), _sums(rate)
        principal = amount / _sum(tables, at, cases.months)
        return cls(cases, at, tables, rate, costs, amount, principal, principal + amount * rate)

    def take(self, index: Column) -> _Settlement:
        columns = (self.rate, self.costs, self.amount, self.principal, self.payment)
        return _Settlement(self.cases.take(index), self.at[index], self.tables, *(column[..., index] for column in columns))

    def settled(self, unsure: NDArray[np.int64], quantity: str, *arguments: Any) -> list[int]:
        return [_exact_sign(self.cases, k, quantity, *(np.broadcast_to(a, self.at.shape)[k] for a in arguments)) for k in unsure]

    def _interest(self, month: Floats) -> tuple[DoubleDouble, Floats]:
        month = np.minimum(month, self.cases.months)
        paid = self.payment * month
        return paid - self.principal * _sum(self.tables, self.at, month), self.ERROR * paid.hi

    def interest(self, month: Floats) -> Bounded:
        value, bound = self._interest(month)
        return np.where(self.cases.rate > 0, value.hi, 0.0), bound

    def savings(self) -> Bounded:
        value = (self.payment[0] - self.payment[1]).hi
        bound = self.ERROR * self.payment.hi.sum(axis=0)
        return np.where(self.cases.identical, 0.0, value), np.where(self.cases.identical, 0.0, bound)

    def repaid(self, month: Floats) -> Bounded:
        value = (self.payment[0] - self.payment[1]) * month - self.costs
        return value.hi, self.ERROR * (self.payment.hi.sum(axis=0) * month + self.cases.costs)

    def position(self, month: Floats, over: float = 0.0) -> Bounded:
        interest, bound = self._interest(month)
        value = (interest[0] - interest[1] - self.costs - over).hi
        moving, costs = month > self.cases.still, self.cases.costs
        return np.where(moving, value, -costs - over), np.where(moving, bound.sum(axis=0) + self.ERROR * (costs + abs(over)), 0.0)

    def step(self, month: Floats) -> Bounded:
        left = self.amount - self.principal * _sum(self.tables, self.at, np.minimum(month, self.cases.months))
        due = self.rate * left
        return (due[0] - due[1]).hi, self.ERROR * (self.rate.hi * self.amount.hi).sum(axis=0)


def _sums(rate: DoubleDouble) -> tuple[DoubleDouble, DoubleDouble, DoubleDouble]:
    """u^b and s(b) for b < 22, and s(22 a) for a < 22, each table flat."""
    growth, none = rate + 1.0, DoubleDouble(np.zeros_like(rate.hi))
    powers, ones, strides = [none + 1.0], [none], [none]
    for _ in range(STRIDE):
        powers.append(powers[-1] * growth)
        ones.append(ones[-1] * growth + 1.0)
    for _ in range(STRIDE - 1):
        strides.append(strides[-1] * powers[STRIDE] + ones[STRIDE])
    flat = (DoubleDouble(table.hi.ravel(), table.lo.ravel()) for table in map(stacked, (powers, ones, strides)))
    power, one, stride = flat
    return power, one, stride


def _sum(tables: tuple[DoubleDouble, DoubleDouble, DoubleDouble], at: NDArray[np.int64], month: Floats) -> DoubleDouble:
    """s(m) of both loans of the cases `at`."""
    powers, ones, strides = tables
    cases = strides.hi.size // (2 * STRIDE)
    strided, single = np.divmod(month.astype(np.int64), STRIDE)
    place = np.array([[0], [cases]]) + at
    single = 2 * cases * single + place
    return strides[2 * cases * strided + place] * powers[single] + ones[single]


class _Exact:
    """The four quantities of one case as the spec writes them, over Decimal or Fraction."""

    def __init__(self, cases: _Cases, k: int, number: Callable[[Decimal], Any]) -> None:
        def read(value: Any) -> Any:
            return number(Decimal(repr(float(value))))

        self.costs, balance = read(cases.costs[k]), read(cases.balance[k])
        amounts = balance, balance + self.costs if cases.financed[k] else balance
        self.loans = [(amounts[a], read(cases.rate[a, k]) / 12, int(cases.months[a, k])) for a in (0, 1)]

    def savings(self) -> Any:
        current, new = (_payment(*loan) for loan in self.loans)
        return current - new

    def repaid(self, month: float) -> Any:
        return int(month) * self.savings() - self.costs

    def position(self, month: float, over: float = 0.0) -> Any:
        current, new = (_interest(*loan, min(int(month), loan[2])) for loan in self.loans)
        return current - new - self.costs - int(over)

    def step(self, month: float) -> Any:
        current, new = (loan[1] * _balance(*loan, int(month)) for loan in self.loans)
        return current - new


def _payment(amount: Any, rate: Any, months: int) -> Any:
    if rate == 0:
        return amount / months
    growth = (1 + rate) ** months
    return amount * rate * growth / (growth - 1)


def _balance(amount: Any, rate: Any, months: int, month: int) -> Any:
    if month >= months:
        return 0 * amount
    if rate == 0:
        return amount - month * amount / months
    return amount if month == 0 else amount * (1 - ((1 + rate) ** month - 1) / ((1 + rate) ** months - 1))


def _interest(amount: Any, rate: Any, months: int, month: int) -> Any:
    # No power at months 0 and 1: ties there occur in the longest of loans.
    if rate == 0 or month <= 1:
        return amount * rate * month
    return _payment(amount, rate, months) * month - amount + _balance(amount, rate, months, month)


def _exact_sign(cases: _Cases, k: int, quantity: str, *arguments: float) -> int:
    """A sign at 100 digits, of which less than 30 are lost: |i| >= 8e-11, n <= 480. Only a value below 1e-60 goes on to rationals:
    a tie, and that has few months, since a longer loan's denominator (1+i)^n - 1 has primes that no input cancels."""
    with localcontext(Context(prec=100)):
        value = getattr(_Exact(cases, k, Decimal), quantity)(*arguments)
        if abs(value) < Decimal("1e-60"):
            value = getattr(_Exact(cases, k, Fraction), quantity)(*arguments)
    return int(value > 0) - int(value < 0)
