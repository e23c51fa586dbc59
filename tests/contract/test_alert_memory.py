"""What the memory of alerts promises: one of many may tell, and knows its own write."""

from __future__ import annotations

import boto3
import pytest
from duecourse.adapters.aws.dynamodb.alert_cooldowns import DynamoAlertCooldownStore
from duecourse.domain.alerts.cooldown import AlertCooldown, begin_send
from duecourse.domain.alerts.rules import Alert, AlertRule
from duecourse.ports.dispatch import AlertCooldownStore
from pynamodb.exceptions import PutError

from local.runtime.call_interceptor import CallInterceptor, attribute_calls_to
from local.testing.faults import Fault, Faults
from tests.support.builders.moments import DAY, HOUR, MINUTE, NOW
from tests.support.fakes.dispatch import MemoryAlertCooldowns

TOPIC = "budget:daily"
ALERT = Alert(
    rule=AlertRule.BUDGET, subject="daily", level=80, text="!", cooldown_until=NOW + 12 * HOUR
)
TELLING = begin_send(ALERT, None, now=NOW)
DONE = TELLING.mark_sent(ALERT)


@pytest.fixture
def dynamo() -> DynamoAlertCooldownStore:
    return DynamoAlertCooldownStore()


@pytest.fixture(params=["dynamodb", "memory"])
def memory(request: pytest.FixtureRequest, dynamo: DynamoAlertCooldownStore) -> AlertCooldownStore:
    return dynamo if request.param == "dynamodb" else MemoryAlertCooldowns()


def test_what_was_never_told_is_not_remembered(memory: AlertCooldownStore) -> None:
    assert memory.get(TOPIC) is None


@pytest.mark.parametrize("topic", [TOPIC, "breaker:ü / #\n", "breaker:\ud800"])
def test_what_is_noted_is_remembered_as_it_is(memory: AlertCooldownStore, topic: str) -> None:
    assert memory.compare_and_set(topic, None, TELLING)
    assert memory.get(topic) == TELLING
    assert memory.compare_and_set(topic, TELLING, DONE)
    assert memory.get(topic) == DONE
    assert memory.get("lateness") is None


def test_of_two_who_begin_at_once_one_may(memory: AlertCooldownStore) -> None:
    assert [memory.compare_and_set(TOPIC, None, TELLING) for _ in range(2)] == [True, False]


def test_of_two_who_begin_anew_one_may(memory: AlertCooldownStore) -> None:
    memory.compare_and_set(TOPIC, None, TELLING)
    again: AlertCooldown = begin_send(ALERT, TELLING, now=NOW + 5 * MINUTE)
    assert [memory.compare_and_set(TOPIC, TELLING, again) for _ in range(2)] == [True, False]


def test_whoever_comes_too_late_does_not_undo_what_another_noted(
    memory: AlertCooldownStore,
) -> None:
    memory.compare_and_set(TOPIC, None, TELLING)
    again = begin_send(ALERT, TELLING, now=NOW + 5 * MINUTE)
    memory.compare_and_set(TOPIC, TELLING, again)
    assert not memory.compare_and_set(TOPIC, TELLING, DONE)
    assert memory.get(TOPIC) == again


@pytest.mark.usefixtures("calls")
def test_a_write_whose_answer_was_lost_is_ones_own(
    dynamo: DynamoAlertCooldownStore, faults: Faults
) -> None:
    faults.add(Fault("dynamodb.PutItem", function="me", when="after", kind="timeout"))
    with attribute_calls_to("me"):
        assert dynamo.compare_and_set(TOPIC, None, TELLING)


def test_a_twin_that_was_first_is_not_taken_for_ones_own(
    dynamo: DynamoAlertCooldownStore, calls: CallInterceptor, faults: Faults
) -> None:
    """Ours never arrives; sent again, it finds the same thing written by another."""
    faults.add(Fault("dynamodb.PutItem", function="me", kind="timeout"))
    assert calls
    other = DynamoAlertCooldownStore()
    assert other.compare_and_set(TOPIC, None, TELLING)
    with attribute_calls_to("me"):
        assert not dynamo.compare_and_set(TOPIC, None, TELLING)


@pytest.mark.usefixtures("calls")
def test_a_memory_that_cannot_be_written_raises_what_went_wrong(
    dynamo: DynamoAlertCooldownStore, faults: Faults
) -> None:
    denied = {"code": "AccessDeniedException", "status": 400}
    faults.add(Fault("dynamodb.PutItem", function="me", kind="error", error=denied))
    with attribute_calls_to("me"), pytest.raises(PutError):
        dynamo.compare_and_set(TOPIC, None, TELLING)


def test_what_silences_nothing_any_more_ages_out(dynamo: DynamoAlertCooldownStore) -> None:
    dynamo.compare_and_set(TOPIC, None, TELLING)
    dynamo.compare_and_set(TOPIC, TELLING, DONE)
    key = {"key": {"S": f"alert#{TOPIC}"}}
    item = boto3.client("dynamodb").get_item(TableName="StateTable", Key=key)["Item"]
    assert int(item["expires_at"]["N"]) == (NOW + 12 * HOUR + DAY).timestamp()
