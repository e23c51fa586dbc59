"""The stack that `make deploy` builds, on an emulator that runs its functions with their roles."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.deploy.conftest import PROBE, PROBE_ARN
from tests.deploy.deployment import Deployment, run
from tests.deploy.emulator import Emulator
from tests.deploy.polling import wait_until

pytestmark = pytest.mark.usefixtures("_show_logs")
RUN_SECONDS = 60
RETRY_SECONDS = 120  # the first retry of a transient failure comes after 30


def test_the_readme_deploys_a_stack_that_its_token_opens(deployment: Deployment) -> None:
    assert deployment.call("GET", "/health", token="") == (
        200,
        {"status": "ok", "version": "0.2.0"},
    )
    assert deployment.call("GET", "/tasks")[0] == 200
    assert deployment.call("GET", "/tasks", token="guessed")[0] == 401


def test_the_readme_creates_a_reminder_that_is_delivered(deployment: Deployment) -> None:
    [reminder] = [one for one in _items(deployment, "/tasks") if one["description"] == "stretch"]

    assert reminder["channel"] == "log"
    _wait_for(deployment, reminder["id"], lambda one: one["status"] == "delivered", 2 * RUN_SECONDS)


def test_the_command_line_reaches_the_deployed_stack(deployment: Deployment) -> None:
    prefix = f"DUECOURSE_URL='{deployment.url}' DUECOURSE_TOKEN={deployment.token}"
    printed = run(f"{prefix} .venv/bin/duecourse tasks --json", deployment.emulator)
    assert "items" in json.loads(printed)


def test_a_caller_without_permissions_is_refused(
    emulator: Emulator, deployment: Deployment
) -> None:
    """Without this, no other test here would notice a permission that is missing in a role."""
    emulator.client("iam").create_user(UserName="nobody")
    key = emulator.client("iam").create_access_key(UserName="nobody")["AccessKey"]
    client = emulator.client("dynamodb", (key["AccessKeyId"], key["SecretAccessKey"]))
    with pytest.raises(ClientError, match="AccessDenied"):
        client.scan(TableName=deployment.outputs["TasksTableName"])


def test_a_task_runs_at_its_time(deployment: Deployment) -> None:
    task = _create(deployment)
    assert task["status"] == "pending"

    _wait_for(deployment, task["id"], lambda one: one["status"] == "completed", RUN_SECONDS)

    [run_of_task] = _items(deployment, f"/tasks/{task['id']}/runs")
    assert (run_of_task["status"], run_of_task["attempt"]) == ("committed", 1)
    assert run_of_task["mutation"]["result"] == {"attempt": 1}
    events = [one["type"] for one in _items(deployment, f"/tasks/{task['id']}/history")]
    assert events == ["task:created", "task:started", "task:completed"]


def test_a_failed_task_is_retried_by_itself(deployment: Deployment) -> None:
    """The function that it calls takes no call at first, as one that is out of concurrency."""
    functions = deployment.emulator.client("lambda")
    functions.put_function_concurrency(FunctionName=PROBE, ReservedConcurrentExecutions=0)
    # A retry of `standard` may come before the function takes calls again.
    task = _create(deployment, policy="agent")
    failed = _wait_for(deployment, task["id"], lambda one: one["retry_count"] == 1, RUN_SECONDS)
    assert failed["status"] == "pending"
    assert failed["next_retry_at"] is not None
    functions.delete_function_concurrency(FunctionName=PROBE)

    _wait_for(deployment, task["id"], lambda one: one["status"] == "completed", RETRY_SECONDS)

    runs = _items(deployment, f"/tasks/{task['id']}/runs")
    assert [(one["attempt"], one["reason"]) for one in runs] == [(1, "first"), (2, "transient")]
    [error] = _items(deployment, f"/tasks/{task['id']}/errors")
    assert error["category"] == "transient"


def test_a_dead_letter_is_stored_and_redriven(deployment: Deployment) -> None:
    """A message that no code can read. It goes to the queue that it came from."""
    queue = deployment.outputs["WorkDeadLetterQueueUrl"]
    deployment.emulator.client("sqs").send_message(QueueUrl=queue, MessageBody="unreadable")
    [letter] = wait_until(
        lambda: _items(deployment, "/dead-letters"),
        seconds=RUN_SECONDS,
        message=lambda: "the letter was not stored",
    )
    assert (letter["queue"], letter["reason"]) == ("work", "the message cannot be parsed")

    status, answer = deployment.call("POST", "/dead-letters/redrive", {})

    assert (status, answer["redriven"]) == (200, [letter["id"]])
    assert _items(deployment, "/dead-letters") == []
    assert _count_messages(deployment, "WorkQueueUrl") == 1
    assert _count_messages(deployment, "WorkDeadLetterQueueUrl") == 0


def _create(deployment: Deployment, **fields: Any) -> dict[str, Any]:
    payload = {"function": PROBE_ARN, "input": {}}
    body = {"type": "lambda", "in": "1s", "description": "call the probe", "payload": payload}
    body |= fields
    status, task = deployment.call("POST", "/tasks", body)
    assert status == 201, task
    return dict(task)


def _wait_for(
    deployment: Deployment, task_id: str, is_done: Callable[[dict[str, Any]], bool], seconds: float
) -> dict[str, Any]:
    """Return the task as soon as it is done. Fails with the task as it stands after `seconds`."""
    seen: dict[str, Any] = {}

    def read_if_done() -> dict[str, Any] | None:
        seen.update(deployment.call("GET", f"/tasks/{task_id}")[1])
        return seen if is_done(seen) else None

    return wait_until(read_if_done, seconds=seconds, message=lambda: json.dumps(seen, indent=1))


def _items(deployment: Deployment, path: str) -> list[dict[str, Any]]:
    status, answer = deployment.call("GET", path)
    assert status == 200, answer
    return list(answer["items"])


def _count_messages(deployment: Deployment, output: str) -> int:
    """Return the number of messages in a queue, with those that a function is trying to read."""
    names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
    found = deployment.emulator.client("sqs").get_queue_attributes(
        QueueUrl=deployment.outputs[output], AttributeNames=names
    )
    return sum(int(found["Attributes"][name]) for name in names)
