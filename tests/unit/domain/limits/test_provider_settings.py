"""Loading provider settings from TOML, and the cost of tokens."""

from __future__ import annotations

from pathlib import Path

import pytest
from duecourse.adapters.providers.settings_file import read_provider_settings
from duecourse.domain.errors import PolicyError
from duecourse.domain.limits.provider_settings import ProviderSettings, load_provider_settings

FILE = """
[harbour]
model = "pilot-2"
endpoint = "https://api.harbour.example/v1"
endpoints = ["https://quay.example:8443"]
max_tokens = 500

[harbour.prices]
"pilot-2" = { input = 0.15, output = 0.6 }
"pilot-2-mini" = { input = 0.01, output = 1 }
"pilot-2-2025-01-01" = { input = 9, output = 9 }

[lighthouse]
model = "lamp-1"
max_tokens = 100
"""


@pytest.fixture
def harbour() -> ProviderSettings:
    return load_provider_settings("providers.toml", FILE)["harbour"]


def test_the_settings_of_a_provider_are_loaded(harbour: ProviderSettings) -> None:
    assert (harbour.model, harbour.max_tokens) == ("pilot-2", 500)
    assert harbour.endpoint == "https://api.harbour.example/v1"
    assert harbour.endpoints == ("https://quay.example:8443",)


def test_endpoint_and_prices_are_optional() -> None:
    lighthouse = load_provider_settings("providers.toml", FILE)["lighthouse"]
    assert (lighthouse.endpoint, lighthouse.endpoints) == (None, ())
    assert lighthouse.cost_of("lamp-1", 1, 1) is None


def test_prices_are_per_million_tokens(harbour: ProviderSettings) -> None:
    assert harbour.cost_of("pilot-2", 1_000_000, 0) == 150_000
    assert harbour.cost_of("pilot-2", 0, 1_000_000) == 600_000


def test_costs_are_rounded_up_to_a_micro_dollar(harbour: ProviderSettings) -> None:
    assert harbour.cost_of("pilot-2", 1, 0) == 1
    assert harbour.cost_of("pilot-2", 0, 5) == 3
    assert harbour.cost_of("pilot-2", 0, 6) == 4
    assert harbour.cost_of("pilot-2", 0, 0) == 0


@pytest.mark.parametrize(
    "model",
    [
        "pilot-2-2026-03-01",
        "pilot-2-20260301",
        "pilot-2@20260301",
        "pilot-2-0301",
        "pilot-2-latest",
        "pilot-2-20260301-v1:0",
        "pilot-2-v1:0",
    ],
)
def test_a_model_version_has_the_price_of_its_model(harbour: ProviderSettings, model: str) -> None:
    assert harbour.cost_of(model, 1_000_000, 0) == 150_000


def test_the_longest_matching_name_sets_the_price(harbour: ProviderSettings) -> None:
    assert harbour.cost_of("pilot-2-2025-01-01", 1, 0) == 9
    assert harbour.cost_of("pilot-2-mini-2026-03-01", 1_000_000, 0) == 10_000


@pytest.mark.parametrize("model", ["pilot-2-pro", "pilot-2.5", "pilot-22", "co-pilot-2", ""])
def test_a_model_that_only_shares_a_prefix_has_no_price(
    harbour: ProviderSettings, model: str
) -> None:
    assert harbour.cost_of(model, 1_000, 1_000) is None


def line_of(needle: str, toml: str) -> int:
    return next(n for n, line in enumerate(toml.splitlines(), 1) if needle in line)


INVALID_EDITS = [
    ('model = "pilot-2"', "model = 7", "model = 7", "must be a non-empty string"),
    ('model = "pilot-2"\n', "", "[harbour]", "model is missing"),
    ("max_tokens = 500", "max_tokens = 0", "max_tokens", "of at least 1"),
    ("max_tokens = 500", "max_tokens = 100001", "max_tokens", "at most 100,000"),
    ("max_tokens = 500", "max_token = 500", "[harbour]", "max_tokens is missing"),
    ("max_tokens = 500", "max_tokens = 500\ncolour = 1", "colour", "is not a known key"),
    ("https://api.harbour", "http://api.harbour", "endpoint =", "must be a URL such as https://"),
    ("harbour.example/v1", "harbour.example/v1/", "endpoint =", "without a slash at its end"),
    ("https://api.harbour", "https://ada:pw@harbour", "endpoint =", "must be a URL"),
    ('["https://quay.example:8443"]', '"https://quay"', "endpoints =", "must be a list of URLs"),
    ("https://quay.example", "ftp://quay.example", "endpoints =", "must be a URL"),
    ("{ input = 0.15, output = 0.6 }", "{ input = 0.15 }", '"pilot-2" =', "input = ..., output"),
    ("{ input = 0.15, output = 0.6 }", "0.15", '"pilot-2" =', "input = ..., output"),
    ("input = 0.15", "input = -0.15", '"pilot-2" =', "from 0 to"),
    ("input = 0.15", "input = nan", '"pilot-2" =', "from 0 to"),
    ("input = 0.15", "input = true", '"pilot-2" =', "from 0 to"),
    ("input = 0.15", 'input = "0.15"', '"pilot-2" =', "from 0 to"),
    ("[harbour.prices]", "[harbour.prices", "[harbour.prices", "at line"),
]


@pytest.mark.parametrize(("old", "new", "line", "message"), INVALID_EDITS)
def test_an_error_names_its_line(old: str, new: str, line: str, message: str) -> None:
    edited = FILE.replace(old, new, 1)
    expected_prefix = f"providers.toml, line {line_of(line, edited)}: "
    with pytest.raises(PolicyError, match=message) as caught:
        load_provider_settings("providers.toml", edited)
    assert str(caught.value).startswith(expected_prefix)


def test_a_provider_that_is_not_a_table_is_rejected() -> None:
    with pytest.raises(PolicyError, match="harbour: must be a table"):
        load_provider_settings("providers.toml", "harbour = 1")


def test_prices_that_are_not_a_table_are_rejected() -> None:
    toml = '[harbour]\nmodel = "pilot-2"\nmax_tokens = 5\nprices = 3\n'
    with pytest.raises(PolicyError, match="must be a table"):
        load_provider_settings("providers.toml", toml)


def test_the_builtin_file_has_three_providers() -> None:
    builtin = read_provider_settings()
    assert set(builtin) == {"openai", "anthropic", "bedrock"}
    assert builtin["openai"].endpoint == "https://api.openai.com/v1"
    assert builtin["anthropic"].endpoint == "https://api.anthropic.com"
    assert builtin["bedrock"].endpoint is None


@pytest.mark.parametrize("name", ["openai", "anthropic", "bedrock"])
def test_every_default_model_has_a_price(name: str) -> None:
    settings = read_provider_settings()[name]
    assert settings.cost_of(settings.model, 1_000, 1_000)


def test_the_builtin_file_allows_no_other_endpoint() -> None:
    assert not any(settings.endpoints for settings in read_provider_settings().values())


def test_an_unreadable_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match=r"mine\.toml: cannot be read"):
        read_provider_settings(tmp_path / "mine.toml")
