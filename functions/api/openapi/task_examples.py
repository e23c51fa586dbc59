"""Example requests that create or change a task."""

from __future__ import annotations

from .operation import Examples

CREATE_EXAMPLES: Examples = {
    "a reminder": {
        "description": "stretch",
        "in": "2h30m",
        "channel": "console",
        "sender_id": "ada",
    },
    "a weekly reminder at 9:00 in Berlin": {
        "description": "water the plants",
        "due_at": "2031-07-01T09:00:00",
        "timezone": "Europe/Berlin",
        "repeat": "weekly",
        "channel": "console",
        "sender_id": "ada",
    },
    "a webhook": {
        "type": "webhook",
        "description": "start the nightly build",
        "in": 60,
        "payload": {"url": "https://ci.example.com/build", "body": {"branch": "main"}},
    },
}
UPDATE_EXAMPLES: Examples = {
    "postpone": {"in": "1h"},
    "change the text and end the recurrence": {"description": "stretch, slowly", "repeat": None},
}
