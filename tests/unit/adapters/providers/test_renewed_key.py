"""A key that was renewed in the secret works at once, although the old one is still cached."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from duecourse.adapters.http.client import SsrfSafeHttpClient
from duecourse.adapters.providers.errors import MissingKeyError, ProviderError
from duecourse.adapters.providers.openai import OpenAiProvider

from tests.support.builders.moments import NOW
from tests.support.fakes.clock import ManualClock
from tests.support.provider_cases import DictKeys, a_provider_request, settings_of
from tests.support.receiver import Receiver

OLD, NEW = "old-7Hd03kLmNo99pQr", "new-7Hd03kLmNo99pQr"
REPLY = b'{"choices": [{"message": {"content": "SUCCESS"}, "finish_reason": "stop"}]}'


class CachedKeys(DictKeys):
    """Cached keys; `stored` is what the secret holds now."""

    stored: str | None = None

    def refresh(self) -> None:
        if self.stored is not None:
            self["openai"] = self.stored


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as receiver:
        yield receiver


def provider_with(keys: DictKeys, receiver: Receiver) -> OpenAiProvider:
    settings = replace(settings_of("openai"), endpoint=receiver.url("/v1").removesuffix("/"))
    http_client = SsrfSafeHttpClient(is_loopback_allowed=True)
    return OpenAiProvider(settings, http_client, keys, ManualClock(NOW), is_loopback_allowed=True)


def used_keys(receiver: Receiver) -> list[str]:
    return [one.headers["authorization"].removeprefix("Bearer ") for one in receiver.requests]


def test_a_call_with_an_old_key_is_repeated_with_the_new_one(receiver: Receiver) -> None:
    keys = CachedKeys(openai=OLD)
    keys.stored = NEW
    receiver.answer(401, b'{"error": {"message": "Incorrect API key provided"}}')
    receiver.answer(200, REPLY)
    assert provider_with(keys, receiver).call(a_provider_request()).text == "SUCCESS"
    assert used_keys(receiver) == [OLD, NEW]


@pytest.mark.parametrize(("stored", "status"), [(OLD, 401), (NEW, 403), (NEW, 500)])
def test_nothing_is_repeated_otherwise(receiver: Receiver, stored: str, status: int) -> None:
    keys = CachedKeys(openai=OLD)
    keys.stored = stored
    receiver.answer(status, b"{}")
    with pytest.raises(ProviderError) as raised:
        provider_with(keys, receiver).call(a_provider_request())
    assert (raised.value.status, used_keys(receiver)) == (status, [OLD])


def test_a_new_key_that_is_refused_too_is_an_error(receiver: Receiver) -> None:
    keys = CachedKeys(openai=OLD)
    keys.stored = NEW
    receiver.answer(401, b"{}")
    with pytest.raises(ProviderError) as raised:
        provider_with(keys, receiver).call(a_provider_request())
    assert (raised.value.status, used_keys(receiver)) == (401, [OLD, NEW])


def test_a_key_that_was_missing_is_read_again_with_the_next_call(receiver: Receiver) -> None:
    keys = CachedKeys()
    keys.stored = NEW
    receiver.answer(200, REPLY)
    provider = provider_with(keys, receiver)
    with pytest.raises(MissingKeyError):
        provider.call(a_provider_request())
    assert provider.call(a_provider_request()).text == "SUCCESS"
