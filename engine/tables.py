"""Ragged tables as flat columns, and batches in slices that stay in cache. Not for the numbers of any model."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Column = NDArray[Any]
Table = tuple[NDArray[np.int64], dict[str, Column]]
Outputs = dict[str, Column | Table]


def ragged(counts: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For the flat rows of a table with `counts` rows a case: the case of each row, and its number within the case."""
    case = np.repeat(np.arange(counts.size), counts)
    return case, np.arange(case.size) - np.repeat(np.cumsum(counts) - counts, counts)


def in_slices(compute: Callable[[Mapping[str, Column]], Outputs], inputs: Mapping[str, Column], size: int) -> Outputs:
    """`compute` on slices of `size` cases, joined: the flat rows of a large batch would fall out of the L2 cache."""
    total = len(next(iter(inputs.values())))
    if total <= size:
        return compute(inputs)
    starts = range(0, total, size)
    parts = [compute({name: column[k : k + size] for name, column in inputs.items()}) for k in starts]
    return {name: _joined([part[name] for part in parts]) for name in parts[0]}


def _joined(pieces: list[Any]) -> Any:
    if not isinstance(pieces[0], tuple):
        return np.concatenate(pieces)
    counts, columns = zip(*pieces, strict=True)
    return np.concatenate(counts), {name: np.concatenate([c[name] for c in columns]) for name in columns[0]}
