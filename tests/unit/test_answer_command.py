"""What is answered to the rest of what people say."""

from __future__ import annotations

import pytest
from duecourse.domain.chat.command import HELP
from duecourse.domain.status import Status

from tests.unit.builders import HOUR, ID, NOW, a_task
from tests.unit.chat_bench import ChatBench

SHORT = ID[:8]
ABOUT_ONE = [
    *("/task {}", "/cancel {}", "/retry {}", "/snooze {} 20m", "/pause {}", "/resume {}"),
    *("/approve {}", "/reject {} no", "/resolve {} skip", "/done {}"),
]


def test_a_first_word_is_welcome() -> None:
    reply = ChatBench().say("/start")
    assert reply.startswith("Hello.")
    assert HELP in reply


def test_a_zone_is_remembered_and_told() -> None:
    bench = ChatBench()
    assert bench.say("/timezone").startswith("I do not know your time zone, so times are in UTC.")
    assert bench.say("/timezone", locale="ja").startswith("I guessed Asia/Tokyo from your language")
    assert bench.say("/timezone BERLIN") == (
        "Your time zone is Europe/Berlin from now on. "
        "It is Tuesday 17 Feb 2026, 13:00 (Europe/Berlin)."
    )
    assert bench.say("/timezone", locale="ja") == (
        "Your time zone is Europe/Berlin.\nIt is Tuesday 17 Feb 2026, 13:00 (Europe/Berlin)."
    )
    assert "UTC" in bench.say("/timezone", sender_id="bob")


def test_a_zone_that_is_not_understood_leaves_the_one_before() -> None:
    bench = ChatBench().lives_in("Asia/Tokyo")
    assert "CET is a time, and no place" in bench.say("/timezone CET")
    assert "Asia/Tokyo" in bench.say("/timezone")


@pytest.mark.parametrize("command", ABOUT_ONE)
@pytest.mark.parametrize("stranger", [{"sender_id": "bob"}, {"channel": "slack"}])
def test_anothers_id_is_answered_as_an_unknown_one(command: str, stranger: dict[str, str]) -> None:
    task = a_task(due_at=NOW + HOUR)
    bench = ChatBench(task)
    unknown = bench.say(command.format("00000000"), **stranger)
    assert unknown == "There is no task 00000000. /tasks lists yours."
    assert bench.say(command.format(SHORT), **stranger).replace(SHORT, "00000000") == unknown
    assert bench.say(command.format(ID), **stranger).replace(ID, "00000000") == unknown
    assert bench.task == task


def test_what_a_task_refuses_is_said_in_a_sentence() -> None:
    bench = ChatBench(a_task(status=Status.DELIVERED))
    assert bench.say(f"/pause {SHORT}") == f"Task {SHORT} is delivered: it cannot be paused."


def test_a_long_description_is_cut_where_it_is_quoted() -> None:
    bench = ChatBench(a_task(due_at=NOW + HOUR, description="a\nb " + "x" * 3_000))
    assert bench.say(f"/cancel {SHORT}") == f"Cancelled {SHORT}: a b {'x' * 196} …"


def test_an_id_of_nonsense_is_quoted_shortly() -> None:
    reply = ChatBench().say("/cancel " + "\x1b[31m" + "é" * 5_000)
    assert reply == f"There is no task [31m{'é' * 36}. /tasks lists yours."
