"""Figures that outside sources printed, what our models compute in their place, and the page that shows both.

`witnesses.toml` holds the figures; its head says what each key means. `read` reads it, `Claim.value` computes a figure
out of the outputs of one implementation, and `render` writes docs/witnesses.md. After a change of the figures:

    python tests/witness_table.py
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import ROUND_DOWN, ROUND_HALF_UP, ROUND_UP, Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final, Literal

from concordance import AnswerKey, load_workspace

ROOT: Final = Path(__file__).resolve().parents[1]
WITNESSES: Final = ROOT / "tests" / "witnesses.toml"
PAGE: Final = ROOT / "docs" / "witnesses.md"
ROUNDINGS: Final = {"half up": ROUND_HALF_UP, "up": ROUND_UP, "down": ROUND_DOWN}
SHOWN_BEYOND: Final = 4
"""How many decimals beyond the printed ones the page shows of a computed figure."""

Side = Literal["engine", "reference"]
Inputs = dict[str, Any]


@dataclass(frozen=True)
class Claim:
    """One printed figure, and how it comes out of a model."""

    figure: str
    printed: str
    model: str
    inputs: Inputs = field(repr=False)
    """What the source gives."""
    chosen: Inputs = field(repr=False)
    """What we add so that an output shows the figure."""
    filled: Inputs = field(repr=False)
    """The inputs in full."""
    by: str = ""
    given: Mapping[str, Decimal] = field(default_factory=dict)
    rounding: str = "half up"
    unit: Decimal = Decimal(0)
    decimals: int | None = None
    right: str = ""
    amount: str = ""
    low: str = ""
    high: str = ""
    percent: bool = False
    note: str = ""

    @property
    def refuted(self) -> bool:
        return bool(self.right)

    @property
    def precision(self) -> Decimal:
        """The unit of the last decimal that counts."""
        if self.unit:
            return self.unit
        return Decimal(1).scaleb(-(_exponent(self.printed) if self.decimals is None else self.decimals))

    @property
    def corrected(self) -> Claim:
        """The claim of the right figure."""
        return replace(self, printed=self.right or self.printed, right="")

    def moved(self, units: int) -> Claim:
        """The claim of a figure that is so many units of its last decimal away."""
        return replace(self, printed=str(self.rounded(Decimal(self.printed)) + units * self.precision))

    def rounded(self, value: Decimal) -> Decimal:
        """A value at the printed precision, as the source rounds."""
        return (value / self.precision).quantize(Decimal(1), ROUNDINGS[self.rounding]) * self.precision

    def holds(self, key: AnswerKey, side: Side) -> bool:
        """Whether an implementation gives the printed figure."""
        if self.amount:
            low, high = self.enclosure(key, side)
            return low <= Decimal(self.amount) < high
        return self.rounded(self.value(key, side)) == self.rounded(Decimal(self.printed))

    def value(self, key: AnswerKey, side: Side) -> Decimal:
        """The figure as an implementation's outputs give it."""
        return _evaluate(self.by, key, side, self.model, self.filled, self.given)

    def enclosure(self, key: AnswerKey, side: Side) -> tuple[Decimal, Decimal]:
        """What is paid at the lowest and at the highest rate that print as the figure."""
        scale = Decimal("0.01") if self.percent else Decimal(1)
        rates = [(Decimal(self.printed) + half * self.precision / 2) * scale for half in (-1, 1)]
        inputs = self.filled | {"currentAnnualRate": rates[0], "newAnnualRate": rates[1]}
        low, high = (_evaluate(by, key, side, self.model, inputs, self.given) for by in (self.low, self.high))
        return low, high


@dataclass(frozen=True)
class LeftOut:
    """A printed figure that our models do not express, and why."""

    figure: str
    reason: str


@dataclass(frozen=True)
class Witness:
    """A source, and the figures that it printed."""

    id: str
    source: str
    claims: tuple[Claim, ...]
    left_out: tuple[LeftOut, ...]
    unverified: str = ""
    note: str = ""

    @property
    def verdict(self) -> str:
        """What became of the witness as a whole."""
        if not self.claims:
            return "not expressible"
        if not any(claim.refuted for claim in self.claims):
            return "confirmed"
        return "refuted" if all(claim.refuted for claim in self.claims) else "refuted in part"


def read(path: Path = WITNESSES) -> list[Witness]:
    """The witnesses, in the order of the file."""
    data = tomllib.loads(path.read_text(), parse_float=Decimal)
    return [_witness(entry, data["fillers"]) for entry in data["witness"]]


def _witness(entry: dict[str, Any], fillers: Mapping[str, Inputs]) -> Witness:
    claims = tuple(_claim(claim, entry, fillers) for claim in entry.get("claim", ()))
    left_out = tuple(LeftOut(**one) for one in entry.get("left_out", ()))
    texts = {name: entry[name] for name in ("id", "source", "unverified", "note") if name in entry}
    return Witness(claims=claims, left_out=left_out, **texts)


def _claim(claim: dict[str, Any], witness: dict[str, Any], fillers: Mapping[str, Inputs]) -> Claim:
    model = claim.get("model", witness["model"])
    chosen = witness.get("chosen", {}) | claim.get("chosen", {})
    inputs = witness.get("inputs", {}) | claim.get("inputs", {})
    merged = {"model": model, "inputs": inputs, "chosen": chosen, "filled": fillers[model] | inputs | chosen}
    return Claim(**{**claim, **merged, "unit": Decimal(claim.get("unit", 0))})


def _exponent(text: str) -> int:
    return len(text.partition(".")[2])


def _evaluate(by: str, key: AnswerKey, side: Side, model: str, inputs: Inputs, given: Mapping[str, Decimal]) -> Decimal:
    """An expression of `witnesses.toml` over a case's inputs and outputs, in decimals of 28 digits."""

    def rows(**other: Any) -> list[SimpleNamespace]:
        return [SimpleNamespace(**row) for row in _outputs(key, side, model, inputs | other)["yearlyData"]]

    def after(month: int) -> SimpleNamespace:
        return rows(horizonMonths=month)[-1]

    outputs = _outputs(key, side, model, inputs)
    helpers = {
        "after": after,
        "now": SimpleNamespace(**outputs["yearlyData"][-1]),
        "cents": lambda value: value.quantize(Decimal("0.01"), ROUND_HALF_UP),
        "whole": lambda value: value.quantize(Decimal(1), ROUND_DOWN),
        "ceil": lambda value: Decimal(math.ceil(value)),
        "ln": lambda value: value.ln(),
    }
    names = {**helpers, **inputs, **outputs, "yearlyData": rows(), **given}
    value = eval(by, {"__builtins__": {}}, names)
    assert isinstance(value, Decimal), by
    return value


def _outputs(key: AnswerKey, side: Side, model: str, inputs: Inputs) -> dict[str, Any]:
    """A model's outputs with every number as the decimal that it prints as."""
    plain = {name: float(value) if isinstance(value, Decimal) else value for name, value in inputs.items()}
    decimals: dict[str, Any] = _decimal(key.compute(model, plain, impl=side))
    return decimals


def _decimal(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _decimal(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_decimal(one) for one in value]
    return Decimal(repr(value)) if isinstance(value, (int, float)) and not isinstance(value, bool) else value


# The page

HEAD: Final = """\
# Outside witnesses

Figures about loans, savings and moves that others have printed, each reached through the inputs and outputs of our
models. The models were not fitted to them: the specs define the answers, and this page shows where the world agrees and
where a printed figure is wrong. Both implementations give the same verdict on every line; `tests/test_witnesses.py`
computes them all, and sees to it that this page is what they give. The figures are in `tests/witnesses.toml`.

A figure is confirmed if ours, rounded half up to the decimals that were printed, is the same; where a source rounds
otherwise, the line says so. *Given* is what the source says; *chosen* is what we add so that an output shows the
figure, which does not depend on it. Inputs that are not named are at 0, or do not matter. Amounts are in US dollars.
"""

Row = tuple[Witness, Claim]


def render(witnesses: Sequence[Witness], key: AnswerKey) -> str:
    """The page: what was confirmed, what was refuted, and what our models do not express."""
    rows = [(witness, claim) for witness in witnesses for claim in witness.claims]
    confirmed = [row for row in rows if not row[1].refuted]
    refuted = [row for row in rows if row[1].refuted]
    left_out = [(witness, one) for witness in witnesses for one in witness.left_out]
    parts = [
        HEAD,
        _summary(witnesses, len(confirmed), len(refuted), len(left_out)),
        f"## Refuted\n\n{_table(refuted, key, ('printed', 'right', 'ours'), _refuted_cells)}",
        f"## Confirmed\n\n{_table(confirmed, key, ('printed', 'ours', 'rounded'), _confirmed_cells)}",
        "## Not expressible\n\n"
        + "".join(f"- **{witness.id}** {one.figure}: {one.reason}.\n" for witness, one in left_out),
        "## Sources\n\n" + "".join(_source(witness) for witness in witnesses),
    ]
    return "\n".join(parts)


def _summary(witnesses: Sequence[Witness], confirmed: int, refuted: int, left_out: int) -> str:
    verdicts = ("confirmed", "refuted", "refuted in part", "not expressible")
    counts = {verdict: sum(witness.verdict == verdict for witness in witnesses) for verdict in verdicts}
    listed = ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
    unread = sum(bool(witness.unverified) for witness in witnesses)
    return (
        f"{len(witnesses)} witnesses: {listed}. Of their figures {confirmed} are confirmed, {refuted} refuted,\n"
        f"and {left_out} not expressible. {unread} witnesses rest, in part or wholly, on memory and not on a text\n"
        "that was read; they are marked †.\n"
    )


def _table(
    rows: Sequence[Row], key: AnswerKey, columns: Sequence[str], cells: Callable[[Claim, AnswerKey], tuple[str, ...]]
) -> str:
    head = ("", "figure", *columns, "model and inputs", "note")
    lines = [head, tuple("---" for _ in head)]
    last = last_inputs = ""
    for witness, claim in rows:
        first = witness.id != last
        label = witness.id + ("†" if witness.unverified else "") if first else ""
        inputs = _inputs(claim)
        note = "; ".join(filter(None, (claim.note, witness.note if first else "")))
        lines.append((label, claim.figure, *cells(claim, key), "as above" if inputs == last_inputs else inputs, note))
        last, last_inputs = witness.id, inputs
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _refuted_cells(claim: Claim, key: AnswerKey) -> tuple[str, ...]:
    return _figure(claim.printed), _figure(claim.right), _shown(claim, key)


def _confirmed_cells(claim: Claim, key: AnswerKey) -> tuple[str, ...]:
    return _figure(claim.printed), _shown(claim, key), " ".join(_rounding(claim))


def _rounding(claim: Claim) -> Iterator[str]:
    if claim.amount:
        yield "by enclosure"
        return
    yield claim.rounding
    if claim.unit:
        yield f"to {claim.unit:,f}"
    elif claim.decimals is not None:
        yield f"to {claim.decimals} decimals" if claim.decimals else "to whole months"


def _shown(claim: Claim, key: AnswerKey) -> str:
    if claim.amount:
        low, high = (f"{paid:,.2f}" for paid in claim.enclosure(key, "reference"))
        return f"{claim.amount} is paid between {low} and {high}"
    # Of a table's or an amount's float the page shows no more digits than a float is good for.
    value = claim.value(key, "reference")
    places = min(_exponent(claim.printed) + SHOWN_BEYOND, 14 - max(value.adjusted(), 0))
    text = f"{value.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP):,f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _figure(text: str) -> str:
    whole, point, decimals = text.partition(".")
    sign, digits = ("-", whole[1:]) if whole.startswith("-") else ("", whole)
    return f"{sign}{int(digits):,}{point}{decimals}"


def _inputs(claim: Claim) -> str:
    given = {name: value for name, value in claim.inputs.items() if name not in claim.chosen}
    given |= claim.given
    parts = [claim.model]
    if given:
        parts.append(f"given {_listed(given)}")
    if claim.chosen:
        parts.append(f"chosen {_listed(claim.chosen)}")
    return "; ".join(parts)


def _listed(inputs: Inputs) -> str:
    return ", ".join(f"{name} {value:,}" for name, value in inputs.items())


def _source(witness: Witness) -> str:
    unread = f" † {witness.unverified[0].upper()}{witness.unverified[1:]}." if witness.unverified else ""
    return f"- **{witness.id}** {witness.source}.{unread}\n"


def main() -> None:
    """Write the page."""
    PAGE.write_text(render(read(), load_workspace(ROOT)), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
