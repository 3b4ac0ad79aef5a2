"""An answer that was kept, as a test case: the bytes, the context, and what is read in them today."""

from __future__ import annotations

import io
import json
import zipfile

from catalog.adapters import ADAPTERS
from catalog.adapters.base import Context, UnreadableResponse
from catalog.listing_json import normalised
from catalog.models import PullPage
from config import objects


def saved_case(page: PullPage) -> io.BytesIO:
    """A ZIP of the response and of `expected.json`. Raises FileNotFoundError where the bytes are gone."""
    source = page.pull.source
    content = objects.read(page.raw_key)
    context = Context(
        token=source.token,
        region=source.region,
        company=source.company,
        fetched_at=page.pull.started_at,
        names={"page_url": page.url},
    )
    known = {"token": source.token, "region": source.region, "company": source.company}
    said: dict[str, object] = {"kind": source.kind, "url": page.url, "context": known}
    try:
        reading = ADAPTERS[source.kind].parse(content, context)
        said |= {
            "complete": reading.complete,
            "reason": reading.reason,
            "listings": [normalised(listing) for listing in reading.listings],
            "rejected": [[row.external_id, row.reason] for row in reading.rejected],
        }
    except UnreadableResponse as failed:
        said |= {"outcome": failed.outcome, "reason": str(failed)}
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as files:
        files.writestr("response.bin", content)
        files.writestr("expected.json", json.dumps(said, ensure_ascii=False, indent=1))
    archive.seek(0)
    return archive
