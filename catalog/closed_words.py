"""Whether a page says that its posting is closed: by words that speak of the posting, in a place where they
are meant. Pure.

A page proves nothing by being gone, moved, blocked or empty (A3). What counts is a sentence about this job,
position or offer, in one of the languages below, where such notices stand: title, first heading, the
beginning of the page, or anywhere on a page that shows little else. A condition ("if this position has been
filled …") states nothing, and neither does a form.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Final

BEGINNING: Final = 900  # characters in which a notice above the posting stands
SHORT_PAGE: Final = 1_800  # characters of a page that has nothing but its notice

_MARKS: Final = re.compile(r"[\u0300-\u036f]")
_APOSTROPHES: Final = re.compile(r"[\u2018\u2019\u02bc\u00b4`]")
_SENTENCE: Final = re.compile(r"[^.!?\n|\u3002]+")
_CONDITION: Final = re.compile(
    r"\b(?:if|once|when|whenever|unless|until|in case|should|after|as soon as|before|wenn|"
    r"falls|sobald|nachdem|bis"
    r"|si|cuando|lorsque|des que|quando|se|caso|zodra|indien|als|om|nar|hvis|jesli|gdy)\b"
)
_FORM: Final = re.compile(r"\b(?:form|field|fields|required|box|formular|formulaire|formulario|feld|champ)\b")
_JOB: Final = (
    r"(?:job|jobs posting|job posting|job ad|job advertisement|job listing|position|posting|"
    r"role|vacancy|opening"
    r"|opportunity|requisition|listing|req)"
)
_GONE: Final = (
    r"(?:available|open|active|accepting|posted|listed|online|live|advertised|vacant|on offer"
    r"|being recruited)"
)
_CLOSED_ENGLISH: Final = (
    rf"\b{_JOB}\b(?:\W+\w+){{0,8}}?\W+(?:is|are|was|has|have)\s+(?:now |already |since |"
    rf"currently )?(?:been )?"
    r"(?:closed|filled|expired|removed|withdrawn|deactivated|archived|cancell?ed|taken down|unpublished)\b",
    rf"\b{_JOB}\b(?:\W+\w+){{0,6}}?\W+(?:is|are|has|have|was)(?: not|n't) (?:currently "
    rf")?{_GONE}\b(?: any ?more)?",
    rf"\b{_JOB}\b(?:\W+\w+){{0,6}}?\W+(?:is|are|has|have|was) no longer {_GONE}\b",
    r"\bno longer accepting applications?\b",
    r"\bapplications? (?:for this \w+ )?(?:is|are|have|has) (?:now )?(?:been )?closed\b",
    rf"^\W*{_JOB} (?:is )?(?:closed|filled|expired|not found|no longer available)\W*$",
    rf"\b(?:this|the) {_JOB} (?:you are looking for |you requested )?(?:does not|doesn't|no "
    rf"longer) exists?\b",
    rf"\bwe(?: have|'ve) (?:already )?(?:closed|filled) this {_JOB}\b",
    r"\bthis (?:job|position|role) (?:has )?closed\b",
)
_CLOSED_ELSEWHERE: Final = (
    r"\b(?:diese |die )?(?:stelle|stellenanzeige|position|ausschreibung|anzeige|"
    r"stellenangebot)\b(?: \w+){0,4}? "
    r"(?:nicht mehr (?:verfugbar|ausgeschrieben|aktiv|vakant|online|aktuell|offen|besetzbar)|"
    r"bereits (?:besetzt|vergeben)"
    r"|(?:wurde|ist) (?:inzwischen |bereits |leider )?(?:besetzt|vergeben|geschlossen|"
    r"abgelaufen|deaktiviert|entfernt))",
    r"\b(?:cette |l')?(?:offre|annonce|poste)\b(?: d'emploi)?(?: \w+){0,3}? (?:n'est plus "
    r"(?:disponible|en ligne|active"
    r"|d'actualite|ouverte?|a pourvoir)|(?:a ete|est) (?:deja )?(?:pourvue?|cloturee?|"
    r"expiree?|fermee?|retiree?|archivee?))",
    r"\b(?:esta |la |el )?(?:oferta|vacante|puesto|posicion)\b(?: \w+){0,4}? (?:ya no (?:esta|"
    r"se encuentra) (?:disponible|activa"
    r"|abierta|vigente)|ha (?:sido )?(?:caducado|cerrada|cerrado|cubierta|cubierto|finalizado|"
    r"expirado)|(?:esta )?cerrada)",
    r"\b(?:esta |a )?(?:vaga|oportunidade|posicao)\b(?: \w+){0,4}? (?:nao esta mais "
    r"(?:disponivel|aberta|ativa)|(?:foi|esta) "
    r"(?:encerrada|preenchida|fechada|expirada)|encerrada)",
    r"\b(?:questa |l')?(?:offerta|posizione|annuncio)\b(?: \w+){0,4}? (?:non e piu "
    r"(?:disponibile|attiva|attivo|aperta)|e "
    r"(?:stat[oa] )?(?:chius[oa]|scadut[oa]|copert[oa]))",
    r"\b(?:deze |de )?(?:vacature|functie)\b(?: \w+){0,4}? (?:niet (?:meer|langer) "
    r"(?:beschikbaar|actief|open|geldig)|"
    r"(?:is|werd) (?:reeds |inmiddels |al )?(?:vervuld|gesloten|verlopen|ingevuld))",
    r"\b(?:tjansten|annonsen|rollen|jobbet)\b(?: \w+){0,3}? (?:tillsatt|inte langre|har gatt "
    r"ut|ar stangd|avslutad)",
    r"\b(?:stillingen|jobbet|annoncen|annonsen)\b(?: \w+){0,3}? (?:besat|besatt|ikke l(?:ae|"
    r"e)ngere?|ikke lenger|udlobet|utlopt)",
    r"\b(?:oferta|ogloszenie|rekrutacja)\b(?: \w+){0,3}? (?:nie jest juz|wygasl[ao]|"
    r"zakonczona|nieaktualn[ae]|zamkniet[ae])",
    r"(?:募集|掲載|求人)(?:は|が|を)?(?:すでに|既に)?(?:終了|締め切)",
    r"(?:该|此|本)?(?:职位|岗位|招聘)(?:已|己)(?:关闭|下线|失效|停止|结束|过期|招满)",
    r"(?:채용|공고)(?:이|가)?\s?(?:마감|종료)",
)
_CLOSED: Final = tuple(re.compile(pattern) for pattern in (*_CLOSED_ENGLISH, *_CLOSED_ELSEWHERE))


def closed_sentence(text: str) -> str | None:
    """The sentence that says that the posting is closed, as it stands in the text; None where none does."""
    for sentence in _sentences(text):
        plain = _plain(sentence)
        if _CONDITION.search(plain) or _FORM.search(plain):
            continue
        if any(pattern.search(plain) for pattern in _CLOSED):
            return " ".join(sentence.split())[:300]
    return None


def closed_notice(title: str, heading: str, text: str) -> str | None:
    """The same for a page: only where notices stand."""
    places = [title, heading, text if len(text) <= SHORT_PAGE else text[:BEGINNING]]
    return next((said for place in places if (said := closed_sentence(place))), None)


def _sentences(text: str) -> Iterator[str]:
    for match in _SENTENCE.finditer(text[:20_000]):
        if match[0].strip():
            yield match[0]


def _plain(sentence: str) -> str:
    """In small letters, without accents, with one kind of apostrophe and of space."""
    decomposed = unicodedata.normalize("NFKD", _APOSTROPHES.sub("'", sentence))
    plain = _MARKS.sub("", decomposed).lower()
    return " ".join(unicodedata.normalize("NFKC", plain).replace("\u00df", "ss").split())
