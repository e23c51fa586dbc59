"""Any message gets a reply that can be sent."""

from __future__ import annotations

from dataclasses import replace

from duecourse.domain.tasks.status import Status
from hypothesis import example, given
from hypothesis import strategies as st

from tests.support.builders.tasks import ID, a_task, an_action
from tests.support.chat_harness import ChatHarness

OTHER_ID = ID.replace("0a1b2c3d", "ffffffff")
VOCABULARY = [
    *("/remind", "/do", "/tasks", "/task", "/cancel", "/retry", "/snooze", "/pause", "/resume"),
    *("/approve", "/resolve", "/timezone", "/help", "/start", "/done", "remind me", "/", "@"),
    *("in", "10 minutes", "at", "5", "15:00", "tomorrow", "every", "friday", "month", "on the"),
    *("1st", "31st", "2 hours", "to", "until", "rang", ID, ID[:8], OTHER_ID, "applied", "skip"),
    *("999999999999", "0", "-1", "february", "30", "last day", "berlin", "UTC+2", "\n", "\u202e"),
]
ANYTHING = st.text(st.characters(), max_size=60)
MESSAGES = st.lists(st.sampled_from(VOCABULARY) | ANYTHING, max_size=8).map(" ".join)
LOCALES = st.none() | st.sampled_from(["de", "en-US", "ja"]) | ANYTHING


@given(MESSAGES | ANYTHING, LOCALES, st.sampled_from(Status))
@example("", None, Status.PENDING)
@example("/", None, Status.PENDING)
@example("/remind in 10 minutes " + "x\u202e\ud800\n" * 2_000, None, Status.PENDING)
@example("x" * 8_000, None, Status.PENDING)
@example("/timezone " + "é" * 8_000, None, Status.PENDING)
@example(f"/snooze {ID} " + "9" * 4_000, None, Status.PENDING)
def test_every_message_gets_a_reply(text: str, locale: str | None, status: Status) -> None:
    series, action = a_task(repeat="daily"), an_action(id=OTHER_ID)
    harness = ChatHarness(replace(series, status=status), replace(action, status=status))
    reply = harness.dispatch(text, locale=locale)
    assert reply.text.strip()
    reply.text.encode()
    for task in harness.tasks:
        task.description.encode()
