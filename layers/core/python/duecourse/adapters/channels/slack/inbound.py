"""What Slack sends: slash commands and pressed buttons as forms, messages as JSON events."""

from __future__ import annotations

import hashlib
import hmac
import re
from datetime import datetime
from typing import Any
from urllib.parse import parse_qsl

from duecourse.adapters.channels.inbound import (
    Heard,
    require_recent,
    require_same,
    require_secret,
    said_at,
)
from duecourse.adapters.channels.slack import HOOK_HOSTS, NAME
from duecourse.adapters.channels.slack.unescape import as_typed
from duecourse.adapters.http.json_body import read_object
from duecourse.adapters.http.json_reader import TEXT_LIMIT, JsonPart
from duecourse.adapters.http.raw_request import RawRequest
from duecourse.domain.chat.command_names import COMMANDS, REMIND_ME, as_command
from duecourse.domain.chat.message import Message
from duecourse.domain.errors import FieldError, InvalidFieldsError
from duecourse.domain.http.url import read_url
from duecourse.ports.integrations import Keys

SIGNATURE_HEADER = "x-slack-signature"
TIMESTAMP_HEADER = "x-slack-request-timestamp"
FORM = "application/x-www-form-urlencoded"
_MOST_FIELDS = 100
# Said by a person, if with a file or to a thread and its channel at once. All others are edits,
# deletions, bots, and people who come and go.
_SUBTYPES = (None, "file_share", "thread_broadcast")
_TS = re.compile(r"\d{1,12}(?:\.\d{1,9})?")
_MENTION = re.compile(r"\s*<@[A-Z0-9]+(?:\|[^>]*)?>[\s:,]*")


class SlackIncoming:
    def __init__(self, keys: Keys) -> None:
        self._keys = keys

    def hear(self, request: RawRequest, *, now: datetime) -> Heard:
        self._verify(request, now=now)
        if not request.header("content-type").lower().startswith(FORM):
            return _event(JsonPart(request.json_object()), at=now)
        form = _form(request.text())
        if "payload" in form:
            return Heard(_pressed(JsonPart(read_object(form["payload"])), at=now))
        if "ssl_check" in form:
            return Heard()
        return Heard(_commanded(JsonPart(form), at=now))

    def _verify(self, request: RawRequest, *, now: datetime) -> None:
        """Raises NotVerifiedError."""
        secret = require_secret(self._keys, NAME)
        timestamp = request.header(TIMESTAMP_HEADER)
        require_recent(timestamp, now=now)
        content = f"v0:{timestamp}:".encode() + request.body
        digest = hmac.new(secret.encode(), content, hashlib.sha256).hexdigest()
        require_same(request.header(SIGNATURE_HEADER), f"v0={digest}")


def _form(text: str) -> dict[str, str]:
    """Raises InvalidFieldsError, also where a name is given twice."""
    try:
        pairs = parse_qsl(
            text, keep_blank_values=True, errors="strict", max_num_fields=_MOST_FIELDS
        )
    except ValueError:
        raise InvalidFieldsError([FieldError("body", "is not a form")]) from None
    form = dict(pairs)
    if len(form) < len(pairs):
        raise InvalidFieldsError([FieldError("body", "gives a name twice")])
    return form


def _commanded(form: JsonPart, *, at: datetime) -> Message:
    """Its reminders come to the sender directly: we may not be in the channel it was typed in."""
    sender, words = form.id("user_id"), as_typed(form.text("text") or "")
    return Message(
        channel=NAME,
        sender_id=sender,
        reply_target=sender,
        text=as_command(form.text("command") or "", words)[:TEXT_LIMIT],
        key=form.id("trigger_id"),
        at=at,
        said_in=form.id_if_any("channel_id"),
        answer_to=_answer_to(form),
    )


def _pressed(interaction: JsonPart, *, at: datetime) -> Message | None:
    """None for shortcuts, forms and menus, of which we have none."""
    actions = interaction.parts("actions")
    text = actions[0].text("value") if actions else None
    if interaction.text("type") != "block_actions" or text is None:
        return None
    sender, container = interaction.part("user").id("id"), interaction.part("container")
    channel = container.id_if_any("channel_id")
    return Message(
        channel=NAME,
        sender_id=sender,
        reply_target=_place(channel, container.id_if_any("thread_ts")) if channel else sender,
        text=text,
        key=_key_of_press(interaction, actions[0]),
        at=at,
        answer_to=_answer_to(interaction),
    )


def _key_of_press(interaction: JsonPart, action: JsonPart) -> str:
    if trigger := interaction.id_if_any("trigger_id"):
        return trigger
    message = interaction.part("container").id_if_any("message_ts")
    return f"{interaction.part('user').id('id')}:{message}:{action.id('action_ts')}"


def _answer_to(spoken: JsonPart) -> dict[str, str]:
    """An address that is not Slack's own is left out: the answer then goes where reminders go."""
    given = spoken.text("response_url") or ""
    try:
        url = read_url(given)
    except ValueError:
        return {}
    return {"response_url": given} if url.is_encrypted and url.authority in HOOK_HOSTS else {}


def _event(body: JsonPart, *, at: datetime) -> Heard:
    match body.text("type"):
        case "url_verification":
            return Heard(reply=_challenge(body))
        case "event_callback":
            return Heard(_said(body.part("event"), at=at))
        case None:
            raise body.refusal("type", "must be a text")
    return Heard()


def _challenge(body: JsonPart) -> dict[str, Any]:
    challenge = body.text("challenge")
    if not challenge:
        raise body.refusal("challenge", "must be a text that is not empty")
    return {"challenge": challenge}


def _said(event: JsonPart, *, at: datetime) -> Message | None:
    """One message may come several times, with ids of its own for each event, and a mention as a
    message besides: what they have in common is the channel and the time."""
    if not _is_said_to_us(event):
        return None
    channel = event.id("channel")
    return Message(
        channel=NAME,
        sender_id=event.id("user"),
        reply_target=_place(channel, event.id_if_any("thread_ts")),
        text=_with_slash(as_typed(_without_mention(event)).lstrip()),
        is_private=channel.startswith("D"),
        key=f"{channel}:{event.id('ts')}",
        at=said_at(_seconds(event.id("ts")), now=at),
    )


def _is_said_to_us(event: JsonPart) -> bool:
    is_direct = event.text("type") == "message" and event.text("channel_type") == "im"
    is_by_person = event.has("user") and not event.has("bot_id")
    is_new = event.text("subtype") in _SUBTYPES and not event.has("edited")
    return (is_direct or event.text("type") == "app_mention") and is_by_person and is_new


def _without_mention(event: JsonPart) -> str:
    text = event.text("text") or ""
    mention = _MENTION.match(text) if event.text("type") == "app_mention" else None
    return text[mention.end() :] if mention else text


def _with_slash(text: str) -> str:
    """In Slack, a message cannot begin with a slash: people write the word alone.

    Not so for an action: "do you have time?" asks for none.
    """
    word = text.split(maxsplit=1)[0].lower() if text.strip() else ""
    is_sentence = word == "do" or REMIND_ME.match(text)
    return f"/{text}" if word in COMMANDS and not is_sentence else text


def _place(channel: str, thread: str | None) -> str:
    return f"{channel}:{thread}" if thread else channel


def _seconds(ts: str) -> float | None:
    return float(ts) if _TS.fullmatch(ts) else None
