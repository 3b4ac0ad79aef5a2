"""What every reviewer offers: a question in, an answer with its usage out. No database."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

from reviews.question import Answer, Question

FailureKind = Literal[
    "unreachable",  # no answer: refused, dropped, timed out
    "rate_limited",
    "quota",  # the account may not spend more
    "unauthorized",
    "bad_request",  # the provider refuses this request, or does not know the model
    "provider_error",
    "refused",  # the model declined to answer
    "truncated",
    "unreadable",  # an answer came, but not in the agreed form
]


@dataclass(frozen=True, slots=True)
class Usage:
    """What a paid request used, in tokens, as the provider states it; None is unknown, never 0 (B8)."""

    input_tokens: int | None
    output_tokens: int | None
    cached_tokens: int | None
    request_id: str = ""


@dataclass(frozen=True, slots=True)
class Reviewed:
    """An answer, and what it used; `usage` is None where nothing is paid for."""

    answer: Answer
    usage: Usage | None = None


class ReviewFailed(Exception):
    """No answer. A failed review is neither a rejection nor a pass (R7).

    `usage` is what the request used all the same, None when the provider did not say; `is_transient` when
    asking again later may help.
    """

    def __init__(
        self, outcome: FailureKind, detail: str, *, usage: Usage | None = None, is_transient: bool = False
    ) -> None:
        super().__init__(f"{outcome}: {detail}")
        self.outcome = outcome
        self.detail = detail
        self.usage = usage
        self.is_transient = is_transient


class Reviewer(Protocol):
    """`name` and `model` are part of a verdict's key (R7): another rule set or model answers anew."""

    @property
    def name(self) -> Literal["rules", "openai"]: ...

    @property
    def model(self) -> str: ...

    @property
    def is_paid(self) -> bool: ...

    def review(self, question: Question) -> Reviewed:
        """Raises ReviewFailed, and nothing else, when there is no answer."""
        ...
