"""What the admin pages and the commands of several apps share."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from django.core.exceptions import BadRequest
from django.urls import reverse_lazy

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse


def at_least_one(text: str) -> int:
    """An argument's type: a whole number from 1 on."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError("a whole number, 1 or more")
    return int(text)


def without_nul(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """A middleware that answers 400 where the console is asked for a NUL, which no text in PostgreSQL holds.

    The other pages read what they are asked through their own forms.
    """
    console = reverse_lazy("admin:index")

    def answer(request: HttpRequest) -> HttpResponse:
        if request.path.startswith(str(console)) and "%00" in request.META.get("QUERY_STRING", ""):
            raise BadRequest("a NUL in the query")
        return get_response(request)

    return answer


class Evidence:
    """A mixin for rows that the product writes and nobody edits."""

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False
