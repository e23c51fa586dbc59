"""Reading a listing page by page returns everything once, whatever changes meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import date
from random import Random
from typing import Any

import pytest
from duecourse.app import stores
from duecourse.domain.journal.audit_api import ApiChange
from duecourse.domain.time.instant import from_text

from tests.support.stack_client import StackClient

NOON = from_text("2026-02-17T12:00:00Z")
SEEDS = range(3)


def read_pages(
    client: StackClient, target: str, limits: Iterator[int], after_page: Callable[[], Any]
) -> Iterator[dict[str, Any]]:
    cursor = ""
    while cursor is not None:
        page = client.call("GET", f"{target}limit={next(limits)}&cursor={cursor}")
        assert page.status == 200, page.body
        yield from page.body["items"]
        cursor = page.body["next_cursor"]
        after_page()


def random_limits(random: Random) -> Iterator[int]:
    while True:
        yield random.choice([1, 2, 3, 5, 8, 200])


@pytest.mark.parametrize("seed", SEEDS)
def test_each_existing_task_is_listed_once(client: StackClient, seed: int) -> None:
    random = Random(seed)  # noqa: S311 - repeatable randomness
    existing = [client.create(**{"in": "5h"})["id"] for _ in range(30)]  # several per millisecond

    def change_tasks() -> None:
        client.create(**{"in": random.choice(["1s", "5h"])})
        client.call(
            "POST", f"/tasks/{random.choice(existing)}/{random.choice(['cancel', 'pause'])}"
        )
        client.advance(random.choice(["0s", "0.001s", "2s"]))

    listed = [
        task["id"] for task in read_pages(client, "/tasks?", random_limits(random), change_tasks)
    ]
    assert sorted(task_id for task_id in listed if task_id in existing) == sorted(existing)
    assert len(set(listed)) == len(listed)


@pytest.mark.parametrize("seed", SEEDS[:2])
def test_a_filtered_listing_is_complete_without_repeats(client: StackClient, seed: int) -> None:
    random = Random(seed)  # noqa: S311 - repeatable randomness
    senders = [random.choice(["ada", "bob"]) for _ in range(30)]
    created = [
        (client.create(sender_id=sender, **{"in": "5h"})["id"], sender) for sender in senders
    ]
    listed = read_pages(client, "/tasks?sender_id=bob&", random_limits(random), lambda: None)
    assert sorted(task["id"] for task in listed) == sorted(
        task_id for task_id, sender in created if sender == "bob"
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_each_audit_entry_is_listed_once(client: StackClient, seed: int) -> None:
    random = Random(seed)  # noqa: S311 - repeatable randomness
    existing = [f"run-{n:02}" for n in range(40)]

    def record_entry(entry_id: str) -> None:
        change = ApiChange(
            id=entry_id,
            at=NOON,
            token_name=entry_id,
            method="POST",
            path="/tasks/x/cancel",
            status=200,
        )
        client.stack.scheduler.call(lambda: stores.journal().record_change(change))

    for entry_id in random.sample(existing, len(existing)):
        record_entry(entry_id)
    day = date(2026, 2, 17).isoformat()
    listed = read_pages(
        client,
        f"/audit?day={day}&",
        random_limits(random),
        lambda: record_entry(f"later-{random.random()}"),
    )
    assert sorted(entry["token"] for entry in listed if entry["token"] in existing) == existing


@pytest.mark.parametrize("listing", ["/tasks?", "/audit?", "/dead-letters?", "/errors?subject=x&"])
@pytest.mark.parametrize("cursor", ["x", "%00", "W10=", "eyJhIjoxfQ==", "x" * 1001, "%F0%9F%92%A9"])
def test_an_invalid_cursor_is_refused(shared: StackClient, listing: str, cursor: str) -> None:
    answer = shared.call("GET", f"{listing}cursor={cursor}")
    assert (answer.status, answer.body["errors"][0]["field"]) == (422, "cursor")


def test_a_cursor_of_another_listing_is_refused(client: StackClient) -> None:
    for _ in range(2):
        client.create(sender_id="bob", **{"in": "5h"})
    cursor = client.call("GET", "/tasks?sender_id=bob&limit=1").body["next_cursor"]
    for listing in ("/errors?subject=x", "/tasks?sender_id=ada", "/tasks?", "/audit?"):
        answer = client.call("GET", f"{listing}&cursor={cursor}")
        assert answer.status == 422, listing
        [error] = answer.body["errors"]
        assert error["field"] == "cursor"
        assert error["message"].startswith("is not a cursor of this listing and these filters")
    assert client.call("GET", f"/tasks?sender_id=bob&limit=9&cursor={cursor}").status == 200


def test_a_cursor_of_todays_audit_log_stays_on_that_day(client: StackClient) -> None:
    for name in ("a", "b"):
        assert client.call("POST", f"/subjects/{name}/reset").status == 200
    cursor = client.call("GET", "/audit?limit=1").body["next_cursor"]
    client.advance("24h")
    [last] = client.items(f"/audit?cursor={cursor}")
    assert last["at"].startswith("2026-02-17")
