"""What the memory of alerts promises: one of many may tell, and knows its own write."""

from __future__ import annotations

import boto3
import pytest
from duecourse.adapters.aws.dynamodb.alert_cooldowns import DynamoAlertMemory
from duecourse.domain.alerts.cooldown import Telling, begun
from duecourse.domain.alerts.rules import Alert, Rule
from pynamodb.exceptions import PutError

from local.runtime.call_interceptor import Calls, calls_of
from local.testing.faults import Fault, Faults
from tests.support.builders.moments import DAY, HOUR, MINUTE, NOW

TOPIC = "budget:daily"
ALERT = Alert(rule=Rule.BUDGET, subject="daily", level=80, text="!", quiet_until=NOW + 12 * HOUR)
TELLING = begun(ALERT, None, now=NOW)
DONE = TELLING.ended(ALERT)


@pytest.fixture
def memory() -> DynamoAlertMemory:
    return DynamoAlertMemory()


def test_what_was_never_told_is_not_remembered(memory: DynamoAlertMemory) -> None:
    assert memory.recall(TOPIC) is None


@pytest.mark.parametrize("topic", [TOPIC, "breaker:ü / #\n", "breaker:\ud800"])
def test_what_is_noted_is_remembered_as_it_is(memory: DynamoAlertMemory, topic: str) -> None:
    assert memory.note(topic, None, TELLING)
    assert memory.recall(topic) == TELLING
    assert memory.note(topic, TELLING, DONE)
    assert memory.recall(topic) == DONE
    assert memory.recall("lateness") is None


def test_of_two_who_begin_at_once_one_may(memory: DynamoAlertMemory) -> None:
    assert [memory.note(TOPIC, None, TELLING) for _ in range(2)] == [True, False]


def test_of_two_who_begin_anew_one_may(memory: DynamoAlertMemory) -> None:
    memory.note(TOPIC, None, TELLING)
    again: Telling = begun(ALERT, TELLING, now=NOW + 5 * MINUTE)
    assert [memory.note(TOPIC, TELLING, again) for _ in range(2)] == [True, False]


def test_whoever_comes_too_late_does_not_undo_what_another_noted(
    memory: DynamoAlertMemory,
) -> None:
    memory.note(TOPIC, None, TELLING)
    again = begun(ALERT, TELLING, now=NOW + 5 * MINUTE)
    memory.note(TOPIC, TELLING, again)
    assert not memory.note(TOPIC, TELLING, DONE)
    assert memory.recall(TOPIC) == again


@pytest.mark.usefixtures("calls")
def test_a_write_whose_answer_was_lost_is_ones_own(
    memory: DynamoAlertMemory, faults: Faults
) -> None:
    faults.add(Fault("dynamodb.PutItem", function="me", when="after", kind="timeout"))
    with calls_of("me"):
        assert memory.note(TOPIC, None, TELLING)


def test_a_twin_that_was_first_is_not_taken_for_ones_own(
    memory: DynamoAlertMemory, calls: Calls, faults: Faults
) -> None:
    """Ours never arrives; sent again, it finds the same thing written by another."""
    faults.add(Fault("dynamodb.PutItem", function="me", kind="timeout"))
    assert calls
    other = DynamoAlertMemory()
    assert other.note(TOPIC, None, TELLING)
    with calls_of("me"):
        assert not memory.note(TOPIC, None, TELLING)


@pytest.mark.usefixtures("calls")
def test_a_memory_that_cannot_be_written_raises_what_went_wrong(
    memory: DynamoAlertMemory, faults: Faults
) -> None:
    denied = {"code": "AccessDeniedException", "status": 400}
    faults.add(Fault("dynamodb.PutItem", function="me", kind="error", error=denied))
    with calls_of("me"), pytest.raises(PutError):
        memory.note(TOPIC, None, TELLING)


def test_what_silences_nothing_any_more_ages_out(memory: DynamoAlertMemory) -> None:
    memory.note(TOPIC, None, TELLING)
    memory.note(TOPIC, TELLING, DONE)
    key = {"key": {"S": f"alert#{TOPIC}"}}
    item = boto3.client("dynamodb").get_item(TableName="StateTable", Key=key)["Item"]
    assert int(item["expires_at"]["N"]) == (NOW + 12 * HOUR + DAY).timestamp()
