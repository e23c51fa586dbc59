"""Parsing Slack requests: sender, text, and which requests are ignored."""

from __future__ import annotations

from datetime import timedelta

import pytest
from duecourse.adapters.channels.inbound import InboundResult
from duecourse.adapters.channels.slack.inbound import SlackInboundParser
from duecourse.adapters.channels.slack.unescape import unescape_text
from duecourse.domain.chat.message import Message
from duecourse.domain.errors import InvalidFieldsError

from tests.support.builders.moments import NOW
from tests.support.platforms import (
    FORM,
    KEYS,
    Payload,
    PlatformRequest,
    sign_form,
    sign_press,
    sign_request,
    slack_command,
    slack_event,
    slack_mention,
    slack_message,
    slack_press,
)

HOOK = "https://hooks.slack.com/commands/T0001/1234/5678"


def parse_request(sent: PlatformRequest) -> InboundResult:
    return SlackInboundParser(KEYS).parse(sent.to_raw_request(), now=NOW)


def slash_command_text(text: str, **fields: str) -> Message:
    message = parse_request(sign_form(slack_command(text, **fields), at=NOW)).message
    assert message is not None
    return message


def parse_press(payload: Payload) -> Message | None:
    return parse_request(sign_press(payload, at=NOW)).message


def parse_event(event: Payload) -> Message | None:
    return parse_request(sign_request("slack", slack_event(event), at=NOW)).message


# --- slash commands ---------------------------------------------------------------------------


def test_a_slash_command_is_parsed_and_its_reminders_go_to_the_sender() -> None:
    parsed = parse_request(sign_form(slack_command("in 10 minutes tea"), at=NOW))

    assert parsed == InboundResult(
        Message(
            channel="slack",
            sender_id="U0ADA",
            reply_target="U0ADA",
            text="/remind in 10 minutes tea",
            dedup_key="4711.1001.c0ffee01",
            sent_at=NOW,
            source_chat="C0TEA",
            team="T0001",
            reply_context={"response_url": HOOK},
        )
    )


@pytest.mark.parametrize(
    ("command", "text", "expected"),
    [
        ("/tasks", "", "/tasks"),
        ("/Remind", "in 1h tea", "/Remind in 1h tea"),
        ("/duecourse", "remind in 1h tea", "/remind in 1h tea"),
        ("/duecourse", " /remind in 1h tea", "/remind in 1h tea"),
        ("/duecourse", "", "/help"),
        ("/duecourse", "  ", "/help"),
        ("/remind", "in 1h tea &amp; cake &lt;3", "/remind in 1h tea & cake <3"),
    ],
)
def test_a_slash_command_is_converted_to_command_text(
    command: str, text: str, expected: str
) -> None:
    assert slash_command_text(text, command=command).text == expected


@pytest.mark.parametrize(
    "url",
    [
        "http://hooks.slack.com/commands/1",
        "https://hooks.slack.com.evil.example/1",
        "https://evil.example/hooks.slack.com",
        "https://hooks.slack.com:8443/1",
        "https://hooks.slack.com@evil.example/1",
        "https://169.254.169.254/",
        "hooks.slack.com",
        "",
    ],
)
def test_a_response_url_outside_slack_is_ignored(url: str) -> None:
    assert slash_command_text("in 1h tea", response_url=url).reply_context == {}


def test_a_response_url_of_govslack_is_accepted() -> None:
    url = "https://hooks.slack-gov.com/commands/1"

    assert slash_command_text("in 1h tea", response_url=url).reply_context == {"response_url": url}


def test_an_ssl_check_is_acknowledged() -> None:
    assert parse_request(sign_form({"ssl_check": "1", "token": "x"}, at=NOW)) == InboundResult()


# --- teams ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "team"),
    [
        ({}, "T0001"),
        ({"team": "T0002"}, "T0002"),
        ({"user_team": "T0003", "team": "T0001"}, "T0003"),  # in a channel of two workspaces
    ],
)
def test_a_message_has_the_team_of_its_author(fields: Payload, team: str) -> None:
    message = parse_event(slack_message("tasks", **fields))

    assert message is not None
    assert message.team == team


def test_a_press_has_the_team_of_the_user_who_pressed() -> None:
    message = parse_press(slack_press(user={"id": "U7", "team_id": "T0002"}))

    assert message is not None
    assert message.team == "T0002"


def test_an_organisation_is_a_team_where_there_is_no_other() -> None:
    press = parse_press(slack_press(user={"id": "U7"}, team=None, enterprise={"id": "E1"}))
    form = {name: one for name, one in slack_command().items() if name != "team_id"}
    command = parse_request(sign_form({**form, "enterprise_id": "E1"}, at=NOW)).message

    assert press is not None
    assert command is not None
    assert (press.team, command.team) == ("E1", "E1")


def test_a_request_without_a_team_is_refused() -> None:
    form = {name: one for name, one in slack_command().items() if name != "team_id"}
    event = {**slack_event(), "team_id": None}

    with pytest.raises(InvalidFieldsError, match="team_id"):
        parse_request(sign_form(form, at=NOW))
    with pytest.raises(InvalidFieldsError, match="team"):
        parse_request(sign_request("slack", event, at=NOW))
    with pytest.raises(InvalidFieldsError, match="team"):
        parse_press(slack_press(user={"id": "U7"}, team=None))


# --- buttons ----------------------------------------------------------------------------------


def test_a_button_press_sends_its_command_for_the_user_who_pressed() -> None:
    assert parse_press(slack_press("/cancel a1b2c3d4", user={"id": "U7"})) == Message(
        channel="slack",
        sender_id="U7",
        reply_target="C0TEA",
        text="/cancel a1b2c3d4",
        dedup_key="4712.1001.c0ffee02",
        sent_at=NOW,
        team="T0001",
        private_target="U7",
        reply_context={
            "response_url": ("https://hooks.slack.com/actions/T0001/90/12"),
        },
    )


def test_a_press_in_a_thread_is_answered_in_that_thread() -> None:
    container = {"channel_id": "C1", "message_ts": "2.0", "thread_ts": "1.0"}
    message = parse_press(slack_press(container=container))

    assert message is not None
    assert message.reply_target == "C1:1.0"


def test_a_press_without_a_channel_is_answered_to_the_user() -> None:
    message = parse_press(slack_press(container={"type": "view", "view_id": "V1"}))

    assert message is not None
    assert message.reply_target == "U0ADA"


def test_a_press_without_a_trigger_id_is_identified_by_its_time() -> None:
    message = parse_press(slack_press(trigger_id=None))

    assert message is not None
    assert message.dedup_key == "U0ADA:1771329500.000200:1771329600.840180"


@pytest.mark.parametrize(
    "payload",
    [
        {"type": "view_submission", "user": {"id": "U1"}, "view": {}},
        {"type": "view_closed"},
        {"type": "shortcut", "callback_id": "x"},
        {"type": "message_action"},
        slack_press(actions=[]),
        slack_press(actions=[{"type": "static_select", "selected_option": {"value": "x"}}]),
        {},
    ],
)
def test_other_interactions_are_acknowledged_and_ignored(payload: Payload) -> None:
    assert parse_request(sign_press(payload, at=NOW)) == InboundResult()


# --- events -----------------------------------------------------------------------------------


def test_the_url_verification_challenge_is_answered() -> None:
    body = {"token": "x", "challenge": "say-this-back", "type": "url_verification"}

    assert parse_request(sign_request("slack", body, at=NOW)) == InboundResult(
        reply={"challenge": body["challenge"]}
    )


def test_a_direct_message_is_parsed() -> None:
    assert parse_event(slack_message("remind me in 1h: tea")) == Message(
        channel="slack",
        sender_id="U0ADA",
        reply_target="D0ADA",
        text="remind me in 1h: tea",
        dedup_key="D0ADA:1771329600.000100",
        sent_at=NOW,
        team="T0001",
    )


def test_the_message_time_is_when_it_was_sent() -> None:
    message = parse_event(slack_message("tasks", ts="1771329000.500000"))

    assert message is not None
    assert message.sent_at == NOW - timedelta(minutes=10) + timedelta(seconds=0.5)


@pytest.mark.parametrize("ts", ["171", "9999999999.1", "soon", "1e9"])
def test_an_invalid_message_time_is_replaced_by_now(ts: str) -> None:
    message = parse_event(slack_message("tasks", ts=ts))

    assert message is not None
    assert message.sent_at == NOW


def test_a_mention_is_parsed_without_the_bot_name() -> None:
    message = parse_event(slack_mention("<@U0DUE>: tasks"))

    assert message is not None
    assert (message.text, message.reply_target) == ("/tasks", "C0TEA")


def test_a_message_in_a_thread_is_answered_in_the_thread() -> None:
    message = parse_event(slack_mention(thread_ts="1771329000.000100"))

    assert message is not None
    assert message.reply_target == "C0TEA:1771329000.000100"


def test_a_message_has_one_idempotency_key_for_all_its_events() -> None:
    events = [slack_event(slack_mention(), event_id=f"Ev{n}") for n in range(4)]
    messages = [parse_request(sign_request("slack", event, at=NOW)).message for event in events]

    assert {message.dedup_key for message in messages if message} == {"C0TEA:1771329600.000100"}


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("tasks", "/tasks"),
        ("Cancel a1b2c3d4", "/Cancel a1b2c3d4"),
        ("/tasks", "/tasks"),
        ("Remind me in 1h of tea", "Remind me in 1h of tea"),
        ("remind  me in 1h of tea", "remind  me in 1h of tea"),
        ("<@U2> is late", "@U2 is late"),
        ("hello", "hello"),
        ("", ""),
    ],
)
def test_a_command_can_be_typed_without_a_slash(typed: str, expected: str) -> None:
    message = parse_event(slack_message(typed))

    assert message is not None
    assert message.text == expected


@pytest.mark.parametrize(
    "event",
    [
        slack_message(bot_id="B1"),
        slack_message(subtype="bot_message"),
        slack_message(subtype="message_changed", message=slack_message()),
        slack_message(subtype="message_deleted", previous_message=slack_message()),
        slack_message(subtype="channel_join"),
        slack_message(user=None),
        slack_message(channel_type="channel"),
        slack_message(channel_type="group"),
        slack_message(channel_type="mpim"),
        slack_message(channel_type=None),
        slack_mention(edited={"user": "U1", "ts": "1.0"}),
        slack_mention(bot_id="B1"),
        {"type": "reaction_added", "user": "U1"},
        {},
    ],
)
def test_edits_bot_messages_and_other_conversations_are_ignored(event: Payload) -> None:
    assert parse_request(sign_request("slack", slack_event(event), at=NOW)) == InboundResult()


@pytest.mark.parametrize("subtype", ["file_share", "thread_broadcast"])
def test_file_shares_and_thread_broadcasts_are_parsed(subtype: str) -> None:
    assert parse_event(slack_message(subtype=subtype)) is not None


def test_an_unknown_request_type_is_acknowledged() -> None:
    body = {"type": "app_rate_limited", "minute_rate_limited": 1}

    assert parse_request(sign_request("slack", body, at=NOW)) == InboundResult()


@pytest.mark.parametrize(
    ("marked", "typed"),
    [
        ("tea &amp; cake", "tea & cake"),
        ("1 &lt; 2 &gt; 0", "1 < 2 > 0"),
        ("&amp;lt;", "&lt;"),
        ("ask <@U123>", "ask @U123"),
        ("ask <@U123|ada>", "ask @ada"),
        ("in <#C1|general> and <#C2>", "in #general and #C2"),
        ("<!here> and <!subteam^S1|@cooks>", "@here and @cooks"),
        ("<https://example.com/a?b=1&amp;c=2>", "https://example.com/a?b=1&c=2"),
        ("<http://example.com|example.com>", "example.com"),
        ("<mailto:ada@example.com|ada@example.com>", "ada@example.com"),
        ("<https://example.com/a|the plan>", "the plan (https://example.com/a)"),
        ("<<>><|>", "<>"),
        ("<" * 50, "<" * 50),
    ],
)
def test_slack_markup_is_converted_to_plain_text(marked: str, typed: str) -> None:
    assert unescape_text(marked) == typed


# --- what is not readable ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sent", "field"),
    [
        (sign_request("slack", b"", at=NOW), "body"),
        (sign_request("slack", b"[1]", at=NOW), "body"),
        (sign_request("slack", b"\xff\xfe", at=NOW), "body"),
        (sign_request("slack", {}, at=NOW), "type"),
        (sign_request("slack", {"type": "url_verification", "challenge": 5}, at=NOW), "challenge"),
        (sign_request("slack", slack_event(slack_message(ts=5)), at=NOW), "event.ts"),
        (
            sign_request("slack", slack_event(slack_message(channel="C1:2")), at=NOW),
            "event.channel",
        ),
        (sign_request("slack", slack_event(slack_message(user="U" * 101)), at=NOW), "event.user"),
        (
            sign_request("slack", slack_event(slack_message(thread_ts=[])), at=NOW),
            "event.thread_ts",
        ),
        (sign_request("slack", b"a=%ff", at=NOW, kind=FORM), "body"),
        (sign_request("slack", b"\xff", at=NOW, kind=FORM), "body"),
        (sign_request("slack", b"a=1&a=2", at=NOW, kind=FORM), "body"),
        (sign_request("slack", b"a=1&" * 101, at=NOW, kind=FORM), "body"),
        (sign_request("slack", b"payload={", at=NOW, kind=FORM), "body"),
        (sign_request("slack", b"", at=NOW, kind=FORM), "user_id"),
        (sign_form(slack_command(trigger_id="a b"), at=NOW), "trigger_id"),
        (sign_press(slack_press(user=None), at=NOW), "user.id"),
    ],
)
def test_an_invalid_request_is_rejected_with_its_field(sent: PlatformRequest, field: str) -> None:
    with pytest.raises(InvalidFieldsError) as refused:
        parse_request(sent)

    assert [error.field for error in refused.value.errors] == [field]
