"""Sources and what was seen at them; postings and what is known of them."""

from __future__ import annotations

from catalog.models.listings import Listing, Observation, TitleRule
from catalog.models.postings import (
    CHANGE_OVERLAP,
    Compensation,
    GroupDecision,
    PageFetch,
    Place,
    Posting,
    PostingPlace,
    PostingQuerySet,
    PostingText,
    SearchWord,
)
from catalog.models.sources import (
    LONGEST_INTERVAL,
    SHORTEST_INTERVAL,
    Alert,
    LookPlace,
    Pull,
    PullPage,
    RobotsFile,
    Source,
    SourceBundle,
    SourceRequest,
    Subscription,
    check_title_pattern,
)

__all__ = [
    "CHANGE_OVERLAP",
    "LONGEST_INTERVAL",
    "SHORTEST_INTERVAL",
    "Alert",
    "Compensation",
    "GroupDecision",
    "Listing",
    "LookPlace",
    "Observation",
    "PageFetch",
    "Place",
    "Posting",
    "PostingPlace",
    "PostingQuerySet",
    "PostingText",
    "Pull",
    "PullPage",
    "RobotsFile",
    "SearchWord",
    "Source",
    "SourceBundle",
    "SourceRequest",
    "Subscription",
    "TitleRule",
    "check_title_pattern",
]
