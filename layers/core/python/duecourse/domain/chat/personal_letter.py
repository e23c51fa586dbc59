"""Whom a dead letter is about: the senders and the tasks that it names."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from duecourse.domain.chat.message import text_or_none
from duecourse.domain.dispatch.dead_letter import DeadLetter, Queue
from duecourse.domain.tasks.ids import id_for_key
from duecourse.domain.tasks.owner import Owner

# A field in JSON that is cut or malformed. A quote within a text has a backslash before it.
_TEXT_FIELD = re.compile(r'(?<!\\)"(\w{1,20})" {0,2}: {0,2}("(?:[^"\\]|\\.){0,1000}")')


@dataclass(frozen=True, slots=True)
class LetterSubjects:
    owners: frozenset[Owner] = frozenset()
    task_ids: frozenset[str] = frozenset()


def find_subjects(letter: DeadLetter) -> LetterSubjects:
    """Return whom the letter is about. Never raises: a stored body may be cut, or anything else.

    A chat message names the task that it may have created or would create.
    """
    if letter.queue not in (Queue.CHAT, Queue.NOTIFICATIONS):
        return _subjects((), letter.task_id)
    fields = _parse_fields(letter.body)
    if letter.queue is Queue.CHAT:
        channel, key = text_or_none(fields.get("channel")), text_or_none(fields.get("key"))
        task_id = id_for_key(channel, key) if channel and key else None
        return _subjects((_sender(fields),), task_id)
    # A notification without a sender is for whoever reads its target.
    recipient = {"sender_id": fields.get("target"), **fields}
    return _subjects(
        (_sender(recipient), _sender(fields.get("reply_to"))), text_or_none(fields.get("task_id"))
    )


def _subjects(owners: tuple[Owner | None, ...], task_id: str | None) -> LetterSubjects:
    return LetterSubjects(frozenset(filter(None, owners)), frozenset(filter(None, (task_id,))))


def _sender(fields: Any) -> Owner | None:
    if not isinstance(fields, Mapping):
        return None
    channel, sender_id = (text_or_none(fields.get(name)) for name in ("channel", "sender_id"))
    return Owner(channel, sender_id) if channel and sender_id else None


def _parse_fields(body: str) -> Mapping[str, Any]:
    try:
        parsed = json.loads(body)
    except (RecursionError, ValueError):
        return _find_text_fields(body)
    return parsed if isinstance(parsed, Mapping) else {}


def _find_text_fields(body: str) -> Mapping[str, Any]:
    """Return the text fields before the cut. Of equal names, the first counts: the outermost."""
    fields: dict[str, Any] = {}
    for match in _TEXT_FIELD.finditer(body):
        try:
            fields.setdefault(match[1], json.loads(match[2]))
        except ValueError:
            continue
    return fields
