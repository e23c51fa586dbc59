"""The send rate of every channel, and its reaction to a rate limit response."""

from __future__ import annotations

from duecourse.adapters.channels.errors import LocalRateLimitError, RateLimitedError
from duecourse.domain.origin import Origin

from tests.support.builders.moments import NOW
from tests.support.chat_cases import HELLO, MINUTE, SECOND, TOKENS, ListHttpClient, decision_after
from tests.support.fakes.clock import ManualClock
from tests.unit.adapters.channels.all_platforms.platform_harness import PlatformHarness
from tests.unit.adapters.channels.all_platforms.platforms import Platform


def test_a_short_rate_limit_is_waited_for_once(harness: PlatformHarness) -> None:
    harness.queue_responses(harness.platform.make_rate_limit(2))
    harness.queue_success()
    harness.send()
    assert (len(harness.receiver.requests), harness.clock.now()) == (2, NOW + 2 * SECOND)


def test_a_second_rate_limit_is_raised(harness: PlatformHarness) -> None:
    harness.queue_responses(harness.platform.make_rate_limit(1))
    assert isinstance(harness.error(), RateLimitedError)
    assert (len(harness.receiver.requests), harness.clock.now()) == (2, NOW + SECOND)


def test_a_long_rate_limit_is_raised_with_its_retry_after(harness: PlatformHarness) -> None:
    harness.queue_responses(harness.platform.make_rate_limit(600))
    error = harness.error()
    assert isinstance(error, RateLimitedError)
    assert (error.status, error.code) == (429, "rate_limited")
    assert error.retry_after == 600 * SECOND
    assert decision_after(error).delay == 10 * MINUTE
    assert (len(harness.receiver.requests), harness.clock.now()) == (1, NOW)


def test_after_a_long_rate_limit_messages_to_that_chat_are_not_sent(
    harness: PlatformHarness,
) -> None:
    harness.queue_responses(harness.platform.make_rate_limit(600))
    harness.queue_success()
    harness.error()
    error = harness.error()
    assert isinstance(error, LocalRateLimitError)
    assert (error.origin, error.status) == (Origin.NOT_ATTEMPTED, 429)
    assert error.retry_after == 600 * SECOND
    assert not decision_after(error).is_counted
    harness.channel.send(harness.platform.other_target, HELLO, idempotency_key="k-2")
    assert len(harness.receiver.requests) == 2


def test_the_send_rate_is_limited_per_chat(platform: Platform, clock: ManualClock) -> None:
    http_client = ListHttpClient(platform.success_body)
    channel = platform.channel(http_client, TOKENS, clock)
    for number in range(40):
        channel.send(platform.target, HELLO, idempotency_key=str(number))
        channel.send(str(100 + number), HELLO, idempotency_key=str(number))
    assert (len(http_client.urls), clock.now()) == (80, NOW + 39 * platform.send_interval)


def test_a_send_takes_at_most_three_seconds(platform: Platform, clock: ManualClock) -> None:
    http_client = ListHttpClient(platform.success_body)
    channel = platform.channel(http_client, TOKENS, clock)
    for _ in range(2):
        channel.send(platform.target, HELLO, idempotency_key="k")
    assert http_client.timeouts == [3 * SECOND, 3 * SECOND - platform.send_interval]
    assert http_client.urls == [platform.url] * 2
