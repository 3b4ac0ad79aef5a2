"""A provider of models on 127.0.0.1, with the two endpoints and the faults of the real ones."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal

Fault = Literal[
    "", "dropped", "half", "silent", "html", "status", "refusal", "incomplete", "no_usage", "odd_usage"
]
USAGE = {"input_tokens": 1200, "output_tokens": 80, "input_tokens_details": {"cached_tokens": 1000}}


@dataclass
class Request:
    path: str
    headers: dict[str, str]
    body: dict[str, Any]


@dataclass
class Provider:
    """What to answer, and what was asked. `has_responses` off: a server that only knows chat completions."""

    reply: str = ""
    fault: Fault = ""
    status: int = 200
    error: dict[str, Any] | None = None
    has_responses: bool = True
    requests: list[Request] = field(default_factory=list)
    url: str = ""
    released: threading.Event = field(default_factory=threading.Event)

    def answer(self, path: str) -> dict[str, Any]:
        return self._chat() if path.endswith("/chat/completions") else self._response()

    def usage(self) -> Any:
        return {"no_usage": None, "odd_usage": {"input_tokens": "many", "output_tokens": -1}}.get(
            self.fault, USAGE
        )

    def _response(self) -> dict[str, Any]:
        part = {"type": "output_text", "text": self.reply, "annotations": []}
        if self.fault == "refusal":
            part = {"type": "refusal", "refusal": "I can't help with that."}
        is_cut = self.fault == "incomplete"
        return {
            "id": "resp_1",
            "object": "response",
            "status": "incomplete" if is_cut else "completed",
            "incomplete_details": {"reason": "max_output_tokens"} if is_cut else None,
            "output": [
                {"type": "reasoning", "id": "rs_1", "summary": []},
                {"type": "message", "id": "msg_1", "role": "assistant", "content": [part]},
            ],
            "usage": self.usage(),
        }

    def _chat(self) -> dict[str, Any]:
        message = {"role": "assistant", "content": self.reply, "refusal": None}
        if self.fault == "refusal":
            message = {"role": "assistant", "content": None, "refusal": "I can't help with that."}
        finish = "length" if self.fault == "incomplete" else "stop"
        usage = {
            "prompt_tokens": 1200,
            "completion_tokens": 80,
            "prompt_tokens_details": {"cached_tokens": 1000},
        }
        return {
            "id": "chat_1",
            "object": "chat.completion",
            "choices": [{"index": 0, "finish_reason": finish, "message": message}],
            "usage": usage if self.fault != "no_usage" else None,
        }


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    provider: Provider

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.provider.requests.append(Request(self.path, headers, body))
        if self.path.endswith("/responses") and not self.provider.has_responses:
            self._send(404, b'{"detail": "Not Found"}')
        elif self.provider.fault == "dropped":
            self.close_connection = True
        elif self.provider.fault == "silent":
            self.provider.released.wait()
            self.close_connection = True
        elif self.provider.fault == "html":
            self._send(200, b"<html>a proxy's page</html>", "text/html")
        elif self.provider.fault == "status":
            self._send(self.provider.status, json.dumps({"error": self.provider.error}).encode())
        else:
            payload = json.dumps(self.provider.answer(self.path)).encode()
            self._send(200, payload, stop_at=len(payload) // 2 if self.provider.fault == "half" else None)

    def _send(
        self, status: int, payload: bytes, content_type: str = "application/json", stop_at: int | None = None
    ) -> None:
        self.send_response(status)
        self.send_header("content-type", content_type)
        self.send_header("content-length", str(len(payload)))
        self.send_header("x-request-id", "req_1")
        self.end_headers()
        self.wfile.write(payload[:stop_at])
        self.close_connection = stop_at is not None

    def log_message(self, format: str, *args: object) -> None:
        """Quiet: the tests read `Provider.requests`."""


@contextmanager
def serving(provider: Provider) -> Iterator[Provider]:
    """Serves `provider` on a free port until the block ends; its URL ends in /v1."""
    handler = type("Handler", (_Handler,), {"provider": provider})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    provider.url = f"http://127.0.0.1:{server.server_port}/v1"
    try:
        yield provider
    finally:
        provider.released.set()
        server.shutdown()
        thread.join()
        server.server_close()
