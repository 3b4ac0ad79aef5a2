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
        "Visa sponsorship\nYes",
        "Visa Sponsorship Available: Yes",
        "Visa sponsorship - Yes",
        "Visa sponsorship provided: yes",
        "Sponsorship available: Yes",
        "Visa sponsorship | Yes",
        "Sponsor visa: Yes",
        "Visa sponsorship? Yes!",
        "Do you sponsor visas? Yes, we do.",
        "Looking for U.S. residents (i.e. can't relocate from outside of U.S.) Can sponsor VISA / transfers.",
        "We can sponsor international talent.",
        "We sponsor.",
        "We are happy to sponsor the right candidate",
        "**Visa sponsorship:** Yes",
        "We accept OPT and CPT",
        "We sponsor your visa and your gym membership",
        "We sponsor visas, but this role is in the office",
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
        "We cannot sponsor at this time.",
        "Unfortunately, we cannot sponsor at this time.",
        "We cannot sponsor this role now or in the future",
        "We cannot sponsor you now or in the future.",
        "We cannot sponsor work visas now or in the future.",
        "We do not sponsor (at this time).",
        "We do not sponsor at this time.",
        "We do not sponsor.",
        "we will not sponsor for this position",
        "We won’t sponsor for this role",
        "We can't sponsor this role.",
        "We are not sponsoring at this time.",
        "We won't be sponsoring visas for this role",
        "Must have US work authorization; we can't sponsor",
        "We can't sponsor anyone right now",
        "We never sponsor.",
        "We cant sponsor visas",
        "Visa Sponsorship available? - No",
        "**Visa sponsorship:** No",
        "Visa Sponsorship Available: No",
        "Visa sponsorship - No",
        "Visa sponsorship provided: No",
        "Sponsorship available: No",
        "Visa sponsorship | No",
        "Sponsor visa: No",
        "Visa sponsorship? No.",
        "Do you sponsor visas? Unfortunately not.",
        "Will you sponsor H-1B? No",
        "Visa sponsorship:\nNo",
        "Visa sponsorship\nNo",
        "Location: Berlin | Visa sponsorship: No | Full-time",
        "Relocation: yes, visa: no",
        "We can sponsor visas but not for this role.",
        "We sponsor visas, just not for this position",
        "We usually sponsor visas, but we cannot for this role",
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
        "We sponsor visas in Germany but not in the US.",
        "We cannot sponsor visas in the US but can in Germany.",
        "We do not sponsor visas except for senior roles",
        "We sponsor visas, but cannot guarantee one at this time",
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
        "You can opt out of AI screening",
        "pension (opt-in)",
        "You can opt into our plan",
        "We offer a pension; opt for more",
        "Provide ICD-10-CM and CPT codes",
        "Assist with CPT coding",
        "Knowledge of CPT, ICD-10 and HCPCS codes; support available",
        "YOU CAN OPT OUT OF TEXT MESSAGES",
        "We sponsor your gym membership.",
        "We sponsor employees to attend conferences",
        "We sponsor your education",
        "We sponsor international conferences",
        "We sponsor employees' certifications.",
        "We do not sponsor employees for conferences",
        "Whether or not you need sponsorship, apply!",
        "Will you require sponsorship? No",
        "Visa sponsorship? Ask us.",
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
        "Must obtain a security clearance, including fingerprinting",
        "Clearance: Secret, and an Act 34 check",
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
        "clearances required: Act 34",
        "Act 34, Act 114 and Act 151 clearances required",
        "Current PA Act 34 clearance",
        "Clearances: PA child abuse, FBI fingerprints",
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
