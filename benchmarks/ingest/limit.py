"""The least that can be done with the listings of a board: COPY them into a temporary table, compare once
as a set.
"""

from __future__ import annotations

import time
from collections.abc import Iterable

from django.db import connection, transaction

from catalog.adapters.base import ParsedListing

COLUMNS = "key, url, title, company, locations, remote, employment_type, department, posted_at, html, text"
STORED = f"CREATE TABLE IF NOT EXISTS limit_stored ({COLUMNS.replace(',', ' text,')} text)"
INCOMING = "CREATE TEMPORARY TABLE incoming (LIKE limit_stored) ON COMMIT DROP"
COPY_IN = f"COPY incoming ({COLUMNS}) FROM STDIN"
# Every column is compared: with fewer, something would have been left out of the listing.
COMPARE = """
    SELECT count(*) FROM incoming LEFT JOIN limit_stored AS stored USING (key)
     WHERE (incoming.url, incoming.title, incoming.company, incoming.locations, incoming.remote,
            incoming.employment_type, incoming.department, incoming.posted_at, incoming.html, incoming.text)
           IS DISTINCT FROM
           (stored.url, stored.title, stored.company, stored.locations, stored.remote,
            stored.employment_type, stored.department, stored.posted_at, stored.html, stored.text)
"""


def prepare(listings: Iterable[ParsedListing]) -> None:
    """What a board showed before, as the comparison finds it."""
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS limit_stored")
        cursor.execute(STORED)
        _copy(f"COPY limit_stored ({COLUMNS}) FROM STDIN", listings)
        cursor.execute("CREATE UNIQUE INDEX ON limit_stored (key)")
        cursor.execute("ANALYZE limit_stored")


def seconds(listings: Iterable[ParsedListing]) -> float:
    started = time.perf_counter()
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(INCOMING)
        _copy(COPY_IN, listings)
        cursor.execute(COMPARE)
        [different] = cursor.fetchone()
    if different:
        raise AssertionError(f"{different} listings differ that are the same")
    return time.perf_counter() - started


def _copy(statement: str, listings: Iterable[ParsedListing]) -> None:
    with connection.cursor() as cursor, cursor.copy(statement) as copy:
        for one in listings:
            copy.write_row(
                (
                    one.external_id,
                    one.url,
                    one.title,
                    one.company,
                    "|".join(one.locations),
                    one.remote,
                    one.employment_type,
                    one.department,
                    one.posted_at,
                    one.description_html,
                    one.description_text,
                )
            )
