"""Whoever walks a listing page by page meets everything once, whatever happens meanwhile."""

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


def walked(
    client: StackClient, target: str, limits: Iterator[int], between: Callable[[], Any]
) -> Iterator[dict[str, Any]]:
    cursor = ""
    while cursor is not None:
        page = client.call("GET", f"{target}limit={next(limits)}&cursor={cursor}")
        assert page.status == 200, page.body
        yield from page.body["items"]
        cursor = page.body["next_cursor"]
        between()


def random_limits(random: Random) -> Iterator[int]:
    while True:
        yield random.choice([1, 2, 3, 5, 8, 200])


@pytest.mark.parametrize("seed", SEEDS)
def test_each_task_that_was_there_throughout_is_met_once(client: StackClient, seed: int) -> None:
    random = Random(seed)  # noqa: S311 - chance that can be repeated
    there = [client.create(**{"in": "5h"})["id"] for _ in range(30)]  # many in one millisecond

    def meddle() -> None:
        client.create(**{"in": random.choice(["1s", "5h"])})
        client.call("POST", f"/tasks/{random.choice(there)}/{random.choice(['cancel', 'pause'])}")
        client.advance(random.choice(["0s", "0.001s", "2s"]))

    met = [task["id"] for task in walked(client, "/tasks?", random_limits(random), meddle)]
    assert sorted(one for one in met if one in there) == sorted(there)
    assert len(set(met)) == len(met)


@pytest.mark.parametrize("seed", SEEDS[:2])
def test_a_filter_hides_and_repeats_nothing(client: StackClient, seed: int) -> None:
    random = Random(seed)  # noqa: S311 - chance that can be repeated
    senders = [random.choice(["ada", "bob"]) for _ in range(30)]
    made = [(client.create(sender_id=one, **{"in": "5h"})["id"], one) for one in senders]
    found = walked(client, "/tasks?sender_id=bob&", random_limits(random), lambda: None)
    assert sorted(task["id"] for task in found) == sorted(one for one, by in made if by == "bob")


@pytest.mark.parametrize("seed", SEEDS)
def test_each_entry_of_the_audit_log_is_met_once(client: StackClient, seed: int) -> None:
    random = Random(seed)  # noqa: S311 - chance that can be repeated
    there = [f"run-{n:02}" for n in range(40)]

    def note(entry_id: str) -> None:
        change = ApiChange(
            id=entry_id,
            at=NOON,
            token_name=entry_id,
            method="POST",
            path="/tasks/x/cancel",
            status=200,
        )
        client.stack.scheduler.call(lambda: stores.journal().record_change(change))

    for entry_id in random.sample(there, len(there)):
        note(entry_id)
    day = date(2026, 2, 17).isoformat()
    met = walked(
        client,
        f"/audit?day={day}&",
        random_limits(random),
        lambda: note(f"later-{random.random()}"),
    )
    assert sorted(one["token"] for one in met if one["token"] in there) == there


@pytest.mark.parametrize("listing", ["/tasks?", "/audit?", "/dead-letters?", "/errors?subject=x&"])
@pytest.mark.parametrize("cursor", ["x", "%00", "W10=", "eyJhIjoxfQ==", "x" * 1001, "%F0%9F%92%A9"])
def test_a_cursor_that_was_not_given_is_refused(
    shared: StackClient, listing: str, cursor: str
) -> None:
    answer = shared.call("GET", f"{listing}cursor={cursor}")
    assert (answer.status, answer.body["errors"][0]["field"]) == (422, "cursor")


def test_a_cursor_of_one_listing_leads_nowhere_in_another(client: StackClient) -> None:
    for _ in range(2):
        client.create(sender_id="bob", **{"in": "5h"})
    cursor = client.call("GET", "/tasks?sender_id=bob&limit=1").body["next_cursor"]
    for other in ("/errors?subject=x", "/tasks?sender_id=ada", "/tasks?", "/audit?"):
        answer = client.call("GET", f"{other}&cursor={cursor}")
        assert answer.status == 422, other
        [error] = answer.body["errors"]
        assert error["field"] == "cursor"
        assert error["message"].startswith("is not a cursor of this listing and these filters")
    assert client.call("GET", f"/tasks?sender_id=bob&limit=9&cursor={cursor}").status == 200


def test_a_walk_of_today_ends_with_the_day_it_began_on(client: StackClient) -> None:
    for name in ("a", "b"):
        assert client.call("POST", f"/subjects/{name}/reset").status == 200
    cursor = client.call("GET", "/audit?limit=1").body["next_cursor"]
    client.advance("24h")
    [last] = client.items(f"/audit?cursor={cursor}")
    assert last["at"].startswith("2026-02-17")
