"""The README's table of how each model's 250 cases fall, from the published vectors: `python -m benchmarks.readme`."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from concordance import load_workspace
from concordance.spec import Spec
from concordance.vectors import read_vectors, vectors_name

ROOT = Path(__file__).resolve().parent.parent


def vectors_table() -> str:
    """A Markdown table: kinds, branches (sentinels) and text outputs, all cases and the random ones among them."""
    key = load_workspace(ROOT)
    lines = ["| model | | all 250 | random |", "|---|---|---|---|"]
    for model in key.models:
        spec = key.spec(model)
        content = (ROOT / "vectors" / vectors_name(model, spec.version)).read_bytes()
        _, *cases = read_vectors(content, model)
        lines += _rows(spec, cases)
    return "\n".join(lines)


def _rows(spec: Spec, cases: list[dict[str, Any]]) -> list[str]:
    kinds = Counter(case["kind"] for case in cases)
    shown = ", ".join(f"{kinds[kind]} {kind}s" if kind != "random" else f"{kinds[kind]} random" for kind in kinds)
    rows = [f"| **{spec.model}** | {shown} | {len(cases)} | {kinds['random']} |"]
    for output in spec.outputs:
        for value in [*(sentinel.value for sentinel in output.sentinels), *output.values]:
            hits = [case["kind"] for case in cases if case["expected"][output.name] == value]
            rows.append(
                f"| | `{output.name}` is {value:g} | {len(hits)} | {hits.count('random')} |"
                if isinstance(value, float)
                else f"| | `{output.name}` is {value} | {len(hits)} | {hits.count('random')} |"
            )
    return rows


if __name__ == "__main__":
    print(vectors_table())
