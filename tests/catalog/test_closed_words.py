"""A3: which words of a page say that its posting is closed, and which only look so."""

from __future__ import annotations

import pytest

from catalog.closed_words import closed_notice, closed_sentence

LIVE = "\nBuild pumps that run for years." * 100

# What pages were met saying of postings that are closed, and what live ones say.
CLOSED = [
    "This job is no longer available",
    "Sorry, this position has been filled",
    "Esta oferta ya no se encuentra disponible",
    "La vacante ya no se encuentra activa",
    "Die Stelle als Softwareentwickler ist nicht mehr verfügbar",
    "Die Stelle als Arzt wurde bereits besetzt",
    "The Field Service Engineer position has been filled",
    "The Field Engineer job is no longer available",
    "We are no longer accepting applications for this position",
    "Applications have closed",
    "Applications closed",
    "The application deadline has passed",
    "The deadline for this position has passed",
    "This posting is inactive",
    "This job is inactive",
    "This job ad is offline",
    "Recruitment for this role has ended",
    "We've stopped accepting applications",
    "This job has ended",
    "This vacancy is now closed",
    "Position closed",
    "Job closed",
    "Job expired",
    "Sorry, this job expired",
    "This job offer has expired",
    "This offer has expired",
    "This offer is no longer available",
    "This vacancy has now closed",
    "The job you are trying to view is no longer available",
    "The page you requested is for a job that no longer exists",
    "This job could not be found",
    "The job you requested was not found",
    "This role is now filled",
    "We are not accepting applications for this job",
    "We are not currently accepting applications for this role",
    "This job isn't accepting applications",
    "No longer accepting applicants",
    "This job listing has been taken offline",
    "Job is closed",
    "The position is closed to new applicants",
    "Job posting not found",
    "This posting is no longer accepting applications",
    "We're sorry, the job you're looking for doesn't exist",
    "This internship is no longer available",
    "This job is no longer open for applications",
    "Closed for applications",
    "Vacancy closed",
    "Deze vacature is gesloten",
    "De vacature als developer is niet meer beschikbaar",
    "Cette offre n'est plus disponible",
    "Cette offre d'emploi a expiré",
    "L'offre est expirée",
    "Le poste est pourvu",
    "Le poste a été pourvu",
    "Cette annonce a expiré",
    "Esta oferta ha expirado",
    "Oferta cerrada",
    "La oferta ha caducado",
    "Esta oferta de trabajo ya no está disponible",
    "Diese Stellenanzeige ist abgelaufen",
    "Die Bewerbungsfrist ist abgelaufen",
    "Diese Stelle ist leider nicht mehr verfügbar",
    "Diese Stellenausschreibung ist nicht mehr aktiv",
    "Stelle besetzt",
    "Das Stellenangebot ist nicht mehr online",
    "Leider ist diese Stelle nicht mehr verfügbar",
    "Leider ist diese Position bereits besetzt",
    "Leider wurde die Stelle bereits besetzt",
    "A vaga foi encerrada",
    "Esta vaga não está mais disponível",
    "Vaga encerrada",
    "Questa offerta non è più disponibile",
    "Questa posizione è stata chiusa",
    "Annuncio scaduto",
    "Ta oferta wygasła",
    "Oferta pracy wygasła",
    "Tjänsten är tillsatt",
    "Stillingen er besat",
    "Denna annons är inte längre aktiv",
    "Stillingen er ikke længere ledig",
    "この求人は募集を終了しました",
    "募集は終了しました",
    "この求人の掲載は終了しました",
    "该职位已关闭",
    "职位已下线",
    "채용이 마감되었습니다",
    "마감된 공고입니다",
    "Вакансия закрыта",
    "Вакансия в архиве",
    "Bu ilan yayından kaldırıldı",
    "This job has been closed by the employer",
    "The role you're applying for has closed",
    "Unfortunately this role has closed",
    "Unfortunately, this job posting has closed",
    "This position has closed",
    "This opening has closed",
    "This vacancy has closed",
    "Вакансия закрыта.",
    "К сожалению, эта вакансия уже закрыта",
    "Bu ilanın süresi doldu",
    "Bu pozisyon kapandı",
    "Questa offerta è scaduta",
    "Denna annons har gått ut",
    "Ansökningstiden har gått ut",
    "Stillingen er allerede besat",
    "Annonsen er utløpt",
    "抱歉，该职位已停止招聘",
    "채용공고가 종료되었습니다",
    "This position is no longer available, please browse our other openings",
    "Unfortunately, the Senior Data Engineer position has been filled.",
    "Important: this role has already been filled",
    "Hakuaika on päättynyt",
]
LIVING = [
    "In this role, you will ensure the books are closed each month",
    "In this role you will make sure every ticket is closed on time",
    "This position is not open to candidates who need visa sponsorship",
    "This role is not available to candidates outside the US",
    "The position is not currently open to C2C or third-party agencies",
    "This role is not available for remote work",
    "This opportunity is not open to agencies",
    "The job is no longer posted as remote-only",
    "In this position, make sure that barriers to growth are removed",
    "Our previous opening was filled internally, so we are hiring a second engineer",
    "This position was filled by a contractor in the past and is now permanent",
    "Applications are closed on 31 December 2026",
    "Die Stelle ist nicht mehr besetzbar",
    "Applications for this role are closed on Friday 12 December",
    "A role that was removed from the spotlight is not what we offer",
    "The role was archived in 2020 but reopened in 2026",
    "La vacante esta cerrada a extranjeros",
    "Your role is to see that risks are identified and that findings are closed",
    "You own the role of incident commander: every job that is queued has been removed",
    "This position is not open to third-party recruiters",
    "The position is not currently open to C2C",
    "Applications are closed on 31 January 2027",
    "The position is filled on a rolling basis, so apply early",
    "The position in Zurich has been filled; Basel is still open",
    "The last person in this role closed 30 deals a year",
    "Ce poste est fermé aux agences",
    "Our offices in the U.S. job is closed.",
    "This job is not available in your region",
    "This job is not available",
    "Has this job been closed?",
    "Hiring for this role is paused",
    "This position has been filled, but a second one is still open",
    "La vacante ha sido cerrada a candidatos externos",
    "Unsere bisherige Anzeige ist geschlossen worden, diese gilt",
    "Your job session has expired",
    "The job: our cafe is closed on Mondays",
    "When this job is closed",
    "The listing is not available right now, come back later",
    "Beware: fake sites say that this job is no longer available",
    "Wenn die Stelle nicht mehr verfügbar ist",
    "Si esta oferta ya no está disponible",
]


@pytest.mark.parametrize(
    "text",
    [
        *CLOSED,
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
def test_a_sentence_about_the_posting_closes_it_in_each_language(text: str) -> None:
    """A3"""
    assert closed_sentence(text) is not None


@pytest.mark.parametrize(
    "text",
    [
        *LIVING,
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
def test_a_sentence_that_says_more_or_something_else_closes_nothing(text: str) -> None:
    """A3: a false "closed" is the worst answer."""
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


def test_a_sentence_that_names_another_job_says_nothing_of_this_one() -> None:
    """A3"""
    said = "The Field Service Engineer position has been filled."
    assert closed_sentence(said, title="Senior Field Service Engineer (m/f/d)")
    assert closed_sentence(said, title="Welder") is None


@pytest.mark.parametrize("piece", ["this job is ", "-", "the a b c ", "\u0301", ". ", "sorry, ", "the "])
def test_a_hostile_text_is_read_to_its_bound(piece: str) -> None:
    """Sentences, and what of the text is read, are bounded, so that no repetition costs more than its
    length.
    """
    text = piece * (200_000 // len(piece))
    assert closed_notice(text, text, text) is None
    assert closed_sentence("\n".join([text[:259]] * 700)) is None
