"""Community boards in the form of a `listings.json`:
`raw.githubusercontent.com/{owner}/{repository}/…/listings.json`.

Facts: a recorded file of 2024 (SimplifyJobs/New-Grad-Positions). The token is owner and repository, with
the branch where it is not "dev". The link is the application form of the original board. Rows that are not
active are closed, those that are not visible are shown to nobody.
"""

from __future__ import annotations

import re
from typing import Any

from catalog.adapters.base import Adapter, Context, Detection, ParsedListing, Reading
from catalog.adapters.fields import epoch_date, external_id, link, name, one_line, page_link, title
from catalog.adapters.hosts import path_segment
from catalog.adapters.location import places, remote_in
from catalog.adapters.payload import load, read_rows, wrong_shape
from catalog.links import UrlParts

_OWNER = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,38}")
_REPOSITORY = re.compile(r"[A-Za-z0-9._-]{1,100}")
_FORM = re.compile(r"/(?:apply|application)/?(?=[?#]|\Z)", re.IGNORECASE)
_CAME_FROM = re.compile(r"(?<=[?&])(?:utm_[a-z]+|ref)=[^&#]*(?:&|\Z)")
_FILE = ".github/scripts/listings.json"


class Simplify(Adapter):
    kind = "simplify"
    name = "listings.json"
    domains = ("raw.githubusercontent.com",)

    def found(self, parts: UrlParts) -> Detection | None:
        is_file = parts.host == "raw.githubusercontent.com" and parts.path.endswith("/listings.json")
        if not is_file or len(parts.segments) < 4:
            return None
        owner, repository, branch = parts.segments[:3]
        if not _OWNER.fullmatch(owner) or not _REPOSITORY.fullmatch(repository):
            return None
        return Detection(
            kind=self.kind,
            token=f"{owner}|{repository}|{branch}",
            reason="a file of listings in a repository",
        )

    def posting_url(self, found: Detection) -> str:
        raise NotImplementedError  # its postings live on other boards

    def board_url(self, context: Context) -> str:
        owner, repository, _ = context.parts("owner", "repository", "branch")
        return f"https://github.com/{path_segment(owner)}/{path_segment(repository)}"

    def list_url(self, context: Context) -> str:
        owner, repository, branch = map(path_segment, context.parts("owner", "repository", "branch"))
        branch = "dev" if branch == "-" else branch
        return f"https://raw.githubusercontent.com/{owner}/{repository}/{branch}/{_FILE}"

    def parse(self, payload: bytes, context: Context) -> Reading:
        """Read the file, which is the whole board. What it calls inactive is flagged "closed"."""
        body = load(payload)
        if not isinstance(body, list):
            wrong_shape("a file of listings is an array")
        shown = [row for row in body if not (isinstance(row, dict) and row.get("is_visible") is False)]
        rows = read_rows(shown, lambda row: _listing(row, context))
        hidden = len(body) - len(shown)
        return rows.board(total=rows.count, note=f"{hidden} hidden rows left out" if hidden else "")


def _listing(row: dict[str, Any], context: Context) -> ParsedListing:
    flags: list[str] = []
    form = one_line(row.get("url"), limit=2_048)
    page = _CAME_FROM.sub("", _FORM.sub("", form)).rstrip("?&")
    url, raw_url = page_link(page, "")
    where = row.get("locations")
    named = where if isinstance(where, list) else [where]
    if row.get("active") is False:
        flags.append("closed")
    return ParsedListing(
        external_id=external_id(row.get("id")),
        url=url,
        raw_url=raw_url or (form if form != url else None),
        apply_url=link(form, "") if form != url else None,
        title=title(row.get("title"), flags),
        company=name(row.get("company_name")),
        locations=places(named),
        remote=remote_in(named),
        posted_at=epoch_date(row.get("date_posted"), context),
        updated_at=epoch_date(row.get("date_updated"), context),
        flags=tuple(flags),
    )
