"""Small faults in a Python source, one at a time: what `audit` injects to see whether the cases notice.

The operators are mutmut's (numbers, comparisons, arithmetic, keywords, arguments, texts, conditions); which places
are mutated is decided here: everything that runs, and nothing that is only read. Pure: a source in, sources out.
Needs the extra `concordance-key[audit]`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from concordance.errors import UnusableInputError


@dataclass(frozen=True)
class Fault:
    """One fault: where it is, what stood there, what stands there now, and the whole faulty source."""

    line: int
    column: int
    before: str
    after: str
    source: str


def faults(source: str) -> list[Fault]:
    """Every fault that the operators make in a source, in order of place, none twice."""
    cst, metadata, operators = _library()
    wrapper = metadata.MetadataWrapper(cst.parse_module(source), unsafe_skip_copy=True)
    spans = wrapper.resolve(metadata.ByteSpanPositionProvider)
    places = wrapper.resolve(metadata.PositionProvider)
    encoded = source.encode("utf-8")
    found: dict[bytes, Fault] = {}
    for node in _running_nodes(wrapper.module, cst):
        if node not in spans:
            continue
        start, end = spans[node].start, spans[node].start + spans[node].length
        place = places[node].start
        for kind, operator in operators:
            for mutated in operator(node) if isinstance(node, kind) else ():
                after = wrapper.module.code_for_node(mutated).encode("utf-8")
                faulty = encoded[:start] + after + encoded[end:]
                if faulty not in found and faulty != encoded and _compiles(faulty):
                    before = encoded[start:end].decode("utf-8")
                    found[faulty] = Fault(
                        place.line, place.column, before, after.decode("utf-8"), faulty.decode("utf-8")
                    )
    return sorted(found.values(), key=lambda fault: (fault.line, fault.column, fault.before, fault.after))


def _running_nodes(module: Any, cst: Any) -> Iterator[Any]:
    """The nodes that run when the module is used: no annotations, imports, decorators, docstrings or type aliases."""
    waiting = [module]
    while waiting:
        node = waiting.pop()
        if isinstance(node, (cst.Annotation, cst.Import, cst.ImportFrom, cst.Decorator, cst.Assert)):
            continue
        if isinstance(node, cst.Expr) and isinstance(node.value, (cst.SimpleString, cst.ConcatenatedString)):
            continue
        if isinstance(node, cst.ClassDef):
            waiting.append(node.body)
            continue
        yield node
        waiting += node.children


def _compiles(source: bytes) -> bool:
    try:
        compile(source, "fault", "exec")
    except (SyntaxError, ValueError):
        return False
    return True


def _library() -> tuple[Any, Any, Any]:
    try:
        import libcst
        from libcst import metadata
        from mutmut.mutation.mutators import mutation_operators
    except ImportError:
        raise UnusableInputError(
            "auditing needs the extra packages", hint="pip install 'concordance-key[audit]'"
        ) from None
    return libcst, metadata, mutation_operators
