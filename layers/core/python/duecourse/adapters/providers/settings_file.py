"""Read the provider settings: the built-in ones, or a team's own file."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from duecourse.domain.errors import PolicyError
from duecourse.domain.limits.provider_settings import ProviderSettings, load_provider_settings

BUILTIN_FILE = Path(__file__).parents[2] / "providers.toml"


@cache
def read_provider_settings(path: Path = BUILTIN_FILE) -> Mapping[str, ProviderSettings]:
    """Return the settings by name, cached: they change only with a deployment.

    Raises PolicyError.
    """
    try:
        toml = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise PolicyError(path.name, None, f"cannot be read: {error}") from None
    return load_provider_settings(path.name, toml)
