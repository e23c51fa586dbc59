"""The queues: dispatches in batches of ten with their delays, failure reports, notifications."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from botocore.stub import ANY, Stubber
from duecourse.adapters.aws import sqs as adapter
from duecourse.adapters.aws.journal_dead_letters import SqsJournalDeadLetters
from duecourse.adapters.aws.sqs import (
    LaneWorkQueue,
    MessagesNotSentError,
    SqsFailureQueue,
    SqsNotificationQueue,
    SqsWorkQueue,
    dispatch_from_body,
    notification_from_body,
    report_from_body,
    to_body,
)
from duecourse.domain.chat.chat_message import ChatMessage
from duecourse.domain.chat.notification import Notification
from duecourse.domain.dispatch.lanes import Lane
from duecourse.domain.dispatch.timing import LATE_TOLERANCE, Dispatch
from duecourse.domain.dispatch.unjournaled import UnjournaledRecords, parse_unjournaled
from duecourse.domain.failures.failure import Failure
from duecourse.domain.failures.failure_report import FailureReport

from local.runtime.call_interceptor import Call, CallInterceptor, attribute_calls_to
from local.runtime.template import Resolver
from tests.support.builders.moments import HOUR, MILLISECOND, MINUTE, NOW
from tests.support.fakes.queues import ListQueue

if TYPE_CHECKING:
    from types_boto3_sqs.client import SQSClient

INVALID_IDS = ['""', '"' + "x" * 101 + '"', r'"a\nb"', r'"\u0000"', r'"\ud800"', "5", "null", "[]"]
# From the reference of SendMessage; SQS refuses all other characters.
ALLOWED_BY_SQS = re.compile("[\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]*")


@pytest.fixture(scope="module")
def client(aws: Resolver) -> SQSClient:  # noqa: ARG001 - its region
    client: SQSClient = boto3.client("sqs")
    return client


@pytest.fixture
def url(client: SQSClient) -> Iterator[str]:
    """Create a queue for this test: SQS cannot purge a queue at any time."""
    queue_url = client.create_queue(QueueName="work")["QueueUrl"]
    yield queue_url
    client.delete_queue(QueueUrl=queue_url)


@pytest.fixture
def queue(client: SQSClient, url: str) -> SqsWorkQueue:
    return SqsWorkQueue(client, url)


def dispatches(number: int, *, due_at: datetime = NOW) -> list[Dispatch]:
    return [Dispatch(due_at, f"task-{n}") for n in range(number)]


def receive_dispatches(client: SQSClient, url: str) -> list[Dispatch]:
    dispatches_received: list[Dispatch] = []
    while messages := client.receive_message(QueueUrl=url, MaxNumberOfMessages=10).get("Messages"):
        dispatches_received += [dispatch_from_body(message["Body"]) for message in messages]
    return dispatches_received


def delay_of(calls: CallInterceptor, queue: SqsWorkQueue, due_at: datetime) -> int:
    """Return the delay as sent over the wire."""
    sent_calls: list[Call] = []
    calls.on_aws_call = sent_calls.append
    queue.send([Dispatch(due_at, "task")], now=NOW)
    [call] = sent_calls
    return int(call.body["Entries"][0]["DelaySeconds"])


@pytest.mark.parametrize("number", [0, 1, 9, 10, 11, 25])
def test_dispatches_arrive_unchanged(
    queue: SqsWorkQueue, client: SQSClient, url: str, number: int
) -> None:
    expected = dispatches(number)
    assert queue.send(iter(expected), now=NOW) == number
    assert sorted(receive_dispatches(client, url)) == sorted(expected)


@pytest.mark.parametrize(("number", "requests"), [(0, 0), (1, 1), (10, 1), (11, 2), (25, 3)])
def test_ten_messages_go_in_one_request(
    queue: SqsWorkQueue, calls: CallInterceptor, number: int, requests: int
) -> None:
    with attribute_calls_to("me"):
        queue.send(dispatches(number), now=NOW)
    assert calls.counts["me", "sqs.SendMessageBatch"] == requests


@pytest.mark.parametrize(
    ("time_left", "delay"),
    [
        (-HOUR, 0),
        (timedelta(0), 0),
        (timedelta(seconds=2) - LATE_TOLERANCE - MILLISECOND, 1),
        (timedelta(seconds=2) - LATE_TOLERANCE, 2),
        (2 * MINUTE, 120),
        (15 * MINUTE, 900),
        (HOUR, 900),
    ],
)
def test_a_message_is_delayed_until_it_is_due(
    queue: SqsWorkQueue, calls: CallInterceptor, time_left: timedelta, delay: int
) -> None:
    assert delay_of(calls, queue, NOW + time_left) == delay


def test_a_delayed_message_does_not_arrive_early(
    queue: SqsWorkQueue, client: SQSClient, url: str
) -> None:
    queue.send([Dispatch(NOW + MINUTE, "later"), Dispatch(NOW, "now")], now=NOW)
    assert receive_dispatches(client, url) == [Dispatch(NOW, "now")]


@pytest.mark.parametrize("number", [1, 3])
def test_messages_that_sqs_rejects_raise(
    queue: SqsWorkQueue, client: SQSClient, number: int
) -> None:
    failed_entries = [{"Id": str(n), "SenderFault": False, "Code": "Busy"} for n in range(number)]
    with Stubber(client) as sqs:
        sqs.add_response(
            "send_message_batch",
            {"Successful": [], "Failed": failed_entries},
            {"QueueUrl": ANY, "Entries": ANY},
        )
        with pytest.raises(MessagesNotSentError, match=rf"did not take {number} message"):
            queue.send(dispatches(5), now=NOW)


@pytest.mark.parametrize(
    "body",
    [
        *("", "x", "5", "null", "[]", '"task_id"', "{}", '{"task_id": "x"}'),
        *('{"due_at": "2026-02-17T12:00:00Z"}', '{"task_id": "x", "due_at": "soon"}'),
        *(f'{{"task_id": {task_id}, "due_at": "2026-02-17T12:00:00Z"}}' for task_id in INVALID_IDS),
        *('{"task_id": "x", "due_at": 5}', '{"task_id": "x", "due_at": null}'),
        pytest.param('{"task_id": "x", "due_at": "0001-01-01T00:00+23:59"}'),
        pytest.param("[" * 7000, id="nested deep"),
    ],
)
def test_an_invalid_dispatch_body_is_refused(body: str) -> None:
    with pytest.raises(ValueError, match="not a dispatch: needs task_id and due_at"):
        dispatch_from_body(body)


@pytest.mark.parametrize("task_id", ["x", "x" * 100, "é" * 100, "an old id"])
def test_a_task_id_can_be_other_than_a_uuid(task_id: str) -> None:
    body = json.dumps({"task_id": task_id, "due_at": "2026-02-17T12:00:00Z"})
    assert dispatch_from_body(body) == Dispatch(NOW, task_id)


@pytest.mark.parametrize("lane", [*Lane, None])
def test_a_dispatch_keeps_its_lane(
    queue: SqsWorkQueue, client: SQSClient, url: str, lane: Lane | None
) -> None:
    queue.send([Dispatch(NOW, "task", lane)], now=NOW)
    [dispatch] = receive_dispatches(client, url)
    assert dispatch.lane is lane


@pytest.mark.parametrize("lane", [None, 99, -1, "2", True, [], 1.0])
def test_a_lane_that_only_other_code_knows_is_ignored(lane: Any) -> None:
    body = json.dumps({"task_id": "x", "due_at": "2026-02-17T12:00:00Z", "lane": lane})
    assert dispatch_from_body(body).lane is None


def test_each_dispatch_goes_to_the_queue_of_its_lane() -> None:
    work, slow = ListQueue(), ListQueue()
    lanes = [*Lane, None]
    queue = LaneWorkQueue(work, slow)
    sent = queue.send((Dispatch(NOW, f"{lane}", lane) for lane in lanes), now=NOW)
    assert sent == len(lanes)
    assert {one.lane for one in slow} == {
        *(Lane.SLOW, Lane.SLOW_RETRY, Lane.LONG_RETRY, Lane.VERIFICATION)
    }
    assert {one.lane for one in work} == {*lanes} - {one.lane for one in slow}


# Reports


def a_report(message: str = "boom", **fields: Any) -> FailureReport:
    failure = Failure(message=message)
    defaults = {"task_id": "x", "run_id": "run-1", "failure": failure, "failed_at": NOW}
    return FailureReport(**{**defaults, **fields})


@pytest.mark.parametrize("name", ["task_id", "run_id"])
@pytest.mark.parametrize("invalid_id", INVALID_IDS)
def test_a_report_without_ids_is_refused(name: str, invalid_id: str) -> None:
    body = json.dumps({**a_report().to_json(), name: json.loads(invalid_id)})
    with pytest.raises(ValueError, match="not a failure report"):
        report_from_body(body)


@pytest.mark.parametrize(
    "message", ["boom", "é€😀", "\0\x08\x1f\x7f\x9f", "\ufffe\uffff", "\ud800", "\\ufffe", '"\n']
)
def test_any_failure_message_is_encoded_for_sqs_and_decoded_unchanged(message: str) -> None:
    body = to_body({"message": message})
    assert ALLOWED_BY_SQS.fullmatch(body)
    assert json.loads(body) == {"message": message}


def test_a_body_is_not_larger_than_its_utf8_text() -> None:
    assert len(to_body({"message": "😀" * 1_000}).encode()) < 4_100


@pytest.mark.parametrize("message", ["é€😀", "\ufffe"])
def test_a_failure_report_arrives_unchanged(client: SQSClient, url: str, message: str) -> None:
    SqsFailureQueue(client, url).send(a_report(message))
    [message_received] = client.receive_message(QueueUrl=url)["Messages"]
    assert report_from_body(message_received["Body"]) == a_report(message)


# Notifications


def a_notification(text: str = "Done", *, key: str = "x:3") -> Notification:
    return Notification(
        channel="console",
        target="ada",
        message=ChatMessage(text),
        idempotency_key=key,
        task_id="x",
    )


def notifications(*numbers: int) -> list[Notification]:
    return [a_notification(key=f"x:{n}") for n in numbers]


def receive_keys(client: SQSClient, url: str) -> list[str]:
    """Return the keys of all notifications in the queue, sorted."""
    keys: list[str] = []
    while messages := client.receive_message(QueueUrl=url, MaxNumberOfMessages=10).get("Messages"):
        keys += [notification_from_body(one["Body"]).idempotency_key for one in messages]
    return sorted(keys, key=lambda key: int(key.partition(":")[2]))


def keys_of(*numbers: int) -> list[str]:
    return [f"x:{n}" for n in numbers]


def refuse(sqs: Stubber, *positions: int) -> None:
    """Answer the next batch as if SQS refused the entries with these ids."""
    failed = [{"Id": str(n), "SenderFault": False, "Code": "Busy"} for n in positions]
    sqs.add_response(
        "send_message_batch",
        {"Successful": [], "Failed": failed},
        {"QueueUrl": ANY, "Entries": ANY},
    )


@pytest.mark.parametrize(("number", "requests"), [(0, 0), (1, 1), (10, 1), (11, 2), (25, 3)])
def test_notifications_are_sent_in_batches_of_ten(
    client: SQSClient, url: str, calls: CallInterceptor, number: int, requests: int
) -> None:
    with attribute_calls_to("me"):
        sent_count = SqsNotificationQueue(client, url).send_all(notifications(*range(number)))
    assert sent_count == number
    assert calls.counts["me", "sqs.SendMessageBatch"] == requests
    assert receive_keys(client, url) == keys_of(*range(number))


def test_a_notification_that_was_sent_is_not_sent_again(client: SQSClient, url: str) -> None:
    queue = SqsNotificationQueue(client, url)
    assert queue.send_all(notifications(1, 2, 3)) == 3
    assert queue.send_all(notifications(2, 3, 4)) == 3
    assert receive_keys(client, url) == keys_of(1, 2, 3, 4)


def test_a_batch_that_was_sent_costs_no_request(
    client: SQSClient, url: str, calls: CallInterceptor
) -> None:
    queue = SqsNotificationQueue(client, url)
    with attribute_calls_to("me"):
        for _ in range(2):
            assert queue.send_all(notifications(*range(10))) == 10
    assert calls.counts["me", "sqs.SendMessageBatch"] == 1


def test_another_container_sends_again(client: SQSClient, url: str) -> None:
    for _ in range(2):
        SqsNotificationQueue(client, url).send_all(notifications(1))
    assert receive_keys(client, url) == keys_of(1, 1)


@pytest.mark.parametrize(("refused", "sent_count"), [([0], 0), ([2], 2), ([1, 3], 1)])
def test_what_sqs_took_after_the_first_refusal_is_not_sent_again(
    client: SQSClient, url: str, refused: list[int], sent_count: int
) -> None:
    queue = SqsNotificationQueue(client, url)
    with Stubber(client) as sqs:
        refuse(sqs, *refused)
        assert queue.send_all(notifications(*range(5))) == sent_count
    assert queue.send_all(notifications(*range(sent_count, 5))) == 5 - sent_count
    assert receive_keys(client, url) == keys_of(*refused)


def test_a_refusal_in_the_second_batch_stops_there(client: SQSClient, url: str) -> None:
    queue = SqsNotificationQueue(client, url)
    queue.send_all(notifications(*range(10)))
    with Stubber(client) as sqs:
        refuse(sqs, 3)
        assert queue.send_all(notifications(*range(25))) == 13
        sqs.assert_no_pending_responses()


def test_a_failed_request_is_sent_again_as_a_whole(client: SQSClient, url: str) -> None:
    queue = SqsNotificationQueue(client, url)
    with Stubber(client) as sqs:
        sqs.add_client_error("send_message_batch", "ServiceUnavailable", http_status_code=503)
        assert queue.send_all(notifications(1, 2)) == 0
    assert queue.send_all(notifications(1, 2)) == 2
    assert receive_keys(client, url) == keys_of(1, 2)


def test_only_the_latest_keys_are_remembered(
    client: SQSClient, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(adapter, "MAX_REMEMBERED", 3)
    queue = SqsNotificationQueue(client, url)
    queue.send_all(notifications(*range(4)))
    queue.send_all(notifications(0, 1))
    assert receive_keys(client, url) == keys_of(0, 0, 1, 2, 3)


@pytest.mark.parametrize("text", ["Done: tea", "é€😀\nnext line", "\ufffe", "x" * 6_000])
def test_a_notification_arrives_unchanged(client: SQSClient, url: str, text: str) -> None:
    SqsNotificationQueue(client, url).send(a_notification(text))
    [message_received] = client.receive_message(QueueUrl=url)["Messages"]
    assert notification_from_body(message_received["Body"]) == a_notification(text)


def test_a_notification_that_sqs_rejects_raises(client: SQSClient, url: str) -> None:
    with Stubber(client) as sqs:
        sqs.add_client_error("send_message", "ServiceUnavailable", http_status_code=503)
        with pytest.raises(client.exceptions.ClientError, match="ServiceUnavailable"):
            SqsNotificationQueue(client, url).send(a_notification())


@pytest.mark.parametrize(
    ("wait", "seconds"),
    [
        (timedelta(milliseconds=1), 1),
        (timedelta(minutes=90), 5_400),
        (timedelta(hours=11), 39_600),
        (timedelta(hours=23), 39_600),  # the maximum; it is deferred again afterwards
        (timedelta(seconds=-5), 0),
    ],
)
def test_deferring_a_notification_changes_its_visibility_timeout(
    client: SQSClient, url: str, wait: timedelta, seconds: int
) -> None:
    expected_request = {"QueueUrl": url, "ReceiptHandle": "h", "VisibilityTimeout": seconds}
    with Stubber(client) as sqs:
        sqs.add_response("change_message_visibility", {}, expected_request)
        SqsNotificationQueue(client, url).defer("h", until=NOW + wait, now=NOW)
        sqs.assert_no_pending_responses()


@pytest.mark.parametrize(
    ("wait", "seconds"),
    [
        (timedelta(seconds=-5), 0),
        (timedelta(milliseconds=1), 1),
        (timedelta(minutes=5), 300),
        (timedelta(minutes=16), 900),  # the maximum of SQS
    ],
)
def test_a_notification_can_be_sent_later(
    client: SQSClient, url: str, wait: timedelta, seconds: int
) -> None:
    notification = a_notification()
    body = to_body(notification.to_json())
    expected_request = {"QueueUrl": url, "MessageBody": body, "DelaySeconds": seconds}
    with Stubber(client) as sqs:
        sqs.add_response("send_message", {}, expected_request)
        SqsNotificationQueue(client, url).send_later(notification, at=NOW + wait, now=NOW)
        sqs.assert_no_pending_responses()


@pytest.mark.parametrize("name", ["channel", "target", "text", "key", "task_id"])
@pytest.mark.parametrize("value", ["", None, 5, ["x"]])
def test_a_notification_without_a_required_field_is_refused(name: str, value: Any) -> None:
    with pytest.raises(
        ValueError, match="not a notification: needs channel, target, text, key, task_id"
    ):
        notification_from_body(json.dumps({**a_notification().to_json(), name: value}))


@pytest.mark.parametrize("body", ["", "x", "5", "null", "[]", "{}", '"text"', "[" * 7000])
def test_an_invalid_notification_body_is_refused(body: str) -> None:
    with pytest.raises(ValueError, match=r"not a notification|Expecting value"):
        notification_from_body(body)


# Changes that the journal sets aside


def test_a_change_that_is_set_aside_arrives_with_its_record(client: SQSClient, url: str) -> None:
    record = {"dynamodb": {"Keys": {"id": {"S": "x"}}, "SequenceNumber": "7"}}
    unjournaled = UnjournaledRecords([record], "x", "ValueError")
    SqsJournalDeadLetters(client, url).send(unjournaled)
    [message] = client.receive_message(QueueUrl=url)["Messages"]
    assert parse_unjournaled(message["Body"]) == unjournaled


def test_a_change_that_cannot_be_set_aside_raises(client: SQSClient, url: str) -> None:
    with Stubber(client) as sqs:
        sqs.add_client_error("send_message", "ServiceUnavailable", http_status_code=503)
        with pytest.raises(client.exceptions.ClientError, match="ServiceUnavailable"):
            SqsJournalDeadLetters(client, url).send(UnjournaledRecords([{}], None, "ValueError"))
