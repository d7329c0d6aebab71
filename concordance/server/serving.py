"""Run the application: a socket, uvicorn, and an end that finishes what was accepted."""

from __future__ import annotations

import copy
import os
import socket
from collections.abc import Callable
from dataclasses import replace
from ipaddress import ip_address
from typing import Any, Final

import uvicorn
import uvicorn.config

from concordance import AnswerKey
from concordance.access import KeyFile
from concordance.errors import UnusableInputError
from concordance.server.app import create_app
from concordance.server.exam import ExamOptions
from concordance.server.limits import read_rate

GRACE: Final = 30
"""Seconds in which requests that were accepted may finish once the server is told to end."""


def serve(
    key: AnswerKey,
    host: str,
    port: int,
    keys: KeyFile | None = None,
    rate: str = "",
    say: Callable[[str], None] = lambda _: None,
    exam: ExamOptions | None = None,
) -> None:
    """Serve until told to end (SIGINT, SIGTERM). Port 0 takes a free one.

    Where the address is this machine's own, the exam's sign-off is taken under this machine's own names alone.
    Raises `UnusableInputError` if the address cannot be had or `rate` is no rate, and what loading the models raises.
    """
    if rate:
        read_rate(rate)
    app = create_app(key, keys, rate, replace(exam or ExamOptions(), names=_own_names(host)))
    listening = _listen(host, port)
    log: dict[str, Any] = copy.deepcopy(uvicorn.config.LOGGING_CONFIG)
    log["handlers"]["access"]["stream"] = "ext://sys.stderr"
    config = uvicorn.Config(
        app,
        log_config=log,
        server_header=False,
        timeout_graceful_shutdown=GRACE,
        lifespan="off",
    )
    name = f"[{host}]" if ":" in host else host
    say(f"serving {', '.join(key.models)} at http://{name}:{listening.getsockname()[1]}")
    with listening:
        uvicorn.Server(config).run([listening])


def _own_names(host: str) -> frozenset[str]:
    """The names that a server bound to this machine alone is asked by; none if it is bound to more."""
    try:
        loopback = ip_address(host).is_loopback
    except ValueError:
        loopback = host == "localhost"
    return frozenset({"localhost", "127.0.0.1", "::1", host}) if loopback else frozenset()


def _listen(host: str, port: int) -> socket.socket:
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        # With the protocol named, asyncio sends small writes at once; without it each reply waits for an ACK, 40 ms.
        listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        if os.name == "posix":
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(2048)
        return listening
    except OSError as error:
        raise UnusableInputError(
            error.strerror or "cannot listen", where=f"{host}:{port}", hint="give --port another, or 0 for a free one"
        ) from None
