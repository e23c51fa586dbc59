"""Where somebody lives, by their locale: its region, or else its language, where that has one time
zone only. A guess, and said to be."""

from __future__ import annotations

# By region. Countries with several zones are left out, those with far-off islands are not.
_REGIONS = {
    "AT": "Europe/Vienna",
    "BE": "Europe/Brussels",
    "BG": "Europe/Sofia",
    "CH": "Europe/Zurich",
    "CN": "Asia/Shanghai",
    "CZ": "Europe/Prague",
    "DE": "Europe/Berlin",
    "DK": "Europe/Copenhagen",
    "EE": "Europe/Tallinn",
    "EG": "Africa/Cairo",
    "ES": "Europe/Madrid",
    "FI": "Europe/Helsinki",
    "FR": "Europe/Paris",
    "GB": "Europe/London",
    "GR": "Europe/Athens",
    "HK": "Asia/Hong_Kong",
    "HR": "Europe/Zagreb",
    "HU": "Europe/Budapest",
    "IE": "Europe/Dublin",
    "IL": "Asia/Jerusalem",
    "IN": "Asia/Kolkata",
    "IR": "Asia/Tehran",
    "IS": "Atlantic/Reykjavik",
    "IT": "Europe/Rome",
    "JP": "Asia/Tokyo",
    "KR": "Asia/Seoul",
    "LT": "Europe/Vilnius",
    "LV": "Europe/Riga",
    "NL": "Europe/Amsterdam",
    "NO": "Europe/Oslo",
    "PL": "Europe/Warsaw",
    "PT": "Europe/Lisbon",
    "RO": "Europe/Bucharest",
    "RS": "Europe/Belgrade",
    "SE": "Europe/Stockholm",
    "SG": "Asia/Singapore",
    "SI": "Europe/Ljubljana",
    "SK": "Europe/Bratislava",
    "TH": "Asia/Bangkok",
    "TR": "Europe/Istanbul",
    "TW": "Asia/Taipei",
    "VN": "Asia/Ho_Chi_Minh",
    "ZA": "Africa/Johannesburg",
}
# By language alone. English, Spanish, Portuguese, French, Russian, Chinese and Arabic are spoken
# round the world; German and Dutch in several countries, but by one clock.
_LANGUAGES = {
    "bg": "BG",
    "cs": "CZ",
    "da": "DK",
    "de": "DE",
    "el": "GR",
    "et": "EE",
    "fi": "FI",
    "he": "IL",
    "hi": "IN",
    "hr": "HR",
    "hu": "HU",
    "is": "IS",
    "it": "IT",
    "ja": "JP",
    "ko": "KR",
    "lt": "LT",
    "lv": "LV",
    "nb": "NO",
    "nl": "NL",
    "nn": "NO",
    "no": "NO",
    "pl": "PL",
    "ro": "RO",
    "sk": "SK",
    "sl": "SI",
    "sr": "RS",
    "sv": "SE",
    "th": "TH",
    "tr": "TR",
    "vi": "VN",
}


def zone_of_locale(locale: str | None) -> str | None:
    """Of a tag such as `de`, `en-GB` or `zh-Hant-TW`; None where it does not point to one zone."""
    language, *others = (locale or "").replace("_", "-").split("-")
    named = [tag.upper() for tag in others if len(tag) == 2]
    region = named[0] if named else _LANGUAGES.get(language.lower(), "")
    return _REGIONS.get(region)
