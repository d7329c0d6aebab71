"""The exam over HTTP: its pages, and the calls behind them. Thin: every figure and verdict is `concordance.exam`'s.

Without a folder the example is shown, made when it is first asked for. A sign-off is taken from this server's own
pages alone, and never for the example. Not for candidates: worksheets show sealed answers of graded sittings.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar
from urllib.parse import urlsplit

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from concordance.errors import ConcordanceError, RefusedError, UnusableInputError
from concordance.exam.board import board
from concordance.exam.chain import check_lines
from concordance.exam.demonstration import tampered
from concordance.exam.example import make_example
from concordance.exam.folder import Exam
from concordance.exam.score import whole_k
from concordance.grading import read_object
from concordance.numbers import parse_json
from concordance.server.exam_pages import Shown, exam_page, missing_example_page, money_bars, script, worksheet_page
from concordance.server.replies import HTML, Refusal, document_reply, json_reply, read_body

if TYPE_CHECKING:
    from concordance.keys import PrivateKey

DEFAULT_K: Final = 2
_SAME_SITE: Final = ("same-origin", "none")
_MOST_QUESTIONS: Final = 1_000_000

T = TypeVar("T")
Handler: TypeAlias = Callable[["ExamDesk", Request], Awaitable[Response]]


@dataclass(frozen=True)
class ExamOptions:
    """Which exam is shown; none is the example. `now` is the time of a sign-off, `key` signs it in the ledger.

    `names` are the host names under which a sign-off is taken; any, if there are none.
    """

    folder: Path | None = None
    now: Callable[[], str] = lambda: ""
    key: PrivateKey | None = None
    names: frozenset[str] = frozenset()


@dataclass(eq=False)
class ExamDesk:
    """What the exam's requests share. `work` runs what takes time, one thing after another."""

    options: ExamOptions
    work: Callable[..., Awaitable[Any]]
    _example: TemporaryDirectory[str] | None = field(default=None)

    @property
    def example(self) -> bool:
        return self.options.folder is None

    def open(self) -> Exam:
        """The exam as it is now. Runs where `work` runs, so that the example is made only once."""
        if self.options.folder is not None:
            return Exam.open(self.options.folder)
        if self._example is None:
            made = TemporaryDirectory(prefix="concordance-example-")
            make_example(Path(made.name) / "exam")
            self._example = made
        return Exam.open(Path(self._example.name) / "exam")

    async def ask(self, function: Callable[[Exam], T]) -> T:
        """What a function makes of the exam; what is wrong with the exam is a conflict, and not the client's fault."""
        try:
            found: T = await self.work(lambda: function(self.open()))
            return found
        except RefusedError:
            raise
        except ConcordanceError as error:
            raise Refusal(409, error.what) from None


# Pages ------------------------------------------------------------------------------------------------------------


async def _page(desk: ExamDesk, request: Request) -> Response:
    shown = _shown(desk, request)
    try:
        page, intact = await desk.work(lambda: exam_page(desk.open(), shown))
    except UnusableInputError as error:
        page, intact = missing_example_page(error, shown), False
    if intact:
        return document_reply(request, page.encode(), HTML)
    return Response(page, 409, media_type=HTML)


async def _worksheet(desk: ExamDesk, request: Request) -> Response:
    sitting, question = request.path_params["sitting"], request.path_params["question"]
    shown = _shown(desk, request)
    page = await desk.ask(lambda exam: worksheet_page(_intact(exam), shown, sitting, question))
    if page is None:
        raise Refusal(404, f"no reply to {question[:80]} was graded in {sitting[:80]}")
    return document_reply(request, page.encode(), HTML)


async def _script(desk: ExamDesk, request: Request) -> Response:
    return document_reply(request, script(), "text/javascript; charset=utf-8")


def _shown(desk: ExamDesk, request: Request) -> Shown:
    first = _whole(request, "from", 1)
    if not 1 <= first <= _MOST_QUESTIONS:
        raise Refusal(400, "must be the number of a question", "from")
    folder, keyed = str(desk.options.folder or ""), desk.options.key is not None
    return Shown(desk.example, folder, keyed, _k(_whole(request, "k", DEFAULT_K)), first)


def _whole(request: Request, name: str, default: int) -> int:
    text = request.query_params.get(name, str(default))
    if not (text.isascii() and text.isdecimal() and len(text) < 10):
        raise Refusal(400, f"must be a whole number, not {text[:40]}", name)
    return int(text)


def _k(value: object) -> int:
    try:
        return whole_k(value)
    except UnusableInputError as error:
        raise Refusal(400, str(error)[:200], "k") from None


# Calls ------------------------------------------------------------------------------------------------------------


async def _board(desk: ExamDesk, request: Request) -> Response:
    k = _k(_whole(request, "k", DEFAULT_K))

    def standing(exam: Exam) -> dict[str, Any]:
        shown = board(exam.about.title, _intact(exam).standings(), k)
        money = msgspec.to_builtins(money_bars(exam))
        head = str(exam.ledger.head())
        return {"ok": True, "example": desk.example, "head": head, **msgspec.to_builtins(shown), "money": money}

    return json_reply(await desk.ask(standing))


async def _ledger(desk: ExamDesk, request: Request) -> Response:
    lines = await desk.ask(lambda exam: b"".join(exam.ledger.export()))
    return document_reply(request, lines, "application/x-ndjson")


async def _sign(desk: ExamDesk, request: Request) -> Response:
    _require_own_page(desk, request)
    if desk.example:
        raise Refusal(403, "the example cannot be signed off; make an exam, and serve it with --exam DIR")
    asked = read_object(parse_json(await read_body(request)), ("owner", "k"), ("head",))
    owner, k, options = asked["owner"], _k(asked["k"]), desk.options
    if not isinstance(owner, str) or not owner.strip() or len(owner) > 200:
        raise Refusal(400, "must name the risk owner, in up to 200 characters", "owner")

    def sign(exam: Exam) -> dict[str, Any]:
        if asked.get("head") not in (None, str(exam.ledger.head())):
            raise Refusal(409, "the ledger has grown since this page was opened; load it again, and look")
        signed = _intact(exam).sign(owner, k, options.now(), options.key)
        return {"ok": True, **signed, "head": str(exam.ledger.head()), "signed": options.key is not None}

    return json_reply(await desk.ask(sign))


async def _replay(desk: ExamDesk, request: Request) -> Response:
    _require_own_page(desk, request)

    def replay(exam: Exam) -> dict[str, Any]:
        return {"ok": True, "sittings": len(exam.graded()), "different": exam.replay()}

    return json_reply(await desk.ask(replay))


async def _tamper(desk: ExamDesk, request: Request) -> Response:
    """What a check finds in a copy of the ledger in which one score was changed. The ledger itself is only read."""
    _require_own_page(desk, request)
    asked = read_object(parse_json(await read_body(request)), ("row", "score", "value"), ("rehash",))
    row, value = (_count(asked[name], name) for name in ("row", "value"))
    change = partial(tampered, number=row, score=str(asked["score"]), value=value, rehash=asked.get("rehash") is True)

    def check(exam: Exam) -> dict[str, Any]:
        try:
            changed = list(change(exam.ledger.export()))
        except UnusableInputError as error:
            raise Refusal(400, str(error)) from None
        faults = check_lines(changed).faults
        broken: dict[str, list[str]] = {}
        for fault in faults:
            broken.setdefault(str(fault.row or "end"), []).append(fault.what)
        return {"ok": True, "rows": len(changed) - 1, "broken": broken}

    return json_reply(await desk.ask(check))


def _count(value: object, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 10**6:
        raise Refusal(400, "must be a whole number from 0 to 999999", name)
    return value


def _intact(exam: Exam) -> Exam:
    """The exam, if all in its folder is as its ledger says. Raises `UnusableInputError`."""
    if faults := exam.verify():
        raise UnusableInputError(f"the exam is not as its ledger says: {'; '.join(faults[:5])}")
    return exam


# Who asks ---------------------------------------------------------------------------------------------------------


def _require_own_page(desk: ExamDesk, request: Request) -> None:
    """Refuse what another site had a browser send: by what browsers say of themselves, and by the name asked for.

    A name that is none of this server's own may be another site's that was pointed here.
    """
    headers: Mapping[str, str] = request.headers
    host = headers.get("host", "")
    origin = headers.get("origin")
    foreign = headers.get("sec-fetch-site", "none") not in _SAME_SITE
    if foreign or (origin is not None and urlsplit(origin).netloc != host):
        raise Refusal(403, "this is for the server's own page; another site asked", "origin")
    if desk.options.names and _host_name(host) not in desk.options.names:
        names = ", ".join(sorted(desk.options.names))
        raise Refusal(403, f"this server answers to {names}; give --host to serve others", "host")


def _host_name(host: str) -> str:
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


ROUTES: Final[tuple[tuple[str, str, Handler], ...]] = (
    ("GET", "/exam", _page),
    ("GET", "/exam/worksheet/{sitting}/{question:path}", _worksheet),
    ("GET", "/static/exam.js", _script),
    ("GET", "/exam/api/board", _board),
    ("GET", "/exam/api/ledger", _ledger),
    ("POST", "/exam/api/sign", _sign),
    ("POST", "/exam/api/replay", _replay),
    ("POST", "/exam/api/tamper", _tamper),
)
