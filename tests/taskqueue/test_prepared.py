"""Statements that the server plans once a connection."""

from __future__ import annotations

import pytest
from django.db import DataError, connection, transaction
from django.db.transaction import TransactionManagementError
from pytest_django import Settings

from taskqueue.models import Task
from taskqueue.services import enqueue
from taskqueue.services.prepared import execute_prepared

SUM = "SELECT %(one)s::integer + %(two)s::integer + %(one)s::integer, '%%'"
PREPARED = "SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE %s"


def prepared(words: str) -> int:
    with connection.cursor() as cursor:
        cursor.execute(PREPARED, [words])
        return int(cursor.fetchone()[0])


@pytest.mark.django_db
def test_values_go_where_their_names_are() -> None:
    assert execute_prepared(SUM, {"one": 1, "two": 20, "unused": "x"}) == [(22, "%")]


@pytest.mark.django_db
def test_a_task_is_queued_by_a_statement_that_was_planned_before() -> None:
    enqueue("test.work")
    before = prepared("%INSERT INTO queue_task%")
    enqueue("test.work", payload={"other": "values"})

    assert before == prepared("%INSERT INTO queue_task%") >= 1


@pytest.mark.django_db(transaction=True)
def test_behind_a_pooler_nothing_is_prepared(settings: Settings) -> None:
    """It deals out sessions by the transaction: the next one knows of no such statement."""
    settings.QUEUE_NOTIFICATIONS = False
    connection.close()
    connection.close_pool()  # type: ignore[attr-defined]  # its connections may know the statement
    enqueue("test.work")
    enqueue("test.work")

    assert prepared("%INSERT INTO queue_task%") == 0


@pytest.mark.django_db(transaction=True)
def test_what_is_queued_leaves_with_the_callers_transaction() -> None:
    with transaction.atomic():
        enqueue("test.work")
        transaction.set_rollback(True)

    assert not Task.objects.exists()


@pytest.mark.django_db
def test_errors_are_djangos() -> None:
    with pytest.raises(DataError), transaction.atomic():
        enqueue("test.work", payload={"text": "\0"})  # jsonb holds no NUL


@pytest.mark.django_db
def test_a_transaction_that_is_to_be_rolled_back_takes_nothing_more() -> None:
    with transaction.atomic():
        transaction.set_rollback(True)
        with pytest.raises(TransactionManagementError):
            enqueue("test.work")
