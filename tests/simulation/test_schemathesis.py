"""Schemathesis against the running stack: valid and invalid requests from the OpenAPI document.

No request causes a server error or an undocumented response.
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
from tests.simulation.tasks_in_every_state import create_in_every_state
from tests.support.stack_client import running_stack

PathParameters = dict[str, Any] | None
EXAMPLES = 8
SEED = 20260217
AUTH_HEADERS = {"Authorization": f"Bearer {DEFAULT_TOKEN}"}
# What the schema cannot express: a past time, an unknown zone, a task that has ended.
ACCEPTED_STATUSES = ["2xx", "404", "409", "422"]
# A subject may be named "a/reset", so a GET of this path is a valid request.
KNOWN_AMBIGUITY = ("POST /subjects/{subject}/reset", "AllowHeaderMismatch")
FIRST_TIME = datetime(2026, 3, 1)  # noqa: DTZ001 - a naive time is a valid input
FORMATS: dict[str, st.SearchStrategy[str]] = {
    "iana-zone": st.sampled_from(["UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata"]),
    "repeat-rule": st.sampled_from(["daily", "weekdays", "0 9 * * 1", "FREQ=DAILY;INTERVAL=2"]),
    "span-of-time": st.sampled_from(["30s", "2h30m", "7d", "0"]),
    "time-of-task": st.datetimes(FIRST_TIME, FIRST_TIME + timedelta(days=400)).map(
        datetime.isoformat
    ),
}


@dataclass(frozen=True)
class RunningApi:
    address: str
    task_ids: list[str]


@pytest.fixture
def running_api() -> Iterator[RunningApi]:
    """Start a stack with a task in every state. One for each test: requests cancel and delete."""
    with running_stack() as client:
        task_ids = list(create_in_every_state(client).values())
        server = Server(Gateway(client.stack), 0)
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield RunningApi(f"http://127.0.0.1:{server.server_address[1]}", task_ids)
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture(scope="module", autouse=True)
def _formats() -> None:
    for name, strategy in FORMATS.items():
        schemathesis.openapi.format(name, strategy)


def make_config(address: str) -> SchemathesisConfig:
    return SchemathesisConfig.from_dict(
        {
            "seed": SEED,
            "cache": {"enabled": False},  # findings of one run must not change the next
            "base-url": address,
            "headers": AUTH_HEADERS,
            "generation": {"max-examples": EXAMPLES, "database": "none"},
            "checks": {"positive_data_acceptance": {"expected-statuses": ACCEPTED_STATUSES}},
            "phases": {
                # It would infer rules from the texts of refusals.
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
                info = check.failure_info
                if (finished.recorder.label, type(info.failure).__name__) != KNOWN_AMBIGUITY:
                    yield f"{info.failure.title}\n{info.failure.message}\n{info.code_sample}"


@pytest.fixture
def api_schema(running_api: RunningApi) -> BaseSchema:
    schema = schemathesis.openapi.from_url(
        f"{running_api.address}/openapi.json",
        config=make_config(running_api.address),
        headers=AUTH_HEADERS,
    )

    def map_path_parameters(
        _: schemathesis.HookContext, parameters: PathParameters
    ) -> PathParameters:
        """Replace a generated id by that of an existing task."""
        task_id = parameters.get("task_id") if parameters else None
        if parameters is None or not isinstance(task_id, str) or not is_id_or_prefix(task_id):
            return parameters
        return {
            **parameters,
            "task_id": running_api.task_ids[int(task_id[:8], 16) % len(running_api.task_ids)],
        }

    schema.hook(map_path_parameters)
    return schema


# Webhooks of platforms are signed, so their requests cannot be generated.
@pytest.mark.parametrize("tag", [tag for tag in Tag if tag is not Tag.CHAT])
def test_every_response_matches_the_document(api_schema: BaseSchema, tag: Tag) -> None:
    schema = api_schema.include(tag=str(tag))
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
