"""GET /breakers and GET /retries."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from duecourse.app import services, stores
from duecourse.domain.limits.circuit_breaker import DEFAULT_RULES
from duecourse.domain.tasks.run import RunStatus
from duecourse.domain.time.instant import to_text
from duecourse.usecases.limits.circuit_breaker import admit

from tests.support.breakers import fail, succeed
from tests.support.builders.moments import MINUTE, NOW
from tests.support.builders.runs import a_run
from tests.support.builders.tasks import a_task
from tests.support.stack_client import StackClient


def record_failures(provider: str, times: int) -> None:
    fail(services.breaker_deps(), times, provider=provider)


def create_retrying_task(number: int, delay: timedelta, **fields: Any) -> None:
    run = a_run(ended_at=NOW, attempt=2, status=RunStatus.PAUSED_TRANSIENT)
    due_at = NOW + delay
    retry_fields = {"due_at": due_at, "next_retry_at": due_at, "run": run, "retry_count": 2}
    task_id = f"{number:08x}-0000-4000-8000-000000000000"
    stores.task_store().create(a_task(id=task_id, **retry_fields | fields))


def test_there_are_no_breakers_before_a_failure(client: StackClient) -> None:
    assert client.items("/breakers") == []


def test_each_breaker_is_listed_with_its_state(client: StackClient) -> None:
    record_failures("mail", 2)
    record_failures("llm", DEFAULT_RULES.failure_threshold)
    llm, mail = client.items("/breakers")
    assert llm == {
        "provider": "llm",
        "state": "open",
        "key_refused": False,
        "failures": DEFAULT_RULES.failure_threshold,
        "opened_at": to_text(NOW),
        "until": to_text(NOW + MINUTE),
        "admits_per_minute": 0,
    }
    assert (mail["provider"], mail["state"], mail["failures"]) == ("mail", "closed", 2)
    assert mail["opened_at"] is mail["until"] is mail["admits_per_minute"] is None


def test_a_returning_breaker_shows_its_admission_rate(client: StackClient) -> None:
    record_failures("llm", DEFAULT_RULES.failure_threshold)
    at = NOW + MINUTE
    admit("llm", "probe", breakers=services.breaker_deps(), now=at)
    succeed(services.breaker_deps(), now=at)
    client.advance("3m")
    [llm] = client.items("/breakers")
    assert (llm["state"], llm["admits_per_minute"]) == ("returning", 8)


def test_breaker_history_is_listed_oldest_first(client: StackClient) -> None:
    record_failures("llm", DEFAULT_RULES.failure_threshold)
    at = NOW + MINUTE
    admit("llm", "probe", breakers=services.breaker_deps(), now=at)
    fail(services.breaker_deps(), now=at)
    events = client.items("/breakers/llm/history")
    assert [(event["type"], event["at"]) for event in events] == [
        ("breaker:opened", to_text(NOW)),
        ("breaker:opened", to_text(at)),
    ]
    expected = {
        "provider": "llm",
        "failures": DEFAULT_RULES.failure_threshold + 1,
        "until": to_text(at + 2 * MINUTE),
    }
    assert events[1]["detail"] == expected
    assert client.items("/breakers/mail/history") == []


def test_pending_retries_are_listed_soonest_first(client: StackClient) -> None:
    create_retrying_task(1, 20 * MINUTE)
    fields = {"last_error": "boom", "last_error_category": "unknown", "subject": "story-1"}
    create_retrying_task(2, 10 * MINUTE, **fields)
    soonest, later = client.items("/retries")
    assert later["short_id"] == "00000001"
    assert soonest == {
        "id": "00000002-0000-4000-8000-000000000000",
        "short_id": "00000002",
        "description": "stretch",
        "next_retry_at": to_text(NOW + 10 * MINUTE),
        "category": "unknown",
        "kind": None,
        "clears_by": None,
        "attempt": 3,
        "retry_count": 2,
        "policy": "omega",
        "subject": "story-1",
        "last_error": "boom",
    }


def test_the_retry_list_respects_its_limit(client: StackClient) -> None:
    for n in range(3):
        create_retrying_task(n, n * MINUTE)
    assert len(client.items("/retries?limit=2")) == 2


@pytest.mark.parametrize("query", ["limit=0", "limit=201", "limit=x", "colour=red"])
def test_the_retry_list_refuses_invalid_query_parameters(client: StackClient, query: str) -> None:
    assert client.call("GET", f"/retries?{query}").status == 422


@pytest.mark.parametrize("target", ["/retries", "/breakers", "/breakers/llm/history"])
def test_breakers_and_retries_need_a_token(client: StackClient, target: str) -> None:
    assert client.call("GET", target, token=None).status == 401
