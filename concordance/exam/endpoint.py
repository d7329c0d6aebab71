"""Ask a model behind an OpenAI-compatible endpoint, and read its replies whatever they look like.

A try is repeated where that may help (429, 5xx, a broken connection, a body that is no completion), with growing
waits and as late as `Retry-After` says. A question that fails all the same is a `Failure`; what would fail for every
question (a wrong key, no one listening) ends the sitting at once. Whatever text a model sends is kept, since the
referee reads free text. The key goes into one header and nowhere else. Proxies and certificates are those of the
system, as for any program that speaks HTTP.
"""

from __future__ import annotations

import asyncio
import json
import math
import re
from collections import deque
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, Final

from concordance.errors import UnusableInputError
from concordance.exam.answers import Kind
from concordance.exam.referee import Reply
from concordance.exam.transcripts import CandidateError, Failure, Outcome, Question
from concordance.numbers import number_text, sha256_hex

if TYPE_CHECKING:
    import httpx2

SYSTEM: Final = """\
You sit an exam on finance. Reply to each question with one JSON object and nothing else:
{"answer": …, "cite": …, "text": …}
- "answer": the number, in the unit that the question asks for, without a unit or a scale word; or a short text where \
the question asks for no number; or null to decline.
- "cite": the passage of the documents that supports the answer, quoted word for word; null if there is none.
- "text": optional, how you came to the answer, in a sentence or two. Leave it out where you decline.
You may decline, and declining is fine: a wrong answer costs more than none. Decline where the documents or your \
knowledge do not settle the question."""

_WANTED: Final[Mapping[Kind, str]] = {
    "money": "The answer is an amount of money.",
    "number": "The answer is a number.",
    "percent": "The answer is a percentage.",
    "months": "The answer is a number of months.",
    "text": "The answer is a text.",
}

FAILURES_IN_A_ROW: Final = 10
"""After so many failures without a reply between them the endpoint is taken to be out of order."""

_LARGEST_BODY: Final = 8 * 2**20
_LONGEST_JSON: Final = 100_000
_SHORTEST_KEY: Final = 8
"""What is shorter is no secret but a placeholder such as "none", and may well be a word of a reply."""
_SHOWN: Final = 200
_CONNECTING: Final = 10.0
_TRANSIENT: Final = frozenset({408, 409, 425, 429})
_NEVER: Final = {401: "the key was refused", 402: "the account has no credit"}


@dataclass(frozen=True)
class Endpoint:
    """A model at an address, such as `https://api.openai.com/v1`. Needs the extra `exam`."""

    base_url: str
    model: str
    api_key: str = field(default="", repr=False)
    """Empty for a server that asks for none."""
    timeout: float = 120.0
    """Seconds for one try, from the request to the last byte of the reply."""
    retries: int = 4
    concurrency: int = 4
    temperature: float | None = 0.0
    """None for a model that does not take one."""
    first_wait: float = 0.5
    """Seconds before the first repetition; each next wait is twice as long."""
    longest_wait: float = 60.0

    def __post_init__(self) -> None:
        """Raises `UnusableInputError` if a setting cannot be used; the key is not shown."""
        if not re.fullmatch(r"https?://[^\s/@?#]+(/[^\s@?#]*)?", self.base_url):
            raise UnusableInputError(
                "is no address of an endpoint",
                where=self._shown(self.base_url) if "@" not in self.base_url else "the address",
                hint="such as https://api.openai.com/v1; a key goes elsewhere",
            )
        if not re.fullmatch(r"[!-~]*", self.api_key):
            raise UnusableInputError("the key holds a space, a line break or a character beyond ASCII")
        for name, least in (
            ("timeout", 0.001),
            ("retries", 0),
            ("concurrency", 1),
            ("first_wait", 0),
            ("longest_wait", 0),
        ):
            if not least <= getattr(self, name) < math.inf:
                raise UnusableInputError(f"{name} must be at least {least:g}")

    def ask(
        self, questions: Sequence[Question], documents: Mapping[str, str], store: Callable[[str, Outcome], None]
    ) -> tuple[str, ...]:
        """Put the questions, and store what became of each as it comes. Raises `CandidateError` if asking is vain."""
        try:
            import httpx2  # noqa: F401
        except ImportError:
            raise UnusableInputError(
                "asking an endpoint needs httpx2", hint="pip install 'concordance-key[exam]'"
            ) from None
        _run(_Asking(self, questions, documents, store).all())
        return ()

    def _shown(self, text: str) -> str:
        """A text that may be shown and stored: without the key."""
        return text.replace(self.api_key, "[key]") if len(self.api_key) >= _SHORTEST_KEY else text

    def _without_key(self, outcome: Outcome) -> Outcome:
        if isinstance(outcome, Failure):
            return Failure(self._shown(outcome.error))
        answer, cite, text = (
            self._shown(part) if isinstance(part, str) else part
            for part in (outcome.answer, outcome.cite, outcome.text)
        )
        return Reply(answer, cite, text)  # type: ignore[arg-type]


class _Trouble(Exception):
    """A try that brought no reply: whether another may, how long to wait at least, and whether nobody was there."""

    def __init__(self, what: str, *, again: bool = True, wait: float = 0.0, absent: bool = False) -> None:
        super().__init__(what)
        self.again = again
        self.wait = wait
        self.absent = absent


class _Asking:
    """One run over questions: workers that share a queue, a pause, and a count of failures in a row."""

    def __init__(
        self,
        endpoint: Endpoint,
        questions: Sequence[Question],
        documents: Mapping[str, str],
        store: Callable[[str, Outcome], None],
    ) -> None:
        self._endpoint = endpoint
        self._queue = deque(questions)
        self._documents = documents
        self._store = store
        self._heard = asyncio.Event()
        self._pause_ends = 0.0
        self._failures = 0

    async def all(self) -> None:
        import httpx2

        to = self._endpoint
        workers = min(to.concurrency, len(self._queue))
        headers = {"Authorization": f"Bearer {to.api_key}"} if to.api_key else {}
        timeout = httpx2.Timeout(to.timeout, connect=min(to.timeout, _CONNECTING))
        limits = httpx2.Limits(max_connections=to.concurrency, max_keepalive_connections=to.concurrency)
        async with httpx2.AsyncClient(headers=headers, timeout=timeout, limits=limits) as client:
            try:
                async with asyncio.TaskGroup() as group:
                    for number in range(workers):
                        group.create_task(self._work(client, first=number == 0))
            except BaseExceptionGroup as errors:
                raise errors.exceptions[0] from None

    async def _work(self, client: httpx2.AsyncClient, *, first: bool) -> None:
        if not first:
            # The first question goes alone: it takes one request to find that the key is wrong, and not one a worker.
            await self._heard.wait()
        while self._queue:
            question = self._queue.popleft()
            outcome = self._endpoint._without_key(await self._reply(client, question))
            self._store(question.id, outcome)
            self._failures = self._failures + 1 if isinstance(outcome, Failure) else 0
            if isinstance(outcome, Failure) and self._failures >= FAILURES_IN_A_ROW:
                raise self._stopped(f"{self._failures} questions in a row had no reply, the last one: {outcome.error}")

    async def _reply(self, client: httpx2.AsyncClient, question: Question) -> Outcome:
        """The reply to one question, after as many tries as it takes and may take."""
        content = self._request(question)
        for attempt in range(self._endpoint.retries + 1):
            await asyncio.sleep(max(0.0, self._pause_ends - asyncio.get_running_loop().time()))
            try:
                reply = await self._try(client, content)
            except _Trouble as caught:
                trouble = caught
                if not trouble.absent:
                    self._heard.set()
            else:
                self._heard.set()
                return reply
            if not trouble.again:
                return Failure(str(trouble))
            if attempt < self._endpoint.retries:
                await asyncio.sleep(self._wait(question, attempt, trouble.wait))
        tries = f"after {self._endpoint.retries + 1} tries" if self._endpoint.retries else "at the only try"
        if trouble.absent:
            raise self._stopped(f"{trouble}, {tries}")
        return Failure(f"{trouble}, {tries}")

    def _request(self, question: Question) -> bytes:
        to = self._endpoint
        value: dict[str, Any] = {"model": to.model, "messages": messages(question, self._documents)}
        if to.temperature is not None:
            value["temperature"] = to.temperature
        return json.dumps(value).encode("ascii")

    async def _try(self, client: httpx2.AsyncClient, content: bytes) -> Reply:
        import httpx2

        address = f"{self._endpoint.base_url.rstrip('/')}/chat/completions"
        try:
            async with (
                # The client bounds each read; a server that sends a byte now and then would hold it forever.
                asyncio.timeout(self._endpoint.timeout),
                client.stream(
                    "POST", address, content=content, headers={"Content-Type": "application/json"}
                ) as response,
            ):
                body = await _body(response)
        except (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.ProxyError) as error:
            raise _Trouble(f"cannot be reached: {error or type(error).__name__}", absent=True) from None
        except (TimeoutError, httpx2.TimeoutException):
            raise _Trouble(f"no reply within {self._endpoint.timeout:g} s") from None
        except httpx2.InvalidURL as error:
            raise self._stopped(f"is no address: {error}") from None
        except httpx2.HTTPError as error:
            raise _Trouble(f"the connection broke: {error or type(error).__name__}") from None
        if response.is_success:
            return read_completion(body)
        raise self._refused(response, body)

    def _refused(self, response: httpx2.Response, body: bytes) -> Exception:
        """What an answer that is no success means: stop, try again, or leave this question."""
        status = response.status_code
        code, said = _complaint(body)
        what = f"HTTP {status}" + (f": {said}" if said else "")
        if status in _NEVER or code == "insufficient_quota":
            return self._stopped(f"{_NEVER.get(status, 'the quota is used up')} ({what})")
        if response.is_redirect:
            return _Trouble(f"{what}: the address has moved", again=False)
        if status not in _TRANSIENT and status < 500:
            return _Trouble(what, again=False)
        wait = min(retry_after(response.headers), self._endpoint.longest_wait)
        if status == 429:
            # A limit holds for the key and not for the question: all wait.
            self._pause_ends = max(self._pause_ends, asyncio.get_running_loop().time() + wait)
        return _Trouble(what, wait=wait)

    def _wait(self, question: Question, attempt: int, least: float) -> float:
        """Twice as long each time, and between half and all of that, lest all come back at the same moment."""
        spread = 0.5 + int(sha256_hex(f"{question.id}:{attempt}".encode())[:8], 16) / 2**33
        return min(least + self._endpoint.first_wait * 2.0**attempt * spread, self._endpoint.longest_wait)

    def _stopped(self, what: str) -> CandidateError:
        return CandidateError(self._endpoint._shown(what), where=self._endpoint._shown(self._endpoint.base_url))


def messages(question: Question, documents: Mapping[str, str]) -> list[dict[str, str]]:
    """What a model is sent for one question."""
    parts = [f'<document name="{name}">\n{documents[name]}\n</document>' for name in question.documents]
    parts += [question.question, _WANTED[question.kind]]
    return [{"role": "system", "content": SYSTEM}, {"role": "user", "content": "\n\n".join(parts)}]


def retry_after(headers: Mapping[str, str]) -> float:
    """The seconds that a server asks to wait: given as such, or as a date, taken relative to the answer's own."""
    asked = headers.get("retry-after", "").strip()
    try:
        if re.fullmatch(r"\d{1,9}(\.\d{0,9})?", asked):
            return float(asked)
        return max(0.0, (parsedate_to_datetime(asked) - parsedate_to_datetime(headers["date"])).total_seconds())
    except (ValueError, TypeError, KeyError):
        return 0.0


def read_completion(body: bytes) -> Reply:
    """The reply in a completion. Raises `_Trouble` if it holds no text."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        raise _Trouble("the body is not JSON, or was cut off") from None
    for text in _texts(value):
        if _thoughtless(text).strip():
            return read_reply(text)
    _, said = _complaint(body)
    match value:
        case {"choices": [{"finish_reason": str(reason)}, *_]}:
            # Where the model ran out of room, or was stopped, it would again.
            again = reason not in ("length", "content_filter")
            raise _Trouble(f"the reply has no text (finish_reason {reason[:_SHOWN]})", again=again)
        case {"choices": []}:
            raise _Trouble("the body holds no choices")
    raise _Trouble(said or "the body is no completion")


def read_reply(text: str) -> Reply:
    """What a model said, as a reply: its last JSON object with an answer, else its words as they are."""
    text = _thoughtless(text).strip()
    found = _answer(text) if len(text) <= _LONGEST_JSON else None
    if found is None:
        return Reply(text=text)
    value, start, end = found
    answer, cite, own = value["answer"], value.get("cite"), value.get("text")
    # What stands around the object was said too: a figure there is put before a reader.
    before = re.sub(r"\s*```\w*\s*$", "", text[:start])
    after = re.sub(r"^\s*```", "", text[end:])
    words = [part.strip() for part in (before, own if isinstance(own, str) else "", after)]
    if isinstance(cite, list):
        cite = "\n".join(part for part in cite if isinstance(part, str))
    if isinstance(answer, int):
        answer = float(answer)
    if isinstance(answer, float) and isinstance(value.get("unit"), str):
        answer = f"{number_text(answer)} {value['unit']}"
    return Reply(
        answer,
        cite if isinstance(cite, str) and cite.strip() else None,
        "\n".join(filter(None, words)) or None,
    )


def _answer(text: str) -> tuple[dict[str, Any], int, int] | None:
    """The last JSON object in a text that has a usable answer, and where it stands."""
    found, place, vain = None, text.find("{"), 0
    while place >= 0 and vain < 1000:
        try:
            value, end = _DECODER.raw_decode(text, place)
        except (ValueError, RecursionError):
            end = place + 1
            vain += 1
        else:
            if _is_answer(value):
                found = (value, place, end)
        place = text.find("{", end)
    return found


def _is_answer(value: dict[str, Any]) -> bool:
    if "answer" not in value or isinstance(value["answer"], bool):
        return False
    try:
        return isinstance(value["answer"], (str, type(None))) or math.isfinite(value["answer"])
    except (TypeError, OverflowError):
        return False


def _texts(value: Any) -> list[str]:
    """Where a completion may hold its text, best first."""
    match value:
        case {"choices": [{"message": {} as message}, *_]}:
            content = message.get("content")
            if isinstance(content, list):
                parts = [part.get("text") for part in content if isinstance(part, dict)]
                content = "".join(part for part in parts if isinstance(part, str))
            return [text for text in (content, message.get("refusal")) if isinstance(text, str)]
        case {"choices": [{"text": str(text)}, *_]}:
            return [text]
    return []


def _thoughtless(text: str) -> str:
    """Without the thinking that some models send ahead of what they say."""
    return re.sub(r"^\s*<think>.*?(?:</think>|$)", "", text, count=1, flags=re.DOTALL)


def _complaint(body: bytes) -> tuple[str, str]:
    """The code and the message of an error's body, on one line."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return "", ""
    match value:
        case {"error": {} as error}:
            code, said = error.get("code") or error.get("type"), error.get("message")
        case {"error": str(said)} | {"message": str(said)} | {"detail": str(said)}:
            code = ""
        case _:
            return "", ""
    return str(code), " ".join(said.split())[:_SHOWN] if isinstance(said, str) else ""


async def _body(response: httpx2.Response) -> bytes:
    blocks = bytearray()
    async for block in response.aiter_bytes():
        blocks += block
        if len(blocks) > _LARGEST_BODY:
            raise _Trouble(f"the body is larger than {_LARGEST_BODY >> 20} MiB")
    return bytes(blocks)


def _run(asking: Coroutine[Any, Any, None]) -> None:
    """Run to the end, also where an event loop is running already, as in a notebook."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        asyncio.run(asking)
        return
    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, asking).result()


_DECODER: Final = json.JSONDecoder(strict=False)
"""Models write line breaks into JSON texts."""
