"""`concordance exam …`: each command parses, calls the exam, prints and exits."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

if TYPE_CHECKING:
    from concordance.exam.candidates import Sitting as Progress
    from concordance.exam.folder import Exam, Sitting
    from concordance.exam.referee import Outcome
    from concordance.keys import PrivateKey

FINDING: Final = 1

_DIR: Final = click.Path(file_okay=False, path_type=Path)
_FILE: Final = click.Path(dir_okay=False, path_type=Path)
_format = click.option(
    "--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True, help="How to print it."
)
_key = click.option(
    "--key", "key_path", type=_FILE, metavar="FILE", help="Sign the ledger's row with this private key."
)
_k = click.option("--k", type=int, default=2, show_default=True, help="What a wrong answer costs: 1 to 10.")


@click.group()
def exam() -> None:
    """All commands of `concordance exam`; `cli` says what it is."""


@exam.command()
@click.argument("folder", type=_DIR, metavar="DIR")
@click.option("--from-model", "models", multiple=True, metavar="MODEL", help="Ask about this model; all, unless given.")
@click.option(
    "--secret-seed", metavar="TEXT", help="Draw the same questions again from this seed; random, unless given."
)
@click.option("--count", type=click.IntRange(1, 5_000), default=30, show_default=True, help="How many questions.")
@click.option("--numeric", is_flag=True, help="Numbers only: no texts, no 'never', nothing to decline.")
@_key
@click.pass_context
def new(
    ctx: click.Context,
    folder: Path,
    models: tuple[str, ...],
    secret_seed: str | None,
    count: int,
    numeric: bool,
    key_path: Path | None,
) -> None:
    """Make an exam in DIR from this workspace's models: cases that are published nowhere, and documents to read."""
    from concordance.exam.folder import Exam
    from concordance.exam.golden import from_model
    from concordance.workspace import find_workspace, open_workspace

    root = ctx.find_root().obj
    workspace = find_workspace() if root is None else open_workspace(root)
    golden = from_model(
        workspace, models or workspace.models, secret_seed or os.urandom(32).hex(), count, numeric=numeric
    )
    _made(Exam.create(folder, golden, _now(), os.urandom, _private(key_path)))


@exam.command("import")
@click.argument("kind", type=click.Choice(["financebench", "lines"]))
@click.argument("source", metavar="FILE_OR_ADDRESS")
@click.argument("folder", type=_DIR, metavar="DIR")
@click.option("--any-digest", is_flag=True, help="Take a FinanceBench file that is not the one known.")
@_key
def import_golden(kind: str, source: str, folder: Path, any_digest: bool, key_path: Path | None) -> None:
    """Make an exam in DIR from FinanceBench's open file, or from JSON lines of your own (see `exam schema`)."""
    from concordance.exam.fetch import read_source
    from concordance.exam.folder import Exam
    from concordance.exam.golden import from_financebench, from_lines

    content = read_source(source)
    golden = (
        from_financebench(content, any_digest=any_digest) if kind == "financebench" else from_lines(content, source)
    )
    _made(Exam.create(folder, golden, _now(), os.urandom, _private(key_path)))


def _made(made: Exam) -> None:
    click.echo(f"{made.about.title}: {made.about.count} questions, sealed")
    click.echo(f"source: {made.about.source}\nlicence: {made.about.licence}")
    click.echo(f"keep this head elsewhere: {made.ledger.head()}")


@exam.command()
def schema() -> None:
    """Print the JSON Schema of a line of a golden set of your own."""
    import json

    from concordance.exam.golden import golden_schema

    click.echo(json.dumps(golden_schema(), indent=2))


@exam.command()
@click.argument("folder", type=_DIR, metavar="DIR")
@click.argument("candidate", metavar="NAME")
@click.option("--transcript", type=_FILE, metavar="FILE", help="Replies that are there already, as JSON lines.")
@click.option("--endpoint", metavar="ADDRESS", help="An OpenAI-compatible endpoint, such as https://api.openai.com/v1.")
@click.option("--model", default="", metavar="NAME", help="The endpoint's model.")
@click.option(
    "--key-from", default="", metavar="VARIABLE", help="The environment variable that has the endpoint's key."
)
@click.option("--command", metavar="COMMAND", help="A command that reads questions and writes replies, as JSON lines.")
@click.option("--concurrency", type=click.IntRange(1, 64), default=4, show_default=True, help="Questions at a time.")
@click.option("--times", type=click.IntRange(1, 50), default=1, show_default=True, help="Sit so often, for the spread.")
@_key
@click.pass_context
def sit(
    ctx: click.Context,
    folder: Path,
    candidate: str,
    transcript: Path | None,
    endpoint: str | None,
    model: str,
    key_from: str,
    command: str | None,
    concurrency: int,
    times: int,
    key_path: Path | None,
) -> None:
    """Put the questions to a candidate and store its replies. A sitting that stopped half way goes on where it was."""
    from concordance.errors import UnusableInputError
    from concordance.exam.candidates import Command, Endpoint
    from concordance.exam.folder import Exam

    if sum(map(bool, (transcript, endpoint, command))) != 1:
        raise click.UsageError("give one of --transcript, --endpoint and --command")
    opened = Exam.open(folder)
    key = _private(key_path)
    if transcript is not None:
        _store_transcript(opened, candidate, transcript, key)
        return
    if endpoint is not None:
        if key_from and key_from not in os.environ:
            raise UnusableInputError(f"the environment has no variable {key_from}")
        asked: Any = Endpoint(
            endpoint, model, os.environ.get(key_from, "") if key_from else "", concurrency=concurrency
        )
    else:
        asked = Command(command or "", Path.cwd())
    for _ in range(times):
        if not _sat(opened, opened.next_sitting(candidate), asked, key):
            ctx.exit(FINDING)


def _store_transcript(opened: Exam, candidate: str, path: Path, key: PrivateKey | None) -> None:
    """A transcript that was made elsewhere, as a complete sitting; nothing is written unless all of it is usable."""
    from concordance.atomic import replace_file
    from concordance.errors import UnusableInputError
    from concordance.exam.candidates import read_transcript

    sitting = opened.next_sitting(candidate)
    try:
        content = path.read_bytes()
    except OSError as error:
        raise UnusableInputError(error.strerror or "cannot be read", where=str(path)) from None
    read_transcript(content, path, [question.id for question in opened.questions])
    replace_file(opened.root / "transcripts" / f"{sitting.file}.jsonl", content)
    opened.enter(sitting, _now(), key)
    click.echo(f"{sitting.file}: {len(opened.questions)} replies stored and entered")


def _sat(opened: Exam, sitting: Sitting, asked: Any, key: PrivateKey | None) -> bool:
    from concordance.exam.candidates import sit as put

    with _progress(len(opened.questions), f"{sitting.file}") as progress:
        done = put(asked, opened.questions, opened.documents, opened.transcript(sitting), progress)
    for note in done.notes:
        click.echo(f"note: {note}", err=True)
    if not done.complete:
        click.echo(
            f"{sitting.file}: {done.before + done.stored} of {done.questions} replies stored; sit again to go on"
        )
        return False
    opened.enter(sitting, _now(), key)
    click.echo(f"{sitting.file}: {done.questions} replies stored and entered")
    return True


@exam.command()
@click.argument("folder", type=_DIR, metavar="DIR")
@_key
def personas(folder: Path, key_path: Path | None) -> None:
    """Have the three scripted personas sit an exam of thirty numeric questions, to show how the board works."""
    from concordance.exam.example import sit_personas
    from concordance.exam.folder import Exam

    for sitting, transcript in sit_personas(Exam.open(folder), _now, _private(key_path)):
        click.echo(f"{sitting.file}: scripted; {transcript.title}")


@exam.command()
@click.argument("folder", type=_DIR, metavar="DIR")
@_key
@_format
def grade(folder: Path, key_path: Path | None, form: str) -> None:
    """Have the referee judge every stored sitting that has no result yet."""
    import json

    import msgspec

    from concordance.console import table
    from concordance.exam.folder import Exam

    opened = Exam.open(folder)
    results = opened.grade(_now(), _private(key_path))
    if form == "json":
        click.echo(json.dumps(msgspec.to_builtins(results), indent=2, ensure_ascii=False))
        return
    if not results:
        click.echo("nothing new to grade")
        return
    header = ("sitting", "correct", "abstained", "wrong", "citations rejected")
    rows = []
    for result in results:
        rejected = sum(verdict.citation == "rejected" for verdict in result.verdicts.values())
        counts = (result.correct, result.abstain, result.wrong, rejected)
        rows.append((f"{result.candidate}.{result.sitting}", *map(str, counts)))
    click.echo(table(header, rows))


@exam.command()
@click.argument("folder", type=_DIR, metavar="DIR")
@_k
@_format
def board(folder: Path, k: int, form: str) -> None:
    """Rank the candidates at the price K of a wrong answer, with every line of the arithmetic."""
    import json

    import msgspec

    from concordance.exam.board import board as standing
    from concordance.exam.board import board_text
    from concordance.exam.folder import Exam

    opened = Exam.open(folder)
    shown = standing(opened.about.title, opened.standings(), k)
    click.echo(
        json.dumps(msgspec.to_builtins(shown), indent=2, ensure_ascii=False) if form == "json" else board_text(shown)
    )


@exam.command()
@click.argument("folder", type=_DIR, metavar="DIR")
@click.argument("sitting", metavar="NAME.N")
@click.argument("question", metavar="ID")
def worksheet(folder: Path, sitting: str, question: str) -> None:
    """Show how a graded reply was judged: question, reply, right answer, what was read, tolerance."""
    from concordance.errors import UnusableInputError
    from concordance.exam.folder import Exam

    opened = Exam.open(folder)
    result = next((each for each in opened.results() if f"{each.candidate}.{each.sitting}" == sitting), None)
    if result is None:
        graded = ", ".join(f"{each.candidate}.{each.sitting}" for each in opened.results()) or "none yet"
        raise UnusableInputError(f"{sitting} was not graded", where=str(folder), hint=f"graded: {graded}")
    if question not in result.verdicts:
        raise UnusableInputError(f"no question {question}", where=str(folder))
    item = next(item for item in opened.items if item.id == question)
    entered = next(each for each in opened.entered() if each.file == sitting)
    reply, verdict = opened.replies(entered)[question], result.verdicts[question]
    right = item.reference
    lines = [
        ("question", item.question),
        ("answered", str(reply.answer) if reply.answer is not None else "null"),
        ("in words", reply.text or ""),
        ("cited", reply.cite or ""),
        ("right", f"{right.value:g} {right.scale} {right.unit}".strip() if right else item.expected or "to decline"),
        ("read", verdict.read or ""),
        ("as", verdict.parsed or ""),
        ("allowed", verdict.allowed or ""),
        ("citation", verdict.citation),
        ("outcome", f"{verdict.outcome}{f' ({verdict.note})' if verdict.note else ''}"),
    ]
    click.echo("\n".join(f"{name:9} {text}" for name, text in lines if text))


@exam.command()
@click.argument("folder", type=_DIR, metavar="DIR")
@click.option("--owner", required=True, metavar="NAME", help="Who answers for the risk.")
@click.option("--k", type=int, required=True, help="What a wrong answer costs to this owner: 1 to 10.")
@_key
def sign(folder: Path, owner: str, k: int, key_path: Path | None) -> None:
    """Enter a person's sign-off in the ledger: owner, price of a wrong answer, ranking."""
    from concordance.exam.folder import Exam

    opened = Exam.open(folder)
    signed = opened.sign(owner, k, _now(), _private(key_path))
    click.echo(f"signed off by {signed['owner']} at k = {signed['k']}: {', '.join(signed['ranking'])}")
    click.echo(f"keep this head elsewhere: {opened.ledger.head()}")


@exam.command()
@click.argument("place", type=click.Path(exists=True, path_type=Path), metavar="DIR_OR_EXPORT")
@click.option(
    "--trust", "keys", multiple=True, type=_FILE, metavar="FILE", help="A public key: what it did not sign, fails."
)
@click.option("--head", metavar="COUNT:HASH", help="A head that was kept elsewhere, of now or of any time before.")
@click.pass_context
def verify(ctx: click.Context, place: Path, keys: tuple[Path, ...], head: str | None) -> None:
    """Check an exam, or an exported ledger alone: names the row or file that was changed, removed or reordered."""
    from concordance.exam.chain import Head
    from concordance.exam.folder import Exam
    from concordance.exam.ledger import verify_export
    from concordance.keys import read_public_key

    trusted = [read_public_key(path) for path in keys]
    kept = Head.parse(head) if head else None
    if place.is_dir():
        opened = Exam.open(place)
        faults = opened.verify(trusted, kept)
        count = opened.ledger.head().count if not faults else 0
    else:
        checked = verify_export(place, keys=trusted, head=kept)
        faults, count = [f"ledger: {fault}" for fault in checked.faults], checked.head.count
    for fault in faults:
        click.echo(f"BROKEN  {fault}")
    if faults:
        ctx.exit(FINDING)
    click.echo(f"{count} rows, one chain; nothing was changed")


@exam.command()
@click.argument("folder", type=_DIR, metavar="DIR")
@click.option("-o", "--output", type=_FILE, metavar="FILE", help="Where to; standard output, unless given.")
def export(folder: Path, output: Path | None) -> None:
    """Write the ledger as JSON lines with a footer: to be kept, and verified, anywhere."""
    from concordance.atomic import replace_file
    from concordance.exam.folder import Exam

    content = b"".join(Exam.open(folder).ledger.export())
    if output is None:
        sys.stdout.buffer.write(content)
    else:
        replace_file(output.absolute(), content)
        click.echo(f"wrote {output}")


@exam.command()
@click.argument("folder", type=_DIR, metavar="DIR")
@click.pass_context
def replay(ctx: click.Context, folder: Path) -> None:
    """Judge every graded sitting anew from its stored transcript: the verdicts and digests must be the same."""
    from concordance.exam.folder import Exam

    opened = Exam.open(folder)
    differing = opened.replay()
    for line in differing:
        click.echo(f"DIFFERS  {line}")
    if differing:
        ctx.exit(FINDING)
    click.echo(f"{len(opened.graded())} sittings judged anew: the same verdicts, the same digests")


@exam.command()
@click.argument("folder", type=_DIR, metavar="DIR")
@click.argument("candidate", metavar="NAME")
@click.option("--zero-wrong-money", is_flag=True, help="Fail if any reply is confidently wrong about a sum of money.")
@click.option("--min-governed", type=int, metavar="SCORE", help="Fail if any sitting's governed score is below SCORE.")
@_k
@_format
@click.pass_context
def gate(
    ctx: click.Context,
    folder: Path,
    candidate: str,
    zero_wrong_money: bool,
    min_governed: int | None,
    k: int,
    form: str,
) -> None:
    """Hold a candidate's graded sittings to the bar: for CI and procurement.

    A candidate may be unhelpful; it may not be confidently wrong about a dollar figure.
    """
    import json

    import msgspec

    from concordance.errors import UnusableInputError
    from concordance.exam.folder import Exam
    from concordance.exam.money import bar
    from concordance.exam.score import governed

    if not zero_wrong_money and min_governed is None:
        raise click.UsageError("give --zero-wrong-money, --min-governed, or both: a gate without a bar is open")
    opened = Exam.open(folder)
    sittings = {each.file: each for each in opened.entered()}
    results = opened.standings().get(candidate)
    if not results:
        known = ", ".join(opened.standings()) or "nobody yet"
        raise UnusableInputError(f"{candidate} was not graded", where=str(folder), hint=f"graded: {known}")
    shown, fails = [], []
    for result in results:
        name, score = f"{result.candidate}.{result.sitting}", governed(result.tally, k)
        money = bar(opened.items, result.verdicts, opened.replies(sittings[name]))
        if zero_wrong_money:
            fails += [f"{name} {each.id}: wrong money, {each.figure} ({each.note})" for each in money.violations]
        if min_governed is not None and score < min_governed:
            fails.append(f"{name}: governed score {score:+d} at k = {k} is below {min_governed:+d}")
        shown.append({"sitting": name, "governedScore": score, "k": k, "money": msgspec.to_builtins(money)})
    if form == "json":
        click.echo(json.dumps({"ok": not fails, "sittings": shown, "fails": fails}, indent=2, ensure_ascii=False))
    else:
        for fail in fails:
            click.echo(f"FAILS  {fail}")
        for each in shown:
            money = each["money"]
            click.echo(
                f"{each['sitting']}: governed score {each['governedScore']:+d} at k = {k}; of {money['questions']} "
                f"money questions {money['answered']} answered, {money['declined']} declined, "
                f"{len(money['violations'])} confidently wrong"
            )
        click.echo("BLOCKED" if fails else "The bar is met.")
    if fails:
        ctx.exit(FINDING)


@exam.command()
@click.argument("folders", nargs=-1, required=True, type=_DIR, metavar="DIR...")
@_k
def record(folders: tuple[Path, ...], k: int) -> None:
    """Print the record over time: accuracy and wrong money per corpus and run, and stale negatives."""
    from concordance.console import table
    from concordance.exam.folder import Exam
    from concordance.exam.record import record_lines, runs, stale_negatives
    from concordance.exam.score import whole_k

    exams = [Exam.open(folder) for folder in folders]
    found = sorted((run for each in exams for run in runs(each)), key=lambda run: run.graded)
    header = ("graded", "sitting", "corpus", "correct", "wrong money", f"governed at k = {whole_k(k)}")
    click.echo(table(header, record_lines(found, k)) if found else "nothing was graded yet")
    for what in ("key", "corpus", "grader"):
        if len({getattr(run, what) for run in found}) > 1:
            click.echo(f"not all runs have the same {what}: compare them one by one")
    for opened in exams:
        for name in stale_negatives(opened):
            click.echo(f"STALE  {opened.root}: {name} must be declined, but its figure now stands in the documents")


@exam.command()
@click.argument("before", type=click.Path(path_type=Path), metavar="DIR/NAME.N")
@click.argument("after", type=click.Path(path_type=Path), metavar="DIR/NAME.N")
@_format
@click.pass_context
def compare(ctx: click.Context, before: Path, after: Path, form: str) -> None:
    """List every question that moved between two graded sittings, both ways. Fails if anything got worse."""
    import json

    import msgspec

    from concordance.exam.folder import Exam
    from concordance.exam.record import compare as compared
    from concordance.exam.record import run_of

    one, other = (run_of(Exam.open(path.parent), path.name) for path in (before, after))
    found = compared(one, other)
    if form == "json":
        click.echo(json.dumps({"ok": found.ok, **msgspec.to_builtins(found)}, indent=2, ensure_ascii=False))
    else:
        for what in found.changed:
            click.echo(f"CHANGED  the {what} is not the same: not every move is the candidate's")
        for how in dict.fromkeys(move.how for move in found.moves):
            names = [move.id for move in found.moves if move.how == how]
            click.echo(f"{how}: {len(names)} ({', '.join(names)})")
        if found.not_in_both:
            click.echo(f"not in both: {', '.join(found.not_in_both)}")
        click.echo(f"wrong money: {found.wrong_money_before} before, {found.wrong_money_after} after")
        click.echo("Nothing got worse." if found.ok else "WORSE")
    if not found.ok:
        ctx.exit(FINDING)


@exam.command("key")
@click.argument("path", type=_FILE, metavar="FILE")
def make_key(path: Path) -> None:
    """Make an Ed25519 key pair: FILE is private, FILE.pub is for whoever verifies."""
    from concordance.atomic import replace_file
    from concordance.keys import new_key, public_pem

    key = new_key(path)
    public = path.with_name(path.name + ".pub")
    replace_file(public.absolute(), public_pem(key.public_key()))
    click.echo(f"wrote {path} and {public}")


@exam.command()
@click.argument("folder", type=_DIR, metavar="DIR")
@_format
def agreement(folder: Path, form: str) -> None:
    """Hold the referee against people's labels (a FinanceBench folder with results/) and print the confusion."""
    import json

    from concordance.console import table
    from concordance.exam.agreement import measure

    found = measure(folder)
    outcomes: tuple[Outcome, ...] = ("correct", "wrong", "abstain")
    disputed = [
        {"run": one.run, "id": one.item.id, "label": one.label, "outcome": one.verdict.outcome, "why": one.dispute}
        for one in found.disputed
    ]
    if form == "json":
        confusion = {label: {outcome: found.confusion[label, outcome] for outcome in outcomes} for label in outcomes}
        data = {
            "labels": len(found.labelled),
            "confusion": confusion,
            "agreement": found.overall,
            "undisputedAgreement": found.undisputed,
            "disputed": disputed,
            "declinesRecognised": found.recall,
            "falseDeclines": found.false_decline_rate,
        }
        click.echo(json.dumps(data, indent=2, ensure_ascii=False))
        return
    rows = [(label, *(str(found.confusion[label, outcome]) for outcome in outcomes)) for label in outcomes]
    click.echo(table(("people's label", *outcomes), rows))
    click.echo(
        f"\n{found.overall:.2%} of {len(found.labelled)} labels agree, {found.undisputed:.2%} of those not disputed."
    )
    click.echo(
        f"{found.recall:.2%} of refusals are recognised; {found.false_decline_rate:.2%} of answers are called one."
    )
    click.echo(f"\n{len(disputed)} labels are disputed:")
    for each in disputed:
        click.echo(f"  {each['run']} {each['id']}: labelled {each['label']}, judged {each['outcome']}: {each['why']}")


@contextmanager
def _progress(length: int, label: str) -> Iterator[Any]:
    """A progress bar on stderr where a person watches."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    with click.progressbar(length=length, label=label, file=sys.stderr) as bar:
        shown = 0

        def progress(sitting: Progress) -> None:
            nonlocal shown
            done = sitting.before + sitting.stored
            bar.update(done - shown)
            shown = done

        yield progress


def _private(path: Path | None) -> PrivateKey | None:
    from concordance.keys import read_private_key

    return read_private_key(path) if path else None


def _now() -> str:
    from datetime import UTC, datetime

    return f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
