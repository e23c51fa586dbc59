"""Operations of programs that listen to live events."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping

from duecourse.domain.tasks.event import EventType

from local.simulate.actor import Actor
from local.simulate.workload.operation_kind import Arguments, Draft, OperationKind

_SUBSCRIPTIONS = (
    {"action": "subscribe"},
    {"action": "subscribe", "types": [EventType.TASK_COMPLETED, EventType.TASK_FAILED]},
    {"action": "subscribe", "types": ["task:"], "channel": "console", "sender_id": "ada"},
)
_MESSAGES = (
    *({"action": "ping"}, {"action": "subscribe", "types": ["no:such"]}, {"action": 1}),
    *_SUBSCRIPTIONS,
)


def _draw_listen(draft: Draft) -> Arguments:
    """Draw a message that the listener sends, and when and how it goes away, if it does."""
    arguments: Arguments = {}
    if draft.rng.random() < 0.4:
        arguments["message"] = draft.rng.choice(_MESSAGES)
    if draft.rng.random() < 0.3:
        arguments["seconds"] = draft.rng.randint(2, 60)
        arguments["is_clean"] = draft.rng.random() < 0.5
    return arguments


def _run_listen(actor: Actor, arguments: Arguments) -> None:
    listener = actor.make_listener()
    if not listener.connect():
        return
    actor.note_success("connect")
    if "message" in arguments:
        listener.is_filtered = set(arguments["message"]) != {"action"}
        listener.say(json.dumps(arguments["message"]))
    if "seconds" in arguments:
        time.sleep(arguments["seconds"])
        listener.disconnect(is_clean=arguments["is_clean"])


LIVE_OPERATIONS: Mapping[str, OperationKind] = {
    "listen": OperationKind(3, _draw_listen, _run_listen),
}
