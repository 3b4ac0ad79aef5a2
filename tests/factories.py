"""Builders. Defaults hold no surprise: a listed, open, described posting; a public board."""

from __future__ import annotations

import hashlib
from typing import Any

import factory
from django.utils import timezone

from boards.models import BoardMember, BoardRun, ManagedBoard
from boards.services.publication import start_board_run
from catalog.models import Listing, Posting, PostingText, Pull, Source
from reviews.criteria import Criteria
from reviews.models import Filter, ReviewRun, Verdict
from reviews.reviewers import reviewer_of
from reviews.services.filters import create_filter
from tracker.models import User

TEXT = "We build tools for bakeries. You will write Python and look after what you wrote."


class UserFactory(factory.django.DjangoModelFactory[User]):
    class Meta:
        model = User

    username = factory.Sequence(lambda n: f"person{n}")
    email = factory.LazyAttribute(lambda user: f"{user.username}@example.org")


class SourceFactory(factory.django.DjangoModelFactory[Source]):
    class Meta:
        model = Source

    name = factory.Sequence(lambda n: f"Employer {n}")
    kind = "greenhouse"
    token = factory.Sequence(lambda n: f"employer{n}")
    company = factory.SelfAttribute("name")
    url = factory.LazyAttribute(lambda source: f"https://boards.greenhouse.io/{source.token}")
    host = "boards-api.greenhouse.io"


class PullFactory(factory.django.DjangoModelFactory[Pull]):
    class Meta:
        model = Pull

    source = factory.SubFactory(SourceFactory)


def make_posting(source: Source | None = None, *, text: str = TEXT, **fields: Any) -> Posting:
    """A posting that one source shows and admits now, with a text unless `text` is empty."""
    source = source or SourceFactory.create()
    number = Posting.objects.count() + 1
    fields = {
        "title": "Software Engineer",
        "company": source.company,
        "locations": ["Berlin, Germany"],
        "posted_at": timezone.now(),
        **fields,
    }
    url = f"https://boards.greenhouse.io/{source.token}/jobs/{number}"
    posting = Posting.objects.create(
        canonical_url=url,
        apply_url=url,
        content_hash=hashlib.sha256(f"{fields}{text}".encode()).hexdigest(),
        **fields,
    )
    if text:
        posting.text = PostingText.objects.create(
            posting=posting,
            content_hash=hashlib.sha256(text.encode()).hexdigest(),
            text=text,
            html=f"<p>{text}</p>",
            method="listing",
        )
    posting.lead = Listing.objects.create(
        source=source,
        external_key=str(number),
        url=url,
        title=posting.title,
        kept=True,
        ruling=Listing.Ruling.NO_PATTERN,
        fingerprint="",
        posting=posting,
    )
    posting.save()
    return posting


def make_filter(owner: User | None = None, **criteria: Any) -> Filter:
    return create_filter(name="Engineers", criteria=Criteria.parse(criteria), owner=owner)


def make_board(slug: str = "engineers", *, is_public: bool = True, **criteria: Any) -> ManagedBoard:
    status = ManagedBoard.Status.PUBLISHED if is_public else ManagedBoard.Status.DRAFT
    return ManagedBoard.objects.create(
        slug=slug, title="Engineers", filter=make_filter(**criteria), status=status
    )


def make_member(board: ManagedBoard, posting: Posting) -> BoardMember:
    ManagedBoard.objects.filter(pk=board.pk).update(
        published_at=timezone.now(), public_revision=board.revision
    )
    return BoardMember.objects.create(board=board, posting=posting, published_revision=board.revision)


def make_verdict(posting: Posting, filter_: Filter, status: str = "passed", **fields: Any) -> Verdict:
    revision = filter_.current()
    return Verdict.objects.create(
        posting=posting,
        prompt_hash=revision.prompt_hash,
        model=reviewer_of(revision).model,
        status=status,
        **{"input_hash": posting.content_hash, "reason": "the title says so", **fields},
    )


def answered_run(board: ManagedBoard) -> BoardRun:
    """A run of the board whose questions are all answered, ready to be published."""
    run = start_board_run(board.pk)
    ReviewRun.objects.filter(pk=run.review_run_id).update(status=ReviewRun.Status.FINISHED)
    return run
