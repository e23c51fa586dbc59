"""Settings of a provider: default model, allowed endpoints and prices."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal
from typing import Any

from duecourse.domain.errors import PolicyError
from duecourse.domain.validation.toml_table import TomlTable, parse_positive_int, parse_text

MAX_TOKENS_LIMIT = 100_000
_MAX_PRICE = 100_000
_BASE_URL = re.compile(r"https://[a-z0-9][a-z0-9.-]{0,252}(?::[0-9]{1,5})?(?:/[\w.~-]{1,100}){0,8}")
# A version suffix of a model name: a date, "latest" or v1:0. Versions share one price.
_VERSION_SUFFIX = re.compile(
    r"(?:[-@](?:[0-9]{8}|[0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9]{4}|latest|v[0-9]{1,3})(?::[0-9]{1,3})?)*"
)


@dataclass(frozen=True)
class Price:
    """Dollars per million tokens, which equals micro-dollars per token."""

    input: Decimal
    output: Decimal


@dataclass(frozen=True, kw_only=True)
class ProviderSettings:
    """`endpoints` are the ones a task may name besides the default `endpoint`."""

    model: str
    endpoint: str | None
    endpoints: tuple[str, ...]
    max_tokens: int
    prices: Mapping[str, Price]

    def cost_of(self, model: str, input_tokens: int, output_tokens: int) -> int | None:
        """Return the cost in micro-dollars, rounded up, or None for a model without a price."""
        price = self._price_of(model)
        if price is None:
            return None
        cost = price.input * input_tokens + price.output * output_tokens
        return int(cost.to_integral_value(ROUND_CEILING))

    def _price_of(self, model: str) -> Price | None:
        """Return the price of the longest listed name that `model` is a version of."""
        names = [name for name in self.prices if _is_version_of(name, model)]
        return self.prices[max(names, key=len)] if names else None


def load_provider_settings(file: str, toml: str) -> dict[str, ProviderSettings]:
    """Return the settings by provider name. Raises PolicyError with file and line."""
    table = _parse_toml(file, toml)
    return {
        name: _parse_provider(table.subtable(name, values, header=f"[{name}]"), name)
        for name, values in table.values.items()
    }


def _is_version_of(name: str, model: str) -> bool:
    return model.startswith(name) and _VERSION_SUFFIX.fullmatch(model, len(name)) is not None


def _parse_toml(file: str, toml: str) -> TomlTable:
    try:
        values = tomllib.loads(toml, parse_float=Decimal)
    except tomllib.TOMLDecodeError as error:
        line = re.search(r"at line (\d{1,9})", str(error))
        raise PolicyError(file, int(line[1]) if line else None, str(error)) from None
    return TomlTable(values=values, file=file, lines=toml.splitlines())


def _parse_provider(table: TomlTable, name: str) -> ProviderSettings:
    settings = ProviderSettings(
        model=table.require("model", parse_text),
        endpoint=table.read("endpoint", _parse_base_url, None),
        endpoints=table.read("endpoints", _parse_base_urls, ()),
        max_tokens=table.require("max_tokens", _parse_max_tokens),
        prices=_parse_prices(table, name),
    )
    table.reject_unknown_keys()
    return settings


def _parse_prices(table: TomlTable, name: str) -> dict[str, Price]:
    values: Any = table.read("prices", lambda value: value, {})
    prices = table.subtable(f"{name}.prices", values, header=f"[{name}.prices]")
    return {model: prices.require(model, _parse_price) for model in prices.values}


def _parse_price(value: Any) -> Price:
    if not isinstance(value, Mapping) or set(value) != {"input", "output"}:
        raise ValueError("must be { input = ..., output = ... } in dollars per million tokens")
    return Price(_parse_dollars(value["input"]), _parse_dollars(value["output"]))


def _parse_dollars(value: Any) -> Decimal:
    is_number = isinstance(value, int | Decimal) and not isinstance(value, bool)
    if not is_number or not Decimal(value).is_finite() or not 0 <= value <= _MAX_PRICE:
        raise ValueError(f"a price must be from 0 to {_MAX_PRICE:,} dollars")
    return Decimal(value)


def _parse_max_tokens(value: Any) -> int:
    if parse_positive_int(value) > MAX_TOKENS_LIMIT:
        raise ValueError(f"must be at most {MAX_TOKENS_LIMIT:,}")
    return int(value)


def _parse_base_urls(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise ValueError("must be a list of URLs")
    return tuple(map(_parse_base_url, value))


def _parse_base_url(value: Any) -> str:
    if not isinstance(value, str) or not _BASE_URL.fullmatch(value):
        raise ValueError(
            "must be a URL such as https://api.example.com/v1, without a slash at its end"
        )
    return value
