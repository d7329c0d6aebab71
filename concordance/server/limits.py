"""Bounds on what a client may ask, and headers that keep browsers from guessing."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from concordance.errors import FieldError, UnusableInputError

_HEADERS: Final = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (
        b"content-security-policy",
        b"default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'self'; connect-src 'self'; "
        b"base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    ),
)


class SafeHeaders:
    """Adds to every reply what tells a browser to load nothing from elsewhere."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *_HEADERS]
            await send(message)

        await self._app(scope, receive, send_with_headers)


class RateLimit:
    """Answers 429 to an address that asks more often than `rate`, such as `600/minute`."""

    def __init__(self, app: ASGIApp, rate: str, refuse: Callable[..., Response]) -> None:
        self._app, self._refuse = app, refuse
        self._item, self._limiter = read_rate(rate)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"].startswith(("/api/", "/exam/api/")):
            client = Request(scope).client
            address = client.host if client else ""
            if not self._limiter.hit(self._item, address):
                reset = self._limiter.get_window_stats(self._item, address).reset_time
                wait = {"retry-after": str(max(1, math.ceil(reset - time.time())))}
                errors = [FieldError("", f"more than {self._item} from this address; try again later")]
                await self._refuse(429, errors, wait)(scope, receive, send)
                return
        await self._app(scope, receive, send)


def read_rate(rate: str) -> tuple[Any, Any]:
    """A rate and its limiter. Raises `UnusableInputError` if the text is no rate."""
    from limits import parse
    from limits.storage import MemoryStorage
    from limits.strategies import MovingWindowRateLimiter

    try:
        return parse(rate), MovingWindowRateLimiter(MemoryStorage())
    except ValueError:
        raise UnusableInputError(f"no rate: {rate}", hint="such as 600/minute") from None
