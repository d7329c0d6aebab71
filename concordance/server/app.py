"""Routes and replies: each request is read, handed to `concordance.grading`, and its answer written.

What the client can mend is a 400 with the fields at fault. The engine runs on one thread of its own, all cases of a
request at once, so that the loop stays free for others and implementations need not stand threads.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, Final, TypeVar

import anyio.to_thread
import msgspec
from anyio import CapacityLimiter
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from concordance import AnswerKey, __version__
from concordance.access import KeyFile
from concordance.errors import FieldError, InvalidInputsError, JsonError, RefusedError, WorkspaceError
from concordance.grading import (
    grade,
    read_grading_request,
    read_object,
    read_tolerance,
    run,
    verify_claims,
    verify_record,
)
from concordance.numbers import json_text, parse_json, sha256_hex
from concordance.publish import read_published_manifest, render
from concordance.release import entries
from concordance.schemas import contract
from concordance.server import exam as exam_calls
from concordance.server.exam import ExamDesk, ExamOptions
from concordance.server.limits import RateLimit, SafeHeaders
from concordance.server.openapi import document
from concordance.server.pages import docs_page, home_page
from concordance.server.replies import HTML, JSON, Refusal, document_reply, json_reply, read_body, refused_reply
from concordance.spec import Spec
from concordance.vectors import vectors_name

_LOG: Final = logging.getLogger("uvicorn.error")
_MARKDOWN: Final = "text/markdown; charset=utf-8"
_NO_FACTS: Final = "Our models use no outside constants: everything that they rest on is in the inputs and the spec."

T = TypeVar("T")
D = TypeVar("D")


@dataclass(eq=False)
class _Desk:
    """What all requests share."""

    key: AnswerKey
    keys: KeyFile | None
    engine: CapacityLimiter = field(default_factory=lambda: CapacityLimiter(1))

    def spec(self, request: Request) -> Spec:
        """The spec of the model that a path names; refuses an unknown model, and one that needs a key."""
        name = request.path_params["model"]
        if name not in self.key.models:
            raise Refusal(404, f"no model {name[:80]}; there are: {', '.join(self.key.models)}", "model")
        spec = self.key.spec(name)
        if spec.access == "key" and not self._admits(request):
            message = f"{name} needs a key: Authorization: Bearer ck_…"
            raise Refusal(401, message, "authorization", {"www-authenticate": "Bearer"})
        return spec

    def _admits(self, request: Request) -> bool:
        scheme, _, secret = request.headers.get("authorization", "").partition(" ")
        return scheme.lower() == "bearer" and self.keys is not None and self.keys.accepts(secret.strip())

    async def work(self, function: Callable[..., T], *arguments: Any) -> T:
        """Run what takes time on the engine's thread."""
        return await anyio.to_thread.run_sync(function, *arguments, limiter=self.engine)

    @lru_cache(maxsize=64)  # noqa: B019 - as long as the server runs
    def vectors(self, model: str, version: str) -> bytes:
        """A version's dataset: the current one as `concordance export` makes it, an older one from its file."""
        if version == self.key.spec(model).version:
            return render(self.key.workspace, model)[1]
        return self.key.workspace.read_bytes(f"vectors/{vectors_name(model, version)}")

    @lru_cache(maxsize=64)  # noqa: B019
    def changelog(self, model: str) -> bytes:
        """A model's changelog, newest entry first."""
        return "\n\n".join(text.strip() for text in entries(self.key.workspace, model, None)).encode() + b"\n"

    @cached_property
    def openapi(self) -> bytes:
        specs = [self.key.spec(model) for model in self.key.models]
        return json_text(document(specs, __version__)).encode()


def create_app(
    key: AnswerKey, keys: KeyFile | None = None, rate: str = "", exam: ExamOptions | None = None
) -> Starlette:
    """The application. `rate` bounds each address, such as `600/minute`; `exam` is the one shown, an example else.

    Raises what loading the models raises.
    """
    for model in key.models:
        key.source(model)  # what cannot be loaded is one error here, and not one a request
    desk = _Desk(key, keys)
    middleware = [Middleware(SafeHeaders)]
    if rate:
        middleware.append(Middleware(RateLimit, rate=rate, refuse=refused_reply))
    return Starlette(
        routes=[*_routes(_ROUTES, desk), *_routes(exam_calls.ROUTES, ExamDesk(exam or ExamOptions(), desk.work))],
        middleware=middleware,
        exception_handlers={HTTPException: _http_error, Exception: _server_error},
    )


def _routes(routes: Iterable[tuple[str, str, Callable[[D, Request], Awaitable[Response]]]], desk: D) -> list[Route]:
    return [Route(path, _endpoint(handler, desk), methods=[method]) for method, path, handler in routes]


def _endpoint(
    handler: Callable[[D, Request], Awaitable[Response]], desk: D
) -> Callable[[Request], Awaitable[Response]]:
    """A route's function: what is wrong with a request becomes its answer."""

    async def endpoint(request: Request) -> Response:
        try:
            return await handler(desk, request)
        except Refusal as refusal:
            return refused_reply(refusal.status, refusal.errors, refusal.headers)
        except (InvalidInputsError, RefusedError) as error:
            return refused_reply(400, list(error.errors))
        except JsonError as error:
            return refused_reply(400, [FieldError("", str(error))])
        except ClientDisconnect:
            return Response(status_code=400)

    return endpoint


# Documents --------------------------------------------------------------------------------------------------------


async def _models(desk: _Desk, request: Request) -> Response:
    specs = [desk.key.spec(model) for model in desk.key.models]
    models = [
        {
            "name": spec.model,
            "title": spec.title,
            "specVersion": spec.version,
            **_addresses(spec),
            "access": spec.access,
        }
        for spec in specs
    ]
    return json_reply({"models": models})


async def _contract(desk: _Desk, request: Request) -> Response:
    name = request.path_params["model"]
    if name not in desk.key.models:
        desk.spec(request)
    spec = desk.key.spec(name)
    return document_reply(request, json_text(contract(spec) | _addresses(spec)).encode(), JSON)


async def _spec(desk: _Desk, request: Request) -> Response:
    return document_reply(request, _open_spec(desk, request).text.encode("utf-8"), _MARKDOWN)


async def _changelog(desk: _Desk, request: Request) -> Response:
    spec = _open_spec(desk, request)
    return document_reply(request, await desk.work(desk.changelog, spec.model), _MARKDOWN)


def _open_spec(desk: _Desk, request: Request) -> Spec:
    """The spec of the model in the path, at the version that the query names; specs are open to read."""
    name, version = request.path_params["model"], request.query_params.get("version")
    try:
        return desk.key.spec(name, version)
    except WorkspaceError as error:
        raise Refusal(404, str(error), "version" if name in desk.key.models else "model") from None


async def _evals(desk: _Desk, request: Request) -> Response:
    manifest = read_published_manifest(desk.key.workspace)
    datasets = []
    for model in desk.key.models:
        versions = [v for v in desk.key.workspace.versions(model) if vectors_name(model, v) in manifest.files]
        current = desk.key.spec(model).version
        content = await desk.work(desk.vectors, model, current)
        datasets.append(
            {
                "model": model,
                "specVersion": current,
                "url": f"/api/v1/evals/{model}",
                "count": content.count(b"\n") - 1,
                "sha256": sha256_hex(content),
                "versions": versions or [current],
            }
        )
    return json_reply({"datasets": datasets})


async def _dataset(desk: _Desk, request: Request) -> Response:
    spec = desk.spec(request)
    version = request.query_params.get("version", spec.version)
    if version not in desk.key.workspace.versions(spec.model):
        known = ", ".join(desk.key.workspace.versions(spec.model))
        raise Refusal(404, f"{spec.model} has no version {version[:40]}; there are: {known}", "version")
    try:
        content = await desk.work(desk.vectors, spec.model, version)
    except WorkspaceError:
        raise Refusal(404, f"no dataset of {spec.model} {version} was published", "version") from None
    return document_reply(request, content, "application/x-ndjson")


async def _facts(desk: _Desk, request: Request) -> Response:
    return json_reply({"facts": [], "note": _NO_FACTS})


async def _health(desk: _Desk, request: Request) -> Response:
    versions = {model: desk.key.spec(model).version for model in desk.key.models}
    return json_reply({"ok": True, "version": __version__, "models": versions})


async def _openapi(desk: _Desk, request: Request) -> Response:
    return document_reply(request, desk.openapi, JSON)


async def _home(desk: _Desk, request: Request) -> Response:
    specs = [desk.key.spec(model) for model in desk.key.models]
    return document_reply(request, home_page(specs, str(request.base_url).rstrip("/")).encode(), HTML)


async def _docs(desk: _Desk, request: Request) -> Response:
    page = docs_page(msgspec.json.decode(desk.openapi), str(request.base_url).rstrip("/"))
    return document_reply(request, page.encode(), HTML)


# Questions --------------------------------------------------------------------------------------------------------


async def _run(desk: _Desk, request: Request) -> Response:
    spec, body = desk.spec(request), await read_body(request)
    reply = await desk.work(lambda: run(spec, desk.key.source(spec.model), parse_json(body)))
    first = {name: reply.pop(name) for name in ("ok", "model", "specVersion")}
    return json_reply({**first, **_addresses(spec), **reply})


async def _grade(desk: _Desk, request: Request) -> Response:
    spec, body = desk.spec(request), await read_body(request)

    def graded() -> bytes:
        answers, tolerance = read_grading_request(body)
        return msgspec.json.encode(grade(spec, desk.key.source(spec.model), answers, tolerance))

    return Response(await desk.work(graded), media_type=JSON)


async def _verify(desk: _Desk, request: Request) -> Response:
    spec, body = desk.spec(request), await read_body(request)

    def verified() -> Any:
        asked = read_object(parse_json(body), ("inputs", "claims"), ("tolerance",))
        tolerance = read_tolerance(asked.get("tolerance"))
        claims = verify_claims(spec, desk.key.source(spec.model), asked["inputs"], asked["claims"], tolerance)
        return msgspec.to_builtins(claims)

    return json_reply(await desk.work(verified))


async def _verify_record(desk: _Desk, request: Request) -> Response:
    body = await read_body(request)
    return json_reply(await desk.work(lambda: verify_record(parse_json(body))))


# Replies ----------------------------------------------------------------------------------------------------------


def _addresses(spec: Spec) -> dict[str, str]:
    base = f"/api/v1/models/{spec.model}"
    return {"contractUrl": base, "specUrl": f"{base}/spec"}


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    said = {404: f"nothing is at {request.url.path[:200]}; see /docs", 405: "this address does not take this method"}
    return refused_reply(error.status_code, [FieldError("", said.get(error.status_code, error.detail))], error.headers)


async def _server_error(request: Request, error: Exception) -> Response:
    _LOG.error("%s %s failed", request.method, request.url.path, exc_info=error)
    return refused_reply(500, [FieldError("", "the server failed; the fault is ours and was logged")])


_ROUTES: Final[tuple[tuple[str, str, Callable[[_Desk, Request], Awaitable[Response]]], ...]] = (
    ("GET", "/", _home),
    ("GET", "/docs", _docs),
    ("GET", "/openapi.json", _openapi),
    ("GET", "/healthz", _health),
    ("GET", "/api/v1/models", _models),
    ("GET", "/api/v1/models/{model}", _contract),
    ("POST", "/api/v1/models/{model}", _run),
    ("GET", "/api/v1/models/{model}/spec", _spec),
    ("GET", "/api/v1/models/{model}/changelog", _changelog),
    ("GET", "/api/v1/evals", _evals),
    ("GET", "/api/v1/evals/{model}", _dataset),
    ("POST", "/api/v1/grade/{model}", _grade),
    ("POST", "/api/v1/verify/{model}", _verify),
    ("POST", "/api/v1/records/verify", _verify_record),
    ("GET", "/api/v1/facts", _facts),
)
