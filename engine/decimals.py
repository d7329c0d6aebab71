"""What an input means: its shortest decimal (C-1), as whole numbers or as a double-double. Not for parsing requests."""

from collections.abc import Callable, Sequence
from decimal import Context, Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .precision import DoubleDouble, Floats, two_product

Column = NDArray[Any]

# Inputs of at most 10**7 that lie on this grid have at most 15 digits, so that the grid point is their shortest decimal,
# and products of two of them fit int64 (the models say so where they multiply).
GRID = 10**6
# No nonzero input is below 1e-9 (C-3), and no shortest decimal has more than 17 digits: none goes below 1e-25.
FINEST = 10**25

_EXACT = Context(prec=50)


def exactly(formula: Callable[..., tuple[Column, ...]], decimals: Sequence[Column], wholes: Sequence[Column] = ()) -> tuple[Column, ...]:
    """`formula(unit, *decimals, *wholes)` on exact whole numbers, a decimal counting units of 1 / unit.

    The cases on the grid go through it as int64, the others as Python ints in object columns: the formula is one.
    """
    counts = [column.astype(np.int64) for column in wholes]
    grid, on_grid = zip(*map(_on_grid, decimals), strict=True)
    all_on_grid = np.logical_and.reduce(on_grid)
    if all_on_grid.all():
        return formula(GRID, *(column.astype(np.int64) for column in grid), *counts)
    near, far = np.flatnonzero(all_on_grid), np.flatnonzero(~all_on_grid)
    on = formula(GRID, *(column[near].astype(np.int64) for column in grid), *(column[near] for column in counts))
    off = formula(FINEST, *(_finest(column[far]) for column in decimals), *(column[far] for column in counts))
    return tuple(_merged(near, a, far, b) for a, b in zip(on, off, strict=True))


def meaning(column: Floats) -> DoubleDouble:
    """The shortest decimals, relative error <= U^2: the double itself and how far the decimal lies from it."""
    grid, on_grid = _on_grid(column)
    product, error = two_product(column, float(GRID))
    rest = ((grid - product) - error) / GRID
    for k in zip(*np.nonzero(~on_grid), strict=True):
        numerator, denominator = float(column[k]).as_integer_ratio()
        rest[k] = (_count(float(column[k])) * denominator - numerator * FINEST) / (FINEST * denominator)
    return DoubleDouble(column, rest)


def _on_grid(column: Column) -> tuple[Floats, NDArray[np.bool_]]:
    grid = np.rint(column * GRID)
    return grid, grid / GRID == column


def _count(value: float) -> int:
    return int(Decimal(repr(value)).scaleb(25, _EXACT))


def _finest(column: Column) -> Column:
    return np.array([_count(value) for value in column.tolist()], object)


def _merged(near: Column, on: Column, far: Column, off: Column) -> Column:
    merged = np.empty(near.size + far.size, on.dtype)
    merged[near], merged[far] = on, off
    return merged
