"""At what pace every channel speaks, and what it does when it is told that this was too fast."""

from __future__ import annotations

from duecourse.adapters.channels.errors import LocalRateLimitError, RateLimitedError
from duecourse.domain.origin import Origin

from tests.support.builders.moments import NOW
from tests.support.chat_cases import HELLO, MINUTE, SECOND, TOKENS, ListHttpClient, decision_after
from tests.support.fakes.clock import ManualClock
from tests.unit.adapters.channels.all_platforms.line import Line
from tests.unit.adapters.channels.all_platforms.platforms import Platform


def test_a_short_flood_is_waited_for_once(line: Line) -> None:
    line.will_say(line.platform.flood(2))
    line.will_agree()
    line.send()
    assert (len(line.receiver.requests), line.clock.now()) == (2, NOW + 2 * SECOND)


def test_a_second_flood_is_raised(line: Line) -> None:
    line.will_say(line.platform.flood(1))
    assert isinstance(line.error(), RateLimitedError)
    assert (len(line.receiver.requests), line.clock.now()) == (2, NOW + SECOND)


def test_a_long_flood_raises_the_wait_of_the_policy(line: Line) -> None:
    line.will_say(line.platform.flood(600))
    error = line.error()
    assert isinstance(error, RateLimitedError)
    assert (error.status, error.code) == (429, "rate_limited")
    assert error.retry_after == 600 * SECOND
    assert decision_after(error).delay == 10 * MINUTE
    assert (len(line.receiver.requests), line.clock.now()) == (1, NOW)


def test_what_follows_a_long_flood_in_that_place_is_not_even_tried(line: Line) -> None:
    line.will_say(line.platform.flood(600))
    line.will_agree()
    line.error()
    error = line.error()
    assert isinstance(error, LocalRateLimitError)
    assert (error.origin, error.status) == (Origin.NOT_ATTEMPTED, 429)
    assert error.retry_after == 600 * SECOND
    assert not decision_after(error).is_counted
    line.channel.send(line.platform.elsewhere, HELLO, idempotency_key="k-2")
    assert len(line.receiver.requests) == 2


def test_one_place_hears_so_many_a_second_and_others_do_not_wait(
    platform: Platform, clock: ManualClock
) -> None:
    poster = ListHttpClient(platform.yes)
    channel = platform.channel(poster, TOKENS, clock)
    for number in range(40):
        channel.send(platform.target, HELLO, idempotency_key=str(number))
        channel.send(str(100 + number), HELLO, idempotency_key=str(number))
    assert (len(poster.urls), clock.now()) == (80, NOW + 39 * platform.rest)


def test_a_send_has_three_seconds_in_all(platform: Platform, clock: ManualClock) -> None:
    poster = ListHttpClient(platform.yes)
    channel = platform.channel(poster, TOKENS, clock)
    for _ in range(2):
        channel.send(platform.target, HELLO, idempotency_key="k")
    assert poster.timeouts == [3 * SECOND, 3 * SECOND - platform.rest]
    assert poster.urls == [platform.url] * 2
