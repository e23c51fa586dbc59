"""Whatever a platform vouches for: it is heard, passed over, or refused field by field."""

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

calm = settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
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
odd = st.none() | st.booleans() | st.integers() | st.floats(-1e300, 1e300) | st.text(max_size=20)
odd |= st.sampled_from(["\ud800", "x" * 9_000, 10**400, -1, 0, "", "\0", "<" * 9_000, "/remind@b"])
anything = st.recursive(
    odd, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3)
)


def changed(value: Any, draw: Callable[..., Any]) -> Any:
    """The value with one of its parts, however deep, turned into anything."""
    if not value or not isinstance(value, dict | list) or draw(st.integers(0, 9)) == 0:
        return draw(anything)
    if isinstance(value, list):
        n = draw(st.integers(0, len(value) - 1))
        return [*value[:n], changed(value[n], draw), *value[n + 1 :]]
    name = draw(st.sampled_from(sorted(value)))
    return {**value, name: changed(value[name], draw)}


def hear(sent: PlatformRequest) -> InboundResult | None:
    try:
        return PLATFORMS[sent.platform].parse(sent.to_raw_request(), now=NOW)
    except InvalidFieldsError:
        return None


def check(sent: PlatformRequest) -> None:
    """What was heard can be queued and kept; every name in it is short."""
    heard = hear(sent)
    if heard is None or heard.message is None:
        return
    message = heard.message
    assert message_from_body(to_body(message.to_json())) == message
    assert len(message.text.encode()) <= 4 * TEXT_LIMIT
    assert len(message.text) <= TEXT_LIMIT + len("/")
    for name in (message.sender_id, message.reply_target, message.dedup_key):
        assert name.isascii()
        assert 1 <= len(name) <= NAME_LIMIT


@calm
@given(st.data(), st.sampled_from(SAMPLES))
def test_a_request_with_anything_in_one_place(data: st.DataObject, sample: tuple[str, Any]) -> None:
    platform, body = sample
    check(sign_request(platform, changed(body, data.draw), at=NOW))


@calm
@given(st.data())
def test_a_press_in_slack_with_anything_in_one_place(data: st.DataObject) -> None:
    check(sign_press(changed(slack_press(), data.draw), at=NOW))


@calm
@given(st.dictionaries(st.sampled_from(sorted(slack_command())), st.text(max_size=50)))
def test_a_slash_command_with_any_words_in_it(fields: dict[str, str]) -> None:
    check(sign_form({**slack_command(), **fields}, at=NOW))


@calm
@given(st.sampled_from(sorted(PLATFORMS)), anything, st.sampled_from(["application/json", FORM]))
def test_any_json(platform: str, body: Any, kind: str) -> None:
    check(sign_request(platform, json.dumps(body).encode(), at=NOW, kind=kind))


@calm
@given(st.sampled_from(sorted(PLATFORMS)), st.binary(max_size=200), st.sampled_from(["", FORM]))
def test_any_bytes(platform: str, body: bytes, kind: str) -> None:
    check(sign_request(platform, body, at=NOW, kind=kind))


@calm
@given(
    st.sampled_from(SAMPLES),
    st.dictionaries(
        st.sampled_from(["x-slack-signature", "x-signature-ed25519", "x-slack-request-timestamp"]),
        st.text(max_size=130),
        min_size=1,
    ),
)
def test_any_proof_but_the_right_one(sample: tuple[str, Any], headers: dict[str, str]) -> None:
    """Whatever else is in the headers: nobody is believed, and nothing breaks."""
    platform, body = sample
    forged = PlatformRequest(platform, json.dumps(body).encode(), headers)
    try:
        PLATFORMS[platform].parse(forged.to_raw_request(), now=NOW)
    except NotVerifiedError:
        return
    raise AssertionError("it was believed")
