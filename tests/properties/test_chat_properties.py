"""Whatever somebody types, there is an answer that can be sent."""

from __future__ import annotations

from dataclasses import replace

from duecourse.domain.tasks.status import Status
from hypothesis import example, given
from hypothesis import strategies as st

from tests.support.builders.tasks import ID, a_task, an_action
from tests.support.chat_harness import ChatHarness

OTHER = ID.replace("0a1b2c3d", "ffffffff")
WORDS = [
    *("/remind", "/do", "/tasks", "/task", "/cancel", "/retry", "/snooze", "/pause", "/resume"),
    *("/approve", "/resolve", "/timezone", "/help", "/start", "/done", "remind me", "/", "@"),
    *("in", "10 minutes", "at", "5", "15:00", "tomorrow", "every", "friday", "month", "on the"),
    *("1st", "31st", "2 hours", "to", "until", "rang", ID, ID[:8], OTHER, "applied", "skip"),
    *("999999999999", "0", "-1", "february", "30", "last day", "berlin", "UTC+2", "\n", "\u202e"),
]
ANYTHING = st.text(st.characters(), max_size=60)
TYPED = st.lists(st.sampled_from(WORDS) | ANYTHING, max_size=8).map(" ".join)
LOCALES = st.none() | st.sampled_from(["de", "en-US", "ja"]) | ANYTHING


@given(TYPED | ANYTHING, LOCALES, st.sampled_from(Status))
@example("", None, Status.PENDING)
@example("/", None, Status.PENDING)
@example("/remind in 10 minutes " + "x\u202e\ud800\n" * 2_000, None, Status.PENDING)
@example("x" * 8_000, None, Status.PENDING)
@example("/timezone " + "é" * 8_000, None, Status.PENDING)
@example(f"/snooze {ID} " + "9" * 4_000, None, Status.PENDING)
def test_there_is_always_an_answer(text: str, locale: str | None, status: Status) -> None:
    one, other = a_task(repeat="daily"), an_action(id=OTHER)
    harness = ChatHarness(replace(one, status=status), replace(other, status=status))
    said = harness.dispatch(text, locale=locale)
    assert said.text.strip()
    said.text.encode()
    for task in harness.tasks:
        task.description.encode()
