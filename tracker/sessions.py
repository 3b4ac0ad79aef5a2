"""Who follows a stream, and whether they still may."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Self

from django.contrib.auth import HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.models import Session
from django.db.models.functions import Now
from django.http import HttpRequest
from django.utils.crypto import constant_time_compare

from tracker.models import User


@dataclass(frozen=True, slots=True)
class Ticket:
    """A session that was signed in when its stream began, and as whom."""

    session_key: str
    user_id: int
    is_staff: bool

    @classmethod
    def of(cls, request: HttpRequest) -> Self:
        user = request.user
        assert isinstance(user, User)
        return cls(request.session.session_key or "", user.pk, user.is_staff)


def departed(tickets: Collection[Ticket]) -> set[Ticket]:
    """The tickets that hold no more: signed out, expired, deactivated, another password, other rights."""
    keys = {ticket.session_key for ticket in tickets}
    kept = Session.objects.filter(session_key__in=keys, expire_date__gt=Now())
    sessions = {session.session_key: session.get_decoded() for session in kept}
    people = User.objects.filter(is_active=True).in_bulk({ticket.user_id for ticket in tickets})
    return {
        ticket
        for ticket in tickets
        if not _holds(ticket, sessions.get(ticket.session_key, {}), people.get(ticket.user_id))
    }


def _holds(ticket: Ticket, session: dict[str, Any], user: User | None) -> bool:
    """As Django's own look at a request's session (`contrib.auth.get_user`)."""
    if user is None or session.get(SESSION_KEY) != str(user.pk) or user.is_staff != ticket.is_staff:
        return False
    hashes = [user.get_session_auth_hash(), *user.get_session_auth_fallback_hash()]
    return any(constant_time_compare(session.get(HASH_SESSION_KEY, ""), known) for known in hashes)
