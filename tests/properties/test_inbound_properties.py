"""Any signed webhook request is parsed, ignored, or refused field by field."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from duecourse.adapters.aws.sqs import message_from_body, to_body
from duecourse.adapters.channels.discord.inbound import DiscordInboundParser
from duecourse.adapters.channels.inbound import InboundParser, InboundResult
from duecourse.adapters.channels.slack.inbound import SlackInboundParser
from duecourse.adapters.channels.telegram.inbound import TelegramInboundParser
from duecourse.adapters.http.json_reader import TEXT_LIMIT
from duecourse.adapters.http.request_errors import NotVerifiedError
from duecourse.domain.errors import InvalidFieldsError
from duecourse.domain.requests.task_fields import NAME_LIMIT
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.builders.moments import NOW
from tests.support.examples import scale_examples
from tests.support.platforms import (
    FORM,
    KEYS,
    WHAT,
    WHEN,
    PlatformRequest,
    discord_command,
    discord_press,
    sign_form,
    sign_press,
    sign_request,
    slack_command,
    slack_event,
    slack_mention,
    slack_press,
    telegram_press,
    telegram_update,
)

property_settings = settings(
    max_examples=scale_examples(300), deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
PLATFORMS: dict[str, InboundParser] = {
    "telegram": TelegramInboundParser(KEYS),
    "slack": SlackInboundParser(KEYS),
    "discord": DiscordInboundParser(KEYS),
}
SAMPLES: list[tuple[str, Any]] = [
    ("telegram", telegram_update()),
    ("telegram", telegram_press()),
    ("slack", slack_event()),
    ("slack", slack_event(slack_mention(thread_ts="1.0"))),
    ("discord", discord_command("remind", WHEN, WHAT)),
    ("discord", discord_press()),
]
odd_values = (
    st.none() | st.booleans() | st.integers() | st.floats(-1e300, 1e300) | st.text(max_size=20)
)
odd_values |= st.sampled_from(
    ["\ud800", "x" * 9_000, 10**400, -1, 0, "", "\0", "<" * 9_000, "/remind@b"]
)
anything = st.recursive(
    odd_values,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)


def replace_one_part(value: Any, draw: Callable[..., Any]) -> Any:
    """Return the value with one part, however deep, replaced by anything."""
    if not value or not isinstance(value, dict | list) or draw(st.integers(0, 9)) == 0:
        return draw(anything)
    if isinstance(value, list):
        n = draw(st.integers(0, len(value) - 1))
        return [*value[:n], replace_one_part(value[n], draw), *value[n + 1 :]]
    name = draw(st.sampled_from(sorted(value)))
    return {**value, name: replace_one_part(value[name], draw)}


def parse(request: PlatformRequest) -> InboundResult | None:
    try:
        return PLATFORMS[request.platform].parse(request.to_raw_request(), now=NOW)
    except InvalidFieldsError:
        return None


def check(request: PlatformRequest) -> None:
    """Check that a parsed message can be queued, and that its names are short."""
    result = parse(request)
    if result is None or result.message is None:
        return
    message = result.message
    assert message_from_body(to_body(message.to_json())) == message
    assert len(message.text.encode()) <= 4 * TEXT_LIMIT
    assert len(message.text) <= TEXT_LIMIT + len("/")
    for name in (message.sender_id, message.reply_target, message.dedup_key):
        assert name.isascii()
        assert 1 <= len(name) <= NAME_LIMIT


@property_settings
@given(st.data(), st.sampled_from(SAMPLES))
def test_any_value_in_one_place_of_a_request_is_handled(
    data: st.DataObject, sample: tuple[str, Any]
) -> None:
    platform, body = sample
    check(sign_request(platform, replace_one_part(body, data.draw), at=NOW))


@property_settings
@given(st.data())
def test_any_value_in_one_place_of_a_slack_button_press_is_handled(data: st.DataObject) -> None:
    check(sign_press(replace_one_part(slack_press(), data.draw), at=NOW))


@property_settings
@given(st.dictionaries(st.sampled_from(sorted(slack_command())), st.text(max_size=50)))
def test_any_text_in_a_slash_command_is_handled(fields: dict[str, str]) -> None:
    check(sign_form({**slack_command(), **fields}, at=NOW))


@property_settings
@given(st.sampled_from(sorted(PLATFORMS)), anything, st.sampled_from(["application/json", FORM]))
def test_any_json_body_is_handled(platform: str, body: Any, kind: str) -> None:
    check(sign_request(platform, json.dumps(body).encode(), at=NOW, kind=kind))


@property_settings
@given(st.sampled_from(sorted(PLATFORMS)), st.binary(max_size=200), st.sampled_from(["", FORM]))
def test_any_bytes_are_handled(platform: str, body: bytes, kind: str) -> None:
    check(sign_request(platform, body, at=NOW, kind=kind))


@property_settings
@given(
    st.sampled_from(SAMPLES),
    st.dictionaries(
        st.sampled_from(["x-slack-signature", "x-signature-ed25519", "x-slack-request-timestamp"]),
        st.text(max_size=130),
        min_size=1,
    ),
)
def test_any_wrong_signature_is_refused(sample: tuple[str, Any], headers: dict[str, str]) -> None:
    """The request is refused as not verified, whatever the headers hold."""
    platform, body = sample
    unverified = PlatformRequest(platform, json.dumps(body).encode(), headers)
    try:
        PLATFORMS[platform].parse(unverified.to_raw_request(), now=NOW)
    except NotVerifiedError:
        return
    raise AssertionError("the request was accepted")
