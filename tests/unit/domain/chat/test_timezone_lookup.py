"""Time zones guessed from a locale, and found by the name of a place."""

from __future__ import annotations

from zoneinfo import ZoneInfo

import pytest
from duecourse.domain.chat import timezone_lookup
from duecourse.domain.chat.timezone_lookup import (
    _ABBREVIATIONS,
    _REGION_BY_LANGUAGE,
    _ZONE_BY_REGION,
    TimezoneClarificationError,
    find_timezone,
    guess_timezone,
)
from duecourse.domain.time.timezones import load_timezone


@pytest.mark.parametrize(
    ("locale", "zone"),
    [
        ("de", "Europe/Berlin"),
        ("DE", "Europe/Berlin"),
        ("de-AT", "Europe/Vienna"),
        ("de_CH", "Europe/Zurich"),
        ("ja", "Asia/Tokyo"),
        ("sr-Latn", "Europe/Belgrade"),
        ("en-GB", "Europe/London"),
        ("en-gb", "Europe/London"),
        ("zh-Hant-TW", "Asia/Taipei"),
        ("pt-PT", "Europe/Lisbon"),
    ],
)
def test_a_locale_of_one_timezone_is_guessed(locale: str, zone: str) -> None:
    assert guess_timezone(locale) == zone


@pytest.mark.parametrize(
    "locale",
    [
        *("en", "en-US", "es", "es-419", "pt", "pt-BR", "ru", "fr", "zh", "zh-Hant", "ar", "id"),
        *("de-US", "ja-XX", "", "-", "tlh", None, "x" * 1000),
    ],
)
def test_a_locale_of_many_timezones_is_not_guessed(locale: str | None) -> None:
    assert guess_timezone(locale) is None


def test_every_known_timezone_exists() -> None:
    for name in {*_ZONE_BY_REGION.values(), *_ABBREVIATIONS.values()}:
        assert load_timezone(name).key == name
    assert set(_REGION_BY_LANGUAGE.values()) <= set(_ZONE_BY_REGION)


@pytest.mark.parametrize(
    ("text", "zone"),
    [
        ("Europe/Berlin", "Europe/Berlin"),
        (" europe/berlin ", "Europe/Berlin"),
        ("berlin", "Europe/Berlin"),
        ("New York", "America/New_York"),
        ("america/new york", "America/New_York"),
        ("new_york", "America/New_York"),
        ("port au prince", "America/Port-au-Prince"),
        ("Port-au-Prince", "America/Port-au-Prince"),
        ("istanbul", "Europe/Istanbul"),
        ("buenos aires", "America/Argentina/Buenos_Aires"),
        ("utc", "UTC"),
        ("GMT", "UTC"),
        ("Etc/GMT+5", "Etc/GMT+5"),
    ],
)
def test_a_timezone_is_found_by_place(text: str, zone: str) -> None:
    assert find_timezone(text).key == zone


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("CET", r"CET does not say when your clocks change.*/timezone Europe/Berlin$"),
        ("est", r"est does not say when your clocks change.*/timezone America/New_York$"),
        ("UTC+2", r"An offset does not say when your clocks change"),
        ("+02:00", r"An offset does not"),
        ("berln", r"There is no time zone berln\. Did you mean /timezone Europe/Berlin\?$"),
        ("atlantis", r"There is no time zone atlantis"),
        ("posix/Europe/Berlin", r"There is no time zone posix/Europe/Berlin"),
        ("localtime", r"There is no time zone localtime"),
        ("../../etc/passwd", r"There is no time zone"),
        ("\ud800", r"There is no time zone"),
        ("x" * 8_000, r"There is no time zone x{60} …"),
        ("", r"Name a place"),
    ],
)
def test_an_unknown_place_asks_for_clarification(text: str, question: str) -> None:
    with pytest.raises(TimezoneClarificationError, match=question):
        find_timezone(text)


def test_only_matching_timezones_are_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = []

    def load_and_record(name: str) -> ZoneInfo:
        loaded.append(name)
        return load_timezone(name)

    monkeypatch.setattr("duecourse.domain.chat.timezone_lookup.load_timezone", load_and_record)
    timezone_lookup._timezone_names.cache_clear()
    find_timezone("new york")
    assert set(loaded) == {"America/New_York"}


def test_an_ambiguous_place_asks_for_clarification(monkeypatch: pytest.MonkeyPatch) -> None:
    names = {"america/lisbon": "America/Chicago", "europe/lisbon": "Europe/Lisbon"}
    monkeypatch.setattr("duecourse.domain.chat.timezone_lookup._timezone_names", lambda: names)
    with pytest.raises(TimezoneClarificationError, match="Which one"):
        find_timezone("lisbon")
