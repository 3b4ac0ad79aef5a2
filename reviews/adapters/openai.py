"""Reviews by a model behind OpenAI's API, or behind a server that speaks it. One request a posting, no tools.

The Responses API first; a server that does not have it is asked through chat completions. Facts of the wire:
https://platform.openai.com/docs/api-reference/responses and .../chat.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from reviews.adapters.base import Reviewed, ReviewFailed, Usage
from reviews.adapters.prompt import REPLY_SCHEMA, UnreadableReply, posting_part, prompt_for, read_reply
from reviews.question import Question

if TYPE_CHECKING:
    import openai

TIMEOUT_SECONDS = 60.0
MAX_DETAIL = 500
NO_SUCH_ENDPOINT = (404, 405, 501)


@dataclass(frozen=True, slots=True)
class _Reply:
    text: str
    usage: Usage | None
    refusal: str = ""
    cut_off: str = ""  # why the answer ends early, "" for a whole one


class OpenAIReviewer:
    """May be shared within a process. The client's own retries are off: a request is a paid decision (B9)."""

    name: Literal["openai"] = "openai"
    is_paid: bool = True

    def __init__(
        self, *, model: str, api_key: str, base_url: str | None = None, timeout: float = TIMEOUT_SECONDS
    ) -> None:
        self.model = model
        self._api_key = api_key
        self._base_url = base_url
        self._timeout = timeout
        self._is_chat_only = False  # learned from a 404; only saves the request that would fail

    def review(self, question: Question) -> Reviewed:
        """Raises ReviewFailed, with the usage wherever the provider stated it."""
        policy = question.prompt or prompt_for(question.criteria)
        reply = self._ask(policy, posting_part(question, secrets.token_hex(16)))
        if reply.refusal:
            raise ReviewFailed("refused", reply.refusal[:MAX_DETAIL], usage=reply.usage)
        if reply.cut_off:
            raise ReviewFailed("truncated", reply.cut_off[:MAX_DETAIL], usage=reply.usage)
        try:
            return Reviewed(read_reply(reply.text, question.snapshot), reply.usage)
        except UnreadableReply as fault:
            raise ReviewFailed("unreadable", str(fault)[:MAX_DETAIL], usage=reply.usage) from fault

    def close(self) -> None:
        if "_client" in self.__dict__:
            self._client.close()

    @cached_property
    def _client(self) -> openai.OpenAI:
        import openai  # takes a second to load, which a server without a key never pays

        return openai.OpenAI(
            # a server of one's own may want no key, but the header may not be empty
            api_key=self._api_key or "none",
            base_url=self._base_url,
            timeout=self._timeout,
            max_retries=0,
        )

    def _ask(self, policy: str, posting: str) -> _Reply:
        import openai

        try:
            return self._send(policy, posting)
        except openai.APIStatusError as fault:
            raise _failure(fault.status_code, fault.code, fault.message) from fault
        except openai.APIConnectionError as fault:
            raise ReviewFailed("unreachable", str(fault)[:MAX_DETAIL], is_transient=True) from fault
        except openai.OpenAIError as fault:
            raise ReviewFailed("bad_request", str(fault)[:MAX_DETAIL]) from fault

    def _send(self, policy: str, posting: str) -> _Reply:
        import openai

        if not self._is_chat_only:
            try:
                body = responses_body(self.model, policy, posting)
                raw = self._client.responses.with_raw_response.create(**body)
                return _of_responses(_payload(raw.text), raw.headers.get("x-request-id", ""))
            except openai.APIStatusError as fault:
                if fault.status_code not in NO_SUCH_ENDPOINT or fault.code == "model_not_found":
                    raise
        chat = self._client.chat.completions.with_raw_response
        answered = chat.create(**chat_body(self.model, policy, posting))
        self._is_chat_only = True
        return _of_chat(_payload(answered.text), answered.headers.get("x-request-id", ""))


def responses_body(model: str, policy: str, posting: str) -> dict[str, Any]:
    """A request to the Responses API: the policy as instructions, the posting as one user part."""
    return {
        "model": model,
        "instructions": policy,
        "input": [{"role": "user", "content": [{"type": "input_text", "text": posting}]}],
        "text": {"format": {"type": "json_schema", "name": "review", "strict": True, "schema": REPLY_SCHEMA}},
        "store": False,
    }


def chat_body(model: str, policy: str, posting: str) -> dict[str, Any]:
    """The same as chat completions. Nothing is said of storing: not every server knows the field."""
    schema = {"name": "review", "strict": True, "schema": REPLY_SCHEMA}
    return {
        "model": model,
        "messages": [{"role": "system", "content": policy}, {"role": "user", "content": posting}],
        "response_format": {"type": "json_schema", "json_schema": schema},
    }


def _failure(status: int, code: str | None, message: str) -> ReviewFailed:
    detail = f"{status}: {message}"[:MAX_DETAIL]
    if status == 429 and code == "insufficient_quota":
        return ReviewFailed("quota", detail)
    if status == 429:
        return ReviewFailed("rate_limited", detail, is_transient=True)
    if status in (401, 403):
        return ReviewFailed("unauthorized", detail)
    if status >= 500 or status in (408, 409, 425):
        return ReviewFailed("provider_error", detail, is_transient=True)
    return ReviewFailed("bad_request", detail)


def _payload(body: str) -> Mapping[str, Any]:
    """The response as an object. A page with status 200 comes from something in between: it may pass."""
    try:
        payload = json.loads(body)
    except (ValueError, RecursionError):
        payload = None
    if not isinstance(payload, dict):
        raise ReviewFailed("provider_error", "the response is not a JSON object", is_transient=True)
    return payload


def _of_responses(payload: Mapping[str, Any], request_id: str) -> _Reply:
    parts = [
        part
        for item in _dicts(payload.get("output"))
        if item.get("type") == "message"
        for part in _dicts(item.get("content"))
    ]
    cut_off = ""
    if (status := payload.get("status")) not in ("completed", None):
        why = _dict(payload.get("incomplete_details")).get("reason") or _dict(payload.get("error")).get(
            "message"
        )
        cut_off = f"{status}: {why or 'no reason given'}"
    return _Reply(
        text="".join(str(part.get("text", "")) for part in parts if part.get("type") == "output_text"),
        usage=_usage(payload, ("input_tokens", "output_tokens", "input_tokens_details"), request_id),
        refusal=" ".join(str(part.get("refusal", "")) for part in parts if part.get("type") == "refusal"),
        cut_off=cut_off,
    )


def _of_chat(payload: Mapping[str, Any], request_id: str) -> _Reply:
    choice = next(iter(_dicts(payload.get("choices"))), {})
    message = _dict(choice.get("message"))
    finish = choice.get("finish_reason")
    return _Reply(
        text=str(message.get("content") or ""),
        usage=_usage(payload, ("prompt_tokens", "completion_tokens", "prompt_tokens_details"), request_id),
        refusal=str(message.get("refusal") or ""),
        cut_off="" if finish in ("stop", None) else f"finished by {finish}",
    )


def _usage(payload: Mapping[str, Any], names: tuple[str, str, str], request_id: str) -> Usage | None:
    """What the response says it used; None when it says nothing."""
    stated = _dict(payload.get("usage"))
    if not stated:
        return None
    return Usage(
        input_tokens=_count(stated.get(names[0])),
        output_tokens=_count(stated.get(names[1])),
        cached_tokens=_count(_dict(stated.get(names[2])).get("cached_tokens")),
        request_id=request_id or str(payload.get("id", "")),
    )


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _dicts(value: object) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
