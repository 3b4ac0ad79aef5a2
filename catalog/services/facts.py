"""What is read out of a posting's text after it was recorded: pay, and words to search by.

Recording keeps what sources state and waits for nobody; reading a text takes a hundred times as long. A
posting whose facts were read from other content than it has now is read again, by the pull that changed it
or by whoever comes next.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from django.db import DatabaseError, transaction

from catalog import sql
from catalog.pay import StatedPay, pay_in_text
from catalog.services.copying import refuses_value, rows_of, run
from catalog.services.postings import bounds_fit
from taskqueue.handlers import Claim

BATCH = 200

logger = logging.getLogger(__name__)


def derive_facts(claim: Claim) -> int:
    """Read the facts of postings until none is left, or others are at the rest; how many were read."""
    done = 0
    while count := _derive_batch(claim):
        claim.checkpoint()
        done += count
        claim.progress(done, None, "reading facts")
    return done


@transaction.atomic
def _derive_batch(claim: Claim) -> int:
    claim.hold()
    rows = rows_of(sql.UNREAD_POSTINGS, limit=BATCH)
    if not rows:
        return 0
    try:
        with transaction.atomic():
            _derive(rows)
    except DatabaseError as error:
        if not refuses_value(error):
            raise
        for row in rows:
            _derive_alone(row)
    return len(rows)


def _derive_alone(row: tuple[Any, ...]) -> None:
    """One posting that cannot be indexed must not keep the others from it: it stays without facts."""
    try:
        with transaction.atomic():
            _derive([row])
    except DatabaseError as error:
        if not refuses_value(error):
            raise
        logger.error("posting %s is left without facts of its text: %s", row[0], error)
        run(sql.FACTS_GIVEN_UP, postings=[row[0]])


def _derive(rows: Sequence[tuple[Any, ...]]) -> None:
    ids = [row[0] for row in rows]
    stated = [
        (pk, pay)
        for pk, text, has_pay in rows
        if text and not has_pay and (pay := pay_in_text(text)) is not None and bounds_fit(pay.min, pay.max)
    ]
    run(sql.DROP_TEXT_PAY, postings=ids)
    _write_pay(stated)
    run(sql.SEARCH_WORDS, postings=ids)
    run(sql.FACTS_READ, postings=ids, paid=[pk for pk, _ in stated])


def _write_pay(stated: Sequence[tuple[int, StatedPay]]) -> None:
    if not stated:
        return
    run(
        sql.INSERT_TEXT_PAY,
        postings=[pk for pk, _ in stated],
        lows=[None if pay.min is None else Decimal(str(pay.min)) for _, pay in stated],
        highs=[None if pay.max is None else Decimal(str(pay.max)) for _, pay in stated],
        currencies=[pay.currency or "" for _, pay in stated],
        periods=[pay.period or "" for _, pay in stated],
        sentences=[pay.sentence for _, pay in stated],
    )
