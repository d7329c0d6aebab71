"""Refinance 1.0.1 for a whole batch at once: payments, three break-evens, savings and balances; and a loan kernel.

Not the definition (`specs/refinance/1.0.1.md`, whose clauses are cited), and no validation of inputs.

Every decision is a sign: of the savings, of costs repaid, of a position, of a position's step to the next month. Three
classes know these quantities: `_Estimate` in float64 for all cases, `_Settlement` in double-double for the cases of
which it cannot prove a sign, `_Ties` for what is left. The search for months is written once, over the first two.

The shape of the position (RF-7). It is -c plus the interest paid on the current loan less that on the new one. Hence
step(m) = position(m + 1) - position(m) = i B(m) - i' B'(m), with B for balance_C and B' for balance_N. The position
falls, then rises, then falls (each part may be missing), and if n' >= n, nothing is ever ahead unless it rises at once.
1. While both loans run, step(m) = (P - P') + P' v'^n' (1+i')^m - P v^n (1+i)^m, with v = 1 / (1+i). In the order of the
   bases it changes sign no more often than its coefficients do (Descartes). Afterwards it has the sign of one loan.
2. n' >= n, i <= i': L' >= L, and a dearer, longer loan is repaid later: B' >= B. So step <= 0, and position <= -c <= 0.
3. n' >= n, i > i': the coefficients are (P - P', +, -), so that step is -, +, - at most. Suppose step(0) <= 0. If
   P >= P', step stays <= 0. If P < P', then i B <= i' B' at the end m of the rise, hence B <= B', and
   position(m) <= (P - P') m + B - B' <= 0. Either way the position never gets above 0. If n' = n, step is 0 at n too,
   and so changes sign before n once at most: a rise that begins at once lasts to n.
4. n' < n: at the end step is that of the current loan, >= 0. If i > i', -, +, - then leaves -, + at most. If i <= i',
   P' > P, and the coefficients are (P - P', -, +), or two of them are one: -, + at most.
So up to the end of the first rise "position > 0" turns true once at most, and a bisection finds where.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields
from decimal import Context, Decimal, Inexact, localcontext
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from .decimals import meaning
from .precision import DD, DoubleDouble, Floats, U, joined, leading, stacked, too_wide
from .tables import Outputs, in_slices, ragged

SPEC_VERSION = "1.0.1"

Column = NDArray[Any]
Mask = NDArray[np.bool_]
Bounded = tuple[Floats, Floats]

EVERY = slice(None)
FOREVER = 1e9
# A rate of 0 is computed as this one: the same formulas, and they differ from the limit by a relative n * 1e-200.
NO_RATE = 1e-200


def amortise(balance: Floats, annual_rate: Floats, months: Column, after: Column) -> tuple[Floats, Floats, Floats]:
    """RF-3 and RF-4 alone: payment, balance after `after` payments, and the interest in payment number `after`.

    That is interest on the balance before the payment; 0 where there is no such payment (number 0, or beyond the last).
    """
    payment, left, interest = (np.empty(len(balance)) for _ in range(3))
    for start in range(0, len(balance), 8192):
        part = slice(start, start + 8192)
        term, paid, rate = months[part], after[part], np.maximum(annual_rate[part] / 12, NO_RATE)
        decay = -np.log1p(rate)
        perpetuity = balance[part] / np.expm1(decay * term)  # negative, as is each expm1 here
        np.multiply(perpetuity, -rate, out=payment[part])
        np.multiply(perpetuity, np.expm1(decay * np.maximum(term - paid, 0)), out=left[part])
        # The balance before the payment is (left + payment) / (1 + i): no cancellation, and no third power.
        due = (left[part] + payment[part]) * (rate / (1 + rate))
        np.multiply(due, (paid > 0) & (paid <= term), out=interest[part])
    return payment, left, interest


def _discount(growth: Floats, months: Column) -> Floats:
    """1 - (1 + i)^-k = i A(i, k), from growth = log(1 + i)."""
    discount: Floats = -np.expm1(-growth * months)
    return discount


def compute(inputs: Mapping[str, Column]) -> Outputs:
    """All outputs of the contract, a column each, for inputs that were already validated."""
    return in_slices(_compute, inputs, 512)


def _compute(inputs: Mapping[str, Column]) -> Outputs:
    cases = _Cases.of(inputs)
    estimate = _Estimate.of(cases)
    answers = _decisions(estimate)
    savings, savings_bound = estimate.savings()
    interest, interest_bound = estimate.interest()

    counts = np.ceil(cases.horizon / 12).astype(np.int64) + 1
    case, year = ragged(counts)
    month = np.minimum(12.0 * year, cases.horizon[case])
    # Positions of the table, whose last is the one at the horizon, and then position(T) of every case.
    at, when = np.concatenate([case, np.arange(counts.size)]), np.concatenate([month, cases.last])
    position, wide, balances = _standing(estimate, at, when)

    vague = too_wide(savings, savings_bound) | too_wide(interest, interest_bound).any(axis=0)
    rows = np.union1d(at[wide], np.flatnonzero(estimate.doubt | vague))
    if rows.size:
        settlement = _Settlement.of(cases.take(rows))
        entries = np.flatnonzero(wide)
        for block in _blocks(entries.size):
            some = entries[block]
            position[some] = settlement.position(when[some], at=np.searchsorted(rows, at[some]))[0]
        savings[rows], interest[:, rows] = settlement.savings()[0], settlement.interest()[0]
        doubtful = np.flatnonzero(estimate.doubt[rows])
        if doubtful.size:
            for name, settled in _decisions(settlement.take(doubtful)).items():
                answers[name][rows[doubtful]] = settled

    position += 0.0  # no -0.0
    table = slice(case.size)
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
        "lifetimeSavings": position[case.size :],  # RF-12
        "savingsAtHorizon": position[np.cumsum(counts) - 1],
        "recommendation": answers["recommendation"],
        "yearlyData": (  # RF-14
            counts,
            {
                "year": year,
                "month": month.astype(np.int64),
                "currentBalance": balances[0, table],
                "newBalance": balances[1, table],
                "position": position[table],
            },
        ),
    }


def near_decisions(inputs: Mapping[str, Column], outputs: Mapping[str, Column]) -> dict[str, Mask]:
    """C-22: of which cases the exact outputs, given with the others, hang on the last digits of the inputs."""
    estimate = _Estimate.of(_Cases.of(inputs))
    cases, (current, new) = estimate.cases, estimate.payment
    term, upfront = cases.months[0], np.where(cases.financed, 0.0, cases.costs)

    def repaid(month: Floats) -> Mask:
        """RF-8: what m months save, against the costs."""
        amounts = np.maximum(np.maximum(current, new) * month, cases.costs)
        return _near(month * (current - new) - cases.costs, amounts) & (month >= 0)

    def level(month: Floats, over: float = 0.0) -> Mask:
        """RF-7: the two brackets of the position, the second with `over`. At month 0 they are the balance and the same
        balance, and the position hangs on the costs alone."""
        month, later = np.clip(month, 0, cases.last), month > 0
        paid = estimate.payment * np.minimum(cases.months, month) + estimate.balances(month, EVERY)
        return later & _near(paid[0] - (upfront + paid[1]) - over, np.maximum(paid[0], upfront + paid[1]))

    top = term.copy()
    longer = np.flatnonzero((cases.months[1] > term) & (cases.rate[0] > cases.rate[1]))
    top[longer] = _end_of_rise(estimate.take(longer))
    pays, first, net = (outputs[name] for name in ("breakEvenMonths", "firstAheadMonth", "netBreakEvenMonths"))
    saves = _near(current - new, np.maximum(current, new))
    months = repaid(np.minimum(pays, term)) | repaid(np.minimum(pays, term + 1) - 1)
    horizon = np.minimum(cases.horizon, cases.last)
    return {
        "breakEvenMonths": saves | (months & (current > new) & (cases.costs > 0)),
        "firstAheadMonth": level(np.where(np.isinf(first), top, first)) | level(first - 1),
        "netBreakEvenMonths": level(cases.last) | level(net) | level(net - 1) | level(first - 1),
        "recommendation": level(horizon, 1.0) | level(horizon, -1.0),  # RF-13
    }


def _near(difference: Floats, scale: Floats) -> Mask:
    near: Mask = np.abs(difference) <= 1e-12 * scale
    return near


def _standing(estimate: _Estimate, at: Column, when: Floats) -> tuple[Floats, Mask, Floats]:
    """Positions of the cases `at` at the months `when`, whether their bounds are too wide, and the balances."""
    position, wide, balances = np.empty(at.size), np.empty(at.size, bool), np.empty((2, at.size))
    for block in _blocks(at.size):
        position[block], bound = estimate.position(when[block], at=at[block])
        wide[block] = too_wide(position[block], bound)
        balances[:, block] = estimate.balances(when[block], at[block])
    balances[:, when == 0] = estimate.amount[:, at[when == 0]]  # RF-4, to the last digit
    return position, wide, balances


def _blocks(size: int) -> Iterator[slice]:
    """Of a length whose temporaries stay in the caches."""
    return (slice(start, start + 2048) for start in range(0, size, 2048))


@dataclass(frozen=True)
class _Cases:
    """RF-1 in columns. Where a column has two rows, the first is the current loan's and the second the new one's."""

    balance: Floats
    costs: Floats
    financed: Mask
    rate: Floats
    months: Floats
    horizon: Floats
    last: Floats
    identical: Mask  # the two loans are the same: no savings, and every position is -c
    still: Floats  # the month through which the position is exactly -c

    @classmethod
    def of(cls, inputs: Mapping[str, Column]) -> Self:
        column = {name: values + 0.0 for name, values in inputs.items()}  # -0.0 is 0 (C-2)
        balance, costs, financed = column["currentBalance"], column["closingCosts"], inputs["financeClosingCosts"]
        rate = np.stack([column["currentAnnualRate"], column["newAnnualRate"]])
        months = np.stack([column["currentRemainingMonths"], column["newTermMonths"]])
        # Equal amounts at equal rates bear equal interest in the first month; loans without interest never differ.
        twins = (rate[0] == rate[1]) & (~financed | (costs == 0))
        identical = twins & (months[0] == months[1])
        still = np.where(identical | (rate == 0).all(axis=0), FOREVER, np.where(twins, 1.0, 0.0))
        last = months.max(axis=0)
        return cls(balance, costs, financed, rate, months, column["horizonMonths"], last, identical, still)

    def take(self, index: Column) -> Self:
        return type(self)(*(getattr(self, field.name)[..., index] for field in fields(self)))


class _Pair(ABC):
    """The two loans of each case, and the quantities whose signs decide, each with a bound of its error.

    Payments and the like are float64 or double-double; ERROR is their error relative to what was added or subtracted.
    """

    ERROR: ClassVar[float]
    cases: _Cases
    costs: Any
    amount: Any
    payment: Any

    @abstractmethod
    def take(self, index: Column) -> Self:
        """The same for some of the cases."""

    def savings(self) -> Bounded:
        """RF-6: P - P'."""
        bound = self.ERROR * leading(self.payment).sum(axis=0)
        return _unless(self.cases.identical, 0.0, leading(self.payment[0] - self.payment[1]), bound)

    def repaid(self, month: Floats) -> Bounded:
        """RF-8: m (P - P') - c."""
        value = leading((self.payment[0] - self.payment[1]) * month - self.costs)
        return value, self.ERROR * (leading(self.payment).sum(axis=0) * month + self.cases.costs)

    def position(self, month: Floats, over: float = 0.0, at: Any = EVERY) -> Bounded:
        """RF-7: position(m), less `over`."""
        value, bound = self.advance(month, over, at)
        return _unless(month <= self.cases.still[at], -self.cases.costs[at] - over, value, bound)

    def interest(self) -> Bounded:
        """RF-11: n P - L, of both loans."""
        paid = self.payment * self.cases.months
        return _unless(self.cases.rate == 0, 0.0, leading(paid - self.amount), self.ERROR * leading(paid))

    @abstractmethod
    def advance(self, month: Floats, over: float, at: Any) -> Bounded:
        """The position less `over` by its formula, also where a rule gives it."""

    @abstractmethod
    def step(self, month: Floats) -> Bounded:
        """position(m + 1) - position(m)."""

    def sign(self, quantity: str, *arguments: Any) -> Floats:
        value, bound = getattr(self, quantity)(*arguments)
        sign: Floats = np.sign(value)
        unsure = np.flatnonzero((np.abs(value) <= bound) & (bound > 0))
        if unsure.size:
            sign[unsure] = self.settled(unsure, quantity, *arguments)
        return sign

    @abstractmethod
    def settled(self, unsure: Column, quantity: str, *arguments: Any) -> Any:
        """The signs that the bounds leave open."""


def _unless(known: Mask, answer: Floats | float, value: Floats, bound: Floats) -> Bounded:
    return np.where(known, answer, value), np.where(known, 0.0, bound)


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
    # Savings that are known to be positive may have a value of 0, and any costs then take longer than any term.
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
    top = pair.cases.months[0].copy()  # the end of the first rise
    longer = np.flatnonzero(pair.cases.months[1] > top)
    top[longer] = _end_of_rise(pair.take(longer))

    ahead = np.flatnonzero(pair.sign("position", top) > 0)
    pair = pair.take(ahead)
    month = _first(lambda m: pair.sign("position", m) > 0, np.zeros(ahead.size), top[ahead])
    first[hopeful[ahead]] = month
    # Before the first month ahead the position is below 0, or exactly 0 for a while.
    since = month.copy()
    level = np.flatnonzero(pair.sign("position", since - 1) == 0)
    while level.size:
        since[level] -= 1
        level = level[since[level] > 0]
        level = level[pair.take(level).sign("position", since[level] - 1) == 0]
    net[hopeful[ahead]] = np.where(pair.sign("position", pair.cases.last) > 0, since, np.inf)
    return first, net


def _end_of_rise(pair: _Pair) -> Floats:
    """With n' > n: the first month from which the position does not rise; any month, if it does not rise at once."""
    term = pair.cases.months[0]
    return _first(lambda m: pair.sign("step", m) <= 0, np.full(term.size, -1.0), term)


def _first(holds: Callable[[Floats], Mask], low: Floats, high: Floats) -> Floats:
    """The smallest month at which something holds that does not at `low`, and does from there on to `high`."""
    while (high - low > 1).any():
        middle = np.ceil((low + high) / 2)
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
    """In float64. A case of which a sign is not certain is marked in `doubt`.

    Errors in U: i has 2, log1p(i) 10 and k log1p(i) 11, a discount 19 (log1p, and expm1 of a negative number, pass on
    at most what they get and add 8), L' 2, a perpetuity L / discount 22, P 25, what was paid 26, a balance 42. With the
    roundings of sums and differences and 1 for c, no quantity has more than 48 of the sum of its terms.
    """

    ERROR: ClassVar[float] = 48 * U
    cases: _Cases
    rows: Column
    doubt: Mask
    growth: Floats
    amount: Floats
    perpetuity: Floats
    payment: Floats

    @classmethod
    def of(cls, cases: _Cases) -> Self:
        """RF-2 and RF-3."""
        rate = np.maximum(cases.rate / 12, NO_RATE)
        growth = np.log1p(rate)
        amount = np.stack([cases.balance, np.where(cases.financed, cases.balance + cases.costs, cases.balance)])
        perpetuity = amount / _discount(growth, cases.months)
        rows = np.arange(cases.costs.size)
        return cls(cases, rows, np.zeros(rows.size, bool), growth, amount, perpetuity, perpetuity * rate)

    @property
    def costs(self) -> Floats:
        return self.cases.costs

    def take(self, index: Column) -> Self:
        columns = (self.growth, self.amount, self.perpetuity, self.payment)
        taken = (column[:, index] for column in columns)
        return type(self)(self.cases.take(index), self.rows[index], self.doubt, *taken)

    def balances(self, month: Floats, at: Any) -> Floats:
        """RF-4: of both loans."""
        remaining = np.maximum(self.cases.months[:, at] - month, 0)
        return self.perpetuity[:, at] * _discount(self.growth[:, at], remaining)

    def advance(self, month: Floats, over: float, at: Any) -> Bounded:
        """RF-5 and RF-7, as written."""
        total = self.payment[:, at] * np.minimum(self.cases.months[:, at], month) + self.balances(month, at)
        costs, upfront = self.costs[at], np.where(self.cases.financed[at], 0.0, self.costs[at])
        value = total[0] - (upfront + total[1]) - over
        return value, self.ERROR * (total[0] + total[1] + costs + abs(over))

    def step(self, month: Floats) -> Bounded:
        due = self.payment * _discount(self.growth, np.maximum(self.cases.months - month, 0))
        return due[0] - due[1], self.ERROR * (due[0] + due[1])

    def settled(self, unsure: Column, quantity: str, *arguments: Any) -> float:
        self.doubt[self.rows[unsure]] = True
        return -1.0


@dataclass(frozen=True)
class _Settlement(_Pair):
    """In double-double, through s(m) = ((1+i)^m - 1) / i, which is m at a rate of 0. With p = L / s(n), the principal
    in the first payment, P = p + i L, balance(m) = L - p s(m), and the interest paid by month m is P m - p s(m).

    Errors in DD: 1 + i has 2, a power at most 3 a month, and s(m), in which nothing is subtracted, below 1600; p and P
    below 1610. The interest has at most 5000 of P m, which is no less than p s(m).
    """

    ERROR: ClassVar[float] = 5000 * DD
    cases: _Cases
    at: Column  # the places of the cases in the sums and among the ties
    sums: _Sums
    ties: _Ties
    rate: DoubleDouble
    costs: DoubleDouble
    amount: DoubleDouble
    principal: DoubleDouble
    payment: DoubleDouble

    @classmethod
    def of(cls, cases: _Cases) -> Self:
        costs, balance, rate = meaning(cases.costs), meaning(cases.balance), meaning(cases.rate) / 12.0
        amount = stacked([balance, balance + costs * cases.financed.astype(np.float64)])
        at, sums = np.arange(cases.costs.size), _Sums(rate)
        principal = amount / sums.through(cases.months, at)
        return cls(cases, at, sums, _Ties(cases), rate, costs, amount, principal, principal + amount * rate)

    def take(self, index: Column) -> Self:
        columns = (self.rate, self.costs, self.amount, self.principal, self.payment)
        taken = (column[..., index] for column in columns)
        return type(self)(self.cases.take(index), self.at[index], self.sums, self.ties, *taken)

    def advance(self, month: Floats, over: float, at: Any) -> Bounded:
        """RF-7 as -c and the interest paid on either loan."""
        months = np.minimum(month, self.cases.months[:, at])
        paid = self.payment[:, at] * months
        interest = paid - self.principal[:, at] * self.sums.through(months, self.at[at])
        value = interest[0] - interest[1] - (self.costs[at] + over)
        return value.hi, self.ERROR * (paid.hi[0] + paid.hi[1] + self.costs.hi[at] + abs(over))

    def step(self, month: Floats) -> Bounded:
        running = (month < self.cases.months).astype(np.float64)
        left = self.amount - self.principal * self.sums.through(month * running, self.at)
        due = self.rate * left * running
        return (due[0] - due[1]).hi, self.ERROR * (self.rate.hi * self.amount.hi * running).sum(axis=0)

    def settled(self, unsure: Column, quantity: str, *arguments: Any) -> list[int]:
        columns = (np.broadcast_to(argument, self.at.shape)[unsure].tolist() for argument in arguments)
        return [self.ties.sign(quantity, *tie) for tie in zip(self.at[unsure].tolist(), *columns, strict=True)]


class _Sums:
    """s(m) of any month m = 16 a + b <= 511, from u^b and s(b), b < 16, and s(16 a), a < 32."""

    def __init__(self, rate: DoubleDouble) -> None:
        self.loans = rate.hi.size
        none = DoubleDouble(np.zeros((1, *rate.hi.shape)))
        powers, sums, strides = none + 1.0, none, none
        growth, total = rate + 1.0, none[0] + 1.0  # u^k and s(k), k doubling
        for doubling in range(9):
            if doubling < 4:
                powers, sums = joined(powers, powers * growth), joined(sums, sums * growth + total)
            else:
                strides = joined(strides, strides * growth + total)
            growth, total = growth * growth, total * growth + total
        self.powers, self.sums, self.strides = powers.ravel(), sums.ravel(), strides.ravel()

    def through(self, month: Floats, at: Column) -> DoubleDouble:
        """s(m) of both loans of the cases `at`."""
        whole: NDArray[np.int64] = month.astype(np.int64)
        loan = np.array([[0], [self.loans // 2]]) + at
        single, strided = (whole & 15) * self.loans + loan, (whole >> 4) * self.loans + loan
        return self.strides[strided] * self.powers[single] + self.sums[single]


class _Ties:
    """Signs case by case: with 80 digits, and in rationals where even these do not decide.

    The formulas below lose less than 30 of these (i >= 8e-11, n <= 480, L <= 1e7): a value of at least 1e-50 has the
    right sign, and so has any value if nothing was rounded. Rationals see true ties only, of loans of few months: the
    denominator (1+i)^n - 1 of a longer loan has primes that no input cancels.
    """

    def __init__(self, cases: _Cases) -> None:
        self.cases = cases
        self.known: dict[tuple[Any, ...], int] = {}

    def sign(self, quantity: str, case: int, *arguments: float) -> int:
        key = (quantity, case, *arguments)
        if key not in self.known:
            with localcontext(Context(prec=80)) as context:
                value = getattr(_Twelvefold(self.cases, case, Decimal), quantity)(*arguments)
                if abs(value) < Decimal("1e-50") and context.flags[Inexact]:
                    value = getattr(_Twelvefold(self.cases, case, Fraction), quantity)(*arguments)
            self.known[key] = int(value > 0) - int(value < 0)
        return self.known[key]


class _Twelvefold:
    """Twelve times the quantities of one case, in Decimal or Fraction. By annual rates, so that months 0 and 1, where
    there are ties in loans of any length, take neither powers nor divisions."""

    def __init__(self, cases: _Cases, k: int, number: Callable[[Decimal], Any]) -> None:
        def read(value: Any) -> Any:
            return number(Decimal(repr(float(value))))

        balance, self.costs = read(cases.balance[k]), read(cases.costs[k])
        amounts = (balance, balance + self.costs if cases.financed[k] else balance)
        self.loans = [(amounts[a], read(cases.rate[a, k]), int(cases.months[a, k])) for a in (0, 1)]

    def savings(self) -> Any:
        current, new = (_payment(*loan) for loan in self.loans)
        return current - new

    def repaid(self, month: float) -> Any:
        return int(month) * self.savings() - 12 * self.costs

    def position(self, month: float, over: float = 0.0) -> Any:
        current, new = (_interest(*loan, min(int(month), loan[2])) for loan in self.loans)
        return current - new - 12 * (self.costs + int(over))

    def step(self, month: float) -> Any:
        current, new = (loan[1] * _balance(*loan, int(month)) for loan in self.loans)
        return current - new


def _payment(amount: Any, annual: Any, months: int) -> Any:
    if annual == 0:
        return 12 * amount / months
    growth = (1 + annual / 12) ** months
    return amount * annual * growth / (growth - 1)


def _balance(amount: Any, annual: Any, months: int, month: int) -> Any:
    if month == 0:
        return amount
    if annual == 0 or month >= months:
        return amount * max(months - month, 0) / months
    growth = 1 + annual / 12
    return amount * (1 - (growth**month - 1) / (growth**months - 1))


def _interest(amount: Any, annual: Any, months: int, month: int) -> Any:
    if annual == 0 or month <= 1:
        return amount * annual * month
    growth = 1 + annual / 12
    whole = growth**months
    return amount * (annual * month * whole - 12 * (growth**month - 1)) / (whole - 1)
