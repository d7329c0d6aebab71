"""A server that speaks the OpenAI chat-completions protocol and gets into trouble on a schedule, as a process.

    python openai_server.py LOG [PORT]

prints its address. The model's name says how it behaves, question and try decide what it does: nothing is random.
A question is told by `qNUMBER` in the user's message, and its answer is NUMBER and a half. Each request is a line of
LOG before it is answered, so that the log tells what was asked even if this process or the client is killed.
"""

from __future__ import annotations

import json
import re
import socket
import struct
import sys
import threading
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, BinaryIO

KEY = "sk-a-key-that-nobody-may-see"
TROUBLES = ("slow", "prose-body", "429", "500", "cut-off", "no-choices", "null", "dropped", "503", "not-utf8")
"""What every second question meets at its first try under the model `half`; some of them at the second one too."""


class Server(ThreadingHTTPServer):
    """Counts tries and those in flight; the log of an earlier process counts as well."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, log: Path, port: int) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.tries: Counter[tuple[str, int]] = Counter()
        if log.exists():
            self.tries.update((line["model"], line["question"]) for line in map(json.loads, log.open()))
        self.log = log.open("a")
        self.in_flight = 0
        self.guard = threading.Lock()

    def asked(self, model: str, question: int, key: str, body: dict[str, Any]) -> int:
        """Note a request; which try it is."""
        with self.guard:
            self.in_flight += 1
            self.tries[model, question] += 1
            line = {"model": model, "question": question, "try": self.tries[model, question], "key": key}
            line |= {"at": time.monotonic(), "in_flight": self.in_flight, "body": body}
            self.log.write(json.dumps(line) + "\n")
            self.log.flush()
            return self.tries[model, question]

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that was killed is no news."""


class Handler(BaseHTTPRequestHandler):
    """One connection."""

    server: Server
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1

    def log_message(self, format: str, *arguments: Any) -> None:
        """Standard error stays clean."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        key = self.headers.get("Authorization", "").removeprefix("Bearer ")
        question = int(re.findall(r"\bq(\d+)\b", body["messages"][-1]["content"])[-1])
        attempt = self.server.asked(body["model"], question, key, body)
        try:
            if self.path != "/v1/chat/completions":
                self.error(404, f"no such path: {self.path}")
            elif key != KEY:
                self.error(401, f"Incorrect API key provided: {key}")
            else:
                self.behave(body["model"], question, attempt)
        finally:
            with self.server.guard:
                self.server.in_flight -= 1

    def behave(self, model: str, question: int, attempt: int) -> None:
        if model == "half":
            trouble = TROUBLES[question // 2 % len(TROUBLES)] if question % 2 == 0 else ""
            self.trouble(trouble if attempt <= 1 + question % 3 else "", question)
        elif model.startswith("once-"):
            self.trouble(model.removeprefix("once-") if attempt == 1 else "", question)
        elif model.startswith("always-"):
            self.trouble(model.removeprefix("always-"), question)
        elif model.startswith("first-"):  # first-3-500: the first three questions never get a reply
            _, number, trouble = model.split("-", 2)
            self.trouble(trouble if question < int(number) else "", question)
        else:
            self.trouble("", question)

    def trouble(self, kind: str, question: int) -> None:
        good = json.dumps({"answer": question + 0.5, "cite": f"the passage of q{question}"})
        if kind == "slow":
            time.sleep(0.15)
            self.say(good)
        elif kind == "dripping":
            self.start(200, {}, 1000)
            for _ in range(100):
                self.wfile.write(b" ")
                self.wfile.flush()
                time.sleep(0.1)
        elif kind == "prose-body":
            self.send(200, b"<html>Bad gateway</html>")
        elif kind == "429-date":
            self.error(429, "slow down", {"Retry-After": self.date_time_string(int(time.time()) + 2)})
        elif kind.startswith("429"):
            wait = kind.partition("=")[2]
            self.error(429, "slow down", {"Retry-After": wait} if wait else {})
        elif kind.startswith("503="):
            self.error(503, "starting", {"Retry-After": kind.partition("=")[2]})
        elif kind == "quota":
            self.error(429, "You exceeded your current quota", {}, "insufficient_quota")
        elif kind == "echo":
            self.error(500, f"bad request with {self.headers['Authorization']}")
        elif kind == "parrot":
            self.say(f"You sent me {self.headers['Authorization']}.")
        elif kind == "moved":
            self.send(302, b"", {"Location": "http://127.0.0.1:9/elsewhere"})
        elif kind.isdigit():
            self.error(int(kind), "trouble on purpose")
        elif kind == "cut-off":
            body = completion(good)
            self.start(200, {}, len(body))
            self.wfile.write(body[: len(body) // 2])
            self.close_connection = True
        elif kind == "short":  # a whole HTTP reply that holds half of the JSON
            self.send(200, completion(good)[:60])
        elif kind == "no-choices":
            self.send(200, json.dumps({"object": "chat.completion", "choices": []}).encode())
        elif kind == "null":
            self.say(None)
        elif kind == "wrong-shape":
            self.send(200, b'[{"choices": 7}, null]')
        elif kind == "error-200":
            self.send(200, json.dumps({"error": {"message": "upstream is down", "code": 502}}).encode())
        elif kind == "length":
            self.say("Revenue grew, so that the answer would have b", finish="length")
        elif kind == "nothing-length":
            self.say(None, finish="length")
        elif kind == "refusal":
            self.send(200, completion(None, refusal="I cannot help with that."))
        elif kind == "not-utf8":
            self.send(200, b'{"choices": [{"message": {"content": "\xff\xfe"}}]}')
        elif kind == "huge":
            self.send(200, b" " * (9 * 2**20))
        elif kind == "dropped":
            # A reset and no farewell, as from a process that was killed.
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.close_connection = True
            self.connection.close()
        else:
            self.say(good)

    def say(self, content: str | None, finish: str = "stop") -> None:
        self.send(200, completion(content, finish=finish))

    def error(self, status: int, message: str, headers: dict[str, str] | None = None, code: str = "") -> None:
        self.send(status, json.dumps({"error": {"message": message, "code": code or None}}).encode(), headers or {})

    def send(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        self.start(status, headers or {}, len(body))
        self.wfile.write(body)
        self.wfile.flush()

    def start(self, status: int, headers: dict[str, str], length: int) -> None:
        self.send_response(status)
        for name, value in ({"Content-Type": "application/json", "Content-Length": str(length)} | headers).items():
            self.send_header(name, value)
        self.end_headers()


def completion(content: str | None, *, refusal: str | None = None, finish: str = "stop") -> bytes:
    """A chat completion as the protocol has it."""
    message = {"role": "assistant", "content": content, "refusal": refusal}
    choice = {"index": 0, "message": message, "finish_reason": finish, "logprobs": None}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    value = {"id": "chatcmpl-1", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice]}
    return json.dumps(value | {"usage": usage}).encode()


def serve(log: Path, port: int, out: BinaryIO) -> None:
    """Serve until killed."""
    server = Server(log, port)
    out.write(f"http://127.0.0.1:{server.server_port}/v1\n".encode())
    out.flush()
    server.serve_forever(poll_interval=0.05)


if __name__ == "__main__":
    serve(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0, sys.stdout.buffer)
