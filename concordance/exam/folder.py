"""An exam as a folder: the paper, the sealed key, transcripts, results, and the ledger that all of them are entered in.

    exam.json        what it is          paper.jsonl   the questions       documents/   what they may be answered from
    key.jsonl        the right answers   transcripts/  a file a sitting    results/     a file a graded sitting
    ledger.sqlite    every step, chained and signed where a key was given

`Exam` makes and opens such a folder. The key is for the grading alone: candidates are put `questions`, which hold no
answer. Whoever may write the folder may change any file of it; `verify` says which one, since the ledger has a digest
of each. Times are given, no clock is read.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from concordance.atomic import replace_file
from concordance.errors import UnusableInputError
from concordance.exam.chain import Fault, Head
from concordance.exam.golden import Golden
from concordance.exam.ledger import Ledger, verify_ledger
from concordance.exam.referee import Item, Reply, Verdict, judge
from concordance.exam.score import Tally, ranking, whole_k
from concordance.exam.sealing import check, paper, root, seal
from concordance.exam.transcripts import Question, Transcript, read_transcript
from concordance.numbers import canonical_json, parse_json, sha256_hex

if TYPE_CHECKING:
    from concordance.keys import PrivateKey, PublicKey

RULES: Final = 1
"""The version of the referee's rules: a result names the rules that it was graded by."""

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_SITTING: Final = re.compile(r"(.+)\.([1-9][0-9]*)\.jsonl")


class About(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """What an exam is."""

    title: str
    created: str
    source: str
    licence: str
    count: int
    documents: bool
    notes: tuple[str, ...] = ()


class Sealed(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A line of the key: an item, and the salt of its commitment."""

    salt: str
    item: Item


class Result(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """A graded sitting: every verdict by question, and their count."""

    candidate: str
    sitting: int
    scripted: bool
    rules: int
    correct: int
    abstain: int
    wrong: int
    verdicts: dict[str, Verdict]

    @property
    def tally(self) -> Tally:
        return Tally(self.correct, self.abstain, self.wrong)


@dataclass(frozen=True, order=True)
class Sitting:
    """One sitting of one candidate, whether complete or not."""

    candidate: str
    number: int

    @property
    def file(self) -> str:
        return f"{self.candidate}.{self.number}"


class Exam:
    """The exam in a folder."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.ledger = Ledger(root / "ledger.sqlite")

    @classmethod
    def create(
        cls, root: Path, golden: Golden, now: str, random: Callable[[int], bytes], key: PrivateKey | None = None
    ) -> Exam:
        """Make an exam of a golden set: seal every answer, and enter the commitments in the ledger.

        Raises `UnusableInputError` if the folder is there and not empty, or the set is.
        """
        if root.exists() and (not root.is_dir() or any(root.iterdir())):
            raise UnusableInputError("is there and not empty", where=str(root), hint="name a new folder")
        if not golden.items:
            raise UnusableInputError("the golden set is empty", where=golden.title)
        sealed = seal(golden.items, random)
        about = About(
            golden.title, now, golden.source, golden.licence, len(golden.items), bool(golden.documents), golden.notes
        )
        (root / "documents").mkdir(parents=True)
        (root / "transcripts").mkdir()
        (root / "results").mkdir()
        for name, text in golden.documents.items():
            (root / "documents" / f"{name}.txt").write_text(text, "utf-8")
        questions = paper(golden, documents=bool(golden.documents))
        (root / "paper.jsonl").write_bytes(questions)
        lines = [msgspec.json.encode(Sealed(sealed.salts[item.id], item)) + b"\n" for item in golden.items]
        (root / "key.jsonl").touch(mode=0o600)
        (root / "key.jsonl").write_bytes(b"".join(lines))
        exam = cls(root)
        payload = {
            "title": golden.title,
            "source": golden.source,
            "paperSha256": sha256_hex(questions),
            "documentsSha256": {name: sha256_hex(text.encode()) for name, text in golden.documents.items()},
            "commitments": dict(sealed.commitments),
            "root": sealed.root,
        }
        exam.ledger.append("seal", payload, now, key)
        # Last, so that a folder that has it is a whole exam.
        replace_file(root / "exam.json", msgspec.json.format(msgspec.json.encode(about), indent=1) + b"\n")
        return exam

    @classmethod
    def open(cls, root: Path) -> Exam:
        """The exam in a folder. Raises `UnusableInputError` where there is none."""
        if not (root / "exam.json").is_file():
            raise UnusableInputError("holds no exam", where=str(root), hint="concordance exam new or import makes one")
        return cls(root)

    @cached_property
    def about(self) -> About:
        """What this exam is."""
        about: About = self._read("exam.json", About)
        return about

    @cached_property
    def questions(self) -> tuple[Question, ...]:
        """The questions as candidates see them."""
        return tuple(self._lines("paper.jsonl", Question))

    @cached_property
    def documents(self) -> Mapping[str, str]:
        """The documents' texts by name."""
        folder = self.root / "documents"
        return {path.stem: path.read_text("utf-8") for path in sorted(folder.glob("*.txt"))}

    @cached_property
    def items(self) -> tuple[Item, ...]:
        """The questions with their right answers. Raises `UnusableInputError` if they are not those committed to."""
        sealed = tuple(self._lines("key.jsonl", Sealed))
        items = tuple(each.item for each in sealed)
        commitments = self.commitments
        changed = check(items, {each.item.id: each.salt for each in sealed}, commitments)
        if changed or root(commitments) != self._sealing()["root"]:
            shown = ", ".join(changed[:5]) or "their order"
            raise UnusableInputError(
                f"the key is not the one that was sealed: {shown}", where=str(self.root / "key.jsonl")
            )
        return items

    @property
    def commitments(self) -> Mapping[str, str]:
        """The commitment to each answer, as the ledger has it."""
        found: dict[str, str] = self._sealing()["commitments"]
        return {question.id: found[question.id] for question in self.questions if question.id in found}

    # Sittings -----------------------------------------------------------------------------------------------------

    def sittings(self, candidate: str | None = None) -> list[Sitting]:
        """All sittings that were begun, of one candidate or of all."""
        matches = (_SITTING.fullmatch(path.name) for path in (self.root / "transcripts").glob("*.jsonl"))
        found = sorted(Sitting(match[1], int(match[2])) for match in matches if match)
        return [each for each in found if candidate in (None, each.candidate)]

    def next_sitting(self, candidate: str) -> Sitting:
        """The sitting to go on with, or a new one. Raises `UnusableInputError` if the name cannot be a file's."""
        if not _NAME.fullmatch(candidate):
            hint = "letters, digits, dot, dash and underscore; up to 64"
            raise UnusableInputError(f"no name for a candidate: {candidate[:80]}", hint=hint)
        entered = self.entered()
        begun = self.sittings(candidate)
        return next((each for each in begun if each not in entered), Sitting(candidate, len(begun) + 1))

    def transcript(self, sitting: Sitting) -> Transcript:
        """The file that a sitting's replies go to."""
        return Transcript(self.root / "transcripts" / f"{sitting.file}.jsonl")

    def enter(self, sitting: Sitting, now: str, key: PrivateKey | None = None, *, scripted: bool = False) -> None:
        """Enter a complete sitting in the ledger: from now on its transcript is what it is.

        Raises `UnusableInputError` if a reply is missing.
        """
        content = self._transcript_bytes(sitting)
        read_transcript(content, self._transcript_path(sitting), [question.id for question in self.questions])
        payload = {
            "candidate": sitting.candidate,
            "sitting": sitting.number,
            "scripted": scripted,
            "transcriptSha256": sha256_hex(content),
        }
        self.ledger.append("sitting", payload, now, key)

    def entered(self) -> dict[Sitting, Mapping[str, Any]]:
        """The sittings in the ledger, with what it says of each."""
        rows = (row.payload for row in self.ledger.rows() if row.kind == "sitting")
        return {Sitting(payload["candidate"], int(payload["sitting"])): payload for payload in rows}

    def replies(self, sitting: Sitting) -> dict[str, Reply]:
        """A complete sitting's replies by question."""
        path, ids = self._transcript_path(sitting), [question.id for question in self.questions]
        return read_transcript(self._transcript_bytes(sitting), path, ids)

    # Grading ------------------------------------------------------------------------------------------------------

    def judged(self, sitting: Sitting, *, scripted: bool = False) -> Result:
        """What the referee makes of a sitting, anew from its transcript."""
        replies = self.replies(sitting)
        verdicts = {item.id: judge(item, replies[item.id]) for item in self.items}
        outcomes = Counter(verdict.outcome for verdict in verdicts.values())
        counts = (outcomes["correct"], outcomes["abstain"], outcomes["wrong"])
        return Result(sitting.candidate, sitting.number, scripted, RULES, *counts, verdicts)

    def grade(self, now: str, key: PrivateKey | None = None) -> list[Result]:
        """Grade every sitting in the ledger that has no grading yet, and enter each. Returns the new results."""
        graded = self.graded()
        new = []
        for sitting, payload in self.entered().items():
            if sitting in graded:
                continue
            result = self.judged(sitting, scripted=payload["scripted"])
            content = render(result)
            replace_file(self._result_path(sitting), content)
            entry = {
                "candidate": sitting.candidate,
                "sitting": sitting.number,
                "rules": RULES,
                "transcriptSha256": payload["transcriptSha256"],
                "resultSha256": sha256_hex(content),
                "correct": result.correct,
                "abstain": result.abstain,
                "wrong": result.wrong,
            }
            self.ledger.append("grading", entry, now, key)
            new.append(result)
        return new

    def graded(self) -> dict[Sitting, Mapping[str, Any]]:
        """The gradings in the ledger, with what it says of each."""
        rows = (row.payload for row in self.ledger.rows() if row.kind == "grading")
        return {Sitting(payload["candidate"], int(payload["sitting"])): payload for payload in rows}

    def results(self) -> list[Result]:
        """The results of all graded sittings. Raises `UnusableInputError` if one is not as it was entered."""
        found = []
        for sitting, payload in self.graded().items():
            content = self._bytes(f"results/{sitting.file}.json")
            if sha256_hex(content) != payload["resultSha256"]:
                raise UnusableInputError(
                    "is not the result that the ledger entered", where=str(self._result_path(sitting)), hint="replay it"
                )
            found.append(msgspec.json.decode(content, type=Result))
        return sorted(found, key=lambda result: (result.candidate, result.sitting))

    def standings(self) -> dict[str, list[Result]]:
        """The results by candidate."""
        found: dict[str, list[Result]] = {}
        for result in self.results():
            found.setdefault(result.candidate, []).append(result)
        return found

    # Sign-off and verification ------------------------------------------------------------------------------------

    def sign(self, owner: str, k: int, now: str, key: PrivateKey | None = None) -> Mapping[str, Any]:
        """Enter a person's sign-off: who answers for the risk, the price of a wrong answer, the ranking at it.

        Raises `UnusableInputError` if nobody is named, k is none, nothing was graded, or anything was tampered with.
        """
        if not owner.strip() or len(owner) > 200:
            raise UnusableInputError("a sign-off needs the risk owner's name or identifier")
        if faults := self.verify():
            raise UnusableInputError(
                f"cannot be signed: {faults[0]}", where=str(self.root), hint="exam verify says all"
            )
        tallies = {name: total(results) for name, results in self.standings().items()}
        if not tallies:
            raise UnusableInputError("nothing was graded yet", where=str(self.root), hint="concordance exam grade")
        payload = {"owner": owner.strip(), "k": whole_k(k), "ranking": list(ranking(tallies, k))}
        self.ledger.append("sign-off", payload, now, key)
        return payload

    def replay(self) -> list[str]:
        """Judge every graded sitting anew: what differs from what was entered; empty if nothing does."""
        found = []
        for sitting, payload in self.graded().items():
            anew = self.judged(sitting, scripted=self.entered()[sitting]["scripted"])
            if sha256_hex(render(anew)) != payload["resultSha256"]:
                stored = self._stored(sitting)
                moved = [n for n, verdict in anew.verdicts.items() if stored and stored.verdicts.get(n) != verdict]
                found.append(f"{sitting.file}: other verdicts on {', '.join(moved[:10]) or 'the whole'}")
        return found

    def verify(self, keys: Sequence[PublicKey] = (), head: Head | None = None) -> list[str]:
        """Everything in the folder that is not as the ledger says; empty if all is well."""
        checked = verify_ledger(self.ledger.path, keys=keys, head=head)
        found = [f"ledger: {fault}" for fault in checked.faults]
        return found or list(self._file_faults())

    def faults(self, keys: Sequence[PublicKey] = (), head: Head | None = None) -> tuple[Fault, ...]:
        """What is wrong with the ledger alone."""
        return verify_ledger(self.ledger.path, keys=keys, head=head).faults

    def _file_faults(self) -> Iterator[str]:
        sealing = self._sealing()
        if sha256_hex(self._bytes("paper.jsonl")) != sealing["paperSha256"]:
            yield "paper.jsonl: is not the paper that was sealed"
        documents = {name: sha256_hex(text.encode()) for name, text in self.documents.items()}
        for name in sorted({*documents, *sealing["documentsSha256"]}):
            if documents.get(name) != sealing["documentsSha256"].get(name):
                yield f"documents/{name}.txt: is not the document that was sealed"
        try:
            _ = self.items
        except UnusableInputError as error:
            yield f"key.jsonl: {error.what}"
        for sitting, payload in self.entered().items():
            if self._digest(f"transcripts/{sitting.file}.jsonl") != payload["transcriptSha256"]:
                yield f"transcripts/{sitting.file}.jsonl: is not the transcript that was entered"
        for sitting, payload in self.graded().items():
            if self._digest(f"results/{sitting.file}.json") != payload["resultSha256"]:
                yield f"results/{sitting.file}.json: is not the result that was entered"

    # Files --------------------------------------------------------------------------------------------------------

    def _sealing(self) -> Mapping[str, Any]:
        row = next((row for row in self.ledger.rows() if row.kind == "seal"), None)
        if row is None:
            raise UnusableInputError("has no seal in its ledger", where=str(self.root))
        return row.payload

    def _stored(self, sitting: Sitting) -> Result | None:
        try:
            return msgspec.json.decode(self._bytes(f"results/{sitting.file}.json"), type=Result)
        except (UnusableInputError, msgspec.DecodeError):
            return None

    def _transcript_path(self, sitting: Sitting) -> Path:
        return self.root / "transcripts" / f"{sitting.file}.jsonl"

    def _result_path(self, sitting: Sitting) -> Path:
        return self.root / "results" / f"{sitting.file}.json"

    def _transcript_bytes(self, sitting: Sitting) -> bytes:
        return self._bytes(f"transcripts/{sitting.file}.jsonl")

    def _digest(self, name: str) -> str:
        path = self.root / name
        return sha256_hex(path.read_bytes()) if path.is_file() else ""

    def _bytes(self, name: str) -> bytes:
        try:
            return (self.root / name).read_bytes()
        except OSError as error:
            raise UnusableInputError(error.strerror or "cannot be read", where=str(self.root / name)) from None

    def _read(self, name: str, kind: Any) -> Any:
        try:
            return msgspec.json.decode(self._bytes(name), type=kind)
        except msgspec.DecodeError as error:
            raise UnusableInputError(str(error), where=str(self.root / name)) from None

    def _lines(self, name: str, kind: Any) -> Iterator[Any]:
        for number, line in enumerate(self._bytes(name).splitlines(), 1):
            try:
                yield msgspec.convert(parse_json(line), kind)
            except (msgspec.ValidationError, UnusableInputError) as error:
                raise UnusableInputError(str(error), where=f"{self.root / name}:{number}") from None


def render(result: Result) -> bytes:
    """A result as its file: canonical JSON, so that a replay gives the same bytes."""
    return canonical_json(msgspec.to_builtins(result)) + b"\n"


def total(results: Sequence[Result]) -> Tally:
    """The counts of several sittings together."""
    return Tally(
        sum(result.correct for result in results),
        sum(result.abstain for result in results),
        sum(result.wrong for result in results),
    )
