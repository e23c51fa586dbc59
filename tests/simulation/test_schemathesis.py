"""Schemathesis against the running stack: good and bad requests made from the description alone.

Whatever is asked, there is no error of ours, and no answer that is not described.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from threading import Thread
from typing import Any

import pytest
import schemathesis
from duecourse.domain.tasks.ids import is_id_or_prefix
from hypothesis import strategies as st
from schemathesis import engine
from schemathesis.config import SchemathesisConfig
from schemathesis.engine import events
from schemathesis.schemas import BaseSchema

from functions.api.openapi.operation import Tag
from local.runtime.api_gateway import Gateway
from local.runtime.server import Server
from local.runtime.stack import DEFAULT_TOKEN
from tests.simulation.every_state import in_every_state
from tests.support.stack_client import running_stack

Given = dict[str, Any] | None
EXAMPLES = 8
SEED = 20260217
ALLOWED = {"Authorization": f"Bearer {DEFAULT_TOKEN}"}
# What the schema cannot say: a time in the past, a zone that is none, a task that is over.
UNDERSTOOD = ["2xx", "404", "409", "422"]
# A subject may be called "a/reset": what is a POST here is a GET of another one.
AMBIGUOUS = ("POST /subjects/{subject}/reset", "AllowHeaderMismatch")
SOON = datetime(2026, 3, 1)  # noqa: DTZ001 - a time without a zone is one of those to try
FORMATS: dict[str, st.SearchStrategy[str]] = {
    "iana-zone": st.sampled_from(["UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata"]),
    "repeat-rule": st.sampled_from(["daily", "weekdays", "0 9 * * 1", "FREQ=DAILY;INTERVAL=2"]),
    "span-of-time": st.sampled_from(["30s", "2h30m", "7d", "0"]),
    "time-of-task": st.datetimes(SOON, SOON + timedelta(days=400)).map(datetime.isoformat),
}


@dataclass(frozen=True)
class Running:
    address: str
    task_ids: list[str]


@pytest.fixture(scope="module")
def running() -> Iterator[Running]:
    """A stack that has a task in every state."""
    with running_stack() as client:
        task_ids = list(in_every_state(client).values())
        server = Server(Gateway(client.stack), 0)
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield Running(f"http://127.0.0.1:{server.server_address[1]}", task_ids)
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture(scope="module", autouse=True)
def _formats() -> None:
    for name, strategy in FORMATS.items():
        schemathesis.openapi.format(name, strategy)


def configured(address: str) -> SchemathesisConfig:
    return SchemathesisConfig.from_dict(
        {
            "seed": SEED,
            "cache": {"enabled": False},  # what one run finds must not change the next
            "base-url": address,
            "headers": ALLOWED,
            "generation": {"max-examples": EXAMPLES, "database": "none"},
            "checks": {"positive_data_acceptance": {"expected-statuses": UNDERSTOOD}},
            "phases": {
                # It would guess at rules from the words of a refusal.
                "fuzzing": {"error-feedback": {"enabled": False}},
                "stateful": {"enabled": False},
            },
        }
    )


def statuses_of(finished: events.ScenarioFinished) -> Iterator[int]:
    for interaction in finished.recorder.interactions.values():
        if interaction.response is not None:
            yield interaction.response.status_code


def failures_of(finished: events.ScenarioFinished) -> Iterator[str]:
    for checks in finished.recorder.checks.values():
        for check in checks:
            if check.failure_info is not None:
                found = check.failure_info
                if (finished.recorder.label, type(found.failure).__name__) != AMBIGUOUS:
                    yield f"{found.failure.title}\n{found.failure.message}\n{found.code_sample}"


@pytest.fixture(scope="module")
def described(running: Running) -> BaseSchema:
    schema = schemathesis.openapi.from_url(
        f"{running.address}/openapi.json", config=configured(running.address), headers=ALLOWED
    )

    def map_path_parameters(_: schemathesis.HookContext, given: Given) -> Given:
        """What could be an id is that of a task that there is."""
        said = given.get("task_id") if given else None
        if given is None or not isinstance(said, str) or not is_id_or_prefix(said):
            return given
        return {**given, "task_id": running.task_ids[int(said[:8], 16) % len(running.task_ids)]}

    schema.hook(map_path_parameters)
    return schema


# What a platform sends is signed, and its shape is the platform's: nobody can make it up.
@pytest.mark.parametrize("tag", [tag for tag in Tag if tag is not Tag.CHAT])
def test_whatever_is_asked_is_answered_as_described(described: BaseSchema, tag: Tag) -> None:
    schema = described.include(tag=str(tag))
    failures: list[Any] = []
    statuses: Counter[int] = Counter()
    for event in engine.from_schema(schema).execute():
        if isinstance(event, events.ScenarioFinished):
            statuses.update(statuses_of(event))
            failures += failures_of(event)
        elif isinstance(event, events.NonFatalError):
            failures.append(event.value)
        elif isinstance(event, events.FatalError):
            raise event.exception
    assert "\n\n".join(map(str, failures)) == ""
    assert statuses[200] > 0
    assert statuses.total() > EXAMPLES
