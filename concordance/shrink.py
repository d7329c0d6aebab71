"""Make the inputs of a finding simple enough to check by hand: hypothesis shrinks each towards 0, a bound or a
round number.

Pure: it is told which inputs still show the fault, and knows neither models nor implementations.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from concordance.numbers import json_text
from concordance.spec import Input, Inputs, Value

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

_ROUND: Final = (0, 1, 2, 3, 10, 12, 100, 1_000, 10_000, 100_000, 1_000_000, 0.5, 0.1, 0.12, 0.01, 0.001)
_TRIES: Final = 200
_PASSES: Final = 3


def simplest(fields: Sequence[Input], inputs: Inputs, still: Callable[[Inputs], bool], budget: int) -> Inputs:
    """The simplest inputs found for which `still` holds, starting from inputs for which it does.

    `still` is asked at most `budget` times, and once for each inputs; after that, other inputs count as refused.
    """
    from hypothesis import HealthCheck, Phase, find, settings
    from hypothesis.errors import NoSuchExample

    quiet = settings(
        max_examples=_TRIES,
        database=None,
        derandomize=True,
        deadline=None,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )
    asked: dict[str, bool] = {}

    def affordable(simpler: Inputs) -> bool:
        # Hypothesis asks again to be sure of what it found, and would call a changed mind flaky.
        key = json_text(simpler)
        if key not in asked:
            asked[key] = len(asked) < budget and still(simpler)
        return asked[key]

    for _ in range(_PASSES):
        try:
            found = find(_simpler(fields, inputs), affordable, settings=quiet)
        except NoSuchExample:
            return inputs
        if found == inputs:
            return inputs
        inputs = found
    return inputs


def _simpler(fields: Sequence[Input], inputs: Inputs) -> SearchStrategy[Inputs]:
    """These inputs with any of them made simpler; hypothesis shrinks towards the simplest."""
    from hypothesis import strategies as st

    parts = {
        field.name: _simpler_list(field, inputs[field.name])
        if field.type == "list"
        else st.sampled_from(_weighted(_ladder(field, inputs[field.name]), len(fields)))
        for field in fields
    }
    return st.fixed_dictionaries(parts)


def _simpler_list(field: Input, items: list[dict[str, Value]]) -> SearchStrategy[Any]:
    """A list with any of its items left out or made simpler, as long as its length fits."""
    from hypothesis import strategies as st

    low = (field.length or (0, 0))[0]
    each = [
        st.one_of(st.none(), *[_simpler(field.items, item)] * (3 * len(items)))
        if len(items) > low
        else _simpler(field.items, item)
        for item in items
    ]
    kept = st.tuples(*each).map(lambda found: [item for item in found if item is not None])
    return kept.filter(lambda found: len(found) >= low)


def _weighted(ladder: list[Value], fields: int) -> list[Value]:
    """The ladder with its last rung, the value as it is, often enough that all fields keep theirs now and then."""
    return ladder + ladder[-1:] * (len(ladder) * fields)


def _ladder(field: Input, value: Value) -> list[Value]:
    """Values from the simplest to the one given: round numbers, bounds, then the value with ever more digits."""
    if field.type in ("boolean", "text"):
        rungs: Sequence[Any] = field.values or (False, True)
    else:
        rounded = [float(f"{value:.{digits}g}") for digits in range(1, 4)] + [float(round(float(value)))]
        rungs = (0, field.min, *_ROUND, field.max, *rounded)
    ladder: list[Value] = []
    for rung in rungs:
        if rung == value:
            break  # what follows is no simpler
        with suppress(ValueError):  # outside the domain
            candidate = field.read(rung)
            if candidate not in ladder:
                ladder.append(candidate)
    return [*ladder, value]
