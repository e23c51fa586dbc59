"""The built-in providers by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from duecourse.adapters.providers.settings_file import read_provider_settings
from duecourse.domain.errors import SettingsError
from duecourse.ports.integrations import HttpClient, Provider, TokenSource
from duecourse.ports.runtime import Clock


def make_providers(
    names: Iterable[str],
    http_client: HttpClient,
    keys: TokenSource,
    clock: Clock,
    *,
    is_loopback_allowed: bool,
) -> Mapping[str, Provider]:
    """Return the named providers. Raises SettingsError for an unknown name."""

    def openai() -> Provider:
        from duecourse.adapters.providers.openai import OpenAiProvider

        settings = read_provider_settings()["openai"]
        return OpenAiProvider(
            settings, http_client, keys, clock, is_loopback_allowed=is_loopback_allowed
        )

    def anthropic() -> Provider:
        from duecourse.adapters.providers.anthropic import AnthropicProvider

        settings = read_provider_settings()["anthropic"]
        return AnthropicProvider(
            settings, http_client, keys, clock, is_loopback_allowed=is_loopback_allowed
        )

    def bedrock() -> Provider:
        from duecourse.adapters.providers.bedrock import BedrockProvider, bedrock_client

        return BedrockProvider(read_provider_settings()["bedrock"], bedrock_client, clock)

    factories: dict[str, Callable[[], Provider]] = {
        "openai": openai,
        "anthropic": anthropic,
        "bedrock": bedrock,
    }
    if unknown := [name for name in names if name not in factories]:
        choices = ", ".join(factories)
        raise SettingsError([f"PROVIDERS: {name} must be one of: {choices}" for name in unknown])
    return {name: factories[name]() for name in names}
