"""Inputs that sit on an edge on purpose, for tests and benchmarks of the financial models.

A family builds one complete input, in domain, whose decision lies exactly on a threshold of its model or as near to it
as doubles allow: costs that are a whole multiple of a saving, savings that last exactly n months, a position of exactly
a dollar. `built` draws from all families of a model and `neighbours` takes one unit and one ulp either side. `anywhere`
draws over a model's whole domain instead, `hostile` makes batches of the dearest cases, and `ordinary` plausible ones.

Nothing here says what the right answer is: the inputs are for comparing independent implementations, not for stating
expectations. Domains come from the contracts in the specs. Everything follows from the random generator passed in.
"""

from __future__ import annotations

import decimal
import math
import random
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any, Literal

from hypothesis import strategies as st

Inputs = dict[str, float | int | bool]
Draft = dict[str, Fraction]  # values before they become doubles; a boolean is 0 or 1
Sits = Literal["exactly", "within an ulp", "within a unit"]

SPECS = Path(__file__).resolve().parents[1] / "specs"
MODELS = ("refinance", "relocation", "emergency-fund")
LEAST = Fraction(1, 10**9)  # a nonzero number below this is out of every domain
CENT = Fraction(1, 100)
MONTHS = 12
HOSTILE_CASES = 500
TRIES = 2_000
# Far more digits than a double has, so that a rounded threshold is the double nearest to the true one.
PRECISE = decimal.Context(prec=90)
EXACT_BITS = 1_200  # powers up to this size stay exact fractions


# Contracts


@dataclass(frozen=True)
class Field:
    """An input of a contract."""

    name: str
    type: str
    unit: str
    low: Fraction
    high: Fraction
    grid: Fraction
    draw: Mapping[str, Any]

    @property
    def is_rate(self) -> bool:
        return self.unit.startswith("fraction")

    def holds(self, value: Fraction) -> bool:
        if self.type != "number" and value.denominator != 1:
            return False
        return self.low <= value <= self.high and (value == 0 or abs(value) >= LEAST)

    def bring(self, value: Fraction) -> Fraction:
        """The nearest value that the domain holds, or 0 for one too small for any domain."""
        value = min(max(value, self.low), self.high)
        return value if abs(value) >= LEAST else Fraction(0)


@cache
def contract(model: str) -> dict[str, Field]:
    """The inputs of a model, in the order of its contract."""
    newest = max((SPECS / model).glob("*.md"), key=lambda path: [int(part) for part in path.stem.split(".")])
    spec = newest.read_text(encoding="utf-8")
    block = spec.split("```toml contract\n", 1)[1].split("\n```", 1)[0]
    entries = tomllib.loads(block, parse_float=Fraction)["input"]
    return {entry["name"]: _field(entry) for entry in entries}


def _field(entry: dict[str, Any]) -> Field:
    low, high, grid = (Fraction(entry.get(key, default)) for key, default in (("min", 0), ("max", 1), ("grid", 1)))
    return Field(entry["name"], entry["type"], entry.get("unit", ""), low, high, grid, entry["draw"])


def in_domain(model: str, inputs: Mapping[str, float | int | bool]) -> bool:
    fields = contract(model)
    return inputs.keys() == fields.keys() and all(fields[name].holds(meaning(value)) for name, value in inputs.items())


# Numbers


def meaning(value: float | int | bool) -> Fraction:
    """What an input means: the shortest decimal that reads back as the same double."""
    return Fraction(repr(value)) if isinstance(value, float) else Fraction(value)


def nearest(value: Fraction) -> float:
    """The double nearest to a value; the division of whole numbers rounds once."""
    return value.numerator / value.denominator


def growth(rate: Fraction, periods: int) -> Fraction:
    """(1 + rate) ** periods, exact while that is short and to 90 digits otherwise."""
    base = 1 + rate
    if periods * base.denominator.bit_length() <= EXACT_BITS:
        return base**periods
    quotient = PRECISE.divide(decimal.Decimal(base.numerator), decimal.Decimal(base.denominator))
    return Fraction(PRECISE.power(quotient, periods))


def annuity(rate: Fraction, periods: int) -> Fraction:
    """What payments of 1 at the end of each period are worth today."""
    return (1 - 1 / growth(rate, periods)) / rate if rate else Fraction(periods)


def annuity_due(rate: Fraction, periods: int) -> Fraction:
    """What payments of 1 at the start of each period are worth today."""
    return annuity(rate, periods) * (1 + rate)


def accumulated(rate: Fraction, periods: int) -> Fraction:
    """What payments of 1 at the end of each period have grown to."""
    return annuity(rate, periods) * growth(rate, periods)


def _spoken(value: Fraction) -> Fraction:
    """What the double nearest to a value means."""
    return meaning(nearest(value))


# Draws


def _octave(rng: random.Random, low: int, high: int) -> int:
    """A whole number, each doubling from low >= 1 to high as likely as the next."""
    start = low << rng.randrange(max((high // low).bit_length(), 1))
    return rng.randint(start, min(2 * start - 1, high))


def _cents(rng: random.Random, low: int, high: int) -> Fraction:
    return Fraction(_octave(rng, low * 100, high * 100), 100)


def _digits(rng: random.Random, value: Fraction) -> Fraction:
    """A value up to a sixteenth smaller, with as many digits as a double has."""
    return _spoken(value * meaning(1 - rng.random() / 16))


def _money(rng: random.Random, low: int, high: int) -> Fraction:
    value = _cents(rng, low, high)
    kind = rng.randrange(4)
    if kind == 0:
        return Fraction(math.ceil(value))
    return _digits(rng, value) if kind == 1 else value


def _rate(rng: random.Random, high: Fraction) -> Fraction:
    """A positive rate: basis points, many digits, tiny, or the highest there is."""
    points = Fraction(rng.randint(1, int(high * 10_000)), 10_000)
    kind = rng.randrange(10)
    if kind < 4:
        return points
    if kind < 7:
        return _digits(rng, points)
    return (high, Fraction(_octave(rng, 1, 10**6), 10**9), rng.choice((LEAST, Fraction(1, 10**6))))[kind - 7]


def _short_rate(rng: random.Random, high: Fraction) -> Fraction:
    """A positive rate of few digits, whose powers are short decimals too; a twelfth of it may repeat."""
    step = rng.choice((Fraction(12, 1000), Fraction(6, 100), Fraction(3, 100), Fraction(1, 100), Fraction(5, 1000)))
    return step * rng.randint(1, int(high / step))


def _count(rng: random.Random, low: int, high: int) -> int:
    """A whole number: either limit, each doubling alike, or all alike."""
    kind = rng.randrange(8)
    if kind < 2:
        return (low, high)[kind]
    return _octave(rng, max(low, 1), high) if kind < 5 else rng.randint(low, high)


def _any(rng: random.Random, field: Field) -> Fraction:
    if field.type != "number":
        return Fraction(_count(rng, int(field.low), int(field.high)))
    if field.is_rate:
        rate = _rate(rng, field.high)
        return -rate if field.low < 0 and rng.randrange(3) == 0 else rate
    return _money(rng, max(int(field.low), 1), int(field.high))


def _anything(rng: random.Random, model: str) -> Draft:
    """A draft over the whole domain, which a family then bends to its edge."""
    return {name: _any(rng, field) for name, field in contract(model).items()}


def _core(denominator: int) -> int:
    """A denominator without its twos and fives: a multiple of it makes a finite decimal."""
    for prime in (2, 5):
        while denominator % prime == 0:
            denominator //= prime
    return denominator


def _multiple(rng: random.Random, factor: Fraction, low: Fraction, high: Fraction) -> Fraction | None:
    """A value in low..high, of few digits, whose product with the factor is a finite decimal."""
    step = Fraction(_core(factor.denominator))
    while step > low / 100 or step > 100:
        step /= 10
    first, last = math.ceil(low / step), math.floor(high / step)
    return step * _octave(rng, first, last) if 1 <= first <= last else None


# Families


@dataclass(frozen=True)
class Family:
    """A way to build inputs on one edge: `field` is the input that moves them across it, `unit` its ordinary step.

    "Exactly": every double means what the edge needs. "Within an ulp": so do all but `field`, which is the double
    nearest to the edge. "Within a unit": the edge is no further than a unit of `field`.
    """

    model: str
    name: str
    says: str
    field: str
    unit: Fraction
    decides: str
    sits: Sits
    draft: Callable[[random.Random], Draft | None]

    def __call__(self, rng: random.Random) -> Inputs:
        for _ in range(TRIES):
            draft = self.draft(rng)
            inputs = self._settled(draft) if draft else None
            if inputs is not None:
                return inputs
        raise RuntimeError(f"{self.model}: {self.name}: no draw fitted its domain")

    def _settled(self, draft: Draft) -> Inputs | None:
        """The draft in doubles, or None where it leaves the domain or a double does not mean what the edge needs."""
        fields = contract(self.model).values()
        if not all(field.holds(draft[field.name]) for field in fields):
            return None
        inputs = {field.name: _typed(field, draft[field.name]) for field in fields}
        rounded = {name for name, value in inputs.items() if meaning(value) != draft[name]}
        return inputs if rounded <= ({self.field} if self.sits != "exactly" else set()) else None


BUILT: dict[str, dict[str, Family]] = {model: {} for model in MODELS}

DraftMaker = Callable[[random.Random], Draft | None]


def _family(model: str, field: str, decides: str, sits: Sits = "exactly") -> Callable[[DraftMaker], DraftMaker]:
    def register(draft: DraftMaker) -> DraftMaker:
        name, says = draft.__name__.replace("_", " "), (draft.__doc__ or "").strip()
        BUILT[model][name] = Family(model, name, says, field, contract(model)[field].grid, decides, sits, draft)
        return draft

    return register


def _typed(field: Field, value: Fraction) -> float | int | bool:
    if field.type == "number":
        return nearest(value)
    return bool(value) if field.type == "boolean" else int(value)


def built(model: str, rng: random.Random) -> tuple[str, Inputs]:
    """A case on an edge: the name of its family, and its inputs."""
    name = rng.choice(list(BUILT[model]))
    return name, BUILT[model][name](rng)


def neighbours(model: str, inputs: Inputs, field: str, unit: Fraction) -> dict[str, Inputs]:
    """The inputs with a field one unit and one ulp either side, as far as the domain reaches."""
    entry, value = contract(model)[field], inputs[field]
    moved: dict[str, float | int] = {
        f"a unit {side}": _typed(entry, meaning(value) + sign * unit) for side, sign in (("below", -1), ("above", 1))
    }
    if isinstance(value, float):
        moved |= {"an ulp below": _next(value, -math.inf), "an ulp above": _next(value, math.inf)}
    return {side: {**inputs, field: new} for side, new in moved.items() if entry.holds(meaning(new))}


def around(model: str, name: str, inputs: Inputs) -> dict[str, Inputs]:
    """A built case and its neighbours, by the field and unit of its family."""
    family = BUILT[model][name]
    return {"on it": inputs, **neighbours(model, inputs, family.field, family.unit)}


def _next(value: float, towards: float) -> float:
    """The next double, stepping over the gap that every domain has between 0 and the least magnitude."""
    following = math.nextafter(value, towards)
    if following == 0 or abs(meaning(following)) >= LEAST:
        return following
    return 0.0 if value else math.copysign(nearest(LEAST), towards)


# Refinance


def _pays(rate: Fraction, months: int) -> Fraction:
    """The monthly payment for each dollar borrowed."""
    return 1 / annuity(rate / MONTHS, months)


def _settles(rate: Fraction, months: int, month: int) -> Fraction:
    """Paid and still owed after a month, for each dollar borrowed."""
    if month == 1 or rate == 0:
        return 1 + rate / MONTHS * month  # the payment cancels: exact for any term
    return _pays(rate, months) * (min(month, months) + annuity(rate / MONTHS, max(months - month, 0)))


def _months_of(draft: Draft) -> tuple[int, int]:
    return int(draft["currentRemainingMonths"]), int(draft["newTermMonths"])


def _last(draft: Draft) -> int:
    return max(_months_of(draft))


def _multiple_costs(draft: Draft, months: int) -> Fraction:
    """The closing costs that are exactly so many monthly savings; financed costs lower the savings themselves."""
    remaining, term = _months_of(draft)
    pays = _pays(draft["newAnnualRate"], term)
    costs = months * draft["currentBalance"] * (_pays(draft["currentAnnualRate"], remaining) - pays)
    return costs / (1 + months * pays) if draft["financeClosingCosts"] else costs


def _position_costs(draft: Draft, month: int, position: int = 0) -> Fraction:
    """The closing costs that leave the borrower exactly so far ahead at a month."""
    remaining, term = _months_of(draft)
    kept = draft["currentBalance"] * _settles(draft["currentAnnualRate"], remaining, month)
    swapped = _settles(draft["newAnnualRate"], term, month)
    if draft["financeClosingCosts"]:
        return (kept - position) / swapped - draft["currentBalance"]
    return kept - position - draft["currentBalance"] * swapped


def _balanced(rng: random.Random, draft: Draft, costs: Callable[[Draft], Fraction]) -> Draft | None:
    """The draft with a balance for which the wanted costs are a finite decimal, and with those costs."""
    balance, limit = contract("refinance")["currentBalance"], contract("refinance")["closingCosts"].high
    factor = costs({**draft, "currentBalance": Fraction(10**9)}) / 10**9
    if factor <= 0:
        return None
    amount = _multiple(rng, factor, balance.low, min(balance.high, limit / factor))
    draft = {**draft, "currentBalance": amount or Fraction(0)}
    return {**draft, "closingCosts": costs(draft)} if amount else None


def _afforded(draft: Draft, costs: Callable[[Draft], Fraction]) -> Draft | None:
    """The draft with the wanted costs, and a balance small enough for them."""
    wanted, limit = costs(draft), contract("refinance")["closingCosts"].high
    if wanted > limit:
        draft = {**draft, "currentBalance": _spoken(draft["currentBalance"] * limit / wanted * Fraction(7, 8))}
        wanted = costs(draft)
    return {**draft, "closingCosts": wanted} if wanted > 0 else None


def _cheaper(rng: random.Random) -> Draft:
    """Two loans of which the new one has the lower rate."""
    draft = _anything(rng, "refinance")
    low, high = sorted((draft["currentAnnualRate"], draft["newAnnualRate"]))
    return {**draft, "currentAnnualRate": high, "newAnnualRate": low * rng.choice((1, 1, 1, 0))}


def _same_loan(rng: random.Random) -> Draft:
    draft = _anything(rng, "refinance")
    return draft | {"newAnnualRate": draft["currentAnnualRate"], "newTermMonths": draft["currentRemainingMonths"]}


def _interest_free(rng: random.Random) -> Draft:
    """Two loans without interest, of which the new one runs longer."""
    draft = _anything(rng, "refinance") | {"currentAnnualRate": Fraction(0), "newAnnualRate": Fraction(0)}
    longest = int(contract("refinance")["newTermMonths"].high)
    remaining = _count(rng, 1, longest - 1)
    term = rng.randint(remaining + 1, longest)
    return draft | {"currentRemainingMonths": Fraction(remaining), "newTermMonths": Fraction(term)}


def _brief(rng: random.Random) -> Draft:
    """Two loans of so few payments, at rates so short, that every amount can be a finite decimal."""
    highest = contract("refinance")["currentAnnualRate"].high
    low, high = sorted((_short_rate(rng, highest), _short_rate(rng, highest)))
    return _anything(rng, "refinance") | {
        "currentAnnualRate": high,
        "newAnnualRate": low * rng.choice((1, 0)),
        "currentRemainingMonths": Fraction(rng.choice((1, 2, 2, 3, 4))),
        "newTermMonths": Fraction(rng.choice((1, 2, 2, 3, 4))),
    }


def _paid_up_front(draft: Draft) -> Draft:
    return draft | {"financeClosingCosts": Fraction(0)}


def _rate_below(draft: Draft, ulps: int) -> Draft:
    """The draft with a new rate so many doubles below the current one."""
    rate = nearest(draft["currentAnnualRate"])
    for _ in range(ulps):
        rate = _next(rate, -math.inf)
    return draft | {"newAnnualRate": meaning(rate)}


@_family("refinance", "closingCosts", "breakEvenMonths")
def interest_free_costs_a_multiple(rng: random.Random) -> Draft | None:
    """No interest; the costs, perhaps financed, are a whole number of monthly savings."""
    draft = _interest_free(rng)
    months = _count(rng, 1, int(draft["currentRemainingMonths"]))
    return _balanced(rng, draft, lambda loans: _multiple_costs(loans, months))


@_family("refinance", "closingCosts", "breakEvenMonths")
def interest_free_costs_at_the_last_month(rng: random.Random) -> Draft | None:
    """No interest; the savings add up to the costs with the last payment of the current loan, or a month too late."""
    draft = _interest_free(rng)
    months = int(draft["currentRemainingMonths"]) + rng.randrange(2)
    return _balanced(rng, draft, lambda loans: _multiple_costs(loans, months))


@_family("refinance", "closingCosts", "breakEvenMonths")
def interest_free_repeating_payments(rng: random.Random) -> Draft | None:
    """No interest; the saving of a month is a repeating decimal, and a multiple of it is the costs."""
    draft = _paid_up_front(_interest_free(rng))
    draft["newTermMonths"] = Fraction(rng.choice((8, 10, 16, 20, 25, 32, 40, 50, 64, 80, 100, 125, 160, 200, 250, 320)))
    remaining = rng.randint(3, int(draft["newTermMonths"]) - 1)
    draft["currentRemainingMonths"] = Fraction(remaining)
    draft["currentBalance"] = Fraction(_octave(rng, 1_000, 10**6))
    repeats = draft["currentBalance"] % _core(remaining)
    return draft | {"closingCosts": _multiple_costs(draft, remaining)} if repeats else None


@_family("refinance", "closingCosts", "recommendation")
def interest_free_a_dollar(rng: random.Random) -> Draft:
    """No interest; costs of a dollar, financed or not, so that every position is exactly -1."""
    return _interest_free(rng) | {"closingCosts": Fraction(1)}


@_family("refinance", "closingCosts", "breakEvenMonths")
def one_payment_costs_a_multiple(rng: random.Random) -> Draft | None:
    """One payment left on both loans; the costs are exactly one or two savings."""
    draft = _paid_up_front(_cheaper(rng)) | {"currentRemainingMonths": Fraction(1), "newTermMonths": Fraction(1)}
    months = rng.randint(1, 2)
    return _balanced(rng, draft, lambda loans: _multiple_costs(loans, months))


@_family("refinance", "closingCosts", "recommendation")
def one_payment_a_dollar(rng: random.Random) -> Draft | None:
    """One payment left on both loans; the position is exactly 1 or -1 at every horizon."""
    draft = _paid_up_front(_cheaper(rng)) | {"currentRemainingMonths": Fraction(1), "newTermMonths": Fraction(1)}
    position = rng.choice((-1, 1))
    return _balanced(rng, draft, lambda loans: _position_costs(loans, 1, position))


@_family("refinance", "closingCosts", "netBreakEvenMonths")
def same_loan(rng: random.Random) -> Draft:
    """The same loan again, at no cost: every position is exactly 0."""
    return _same_loan(rng) | {"closingCosts": Fraction(0)}


@_family("refinance", "closingCosts", "netBreakEvenMonths", "within a unit")
def same_loan_but_a_cent(rng: random.Random) -> Draft:
    """The same loan again, but for a cent of costs, paid or financed."""
    return _same_loan(rng) | {"closingCosts": CENT}


@_family("refinance", "closingCosts", "recommendation")
def same_loan_a_dollar(rng: random.Random) -> Draft:
    """The same loan again, for a dollar paid up front: every position is exactly -1."""
    return _paid_up_front(_same_loan(rng)) | {"closingCosts": Fraction(1)}


@_family("refinance", "closingCosts", "recommendation", "within an ulp")
def same_loan_financed_dollar(rng: random.Random) -> Draft:
    """The same loan again, with financed costs that have grown to a dollar at the horizon."""
    draft = _same_loan(rng) | {"financeClosingCosts": Fraction(1)}
    return draft | {"closingCosts": _position_costs(draft, min(int(draft["horizonMonths"]), _last(draft)), -1)}


@_family("refinance", "newAnnualRate", "netBreakEvenMonths")
def same_rate_other_term(rng: random.Random) -> Draft | None:
    """The same rate at no cost over fewer months: positions 0 and 1 are exactly 0, and the later ones above."""
    draft = _same_loan(rng) | {"closingCosts": Fraction(0)}
    remaining = _last(draft)
    return draft | {"newTermMonths": Fraction(rng.randint(1, remaining - 1))} if remaining > 2 else None


@_family("refinance", "closingCosts", "recommendation")
def same_rate_a_dollar_in_the_first_month(rng: random.Random) -> Draft:
    """The same rate over other months, for a dollar: the position after the first month is exactly -1."""
    draft = _paid_up_front(_same_loan(rng)) | {"closingCosts": Fraction(1), "horizonMonths": Fraction(1)}
    return draft | {"newTermMonths": Fraction(_count(rng, 1, int(contract("refinance")["newTermMonths"].high)))}


@_family("refinance", "closingCosts", "firstAheadMonth")
def even_in_the_first_month(rng: random.Random) -> Draft | None:
    """Loans of any term; the position after the first month is exactly 0."""
    draft = _paid_up_front(_cheaper(rng))
    return _balanced(rng, draft, lambda loans: _position_costs(loans, 1))


@_family("refinance", "closingCosts", "recommendation")
def a_dollar_in_the_first_month(rng: random.Random) -> Draft | None:
    """Loans of any term; the position after the first month, the horizon, is exactly 1 or -1."""
    draft = _paid_up_front(_cheaper(rng)) | {"horizonMonths": Fraction(1)}
    position = rng.choice((-1, 1))
    return _balanced(rng, draft, lambda loans: _position_costs(loans, 1, position))


@_family("refinance", "closingCosts", "recommendation")
def financed_in_the_first_month(rng: random.Random) -> Draft:
    """Financed costs; the current rate makes the position after the first month exactly 0, 1 or -1."""
    draft = _anything(rng, "refinance") | {"horizonMonths": Fraction(1), "financeClosingCosts": Fraction(1)}
    balance = Fraction(rng.choice((1, 2, 4, 5, 8, 16, 25)) * 10 ** rng.randint(3, 6))
    costs, rate = _cents(rng, 1, max(int(balance / 100), 2)), Fraction(rng.randint(0, 1_500), 10_000)
    owed = costs * (MONTHS + rate) + MONTHS * rng.choice((-1, 0, 1))
    draft |= {"currentBalance": balance, "closingCosts": costs, "newAnnualRate": rate}
    return draft | {"currentAnnualRate": rate + owed / balance}


@_family("refinance", "newAnnualRate", "firstAheadMonth", "within an ulp")
def rates_an_ulp_apart(rng: random.Random) -> Draft:
    """The longest loan at no cost, its rate one double lower or higher."""
    longest = contract("refinance")["newTermMonths"].high
    draft = _anything(rng, "refinance") | {"closingCosts": Fraction(0)}
    draft |= {"currentRemainingMonths": longest, "newTermMonths": longest, "horizonMonths": longest}
    draft = _rate_below(draft, 1)
    rates = [draft["currentAnnualRate"], draft["newAnnualRate"]]
    rng.shuffle(rates)
    return draft | {"currentAnnualRate": rates[0], "newAnnualRate": rates[1]}


@_family("refinance", "closingCosts", "breakEvenMonths", "within an ulp")
def ulps_apart_costs_a_multiple(rng: random.Random) -> Draft:
    """The longest loan, its rate some doubles lower; the costs are a multiple of so small a saving."""
    longest = contract("refinance")["newTermMonths"].high
    draft = _anything(rng, "refinance") | {"currentRemainingMonths": longest, "newTermMonths": longest}
    draft |= {"currentBalance": _money(rng, 10**6, 10**7)}
    draft = _rate_below(draft, rng.choice((1, 1, 2, 10, 100)))
    return draft | {"closingCosts": _multiple_costs(draft, rng.randint(1, int(longest) + 1))}


@_family("refinance", "closingCosts", "recommendation", "within an ulp")
def a_basis_point_apart(rng: random.Random) -> Draft | None:
    """Rates a basis point apart; the costs leave the position at the horizon at 0, 1 or -1."""
    draft = _anything(rng, "refinance")
    draft |= {"newTermMonths": draft["currentRemainingMonths"], "currentBalance": _money(rng, 100_000, 10**7)}
    draft["currentAnnualRate"] = max(_spoken(draft["currentAnnualRate"]), Fraction(1, 10_000))
    draft["newAnnualRate"] = draft["currentAnnualRate"] - Fraction(1, 10_000)
    horizon, position = min(int(draft["horizonMonths"]), _last(draft)), rng.choice((-1, 0, 1))
    return _afforded(draft, lambda loans: _position_costs(loans, horizon, position))


@_family("refinance", "closingCosts", "breakEvenMonths", "within an ulp")
def costs_a_multiple(rng: random.Random) -> Draft | None:
    """The costs, paid up front, are a whole number of monthly savings."""
    draft = _paid_up_front(_cheaper(rng))
    months = _count(rng, 1, int(draft["currentRemainingMonths"]))
    return _afforded(draft, lambda loans: _multiple_costs(loans, months))


@_family("refinance", "closingCosts", "breakEvenMonths", "within an ulp")
def costs_at_the_last_month(rng: random.Random) -> Draft | None:
    """The savings add up to the costs with the last payment of the current loan, or a month too late."""
    draft = _cheaper(rng)
    months = int(draft["currentRemainingMonths"]) + rng.randrange(2)
    return _afforded(draft, lambda loans: _multiple_costs(loans, months))


@_family("refinance", "closingCosts", "breakEvenMonths", "within an ulp")
def financed_costs_a_multiple(rng: random.Random) -> Draft | None:
    """The costs, financed, are a whole number of the savings that they leave."""
    draft = _cheaper(rng) | {"financeClosingCosts": Fraction(1)}
    months = _count(rng, 1, int(draft["currentRemainingMonths"]))
    return _afforded(draft, lambda loans: _multiple_costs(loans, months))


@_family("refinance", "closingCosts", "monthlySavings", "within an ulp")
def financed_costs_eat_the_saving(rng: random.Random) -> Draft | None:
    """The costs, financed, raise the new payment to the current one."""
    draft = _cheaper(rng) | {"financeClosingCosts": Fraction(1)}
    remaining, term = _months_of(draft)
    ratio = _pays(draft["currentAnnualRate"], remaining) / _pays(draft["newAnnualRate"], term)
    return _afforded(draft, lambda loans: loans["currentBalance"] * (ratio - 1)) if ratio > 1 else None


@_family("refinance", "closingCosts", "firstAheadMonth", "within an ulp")
def ahead_at_a_month(rng: random.Random) -> Draft | None:
    """A cheaper loan of no longer term; the position rises and is 0 at a month."""
    draft = _cheaper(rng)
    draft["newTermMonths"] = min(draft["newTermMonths"], draft["currentRemainingMonths"])
    month = _count(rng, 1, _last(draft))
    return _afforded(draft, lambda loans: _position_costs(loans, month))


@_family("refinance", "closingCosts", "netBreakEvenMonths", "within an ulp")
def even_at_the_end(rng: random.Random) -> Draft | None:
    """The position when both loans are paid off is 0."""
    draft = _cheaper(rng)
    return _afforded(draft, lambda loans: _position_costs(loans, _last(draft)))


@_family("refinance", "closingCosts", "netBreakEvenMonths", "within an ulp")
def term_restart_even_near_the_end(rng: random.Random) -> Draft | None:
    """A cheaper loan that runs longer; the position falls through 0 within the last months."""
    draft, longest = _cheaper(rng), contract("refinance")["newTermMonths"].high
    draft["newTermMonths"] = min(draft["currentRemainingMonths"] + _octave(rng, 1, 240), longest)
    month = max(_last(draft) - rng.randrange(6), 1)
    return _afforded(draft, lambda loans: _position_costs(loans, month))


@_family("refinance", "closingCosts", "netBreakEvenMonths", "within an ulp")
def shorter_and_dearer(rng: random.Random) -> Draft | None:
    """A dearer loan of fewer months; the position falls, then rises through 0 once the new loan is paid off."""
    draft = _cheaper(rng)
    draft |= {"currentAnnualRate": draft["newAnnualRate"], "newAnnualRate": draft["currentAnnualRate"]}
    remaining, term = sorted(_months_of(draft), reverse=True)
    draft |= {"currentRemainingMonths": Fraction(remaining), "newTermMonths": Fraction(term)}
    month = rng.randint(term, remaining)
    return _afforded(draft, lambda loans: _position_costs(loans, month))


@_family("refinance", "closingCosts", "recommendation", "within an ulp")
def a_dollar_at_the_horizon(rng: random.Random) -> Draft | None:
    """Any two loans; the position at the horizon, which may lie past their end, is 1 or -1."""
    draft, position = _anything(rng, "refinance"), rng.choice((-1, 1))
    horizon = min(int(draft["horizonMonths"]), _last(draft))
    return _afforded(draft, lambda loans: _position_costs(loans, horizon, position))


@_family("refinance", "closingCosts", "breakEvenMonths", "within an ulp")
def tiny_rates_costs_a_multiple(rng: random.Random) -> Draft | None:
    """Rates of a few billionths, or none; the costs are a whole number of monthly savings."""
    draft = _same_loan(rng)
    draft |= {"currentAnnualRate": LEAST * rng.randint(2, 9), "newAnnualRate": LEAST * rng.randrange(2)}
    months = _count(rng, 1, _last(draft) + 1)
    return _afforded(draft, lambda loans: _multiple_costs(loans, months))


@_family("refinance", "closingCosts", "firstAheadMonth", "within an ulp")
def tiny_rates_even_at_a_month(rng: random.Random) -> Draft | None:
    """Rates of a few billionths, or none; the position is 0 at a month."""
    draft = _same_loan(rng)
    draft |= {"currentAnnualRate": LEAST * rng.randint(2, 9), "newAnnualRate": LEAST * rng.randrange(2)}
    month = _count(rng, 1, _last(draft))
    return _afforded(draft, lambda loans: _position_costs(loans, month))


@_family("refinance", "closingCosts", "breakEvenMonths")
def brief_loans_costs_a_multiple(rng: random.Random) -> Draft | None:
    """Interest is paid, and yet the costs are exactly a whole number of monthly savings."""
    draft = _brief(rng)
    months = rng.randint(1, int(draft["currentRemainingMonths"]) + 1)
    return _balanced(rng, draft, lambda loans: _multiple_costs(loans, months))


@_family("refinance", "closingCosts", "firstAheadMonth")
def brief_loans_even_at_a_month(rng: random.Random) -> Draft | None:
    """Interest is paid, and yet the position after a second or later month is exactly 0."""
    draft = _brief(rng)
    month = rng.randint(2, max(_last(draft), 2))
    return _balanced(rng, draft, lambda loans: _position_costs(loans, month))


@_family("refinance", "closingCosts", "recommendation")
def brief_loans_a_dollar(rng: random.Random) -> Draft | None:
    """Interest is paid, and yet the position at the horizon, past the first month, is exactly 1 or -1."""
    draft, position = _paid_up_front(_brief(rng)), rng.choice((-1, 1))
    draft["horizonMonths"] = Fraction(rng.randint(2, 6))
    month = min(int(draft["horizonMonths"]), _last(draft))
    return _balanced(rng, draft, lambda loans: _position_costs(loans, month, position))


@_family("refinance", "closingCosts", "monthlySavings")
def interest_traded_for_costs(rng: random.Random) -> Draft | None:
    """An interest-free loan finances exactly the interest that it saves: the payments are equal."""
    draft = _brief(rng) | {"newAnnualRate": Fraction(0), "financeClosingCosts": Fraction(1)}
    draft["newTermMonths"] = draft["currentRemainingMonths"]
    return _balanced(rng, draft, lambda loans: _position_costs(loans, _last(draft)))


# Relocation


def _salary(draft: Draft, net: Fraction) -> Fraction:
    """The new salary that makes the wanted difference in a year."""
    dearer = draft["newMonthlyExpenses"] - draft["currentMonthlyExpenses"]
    return draft["currentSalary"] + MONTHS * dearer + net


def _net(draft: Draft) -> Fraction:
    """What the move changes in a year."""
    return draft["newSalary"] - _salary(draft, Fraction(0))


def _offer(rng: random.Random, net: Fraction) -> Draft:
    """Two lives in cents, the salaries apart by whatever the wanted net delta needs."""
    draft = _anything(rng, "relocation")
    draft |= {"currentSalary": _cents(rng, 10_000, 1_500_000), "currentMonthlyExpenses": _cents(rng, 100, 20_000)}
    draft["newMonthlyExpenses"] = draft["currentMonthlyExpenses"] + _cents(rng, 1, 3_000) * rng.choice((-1, 0, 1))
    return draft | {"newSalary": _salary(draft, net)}


def _odd_offer(rng: random.Random, net: Fraction) -> Draft:
    """Two lives in as many digits as doubles have, the net delta near the wanted one."""
    draft = _offer(rng, net)
    for name in ("currentSalary", "currentMonthlyExpenses", "newMonthlyExpenses"):
        draft[name] = _digits(rng, draft[name])
    return draft | {"newSalary": _spoken(_salary(draft, net))}


def _some_offer(rng: random.Random, net: Fraction) -> Draft:
    return rng.choice((_offer, _odd_offer))(rng, net)


def _quickly_recovered(rng: random.Random, draft: Draft) -> Draft:
    """The draft, often with moving costs so low that a gain of a cent, or of an ulp, recovers them."""
    low = (draft["movingCosts"], Fraction(0), LEAST * _octave(rng, 1, 100), Fraction(rng.randint(1, 800), 100))
    return draft | {"movingCosts": rng.choice(low)}


def _short_return(rng: random.Random) -> Fraction:
    """A return whose powers are short decimals."""
    return Fraction(rng.choice((-500, -200, -100, -50, 0, 10, 20, 24, 50, 100, 150, 200)), 1_000)


def _odd_return(rng: random.Random) -> Fraction:
    """A return from all over its domain, often one that is hard: tiny, none, or a limit."""
    field = contract("relocation")["annualReturn"]
    return rng.choice((_any(rng, field), _any(rng, field), LEAST, -LEAST, Fraction(0), field.low, field.high))


@_family("relocation", "newSalary", "movingCostRecoveryMonths")
def deltas_cancel(rng: random.Random) -> Draft:
    """In cents, the raise is exactly what living costs more."""
    return _quickly_recovered(rng, _offer(rng, Fraction(0)))


@_family("relocation", "newSalary", "movingCostRecoveryMonths")
def deltas_cancel_in_many_digits(rng: random.Random) -> Draft:
    """In fractions of a cent, the raise is exactly what living costs more."""
    draft, step = _quickly_recovered(rng, _offer(rng, Fraction(0))), Fraction(1, 10 ** rng.randint(3, 8))
    for name in ("currentMonthlyExpenses", "newMonthlyExpenses"):
        draft[name] += step * rng.randint(-999, 999)
    return draft | {"newSalary": _salary(draft, Fraction(0))}


@_family("relocation", "newSalary", "movingCostRecoveryMonths", "within an ulp")
def deltas_nearly_cancel(rng: random.Random) -> Draft:
    """The raise is the double nearest to what living costs more."""
    return _quickly_recovered(rng, _odd_offer(rng, Fraction(0)))


@_family("relocation", "newSalary", "movingCostRecoveryMonths")
def free_move(rng: random.Random) -> Draft:
    """A move that costs nothing and changes nothing: recovered at once with a gain, and never without one."""
    return _offer(rng, Fraction(0)) | {"movingCosts": Fraction(0)}


@_family("relocation", "movingCosts", "movingCostRecoveryMonths")
def recovered_in_whole_months(rng: random.Random) -> Draft:
    """The moving costs are a whole number of monthly gains."""
    months = _count(rng, 1, 9_998)
    gain = Fraction(_octave(rng, 1, max(50_000_000 // months, 1)), 100)
    return _offer(rng, MONTHS * gain) | {"movingCosts": months * gain}


@_family("relocation", "movingCosts", "movingCostRecoveryMonths")
def recovered_by_a_repeating_gain(rng: random.Random) -> Draft | None:
    """The gain of a month is a repeating decimal, and a whole number of such gains is the moving costs."""
    months = 3 * _count(rng, 1, 3_332)
    net = Fraction(_octave(rng, 1, max(12 * 50_000_000 // months, 1)), 100)
    return _offer(rng, net) | {"movingCosts": months * net / MONTHS} if (net * 100) % 3 else None


@_family("relocation", "movingCosts", "movingCostRecoveryMonths")
def recovered_at_the_sentinel(rng: random.Random) -> Draft:
    """The moving costs are 9,998 monthly gains, the last number that counts, or one or two more."""
    gain, months = Fraction(_octave(rng, 1, 5_000), 100), rng.choice((9_998, 9_998, 9_999, 10_000))
    return _offer(rng, MONTHS * gain) | {"movingCosts": months * gain}


@_family("relocation", "movingCosts", "movingCostRecoveryMonths", "within an ulp")
def recovered_in_nearly_whole_months(rng: random.Random) -> Draft:
    """The moving costs are the double nearest to a whole number of monthly gains, up to past the sentinel."""
    months = rng.choice((_count(rng, 1, 9_998), _count(rng, 1, 9_998), 9_998, 9_999))
    draft = _odd_offer(rng, MONTHS * Fraction(_octave(rng, 1, max(50_000_000 // months, 1)), 100))
    return draft | {"movingCosts": months * _net(draft) / MONTHS}


@_family("relocation", "movingCosts", "movingCostRecoveryMonths", "within an ulp")
def a_raise_of_an_ulp(rng: random.Random) -> Draft:
    """The new salary is the next double; the moving costs are a whole number of the gains that this makes."""
    draft = _anything(rng, "relocation") | {"currentSalary": _money(rng, 10**5, 2 * 10**6)}
    draft["newSalary"] = meaning(_next(nearest(draft["currentSalary"]), math.inf))
    draft["newMonthlyExpenses"] = draft["currentMonthlyExpenses"]
    return draft | {"movingCosts": rng.randint(1, 10_000) * _net(draft) / MONTHS}


def _pays_the_return(rng: random.Random, rate: Fraction) -> tuple[Fraction, Fraction]:
    """Moving costs, and the return on them."""
    costs = _money(rng, 1, 500_000)
    return costs, costs * rate


@_family("relocation", "newSalary", "netWealthGain")
def raise_pays_the_return(rng: random.Random) -> Draft:
    """The net delta is exactly the return on the moving costs: for 50 years the gain stays where it began."""
    rate = rng.choice((_short_return(rng), Fraction(rng.randint(-5_000, 2_000), 10_000), LEAST, -LEAST))
    costs, net = _pays_the_return(rng, rate)
    return _offer(rng, net) | {"movingCosts": costs, "annualReturn": rate, "yearsHorizon": Fraction(50)}


@_family("relocation", "newSalary", "netWealthGain", "within an ulp")
def raise_nearly_pays_the_return(rng: random.Random) -> Draft:
    """The new salary is the double nearest to the one that pays the return on the moving costs, for 50 years."""
    rate = _odd_return(rng)
    costs, net = _pays_the_return(rng, rate)
    return _odd_offer(rng, net) | {"movingCosts": costs, "annualReturn": rate, "yearsHorizon": Fraction(50)}


@_family("relocation", "movingCosts", "netWealthGain")
def gain_of_nothing(rng: random.Random) -> Draft:
    """The moving costs are exactly what the yearly gains are worth today: at the horizon the gain is 0."""
    rate, years = _short_return(rng), rng.randint(1, 12)
    net = Fraction(_octave(rng, 1, 10_000)) * growth(rate, years)
    draft = _offer(rng, net) | {"annualReturn": rate, "yearsHorizon": Fraction(years)}
    return draft | {"movingCosts": net * annuity(rate, years)}


@_family("relocation", "movingCosts", "netWealthGain", "within an ulp")
def gain_of_nearly_nothing(rng: random.Random) -> Draft:
    """The moving costs are the double nearest to what the yearly gains are worth today."""
    draft = _some_offer(rng, _cents(rng, 1, 400_000))
    draft |= {"annualReturn": _odd_return(rng)}
    return draft | {"movingCosts": _net(draft) * annuity(draft["annualReturn"], int(draft["yearsHorizon"]))}


@_family("relocation", "movingCosts", "netWealthGain", "within an ulp")
def tiny_return_gain_of_nearly_nothing(rng: random.Random) -> Draft:
    """As before at a return of a billionth, up or down, over the longest horizon."""
    draft = _some_offer(rng, _cents(rng, 1, 10_000)) | {"annualReturn": rng.choice((-1, 1)) * LEAST}
    draft["yearsHorizon"] = contract("relocation")["yearsHorizon"].high
    return draft | {"movingCosts": _net(draft) * annuity(draft["annualReturn"], int(draft["yearsHorizon"]))}


def _spent(draft: Draft, life: str) -> Fraction:
    """The savings with which a life ends at nothing."""
    lack = MONTHS * draft[f"{life}MonthlyExpenses"] - draft[f"{life}Salary"]
    worth = lack * annuity(draft["annualReturn"], int(draft["yearsHorizon"]))
    return worth + draft["movingCosts"] if life == "new" else worth


@_family("relocation", "currentSavings", "wealthAtHorizonStay")
def a_life_ends_at_nothing(rng: random.Random) -> Draft:
    """The savings are exactly what one of the two lives lacks over the years: its wealth at the horizon is 0."""
    rate, years, life = _short_return(rng), rng.randint(1, 10), rng.choice(("current", "new"))
    lack = MONTHS * Fraction(_octave(rng, 1, 10_000), 4) * growth(rate, years)
    draft = _offer(rng, Fraction(0)) | {"annualReturn": rate, "yearsHorizon": Fraction(years)}
    draft["movingCosts"] = _cents(rng, 1, 10_000)
    salary = MONTHS * Fraction(_octave(rng, 1, 10_000))
    draft |= {f"{life}Salary": salary, f"{life}MonthlyExpenses": (salary + lack) / MONTHS}
    return draft | {"currentSavings": _spent(draft, life)}


@_family("relocation", "currentSavings", "wealthAtHorizonStay", "within an ulp")
def staying_ends_at_nearly_nothing(rng: random.Random) -> Draft:
    """The savings are the double nearest to what staying uses up by the horizon."""
    draft = _anything(rng, "relocation") | {"annualReturn": _odd_return(rng)}
    draft |= {"currentMonthlyExpenses": _money(rng, 1_000, 20_000), "currentSalary": _money(rng, 1, 100_000)}
    return draft | {"currentSavings": _spent(draft, "current")}


@_family("relocation", "currentSavings", "wealthAtHorizonMove", "within an ulp")
def moving_ends_at_nearly_nothing(rng: random.Random) -> Draft:
    """The savings are the double nearest to what the move and the life after it use up by the horizon."""
    draft = _anything(rng, "relocation") | {"annualReturn": _odd_return(rng)}
    draft |= {"newMonthlyExpenses": _money(rng, 1_000, 20_000), "newSalary": _money(rng, 1, 100_000)}
    return draft | {"currentSavings": _spent(draft, "new")}


@_family("relocation", "currentSavings", "wealthAtHorizonMove")
def nothing_after_the_move(rng: random.Random) -> Draft:
    """The move takes exactly the savings and the new life earns what it spends: its wealth is 0 in every year."""
    draft = _anything(rng, "relocation")
    draft["newMonthlyExpenses"] = _cents(rng, 1, 100_000)
    return draft | {"newSalary": MONTHS * draft["newMonthlyExpenses"], "currentSavings": draft["movingCosts"]}


# Emergency fund


def _gap(draft: Draft) -> Fraction:
    return draft["monthlyEssentialExpenses"] - draft["monthlyBackupIncome"]


def _target(draft: Draft) -> Fraction:
    return draft["targetMonths"] * _gap(draft)


def _household(rng: random.Random) -> Draft:
    """A household with a gap, and with the savings and contributions to go with it."""
    draft = _anything(rng, "emergency-fund") | {"monthlyEssentialExpenses": _money(rng, 10, 100_000)}
    share = rng.choice((Fraction(0), Fraction(rng.randint(1, 99), 100)))
    draft["monthlyBackupIncome"] = _spoken(draft["monthlyEssentialExpenses"] * share)
    draft["monthlyContribution"] = _spoken(_gap(draft) * Fraction(rng.randint(0, 40), 100))
    return draft | {"currentSavings": _spoken(_target(draft) * Fraction(rng.randint(0, 150), 100))}


def _without_yield(rng: random.Random) -> Draft:
    return _household(rng) | {"annualYield": Fraction(0)}


def _gap_of(rng: random.Random, gap: Fraction) -> Draft:
    """A household, in cents, with a wanted gap."""
    income = rng.choice((Fraction(0), _cents(rng, 1, 50_000)))
    return _household(rng) | {"monthlyEssentialExpenses": income + gap, "monthlyBackupIncome": income}


def _month(draft: Draft) -> Fraction:
    """The yield of a month."""
    return draft["annualYield"] / MONTHS


def _lasting(draft: Draft, months: int) -> Draft:
    """The draft with savings that cover exactly so many months."""
    return draft | {"currentSavings": _gap(draft) * annuity_due(_month(draft), months)}


def _perpetual(draft: Draft) -> Draft:
    """The draft with savings that stay what they are when each gap is drawn."""
    return draft | {"currentSavings": _gap(draft) * (1 + _month(draft)) / _month(draft)}


def _reach(draft: Draft, months: int) -> Fraction:
    """The savings after some months of contributions."""
    month = _month(draft)
    return draft["currentSavings"] * growth(month, months) + draft["monthlyContribution"] * accumulated(month, months)


def _reached_by_expenses(draft: Draft, months: int) -> Draft:
    """The draft with expenses whose target is the balance after some months."""
    gap = _reach(draft, months) / draft["targetMonths"]
    return draft | {"monthlyEssentialExpenses": draft["monthlyBackupIncome"] + gap}


def _reached_by_contribution(draft: Draft, months: int) -> Draft:
    missing = _target(draft) - draft["currentSavings"] * growth(_month(draft), months)
    return draft | {"monthlyContribution": missing / accumulated(_month(draft), months)}


def _reached_by_savings(draft: Draft, months: int) -> Draft:
    missing = _target(draft) - draft["monthlyContribution"] * accumulated(_month(draft), months)
    return draft | {"currentSavings": missing / growth(_month(draft), months)}


def _limit_month(rng: random.Random) -> int:
    """A month at which the status turns, or the search for the target ends."""
    return rng.choice((24, 25, 1_200, 1_201))


@_family("emergency-fund", "currentSavings", "runwayMonths")
def lasts_without_yield(rng: random.Random) -> Draft:
    """No yield; the savings are a whole number of gaps."""
    return _lasting(_without_yield(rng), _count(rng, 1, 1_200))


@_family("emergency-fund", "currentSavings", "runwayMonths")
def lasts_without_yield_to_the_limit(rng: random.Random) -> Draft:
    """No yield; the savings cover 1,199 months, the last finite runway, or one or two more."""
    return _lasting(_without_yield(rng), rng.choice((1_199, 1_200, 1_201)))


@_family("emergency-fund", "currentSavings", "runwayMonths")
def lasts_exactly(rng: random.Random) -> Draft | None:
    """With a yield, whose month may be a repeating decimal, the savings cover exactly some months."""
    rate, months = _short_rate(rng, contract("emergency-fund")["annualYield"].high), rng.randint(2, 7)
    gap = _multiple(rng, annuity_due(rate / MONTHS, months), Fraction(1), Fraction(100_000))
    return _lasting(_gap_of(rng, gap) | {"annualYield": rate}, months) if gap else None


@_family("emergency-fund", "currentSavings", "runwayMonths", "within an ulp")
def lasts_nearly(rng: random.Random) -> Draft:
    """The savings are the double nearest to what some months of gaps are worth today."""
    return _lasting(_household(rng), _count(rng, 2, 1_200))


@_family("emergency-fund", "currentSavings", "runwayMonths", "within an ulp")
def lasts_nearly_to_the_limit(rng: random.Random) -> Draft:
    """The savings are the double nearest to what 1,199 or 1,200 gaps are worth today."""
    return _lasting(_household(rng), rng.choice((1_199, 1_200)))


@_family("emergency-fund", "currentSavings", "runwayMonths", "within an ulp")
def lasts_nearly_at_a_tiny_yield(rng: random.Random) -> Draft:
    """As before at a yield of a billionth or a few."""
    draft = _household(rng) | {"annualYield": LEAST * rng.choice((1, 1, 2, 12, 1_000))}
    return _lasting(draft, _count(rng, 2, 1_200))


@_family("emergency-fund", "currentSavings", "runwayMonths")
def perpetuity(rng: random.Random) -> Draft:
    """The yield of a month is exactly the gap: the savings stay what they are for ever.

    The runway turns finite only some way below, but any error in the balance grows here with nothing to damp it.
    """
    highest = contract("emergency-fund")["annualYield"].high
    points, tiny = Fraction(rng.randint(1, 2_000), 10_000), LEAST * _octave(rng, 1, 10**6)
    rate = rng.choice((_short_rate(rng, highest), points, tiny))
    gap = rate * Fraction(_octave(rng, 1, 5 * 10**7), 100)
    return _perpetual(_gap_of(rng, gap) | {"annualYield": rate})


@_family("emergency-fund", "currentSavings", "runwayMonths", "within an ulp")
def perpetuity_nearly(rng: random.Random) -> Draft:
    """The savings are the double nearest to those that would last for ever."""
    draft = _household(rng)
    ceiling = contract("emergency-fund")["currentSavings"].high * draft["annualYield"] / 13
    draft |= {"monthlyEssentialExpenses": min(draft["monthlyEssentialExpenses"], _spoken(ceiling))}
    draft["monthlyBackupIncome"] = Fraction(0)
    return _perpetual(draft)


@_family("emergency-fund", "currentSavings", "monthsToTarget")
def savings_are_the_target(rng: random.Random) -> Draft:
    """The savings are exactly the target."""
    draft = _household(rng)
    return draft | {"currentSavings": _target(draft)}


@_family("emergency-fund", "currentSavings", "monthsToTarget")
def nothing_added(rng: random.Random) -> Draft:
    """No yield and no contribution; the savings are exactly the target, and a cent less never reaches it."""
    draft = _without_yield(rng) | {"monthlyContribution": Fraction(0)}
    return draft | {"currentSavings": _target(draft)}


@_family("emergency-fund", "currentSavings", "monthsToTarget")
def reached_without_yield(rng: random.Random) -> Draft:
    """No yield; the contributions of a whole number of months make the target exactly."""
    draft = _without_yield(rng)
    draft["monthlyContribution"] = _cents(rng, 1, 100_000)
    return _reached_by_savings(draft, _count(rng, 1, 1_200))


@_family("emergency-fund", "currentSavings", "monthsToTarget")
def reached_without_yield_at_a_limit(rng: random.Random) -> Draft:
    """No yield; the target is reached exactly at a month where the status turns, or just too late."""
    draft, months = _without_yield(rng), _limit_month(rng)
    draft["monthlyContribution"] = Fraction(_octave(rng, 1, 10**6), 100)
    return _reached_by_savings(draft, months)


def _reached_in_short(rng: random.Random, rate: Fraction, months: int) -> Draft:
    """A target that is a balance of few digits, whatever a twelfth of the rate is."""
    whole = MONTHS**months
    savings, paid = whole * _octave(rng, 1, 1_000), whole // MONTHS * _octave(rng, 1, 100)
    draft = _gap_of(rng, Fraction(0)) | {"annualYield": rate}
    draft |= {"currentSavings": Fraction(savings, 100), "monthlyContribution": Fraction(paid, 100)}
    draft["targetMonths"] = Fraction(rng.choice((1, 2, 4, 5, 8, 10, 16, 20, 25, 32)))
    return _reached_by_expenses(draft, months)


@_family("emergency-fund", "monthlyEssentialExpenses", "monthsToTarget")
def reached_exactly(rng: random.Random) -> Draft:
    """With a yield, whose month may be a repeating decimal, the target is exactly the balance after a few months."""
    highest = contract("emergency-fund")["annualYield"].high
    if rng.randrange(3):
        return _reached_in_short(rng, _short_rate(rng, highest), rng.randint(1, 4))
    return _reached_in_short(rng, Fraction(rng.randint(1, 2_000), 10_000), 1)


@_family("emergency-fund", "monthlyEssentialExpenses", "monthsToTarget", "within an ulp")
def reached_by_expenses(rng: random.Random) -> Draft:
    """The expenses are the double nearest to those whose target is the balance after some months."""
    draft = _household(rng) | {"monthlyBackupIncome": Fraction(0)}
    draft["currentSavings"] = _spoken(draft["currentSavings"] / 4)
    return _reached_by_expenses(draft, _count(rng, 1, 1_200))


@_family("emergency-fund", "monthlyContribution", "monthsToTarget", "within an ulp")
def reached_by_contribution(rng: random.Random) -> Draft:
    """The contribution is the double nearest to the one that makes the target after some months."""
    return _reached_by_contribution(_household(rng), _count(rng, 1, 1_200))


@_family("emergency-fund", "monthlyContribution", "status", "within an ulp")
def reached_by_contribution_at_a_limit(rng: random.Random) -> Draft:
    """The same at a month where the status turns, or just too late."""
    return _reached_by_contribution(_household(rng), _limit_month(rng))


@_family("emergency-fund", "currentSavings", "monthsToTarget", "within an ulp")
def reached_by_savings(rng: random.Random) -> Draft:
    """The savings are the double nearest to those that make the target after some months."""
    return _reached_by_savings(_household(rng), _count(rng, 1, 600))


@_family("emergency-fund", "currentSavings", "monthsToTarget", "within an ulp")
def reached_by_interest_alone(rng: random.Random) -> Draft:
    """No contribution; the savings grow to the target after some months, or at a month where the status turns."""
    draft = _household(rng) | {"monthlyContribution": Fraction(0)}
    return _reached_by_savings(draft, rng.choice((_count(rng, 1, 1_200), _limit_month(rng))))


@_family("emergency-fund", "monthlyContribution", "monthsToTarget", "within an ulp")
def reached_at_a_tiny_yield(rng: random.Random) -> Draft:
    """At a yield of a billionth or a few, the contribution makes the target after some months."""
    draft = _household(rng) | {"annualYield": LEAST * rng.choice((1, 1, 2, 12, 1_000))}
    return _reached_by_contribution(draft, _count(rng, 1, 1_200))


@_family("emergency-fund", "monthlyEssentialExpenses", "runwayMonths")
def no_gap(rng: random.Random) -> Draft:
    """The backup income pays exactly the expenses: nothing is drawn, and the target is 0."""
    draft = _household(rng)
    if rng.randrange(3) == 0:
        draft["currentSavings"] = Fraction(0)
    return draft | {"monthlyBackupIncome": draft["monthlyEssentialExpenses"]}


@_family("emergency-fund", "currentSavings", "runwayMonths", "within an ulp")
def a_gap_of_an_ulp(rng: random.Random) -> Draft:
    """The expenses are the double after the backup income; the savings cover a whole number of such gaps."""
    draft = _household(rng) | {"monthlyBackupIncome": _money(rng, 10_000, 99_999)}
    draft["monthlyEssentialExpenses"] = meaning(_next(nearest(draft["monthlyBackupIncome"]), math.inf))
    draft["annualYield"] *= rng.randrange(2)
    return _lasting(draft, rng.randint(1, 1_200))


# Batches


HOSTILE: dict[str, dict[str, tuple[str, ...]]] = {
    "refinance": {
        "rates one ulp apart over 480 months": ("rates an ulp apart",),
        "costs equal to a multiple of the savings": (
            "costs a multiple",
            "financed costs a multiple",
            "interest free costs a multiple",
            "brief loans costs a multiple",
        ),
        "positions within an ulp of zero": ("ahead at a month", "even at the end", "term restart even near the end"),
    },
    "relocation": {
        "raise just pays the return for 50 years": ("raise pays the return", "raise nearly pays the return"),
        "costs equal to a multiple of the savings": ("recovered in whole months", "recovered in nearly whole months"),
        "gains that cancel the moving costs": ("gain of nothing", "gain of nearly nothing"),
    },
    "emergency-fund": {
        "savings near perpetuity": ("perpetuity", "perpetuity nearly", "lasts nearly to the limit"),
        "targets equal to a future balance": (
            "reached by expenses",
            "reached by contribution",
            "reached by savings",
            "reached exactly",
        ),
    },
}


def hostile(model: str) -> dict[str, list[Inputs]]:
    """Batches of the cases that are dearest to decide, by name; always the same ones."""
    return {name: _batch(model, name, families) for name, families in HOSTILE[model].items()}


def _batch(model: str, name: str, families: tuple[str, ...]) -> list[Inputs]:
    rng = random.Random(f"{model}/{name}")
    return [BUILT[model][families[k % len(families)]](rng) for k in range(HOSTILE_CASES)]


def ordinary(model: str, count: int, seed: int = 1) -> list[Inputs]:
    """Plausible inputs on their grids, after the contract's own draws without its profiles."""
    rng = random.Random(f"{model}/ordinary/{seed}")
    return [_ordinary(rng, model) for _ in range(count)]


def _ordinary(rng: random.Random, model: str) -> Inputs:
    fields, draft = contract(model), dict[str, Fraction]()
    for name, field in fields.items():
        draft[name] = field.bring(_drawn(rng, field, draft))
    return {name: _typed(field, draft[name]) for name, field in fields.items()}


def _drawn(rng: random.Random, field: Field, earlier: Draft) -> Fraction:
    kind = next(key for key in ("value", "choose", "uniform", "log", "plus", "times") if key in field.draw)
    if kind == "value":
        return Fraction(field.draw[kind])
    if kind == "choose":
        return Fraction(rng.choice(field.draw[kind]))
    low, high = (Fraction(bound) for bound in field.draw[kind])
    if kind == "times":
        share = Fraction(rng.randint(int(low * 10_000), int(high * 10_000)), 10_000)
        return math.floor(share * earlier[field.draw["of"]] / field.grid) * field.grid
    pick = _octave if kind == "log" else random.Random.randint
    steps = pick(rng, int(low / field.grid), int(high / field.grid)) * field.grid
    return earlier[field.draw["of"]] + steps if kind == "plus" else steps


# Strategies


def anywhere(model: str, spellings: bool = False) -> st.SearchStrategy[Inputs]:
    """Inputs from all over a model's domain, with its limits, its oddest numbers and fields that agree.

    With `spellings`, whole numbers may also come in the other type, and 0 as -0.0: the same meanings otherwise written.
    """
    return _cases(model, spellings)


@st.composite
def _cases(draw: st.DrawFn, model: str, spellings: bool) -> Inputs:
    inputs: Inputs = {}
    for name, field in contract(model).items():
        related = "of" in field.draw and draw(st.integers(0, 2)) > 0
        values = _related(field, meaning(inputs[field.draw["of"]])) if related else _free(model, name)
        value = draw(values)
        inputs[name] = draw(st.sampled_from(_spellings(value))) if spellings else value
    return inputs


def _spellings(value: float | int | bool) -> list[float | int | bool]:
    if isinstance(value, bool) or value != int(value):
        return [value]
    return [int(value), float(value), *([-0.0] if value == 0 else [])]


@cache
def _free(model: str, name: str) -> st.SearchStrategy[float | int | bool]:
    """Values of a field from all over its domain."""
    field = contract(model)[name]
    if field.type == "boolean":
        return st.booleans()
    steps = st.integers(math.ceil(field.low / field.grid), math.floor(field.high / field.grid))
    on_grid = steps.map(lambda count: _typed(field, field.bring(count * field.grid)))
    odd = st.sampled_from(list(_oddities(field)))
    if field.type == "integer":
        return st.one_of(odd, on_grid)
    smooth = st.floats(nearest(field.low), nearest(field.high)).map(lambda value: _brought(field, meaning(value)))
    octaves = st.builds(lambda seed: _brought(field, _any(random.Random(seed), field)), st.integers(0, 2**32))
    whole = st.integers(math.ceil(field.low), math.floor(field.high)).map(float)
    wide = st.one_of(odd, on_grid, octaves, smooth)
    return wide if field.is_rate else st.one_of(wide, whole)


def _brought(field: Field, value: Fraction) -> float | int | bool:
    return _typed(field, field.bring(value))


def _oddities(field: Field) -> Iterator[float | int | bool]:
    """Limits, what lies next to them, and the numbers that trip up arithmetic."""
    odd = [Fraction(whole) for whole in (0, 1, 2, 12, 24, 25)]
    odd += [LEAST, -LEAST, Fraction(1, 10**6), Fraction(1, 10_000), CENT, Fraction(6, 100), Fraction(12, 100)]
    near = [bound + sign * field.grid for bound in (field.low, field.high) for sign in (-1, 0, 1)]
    yield from (_typed(field, value) for value in odd + near if field.holds(value))
    if field.type == "number":
        yield from (_next(nearest(field.high), -math.inf), _next(nearest(field.low), math.inf))


def _related(field: Field, other: Fraction) -> st.SearchStrategy[float | int | bool]:
    """The value of the field that the contract draws this one from, one ulp or step from it, or such a draw."""
    near = [other, other, other - field.grid, other + field.grid]
    if field.type == "number":
        near += [meaning(_next(nearest(other), towards)) for towards in (-math.inf, math.inf)]
    kind = "plus" if "plus" in field.draw else "times"
    low, high = (Fraction(bound) for bound in field.draw[kind])
    if kind == "times":
        low, high = low * other, high * other
    else:
        low, high = low + other, high + other
    shares = st.integers(0, 10_000).map(lambda share: low + (high - low) * share / 10_000)
    if field.type == "integer":
        shares = shares.map(lambda value: Fraction(math.floor(value)))
    values = st.integers(0, 2).flatmap(lambda kind: shares if kind else st.sampled_from(near))
    return values.map(lambda value: _brought(field, value))


def near_edges(model: str) -> st.SearchStrategy[tuple[str, Inputs]]:
    """Built cases and their neighbours, with the name of their family."""
    return st.integers(0, 2**64 - 1).map(lambda seed: _near_edge(model, random.Random(seed)))


def _near_edge(model: str, rng: random.Random) -> tuple[str, Inputs]:
    name, inputs = built(model, rng)
    return name, rng.choice(list(around(model, name, inputs).values()))
