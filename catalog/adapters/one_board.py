"""Platforms that are one board themselves: aggregators, and employers with a platform of their own."""

from __future__ import annotations

import re
from collections.abc import Mapping

from catalog.adapters.base import Adapter, Context, Detection
from catalog.links import UrlParts, is_public_link


class OneBoard(Adapter):
    """A platform with one board. Its token is its kind."""

    page: str  # where people see the board
    address: str  # where it is read
    hosts: tuple[str, ...] = ()
    board_paths: frozenset[str] = frozenset({"/"})
    posting_path: re.Pattern[str] | None = None  # with the group "id"

    def found(self, parts: UrlParts) -> Detection | None:
        if parts.host not in self.hosts:
            return None
        posting = self.posting_path.match(parts.path) if self.posting_path else None
        if posting is None and parts.path not in self.board_paths:
            return None
        return Detection(
            kind=self.kind,
            token=self.kind,
            posting_id=posting["id"] if posting else None,
            reason=f"an address of {self.name}",
        )

    def posting_url(self, found: Detection) -> str:
        raise NotImplementedError

    def board_url(self, context: Context) -> str:
        return self.page

    def list_url(self, context: Context) -> str:
        return self.address


class PageBoard(Adapter):
    """Something at any address, which is the token. Only reading it tells what it is."""

    def found(self, parts: UrlParts) -> Detection | None:
        return None

    def posting_url(self, found: Detection) -> str:
        return found.token

    def board_url(self, context: Context) -> str:
        """The address. Without one, an address that no page can have (RFC 2606)."""
        return context.token if is_public_link(context.token) else "https://unknown.invalid/"

    def list_url(self, context: Context) -> str:
        return self.board_url(context)


XML_HEADERS: Mapping[str, str] = {"Accept": "application/rss+xml, application/xml"}
