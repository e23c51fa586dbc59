"""Dead letters, from the queue to the store, through the whole stack and its routes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from duecourse.adapters.aws.sqs import to_body
from duecourse.app import stores
from duecourse.domain.dispatch.dead_letter import BODY_LIMIT, DeadLetter, Queue
from duecourse.domain.failures.failure import Failure
from duecourse.domain.time.instant import from_text

from local.runtime import aws_clients
from tests.support.builders.failures import a_failure_report
from tests.support.builders.moments import MILLISECOND, MINUTE, NOW
from tests.support.builders.tasks import ID, a_task, claim_task
from tests.support.stack_client import StackClient, moto_stack

EMOJI = "😀"
DUE = "2026-02-17T12:00:00.000Z"
NO_IDS = ["", "\0", "x" * 1_100, "x" * 101]


@pytest.fixture(autouse=True)
def _empty_tables() -> None:
    """Replace the fixture of conftest: each test has its own stack."""


@pytest.fixture
def client() -> Iterator[StackClient]:
    with moto_stack() as running:
        yield running


def a_letter(n: int = 1, **fields: Any) -> DeadLetter:
    defaults = {"id": f"letter-{n:03}", "queue": Queue.WORK, "body": "?", "sent_at": NOW}
    return DeadLetter(**{**defaults, **fields})


def save_letters(*letters: DeadLetter) -> None:
    for letter in letters:
        stores.dead_letters().save(letter)


def send_to_dead_letter_queue(client: StackClient, body: str, *, queue: str = "Work") -> None:
    sqs = aws_clients.client("sqs")
    url = sqs.get_queue_url(QueueName=f"{queue}DeadLetterQueue")["QueueUrl"]
    client.stack.scheduler.call(lambda: sqs.send_message(QueueUrl=url, MessageBody=body))
    client.advance("1s")


def count_messages(queue: str) -> int:
    sqs = aws_clients.client("sqs")
    url = sqs.get_queue_url(QueueName=queue)["QueueUrl"]
    names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
    attributes = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=names)["Attributes"]
    return sum(int(number) for number in attributes.values())


def list_all_pages(client: StackClient, limit: int) -> list[str]:
    target, ids = f"/dead-letters?limit={limit}", []
    page = client.call("GET", target).body
    ids += [item["id"] for item in page["items"]]
    while page["next_cursor"] is not None:
        page = client.call("GET", f"{target}&cursor={page['next_cursor']}").body
        assert 0 < len(page["items"]) <= limit
        ids += [item["id"] for item in page["items"]]
        assert len(ids) < 1_000, "paging never ends"
    return ids


# Stored


@pytest.mark.usefixtures("client")
def test_letters_are_listed_oldest_first_and_stored_once() -> None:
    newest, oldest, middle = (a_letter(n, sent_at=NOW + n * MINUTE) for n in (9, 1, 5))
    save_letters(newest, oldest, middle, oldest)
    assert list(stores.dead_letters().list_letters()) == [oldest, middle, newest]
    stores.dead_letters().drop(middle)
    assert list(stores.dead_letters().list_letters()) == [oldest, newest]


@pytest.mark.parametrize(
    "body",
    [
        EMOJI * 60_000,
        *("x" * 250_000, '"' * 120_000, "[" * 7_000),
        *(json.dumps({"task_id": no_id, "due_at": DUE}) for no_id in NO_IDS),
    ],
    ids=["emoji", "long", "quotes", "deep", "no id", "a null", "a key too long", "a long id"],
)
@pytest.mark.parametrize("queue", ["Work", "Failures", "Notices", "Journal"])
def test_any_unreadable_message_is_stored(client: StackClient, queue: str, body: str) -> None:
    send_to_dead_letter_queue(client, body, queue=queue)
    [letter] = client.items("/dead-letters")
    assert (letter["queue"], letter["reason"]) == (queue.lower(), "the message cannot be parsed")
    assert count_messages(f"{queue}DeadLetterQueue") == 0


@pytest.mark.parametrize("name", ["task_id", "run_id"])
@pytest.mark.parametrize("no_id", ["", "x" * 1_100])
def test_a_report_without_ids_is_stored(client: StackClient, name: str, no_id: str) -> None:
    report = {**a_failure_report(claim_task(a_task())).to_json(), name: no_id}
    send_to_dead_letter_queue(client, to_body(report), queue="Failures")
    assert [letter["reason"] for letter in client.items("/dead-letters")] == [
        "the message cannot be parsed"
    ]


@pytest.mark.parametrize("ascii_only", [False, True], ids=["as UTF-8", "with escapes"])
def test_a_long_dead_report_is_recorded(client: StackClient, ascii_only: bool) -> None:
    """Escaped, it has more characters than an earlier limit on the body."""
    running = claim_task(a_task())
    stores.task_store().create(running)
    failure = Failure.create(EMOJI * 16_000, traceback=EMOJI * 4_000)
    report = a_failure_report(running, failure).to_json()
    send_to_dead_letter_queue(
        client, json.dumps(report) if ascii_only else to_body(report), queue="Failures"
    )
    assert client.items("/dead-letters") == []
    assert client.task(ID)["retry_count"] == 1
    assert str(client.task(ID)["last_error"]).startswith(EMOJI)


def test_a_truncated_letter_cannot_be_redriven(client: StackClient) -> None:
    send_to_dead_letter_queue(client, "x" * (BODY_LIMIT - 1))
    [letter] = client.items("/dead-letters")
    assert (letter["was_cut"], letter["can_be_redriven"]) == (True, False)
    reply = client.call("POST", "/dead-letters/redrive", {"ids": [letter["id"]]}).body
    reason = "its body was truncated when it was stored"
    assert reply == {"redriven": [], "left": [{"id": letter["id"], "reason": reason}]}
    assert client.items("/dead-letters") == [letter]


# Redriven and dropped


def test_a_long_letter_is_redriven_unchanged(client: StackClient) -> None:
    body = EMOJI * 15_000
    send_to_dead_letter_queue(client, body)
    [letter] = client.items("/dead-letters")
    assert len(letter["body"]) == 2_000
    assert client.call("POST", "/dead-letters/redrive").body["redriven"] == [letter["id"]]
    client.advance("1h")
    [redriven] = stores.dead_letters().list_letters()
    assert redriven.id != letter["id"]
    assert redriven.body == body


def test_a_dispatch_of_an_unknown_task_is_redriven_once_the_task_exists(
    client: StackClient,
) -> None:
    send_to_dead_letter_queue(client, json.dumps({"task_id": ID, "due_at": DUE}))
    [letter] = client.items("/dead-letters")
    remaining = [{"id": letter["id"], "reason": f"there is no task {ID}"}]
    for body in (None, {"ids": [letter["id"]]}):
        reply = client.call("POST", "/dead-letters/redrive", body).body
        assert reply == {"redriven": [], "left": remaining}
    stores.task_store().create(a_task())
    reply = client.call("POST", "/dead-letters/redrive").body
    assert reply == {"redriven": [letter["id"]], "left": []}
    client.advance("1m")
    assert (client.task(ID)["status"], client.items("/dead-letters")) == ("delivered", [])


def test_letters_are_dropped_by_id(client: StackClient) -> None:
    save_letters(*(a_letter(n, queue=Queue.JOURNAL) for n in range(3)))
    request = {"ids": ["letter-000", "letter-002", "x"]}
    assert client.call("POST", "/dead-letters/drop", request).body == {
        "dropped": ["letter-000", "letter-002"],
        "left": [{"id": "x", "reason": "no dead letter has this id"}],
    }
    assert [letter["id"] for letter in client.items("/dead-letters")] == ["letter-001"]


@pytest.mark.parametrize("route", ["redrive", "drop"])
@pytest.mark.parametrize("body", [{"ids": "x"}, {"ids": [5]}, {"ids": ["x"] * 101}, {"id": ["x"]}])
def test_a_body_with_invalid_ids_is_refused(client: StackClient, route: str, body: Any) -> None:
    save_letters(a_letter())
    assert client.call("POST", f"/dead-letters/{route}", body).status == 422
    assert len(client.items("/dead-letters")) == 1


@pytest.mark.parametrize("body", [None, {}, {"ids": None}])
def test_dropping_without_ids_is_refused(client: StackClient, body: Any) -> None:
    save_letters(a_letter())
    assert client.call("POST", "/dead-letters/drop", body).status == 422
    assert len(client.items("/dead-letters")) == 1


# Listed


def save_spread_letters() -> list[str]:
    """Save letters, some of them sent in the same millisecond; return their ids as listed."""
    letters = [a_letter(n, queue=Queue.JOURNAL) for n in range(4)]
    letters += [a_letter(n, sent_at=NOW + n // 3 * MILLISECOND) for n in range(4, 12)]
    save_letters(*reversed(letters))
    return [letter.id for letter in letters]


@pytest.mark.parametrize("limit", [1, 3, 11, 12, 13])
def test_paging_lists_every_letter_once(client: StackClient, limit: int) -> None:
    assert list_all_pages(client, limit) == []
    assert save_spread_letters() == list_all_pages(client, limit)


def test_changes_during_paging_neither_skip_nor_repeat_letters(client: StackClient) -> None:
    expected = save_spread_letters()
    page = client.call("GET", "/dead-letters?limit=3").body
    ids = [item["id"] for item in page["items"]]
    save_letters(a_letter(999, sent_at=NOW - MINUTE))
    assert client.call("POST", "/dead-letters/drop", {"ids": ids[1:]}).status == 200
    while page["next_cursor"]:
        page = client.call("GET", f"/dead-letters?limit=3&cursor={page['next_cursor']}").body
        ids += [item["id"] for item in page["items"]]
    assert ids == expected


def test_a_page_has_fifty_letters_by_default_and_at_most_a_hundred(
    client: StackClient,
) -> None:
    save_letters(*(a_letter(n) for n in range(101)))
    assert len(client.items("/dead-letters")) == 50
    assert len(client.items("/dead-letters?limit=100")) == 100
    assert client.call("GET", "/dead-letters?limit=101").status == 422


def test_a_page_of_the_longest_letters_fits_a_lambda_response(client: StackClient) -> None:
    save_letters(*(a_letter(n, body=EMOJI * 15_000) for n in range(100)))
    reply = client.call("GET", "/dead-letters?limit=100").body
    assert {(len(item["body"]), item["body_cut"]) for item in reply["items"]} == {(2_000, True)}
    assert len(json.dumps(reply)) < 3_000_000


CURSORS = ["x", "é", "eA==", "MjAyNi0wMi0xNw==", "MjAyNi0wMi0xN1QxMjowMDowMC4wMDBa", "I3g="]


@pytest.mark.parametrize(
    "query", ["limit=0", "colour=red", *(f"cursor={cursor}" for cursor in CURSORS)]
)
def test_a_listing_refuses_invalid_query_parameters(client: StackClient, query: str) -> None:
    assert client.call("GET", f"/dead-letters?{query}").status == 422


def test_a_listed_letter_has_its_sent_at(client: StackClient) -> None:
    send_to_dead_letter_queue(client, "?")
    [letter] = client.items("/dead-letters")
    assert from_text(letter["sent_at"]) == NOW
