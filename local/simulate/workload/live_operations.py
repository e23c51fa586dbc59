"""Operations of programs that listen to live events."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping

from local.simulate.actor import Actor
from local.simulate.workload.operation_kind import Arguments, Draft, OperationKind

_SUBSCRIPTIONS = (
    {"action": "subscribe"},
    {"action": "subscribe", "types": ["task:completed", "task:failed"]},
    {"action": "subscribe", "types": ["task:"], "channel": "console", "sender_id": "ada"},
)
_MESSAGES = (
    *({"action": "ping"}, {"action": "subscribe", "types": ["no:such"]}, {"action": 1}),
    *_SUBSCRIPTIONS,
)


def _draw_listen(draft: Draft) -> Arguments:
    """Draw a message that the listener sends, and when and how it goes away, if it does."""
    given: Arguments = {}
    if draft.rng.random() < 0.4:
        given["message"] = draft.rng.choice(_MESSAGES)
    if draft.rng.random() < 0.3:
        given["seconds"] = draft.rng.randint(2, 60)
        given["is_clean"] = draft.rng.random() < 0.5
    return given


def _run_listen(actor: Actor, given: Arguments) -> None:
    listener = actor.make_listener()
    if not listener.connect():
        return
    actor.note_success("connect")
    if "message" in given:
        listener.is_filtered = set(given["message"]) != {"action"}
        listener.say(json.dumps(given["message"]))
    if "seconds" in given:
        time.sleep(given["seconds"])
        listener.disconnect(is_clean=given["is_clean"])


LIVE_OPERATIONS: Mapping[str, OperationKind] = {
    "listen": OperationKind(3, _draw_listen, _run_listen),
}
