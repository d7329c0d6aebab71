"""The command line: parse, call, print, exit. No rules of its own.

Exit status: 0 fine, 1 a finding, 2 unusable input, 3 the harness itself failed. Everything but click is imported by
the command that needs it, so that `concordance --help` answers at once.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import IO, TYPE_CHECKING, Any, Final

import click

from concordance import __version__

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from concordance.cases import Case
    from concordance.evidence import Evidence
    from concordance.server.exam import ExamOptions
    from concordance.spec import Spec
    from concordance.workspace import Workspace

FINDING: Final = 1
UNUSABLE: Final = 2
HARNESS: Final = 3
INTERRUPTED: Final = 130
UNHEARD: Final = 141

VERDICTS: Final = ("engine", "reference", "spec-ambiguous", "case-wrong")


class _Path(click.Path):
    """A path that commands get as a `pathlib.Path`, which is slow to import and so not imported for `--help`."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        from pathlib import Path

        return Path(os.fsdecode(super().convert(value, param, ctx)))


_FILE: Final = _Path(dir_okay=False)
_FOLDER: Final = _Path()


class _Group(click.Group):
    """Turns Concordance's errors into one line and an exit status."""

    def invoke(self, ctx: click.Context) -> Any:
        from concordance.errors import ConcordanceError

        try:
            return super().invoke(ctx)
        except ConcordanceError as error:
            click.echo(f"error: {error}", err=True)
            ctx.exit(error.exit_status)
        except (click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except KeyboardInterrupt:
            click.echo("interrupted", err=True)
            ctx.exit(INTERRUPTED)
        except BrokenPipeError:
            # Whoever read the output has enough: say no more, not even at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            ctx.exit(UNHEARD)
        except OSError as error:
            where = f"{error.filename}: " if error.filename else ""
            click.echo(f"error: {where}{error.strerror or error}", err=True)
            ctx.exit(UNUSABLE)
        except Exception as error:
            import traceback

            click.echo(traceback.format_exc(), err=True)
            click.echo(f"error: Concordance itself failed: {type(error).__name__}: {error}", err=True)
            ctx.exit(HARNESS)


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="concordance")
@click.option("--workspace", "root", type=_FOLDER, metavar="DIR", help="Use the workspace in DIR.")
@click.pass_context
def main(ctx: click.Context, root: Path | None) -> None:
    """Answer keys for financial models, and the gate that keeps two implementations in agreement.

    Works on the workspace around the current folder, or on the built-in models.

    Exit status: 0 fine, 1 a finding, 2 unusable input, 3 Concordance itself failed, 130 interrupted, 141 the output
    was closed.
    """
    ctx.obj = root
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # whatever the locale, data are UTF-8
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def _workspace(ctx: click.Context) -> Workspace:
    from concordance.workspace import find_workspace, open_workspace

    workspace = find_workspace() if ctx.obj is None else open_workspace(ctx.obj)
    if workspace.interrupted:
        from concordance.errors import WorkspaceError
        from concordance.release import recover

        with suppress(WorkspaceError), workspace.lock(patience=0):  # or it is not interrupted but under way
            recover(workspace, _say)
    return workspace


def _say(text: str) -> None:
    click.echo(text, err=True)


_format = click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="How to print the result.",
)


@main.command()
@click.argument("models", nargs=-1, metavar="[MODEL]...")
@click.option("--cases", "count", type=click.IntRange(1), help="How many cases; those beyond the published are random.")
@click.option("--case", "identifiers", multiple=True, metavar="ID", help="Only this case, such as refinance-0007.")
@click.option("--inputs", metavar="JSON", help="Only these inputs, for one MODEL.")
@click.option("--impl", "commands", multiple=True, metavar="NAME=COMMAND", help="Compare this command, too (see eval).")
@click.option(
    "--patience",
    type=click.FloatRange(0.1, 86_400),
    default=30,
    show_default=True,
    help="Seconds a command may take for an answer.",
)
@_format
@click.pass_context
def check(
    ctx: click.Context,
    models: tuple[str, ...],
    count: int | None,
    identifiers: tuple[str, ...],
    inputs: str | None,
    commands: tuple[str, ...],
    patience: float,
    form: str,
) -> None:
    """Run both implementations of each MODEL (default: all) and compare every output. This is the gate.

    An implementation in any language is compared with --impl js='node model.js': it reads inputs as JSON lines and
    writes {"outputs": ...} a line, as `concordance eval` does.
    """
    from concordance.check import check_model
    from concordance.console import check_json, check_text

    if sum(map(bool, (count, identifiers, inputs))) > 1:
        raise click.UsageError("give one of --cases, --case and --inputs")
    workspace = _workspace(ctx)
    specs = [workspace.spec(model) for model in _chosen(workspace, models)]
    if inputs is not None and len(specs) != 1:
        raise click.UsageError("--inputs goes with one MODEL")
    cases = [_cases(spec, count, identifiers, inputs) for spec in specs]
    others = dict(_named(command) for command in commands)
    if len(others) != len(commands):
        raise click.UsageError("each --impl needs a name of its own")
    results = []
    with _progress(sum(map(len, cases)), "checking") as progress:
        for spec, chosen in zip(specs, cases, strict=True):
            results += check_model(workspace, spec, chosen, progress, others, patience) if chosen else []
    known = {case.id for chosen in cases for case in chosen}
    if unknown := [identifier for identifier in identifiers if identifier not in known]:
        raise click.UsageError(f"no such case: {', '.join(unknown)}")
    click.echo(check_json(results) if form == "json" else check_text(results))
    if not all(result.ok for result in results):
        ctx.exit(FINDING)


def _cases(spec: Spec, count: int | None, identifiers: tuple[str, ...], inputs: str | None) -> list[Case]:
    from concordance.cases import COUNT, case_by_id, generate, given_case
    from concordance.numbers import parse_json

    if inputs is not None:
        return [given_case(spec, parse_json(inputs))]
    if identifiers:
        return [case for identifier in identifiers if (case := case_by_id(spec, identifier))]
    return generate(spec, count or COUNT)


def _named(option: str) -> tuple[str, str]:
    name, separator, command = option.partition("=")
    if not separator or not name.isidentifier() or name in ("engine", "reference"):
        raise click.UsageError(f"--impl takes NAME=COMMAND with a name of its own, not {option}")
    return name, command


@main.command("eval")
@click.argument("model")
@click.option(
    "--impl",
    "side",
    type=click.Choice(["engine", "reference"]),
    default="engine",
    show_default=True,
    help="Who computes.",
)
@click.pass_context
def evaluate(ctx: click.Context, model: str, side: Any) -> None:
    """Compute MODEL's outputs: one JSON object of inputs a line on stdin, one answer a line on stdout.

    An answer is {"outputs": ...}, or {"errors": [{"field", "message"}]} for a line that cannot be used; the lines
    after it still answer.
    """
    from concordance.evaluate import answer_lines
    from concordance.implementations import load

    workspace = _workspace(ctx)
    spec = workspace.spec(model)
    implementation = load(workspace, side, spec)
    total = failed = 0
    for lines in _arriving_lines():
        answers, bad = answer_lines(implementation, spec, lines)
        total, failed = total + len(lines), failed + bad
        click.echo("\n".join(answers))
    if failed:
        click.echo(f"error: {failed} of {total} lines could not be answered", err=True)
        ctx.exit(UNUSABLE)


@main.command()
@click.argument("model")
@click.option("--start", type=click.IntRange(0), default=0, show_default=True, help="The first case's number.")
@click.option("--count", type=click.IntRange(1), default=250, show_default=True, help="How many cases.")
@click.pass_context
def cases(ctx: click.Context, model: str, start: int, count: int) -> None:
    """Print MODEL's generated cases, one JSON object a line: id, kind, inputs, and why an edge is there."""
    from concordance.cases import COUNT, RandomCases, generate
    from concordance.console import case_line

    spec = _workspace(ctx).spec(model)
    published = generate(spec)[start : start + count]
    for case in published:
        click.echo(case_line(case))
    draw = RandomCases(spec)
    for number in range(max(start, COUNT), start + count):
        click.echo(case_line(draw.case(number)))


@main.command()
@click.argument("models", nargs=-1, metavar="[MODEL]...")
@click.pass_context
def export(ctx: click.Context, models: tuple[str, ...]) -> None:
    """Check each MODEL (default: all) and write its vectors and the manifest, all at once or not at all."""
    from concordance.console import check_text
    from concordance.publish import export as write

    workspace = _workspace(ctx)
    result = write(workspace, _chosen(workspace, models), _say)
    if not result.ok:
        for problem in result.refused:
            click.echo(str(problem))
        if not result.refused:
            click.echo(check_text(result.checks))
        _say(f"error: nothing was written{'' if result.refused else ': the implementations must agree first'}")
        ctx.exit(FINDING)
    for path in result.written:
        click.echo(f"wrote {path}")
    if not result.written:
        click.echo("vectors are up to date")


@main.command()
@click.argument("models", nargs=-1, metavar="[MODEL]...")
@click.option("--public-key", type=_FILE, metavar="FILE", help="Check the manifest's signature with this key (PEM).")
@click.pass_context
def verify(ctx: click.Context, models: tuple[str, ...], public_key: Path | None) -> None:
    """Recompute each MODEL's current vectors byte for byte, and hold older ones to the manifest."""
    from concordance.publish import verify as find_problems
    from concordance.publish import verify_signature

    workspace = _workspace(ctx)
    chosen = _chosen(workspace, models)
    problems = find_problems(workspace, chosen)
    if public_key is not None:
        problems += verify_signature(workspace, public_key)
    for problem in problems:
        click.echo(str(problem))
    if problems:
        ctx.exit(FINDING)
    signed = "; the manifest is signed with this key" if public_key else ""
    click.echo(f"vectors of {', '.join(chosen)} are as published: every byte reproduced{signed}")


@main.command()
@click.argument("model")
@click.argument("version")
@click.option("--why", required=True, metavar="TEXT", help="Why there is a new version, for users of the answers.")
@click.option("--approver", required=True, metavar="ID", help="Who approves it.")
@click.option("--key", type=_FILE, metavar="FILE", help="Sign the manifest with this Ed25519 private key (PEM).")
@click.option("--dry-run", is_flag=True, help="Examine every condition and print the entry; write nothing.")
@click.pass_context
def release(
    ctx: click.Context, model: str, version: str, why: str, approver: str, key: Path | None, dry_run: bool
) -> None:
    """Release VERSION of MODEL: examine every condition, then write vectors, changelog entry and manifest."""
    from concordance.console import conditions_text
    from concordance.release import Request, commit, examine

    workspace = _workspace(ctx)
    today = _now().date().isoformat()
    examined = examine(workspace, Request(model, version, why, approver, today), key)
    click.echo(conditions_text(examined.conditions))
    if not examined.ok:
        _say(f"error: {model} {version} is not released; nothing was written")
        ctx.exit(FINDING)
    if dry_run:
        click.echo(f"\n{examined.files[f'changelog/{model}/{version}.md'].decode()}")
        return
    for path in commit(workspace, examined, _say):
        click.echo(f"wrote {path}")


@main.command()
@click.argument("model")
@click.argument("identifier", metavar="CASE")
@click.option("--verdict", type=click.Choice(VERDICTS), required=True, help="Whose fault the disagreement is.")
@click.option("--note", required=True, metavar="TEXT", help="What was wrong, for the changelog.")
@click.option("--by", required=True, metavar="ID", help="Who judged it.")
@click.pass_context
def settle(ctx: click.Context, model: str, identifier: str, verdict: Any, note: str, by: str) -> None:
    """Record a person's verdict on a CASE on which MODEL's implementations disagree now; the changelog will list it."""
    from concordance.release import settle as record

    record(_workspace(ctx), model, identifier, verdict, note, by)
    click.echo(f"settled {identifier}: {verdict}")


@main.command()
@click.argument("models", nargs=-1, metavar="[MODEL]...")
@click.option("--since", metavar="VERSION", help="Only entries of later versions.")
@click.option("--check", "only_check", is_flag=True, help="Fail if a spec changed and no entry says why.")
@click.pass_context
def changelog(ctx: click.Context, models: tuple[str, ...], since: str | None, only_check: bool) -> None:
    """Print the changelog of each MODEL (default: all), newest entries first."""
    from concordance.gate import changelog_problems
    from concordance.release import entries

    workspace = _workspace(ctx)
    chosen = _chosen(workspace, models)
    if only_check:
        problems = list(changelog_problems(workspace, chosen))
        for problem in problems:
            click.echo(str(problem))
        if problems:
            ctx.exit(FINDING)
        click.echo(f"every spec version of {', '.join(chosen)} has its entry")
        return
    click.echo("\n\n".join(text.strip() for model in chosen for text in entries(workspace, model, since)))


@main.command()
@click.argument("models", nargs=-1, metavar="[MODEL]...")
@click.option("--base", metavar="GITREF", help="Also hold what was released at this commit to what it was.")
@click.option(
    "--format", "form", type=click.Choice(["text", "json", "junit", "github"]), default="text", show_default=True
)
@click.pass_context
def gate(ctx: click.Context, models: tuple[str, ...], base: str | None, form: str) -> None:
    """Everything that must hold before a change lands: for CI. Writes nothing."""
    from concordance.console import gate_text
    from concordance.gate import run_gate

    workspace = _workspace(ctx)
    result = run_gate(workspace, _chosen(workspace, models), base)
    click.echo(gate_text(result, form))
    if not result.ok:
        ctx.exit(FINDING)


@main.command()
@click.argument("folder", type=_FOLDER, metavar="DIR")
def init(folder: Path) -> None:
    """Make a workspace of your own in DIR, a new or empty folder, ready for its first model."""
    from concordance.scaffold import init as make

    make(folder, click.echo)
    click.echo(f"next, in {folder}: concordance new MODEL")


@main.command()
@click.argument("model")
@click.option("--title", help="The title of its spec; the name, unless given.")
@click.pass_context
def new(ctx: click.Context, model: str, title: str | None) -> None:
    """Add MODEL, such as car-loan, to the workspace: an example that passes the gate, to be rewritten."""
    from concordance.scaffold import new_model

    workspace = _workspace(ctx)
    for path in new_model(workspace, model, title):
        click.echo(f"wrote {path.relative_to(workspace.root).as_posix()}")
    click.echo(f"next: {workspace.command} check {model}")


@main.command()
@click.argument("models", nargs=-1, metavar="[MODEL]...")
@click.option("-o", "--output", "path", type=_FILE, required=True, metavar="FILE", help="Where to write the page.")
@click.pass_context
def report(ctx: click.Context, models: tuple[str, ...], path: Path) -> None:
    """Check each MODEL (default: all) and write what was found as an HTML page that stands alone."""
    from concordance.atomic import replace_file
    from concordance.cases import generate
    from concordance.check import check_model
    from concordance.errors import UnusableInputError
    from concordance.report import render_report

    path = path.absolute()  # before any implementation could change the folder
    workspace = _workspace(ctx)
    specs = {model: workspace.spec(model) for model in _chosen(workspace, models)}
    cases = {model: generate(spec) for model, spec in specs.items()}
    results = []
    with _progress(sum(map(len, cases.values())), "checking") as progress:
        for model, spec in specs.items():
            results += check_model(workspace, spec, cases[model], progress)
    evidence = _measured(workspace, [specs[model] for model in specs if all(r.ok for r in results if r.model == model)])
    page = render_report(workspace, results, specs, cases, f"{_now():%Y-%m-%d %H:%M} UTC", evidence)
    try:
        replace_file(path, page.encode("utf-8"))
    except OSError as error:
        raise UnusableInputError(error.strerror or "cannot be written", where=str(path)) from None
    click.echo(f"wrote {path}")
    blocked = sorted({result.model for result in results if not result.ok})
    if blocked:
        click.echo(f"BLOCKED: {', '.join(blocked)}")
        ctx.exit(FINDING)


@main.command()
@click.argument("models", nargs=-1, metavar="[MODEL]...")
@click.option("--further", type=_FILE, metavar="FILE", help="Inputs as JSON lines, tried on what survives the cases.")
@click.option("--workers", type=click.IntRange(1), help="Processes; all cores unless given.")
@click.option("--write", is_flag=True, help="Write the result beside the vectors, and its digest into the manifest.")
@_format
@click.pass_context
def audit(
    ctx: click.Context, models: tuple[str, ...], further: Path | None, workers: int | None, write: bool, form: str
) -> None:
    """Inject faults into both implementations of each MODEL (default: all) and count those that its cases catch.

    A fault that survives needs an entry in vectors/MODEL/audit.toml that says why; one without is a finding.
    """
    from concordance.audit import audit as inject
    from concordance.console import audit_json, audit_text
    from concordance.evaluate import read_lines

    workspace = _workspace(ctx)
    chosen = _chosen(workspace, models)
    if further is not None and len(chosen) != 1:
        raise click.UsageError("--further holds the inputs of one MODEL")
    results = []
    for model in chosen:
        spec = workspace.spec(model)
        inputs = read_lines(spec, further) if further else []
        with _counted(f"auditing {model}") as progress:
            results.append(inject(workspace, spec, inputs, workers, progress))
    if write:
        from concordance.publish import write_audits

        write_audits(workspace, results, _say)
    click.echo(audit_json(results) if form == "json" else audit_text(results))
    if not all(result.ok for result in results):
        ctx.exit(FINDING)


@main.command()
@click.argument("models", nargs=-1, metavar="[MODEL]...")
@_format
@click.pass_context
def evidence(ctx: click.Context, models: tuple[str, ...], form: str) -> None:
    """Measure how far the cases of each MODEL (default: all) reach: clauses, branches, decisions, headroom."""
    from concordance.console import evidence_json, evidence_text
    from concordance.evidence import measure

    workspace = _workspace(ctx)
    results = [measure(workspace, workspace.spec(model)) for model in _chosen(workspace, models)]
    click.echo(evidence_json(results) if form == "json" else evidence_text(results))
    if not all(result.ok for result in results):
        ctx.exit(FINDING)


@main.command()
@click.argument("models", nargs=-1, metavar="[MODEL]...")
@_format
@click.pass_context
def misreadings(ctx: click.Context, models: tuple[str, ...], form: str) -> None:
    """Try the faults that people really make with each MODEL (default: all), and name the case that catches each.

    They are listed in vectors/MODEL/misreadings.toml; one that no case catches is a finding.
    """
    from concordance.console import misreadings_json, misreadings_text
    from concordance.misreadings import try_misreadings

    workspace = _workspace(ctx)
    results = {model: try_misreadings(workspace, workspace.spec(model)) for model in _chosen(workspace, models)}
    if not any(results.values()):
        raise click.UsageError("there are no misreadings to try; list them in vectors/MODEL/misreadings.toml")
    click.echo(misreadings_json(results) if form == "json" else misreadings_text(results))
    if not all(one.ok for caught in results.values() for one in caught):
        ctx.exit(FINDING)


@main.command()
@click.argument("model")
@click.option("--cases", "count", type=click.IntRange(1), required=True, help="How many cases.")
@click.option("--first", type=click.IntRange(1_000), default=1_000, show_default=True, help="The first case's number.")
@click.option("--workers", type=click.IntRange(1), help="Processes; all cores unless given.")
@click.option("--scheduler", metavar="ADDRESS", help="Use the workers of this Dask scheduler, such as tcp://host:8786.")
@click.option("--resume", type=_FILE, metavar="FILE", help="Record finished ranges in FILE, and go on from there.")
@_format
@click.pass_context
def hunt(
    ctx: click.Context,
    model: str,
    count: int,
    first: int,
    workers: int | None,
    scheduler: str | None,
    resume: Path | None,
    form: str,
) -> None:
    """Search beyond the published cases: random ones by number, and one in ten twisted towards ties.

    Dask workers need the workspace at the same path. An interrupt (Ctrl-C) ends the hunt with what was found so far.
    """
    from contextlib import nullcontext

    from concordance.console import hunt_json, hunt_text
    from concordance.hunt import hunt as search
    from concordance.pool import cluster, local

    if workers and scheduler:
        raise click.UsageError("--workers are this machine's; a cluster has its own")
    workspace = _workspace(ctx)
    spec = workspace.spec(model)
    with (
        cluster(scheduler) if scheduler else nullcontext(local(workers)) as crew,
        _progress(count, f"hunting {model}") as progress,
    ):
        result = search(workspace, spec, count, first=first, crew=crew, resume=resume, progress=progress)
    click.echo(hunt_json(result) if form == "json" else hunt_text(result))
    if result.stopped:
        _say(
            "the same command goes on from here"
            if resume
            else "with --resume FILE, a hunt can go on from where it ended"
        )
    if not result.ok:
        ctx.exit(FINDING)


@main.command("grade")
@click.argument("model")
@click.argument("answers", type=click.File("rb"), metavar="ANSWERS")
@click.option("--tolerance", metavar="REL,ABS", help="Looser than the published 1e-9,1e-6; up to 1e-2,1.")
@click.option(
    "--format", "form", type=click.Choice(["text", "json", "junit", "github"]), default="text", show_default=True
)
@click.pass_context
def grade_answers(ctx: click.Context, model: str, answers: IO[bytes], tolerance: str | None, form: str) -> None:
    """Grade ANSWERS, a file of JSON lines or - for stdin, against MODEL.

    A line is {"id": "refinance-0007", "answer": {...}} for one of the 250 cases, or {"inputs": {...}, "answer": {...}}
    for any inputs. Fails if any answer is wrong.
    """
    from concordance import AnswerKey
    from concordance.console import grading_text
    from concordance.grading import grade, read_answers, read_tolerance

    key = AnswerKey(_workspace(ctx))
    spec = key.spec(model)
    items = _answer_lines(answers)
    graded, ids = read_answers(spec, items, where=answers.name)
    result = grade(spec, key.source(model), graded, read_tolerance(_tolerance(tolerance)))
    click.echo(grading_text(result, ids, form))
    if result.failed or result.invalid:
        ctx.exit(FINDING)


def _answer_lines(answers: IO[bytes]) -> list[Any]:
    """The lines of a file of answers, parsed. Raises `UnusableInputError` with its name and the line at fault."""
    from concordance.errors import JsonError, UnusableInputError
    from concordance.numbers import parse_json

    items = []
    for number, line in enumerate(answers, 1):
        try:
            items.append(parse_json(line))
        except JsonError as error:
            raise UnusableInputError(error.what, where=f"{answers.name}:{number}", hint=error.hint) from None
    if not items:
        raise UnusableInputError("holds no answer", where=answers.name)
    return items


def _tolerance(text: str | None) -> dict[str, float] | None:
    if text is None:
        return None
    try:
        rel, absolute = map(float, text.split(","))
    except ValueError:
        raise click.UsageError(f"--tolerance takes two numbers, REL,ABS, not {text}") from None
    return {"rel": rel, "abs": absolute}


@main.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen at.")
@click.option("--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="0 takes a free one.")
@click.option("--keys", "keys_path", type=_FILE, metavar="FILE", help="The keys that open models which need one.")
@click.option("--rate", default="", metavar="RATE", help="The most requests from one address, such as 600/minute.")
@click.option(
    "--exam",
    "exam_path",
    type=_Path(file_okay=False),
    metavar="DIR",
    help="Show this exam at /exam, and take its sign-off.",
)
@click.option("--exam-key", type=_FILE, metavar="FILE", help="Sign the sign-off's row with this private key.")
@click.pass_context
def serve(
    ctx: click.Context,
    host: str,
    port: int,
    keys_path: Path | None,
    rate: str,
    exam_path: Path | None,
    exam_key: Path | None,
) -> None:
    """Serve the answer key over HTTP, with pages and documentation. Ends on Ctrl-C and finishes what it accepted."""
    from concordance import AnswerKey
    from concordance.access import KeyFile
    from concordance.errors import UnusableInputError

    if exam_key and not exam_path:
        raise click.UsageError("--exam-key signs for an exam: give --exam DIR")
    try:
        from concordance.server.serving import serve as listen
    except ModuleNotFoundError as error:
        hint = "pip install 'concordance-key[serve]'"
        raise UnusableInputError(f"serving needs the package {error.name}", hint=hint) from None
    keys = KeyFile(keys_path) if keys_path else None
    listen(AnswerKey(_workspace(ctx)), host, port, keys, rate, _say, _exam_options(exam_path, exam_key))


def _exam_options(folder: Path | None, key_path: Path | None) -> ExamOptions:
    from concordance.exam.folder import Exam
    from concordance.keys import read_private_key
    from concordance.server.exam import ExamOptions

    if folder is not None:
        Exam.open(folder)  # so that a folder without one is an error here
    key = read_private_key(key_path) if key_path else None
    return ExamOptions(folder, lambda: f"{_now():%Y-%m-%dT%H:%M:%SZ}", key)


@main.group()
def keys() -> None:
    """Keys for models that need one: a small file of hashes."""


_keys_file = click.option(
    "--file", "path", type=_FILE, default="keys.json", show_default=True, help="The file that holds their hashes."
)


@keys.command("create")
@click.argument("name")
@_keys_file
def create_key(name: str, path: Path) -> None:
    """Make a key called NAME and print it: the only time that it can be seen."""
    from concordance.access import KeyFile

    key, secret = KeyFile(path).create(name, f"{_now():%Y-%m-%dT%H:%M:%SZ}")
    click.echo(secret)
    _say(f"key {key.id} ({name}) is in {path}; the key itself is not: keep it now")


@keys.command("list")
@_keys_file
@_format
def list_keys(path: Path, form: str) -> None:
    """List all keys: id, name, when made, when revoked."""
    import msgspec

    from concordance.access import KeyFile
    from concordance.console import table

    found = KeyFile(path).keys()
    if form == "json":
        shown = [msgspec.to_builtins(key) | {"revoked": key.revoked or None} for key in found]
        click.echo(msgspec.json.format(msgspec.json.encode(shown), indent=2).decode())
    elif found:
        click.echo(table(("id", "name", "created", "revoked"), [(k.id, k.name, k.created, k.revoked) for k in found]))
    else:
        click.echo(f"no keys in {path}")


@keys.command("revoke")
@click.argument("identifier", metavar="ID")
@_keys_file
def revoke_key(identifier: str, path: Path) -> None:
    """Revoke the key with this ID, at once."""
    from concordance.access import KeyFile

    key = KeyFile(path).revoke(identifier, f"{_now():%Y-%m-%dT%H:%M:%SZ}")
    click.echo(f"revoked {key.id} ({key.name})")


class _Exam(click.Group):
    """The commands of `exam_commands`, which are imported when one of them is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return self._commands.list_commands(ctx)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return self._commands.get_command(ctx, cmd_name)

    @property
    def _commands(self) -> click.Group:
        from concordance.exam_commands import exam

        return exam


@main.group(cls=_Exam)
def exam() -> None:
    """The acceptance exam: sealed questions, a deterministic referee, priced abstention, a ledger that shows tampering.

    An exam is a folder. The key in it is read by the grading alone; no command shows a right answer before the
    candidate's replies are stored.
    """


def _chosen(workspace: Workspace, models: tuple[str, ...]) -> tuple[str, ...]:
    """The models that were named, or all; a gate that checked nothing must not pass."""
    if not (models or workspace.models):
        raise click.UsageError("this workspace has no models yet; make one with: concordance new MODEL")
    return tuple(dict.fromkeys(models)) or workspace.models


def _now() -> datetime:
    from datetime import UTC, datetime

    return datetime.now(UTC)


@contextmanager
def _progress(length: int, label: str) -> Iterator[Callable[[int], None]]:
    """A progress bar on stderr for work that takes over a second, where a person watches."""
    if length < 2_000 or not sys.stderr.isatty():
        yield lambda _: None
        return
    with click.progressbar(length=length, label=label, file=sys.stderr) as bar:
        yield bar.update


def _measured(workspace: Workspace, specs: Sequence[Spec]) -> dict[str, Evidence]:
    """What the cases of models reach, by model; one that cannot be measured is said and left out."""
    from concordance.errors import ConcordanceError
    from concordance.evidence import measure

    found = {}
    with _counted("measuring what the cases would catch") as progress:
        for place, spec in enumerate(specs, 1):
            try:
                found[spec.model] = measure(workspace, spec)
            except ConcordanceError as error:
                _say(f"{spec.model} was not measured: {error}")
            progress(place, len(specs))
    return found


@contextmanager
def _counted(label: str) -> Iterator[Callable[[int, int], None]]:
    """A progress bar whose length is known only once the work has begun."""
    if not sys.stderr.isatty():
        yield lambda done, total: None
        return
    with click.progressbar(length=1, label=label, file=sys.stderr) as bar:

        def move(done: int, total: int) -> None:
            bar.length = total
            bar.update(done - bar.pos)

        yield move


def _arriving_lines() -> Iterator[list[bytes]]:
    """The lines on stdin as they arrive, as many at a time as are there: a pipe is answered line by line, a file in
    batches.
    """
    if sys.stdin is None:
        raise click.UsageError("there is no standard input to read")
    stream, rest = sys.stdin.fileno(), list[bytes]()
    while block := os.read(stream, 1 << 20):
        first, *others = block.split(b"\n")
        rest.append(first)
        if others:
            yield [b"".join(rest), *others[:-1]]
            rest = others[-1:]
    if any(rest):
        yield [b"".join(rest)]
