"""Runs, decisions and verdicts: contracts R1, R2, R4, R7."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.auth import get_user_model
from django.db import DatabaseError, transaction
from django.utils import timezone

from catalog.models import Listing, Posting
from reviews.criteria import Criteria
from reviews.models import Decision, FilterRevision, Outcome, ReviewRun, Verdict
from reviews.services.answers import answer_decision
from reviews.services.filters import create_filter, revise_filter
from reviews.services.runs import begin_answering, plan_run, selected, settle_run, start_run, unanswered
from reviews.stages import STAGES, answers, eligible, funnel
from taskqueue.models import Task, account_of
from tests.claims import claimed
from tests.factories import make_filter, make_posting, make_verdict

pytestmark = pytest.mark.django_db


def planned(revision: FilterRevision) -> ReviewRun:
    run = ReviewRun.objects.create(revision=revision)
    plan_run(claimed("reviews.plan"), run)
    return run


def test_a_saved_revision_cannot_be_edited_by_anything() -> None:
    """R1: held by the database, whatever code runs."""
    revision = make_filter(roles=["engineer"]).current()

    with pytest.raises(DatabaseError, match="immutable"), transaction.atomic():
        FilterRevision.objects.filter(pk=revision.pk).update(criteria={})


def test_saving_the_same_criteria_adds_no_revision_and_a_new_name_none_either() -> None:
    """R1: presentation-only edits do not change what is asked."""
    filter_ = make_filter(roles=["engineer"])

    same = revise_filter(
        filter_id=filter_.pk, criteria=Criteria.parse({"roles": ["engineer"]}), name="Renamed"
    )

    filter_.refresh_from_db()
    assert (same.number, filter_.name) == (1, "Renamed")


def test_two_filters_that_ask_the_same_share_the_answers() -> None:
    """R7: a verdict belongs to the question, not to who asked it."""
    posting = make_posting()
    make_verdict(posting, make_filter(roles=["engineer"]))

    other = create_filter(name="Another", criteria=Criteria.parse({"roles": ["engineer"]}))

    assert list(selected(other.current())) == [posting]
    assert not unanswered(other.current()).exists()


def test_every_decision_is_there_before_anything_is_asked() -> None:
    """R4."""
    posting = make_posting()
    revision = make_filter(roles=["engineer"]).current()

    planned(revision)

    decision = Decision.objects.get()
    assert (decision.posting, decision.action, decision.input_hash) == (
        posting,
        "review",
        posting.content_hash,
    )
    assert not Outcome.objects.exists()
    assert Task.objects.get(kind="reviews.answer").payload["decision_ids"] == [decision.pk]


def test_planning_again_decides_nothing_twice() -> None:
    """R4: a planner that died is followed by one that finds the rest."""
    make_posting()
    revision = make_filter(roles=["engineer"]).current()
    run = planned(revision)
    make_posting()

    plan_run(claimed("reviews.plan"), run)

    assert Decision.objects.count() == 2
    assert sorted(
        pk for task in Task.objects.filter(kind="reviews.answer") for pk in task.payload["decision_ids"]
    ) == [decision.pk for decision in Decision.objects.order_by("pk")]


def test_a_retry_asks_what_was_decided_whatever_the_posting_says_meanwhile() -> None:
    """R4: the saved plan is resumed even if things changed; the answer is one about the old text."""
    posting = make_posting(title="Software Engineer")
    filter_ = make_filter(roles=["engineer"])
    planned(filter_.current())
    Posting.objects.filter(pk=posting.pk).update(title="Nurse", content_hash="changed")

    answer_decision(claimed("reviews.answer"), Decision.objects.get())

    verdict = Verdict.objects.get()
    assert (verdict.status, verdict.input_hash) == ("passed", posting.content_hash)
    assert not selected(filter_.current()).exists()
    assert list(unanswered(filter_.current())) == [posting]


def test_an_answer_is_written_once_however_often_the_task_runs() -> None:
    make_posting()
    planned(make_filter(roles=["engineer"]).current())
    decision = Decision.objects.get()

    for _ in range(2):
        answer_decision(claimed("reviews.answer"), decision)

    assert (Verdict.objects.count(), Outcome.objects.count()) == (1, 1)


def test_a_verdict_keeps_the_sentence_and_the_rule_that_decided() -> None:
    make_posting(text="We build tools. You have at least 9 years of experience.")
    planned(make_filter(roles=["engineer"], max_years=2).current())

    answer_decision(claimed("reviews.answer"), Decision.objects.get())

    verdict = Verdict.objects.get()
    assert verdict.status == "rejected"
    assert "9 years" in verdict.quote
    assert verdict.rule


def test_a_failed_answer_is_neither_pass_nor_rejection() -> None:
    """R7."""
    posting, filter_ = make_posting(), make_filter(roles=["engineer"])

    make_verdict(posting, filter_, "failed")

    assert not selected(filter_.current()).exists()
    assert list(unanswered(filter_.current())) == [posting]


def test_an_answer_about_an_older_text_is_not_reused() -> None:
    """R7, AI-05."""
    posting, filter_ = make_posting(), make_filter(roles=["engineer"])
    make_verdict(posting, filter_, input_hash="older")

    assert not selected(filter_.current()).exists()


def test_unsure_is_shown_only_where_the_revision_says_so() -> None:
    posting, filter_ = make_posting(), make_filter(roles=["engineer"])
    make_verdict(posting, filter_, "unsure")
    assert not selected(filter_.current()).exists()

    revise_filter(filter_id=filter_.pk, criteria=Criteria.parse({"roles": ["engineer"]}), on_ambiguous="keep")

    assert list(selected(filter_.current())) == [posting]


def test_a_run_is_finished_by_the_last_answer_and_not_before() -> None:
    make_posting(), make_posting()
    run = planned(make_filter(roles=["engineer"]).current())
    begin_answering(claimed("reviews.plan"), run.pk)
    first, second = Decision.objects.order_by("pk")

    answer_decision(claimed("reviews.answer"), first)
    assert not settle_run(run.pk)
    answer_decision(claimed("reviews.answer"), second)
    assert settle_run(run.pk)


def test_a_second_request_while_a_run_is_under_way_is_the_same_run() -> None:
    revision = make_filter(roles=["engineer"]).current()

    assert start_run(revision).pk == start_run(revision).pk


def unlist(posting: Posting) -> None:
    Listing.objects.filter(posting=posting).update(unlisted_at=timezone.now())


def age(posting: Posting) -> None:
    Posting.objects.filter(pk=posting.pk).update(posted_at=timezone.now() - timedelta(days=40))


def close(posting: Posting) -> None:
    Posting.objects.filter(pk=posting.pk).update(availability="closed")


def blank(posting: Posting) -> None:
    Posting.objects.filter(pk=posting.pk).update(text=None)


@pytest.mark.parametrize(
    ("stage", "spoil"), [("source", unlist), ("freshness", age), ("availability", close), ("text", blank)]
)
def test_each_stage_keeps_a_posting_out_and_can_say_so(stage: str, spoil: object) -> None:
    """R2: the stage that narrows the set is the one that explains the posting."""
    posting, stays = make_posting(), make_posting()
    spoil(posting)  # type: ignore[operator]
    criteria = Criteria.parse({"max_age_days": 30})
    now = timezone.now()

    assert list(eligible(criteria, now)) == [stays]
    last, passes = answers(criteria, now, posting)[-1]
    assert (last.name, passes) == (stage, False)
    counts = funnel(criteria, now)
    names = list(counts)
    assert counts[names[names.index(stage) - 1]] - counts[stage] == 1


def test_the_stages_are_asked_cheapest_first_and_named() -> None:
    assert [stage.name for stage in STAGES] == ["source", "freshness", "availability", "text"]


def test_a_posting_without_a_date_counts_by_when_it_was_first_seen() -> None:
    """A9, DAT-07: it cannot be older than allowed and younger than its first sighting."""
    old, young = make_posting(posted_at=None), make_posting(posted_at=None)
    Posting.objects.filter(pk=old.pk).update(first_seen_at=timezone.now() - timedelta(days=31))

    assert list(eligible(Criteria.parse({"max_age_days": 30}), timezone.now())) == [young]


def test_a_persons_run_is_work_of_their_account_and_a_boards_is_nobodys() -> None:
    """Q4, Q15: a person's reviews take turns among themselves, and the person sees them."""
    person = get_user_model().objects.create_user(username="anna")
    own = start_run(make_filter(roles=["engineer"], owner=person).current())
    boards = start_run(make_filter(roles=["nurse"]).current())

    accounts = dict(Task.objects.filter(kind="reviews.plan").values_list("subject", "account"))

    assert accounts == {f"review-run:{own.pk}": account_of(person), f"review-run:{boards.pk}": ""}
