"""The time zone that somebody means by `berlin`, `new york` or `europe/london`."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime, timedelta
from difflib import get_close_matches
from functools import cache
from zoneinfo import ZoneInfo, available_timezones

from duecourse.domain.text.formatting import one_line
from duecourse.domain.time.timezones import UnknownZoneError, zone_named

_UTC = {"utc", "gmt", "z", "zulu", "etc_utc", "etc_gmt", "greenwich", "universal", "uct"}
# Some are names of zones, too, but of zones that few people live in: EST has no summer.
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
_OFFSET = re.compile(r"(?:utc|gmt)?_?[+-]\d.*")
_FOR_EXAMPLE = "Name a place, for example: /timezone Europe/Berlin"
_MOST_NAMED = 5
_LONGEST_NAME = 60
_NO_PLACES = ("posix/", "right/", "systemv/")


class ZoneQuestionError(ValueError):
    """No one zone is meant; the message asks back."""


def find_zone(text: str) -> ZoneInfo:
    """Raises ZoneQuestionError."""
    wanted = _plain(text)
    if wanted in _UTC:
        return zone_named("UTC")
    if place := _ABBREVIATIONS.get(wanted):
        raise ZoneQuestionError(
            f"{one_line(text, _LONGEST_NAME)} is a time, and no place: it does not say when your "
            f"clocks change. Name a place, for example: /timezone {place}"
        )
    if _OFFSET.fullmatch(wanted):
        raise ZoneQuestionError(f"An offset does not say when your clocks change. {_FOR_EXAMPLE}")
    return _of_place(text, wanted)


def _of_place(text: str, wanted: str) -> ZoneInfo:
    names = _names()
    fitting = [names[wanted]] if wanted in names else _at_place(wanted, names)
    found = [name for name in fitting if _is_known(name)]
    if not found:
        raise ZoneQuestionError(_unknown(text, wanted, names.values()))
    if len(found) > 1 and len({_clock(name) for name in found}) > 1:
        raise ZoneQuestionError(f"Which one? {_commands(found)}")
    return zone_named(_canonical(found))


def _at_place(wanted: str, names: Mapping[str, str]) -> list[str]:
    """Those whose last part it is."""
    return sorted(
        name for plain, name in names.items() if plain.rpartition("/")[2] == wanted and wanted
    )


def _canonical(names: Collection[str]) -> str:
    """Of names for the same clock, the one that says the most, and Europe before Asia."""
    return max(names, key=lambda name: (name.count("/"), name))


def _unknown(text: str, wanted: str, names: Iterable[str]) -> str:
    if not wanted:
        return _FOR_EXAMPLE
    by_place = {_plain(name).rpartition("/")[2]: name for name in sorted(names)}
    place = wanted[:_LONGEST_NAME].rpartition("/")[2]
    alike = get_close_matches(place, by_place, n=_MOST_NAMED, cutoff=0.75)
    close = [by_place[one] for one in alike if _is_known(by_place[one])]
    hint = f"Did you mean {_commands(close)}?" if close else _FOR_EXAMPLE
    return f"I know no time zone {one_line(text, _LONGEST_NAME)}. {hint}"


def _commands(names: Collection[str]) -> str:
    return " or ".join(f"/timezone {name}" for name in list(names)[:_MOST_NAMED])


@cache
def _names() -> dict[str, str]:
    """All names of places, by how they are looked for. A few may be no zones after all: to try all
    of them would be to open hundreds of files."""
    names = {_plain(name): name for name in available_timezones()}
    return {plain: name for plain, name in names.items() if not plain.startswith(_NO_PLACES)}


def _is_known(name: str) -> bool:
    try:
        zone_named(name)
    except UnknownZoneError:
        return False
    return True


@cache
def _clock(name: str) -> tuple[timedelta | None, ...]:
    """What tells zones apart: their offsets, month by month, of these decades."""
    zone = zone_named(name)
    months = ((year, month) for year in range(2000, 2038) for month in range(1, 13))
    return tuple(zone.utcoffset(datetime(year, month, 15)) for year, month in months)  # noqa: DTZ001


def _plain(text: str) -> str:
    return re.sub(r"[\s_-]+(?=[a-z])|\s+", "_", text.strip().lower())


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
