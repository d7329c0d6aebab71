"""What an input means: its shortest decimal (C-1), as whole numbers or as a double-double. Not for parsing requests."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .precision import DoubleDouble, Floats, U, two_product

Column = NDArray[Any]
Integers = NDArray[np.int64]

# An input is at most 10**7, so a point of this grid has at most 15 digits, and is the shortest decimal of the double
# nearest to it. Products of two such numbers fit int64; the models say so where they multiply.
GRID_PLACES = 6
# No nonzero input is below 1e-9 (C-3) and no shortest decimal has more than 17 digits: none goes below 1e-25.
FINEST_PLACES = 25

_TENS = np.array([10**k for k in range(FINEST_PLACES + 1)], object)
_FLOAT_TENS = DoubleDouble.of(_TENS)


class Decimals:
    """Input columns as exact whole numbers: int64 for the cases that lie on the grid, Python ints for the others."""

    def __init__(self, columns: Sequence[Floats]) -> None:
        digits, places = zip(*map(shortest, columns), strict=True)
        self._grid: Sequence[Integers] = digits
        self._near = np.logical_and.reduce([k == GRID_PLACES for k in places])
        far = np.flatnonzero(~self._near)
        self._place = np.cumsum(~self._near) - 1  # of a case among those off the grid
        self._finest = [d[far] * _TENS[FINEST_PLACES - k[far]] for d, k in zip(digits, places, strict=True)]

    def exactly(self, formula: Callable[..., tuple[Column, ...]], rows: Column, *wholes: Column) -> tuple[Column, ...]:
        """`formula(unit, *decimals, *wholes)` of the cases `rows`, where a decimal counts units of 1 / unit.

        The formula is the same for int64 and for Python ints in object columns, and so are the types of its results.
        """
        near = self._near[rows]
        if near.all():
            return formula(10**GRID_PLACES, *(column[rows] for column in self._grid), *wholes)
        on, off = np.flatnonzero(near), np.flatnonzero(~near)
        finest = (column[self._place[rows[off]]] for column in self._finest)
        exact = formula(10**FINEST_PLACES, *finest, *(w[off] for w in wholes))
        if not on.size:
            return exact
        quick = formula(10**GRID_PLACES, *(column[rows[on]] for column in self._grid), *(w[on] for w in wholes))
        merged = tuple(np.empty(rows.size, column.dtype) for column in quick)
        for k, column in enumerate(merged):
            column[on], column[off] = quick[k], exact[k]
        return merged


def meaning(column: Floats) -> DoubleDouble:
    """The shortest decimals, relative error below DD: the double itself and how far the decimal lies from it."""
    digits, places = shortest(column)
    whole, tens = DoubleDouble.of(digits), _FLOAT_TENS[places]
    product, error = two_product(column, tens.hi)
    return DoubleDouble(column, ((whole.hi - product) + (whole.lo - error - column * tens.lo)) / tens.hi)


def shortest(column: Floats) -> tuple[Integers, Integers]:
    """Whole numbers with digits / 10**places the shortest decimal; places is GRID_PLACES wherever that is enough."""
    grid = np.rint(column * 10**GRID_PLACES)
    digits, places = grid.astype(np.int64), np.full(column.shape, GRID_PLACES)
    off = grid / 10**GRID_PLACES != column
    if off.any():
        digits[off], places[off] = _long(column[off])
    return digits, places


def _long(column: Floats) -> tuple[Integers, Integers]:
    """The shortest decimals of nonzero numbers: the nearest of 15, 16 or 17 digits, the first that reads back.

    A decimal reads back if it lies within half an ulp. For k <= 22, x * 10**k is an exact sum of two doubles; the
    distance and half an ulp, both at most 10 units of the last digit, are then known to 16 U. Numbers for which that
    does not decide, powers of two, whose ulps differ, and numbers that have no 17 digits at k go through `repr`.
    """
    size = np.abs(column)
    most = 16 - np.floor(np.log10(size)).astype(np.int64)
    known = (most <= 22) & (np.frexp(size)[0] != 0.5)
    most = np.minimum(most, 22)
    digits, places = np.zeros(column.size, np.int64), most.copy()
    found = np.zeros(column.size, bool)
    for fewer in (2, 1, 0):
        tens = _FLOAT_TENS.hi[most - fewer]
        product, error = two_product(column, tens)
        whole = np.rint(product)
        rest = (product - whole) + error
        step = np.rint(rest)
        distance = np.abs(rest - step)
        reach = np.spacing(size) / 2 * tens if fewer else np.full(column.size, 0.5)
        known &= found | (np.abs(distance - reach) > 16 * U)
        new = ~found & (distance < reach)
        digits[new], places[new] = (whole.astype(np.int64) + step.astype(np.int64))[new], (most - fewer)[new]
        found |= new
    known &= (np.abs(product) >= 1e16) & (np.abs(product) < 1e17)
    for k in np.flatnonzero(~known):
        figures, _, exponent = repr(float(column[k])).partition("e")
        before, _, after = figures.partition(".")
        digits[k], places[k] = int(before + after), len(after) - int(exponent or 0)
    return digits, places
