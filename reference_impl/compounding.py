"""Monthly compounding over any type of number: powers of 1 + r and sums of them, at a rate of zero too.

Shared by the models that compound monthly. It knows nothing of loans or funds. Written from the spec text alone.
"""

from __future__ import annotations

from typing import Generic

from .certified import Number

MONTHS_A_YEAR = 12


class Compounding(Generic[Number]):
    """Growth at a monthly rate r >= 0. `free` says that r is zero, which a ball could not prove."""

    def __init__(self, rate: Number, *, free: bool) -> None:
        self._free = free
        self._growth: Number = 1 + rate
        self._powers: dict[int, Number] = {}
        self._year: Number = self._growth**MONTHS_A_YEAR
        self.first: Number = self._growth if free else rate

    def power(self, months: int) -> Number:
        """(1 + r)^months. Yearly tables ask for years in order, so the power of a year ago is often at hand."""
        power = self._powers.get(months)
        if power is None:
            year_ago = self._powers.get(months - MONTHS_A_YEAR)
            power = self._growth**months if year_ago is None else year_ago * self._year
            self._powers[months] = power
        return power

    def accumulation(self, months: int) -> Number:
        """(1 + r)^months - 1, or `months` at a rate of zero.

        `first` is accumulation(1), that is r, or 1 at a rate of zero. So at every rate the sum of (1 + r)^0, (1 + r)^1,
        ..., (1 + r)^(months - 1) is accumulation(months) / first.
        """
        return self._growth * months if self._free else self.power(months) - 1
