"""Parse Slack's requests: slash commands and buttons are forms, messages are JSON events."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any
from urllib.parse import parse_qsl

from duecourse.adapters.channels.inbound import InboundResult, RefusalResponse, resolve_sent_at
from duecourse.adapters.channels.slack import NAME, RESPONSE_URL_HOSTS
from duecourse.adapters.channels.slack.signature import verify_signature
from duecourse.adapters.channels.slack.team import first_team
from duecourse.adapters.channels.slack.unescape import unescape_text
from duecourse.adapters.http.json_body import parse_object
from duecourse.adapters.http.json_reader import TEXT_LIMIT, JsonReader
from duecourse.adapters.http.raw_request import RawRequest
from duecourse.domain.chat.command_names import COMMAND_NAMES, REMIND_ME_PATTERN, to_command_text
from duecourse.domain.chat.message import Message
from duecourse.domain.errors import FieldError, InvalidFieldsError
from duecourse.domain.http.url import parse_url
from duecourse.ports.integrations import RotatingKeys

FORM_CONTENT_TYPE = "application/x-www-form-urlencoded"
_MAX_FIELDS = 100
# A person's message, possibly with a file, or sent to a thread and its channel. Other subtypes are
# edits, deletions, bots, joins and leaves.
_USER_SUBTYPES = (None, "file_share", "thread_broadcast")
_TIMESTAMP_PATTERN = re.compile(r"\d{1,12}(?:\.\d{1,9})?")
_MENTION_PATTERN = re.compile(r"\s*<@[A-Z0-9]+(?:\|[^>]*)?>[\s:,]*")


class SlackInboundParser:
    def __init__(self, keys: RotatingKeys) -> None:
        self._keys = keys

    def parse(self, request: RawRequest, *, now: datetime) -> InboundResult:
        verify_signature(request, self._keys, now=now)
        if not request.header("content-type").lower().startswith(FORM_CONTENT_TYPE):
            return _parse_event(JsonReader(request.json_object()), at=now)
        form = _parse_form(request.text())
        if "payload" in form:
            return InboundResult(_button_message(JsonReader(parse_object(form["payload"])), at=now))
        if "ssl_check" in form:
            return InboundResult()
        # Slack shows the response to a command, but not those to messages and buttons.
        return InboundResult(
            _command_message(JsonReader(form), at=now), refusal=RefusalResponse(_ephemeral_reply)
        )


def _ephemeral_reply(text: str) -> dict[str, Any]:
    return {"response_type": "ephemeral", "text": text}


def _parse_form(text: str) -> dict[str, str]:
    """Return the form's fields. Raises InvalidFieldsError, also for a repeated name."""
    try:
        pairs = parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=_MAX_FIELDS)
    except ValueError:
        raise InvalidFieldsError([FieldError("body", "is not a form")]) from None
    form = dict(pairs)
    if len(form) < len(pairs):
        raise InvalidFieldsError([FieldError("body", "gives a name twice")])
    return form


def _command_message(form: JsonReader, *, at: datetime) -> Message:
    """Return the message of a slash command.

    Its reminders go to the sender directly: the bot may not be in the command's channel.
    """
    sender, words = form.id("user_id"), unescape_text(form.text("text") or "")
    return Message(
        channel=NAME,
        sender_id=sender,
        reply_target=sender,
        text=to_command_text(form.text("command") or "", words)[:TEXT_LIMIT],
        dedup_key=form.id("trigger_id"),
        sent_at=at,
        source_chat=form.optional_id("channel_id"),
        team=first_team((form, "team_id"), (form, "enterprise_id")),
        reply_context=_reply_context(form),
    )


def _button_message(interaction: JsonReader, *, at: datetime) -> Message | None:
    """Return the message of a pressed button; None for shortcuts, forms and menus."""
    actions = interaction.children("actions")
    text = actions[0].text("value") if actions else None
    if interaction.text("type") != "block_actions" or text is None:
        return None
    user, container = interaction.child("user"), interaction.child("container")
    team, organisation = interaction.child("team"), interaction.child("enterprise")
    sender, channel = user.id("id"), container.optional_id("channel_id")
    return Message(
        channel=NAME,
        sender_id=sender,
        reply_target=_to_target(channel, container.optional_id("thread_ts")) if channel else sender,
        text=text,
        dedup_key=_button_key(interaction, actions[0]),
        sent_at=at,
        team=first_team((user, "team_id"), (team, "id"), (organisation, "id")),
        private_target=sender,
        reply_context=_reply_context(interaction),
    )


def _button_key(interaction: JsonReader, action: JsonReader) -> str:
    if trigger := interaction.optional_id("trigger_id"):
        return trigger
    message = interaction.child("container").optional_id("message_ts")
    return f"{interaction.child('user').id('id')}:{message}:{action.id('action_ts')}"


def _reply_context(part: JsonReader) -> dict[str, str]:
    """Return the URL for the reply.

    A URL that is not Slack's is ignored; the reply is then a direct message.
    """
    response_url = part.text("response_url") or ""
    try:
        url = parse_url(response_url)
    except ValueError:
        return {}
    return (
        {"response_url": response_url}
        if url.is_encrypted and url.authority in RESPONSE_URL_HOSTS
        else {}
    )


def _parse_event(body: JsonReader, *, at: datetime) -> InboundResult:
    match body.text("type"):
        case "url_verification":
            return InboundResult(reply=_challenge_reply(body))
        case "event_callback":
            return InboundResult(_text_message(body, at=at))
        case None:
            raise body.error_for("type", "must be a text")
    return InboundResult()


def _challenge_reply(body: JsonReader) -> dict[str, Any]:
    challenge = body.text("challenge")
    if not challenge:
        raise body.error_for("challenge", "must be a text that is not empty")
    return {"challenge": challenge}


def _text_message(body: JsonReader, *, at: datetime) -> Message | None:
    """Return the message, or None if it is not for the bot.

    Slack may send several events for one message (retries, a mention besides the message), with
    different ids. The dedup key therefore uses the channel and the message's timestamp.
    """
    event = body.child("event")
    if not _is_addressed_to_bot(event):
        return None
    channel = event.id("channel")
    return Message(
        channel=NAME,
        sender_id=event.id("user"),
        reply_target=_to_target(channel, event.optional_id("thread_ts")),
        text=_add_slash(unescape_text(_strip_mention(event)).lstrip()),
        is_private=channel.startswith("D"),
        dedup_key=f"{channel}:{event.id('ts')}",
        sent_at=resolve_sent_at(_parse_seconds(event.id("ts")), now=at),
        # In a channel that two workspaces share, the author may be of the other one.
        team=first_team(
            (event, "user_team"), (event, "team"), (body, "team_id"), (body, "enterprise_id")
        ),
    )


def _is_addressed_to_bot(event: JsonReader) -> bool:
    is_direct = event.text("type") == "message" and event.text("channel_type") == "im"
    is_by_person = event.has("user") and not event.has("bot_id")
    is_new = event.text("subtype") in _USER_SUBTYPES and not event.has("edited")
    return (is_direct or event.text("type") == "app_mention") and is_by_person and is_new


def _strip_mention(event: JsonReader) -> str:
    text = event.text("text") or ""
    mention = _MENTION_PATTERN.match(text) if event.text("type") == "app_mention" else None
    return text[mention.end() :] if mention else text


def _add_slash(text: str) -> str:
    """Prepend `/` to a text that starts with a command word: Slack reserves leading slashes.

    Except for `do`, since "do you have time?" is not a command, and for "remind me ..." sentences.
    """
    word = text.split(maxsplit=1)[0].lower() if text.strip() else ""
    is_sentence = word == "do" or REMIND_ME_PATTERN.match(text)
    return f"/{text}" if word in COMMAND_NAMES and not is_sentence else text


def _to_target(channel: str, thread: str | None) -> str:
    return f"{channel}:{thread}" if thread else channel


def _parse_seconds(ts: str) -> float | None:
    return float(ts) if _TIMESTAMP_PATTERN.fullmatch(ts) else None
