"""Statements of recording, which the ORM cannot say: listings arrive by COPY and are compared as sets.

Rows to be written come through temporary tables, one statement a table, so that a board costs a bounded
number of statements whatever its size. Ids are drawn beforehand: a posting, its text and its leading
listing name each other.
"""

from __future__ import annotations

from typing import Final

# What a reading showed, by key; `place` is where its spool keeps the rest.
STAGE: Final = """
    CREATE TEMPORARY TABLE IF NOT EXISTS staged (
        key text NOT NULL, fingerprint text NOT NULL, place bigint NOT NULL
    ) ON COMMIT DROP
"""
EMPTY_STAGE: Final = "TRUNCATE staged"
COPY_STAGED: Final = "COPY staged (key, fingerprint, place) FROM STDIN"
# Of several rows with one key the last counts.
DROP_EARLIER: Final = """
    DELETE FROM staged USING staged AS later WHERE later.key = staged.key AND later.place > staged.place
"""
ANALYSE_STAGED: Final = "ANALYZE staged"

# Where the rows to write are in the spool, with the listing's id where there is one; and, under place -1, how
# many of the other rows are admitted. Index: catalog_listing_once.
COMPARE: Final = """
    WITH joined AS MATERIALIZED (
        SELECT staged.place, listing.id, listing.kept,
               listing.id IS NULL OR listing.unlisted_at IS NOT NULL
                   OR listing.fingerprint <> staged.fingerprint || %(ruled_by)s AS is_changed
          FROM staged
          LEFT JOIN catalog_listing AS listing
            ON listing.source_id = %(source)s AND listing.external_key = staged.key
    )
    SELECT -1, count(*) FILTER (WHERE kept AND NOT is_changed) FROM joined
     UNION ALL
    (SELECT place, id FROM joined WHERE is_changed ORDER BY place)
"""
COUNT_STAGED: Final = "SELECT count(*) FROM staged"

# Listings that the reading does not show, with the postings that they held open.
ABSENT: Final = """
    SELECT listing.id, CASE WHEN listing.kept THEN listing.posting_id END
      FROM catalog_listing AS listing
     WHERE listing.source_id = %(source)s AND listing.unlisted_at IS NULL
       AND NOT EXISTS (SELECT FROM staged WHERE staged.key = listing.external_key)
"""

NEXT_IDS: Final = """
    SELECT nextval(pg_get_serial_sequence(%(table)s, 'id')) FROM generate_series(1, %(count)s)
"""

FRESH_POSTINGS: Final = """
    CREATE TEMPORARY TABLE IF NOT EXISTS fresh_posting (
        id bigint, canonical_url text, apply_url text, title text, company text, company_key text,
        role_key text, department text, locations jsonb, remote text, employment_type text,
        posted_at timestamptz, posted_on date, text_id bigint, text_hash text, content_hash text,
        near_copy_key text, lead_id bigint
    ) ON COMMIT DROP
"""
COPY_POSTINGS: Final = "COPY fresh_posting FROM STDIN"
# One pass over all postings that these listings show or showed, in the order of their URLs (A8): what is
# missing is inserted, what is there is locked and left as it is, also where another source is admitting it
# just now.
INSERT_POSTINGS: Final = """
    INSERT INTO catalog_posting AS posting (
        id, canonical_url, apply_url, title, company, company_key, role_key, department, locations, remote,
        employment_type, posted_at, posted_on, text_id, content_hash, near_copy_key, lead_id,
        availability, changed_at
    )
    SELECT id, canonical_url, apply_url, title, company, company_key, role_key, department, locations,
           remote, employment_type, posted_at, posted_on, text_id, content_hash, near_copy_key, lead_id,
           'open', clock_timestamp()
      FROM (SELECT id, canonical_url, apply_url, title, company, company_key, role_key, department,
                   locations, remote, employment_type, posted_at, posted_on, text_id, content_hash,
                   near_copy_key, lead_id
              FROM fresh_posting
             UNION ALL
            SELECT id, canonical_url, apply_url, title, company, company_key, role_key, department,
                   locations, remote, employment_type, posted_at, posted_on, text_id, content_hash,
                   near_copy_key, lead_id
              FROM catalog_posting
             WHERE id = ANY(%(shown_before)s)
               AND canonical_url NOT IN (SELECT canonical_url FROM fresh_posting)) AS touched
     ORDER BY canonical_url COLLATE "C"
        ON CONFLICT (canonical_url) DO UPDATE SET title = posting.title WHERE false
    RETURNING canonical_url
"""
# What a changed listing leads. A text that was kept before is found by its hash; none takes none away (A5).
UPDATE_POSTINGS: Final = """
    UPDATE catalog_posting AS posting
       SET apply_url = fresh.apply_url, title = fresh.title, company = fresh.company,
           company_key = fresh.company_key, role_key = fresh.role_key, department = fresh.department,
           locations = fresh.locations, remote = fresh.remote, employment_type = fresh.employment_type,
           posted_at = fresh.posted_at, posted_on = fresh.posted_on, lead_id = fresh.lead_id,
           text_id = coalesce(text.id, posting.text_id), near_copy_key = fresh.near_copy_key,
           content_hash = fresh.content_hash,
           changed_at = CASE WHEN posting.content_hash = fresh.content_hash THEN posting.changed_at
                             ELSE clock_timestamp() END
      FROM fresh_posting AS fresh
      LEFT JOIN catalog_postingtext AS text
        ON text.posting_id = fresh.id AND text.content_hash = fresh.text_hash
     WHERE posting.id = fresh.id
"""
EMPTY_POSTINGS: Final = "TRUNCATE fresh_posting"

# Postings that were there, as they stand.
STANDING_POSTINGS: Final = """
    SELECT posting.id, posting.canonical_url, posting.content_hash, text.content_hash, posting.near_copy_key,
           posting.lead_id, lead.id IS NULL OR lead.unlisted_at IS NOT NULL OR NOT lead.kept,
           text.id IS NULL
      FROM catalog_posting AS posting
      LEFT JOIN catalog_listing AS lead ON lead.id = posting.lead_id
      LEFT JOIN catalog_postingtext AS text ON text.id = posting.text_id
     WHERE posting.canonical_url = ANY(%(urls)s)
"""
LOCK_POSTINGS: Final = """
    SELECT id FROM catalog_posting WHERE id = ANY(%(ids)s)
     ORDER BY canonical_url COLLATE "C" FOR NO KEY UPDATE
"""

FRESH_LISTINGS: Final = """
    CREATE TEMPORARY TABLE IF NOT EXISTS fresh_listing (
        id bigint, is_new boolean, external_key text, url text, title text, company text, locations jsonb,
        posted_at timestamptz, posted_on date, kept boolean, ruling text, rule_id bigint, fingerprint text,
        has_text boolean, posting_id bigint
    ) ON COMMIT DROP
"""
COPY_LISTINGS: Final = "COPY fresh_listing FROM STDIN"
INSERT_LISTINGS: Final = """
    INSERT INTO catalog_listing (
        id, source_id, pull_id, external_key, url, title, company, locations, posted_at, posted_on, kept,
        ruling, rule_id, fingerprint, has_text, posting_id
    )
    SELECT id, %(source)s, %(pull)s, external_key, url, title, company, locations, posted_at, posted_on,
           kept, ruling, rule_id, fingerprint, has_text, posting_id
      FROM fresh_listing
     WHERE is_new
"""
# A listing that is no longer admitted keeps the posting that it once showed.
UPDATE_LISTINGS: Final = """
    UPDATE catalog_listing AS listing
       SET url = fresh.url, title = fresh.title, company = fresh.company, locations = fresh.locations,
           posted_at = fresh.posted_at, posted_on = fresh.posted_on, kept = fresh.kept,
           ruling = fresh.ruling, rule_id = fresh.rule_id, fingerprint = fresh.fingerprint,
           has_text = fresh.has_text, detail_at = NULL, detail_failures = 0,
           pull_id = %(pull)s, unlisted_at = NULL,
           posting_id = coalesce(fresh.posting_id, listing.posting_id)
      FROM fresh_listing AS fresh
     WHERE fresh.id = listing.id AND NOT fresh.is_new
"""
# Where the leading listing went, those that still show the posting are to be read again, whole: what they
# say was not kept. Their postings are locked before.
READ_AGAIN: Final = """
    UPDATE catalog_listing AS listing
       SET fingerprint = ''
      FROM catalog_posting AS posting
     WHERE posting.id = ANY(%(postings)s) AND listing.posting_id = posting.id
       AND listing.kept AND listing.unlisted_at IS NULL
       AND NOT EXISTS (SELECT FROM catalog_listing AS lead
                        WHERE lead.id = posting.lead_id AND lead.kept AND lead.unlisted_at IS NULL
                          AND lead.posting_id = posting.id)
"""
EMPTY_LISTINGS: Final = "TRUNCATE fresh_listing"

FRESH_TEXTS: Final = """
    CREATE TEMPORARY TABLE IF NOT EXISTS fresh_text (
        id bigint, posting_id bigint, content_hash text, text text, html text, method text
    ) ON COMMIT DROP
"""
COPY_TEXTS: Final = "COPY fresh_text FROM STDIN"
INSERT_TEXTS: Final = """
    INSERT INTO catalog_postingtext (id, posting_id, content_hash, text, html, method)
    SELECT id, posting_id, content_hash, text, html, method FROM fresh_text
        ON CONFLICT (posting_id, content_hash) DO NOTHING
"""
EMPTY_TEXTS: Final = "TRUNCATE fresh_text"

INSERT_OBSERVATIONS: Final = """
    INSERT INTO catalog_observation (posting_id, source_id, pull_id, kind)
    SELECT posting, %(source)s, %(pull)s, kind
      FROM unnest(%(postings)s::bigint[], %(kinds)s::text[]) AS seen (posting, kind)
"""

# Places as texts name them, linked to postings whose places changed.
UNLINK_PLACES: Final = "DELETE FROM catalog_postingplace WHERE posting_id = ANY(%(postings)s)"
LINK_PLACES: Final = """
    INSERT INTO catalog_postingplace (posting_id, place_id, position)
    SELECT posting, place, position
      FROM unnest(%(postings)s::bigint[], %(places)s::bigint[], %(positions)s::int[])
           AS link (posting, place, position)
        ON CONFLICT (posting_id, place_id) DO NOTHING
"""
# Pay as the source states it replaces whatever was read before; where it states none, what a text stated goes
# with the text, and is read again from the next.
DROP_PAY: Final = "DELETE FROM catalog_compensation WHERE posting_id = ANY(%(postings)s)"
INSERT_PAY: Final = """
    INSERT INTO catalog_compensation (posting_id, min, max, currency, period, basis)
    SELECT posting, low, high, currency, period, 'structured'
      FROM unnest(%(postings)s::bigint[], %(lows)s::numeric[], %(highs)s::numeric[], %(currencies)s::text[],
                  %(periods)s::text[]) AS stated (posting, low, high, currency, period)
"""

# Postings whose facts were read from other content than they have now. SKIP LOCKED leaves to others what
# they are at; in the order of the URLs (A8). Index: catalog_posting_unread.
UNREAD_POSTINGS: Final = """
    SELECT posting.id, text.text, pay.id IS NOT NULL
      FROM catalog_posting AS posting
      LEFT JOIN catalog_postingtext AS text ON text.id = posting.text_id
      LEFT JOIN catalog_compensation AS pay ON pay.posting_id = posting.id AND pay.basis = 'structured'
     WHERE posting.id IN (
               SELECT id FROM catalog_posting WHERE facts_hash <> content_hash ORDER BY id LIMIT %(limit)s
           )
     ORDER BY posting.canonical_url COLLATE "C"
       FOR NO KEY UPDATE OF posting SKIP LOCKED
"""
DROP_TEXT_PAY: Final = """
    DELETE FROM catalog_compensation WHERE posting_id = ANY(%(postings)s) AND basis = 'text'
"""
INSERT_TEXT_PAY: Final = """
    INSERT INTO catalog_compensation (posting_id, min, max, currency, period, basis, sentence)
    SELECT posting, low, high, currency, period, 'text', sentence
      FROM unnest(%(postings)s::bigint[], %(lows)s::numeric[], %(highs)s::numeric[], %(currencies)s::text[],
                  %(periods)s::text[], %(sentences)s::text[])
           AS stated (posting, low, high, currency, period, sentence)
"""
# What a misspelled search may have meant: words of titles and employers' names.
SEARCH_WORDS: Final = """
    INSERT INTO catalog_searchword (word)
    SELECT DISTINCT word
      FROM catalog_posting AS posting,
           unnest(tsvector_to_array(to_tsvector('simple', posting.title || ' ' || posting.company))) AS word
     WHERE posting.id = ANY(%(postings)s) AND length(word) BETWEEN 3 AND 60
     ORDER BY word
        ON CONFLICT (word) DO NOTHING
"""
FACTS_GIVEN_UP: Final = """
    UPDATE catalog_posting SET facts_hash = content_hash WHERE id = ANY(%(postings)s)
"""
# `changed_at` moves where a review would read something new: pay is compared, words are only found by.
FACTS_READ: Final = """
    UPDATE catalog_posting AS posting
       SET facts_hash = posting.content_hash,
           search = setweight(to_tsvector('simple', posting.title), 'A')
                 || setweight(to_tsvector('simple', posting.company), 'B')
                 || setweight(to_tsvector('simple', posting.locations), 'C')
                 || setweight(to_tsvector('simple', left(coalesce(text.text, ''), 100000)), 'D'),
           changed_at = CASE WHEN posting.id = ANY(%(paid)s) THEN clock_timestamp()
                             ELSE posting.changed_at END
      FROM catalog_posting AS own
      LEFT JOIN catalog_postingtext AS text ON text.id = own.text_id
     WHERE own.id = posting.id AND posting.id = ANY(%(postings)s)
"""
