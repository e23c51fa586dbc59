"""Find the time zone that a person means by `berlin`, `new york` or `europe/london`."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime, timedelta
from difflib import get_close_matches
from functools import cache
from zoneinfo import ZoneInfo, available_timezones

from duecourse.domain.text.formatting import to_one_line
from duecourse.domain.time.timezones import UnknownTimezoneError, load_timezone

_UTC_NAMES = {"utc", "gmt", "z", "zulu", "etc_utc", "etc_gmt", "greenwich", "universal", "uct"}
# Some are also zone names, but rarely what people mean: EST has no daylight saving time.
_ABBREVIATIONS = {
    **dict.fromkeys(("cet", "cest", "met", "mez", "mesz"), "Europe/Berlin"),
    **dict.fromkeys(("eet", "eest"), "Europe/Athens"),
    **dict.fromkeys(("wet", "west"), "Europe/Lisbon"),
    **dict.fromkeys(("est", "edt", "et", "est5edt"), "America/New_York"),
    **dict.fromkeys(("cst", "cdt", "ct", "cst6cdt"), "America/Chicago"),
    **dict.fromkeys(("mst", "mdt", "mt", "mst7mdt"), "America/Denver"),
    **dict.fromkeys(("pst", "pdt", "pt", "pst8pdt"), "America/Los_Angeles"),
    **dict.fromkeys(("aest", "aedt"), "Australia/Sydney"),
    "bst": "Europe/London",
    "hst": "Pacific/Honolulu",
    "ist": "Asia/Kolkata",
    "jst": "Asia/Tokyo",
    "msk": "Europe/Moscow",
}
_OFFSET_PATTERN = re.compile(r"(?:utc|gmt)?_?[+-]\d.*")
_EXAMPLE_HINT = "Name a place. Example: /timezone Europe/Berlin"
_MAX_SUGGESTIONS = 5
_MAX_NAME_LENGTH = 60
_NON_PLACE_PREFIXES = ("posix/", "right/", "systemv/")


class TimezoneClarificationError(ValueError):
    """The text names no single zone. The message is a question for the sender."""


def find_timezone(text: str) -> ZoneInfo:
    """Return the zone that `text` names. Raises TimezoneClarificationError."""
    query = _normalize_name(text)
    if query in _UTC_NAMES:
        return load_timezone("UTC")
    if place := _ABBREVIATIONS.get(query):
        raise TimezoneClarificationError(
            f"{to_one_line(text, _MAX_NAME_LENGTH)} does not say when your clocks change. "
            f"Name a place. Example: /timezone {place}"
        )
    if _OFFSET_PATTERN.fullmatch(query):
        raise TimezoneClarificationError(
            f"An offset does not say when your clocks change. {_EXAMPLE_HINT}"
        )
    return _find_by_place(text, query)


def _find_by_place(text: str, query: str) -> ZoneInfo:
    names = _timezone_names()
    fitting = [names[query]] if query in names else _names_at_place(query, names)
    found = [name for name in fitting if _is_known(name)]
    if not found:
        raise TimezoneClarificationError(_unknown_message(text, query, names.values()))
    if len(found) > 1 and len({_offset_signature(name) for name in found}) > 1:
        raise TimezoneClarificationError(f"Which one? {_format_commands(found)}")
    return load_timezone(_choose_canonical(found))


def _names_at_place(query: str, names: Mapping[str, str]) -> list[str]:
    """Return the zone names whose last part is `query`."""
    return sorted(
        name for plain, name in names.items() if plain.rpartition("/")[2] == query and query
    )


def _choose_canonical(names: Collection[str]) -> str:
    """Choose among names with equal offsets: the most specific, then the last by alphabet."""
    return max(names, key=lambda name: (name.count("/"), name))


def _unknown_message(text: str, query: str, names: Iterable[str]) -> str:
    if not query:
        return _EXAMPLE_HINT
    by_place = {_normalize_name(name).rpartition("/")[2]: name for name in sorted(names)}
    place = query[:_MAX_NAME_LENGTH].rpartition("/")[2]
    matches = get_close_matches(place, by_place, n=_MAX_SUGGESTIONS, cutoff=0.75)
    close = [by_place[one] for one in matches if _is_known(by_place[one])]
    hint = f"Did you mean {_format_commands(close)}?" if close else _EXAMPLE_HINT
    return f"There is no time zone {to_one_line(text, _MAX_NAME_LENGTH)}. {hint}"


def _format_commands(names: Collection[str]) -> str:
    return " or ".join(f"/timezone {name}" for name in list(names)[:_MAX_SUGGESTIONS])


@cache
def _timezone_names() -> dict[str, str]:
    """Return all names of places by their normalized form.

    A few may not load as zones: checking all of them would open hundreds of files.
    """
    names = {_normalize_name(name): name for name in available_timezones()}
    return {
        plain: name for plain, name in names.items() if not plain.startswith(_NON_PLACE_PREFIXES)
    }


def _is_known(name: str) -> bool:
    try:
        load_timezone(name)
    except UnknownTimezoneError:
        return False
    return True


@cache
def _offset_signature(name: str) -> tuple[timedelta | None, ...]:
    """Return the monthly UTC offsets from 2000 to 2037, which tell zones apart."""
    zone = load_timezone(name)
    months = ((year, month) for year in range(2000, 2038) for month in range(1, 13))
    return tuple(zone.utcoffset(datetime(year, month, 15)) for year, month in months)  # noqa: DTZ001


def _normalize_name(text: str) -> str:
    return re.sub(r"[\s_-]+(?=[a-z])|\s+", "_", text.strip().lower())


# Countries with several zones are left out, unless only remote islands differ.
_ZONE_BY_REGION = {
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
# Languages spoken in several zones (English, Spanish, Portuguese, French, Russian, Chinese,
# Arabic) are left out. German and Dutch span countries that share their clock.
_REGION_BY_LANGUAGE = {
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


def guess_timezone(locale: str | None) -> str | None:
    """Return the zone that a locale such as `de`, `en-GB` or `zh-Hant-TW` implies, or None."""
    language, *others = (locale or "").replace("_", "-").split("-")
    named = [tag.upper() for tag in others if len(tag) == 2]
    region = named[0] if named else _REGION_BY_LANGUAGE.get(language.lower(), "")
    return _ZONE_BY_REGION.get(region)
