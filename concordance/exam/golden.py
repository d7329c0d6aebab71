"""Golden sets: sealed questions with their right answers and evidence, and the documents that the answers stand in.

Three sources. `from_model`: cases of this workspace's models that are published nowhere, drawn from a secret seed and
answered by the reference, with the engine's consent; `papers` words them. `from_financebench`: the numeric questions
of a public benchmark's file, which is read and never shipped. `from_lines`: a team's own JSON lines, one `Item` a line,
as `golden_schema` describes it. Nothing here is random that the seed does not decide, and nothing is written.
"""

from __future__ import annotations

import dataclasses
import itertools
import json
import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Final, TypeAlias

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from concordance.cases import RandomCases, generate
from concordance.compare import compare, outside_contract
from concordance.errors import JsonError, UnusableInputError
from concordance.exam.agreement import numeric_item
from concordance.exam.figures import SCALES
from concordance.exam.papers import Absent, Dice, Papers, Person, Question, people, shared_papers, wording, write_papers
from concordance.exam.referee import Evidence, Item, Needles, Reference, Tolerance
from concordance.implementations import load
from concordance.numbers import json_text, parse_json, sha256_hex
from concordance.spec import Inputs, Spec
from concordance.workspace import Workspace

Outputs: TypeAlias = dict[str, Any]


@dataclass(frozen=True)
class Golden:
    """A golden set. `given` names, for each question, the documents that a candidate may be handed with it."""

    title: str
    items: tuple[Item, ...]
    documents: Mapping[str, str]
    given: Mapping[str, tuple[str, ...]]
    source: str
    licence: str
    notes: tuple[str, ...] = field(default=())


# From models

NEGATIVE_SHARE: Final = 6
"""One question in so many cannot be answered from the documents, and must be declined."""

MOST_QUESTIONS: Final = 5_000
SLACK: Final = 1e-4
"""The relative tolerance of a drawn question about a real number: its working may round, its method may not differ."""

_PER_PERSON: Final = 3
_ATTEMPTS: Final = 200
_PROOFS: Final = 10
_LIVES: Final = 12
"""With so many other values of a withheld input the answer is computed, to prove that it hangs on it."""


def from_model(
    workspace: Workspace, models: Sequence[str], secret_seed: str, count: int, *, numeric: bool = False
) -> Golden:
    """Questions about `count` things in invented people's lives, the models taking turns.

    With `numeric` every answer is a number other than 0: no text, no "never", and nothing to decline.
    Raises `UnusableInputError`, also where the engine disagrees with the reference on a drawn case.
    """
    specs = _wanted_specs(workspace, models, secret_seed, count)
    crowd = people(Dice(secret_seed, "people"))
    drafts: list[_Draft] = []
    documents: dict[str, str] = {}
    for place, spec in enumerate(specs):
        author = _Author(workspace, spec, secret_seed, crowd, numeric)
        drafts += author.write(count // len(specs) + (place < count % len(specs)))
        documents |= author.documents
    drafts = Dice(secret_seed, "order").shuffled(drafts)
    width = max(3, len(str(count)))
    items = tuple(replace(draft.item, id=f"Q{place:0{width}d}") for place, draft in enumerate(drafts, 1))
    return Golden(
        title=f"Golden set of {', '.join(spec.title for spec in specs)}",
        items=items,
        documents=dict(sorted(documents.items())),
        given={item.id: draft.given for item, draft in zip(items, drafts, strict=True)},
        source=", ".join(f"{spec.model} {spec.version}" for spec in specs) + ", cases drawn from a secret seed",
        licence="made by this workspace; people, places and firms are invented",
        notes=("Answers are those of the reference implementation; the engine agreed on every case.",),
    )


def _wanted_specs(workspace: Workspace, models: Sequence[str], secret_seed: str, count: int) -> list[Spec]:
    if not secret_seed.strip():
        raise UnusableInputError("the secret seed is empty", hint="give one that nobody can guess")
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= MOST_QUESTIONS:
        raise UnusableInputError(f"cannot make {count!r} questions", hint=f"1 to {MOST_QUESTIONS:,}")
    if not models or len(set(models)) < len(models):
        raise UnusableInputError("needs at least one model, and each once", hint=", ".join(workspace.models))
    return [workspace.spec(model) for model in models][:count]


@dataclass(frozen=True)
class _Draft:
    """A question that has no number yet."""

    item: Item
    given: tuple[str, ...]


class _Author:
    """Writes the questions about one model."""

    def __init__(self, workspace: Workspace, spec: Spec, secret: str, crowd: Iterator[Person], numeric: bool) -> None:
        self._spec, self._secret, self._crowd, self._numeric = spec, secret, crowd, numeric
        self._words = wording(spec)
        self._reference, self._engine = load(workspace, "reference", spec), load(workspace, "engine", spec)
        self._dice = Dice(secret, spec.model, "questions")
        self._lives = _unpublished(workspace, spec, secret, self._words.profiles)
        self._deck = self._dice.shuffled(
            [question for question in self._words.question if question.kind != "text" or not numeric]
        )
        self._shared = shared_papers(spec, self._words)
        self._full: list[Papers] = []
        self._asked: set[tuple[str, str]] = set()
        self.documents: dict[str, str] = {}

    def write(self, count: int) -> list[_Draft]:
        """So many questions, about one in six of them to be declined."""
        if not count:
            return []
        self.documents |= self._shared
        negatives = 0 if self._numeric else (count + NEGATIVE_SHARE // 2) // NEGATIVE_SHARE
        absent = negatives // 3 if self._words.absent else 0
        drafts = [draft for _ in range(negatives - absent) for draft in self._withheld()]
        for _ in range(_ATTEMPTS + count):
            if len(drafts) >= count - absent:
                break
            drafts += self._answerable(count - absent - len(drafts))
        for number in range(count - len(drafts)):
            drafts += [draft] if self._full and (draft := self._absent(number)) is not None else []
        if len(drafts) < count:
            raise UnusableInputError(
                f"{count} questions cannot be made, {len(drafts)} can",
                where=self._spec.path,
                hint="its outputs seldom have the kind of answer asked for",
            )
        return drafts

    def _answerable(self, most: int) -> list[_Draft]:
        """One to three questions about one new person, at most `most`."""
        inputs = next(self._lives)
        outputs = self._answers([inputs])[0]
        questions = self._deal(outputs, min(1 + self._dice.pick(_PER_PERSON), most))
        if not questions:
            return []
        papers = self._papers(inputs, ())
        self._full.append(papers)
        return [self._draft(papers, question, outputs) for question in questions]

    def _deal(self, outputs: Outputs, most: int, without: str | None = None) -> list[Question]:
        """Questions from the top of the deck that this life has an answer to, `without` one of its inputs."""
        questions: list[Question] = []
        for question in self._deck:
            taken = [other.output for other in questions]
            if len(questions) < most and question.output not in taken and without not in question.needs:
                questions += [question] if self._askable(question, outputs) else []
        return [self._dealt(question) for question in questions]

    def _dealt(self, question: Question) -> Question:
        """The question, put to the back of the deck, so that all of them have their turn."""
        self._deck.remove(question)
        self._deck.append(question)
        return question

    def _askable(self, question: Question, outputs: Outputs) -> bool:
        value = outputs[question.output]
        if self._is_sentinel(question, value):
            return bool(question.never) and not self._numeric
        if self._numeric and value == 0:
            return False
        return isinstance(value, (str, bool)) or math.isfinite(value)

    def _is_sentinel(self, question: Question, value: object) -> bool:
        return value in [sentinel.value for sentinel in self._spec.output[question.output].sentinels]

    def _draft(self, papers: Papers, question: Question, outputs: Outputs) -> _Draft:
        value = outputs[question.output]
        item = Item(
            id="",
            question=self._phrase(question.ask, papers),
            kind=question.kind,
            evidence=papers.evidence(question.needs),
            corpus=self._spec.model,
        )
        if self._is_sentinel(question, value):
            item = replace(item, needles=Needles(any=question.never), expected=question.never[0])
        elif question.kind == "text":
            text = {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)
            item = replace(item, needles=Needles(all=(text,)), expected=text)
        else:
            exact = float(Decimal(repr(value)) * question.times)
            item = replace(item, reference=Reference(exact, question.unit), tolerance=self._tolerance(question))
        return _Draft(item, self._given(papers))

    def _tolerance(self, question: Question) -> Tolerance:
        """Half a unit of the last place asked for, and what rounded working may add; whole numbers are exact."""
        if self._spec.output[question.output].type == "integer":
            return Tolerance(0.0, 0.0)
        return Tolerance(SLACK, float(Decimal(5).scaleb(-question.places - 1)))

    def _given(self, papers: Papers) -> tuple[str, ...]:
        return tuple(sorted([*papers.documents, *self._shared]))

    def _phrase(self, ask: Sequence[str], papers: Papers) -> str:
        return self._dice.choice(ask).replace("{person}", papers.person.name)

    # What must be declined

    def _withheld(self) -> list[_Draft]:
        """A question about a person whose papers lack an input that the answer is proved to hang on.

        Others that do not need the input are asked about the same person: being asked but once would give it away.
        """
        for inputs in itertools.islice(self._lives, _PROOFS):
            for question in self._deck:
                for name in self._dice.shuffled(question.needs):
                    if self._hangs_on(question, name, inputs):
                        papers = self._papers(inputs, (name,))
                        declined = self._declined(papers, self._dealt(question))
                        outputs = self._answers([inputs])[0]
                        others = self._deal(outputs, self._dice.pick(_PER_PERSON), without=name)
                        return [declined, *(self._draft(papers, other, outputs) for other in others)]
        return []

    def _hangs_on(self, question: Question, name: str, inputs: Inputs) -> bool:
        """Whether the answer is another one in another life that differs in this input alone."""
        others = [{**inputs, name: next(self._lives)[name]} for _ in range(_LIVES)]
        given, *found = [answer[question.output] for answer in self._answers([inputs, *others])]
        return any(_differs(given, value) for value in found)

    def _absent(self, number: int) -> _Draft | None:
        """A question about something that nobody's papers state, to a person who is asked other things too."""
        for question, papers in itertools.product(
            _turned(self._words.absent, number), self._dice.shuffled(self._full)[:_ATTEMPTS]
        ):
            if (question.ask[0], papers.person.name) not in self._asked:
                self._asked.add((question.ask[0], papers.person.name))
                return self._declined(papers, question)
        return None

    def _declined(self, papers: Papers, question: Question | Absent) -> _Draft:
        item = Item(
            id="",
            question=self._phrase(question.ask, papers),
            kind=question.kind,
            negative=True,
            corpus=self._spec.model,
        )
        return _Draft(item, self._given(papers))

    # Cases and answers

    def _papers(self, inputs: Inputs, withheld: Collection[str]) -> Papers:
        person = next(self._crowd)
        dice = Dice(self._secret, self._spec.model, person.name)
        papers = write_papers(self._spec, self._words, person, inputs, next(self._lives), withheld, dice)
        self.documents |= papers.documents
        return papers

    def _answers(self, cases: Sequence[Inputs]) -> list[Outputs]:
        """The reference's outputs. Raises `UnusableInputError` if the engine has others."""
        expected = self._reference.expected(cases)
        got = self._engine.expected(cases)
        compared = compare(self._spec.outputs, expected, got)
        for place in range(len(cases)):
            if compared.failed[place] or place in outside_contract(self._spec.outputs, expected):
                names = sorted({difference.path for difference in compared.differences(place, 3)})
                raise UnusableInputError(
                    f"engine and reference disagree on a drawn case: {', '.join(names) or 'outside the contract'}",
                    where=self._spec.path,
                    hint=f"no key can be made of it; inputs {json_text(cases[place])}",
                )
        return expected.answers(self._spec.outputs)


def _turned(values: Sequence[Any], by: int) -> list[Any]:
    return [values[(place + by) % len(values)] for place in range(len(values))]


def _differs(one: object, other: object) -> bool:
    """Whether two answers are further apart than any tolerance that a question gives."""
    if isinstance(one, (int, float)) and isinstance(other, (int, float)) and not isinstance(one, bool):
        return abs(one - other) > 0.02 * max(abs(one), abs(other))
    return one != other


def _unpublished(workspace: Workspace, spec: Spec, secret: str, profiles: Collection[str]) -> Iterator[Inputs]:
    """Cases by the spec's own draws, from a number space that only the secret opens, none of them a published one."""
    published = {
        case.digest
        for version in workspace.versions(spec.model)
        for case in generate(workspace.spec(spec.model, version))
    }
    secret_spec = dataclasses.replace(
        spec,
        seed=sha256_hex(json_text(["exam", secret, spec.model]).encode()),
        profiles=tuple(profile for profile in spec.profiles if not profiles or profile.name in profiles),
    )
    draws, missed = RandomCases(secret_spec), 0
    for number in itertools.count():
        case = draws.case(number)
        missed = missed + 1 if case.digest in published else 0
        if not missed:
            yield case.inputs
        elif missed > _ATTEMPTS:
            raise UnusableInputError(
                "every possible input is published", where=spec.path, hint="an exam needs a model with more cases"
            )


# From FinanceBench

FINANCEBENCH_SHA256: Final = "a5a2aa673e573e55675fc3c0f9aa38c1cf59d2abc91edb077534f71f10a71877"
"""The open file as its authors published it: 150 questions."""

FINANCEBENCH_LICENCE: Final = "CC-BY-NC-4.0"
FINANCEBENCH_COUNT: Final = 30
SELECTION: Final = (
    "Of the questions whose reference answer is one number and nothing else but a sign, $, %, grouping or a scale "
    "word, the 30 whose identifiers have the lowest SHA-256, in the file's order."
)


class _Passage(Struct, frozen=True):
    evidence_text: str
    doc_name: str
    evidence_page_num: int | str | None = None


class _Record(Struct, frozen=True):
    """What is read of one line of the benchmark's file; it has more."""

    financebench_id: str
    question: str
    answer: str
    evidence: tuple[_Passage, ...]


def from_financebench(content: bytes, *, any_digest: bool = False) -> Golden:
    """The benchmark's numeric questions, 30 of them by the rule `SELECTION`, with the passages its authors quote.

    Raises `UnusableInputError` for another file than the known one, unless `any_digest` says that it may be.
    """
    digest = sha256_hex(content)
    if digest != FINANCEBENCH_SHA256 and not any_digest:
        raise UnusableInputError(
            f"is not the known FinanceBench file: its SHA-256 is {digest}, not {FINANCEBENCH_SHA256}",
            hint="get the authors' open-source file, or accept any digest",
        )
    numeric = [item for record in _records(content) if (item := _benchmark_item(record)) is not None]
    chosen = {item.id for item in sorted(numeric, key=_by_digest)[:FINANCEBENCH_COUNT]}
    if len(chosen) < FINANCEBENCH_COUNT:
        raise UnusableInputError(f"holds {len(chosen)} numeric questions, and {FINANCEBENCH_COUNT} are needed")
    items = tuple(item for item in numeric if item.id in chosen)
    check_items(items, "FinanceBench")
    passages: dict[str, dict[str, None]] = {}
    for passage in (passage for item in items for passage in item.evidence):
        passages.setdefault(passage.doc, {})[f"[page {passage.page}]\n{passage.text}\n"] = None
    return Golden(
        title=f"FinanceBench, {FINANCEBENCH_COUNT} numeric questions",
        items=items,
        documents={name: "\n".join(texts) for name, texts in sorted(passages.items())},
        given={item.id: tuple(dict.fromkeys(passage.doc for passage in item.evidence)) for item in items},
        source=f"FinanceBench (Islam et al. 2023), open-source file, SHA-256 {digest}",
        licence=FINANCEBENCH_LICENCE,
        notes=(SELECTION, "Documents are the passages that the authors quote as evidence, not whole filings."),
    )


def _by_digest(item: Item) -> str:
    return sha256_hex(item.id.encode())


def _records(content: bytes) -> Iterator[_Record]:
    for number, line in enumerate(content.splitlines(), 1):
        if line.strip():
            yield _converted(_json_line(line, f"line {number}"), _Record, f"line {number}")


def _benchmark_item(record: _Record) -> Item | None:
    item = numeric_item(record.financebench_id, record.question, record.answer)
    if item is None:
        return None
    passages = (Evidence(one.doc_name, one.evidence_page_num, one.evidence_text.strip()) for one in record.evidence)
    return replace(item, evidence=tuple(passages))


# From a team's lines

UNITS: Final = ("", "usd", "percent", "fraction", "bps", "months")
_LONGEST_ID: Final = 100
_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]*")
_DOCUMENT: Final = re.compile(r"[^\x00-\x1f/\\]+")


def from_lines(content: bytes, path: str, documents: Mapping[str, str] | None = None) -> Golden:
    """A team's own golden set: JSON lines, an `Item` each. `documents` by name, where the team has them as text.

    Raises `UnusableInputError` with path, line and field at the first thing that cannot be used.
    """
    items, lines = [], []
    for number, line in enumerate(content.splitlines(), 1):
        if line.strip():
            items.append(_converted(_json_line(line, f"{path}:{number}"), Item, f"{path}:{number}"))
            lines.append(number)
    check_items(items, path, lambda place: f"{path}:{lines[place]}")
    for place, item in enumerate(items):
        for number, passage in enumerate(item.evidence):
            for what in _evidence_faults(passage, documents or {}):
                raise UnusableInputError(f"evidence[{number}].{what}", where=f"{path}:{lines[place]}")
    return Golden(
        title=f"Golden set of {len(items)} questions",
        items=tuple(items),
        documents=dict(documents or {}),
        # All of them with each question: its own ones would be a hint, and none would tell what must be declined.
        given={item.id: tuple(documents) for item in items} if documents else {},
        source=f"{path}, SHA-256 {sha256_hex(content)}",
        licence="the team's own",
    )


def _evidence_faults(passage: Evidence, documents: Mapping[str, str]) -> Iterator[str]:
    if documents and passage.doc not in documents:
        yield f"doc: no document is named {passage.doc!r}"
    elif documents and " ".join(passage.text.split()) not in " ".join(documents[passage.doc].split()):
        yield f"text: does not stand in {passage.doc!r}"


def golden_schema() -> dict[str, Any]:
    """One line of a golden set as JSON Schema (2020-12)."""
    schema = msgspec.json.schema(Item)
    definition = schema["$defs"]["Item"]
    definition["properties"]["id"] |= {"pattern": f"^{_ID.pattern}$", "maxLength": _LONGEST_ID}
    definition["properties"]["question"] |= {"pattern": r"\S"}
    schema["$defs"]["Reference"]["properties"]["unit"] |= {"enum": list(UNITS)}
    some, none = {"minItems": 1}, {"maxItems": 0}
    needles = {name: {"properties": {name: some}, "required": [name]} for name in ("all", "any")}
    said: dict[str, Any] = {
        "reference": {"type": "object"},
        "needles": {"anyOf": list(needles.values())},
        "expected": {"type": "string", "pattern": r"\S"},
    }
    unsaid = {"reference": {"type": "null"}, "needles": {"properties": {"all": none, "any": none}}}
    return {
        **definition,
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "One question of a golden set: a line of its JSON lines",
        "if": {"properties": {"negative": {"const": True}}, "required": ["negative"]},
        "then": {"properties": {**unsaid, "expected": {"type": "null"}}},
        "else": {
            "properties": {"evidence": some},
            "required": ["evidence"],
            "anyOf": [{"properties": {name: rule}, "required": [name]} for name, rule in said.items()],
        },
        "$defs": {name: part for name, part in schema["$defs"].items() if name != "Item"},
    }


def check_items(items: Sequence[Item], title: str, where: Callable[[int], str] | None = None) -> None:
    """Refuse a set that no exam can be made of. Raises `UnusableInputError` naming the item and the field."""
    if not items:
        raise UnusableInputError("holds no questions", where=title, hint="a golden set needs at least one")
    seen: dict[str, int] = {}
    for place, item in enumerate(items):
        at = where(place) if where else f"{title}: {item.id or f'question {place + 1}'}"
        for what in _faults(item):
            raise UnusableInputError(what, where=at)
        first = seen.setdefault(item.id, place)
        if first != place:
            raise UnusableInputError(
                f"id: {item.id!r} comes twice", where=at, hint=f"first in {where(first)}" if where else ""
            )


def _faults(item: Item) -> Iterator[str]:
    if not _ID.fullmatch(item.id) or len(item.id) > _LONGEST_ID:
        yield f"id: must be 1 to {_LONGEST_ID} letters, digits and . _ : -, not {item.id[:_LONGEST_ID]!r}"
    if not item.question.strip():
        yield "question: is empty"
    yield from _answer_faults(item)
    if not item.negative and not item.evidence:
        yield "evidence: is missing; only a negative item has none"
    for number, passage in enumerate(item.evidence):
        if not _DOCUMENT.fullmatch(passage.doc) or passage.doc.startswith("."):
            yield f"evidence[{number}].doc: is no document's name: {passage.doc!r}"
        if not passage.text.strip():
            yield f"evidence[{number}].text: is empty"


def _answer_faults(item: Item) -> Iterator[str]:
    needles = item.needles.all + item.needles.any
    for name in ("rel", "abs"):
        if not 0 <= getattr(item.tolerance, name) < math.inf:
            yield f"tolerance.{name}: must be a finite number of 0 or more"
    if any(not re.search(r"\w", needle) for needle in needles):
        yield "needles: one of them has no words"
    if item.negative:
        if item.reference is not None or needles or item.expected is not None:
            yield "negative: an item that must be declined has no reference, needles or expected text"
        return
    if item.reference is not None:
        yield from _reference_faults(item.reference)
        if item.kind == "text":
            yield "reference: an item of kind text has needles or an expected text"
    elif not needles and not (item.expected or "").strip():
        wants = "needles or expected" if item.kind == "text" else "reference"
        yield f"{wants}: is missing; only a negative item has no answer"


def _reference_faults(reference: Reference) -> Iterator[str]:
    if not math.isfinite(reference.value):
        yield "reference.value: must be a finite number"
    if reference.unit not in UNITS:
        yield f"reference.unit: must be one of {', '.join(UNITS[1:])} or nothing, not {reference.unit!r}"
    if isinstance(reference.scale, str):
        word = reference.scale.strip().lower().rstrip(".")
        if word and word not in SCALES:
            yield f"reference.scale: is no scale word: {reference.scale!r}"
    elif not 0 < reference.scale < math.inf:
        yield "reference.scale: must be a finite number above 0"


def _json_line(line: bytes, where: str) -> Any:
    try:
        return parse_json(line)
    except JsonError as error:
        if (name := _not_a_number(line)) is not None:
            raise UnusableInputError(f"{name}: must be a finite number", where=where) from None
        raise UnusableInputError(error.what, where=where, hint=error.hint) from None


def _not_a_number(line: bytes) -> str | None:
    """The field of a line that is NaN or infinite, which JSON has no word for."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return next(_odd_numbers(value, ""), None)


def _odd_numbers(value: Any, at: str) -> Iterator[str]:
    if isinstance(value, float) and not math.isfinite(value):
        yield at
    elif isinstance(value, dict):
        for name, part in value.items():
            yield from _odd_numbers(part, f"{at}.{name}" if at else name)
    elif isinstance(value, list):
        for place, part in enumerate(value):
            yield from _odd_numbers(part, f"{at}[{place}]")


def _converted(value: Any, kind: Any, where: str) -> Any:
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        what, _, at = str(error).partition(" - at `")
        name = at.rstrip("`").removeprefix("$").removeprefix(".")
        raise UnusableInputError(f"{name}: {what}" if name else what, where=where) from None
