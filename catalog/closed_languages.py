# ruff: noqa: RUF001 - letters of other alphabets are what this is about
"""The sentences by which pages say that their posting is closed, language by language.

Each pattern is of a whole sentence in small letters without accents ("é" is "e", "ł" is "l", "ø" is "o", "й"
is "и"), as closed_words.py writes it. Every repetition is bounded, so that a sentence of bounded length costs
a constant. The only groups are what a sentence calls the job.
"""

from __future__ import annotations

import re
from typing import Final

_NAME: Final = r"([\w&/+#'().,-]+(?: [\w&/+#'().,-]+){0,8}?)"


def _patterns(lead: str, *sentences: str) -> tuple[re.Pattern[str], ...]:
    """One pattern a sentence, each with up to three of the words of regret before it."""
    return tuple(re.compile(rf"(?:(?:{lead})[,:;! -]{{0,3}}){{0,3}}(?:{each})") for each in sentences)


_JOB: Final = (
    r"(?:(?:job|career|internship|employment) (?:posting|ad|advert|advertisement|listing|offer|vacancy"
    r"|opening"
    r"|opportunity|position|requisition|post)|job|position|posting|role|vacancy|opening|opportunity"
    r"|requisition"
    r"|req|listing|internship|traineeship|apprenticeship|advert|offer)"
)
_FOR_IT: Final = rf"(?: (?:for|to) (?:this|the) {_JOB})?"
_SOUGHT: Final = (
    r"(?:,? (?:(?:that|which) )?you(?:'re|'ve| are| were| have| had)? (?:just )?(?:now )?(?:looking"
    r"|searching"
    r"|trying|attempting|requested|requesting|selected|viewing|clicked|followed|chose|chosen|applying"
    r"|interested|want|wanted|wish|asked)(?: \w+){0,4})?"
)
_SUBJECT: Final = (
    rf"(?:(?:this|the|that) (?:specific |particular |current )?{_JOB}{_SOUGHT}"
    rf"|(?:this|the) {_JOB} (?:of|as|for|titled) {_NAME}|(?:this|the) {_NAME} {_JOB}|{_JOB})"
)
_ADVERB: Final = r"(?: (?:now|already|since|currently|recently|unfortunately|just|sadly)){0,2}"
_OVER: Final = (
    r"(?:closed|filled|expired|removed|withdrawn|deactivated|archived|cancell?ed|taken down|taken offline"
    r"|unpublished|deleted|discontinued|delisted|inactive|offline|ended)"
)
_FROM: Final = r"(?: from (?:our|the|this) (?:web ?site|site|system|job board|career site|careers page))?"
_BY: Final = r"(?: by the (?:employer|company|recruiter|advertiser|hiring (?:manager|team|company)))?"
_TO_ALL: Final = r"(?: (?:for|to)(?: new| further| any)? (?:applications?|applicants?|candidates?))?"
_TAKING: Final = (
    r"(?:accepting|taking|receiving)(?: new| any| further| more)? (?:applications?|applicants?|candidates?)"
)
_ON_OFFER: Final = (
    r"(?:(?:available|open|active|posted|listed|online|live|advertised|vacant|on offer|valid|being"
    r" recruited)"
    rf"{_TO_ALL}{_FROM}|{_TAKING})(?: any ?more| any longer)?"
)
# What may follow in the same sentence: thanks, and where to look instead.
_INSTEAD: Final = (
    r"(?:(?:,|;|:| -| and| but| so)(?: but| and| so)? (?:please|you (?:can|may|might)|feel free|thanks?"
    r"|check|see"
    r"|view|browse|explore|search|look|have a look|take a look|we (?:thank|invite|encourage|have other"
    r"|have many))\b"
    r"(?:(?!still|reopen|second|another|until|unless|\bif\b).){0,140})?"
)
_DAY: Final = r"(?: on (?:\d{1,2}\.? \w{3,9},? \d{4}|\w{3,9} \d{1,2}(?:st|nd|rd|th)?,? \d{4}|[\d./-]{6,10}))?"
_ENGLISH: Final = _patterns(
    r"(?:we(?:'re| are) )?(?:so |very |terribly )?sorry(?: but| that)?|unfortunately|regrettably|sadly"
    r"|oops|uh oh"
    r"|whoops|we apologi[sz]e|we regret(?: to (?:inform|tell|say|advise)(?: you)?)?(?: that)?|please"
    r" (?:note"
    r"|be advised)(?: that)?|attention|notice|note|important|update|status|it (?:looks|seems"
    r"|appears)(?: like"
    r"| that| as if| as though)?|thank you for (?:your|the) interest|thanks for your interest|but"
    r"|however|hello|hi",
    rf"{_SUBJECT} (?:is|are|has|have)(?:{_ADVERB})(?: been)?(?:{_ADVERB}) {_OVER}{_FROM}{_BY}{_TO_ALL}"
    rf"(?: and (?:is )?no longer {_ON_OFFER})?{_INSTEAD}",
    rf"(?:this|that) {_JOB} was(?:{_ADVERB}) {_OVER}{_FROM}{_BY}{_DAY}{_INSTEAD}",
    rf"(?:this|that|the) {_JOB} has been {_OVER}{_DAY}",
    rf"{_SUBJECT}(?:{_ADVERB}) (?:closed|filled|expired|inactive|archived|cancell?ed){_INSTEAD}",
    rf"(?:{_SUBJECT}|the page you(?: have)? requested is for a {_JOB} that)(?: (?:is|are|has|was|may be"
    r" no))?"
    rf"(?:{_ADVERB}) no longer (?:{_ON_OFFER}|exists?){_FROM}{_INSTEAD}",
    rf"{_SUBJECT} (?:is not|isn't)(?: currently)? (?:available|open|active|posted|listed|online|live)"
    rf"{_TO_ALL} (?:any ?more|any longer){_INSTEAD}",
    rf"{_SUBJECT} (?:is|are)(?: not|n't)(?: currently)? {_TAKING}(?: any ?more| any longer| at this time"
    rf"| at the moment| right now)?{_INSTEAD}",
    rf"{_SUBJECT} (?:does not|doesn't) exist(?: any ?more| any longer)?{_INSTEAD}",
    rf"{_SUBJECT} (?:was |could |can)?(?:not|n't)(?: be)? found{_FROM}{_INSTEAD}",
    rf"(?:(?:we|{_JOB}) )?(?:are |is |'re )?no longer {_TAKING}{_FOR_IT}{_INSTEAD}",
    rf"we(?: are|'re)(?: not|n't)?(?: currently| no longer){{1,2}} {_TAKING}{_FOR_IT}(?: at this"
    rf" time)?{_INSTEAD}",
    rf"we(?: are|'re) (?:not|no longer) {_TAKING} (?:for|to) (?:this|the) {_JOB}(?: at this"
    rf" time)?{_INSTEAD}",
    rf"we(?: have|'ve)(?: now)? stopped {_TAKING}{_FOR_IT}{_INSTEAD}",
    rf"we(?: have|'ve)(?: now| already)? (?:closed|filled) this {_JOB}{_INSTEAD}",
    rf"(?:the )?applications?{_FOR_IT} (?:is|are|have|has)(?:{_ADVERB})(?: been)? closed{_INSTEAD}",
    r"applications?(?: now)? closed|(?:now )?closed (?:for|to)(?: new| further)? applications?",
    rf"(?:the )?(?:application |submission |closing )?(?:deadline|date|period|window){_FOR_IT} "
    rf"(?:has |is )?(?:now |already )?(?:passed|closed|ended|expired|over){_INSTEAD}",
    r"(?:recruitment|recruiting|hiring|the (?:search|hiring process|recruitment process)) for (?:this"
    rf"|the) {_JOB} "
    r"(?:has(?: now)?(?: been)?|is(?: now)?) (?:ended|closed|finished|over|completed?"
    rf"|concluded){_INSTEAD}",
)

_DE_JOB: Final = (
    r"(?:stelle|stellenanzeige|stellenausschreibung|stellenangebot|jobangebot|jobanzeige|position"
    r"|ausschreibung"
    r"|anzeige|inserat|vakanz|praktikum|job)"
)
_DE_SUBJECT: Final = (
    r"(?:(?:diese[rs]?|die|der|das) (?:(?:von ihnen )?(?:gesuchte|aufgerufene|ausgewahlte|gewunschte"
    rf"|ausgeschriebene) )?)?{_DE_JOB}(?:,? die sie suchen,?)?(?: (?:als|zum|zur) {_NAME})?"
)
_DE_ADVERB: Final = r"(?: (?:leider|inzwischen|bereits|schon|nun|mittlerweile|aktuell|derzeit|jetzt)){0,3}"
_DE_OVER: Final = (
    r"(?:nicht (?:mehr|langer) (?:verfugbar|ausgeschrieben|aktiv|vakant|online|aktuell|offen|zu"
    r" besetzen|frei"
    r"|vorhanden|gultig)|(?:besetzt|vergeben|geschlossen|abgelaufen|deaktiviert|entfernt|beendet|geloscht"
    r"|archiviert|zuruckgezogen)(?: worden)?)"
)
_GERMAN: Final = _patterns(
    r"leider|hinweis|achtung|schade|entschuldigung|(?:es )?tut uns leid|hoppla|wir bedauern",
    rf"{_DE_SUBJECT}(?: (?:ist|wurde))?{_DE_ADVERB} {_DE_OVER}",
    rf"(?:ist|wurde) {_DE_SUBJECT}{_DE_ADVERB} {_DE_OVER}",
    rf"{_DE_SUBJECT} (?:existiert nicht mehr|gibt es nicht mehr|(?:wurde )?nicht gefunden)",
    rf"(?:die )?bewerbungsfrist(?: (?:fur diese {_DE_JOB}))?(?: ist)?{_DE_ADVERB} (?:abgelaufen|beendet"
    r"|verstrichen)",
    rf"(?:eine )?bewerbung(?:en)?(?: (?:auf|fur) diese {_DE_JOB})? (?:ist|sind){_DE_ADVERB} nicht mehr"
    r" moglich",
)

_FR_SUBJECT: Final = (
    r"(?:(?:cette |ce |la |le |l'))?(?:offre|annonce|poste|mission|stage|alternance)"
    r"(?: (?:d'emploi|de stage|d'alternance))?(?:,? que vous (?:re)?cherchez,?|,? que vous consultez,?)?"
    rf"(?: (?:de|d'|en tant que) ?{_NAME})?"
)
_FR_ADVERB: Final = r"(?: (?:malheureusement|deja|desormais|maintenant|actuellement)){0,2}"
_FR_OVER: Final = (
    r"(?:pourvue?|cloturee?|expiree?|fermee?|retiree?|archivee?|supprimee?|desactivee?|close?|terminee?)"
)
_FRENCH: Final = _patterns(
    r"desolee?s?|(?:nous sommes )?desoles|malheureusement|oups|attention|nous regrettons",
    rf"{_FR_SUBJECT} n'est{_FR_ADVERB} plus (?:disponible|en ligne|active?|d'actualite|ouverte?|a pourvoir"
    r"|val(?:able|ide)|accessible)",
    rf"{_FR_SUBJECT} (?:a ete|a|est|vient d'etre){_FR_ADVERB} {_FR_OVER}",
    rf"(?:offre|annonce|poste|stage)(?: d'emploi)? {_FR_OVER}",
    rf"{_FR_SUBJECT} (?:n'existe plus|est introuvable|n'a pas ete trouvee?|n'accepte plus de"
    r" candidatures?)",
    r"(?:les )?candidatures?(?: pour (?:cette offre|ce poste))? (?:sont |est )?(?:closes?|cloturees?"
    r"|fermees?"
    r"|terminees?)",
    r"le recrutement (?:pour (?:cette offre|ce poste) )?est (?:clos|termine|cloture)",
)

_ES_SUBJECT: Final = (
    r"(?:(?:esta|este|la|el) )?(?:oferta|vacante|puesto|posicion|anuncio|convocatoria|plaza)"
    rf"(?: de (?:trabajo|empleo))?(?: (?:de|para|como) {_NAME})?"
)
_ES_OVER: Final = (
    r"(?:caducad[oa]|cerrad[oa]|cubiert[oa]|finalizad[oa]|expirad[oa]|eliminad[oa]|retirad[oa]|archivad[oa]"
    r"|vencid[oa]|cancelad[oa])"
)
_SPANISH: Final = _patterns(
    r"lo sentimos(?:,? pero)?|lo siento|lamentablemente|desafortunadamente|vaya|atencion|aviso|ups",
    rf"{_ES_SUBJECT} ya no (?:esta|se encuentra) (?:disponible|activ[oa]|abiert[oa]|vigente|publicad[oa])",
    rf"{_ES_SUBJECT} ya no (?:existe|acepta (?:mas )?(?:candidaturas|solicitudes|postulaciones))",
    rf"{_ES_SUBJECT} (?:ya )?(?:ha sido|ha|esta|fue|se encuentra|se ha)(?: ya)? {_ES_OVER}",
    r"(?:oferta|vacante|puesto|convocatoria|anuncio)(?: de (?:trabajo|empleo))? (?:no encontrad[oa]"
    rf"|{_ES_OVER})",
    r"(?:las )?(?:inscripciones|postulaciones|candidaturas)(?: para est[ae] \w+)? (?:estan )?cerradas",
    r"el plazo de (?:inscripcion|solicitud|presentacion)(?: \w+){0,3} ha (?:finalizado|terminado"
    r"|vencido|expirado)",
)

_PT_SUBJECT: Final = (
    r"(?:(?:est[ae]|ess[ae]|[ao]) )?(?:vaga|oportunidade|posicao|oferta|anuncio)"
    rf"(?: de (?:emprego|trabalho|estagio))?(?: (?:de|para) {_NAME})?"
)
_PT_OVER: Final = (
    r"(?:encerrad|preenchid|fechad|expirad|removid|cancelad|finalizad|arquivad|desativad|inativ)[oa]"
)
_PORTUGUESE: Final = _patterns(
    r"(?:sentimos|lamentamos)(?: muito)?(?:,? mas)?|infelizmente|desculpe(?:,? mas)?|ops|aviso|atencao",
    rf"{_PT_SUBJECT} (?:ja )?nao esta mais (?:disponivel|abert[oa]|ativ[oa]|publicad[oa])",
    rf"{_PT_SUBJECT} ja nao (?:se encontra|esta) (?:disponivel|abert[oa]|ativ[oa])",
    rf"{_PT_SUBJECT} (?:ja )?(?:foi|esta|encontra-se) (?:ja )?{_PT_OVER}",
    rf"{_PT_SUBJECT} (?:ja )?(?:expirou|nao existe mais|nao aceita mais candidaturas|nao (?:foi"
    r" )?encontrad[oa])",
    rf"(?:vaga|oportunidade|oferta|anuncio) {_PT_OVER}",
    r"(?:as )?(?:inscricoes|candidaturas)(?: para est[ae] \w+)? (?:estao |foram )?(?:encerradas|fechadas)",
)

_IT_SUBJECT: Final = (
    r"(?:quest[ao] |l'|la |il )?(?:offerta|posizione|annuncio|ricerca|candidatura|selezione)"
    rf"(?: di lavoro| lavorativ[ao])?(?: (?:di|per|come) {_NAME})?"
)
_IT_OVER: Final = (
    r"(?:chius[oa]|scadut[oa]|copert[oa]|rimoss[oa]|ritirat[oa]|archiviat[oa]|assegnat[oa]|terminat[oa])"
)
_ITALIAN: Final = _patterns(
    r"(?:siamo )?spiacenti(?:,? ma)?|ci dispiace(?:,? ma)?|purtroppo|attenzione|ops",
    rf"{_IT_SUBJECT} non e piu (?:disponibile|attiv[oa]|apert[oa]|valid[oa]|online|presente|visibile)",
    rf"{_IT_SUBJECT} (?:non esiste piu|non (?:e stat[oa] )?trovat[oa])",
    rf"{_IT_SUBJECT} (?:e )?(?:gia )?(?:stat[oa] )?(?:gia )?{_IT_OVER}",
    r"(?:le )?candidature(?: per quest[ao] \w+)? (?:sono )?(?:state )?chiuse",
)

_NL_SUBJECT: Final = (
    r"(?:deze |de |dit )?(?:vacature|functie|positie|baan|stage|stageplaats|job)"
    rf"(?: die u zoekt| die je zoekt)?(?: (?:als|van|voor) {_NAME})?"
)
_NL_ADVERB: Final = r"(?: (?:helaas|al|reeds|inmiddels|nu|momenteel)){0,2}"
_NL_OVER: Final = (
    r"(?:niet (?:meer|langer) (?:beschikbaar|actief|open|geldig|online|vacant|actueel)|(?:vervuld|gesloten"
    r"|verlopen|ingevuld|verwijderd|gearchiveerd|offline gehaald))"
)
_DUTCH: Final = _patterns(
    r"helaas|sorry|let op|het spijt ons|jammer",
    rf"{_NL_SUBJECT}(?: (?:is|werd))?{_NL_ADVERB} {_NL_OVER}",
    rf"(?:is|werd) {_NL_SUBJECT}{_NL_ADVERB} {_NL_OVER}",
    rf"{_NL_SUBJECT} (?:bestaat niet (?:meer|langer)|niet gevonden)",
    r"solliciteren(?: (?:op|voor) deze \w+)? is (?:helaas )?niet (?:meer|langer) mogelijk",
)

_NORDIC_OPEN: Final = (
    r"(?:aktiv[t]?|aktuell|aktuel|tillganglig[t]?|oppen|oppet|publicerad|ledig[t]?|tilgaengelig[t]?"
    r"|tilgjengelig"
    r"|aben|apen|opslaet|opslaaet|utlyst)"
)
_NORDIC: Final = _patterns(
    r"tyvarr|desvaerre|dessverre|beklager|vi beklager|obs|forlat",
    r"(?:denna |den har |detta )?(?:tjanst(?:en)?|annons(?:en)?|roll(?:en)?|jobb(?:et)?|jobbannons(?:en)?"
    r"|platsannons(?:en)?) (?:(?:ar|har)(?: redan| nu| tyvarr)? (?:blivit )?(?:tillsatt|stangd|avslutad"
    r"|borttagen|utgangen)"
    r"|har (?:nu |redan )?(?:gatt ut|stangts|tagits bort|avslutats)|(?:ar )?(?:inte|ej) langre"
    rf" {_NORDIC_OPEN}"
    r"|finns inte langre|tillsatt)",
    r"(?:sista )?ansokning(?:stiden|sperioden|sdagen|sdag)(?: for \w+ \w+)? har (?:gatt ut|passerat"
    r"|lopt ut)",
    r"(?:denne |dette |den )?(?:stilling(?:en)?|job(?:bet)?|jobb(?:et)?|annonce(?:n)?|annonse(?:n)?"
    r"|jobopslag(?:et)?"
    r"|stillingsopslag(?:et)?|utlysning(?:en)?) (?:(?:er|har)(?: nu| allerede| desvaerre| dessverre)?"
    r" (?:blevet |blitt )?"
    r"(?:besat|besatt|lukket|stengt|udlobet|utlopt|fjernet|slettet|gatt ut)"
    rf"|er (?:desvaerre |dessverre )?ikke (?:laengere|lenger) {_NORDIC_OPEN}|eksisterer ikke"
    r" (?:laengere|lenger))",
    r"(?:ansogningsfristen|soknadsfristen|fristen) (?:er|har) (?:udlobet|utlopt|overskredet|gatt ut)",
    r"(?:tama )?(?:tyopaikka|paikka|ilmoitus|tyopaikkailmoitus|haku) (?:ei ole enaa (?:avoinna|voimassa"
    r"|haettavissa)"
    r"|on (?:jo )?(?:taytetty|sulkeutunut|paattynyt|vanhentunut))|hakuaika on paattynyt",
)

_POLISH: Final = _patterns(
    r"niestety|przepraszamy|przykro nam|uwaga",
    r"(?:ta |to |niniejsza |niniejsze )?(?:oferta(?: pracy)?|ogloszenie(?: o prace)?|rekrutacja|stanowisko)"
    rf"(?: na (?:to stanowisko|stanowisko {_NAME}))? (?:juz )?(?:wygasl[ao]|zostal[ao] (?:juz"
    r" )?(?:zakonczon[ae]"
    r"|zamkniet[ae]|usuniet[ae]|wycofan[ae])|jest (?:juz )?(?:nieaktualn[ae]|nieaktywn[ae]|zamkniet[ae]"
    r"|zakonczon[ae]"
    r"|niedostepn[ae])|(?:nie jest juz|juz nie jest|nie jest) (?:juz )?(?:aktualn[ae]|aktywn[ae])"
    r"|(?:nie jest juz|juz nie jest) dostepn[ae]|nieaktualn[ae]|zakonczon[ae]|zamkniet[ae])",
)
_RUSSIAN: Final = _patterns(
    r"к сожалению|извините|внимание",
    r"(?:эта |данная )?вакансия (?:уже |была )?(?:закрыта|неактивна|не активна|неактуальна|не актуальна"
    r"|больше не (?:актуальна|доступна|активна)|снята с публикации|удалена|заполнена|(?:находится "
    r"|перенесена )?в архиве?"
    r"|не найдена)",
    r"(?:прием|сбор) (?:откликов|заявок|резюме)(?: на эту вакансию)? (?:завершен|закрыт|окончен|прекращен)",
    r"срок (?:подачи|приема) (?:заявок|откликов|резюме) (?:истек|закончился)",
)
_TURKISH: Final = _patterns(
    r"uzgunuz|maalesef|dikkat",
    r"(?:bu )?(?:is )?(?:ilan|ilani|pozisyon) (?:yayindan (?:kaldirildi|kaldirilmis(?:tir)?)|artik"
    r" (?:yayinda"
    r"|aktif|mevcut|gecerli|acik) degil(?:dir)?|(?:kapandi|kapanmis(?:tir)?|kapatildi"
    r"|kapatilmis(?:tir)?|doldu"
    r"|dolduruldu|dolmustur|pasif|bulunamadi|sona erdi|sona ermistir))",
    r"(?:bu )?(?:is )?ilan(?:in|inin) suresi (?:doldu|dolmus(?:tur)?|sona erdi)",
    r"(?:bu (?:ilan|pozisyon)(?:a|in)? (?:icin )?)?basvuru(?:lar|lari)?(?: suresi)? (?:kapandi"
    r"|kapanmistir|kapatildi"
    r"|sona erdi|sona ermistir|doldu|dolmustur)",
)

_JA_OVER: Final = (
    r"(?:終了|締め切|締切|停止|締切)(?:り)?(?:(?:を|と)?(?:し|いたし|致し|され|させていただき|なり|らせていただき)(?:まし|てい|ておりま|ています)?"
    r"(?:た|ました|ます|る)?|ました|になりました|済み)?"
)
_JAPANESE: Final = _patterns(
    r"申し訳(?:ございません|ありません)(?:が)?|恐れ入りますが",
    r"(?:(?:お探しの|こちらの|この|本|当該|該当の)?(?:求人情報|求人票|求人|募集|案件|ポジション|職種|お仕事|採用))"
    rf"(?:の(?:募集|掲載|応募受付|応募|受付))?(?:は|が|を)?、?(?:現在|すでに|既に)?(?:(?:募集|掲載|応募受付|受付)(?:を|は|が)?)?{_JA_OVER}",
)
_CHINESE: Final = _patterns(
    r"很?抱歉|对不起|對不起|您(?:查看|访问|浏览|申请)的",
    r"(?:该|此|本|这个|這個|当前|當前|該)?(?:招聘信息|职位信息|职位|岗位|招聘|職位|職缺|工作)(?:目前|现在)?(?:已经|已經|已|己)(?:被)?"
    r"(?:停止招聘|停止招募|关闭|下线|失效|停止|结束|过期|招满|下架|關閉|下線|額滿|招滿|結束|過期|刪除|删除)(?:了)?",
    r"(?:该|此|這個|这个|該)?(?:职位|岗位|職位|職缺)(?:不存在|已不存在)(?:了)?",
)
_KOREAN: Final = _patterns(
    r"죄송합니다|죄송하지만",
    r"(?:이|해당|본)? ?(?:채용 ?공고|채용|공고|모집|포지션|접수)(?:이|가|은|는)? ?(?:이미 ?)?(?:마감|종료)"
    r"(?: ?되었습니다| ?됐습니다|되었어요|됨|된 공고입니다)?",
    r"(?:이미 )?(?:마감|종료)된 (?:채용 ?)?공고입니다",
)

CLOSED: Final = (
    *_ENGLISH, *_GERMAN, *_FRENCH, *_SPANISH, *_PORTUGUESE, *_ITALIAN, *_DUTCH, *_NORDIC, *_POLISH,
    *_RUSSIAN, *_TURKISH, *_JAPANESE, *_CHINESE, *_KOREAN,
)  # fmt: skip
