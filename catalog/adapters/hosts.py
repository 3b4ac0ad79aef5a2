"""Platforms whose boards live at hosts: a name under the vendor's domain, or a domain of the employer's
own.
"""

from __future__ import annotations

import re
from urllib.parse import quote

from catalog.adapters.base import Adapter, Context, Detection
from catalog.links import UrlParts

_LABEL = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")
_HOST = re.compile(rf"{_LABEL.pattern}(?:\.{_LABEL.pattern}){{1,6}}")
# Names under a vendor's domain that are no customer's.
_VENDORS_OWN = re.compile(
    r"www|api|apps?|help|support|blog|status|cdn|assets|static|docs|developers?|go|info|mail|login|accounts?"
    r"|auth|id|my|marketing|academy|community|partners?|about|legal|trust|learn|demo|hire|secure|images|img"
    r"|media|resources"
)


class BoardHost(Adapter):
    """A platform with a host for each board.

    The token is the name under its first domain, or a whole host.
    """

    board_path = ""
    serves_own_domains = False  # whether a whole host, which only a page can tell, may be the token
    posting_path: re.Pattern[str]  # with the group "id"

    def found(self, parts: UrlParts) -> Detection | None:
        token = self.tenant(parts)
        if not token:
            return None
        posting = self.posting_path.match(parts.path)
        return Detection(
            kind=self.kind,
            token=token,
            posting_id=posting["id"] if posting else None,
            reason=f"the address of a {self.name} board",
        )

    def tenant(self, parts: UrlParts) -> str:
        """The customer's name under the vendor's domain; "" for the vendor's own hosts and for all others."""
        label, _, domain = parts.host.partition(".")
        if domain not in self.domains or _VENDORS_OWN.fullmatch(label):
            return ""
        return label if _LABEL.fullmatch(label) else ""

    def origin(self, context: Context) -> str:
        """The board's own host.

        A token that is no host name leads to the vendor's, which knows no such board.
        """
        token = context.token.lower()
        if _LABEL.fullmatch(token):
            return f"https://{token}.{self.domains[0]}"
        is_own = _HOST.fullmatch(token) and (self.serves_own_domains or token.endswith(self._suffixes()))
        return f"https://{token if is_own else self.domains[0]}"

    def _suffixes(self) -> tuple[str, ...]:
        return tuple(f".{domain}" for domain in self.domains)

    def board_url(self, context: Context) -> str:
        return self.origin(context) + self.board_path


def path_segment(token: str) -> str:
    """A token as one segment of a path: it cannot lead anywhere else."""
    return quote(token, safe="") if token.strip(".") else "-"
