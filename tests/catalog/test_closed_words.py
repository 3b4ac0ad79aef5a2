"""A3: which words of a page say that its posting is closed, and which only look so."""

from __future__ import annotations

import pytest

from catalog.closed_words import closed_notice, closed_sentence

LIVE = "Build pumps that run for years. " * 100


@pytest.mark.parametrize(
    "text",
    [
        "Sorry, the job you are trying to apply for has been filled.",
        "Position has been filled",
        "We’re sorry, this role isn’t available anymore",
        "This job is no longer available.",
        "The position you are looking for is no longer open",
        "We are no longer accepting applications for this job",
        "This posting has expired",
        "Applications are now closed.",
        "Job closed",
        "This vacancy was closed on 3 March 2026.",
        "Cette offre n’est plus disponible",
        "Cette offre n'est plus disponible",
        "Le poste est déjà pourvu.",
        "Diese Stelle ist nicht mehr verfügbar.",
        "Die Stellenanzeige ist leider abgelaufen",
        "Esta oferta ya no está disponible.",
        "Esta vaga foi encerrada.",
        "Deze vacature is inmiddels vervuld.",
        "Tjänsten är tillsatt",
        "この求人の募集は終了しました。",
        "该职位已关闭",
    ],
)
def test_words_that_close(text: str) -> None:
    assert closed_sentence(text) is not None


@pytest.mark.parametrize(
    "text",
    [
        "After the application form has been filled out, press submit.",
        "If this position has been filled, we keep your application for later.",
        "Once the role is closed we will write to you.",
        "Applications close on 30 March 2026.",
        "You will help us to close deals and fill positions.",
        "This position is open until filled.",
        "Our offices are closed on Sundays.",
        "We have filled 300 roles in the last year.",
        "Experience with closed systems and job queues",
        "Page not found",
        "404",
        "Too Many Requests",
        "Just a moment...",
        "Please sign in to continue.",
        "Der Vertrag ist nicht befristet.",
        "Nous recherchons une personne disponible rapidement.",
        "",
    ],
)
def test_words_that_do_not(text: str) -> None:
    assert closed_sentence(text) is None


def test_a_notice_counts_where_notices_stand() -> None:
    notice = "This job is no longer available."
    assert closed_notice("", "", notice + LIVE)
    assert closed_notice(notice, "", LIVE)
    assert closed_notice("", notice, LIVE)
    assert closed_notice("", "", f"Careers. {notice} Look at our other openings.")
    assert (
        closed_notice("", "", LIVE + "Similar jobs. Senior Fitter: this job is no longer available.") is None
    )
