"""The alert cooldown store: one of many writers may send an alert, and recognizes its own write."""

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
SENDING = begin_send(ALERT, None, now=NOW)
SENT = SENDING.mark_sent(ALERT)


@pytest.fixture
def dynamo() -> DynamoAlertCooldownStore:
    return DynamoAlertCooldownStore()


@pytest.fixture(params=["dynamodb", "memory"])
def cooldowns(
    request: pytest.FixtureRequest, dynamo: DynamoAlertCooldownStore
) -> AlertCooldownStore:
    return dynamo if request.param == "dynamodb" else MemoryAlertCooldowns()


def test_an_alert_never_sent_has_no_cooldown(cooldowns: AlertCooldownStore) -> None:
    assert cooldowns.get(TOPIC) is None


@pytest.mark.parametrize("topic", [TOPIC, "breaker:ü / #\n", "breaker:\ud800"])
def test_a_cooldown_is_read_as_it_was_written(cooldowns: AlertCooldownStore, topic: str) -> None:
    assert cooldowns.compare_and_set(topic, None, SENDING)
    assert cooldowns.get(topic) == SENDING
    assert cooldowns.compare_and_set(topic, SENDING, SENT)
    assert cooldowns.get(topic) == SENT
    assert cooldowns.get("lateness") is None


def test_one_of_two_concurrent_first_writes_wins(cooldowns: AlertCooldownStore) -> None:
    assert [cooldowns.compare_and_set(TOPIC, None, SENDING) for _ in range(2)] == [True, False]


def test_one_of_two_concurrent_restarts_wins(cooldowns: AlertCooldownStore) -> None:
    cooldowns.compare_and_set(TOPIC, None, SENDING)
    restarted: AlertCooldown = begin_send(ALERT, SENDING, now=NOW + 5 * MINUTE)
    assert [cooldowns.compare_and_set(TOPIC, SENDING, restarted) for _ in range(2)] == [True, False]


def test_a_stale_write_does_not_overwrite_a_newer_one(
    cooldowns: AlertCooldownStore,
) -> None:
    cooldowns.compare_and_set(TOPIC, None, SENDING)
    restarted = begin_send(ALERT, SENDING, now=NOW + 5 * MINUTE)
    cooldowns.compare_and_set(TOPIC, SENDING, restarted)
    assert not cooldowns.compare_and_set(TOPIC, SENDING, SENT)
    assert cooldowns.get(TOPIC) == restarted


@pytest.mark.usefixtures("calls")
def test_a_write_whose_response_was_lost_is_recognized(
    dynamo: DynamoAlertCooldownStore, faults: Faults
) -> None:
    faults.add(Fault("dynamodb.PutItem", function="me", when="after", kind="timeout"))
    with attribute_calls_to("me"):
        assert dynamo.compare_and_set(TOPIC, None, SENDING)


def test_an_equal_write_by_another_is_not_recognized_as_own(
    dynamo: DynamoAlertCooldownStore, calls: CallInterceptor, faults: Faults
) -> None:
    """Our write never arrives; the resent one finds the same value written by another."""
    faults.add(Fault("dynamodb.PutItem", function="me", kind="timeout"))
    assert calls
    concurrent_store = DynamoAlertCooldownStore()
    assert concurrent_store.compare_and_set(TOPIC, None, SENDING)
    with attribute_calls_to("me"):
        assert not dynamo.compare_and_set(TOPIC, None, SENDING)


@pytest.mark.usefixtures("calls")
def test_a_failed_write_raises_its_error(dynamo: DynamoAlertCooldownStore, faults: Faults) -> None:
    denied = {"code": "AccessDeniedException", "status": 400}
    faults.add(Fault("dynamodb.PutItem", function="me", kind="error", error=denied))
    with attribute_calls_to("me"), pytest.raises(PutError):
        dynamo.compare_and_set(TOPIC, None, SENDING)


def test_a_cooldown_expires_a_day_after_its_end(dynamo: DynamoAlertCooldownStore) -> None:
    dynamo.compare_and_set(TOPIC, None, SENDING)
    dynamo.compare_and_set(TOPIC, SENDING, SENT)
    key = {"key": {"S": f"alert#{TOPIC}"}}
    item = boto3.client("dynamodb").get_item(TableName="StateTable", Key=key)["Item"]
    assert int(item["expires_at"]["N"]) == (NOW + 12 * HOUR + DAY).timestamp()
