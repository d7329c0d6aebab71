"""What float64 can prove, and double-double columns for what it cannot. Not a general number type.

Bounds are in units of U, the largest relative error of one rounding. `+ - * /` round correctly on every machine;
numpy's exp, expm1 and log1p depend on the SIMD kernel that it picks and are trusted to 4 ulp = 8 U only (LIBM).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

U = 2.0**-53
LIBM = 8 * U
# Error of one double-double operation below. Of a product 7 U^2, of a quotient 15 U^2, relative (Joldes, Muller and
# Popescu, "Tight and rigorous error bounds for basic building blocks of double-word arithmetic", 2017, algorithms 10
# and 17). Of a sum 9 U^2 of |a| + |b|: one for the sum of the low parts, two for adding to it the error of the high
# ones, which is at most 2 U, and six if the high parts cancel and the last step therefore rounds.
DD = 32 * U * U

_SPLITTER = 2.0**27 + 1


def too_wide(value: Floats, bound: Floats) -> NDArray[np.bool_]:
    """Where a bound uses more than a hundredth of the tolerance of C-11."""
    wide: NDArray[np.bool_] = bound > 1e-8 + 1e-11 * np.abs(value)
    return wide


class DoubleDouble:
    """A column of unevaluated sums hi + lo, |lo| <= ulp(hi) / 2: about 32 digits."""

    __slots__ = ("hi", "lo")

    def __init__(self, hi: Floats, lo: Floats | float = 0.0) -> None:
        self.hi = hi
        self.lo = np.zeros_like(hi) if isinstance(lo, float) else lo

    @classmethod
    def of(cls, integers: NDArray[Any]) -> DoubleDouble:
        """Whole numbers: exact for int64, 106 bits for an object column of ints."""
        hi = integers.astype(np.float64)
        if integers.dtype == object:
            rest = [n - int(h) for n, h in zip(integers.tolist(), hi.tolist(), strict=True)]
            return cls(hi, np.array(rest, np.float64))
        return cls(hi, (integers - hi.astype(np.int64)).astype(np.float64))

    def __getitem__(self, index: Any) -> DoubleDouble:
        return DoubleDouble(self.hi[index], self.lo[index])

    def ravel(self) -> DoubleDouble:
        return DoubleDouble(self.hi.ravel(), self.lo.ravel())

    def __neg__(self) -> DoubleDouble:
        return DoubleDouble(-self.hi, -self.lo)

    def __add__(self, other: DoubleDouble | Floats | float) -> DoubleDouble:
        if not isinstance(other, DoubleDouble):
            total, error = _two_sum(self.hi, other)
            return _normal(total, error + self.lo)
        total, error = _two_sum(self.hi, other.hi)
        return _normal(total, error + (self.lo + other.lo))

    def __sub__(self, other: DoubleDouble | Floats | float) -> DoubleDouble:
        return self + -other

    def __mul__(self, other: DoubleDouble | Floats | float) -> DoubleDouble:
        if not isinstance(other, DoubleDouble):
            product, error = two_product(self.hi, other)
            return _normal(product, error + self.lo * other)
        product, error = two_product(self.hi, other.hi)
        return _normal(product, error + (self.hi * other.lo + self.lo * other.hi))

    def __truediv__(self, other: DoubleDouble | float) -> DoubleDouble:
        divisor = other if isinstance(other, DoubleDouble) else DoubleDouble(np.full_like(self.hi, other))
        quotient = self.hi / divisor.hi
        back = divisor * quotient
        return _normal(quotient, ((self.hi - back.hi) + (self.lo - back.lo)) / divisor.hi)


def leading(column: DoubleDouble | Floats) -> Floats:
    """The nearest float64."""
    return column.hi if isinstance(column, DoubleDouble) else column


def stacked(parts: Sequence[DoubleDouble]) -> DoubleDouble:
    """Columns as the rows of one."""
    return DoubleDouble(np.stack([part.hi for part in parts]), np.stack([part.lo for part in parts]))


def joined(first: DoubleDouble, second: DoubleDouble) -> DoubleDouble:
    """One after the other."""
    return DoubleDouble(np.concatenate([first.hi, second.hi]), np.concatenate([first.lo, second.lo]))


def power(base: DoubleDouble, exponent: NDArray[np.int64]) -> DoubleDouble:
    """base ** exponent, 0 <= exponent < 2**11: relative error <= 2 * exponent * DD, if the base's is at most DD."""
    result = DoubleDouble(np.ones_like(base.hi))
    for bit in range(int(exponent.max(initial=0)).bit_length()):
        if bit:
            base = base * base
        product, odd = result * base, (exponent >> bit) & 1 == 1
        result = DoubleDouble(np.where(odd, product.hi, result.hi), np.where(odd, product.lo, result.lo))
    return result


def _normal(high: Floats, low: Floats) -> DoubleDouble:
    """Fast two-sum: |high| >= |low|."""
    total = high + low
    return DoubleDouble(total, low - (total - high))


def _two_sum(a: Floats, b: Floats | float) -> tuple[Floats, Floats]:
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def two_product(a: Floats, b: Floats | float) -> tuple[Floats, Floats]:
    """a * b as an exact sum (Dekker), without a fused multiply-add, which numpy does not offer."""
    product = a * b
    a_high, a_low = _halves(a)
    b_high, b_low = _halves(b)
    return product, ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low


def _halves(a: Any) -> tuple[Any, Any]:
    big = a * _SPLITTER
    high = big - (big - a)
    return high, a - high
