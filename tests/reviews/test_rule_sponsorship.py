"""Visa sponsorship and clearance: SPO-01 to SPO-07 and their kinds."""

from __future__ import annotations

import pytest

from reviews.criteria import Criteria
from reviews.question import StepOutcome
from reviews.rules import clearance, sponsorship
from reviews.rules.clearance import ClearanceVerdict, clearance_in
from reviews.rules.sponsorship import SponsorshipVerdict, sponsorship_in
from tests.reviews.postings import snapshot

SPONSORSHIP: dict[SponsorshipVerdict, list[str]] = {
    "offers": [
        "We sponsor work visas.",
        "We offer visa sponsorship for this role.",
        "Visa sponsorship is available.",
        "Visa sponsorship",
        "Visa sponsorship: Yes",
        "Open to candidates with OPT/CPT",
        "H-1B transfers are welcome.",
        "We are able to sponsor visas.",
        "Relocation and visa support provided",
        "We'll sponsor your visa and help with relocation.",
        "Candidates requiring visa sponsorship are welcome to apply.",
        "Applicants who need sponsorship will be considered.",
        "Not only do we offer visa sponsorship, we pay relocation.",
        "If you do not have work authorization, we can sponsor your visa.",
        "We do sponsor visas! However, we aren't able to sponsor visas for every role.",
        "Must be authorized to work in the US. We offer visa sponsorship.",
        "Acme | Berlin | ONSITE, VISA",
    ],
    "denies": [
        "This role does not offer sponsorship.",
        "H-1B sponsorship is unavailable.",
        "Green card sponsorship is not offered.",
        "We cannot, at this time, provide visa sponsorship.",
        "We are unable to sponsor at this time.",
        "No visa sponsorship.",
        "No OPT, CPT, STEM/OPT or visa sponsorship now or in future.",
        "Sponsorship: No",
        "Visa sponsorship: Not available",
        "Applicants must be able to work without sponsorship now or in the future",
        "Must be authorized to work in the US without the need for employer sponsorship",
        "Candidates requiring sponsorship will not be considered",
        "You must not now or in the future require visa sponsorship",
        "This position is ineligible for employment visa sponsorship",
        "Employer will not sponsor applicants for employment visa status (e.g., H1-B)",
        "Those who need visa sponsorship should not apply",
        "The company will neither provide nor support visa sponsorship",
        "We're unable to consider candidates requiring visa sponsorship.",
        "Wir bieten kein Visa-Sponsoring",
    ],
    "citizens_only": [
        "Must be a US citizen",
        "U.S. citizenship required",
        "US citizens only",
        "Only US citizens and permanent residents can apply",
        "Must be a U.S. Person due to ITAR",
        "Must be able to obtain and maintain a US security clearance",
        "Active TS/SCI clearance required",
    ],
    "caution": [
        "Must be authorized to work in the United States",
        "You must have the right to work in the UK",
        "You must have a valid work permit",
        "Sponsorship may be available",
        "Visa sponsorship is considered on a case-by-case basis",
        "We cannot file new H-1B petitions; H-1B transfers are welcome.",
    ],
    "unknown": [
        "We do not sponsor community events.",
        "We do not sponsor hackathons.",
        "We offer sponsorship for certifications",
        "Manage event sponsorships",
        "Support leadership sponsorship activities by equipping leaders",
        "You will work with executive sponsors",
        "project sponsor",
        "Drive executive sponsorship and do not miss deadlines",
        "We provide immigration support services to students.",
        "Will you now or in the future require sponsorship?",
        "We hire without regard to race, religion or citizenship status",
        "US citizenship is not required",
        "We participate in E-Verify",
        "All employment is verified through E-Verify to confirm eligibility to work in the US",
        "Citizen developers and good corporate citizenship",
        "Visa is a payments company; you know Visa and Mastercard rules",
        "We opt for simple solutions",
        "No security clearance required",
        "Clearance sale experience a plus",
    ],
}


@pytest.mark.parametrize(
    ("text", "verdict"), [(text, verdict) for verdict, texts in SPONSORSHIP.items() for text in texts]
)
def test_sponsorship_is_offered_denied_doubtful_or_not_spoken_of(
    text: str, verdict: SponsorshipVerdict
) -> None:
    fact = sponsorship_in(text)

    assert fact.verdict == verdict
    assert fact.sentence in text
    assert bool(fact.sentence) == (verdict != "unknown")


CLEARANCE: dict[ClearanceVerdict, list[str]] = {
    "required": [
        "Must be able to obtain and maintain a US security clearance",
        "Active TS/SCI",
        "Secret clearance required",
        "Clearance: Secret",
        "DoD clearance is mandatory",
        "SC cleared or eligible",
        "Must pass a polygraph",
        "We will sponsor your security clearance",
    ],
    "none": [
        "No security clearance required",
        "This role does not require a security clearance",
        "Clearance: None",
        "Security clearance: Not required",
        "You don't need a security clearance",
    ],
    "preferred": ["Security clearance is a plus", "Nice to have:\n- Active TS/SCI clearance"],
    "unknown": [
        "Clearance sale experience a plus",
        "Customs clearance",
        "Medical clearance required",
        "Child abuse clearance required",
        "You keep our trade secrets and manage secrets in Vault",
        "The public trust in our brand",
        "keep clearance items stocked",
    ],
}


@pytest.mark.parametrize(
    ("text", "verdict"), [(text, verdict) for verdict, texts in CLEARANCE.items() for text in texts]
)
def test_a_clearance_is_demanded_welcome_ruled_out_or_another_kind(
    text: str, verdict: ClearanceVerdict
) -> None:
    """SPO-07."""
    fact = clearance_in(text)

    assert fact.verdict == verdict
    assert fact.sentence in text


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("We sponsor work visas.", "pass"),
        ("No visa sponsorship.", "reject"),
        ("US citizens only", "reject"),
        ("Must be authorized to work in the US", "unknown"),
        ("We ship weekly.", "unknown"),
    ],
)
def test_who_needs_a_visa_is_turned_away_only_by_a_refusal(text: str, outcome: StepOutcome) -> None:
    """SPO-06: three answers, not two."""
    criteria = Criteria.parse({"sponsorship": "needed"})

    assert sponsorship.check(criteria, snapshot(text=text)).outcome == outcome


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("Secret clearance required", "reject"),
        ("Security clearance is a plus", "pass"),
        ("We ship weekly.", "pass"),
        ("", "unknown"),
    ],
)
def test_who_cannot_hold_a_clearance_is_turned_away_only_by_a_demand(text: str, outcome: StepOutcome) -> None:
    criteria = Criteria.parse({"clearance": "none"})

    assert clearance.check(criteria, snapshot(text=text)).outcome == outcome
