"""The command line: parse, call, print, exit. No rules of its own.

Exit status: 0 fine, 1 a finding, 2 unusable input, 3 the harness itself failed. Everything but click is imported by
the command that needs it, so that `concordance --help` answers at once.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from concordance import __version__

if TYPE_CHECKING:
    from concordance.cases import Case
    from concordance.spec import Spec
    from concordance.workspace import Workspace

FINDING: Final = 1
UNUSABLE: Final = 2
HARNESS: Final = 3


class _Group(click.Group):
    """Turns Concordance's errors into one line and an exit status."""

    def invoke(self, ctx: click.Context) -> Any:
        from concordance.errors import ConcordanceError

        try:
            return super().invoke(ctx)
        except ConcordanceError as error:
            click.echo(f"error: {error}", err=True)
            ctx.exit(error.exit_status)
        except (click.ClickException, click.exceptions.Exit, click.Abort, BrokenPipeError):
            raise
        except Exception as error:
            import traceback

            click.echo(traceback.format_exc(), err=True)
            click.echo(f"error: Concordance itself failed: {type(error).__name__}: {error}", err=True)
            ctx.exit(HARNESS)


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="concordance")
@click.option("--workspace", "root", type=click.Path(path_type=Path), metavar="DIR", help="Use the workspace in DIR.")
@click.pass_context
def main(ctx: click.Context, root: Path | None) -> None:
    """Answer keys for financial models, and the gate that keeps two implementations in agreement.

    Works on the workspace around the current folder, or on the built-in models.

    Exit status: 0 fine, 1 a finding, 2 unusable input, 3 Concordance itself failed.
    """
    ctx.obj = root


def _workspace(ctx: click.Context) -> Workspace:
    from concordance.workspace import find_workspace, open_workspace

    return find_workspace() if ctx.obj is None else open_workspace(ctx.obj)


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
@click.option(
    "--cases",
    "count",
    type=click.IntRange(1),
    help="Check this many cases; those beyond the published ones are random.",
)
@click.option(
    "--case", "identifiers", multiple=True, metavar="ID", help="Check only this case, such as refinance-0007."
)
@_format
@click.pass_context
def check(
    ctx: click.Context, models: tuple[str, ...], count: int | None, identifiers: tuple[str, ...], form: str
) -> None:
    """Run both implementations of each MODEL (default: all) and compare every output. This is the gate."""
    from concordance.check import check_model
    from concordance.console import check_json, check_text

    workspace = _workspace(ctx)
    specs = [workspace.spec(model) for model in models or workspace.models]
    cases = [_cases(spec, count, identifiers) for spec in specs]
    with _progress(sum(map(len, cases)), "checking") as progress:
        results = [
            check_model(workspace, spec, chosen, progress) for spec, chosen in zip(specs, cases, strict=True) if chosen
        ]
    if identifiers and not results:
        raise click.UsageError(f"no such case: {', '.join(identifiers)}")
    click.echo(check_json(results) if form == "json" else check_text(results))
    if not all(result.ok for result in results):
        ctx.exit(FINDING)


def _cases(spec: Spec, count: int | None, identifiers: tuple[str, ...]) -> list[Case]:
    from concordance.cases import COUNT, case_by_id, generate

    if identifiers:
        return [case for identifier in identifiers if (case := case_by_id(spec, identifier))]
    return generate(spec, count or COUNT)


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
    from concordance.cases import COUNT, generate
    from concordance.console import case_line

    spec = _workspace(ctx).spec(model)
    for case in generate(spec, max(start + count, COUNT))[start : start + count]:
        click.echo(case_line(case))


@main.command()
@click.argument("models", nargs=-1, metavar="[MODEL]...")
@click.pass_context
def export(ctx: click.Context, models: tuple[str, ...]) -> None:
    """Check each MODEL (default: all) and write its vectors and the manifest, all at once or not at all."""
    from concordance.console import check_text
    from concordance.publish import export as write

    workspace = _workspace(ctx)
    result = write(workspace, models or workspace.models, lambda text: click.echo(text, err=True))
    if not result.ok:
        click.echo(check_text(result.checks))
        click.echo("error: nothing was written: the implementations must agree first", err=True)
        ctx.exit(FINDING)
    for path in result.written:
        click.echo(f"wrote {path}")
    if not result.written:
        click.echo("vectors are up to date")


@main.command()
@click.argument("models", nargs=-1, metavar="[MODEL]...")
@click.pass_context
def verify(ctx: click.Context, models: tuple[str, ...]) -> None:
    """Recompute each MODEL's current vectors byte for byte, and hold older ones to the manifest."""
    from concordance.publish import verify as find_problems

    workspace = _workspace(ctx)
    chosen = models or workspace.models
    problems = find_problems(workspace, chosen)
    for problem in problems:
        click.echo(str(problem))
    if problems:
        ctx.exit(FINDING)
    click.echo(f"vectors of {', '.join(chosen)} are as published: every byte reproduced")


@contextmanager
def _progress(length: int, label: str) -> Iterator[Callable[[int], None]]:
    """A progress bar on stderr for work that takes over a second, where a person watches."""
    if length < 2_000 or not sys.stderr.isatty():
        yield lambda _: None
        return
    with click.progressbar(length=length, label=label, file=sys.stderr) as bar:
        yield bar.update


def _arriving_lines() -> Iterator[list[bytes]]:
    """The lines on stdin as they arrive, as many at a time as are there: a pipe is answered line by line, a file in
    batches.
    """
    stream, rest = sys.stdin.buffer.fileno(), b""
    while block := os.read(stream, 1 << 20):
        *lines, rest = (rest + block).split(b"\n")
        if lines:
            yield lines
    if rest:
        yield [rest]
