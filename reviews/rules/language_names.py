"""Languages by ISO 639-1 code, with the names that postings use for them."""

from __future__ import annotations

# The English name first, then what speakers of other languages write.
NAMES: dict[str, tuple[str, ...]] = {
    code: tuple(names.split(";"))
    for code, names in {
        "en": "English;Englisch;anglais;inglés;inglese;inglês;Engels;angielski;engelska;angielskiego",
        "de": "German;Deutsch;allemand;alemán;tedesco;alemão;Duits;niemiecki;niemieckiego;tyska;niemieckiego",
        "fr": "French;Französisch;français;francés;francese;francês;Frans;francuski;francuskiego",
        "es": "Spanish;Spanisch;espagnol;español;castellano;spagnolo;espanhol;Spaans",
        "it": "Italian;Italienisch;italien;italiano;Italiaans",
        "pt": "Portuguese;Portugiesisch;portugais;portugués;português;portoghese",
        "nl": "Dutch;Niederländisch;néerlandais;neerlandés;olandese;Nederlands;Flemish",
        "pl": "Polish;Polnisch;polonais;polaco;polski",
        "sv": "Swedish;Schwedisch;suédois;svenska",
        "da": "Danish;Dänisch;danois;dansk",
        "no": "Norwegian;Norwegisch;norvégien;norsk",
        "fi": "Finnish;Finnisch;finnois;suomi",
        "cs": "Czech;Tschechisch;tchèque;čeština",
        "sk": "Slovak;Slowakisch;slovenčina",
        "hu": "Hungarian;Ungarisch;hongrois;magyar",
        "ro": "Romanian;Rumänisch;roumain;română",
        "bg": "Bulgarian;Bulgarisch",
        "hr": "Croatian;Kroatisch",
        "sr": "Serbian;Serbisch",
        "sl": "Slovenian;Slovene;Slowenisch",
        "uk": "Ukrainian;Ukrainisch",
        "ru": "Russian;Russisch;russe;ruso;russo",
        "el": "Greek;Griechisch;grec",
        "tr": "Turkish;Türkisch;turc;Türkçe",
        "et": "Estonian;Estnisch",
        "lv": "Latvian;Lettisch",
        "lt": "Lithuanian;Litauisch",
        "ar": "Arabic;Arabisch;arabe;árabe",
        "he": "Hebrew;Hebräisch",
        "fa": "Persian;Farsi",
        "hi": "Hindi",
        "bn": "Bengali",
        "ta": "Tamil",
        "ur": "Urdu",
        "zh": "Chinese;Mandarin;Cantonese;Chinesisch;chinois;chino;cinese;中文",
        "ja": "Japanese;Japanisch;japonais;japonés;日本語",
        "ko": "Korean;Koreanisch;coréen;한국어",
        "th": "Thai",
        "vi": "Vietnamese;Vietnamesisch",
        "id": "Indonesian;Bahasa Indonesia",
        "ms": "Malay;Bahasa Melayu",
        "tl": "Tagalog;Filipino",
        "sw": "Swahili",
        "ca": "Catalan;català",
    }.items()
}
CODES = frozenset(NAMES)
BY_NAME = {name.casefold(): code for code, names in NAMES.items() for name in names}


def code_of(name: str) -> str | None:
    return BY_NAME.get(name.casefold())


def name_of(code: str) -> str:
    return NAMES[code][0]
