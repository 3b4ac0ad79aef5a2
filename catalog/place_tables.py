"""Names that a gazetteer does not settle: countries as people write them, states, regions of the world.

Everything is keyed by `fold(name)`. Countries are ISO 3166-1 alpha-2 codes, subdivisions the codes of the
post (US, Canada, Australia, India) or the name alone (nations of the United Kingdom, German Länder).
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_UNDECOMPOSED: Final = str.maketrans({"ł": "l", "ø": "o", "đ": "d", "\u0131": "i", "æ": "ae", "œ": "oe"})
_APOSTROPHES: Final = re.compile(r"[.'\u2018\u2019\u02bb\u02bc`]+")


def fold(name: str) -> str:
    """`name` in the one spelling that tables are keyed by: no case, no accents, no dots, single spaces."""
    plain = unicodedata.normalize("NFKD", name.casefold().translate(_UNDECOMPOSED))
    bare = "".join(character for character in plain if not unicodedata.combining(character))
    return " ".join(_APOSTROPHES.sub("", bare).replace("-", " ").split())


def _named(listing: str) -> dict[str, str]:
    """`"CODE Name;CODE Name"` as {code: name}."""
    return dict(entry.strip().split(" ", 1) for entry in listing.split(";"))


# The territories are states here: they have the post's codes, and who may work in a state may work there.
US_STATES: Final = _named(
    "AL Alabama;AK Alaska;AZ Arizona;AR Arkansas;CA California;CO Colorado;CT Connecticut;DE Delaware;"
    "DC District of Columbia;FL Florida;GA Georgia;HI Hawaii;ID Idaho;IL Illinois;IN Indiana;IA Iowa;"
    "KS Kansas;KY Kentucky;LA Louisiana;ME Maine;MD Maryland;MA Massachusetts;MI Michigan;MN Minnesota;"
    "MS Mississippi;MO Missouri;MT Montana;NE Nebraska;NV Nevada;NH New Hampshire;NJ New Jersey;"
    "NM New Mexico;NY New York;NC North Carolina;ND North Dakota;OH Ohio;OK Oklahoma;OR Oregon;"
    "PA Pennsylvania;RI Rhode Island;SC South Carolina;SD South Dakota;TN Tennessee;TX Texas;UT Utah;"
    "VT Vermont;VA Virginia;WA Washington;WV West Virginia;WI Wisconsin;WY Wyoming;PR Puerto Rico;"
    "GU Guam;VI U.S. Virgin Islands;AS American Samoa;MP Northern Mariana Islands"
)
US_TERRITORIES: Final = frozenset({"PR", "GU", "VI", "AS", "MP"})
CANADIAN_PROVINCES: Final = _named(
    "AB Alberta;BC British Columbia;MB Manitoba;NB New Brunswick;NL Newfoundland and Labrador;"
    "NS Nova Scotia;NT Northwest Territories;NU Nunavut;ON Ontario;PE Prince Edward Island;QC Quebec;"
    "SK Saskatchewan;YT Yukon"
)
AUSTRALIAN_STATES: Final = _named(
    "NSW New South Wales;VIC Victoria;QLD Queensland;WA Western Australia;SA South Australia;"
    "TAS Tasmania;ACT Australian Capital Territory;NT Northern Territory"
)
INDIAN_STATES: Final = _named(
    "AP Andhra Pradesh;BR Bihar;CG Chhattisgarh;DL Delhi NCR;GA Goa;GJ Gujarat;HR Haryana;KA Karnataka;"
    "KL Kerala;MH Maharashtra;MP Madhya Pradesh;OD Odisha;PB Punjab;RJ Rajasthan;TN Tamil Nadu;"
    "TS Telangana;UP Uttar Pradesh;UK Uttarakhand;WB West Bengal"
)
# Subdivisions that have no code people use. Berlin, Hamburg and Bremen are left to be cities.
_PLAIN_SUBDIVISIONS: Final = {
    "GB": "England;Scotland;Wales;Northern Ireland",
    "DE": "Baden-Württemberg;Bavaria;Brandenburg;Hesse;Lower Saxony;Mecklenburg-Vorpommern;"
    "North Rhine-Westphalia;Rhineland-Palatinate;Saarland;Saxony;Saxony-Anhalt;Schleswig-Holstein;Thuringia",
    "ES": "Catalonia;Andalusia;Basque Country;Community of Madrid",
    "IT": "Lombardy;Tuscany;Piedmont;Lazio;Veneto",
    "ID": "Bali;West Java;East Java;Central Java",
    "FR": "Île-de-France;Provence-Alpes-Côte d'Azur",
    "NL": "North Holland;South Holland;North Brabant",
}
_SUBDIVISION_ALIASES: Final = {
    "bayern": ("DE", "Bavaria"),
    "hessen": ("DE", "Hesse"),
    "nordrhein westfalen": ("DE", "North Rhine-Westphalia"),
    "nrw": ("DE", "North Rhine-Westphalia"),
    "niedersachsen": ("DE", "Lower Saxony"),
    "sachsen": ("DE", "Saxony"),
    "thuringen": ("DE", "Thuringia"),
    "cataluna": ("ES", "Catalonia"),
    "catalunya": ("ES", "Catalonia"),
    "lombardia": ("IT", "Lombardy"),
    "newfoundland": ("CA", "NL"),
    "delhi ncr": ("IN", "DL"),
    "ncr": ("IN", "DL"),
    "washington state": ("US", "WA"),
    "new york state": ("US", "NY"),
    "virgin islands": ("US", "VI"),
}
# Codes that addresses of other countries put after the city, and that are also states of the US or Canada:
# "Cagliari, CA", "Curitiba, PR". They only say that the city is the one of that country. (ISO 3166-2)
FOREIGN_PROVINCES: Final = {
    country: frozenset(codes.split())
    for country, codes in {
        "BR": "AC AL AM AP BA CE DF ES GO MA MG MS MT PA PB PE PI PR RJ RN RO RR RS SC SE SP TO",
        "CH": "AG AI AR BE BL BS FR GE GL GR JU LU NE NW OW SG SH SO SZ TG TI UR VD VS ZG ZH",
        "CN": "AH BJ CQ FJ GD GS GX GZ HA HB HE HI HL HN JL JS JX LN NM NX QH SC SD SH SN SX TJ XJ XZ YN ZJ",
        "ES": "AB AL AV BA BI BU CA CC CO CR CS CU GC GI GR GU HU IB LE LO LU MA MC MU NA NC OR OU PM PO SA "
        "SE SG SO SS TE TF TO VA VI ZA",
        "IT": "AG AL AN AO AP AQ AR AT AV BA BG BI BL BN BO BR BS BT BZ CA CB CE CH CI CL CN CO CR CS CT CZ "
        "EN FC FE FG FI FM FR GE GO GR IM IS KR LC LE LI LO LT LU MB MC ME MI MN MO MS MT NA NO NU OG OR OT "
        "PA PC PD PE PG PI PN PO PR PT PU PV PZ RA RC RE RG RI RM RN RO SA SI SO SP SR SS SU SV TA TE TN TO "
        "TP TR TS TV UD VA VB VC VE VI VR VS VT VV",
        "MX": "AG BC BS CC CH CL CM CO CS DF DG EM GR GT HG JA JC MC MI MN MX NA NL OA PU QE QR QT SI SL SO "
        "SR TB TL TM VE YU ZA",
        "NL": "DR FL FR GE GR LI NB NH OV UT ZE ZH",
        "PL": "DS KP LB LD LU MA MZ OP PD PK PM SK SL WN WP ZP",
        "RO": "AB AG AR BC BH BN BR BT BV BZ CJ CL CS CT CV DB DJ GJ GL GR HD HR IF IL IS MH MM MS NT OT PH "
        "SB SJ SM SV TL TM TR VL VN VS",
        "ZA": "EC FS GP GT LP MP NC NL NW WC",
    }.items()
}
_CODED: Final = {"US": US_STATES, "CA": CANADIAN_PROVINCES, "AU": AUSTRALIAN_STATES, "IN": INDIAN_STATES}

# Code → the (country, code) pairs it may stand for; name → the (country, region) pairs.
SUBDIVISION_CODES: Final[dict[str, tuple[tuple[str, str], ...]]] = {}
SUBDIVISION_NAMES: Final[dict[str, tuple[tuple[str, str], ...]]] = {}
for _country, _states in _CODED.items():
    for _code, _name in _states.items():
        SUBDIVISION_CODES[_code] = (*SUBDIVISION_CODES.get(_code, ()), (_country, _code))
        SUBDIVISION_NAMES[fold(_name)] = (*SUBDIVISION_NAMES.get(fold(_name), ()), (_country, _code))
for _country, _listing in _PLAIN_SUBDIVISIONS.items():
    for _name in _listing.split(";"):
        SUBDIVISION_NAMES[fold(_name)] = ((_country, _name),)
for _name, _pair in _SUBDIVISION_ALIASES.items():
    SUBDIVISION_NAMES[_name] = (_pair,)
del SUBDIVISION_CODES["UK"]  # two letters that mean the United Kingdom to everybody


def subdivision_name(country: str, code: str) -> str:
    """The name of a state or province: ("US", "CA") is California. The code itself where there is no name."""
    return _CODED.get(country, {}).get(code, code)


COUNTRY_ALIASES: Final = {
    fold(name): code
    for code, names in {
        "US": "USA;America;New England;Midwest;Pacific Northwest;United States of America;"
        "Estados Unidos;Vereinigte Staaten;États-Unis;EEUU",
        "GB": "UK;U.K.;Great Britain;Britain;GBR;Vereinigtes Königreich;Royaume-Uni;Reino Unido;英国",
        "AE": "UAE;Emirates",
        "AT": "Österreich;Autriche",
        "BA": "Bosnia;Bosnia & Herzegovina;Bosnia-Herzegovina",
        "BE": "Belgique;België;Belgien",
        "BG": "България",
        "BR": "Brasil;Brésil;Brasilien",
        "CD": "DRC;DR Congo;Congo-Kinshasa",
        "CG": "Congo;Congo-Brazzaville",
        "CH": "Schweiz;Suisse;Svizzera;Suiza",
        "CI": "Côte d'Ivoire",
        "CN": "PR China;P.R.C.;PRC;People's Republic of China;Mainland China;中国",
        "CV": "Cape Verde",
        "CZ": "Czech Republic;Česko;Česká republika;Tschechien",
        "DE": "Deutschland;Deutschlandweit;Allemagne;Alemania;Duitsland;ドイツ",
        "DK": "Danmark;Dänemark",
        "DO": "República Dominicana",
        "EE": "Eesti",
        "EG": "Misr",
        "ES": "España;Spanien;Espagne;Espanha",
        "FI": "Suomi;Finnland",
        "FR": "Frankreich;Francia;França",
        "GM": "The Gambia",
        "GR": "Hellas;Ελλάδα;Griechenland",
        "HK": "Hong Kong SAR;HKSAR;Hongkong;香港",
        "HR": "Hrvatska",
        "HU": "Magyarország;Ungarn",
        "IE": "Éire;Republic of Ireland;Irland",
        "IL": "ישראל",
        "IN": "Bharat",
        "IS": "Ísland",
        "IT": "Italia;Italien;Italie",
        "JP": "日本;Nippon;Giappone",
        "KP": "DPRK",
        "KR": "Korea;Republic of Korea;Korea, Republic of;S. Korea;한국;대한민국",
        "LT": "Lietuva",
        "LV": "Latvija",
        "MK": "Macedonia",
        "MM": "Burma",
        "MO": "Macau;Macao SAR",
        "MX": "México;Mexiko;Mexique",
        "NL": "Netherlands;Holland;Nederland;Niederlande;Pays-Bas",
        "NO": "Norge;Norwegen",
        "NZ": "Aotearoa",
        "PH": "The Philippines;Pilipinas",
        "PL": "Polska;Polen",
        "PS": "Palestine",
        "PT": "Portugal Continental",
        "RO": "România;Rumänien",
        "RS": "Srbija;Србија",
        "RU": "Russian Federation;Россия",
        "SA": "KSA;Kingdom of Saudi Arabia",
        "SE": "Sverige;Schweden;Suède",
        "SG": "新加坡",
        "SI": "Slovenija",
        "SK": "Slovak Republic;Slovensko",
        "SZ": "Swaziland",
        "TR": "Türkiye;Türkei;Turquie",
        "TL": "East Timor",
        "TW": "台灣;台湾;Taiwan, Province of China",
        "UA": "Україна",
        "VA": "Vatican City;Holy See",
        "VN": "Viet Nam;Việt Nam",
        "ZA": "RSA;Südafrika",
    }.items()
    for name in names.split(";")
}


def _codes(listing: str) -> frozenset[str]:
    return frozenset(listing.split())


_EU: Final = _codes("AT BE BG CY CZ DE DK EE ES FI FR GR HR HU IE IT LT LU LV MT NL PL PT RO SE SI SK")
_EUROPE: Final = _EU | _codes(
    "AD AL AX BA BY CH FO GB GG GI IM IS JE LI MC MD ME MK NO RS RU SJ SM TR UA VA XK"
)
_MIDDLE_EAST: Final = _codes("AE BH CY EG IL IQ IR JO KW LB OM PS QA SA SY TR YE")
_AFRICA: Final = _codes(
    "AO BF BI BJ BW CD CF CG CI CM CV DJ DZ EG EH ER ET GA GH GM GN GQ GW KE KM LR LS LY MA MG ML MR MU MW "
    "MZ NA NE NG RE RW SC SD SH SL SN SO SS ST SZ TD TG TN TZ UG YT ZA ZM ZW"
)
_CENTRAL_AMERICA: Final = _codes("BZ CR GT HN NI PA SV")
_SOUTH_AMERICA: Final = _codes("AR BO BR CL CO EC FK GF GY PE PY SR UY VE")
_CARIBBEAN: Final = _codes("AG AI AW BB BL BM BQ BS CU CW DM DO GD GP HT JM KN KY LC MF MQ MS SX TC TT VC VG")
_NORTH_AMERICA: Final = frozenset({"US", "CA", "MX"})
_LATAM: Final = _CENTRAL_AMERICA | _SOUTH_AMERICA | {"MX", "CU", "DO", "HT"}
_SOUTHEAST_ASIA: Final = _codes("BN ID KH LA MM MY PH SG TH TL VN")
_SOUTH_ASIA: Final = _codes("AF BD BT IN LK MV NP PK")
_EAST_ASIA: Final = _codes("CN HK JP KP KR MN MO TW")
_ASIA: Final = _SOUTHEAST_ASIA | _SOUTH_ASIA | _EAST_ASIA | _MIDDLE_EAST | _codes("AM AZ GE KG KZ TJ TM UZ")
_OCEANIA: Final = _codes("AU CK FJ FM KI MH NC NR NU NZ PF PG PW SB TO TV VU WF WS")
_AMERICAS: Final = _NORTH_AMERICA | _LATAM | _CARIBBEAN | {"GL", "PM"}
_NORDICS: Final = _codes("DK FI IS NO SE")
_BALTICS: Final = _codes("EE LT LV")

# Words for parts of the world → the countries they cover. Where usage differs (is Mexico in North America,
# Turkey in Europe?) the wider reading holds: a region too wide shows a row, one too narrow hides it.
REGIONS: Final[dict[str, frozenset[str]]] = {
    "Europe": _EUROPE,
    "EU": _EU,
    "EEA": _EU | {"IS", "LI", "NO"},
    "DACH": frozenset({"DE", "AT", "CH"}),
    "Nordics": _NORDICS,
    "Baltics": _BALTICS,
    "Benelux": frozenset({"BE", "NL", "LU"}),
    "Iberia": frozenset({"ES", "PT"}),
    "UK & Ireland": frozenset({"GB", "IE"}),
    "CEE": _codes("AL BA BG BY CZ EE HR HU LT LV MD ME MK PL RO RS SI SK UA XK"),
    "Western Europe": _codes("AT BE CH DE ES FR GB IE IT LI LU MC NL PT") | _NORDICS,
    "Southern Europe": _codes("AD AL BA CY ES GI GR HR IT ME MK MT PT RS SI SM VA XK"),
    "EMEA": _EUROPE | _MIDDLE_EAST | _AFRICA,
    "MENA": _MIDDLE_EAST | _codes("DZ EG LY MA SD TN"),
    "GCC": _codes("AE BH KW OM QA SA"),
    "Middle East": _MIDDLE_EAST,
    "Africa": _AFRICA,
    "Americas": _AMERICAS,
    "North America": _NORTH_AMERICA,
    "Central America": _CENTRAL_AMERICA | {"MX"},
    "South America": _SOUTH_AMERICA,
    "LATAM": _LATAM,
    "Caribbean": _CARIBBEAN | {"PR", "VI"},
    "APAC": _SOUTHEAST_ASIA | _SOUTH_ASIA | _EAST_ASIA | _OCEANIA,
    "Asia": _ASIA,
    "East Asia": _EAST_ASIA,
    "South Asia": _SOUTH_ASIA,
    "Southeast Asia": _SOUTHEAST_ASIA,
    "Oceania": _OCEANIA,
    "ANZ": frozenset({"AU", "NZ"}),
    "Worldwide": _AMERICAS | _EUROPE | _AFRICA | _ASIA | _OCEANIA | US_TERRITORIES,
}
REGION_WORDS: Final = {fold(name): name for name in REGIONS} | {
    fold(word): name
    for name, words in {
        "Europe": "Continental Europe;Pan-Europe;Europa;Europe-wide;欧州",
        "EU": "European Union;E.U.;Union européenne;Europäische Union",
        "EEA": "European Economic Area;EU/EEA;EEA/EU",
        "DACH": "D-A-CH;DACH region;DACH-Region",
        "Nordics": "Nordic;Nordic countries;Scandinavia;The Nordics",
        "Baltics": "Baltic;Baltic states;The Baltics",
        "UK & Ireland": "UK and Ireland;UKI;UK&I;UK+I;British Isles",
        "CEE": "Eastern Europe;Central Europe;Central and Eastern Europe;Central & Eastern Europe",
        "MENA": "Middle East and North Africa;Middle East & North Africa",
        "GCC": "Gulf;Gulf countries",
        "Americas": "AMER;The Americas;NA & LATAM",
        "North America": "Northern America;NAMER;NORAM;NAM;Nordamerika",
        "LATAM": "Latin America;Latinoamérica;América Latina;LATAM & Caribbean;LAC;Lateinamerika",
        "APAC": "Asia Pacific;Asia-Pacific;Asia/Pacific;APJ;JAPAC;APJC",
        "Southeast Asia": "SEA region;ASEAN;South East Asia",
        "ANZ": "Australia & New Zealand;Australasia",
        "Worldwide": "World;Global;Globally;The World;Around the world;Weltweit;Todo el mundo",
    }.items()
    for word in words.split(";")
}

# City names that people shorten, and names that mean one city when they stand alone whatever the populations
# say. (country, region code or "", city as the gazetteer spells it)
CITY_ALIASES: Final[dict[str, tuple[str, str, str]]] = {
    "nyc": ("US", "NY", "New York"),
    "new york": ("US", "NY", "New York"),
    "new york city": ("US", "NY", "New York"),
    "manhattan": ("US", "NY", "New York"),
    "sf": ("US", "CA", "San Francisco"),
    "san fran": ("US", "CA", "San Francisco"),
    "san francisco bay area": ("US", "CA", "San Francisco"),
    "sf bay area": ("US", "CA", "San Francisco"),
    "bay area": ("US", "CA", "San Francisco"),
    "la": ("US", "CA", "Los Angeles"),
    "dc": ("US", "DC", "Washington"),
    "washington dc": ("US", "DC", "Washington"),
    "district of columbia": ("US", "DC", "Washington"),
    "philly": ("US", "PA", "Philadelphia"),
    "research triangle": ("US", "NC", "Raleigh"),
    "vancouver": ("CA", "BC", "Vancouver"),
    "barcelona": ("ES", "", "Barcelona"),
    "hyderabad": ("IN", "", "Hyderabad"),
    "cdmx": ("MX", "", "Mexico City"),
    "calcutta": ("IN", "", "Kolkata"),
    "frankfurt": ("DE", "", "Frankfurt am Main"),
    "frankfurt/oder": ("DE", "", "Frankfurt (Oder)"),
    "frankfurt (oder)": ("DE", "", "Frankfurt (Oder)"),
    "hull": ("GB", "", "Kingston upon Hull"),
}
