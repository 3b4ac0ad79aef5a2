"""Answers that cost something, from a real server that fails as providers do: contracts R7, B6, B8."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from pytest_django import Settings

from boards.models import BoardRun, ManagedBoard
from boards.services.publication import check_board
from boards.tasks import publish
from reviews.adapters.base import ReviewFailed
from reviews.models import Decision, ModelCall, Outcome, ReviewRun, Verdict
from reviews.services.answers import answer_decision
from reviews.services.runs import plan_run, unanswered
from taskqueue.errors import ClaimLost
from taskqueue.handlers import Fail
from taskqueue.models import Task
from tests.catalog.servers import Exchange, Reply, answer, serve
from tests.claims import claimed, lost
from tests.factories import make_board, make_filter, make_member, make_posting
from tests.races.test_killed_workers import REPLY

pytestmark = pytest.mark.django_db

JSON = {"Content-Type": "application/json"}
GOOD = answer(body=json.dumps(REPLY).encode(), headers=JSON)
UNREADABLE = answer(body=json.dumps(REPLY).replace("the title names the role", '\\"').encode(), headers=JSON)
REFUSED = answer(401, b'{"error": {"message": "bad key", "code": "invalid_api_key"}}', JSON)


class Provider:
    """Answers as it is told to."""

    reply: Reply = staticmethod(GOOD)
    asked = 0

    def __call__(self, exchange: Exchange) -> None:
        self.asked += 1
        self.reply(exchange)


@pytest.fixture
def provider(settings: Settings) -> Iterator[Provider]:
    provider = Provider()
    with serve(provider) as server:
        settings.REVIEW_PROVIDER, settings.REVIEW_MODEL = "openai", f"model-at-{server.port}"
        settings.OPENAI_API_KEY, settings.OPENAI_BASE_URL = "key", f"{server.base}/v1"
        yield provider


def decided() -> Decision:
    make_posting()
    revision = make_filter(roles=["software engineer"]).current()
    plan_run(claimed("reviews.plan"), ReviewRun.objects.create(revision=revision))
    return Decision.objects.get()


def ask(decision: Decision) -> None:
    answer_decision(claimed("reviews.answer"), decision)


def test_a_question_whose_first_answer_could_not_be_read_is_answered_by_the_second(
    provider: Provider,
) -> None:
    decision = decided()
    provider.reply = UNREADABLE
    ask(decision)
    assert (Verdict.objects.count(), Outcome.objects.get().verdict) == (0, None)

    provider.reply = GOOD
    ask(decision)

    assert Verdict.objects.get().status == "passed"
    assert sorted(ModelCall.objects.values_list("outcome", "input_tokens")) == [
        ("answered", 100),
        ("failed", 100),
    ]


def test_a_question_that_keeps_failing_is_left_alone_in_the_end(provider: Provider) -> None:
    """Nothing is paid for again and again: three unreadable answers are enough."""
    decision = decided()
    provider.reply = UNREADABLE
    for _ in range(3):
        assert unanswered(decision.revision).exists()
        ask(decision)

    assert not unanswered(decision.revision).exists()


def test_a_refused_key_is_the_providers_state_and_no_failure_of_the_question(provider: Provider) -> None:
    decision = decided()
    provider.reply = REFUSED

    with pytest.raises(ReviewFailed, match="unauthorized"):
        ask(decision)

    assert not Outcome.objects.exists()
    assert ModelCall.objects.get().outcome == "failed"
    assert unanswered(decision.revision).exists()


def test_nothing_is_bought_under_a_claim_that_was_lost(provider: Provider) -> None:
    """Q5: self-fencing protects the outside world too."""
    decision = decided()

    with pytest.raises(ClaimLost):
        answer_decision(lost("reviews.answer.test"), decision)

    assert provider.asked == 0
    assert not ModelCall.objects.exists()


def test_a_run_without_answers_leaves_the_list_as_it_is_and_rests(provider: Provider) -> None:
    """A reviewer's silence is no rejection."""
    board = make_board(roles=["software engineer"])
    member = make_member(board, make_posting())
    run = check_board(board)
    assert run is not None
    Task.objects.filter(kind="reviews.plan").delete()  # as pruned after it failed for good

    ended = publish(claimed("boards.publish.test", run_id=run.pk))

    run.refresh_from_db()
    assert isinstance(ended, Fail)
    assert run.status == BoardRun.Status.FAILED
    assert "cut short" in run.note
    assert list(board.members.all()) == [member]
    assert check_board(ManagedBoard.objects.get()) is None  # for a while
