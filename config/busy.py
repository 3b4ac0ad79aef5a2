"""What a busy server says (D2): wait, and nothing is lost. It needs no thread and no database."""

from __future__ import annotations

from typing import IO
from urllib.parse import parse_qsl

from django.template.loader import render_to_string

from config.gateway import Message, Scope

RETRY_AFTER_SECONDS = 5
FORM_BYTES = 100_000  # a form up to here is kept in the page, which sends it again
FORM = b"application/x-www-form-urlencoded"
POLICY = b"default-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'"


def busy_answer(scope: Scope, body: IO[bytes], size: int) -> tuple[Message, bytes]:
    """503: for people a page that tries again by itself and holds the form they sent, else a line."""
    headers = dict(scope["headers"])
    answer = [
        (b"retry-after", b"%d" % RETRY_AFTER_SECONDS),
        (b"cache-control", b"no-store"),
        (b"x-content-type-options", b"nosniff"),
    ]
    is_form = headers.get(b"content-type", b"").startswith(FORM) and size <= FORM_BYTES
    is_safe = scope["method"] in ("GET", "HEAD")
    if b"text/html" not in headers.get(b"accept", b"") or not (is_safe or is_form):
        answer.append((b"content-type", b"text/plain"))
        text = b"The server is busy and has not started on this request: try again.\n"
    else:
        answer += [(b"content-type", b"text/html; charset=utf-8"), (b"content-security-policy", POLICY)]
        query = scope["query_string"].decode("latin-1")
        context = {
            "retry_after": RETRY_AFTER_SECONDS,
            "action": scope["path"] + (f"?{query}" if query else ""),
            "fields": [] if is_safe else parse_qsl(body.read().decode(errors="replace"), True),
        }
        text = render_to_string("503.html", context).encode()
    answer.append((b"content-length", b"%d" % len(text)))
    return {"type": "http.response.start", "status": 503, "headers": answer}, text
