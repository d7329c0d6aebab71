"""How a request's body is read and how replies are written: what all routes of the server share. No rules here."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response

from concordance.errors import FieldError
from concordance.numbers import json_text, sha256_hex

MAX_BODY: Final = 8 * 2**20
BODY_PATIENCE: Final = 30
"""Seconds that a body may take to arrive."""

JSON: Final = "application/json"
HTML: Final = "text/html; charset=utf-8"


class Refusal(Exception):
    """An answer with another status than 200."""

    def __init__(self, status: int, message: str, field: str = "", headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status, self.errors, self.headers = status, [FieldError(field, message)], headers


async def read_body(request: Request) -> bytes:
    """A request's body, up to MAX_BODY. Refuses what is larger, or says that it is something else than JSON."""
    kind = request.headers.get("content-type", JSON).partition(";")[0].strip().lower()
    if kind != JSON and not kind.endswith("+json"):
        raise Refusal(400, f"must be {JSON}, not {kind[:80]}", "content-type")
    too_large = Refusal(413, f"the body is larger than {MAX_BODY // 2**20} MiB; send it in parts")
    length = request.headers.get("content-length", "0")
    if not length.isdecimal() or int(length) > MAX_BODY:
        raise too_large
    body = bytearray()
    try:
        async with asyncio.timeout(BODY_PATIENCE):
            async for chunk in request.stream():
                body += chunk
                if len(body) > MAX_BODY:
                    raise too_large
    except TimeoutError:
        raise Refusal(400, f"the body did not arrive within {BODY_PATIENCE} seconds") from None
    return bytes(body)


def json_reply(value: Any) -> Response:
    return Response(json_text(value), media_type=JSON)


def document_reply(request: Request, content: bytes, media_type: str) -> Response:
    """Bytes that stay the same, so that whoever has them need not fetch them again."""
    tag = f'"{sha256_hex(content)}"'
    headers = {"etag": tag, "cache-control": "no-cache"}
    known = {each.strip().removeprefix("W/") for each in request.headers.get("if-none-match", "").split(",")}
    if tag in known or "*" in known:
        return Response(status_code=304, headers=headers)
    return Response(content, media_type=media_type, headers=headers)


def refused_reply(status: int, errors: list[FieldError], headers: Mapping[str, str] | None = None) -> Response:
    content = json_text({"ok": False, "errors": [error._asdict() for error in errors]})
    return Response(content, status, headers=headers, media_type=JSON)
