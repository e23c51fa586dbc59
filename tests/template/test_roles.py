"""The role of each function allows exactly the calls that the function makes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch
from urllib.parse import parse_qs

import pytest
from duecourse.adapters.aws.dynamodb.tracking_models import CounterItem
from duecourse.adapters.aws.sns import SnsTopic
from duecourse.adapters.aws.websocket_sender import ApiGatewaySender
from duecourse.adapters.channels.email.outbound import EmailChannel
from duecourse.adapters.channels.telegram.outbound import TelegramChannel
from duecourse.app import registry, services, stores
from duecourse.domain.time.utc_days import utc_day

from local.runtime import aws_clients
from local.runtime.call_interceptor import Call
from local.runtime.template import ROOT, load_template, resources_of_type
from local.testing.faults import short_name
from tests.support.builders.chat import a_message
from tests.support.bus_listener import BusListener
from tests.support.custom_handler import BUG, HandlerProject, handler_project
from tests.support.platforms import telegram_message, telegram_update
from tests.support.receiver import Receiver
from tests.support.role_policies import Permission, allowed_calls, polled_by_lambda
from tests.support.stack_client import StackClient

ACTION_OF = {
    "sqs:SendMessageBatch": "sqs:SendMessage",
    "dynamodbstreams:GetRecords": "dynamodb:GetRecords",
    "dynamodbstreams:GetShardIterator": "dynamodb:GetShardIterator",
    "bedrock-runtime:Converse": "bedrock:InvokeModel",
    "lambda:Invoke": "lambda:InvokeFunction",
    "apigatewaymanagementapi:PostToConnection": "execute-api:ManageConnections",
    "apigatewaymanagementapi:DeleteConnection": "execute-api:ManageConnections",
}
ACTION_OF_TRANSACTION = {
    "Put": "dynamodb:PutItem",
    "Update": "dynamodb:UpdateItem",
    "Delete": "dynamodb:DeleteItem",
    "ConditionCheck": "dynamodb:ConditionCheckItem",
}
# Lambda itself sends to the on-failure destination of a stream, with the function's role.
USED_BY_LAMBDA = {"journal": {("sqs:SendMessage", "JournalDeadLetterQueue")}}
# While a deployment replaces the functions one by one, the old ones already have the new roles.
_OLD_INDEX = ("dynamodb:Query", "TasksTable/index/RetryIndex")
USED_BY_PREVIOUS_VERSION = {function: {_OLD_INDEX} for function in ("deadletter", "failure")} | {
    "api": {_OLD_INDEX, ("dynamodb:GetItem", "StatsTable")},
    "chat": {_OLD_INDEX, ("dynamodb:GetItem", "StatsTable")},
    "journal": {
        ("sqs:SendMessage", "WorkQueue"),
        ("dynamodb:GetItem", "JournalTable"),
        ("dynamodb:PutItem", "JournalTable"),
        ("dynamodb:GetItem", "StatsTable"),
    },
    "sweeper": {("dynamodb:GetItem", "TasksTable")},
}
REDRIVEN = 12  # changes
FUNCTIONS = sorted(
    short_name(name) for name in resources_of_type(load_template(), "AWS::Lambda::Function")
)
every_function = pytest.mark.parametrize("function", FUNCTIONS)


@every_function
def test_every_call_a_function_makes_is_allowed(function: str) -> None:
    assert _observed_calls()[function] - allowed_calls(function) == set()


@every_function
def test_nothing_is_allowed_that_a_function_does_not_do(function: str) -> None:
    needed = _observed_calls()[function] | USED_BY_LAMBDA.get(function, set())
    needed |= USED_BY_PREVIOUS_VERSION.get(function, set()) | set(polled_by_lambda(function))

    # tests/template/test_customer_key.py has the permissions for keys; Lambda itself writes traces.
    allowed = {one for one in allowed_calls(function) if not one[0].startswith(("kms:", "xray:"))}
    assert allowed - needed == set()


# --- what the functions do --------------------------------------------------------------------


@cache
def _observed_calls() -> dict[str, set[Permission]]:
    """All calls of a day in the life of the system."""
    calls_made: dict[str, set[Permission]] = {function: set() for function in FUNCTIONS}

    def on_call(call: Call) -> None:
        if call.function is not None:
            calls_made[call.function].update(_permissions(call))

    with (
        TemporaryDirectory() as folder,
        Receiver() as receiver,
        _redirect_external_services(receiver),
        handler_project(Path(folder)) as project,
    ):
        client = project.client
        client.stack.calls.on_aws_call = on_call
        BusListener()  # without a rule, nothing is published
        _use_email(client)
        _call_external_services(client, receiver)
        _deploy_fixed_code(project)
        _use_http_api(client)
        _use_websocket(client)
        _use_chat(client)
        _use_telegram(client)
        _lose_responses(client)
        _crash_worker(client)
        _fail_actions(client)
        _review_spec(client)
        _correct_classification(client)
        _forget_people(client)
        _redrive_changes(client)
        _create_dead_letters(client)
        _simulate_chat_outage(client)
        _simulate_refused_token(client)
        _read_routes(client)
        _use_quiet_hours_and_operators(client)
        client.create(due_at="2026-02-19T15:00:00Z", repeat="daily")
        client.advance("3d")
        assert len(client.outbox()) > 5
        seen = {function for function, _ in client.stack.calls.counts}
        assert seen == set(FUNCTIONS), "the scenario must wake every function"
    return calls_made


@contextmanager
def _redirect_external_services(receiver: Receiver) -> Iterator[None]:
    """Send calls to Bedrock, Lambda and Telegram to the receiver."""
    environment = {
        "AWS_ENDPOINT_URL_BEDROCK_RUNTIME": receiver.url(""),
        "AWS_ENDPOINT_URL_LAMBDA": receiver.url(""),
        "LAMBDA_FUNCTIONS": "lights",
        "WEBHOOK_SECRETS": '{"WebhookSecretArns": "Bearer x"}',  # named as what allows it
        "TELEGRAM_BOT_TOKEN": "1:token",
        "CHAT_ACTION_ACCESS": "telegram:111",
        "ADAPT_DELAYS": "on",
    }
    telegram = TelegramChannel.__init__.__kwdefaults__
    with patch.dict("os.environ", environment), patch.dict(telegram, endpoint=receiver.url("")):
        yield


def _call_external_services(client: StackClient, receiver: Receiver) -> None:
    """Run a webhook, providers, another function, and tasks that are verified."""
    receiver.answer(200, b'{"ok": true, "result": {}}')
    header_secret = {"secret": "WebhookSecretArns"}
    for kind, payload in [
        ("webhook", {"url": receiver.url("/hook"), "headers": {"X-Key": header_secret}}),
        ("lambda", {"function": "lights"}),
        ("action", {"provider": "openai", "endpoint": receiver.url("/v1")}),
        ("action", {"provider": "bedrock"}),
    ]:
        client.create(type=kind, payload=payload, **{"in": "1s"})
    client.advance("10s")
    for action, body in (("approve", None), ("reject", {"reason": "no"})):
        task = _create_unverified_task(client, subject=action)
        assert client.call("POST", f"/tasks/{task['id']}/{action}", body).status == 200
    for command, subject in (("/approve {}", "s"), ("/reject {} no", "s"), ("/reject {} no", None)):
        task = _create_unverified_task(client, subject=subject)
        for cached in (stores.patterns, services.failure_deps):  # as in another container
            client.stack.scheduler.call(cached.cache_clear)
        client.say(command.format(task["short_id"]))
    texts = {message["text"].split()[0] for message in client.outbox()}
    assert {"Approved", "Rejected"} <= texts


def _create_unverified_task(client: StackClient, *, subject: str | None) -> dict[str, Any]:
    payload = {"provider": "scripted", "script": [{"reply": "ACTION_OUTCOME: success"}]}
    task = client.create(
        type="action", payload=payload, verify=True, subject=subject, **{"in": "1s"}
    )
    client.advance("2s")
    return client.task(task["id"])


def _use_http_api(client: StackClient) -> None:
    client.create(**{"in": "10s"})
    far = client.create(**{"in": "2d"})
    assert client.items("/tasks")
    path = f"/tasks/{far['id']}"
    for method, target, body in [
        ("GET", path, None),
        ("PATCH", path, {"in": "3d"}),
        ("POST", f"{path}/pause", None),
        ("POST", f"{path}/resume", None),
        ("POST", f"{path}/run", None),
        ("GET", f"{path}/history", None),
        ("GET", f"{path}/runs", None),
    ]:
        assert client.call(method, target, body).status == 200, target
    cancelled_task = client.create(**{"in": "2d"})
    assert client.call("POST", f"/tasks/{cancelled_task['id']}/cancel").status == 200


def _deploy_fixed_code(project: HandlerProject) -> None:
    """The sweeper retries tasks that failed by a bug after the next deployment."""
    project.deploy(prepare=BUG)
    task_id = project.create()
    project.client.advance("15m")
    project.deploy()
    project.client.advance("15m")
    assert project.status(task_id) == "completed"


def _use_telegram(client: StackClient) -> None:
    """A message in, its answer, a reminder, and what becomes of an action: each so much after the
    other that whoever speaks has to read the token anew."""
    proof = {"x-telegram-bot-api-secret-token": "local"}
    for n, text in enumerate(
        ["/timezone berlin", "/remind in 10 minutes tea", "/do in 20 minutes x"]
    ):
        sent_at = int(client.stack.clock.now().timestamp())
        update = telegram_update(telegram_message(text, date=sent_at), update_id=n)
        response = client.call("POST", "/webhooks/telegram", update, token=None, headers=proof)
        assert response.status == 200
    client.advance("30m")
    texts = {
        message["text"].split()[0] for message in client.items("/_local/outbox?channel=telegram")
    }
    assert {"Your", "Reminder", "Reminder:", "Action", "Done:"} <= texts


def _use_email(client: StackClient) -> None:
    """A reminder, and the notification that an action has ended.

    It comes before the first other reminder, for which the worker keeps its channels.
    """
    topic = SnsTopic("arn:aws:sns:eu-central-1:123456789012:ReminderTopic", channel="email")
    replace_channel = partial(registry.register_channel, "email", EmailChannel(topic))
    client.stack.scheduler.call(replace_channel)
    payload = {"provider": "scripted", "script": [{"reply": "ok\nACTION_OUTCOME: success"}]}
    to_all = {"channel": "email", "reply_target": "subscribers", "in": "1s"}
    with Receiver() as sns, patch.dict("os.environ", AWS_ENDPOINT_URL_SNS=sns.url("")):
        sns.answer(200, b"<PublishResponse><PublishResult/></PublishResponse>")
        client.create(**to_all)
        client.create(type="action", payload=payload, **to_all)
        client.advance("1m")
        subjects = [parse_qs(one.body.decode())["Subject"][0] for one in sns.requests]
    assert subjects == ["Reminder: stretch", "Done: stretch"]


def _use_chat(client: StackClient) -> None:
    client.say("/do in 20 seconds tidy up", sender="bob")
    short_id = client.say("/remind in 20 seconds stretch").split()[1]
    assert short_id in client.say("/tasks")
    later = client.say("/remind in 2 days stretch").split()[1]
    assert client.say(f"/cancel {later}").startswith("Cancelled")


def _forget_people(client: StackClient) -> None:
    """A task is deleted, and two senders are forgotten. The journal erases what it knows.

    One of them has a dead letter.
    """
    sqs = aws_clients.client("sqs")
    sqs.send_message(
        QueueUrl=sqs.get_queue_url(QueueName="ChatDeadLetterQueue.fifo")["QueueUrl"],
        MessageBody=json.dumps(a_message(sender_id="erin", reply_target="erin").to_json()),
        MessageGroupId="erin",
        MessageDeduplicationId="erin",
    )
    for sender in ("carol", "dave", "erin"):
        client.create(**{"in": "10s"}, sender_id=sender, reply_target=sender)
    failing = {"provider": "scripted", "script": [{"error": {"message": "boom"}}]}
    owner = {"sender_id": "dave", "reply_target": "dave", "subject": "octo/garden"}
    client.create(**{"in": "10s"}, type="action", payload=failing, **owner)
    client.advance("20s")
    assert "erin" in str(client.items("/dead-letters"))
    [task] = client.items("/tasks?channel=console&sender_id=carol")
    assert client.call("DELETE", f"/tasks/{task['id']}").status == 200
    body = {"channel": "console", "sender_id": "dave"}
    assert client.call("POST", "/senders/forget", body).status == 200
    assert client.say("/forget me yes", sender="erin").startswith("Deleted")
    client.advance("1m")


def _use_websocket(client: StackClient) -> None:
    """One connection receives an event and expires, another disconnects."""
    client.advance("1m")  # cached tokens expire
    sender = ApiGatewaySender(stores.settings().live_endpoint)
    client.stack.scheduler.call(lambda: registry.register_connection_sender(sender))
    files = [ROOT / "events" / f"live_{name}.json" for name in ("connect", "ping")]
    connect, ping = (json.loads(file.read_text()) for file in files)
    assert client.stack.invoke("live", connect)["statusCode"] == 200
    subscribe = {**ping, "body": '{"action": "subscribe"}'}
    assert "subscribed" in client.stack.invoke("live", subscribe)["body"]
    client.create(**{"in": "2d"})
    client.advance("2h")
    client.create(**{"in": "2d"})
    client.stack.invoke("live", connect)
    leaving = {**ping["requestContext"], "eventType": "DISCONNECT"}
    client.stack.invoke("live", {**ping, "requestContext": leaving})


def _lose_responses(client: StackClient) -> None:
    """A write whose response was lost is read back and recognized."""
    for function in ("api", "chat"):
        client.add_fault(function=function, call="dynamodb.PutItem", when="after", kind="timeout")
    client.create(**{"in": "2d"})
    assert client.say("/remind in 2 days stretch").startswith("Reminder")


def _crash_worker(client: StackClient) -> None:
    """The sweeper finds the expired lease; a worker requeues a series due again soon."""
    client.add_fault(function="worker", call="channel.send", when="before", kind="crash")
    client.create(**{"in": "5m"})
    series = client.create(**{"in": "6m"}, repeat="* * * * *")
    client.advance("15m")
    assert client.call("POST", f"/tasks/{series['id']}/cancel").status == 200
    assert client.stack.functions.metrics["RunsRecovered"].count(1) == 1


def _fail_actions(client: StackClient) -> None:
    """Actions with a subject and a budget fail, open the breaker and succeed."""
    down = {"error": {"message": "connect ECONNREFUSED 127.0.0.1:9", "code": "ECONNREFUSED"}}
    success = {"reply": "done\nACTION_OUTCOME: success"}
    assert client.call("PUT", "/budgets/daily", {"limit": 1}).status == 200
    assert client.items("/budgets")
    payload_with_budget = {"provider": "scripted", "script": [down, success], "budget": "daily"}
    client.create(
        type="action", policy="agent", subject="s1", payload=payload_with_budget, **{"in": "5s"}
    )
    _simulate_outage(client, down, success)  # the sweeper notices its end
    client.add_fault(function="sweeper", call="dynamodb.GetItem", times=1000)
    _simulate_outage(client, down, success)  # the next task notices its end
    client.create(
        type="action", payload={"provider": "scripted", "script": [success]}, **{"in": "1s"}
    )
    client.advance("1m")
    assert client.call("DELETE", "/_local/faults").status == 200
    states = {breaker["provider"]: breaker["state"] for breaker in client.items("/breakers")}
    assert states["scripted"] == "closed"
    assert client.items("/breakers/scripted/history")
    assert client.call("POST", "/subjects/s1/reset").status == 200


def _review_spec(client: StackClient) -> None:
    """A spec review ends and its task goes on."""
    type_error = {"error": {"message": 'file.ts(45,12): error TS2304: Cannot find name "foo"'}}
    script = [type_error, type_error, type_error, {"reply": "done\nACTION_OUTCOME: success"}]
    payload = {"provider": "scripted", "script": script, "spec": "foo is in lib/foo.ts"}
    task = client.create(type="action", payload=payload, **{"in": "5s"})
    client.advance("10m")
    assert client.task(task["id"])["status"] == "completed"


def _simulate_outage(client: StackClient, down: dict[str, Any], success: dict[str, Any]) -> None:
    for _ in range(10):
        payload = {"provider": "scripted", "script": [down, success]}
        client.create(type="action", payload=payload, **{"in": "1m"})
    client.advance("1h")


def _correct_classification(client: StackClient) -> None:
    """A correction is stored, listed and removed."""
    payload = {"provider": "scripted", "script": [{"error": {"message": "the quay is wet"}}]}
    task = client.create(type="action", payload=payload, **{"in": "5s"})
    client.advance("6s")
    correction = {"category": "timeout"}
    assert client.call("POST", f"/tasks/{task['id']}/reclassify", correction).status == 200
    client.advance("1s")
    assert client.items("/delays")
    [pattern] = [
        candidate for candidate in client.items("/patterns") if candidate["said_by_person"]
    ]
    target = f"/patterns/{pattern['policy']}/{pattern['fingerprint']}"
    assert client.call("DELETE", target).body["forgotten"]


def _redrive_changes(client: StackClient) -> None:
    """Lambda gave up on the latest changes of both streams, and they are redriven."""
    sqs = aws_clients.client("sqs")
    queue = sqs.get_queue_url(QueueName="JournalDeadLetterQueue")["QueueUrl"]
    for name in ("TasksTable", "JournalTable"):
        records = list(client.stack.backend.stream_records(name)[-REDRIVEN:])
        table = aws_clients.client("dynamodb").describe_table(TableName=name)["Table"]
        info = {
            "shardId": client.stack.backend.stream_shard_id(name),
            "startSequenceNumber": records[0]["dynamodb"]["SequenceNumber"],
            "endSequenceNumber": records[-1]["dynamodb"]["SequenceNumber"],
            "approximateArrivalOfFirstRecord": "2026-02-17T12:00:00Z",
            "approximateArrivalOfLastRecord": "2026-02-17T13:00:00Z",
            "batchSize": len(records),
            "streamArn": table["LatestStreamArn"],
        }
        sqs.send_message(QueueUrl=queue, MessageBody=json.dumps({"DDBStreamBatchInfo": info}))
    client.advance("1m")
    for page in CounterItem.query(utc_day(client.stack.clock.now())):
        page.delete()  # they were counted, and would not be counted again
    letters = [one["id"] for one in client.items("/dead-letters") if one["queue"] == "journal"]
    assert len(letters) >= REDRIVEN  # of the journal, only changes of circuit breakers are read
    assert client.call("POST", "/dead-letters/redrive", {"ids": letters}).status == 200


def _create_dead_letters(client: StackClient) -> None:
    """An unreadable message, a dispatch and a failure report become dead letters."""
    sqs = aws_clients.client("sqs")
    for queue in ("WorkDeadLetterQueue", "SlowWorkDeadLetterQueue", "FailuresDeadLetterQueue"):
        sqs.send_message(QueueUrl=sqs.get_queue_url(QueueName=queue)["QueueUrl"], MessageBody="?")
    client.create(**{"in": "4m"})
    client.add_fault(function="worker", call="dynamodb.GetItem", when="before", times=40)
    client.advance("1h")
    connection_refused = {
        "error": {"message": "connect ECONNREFUSED 127.0.0.1:9", "code": "ECONNREFUSED"}
    }
    payload: dict[str, Any] = {"provider": "scripted", "script": [connection_refused]}
    client.add_fault(function="failure", call="dynamodb.GetItem", when="before", times=1000)
    client.create(type="action", policy="agent", subject="s2", payload=payload, **{"in": "4m"})
    payload["script"].append({"reply": "ok\nACTION_OUTCOME: success"})
    for _ in range(10):  # open the breaker
        client.create(type="action", policy="agent", payload=payload, **{"in": "4m"})
    client.advance("30m")
    assert client.call("DELETE", "/_local/faults").status == 200
    client.advance("1h")
    assert client.call("POST", "/dead-letters/redrive").body["redriven"]
    client.advance("1h")


def _simulate_chat_outage(client: StackClient) -> None:
    """A notification and a chat message become dead letters and are redriven."""
    client.add_fault(function="notifier", call="channel.send", kind="error", times=1000)
    payload = {"provider": "scripted", "script": [{"reply": "ok\nACTION_OUTCOME: success"}]}
    client.create(type="action", payload=payload, description="tidy up", **{"in": "4m"})
    client.advance("3h")
    assert client.call("DELETE", "/_local/faults").status == 200
    letters = client.items("/dead-letters")
    ids = [letter["id"] for letter in letters if letter["queue"] == "notices"]
    assert client.call("POST", "/dead-letters/redrive", {"ids": ids}).body["redriven"]
    client.advance("1m")
    assert client.outbox("ada")[-1]["text"] == "Done: tidy up\nok"
    client.add_fault(function="chat", call="channel.send", kind="error")
    body = {"sender_id": "ada", "text": "/tasks"}
    assert client.call("POST", "/webhooks/console", body, token=None).status == 200
    client.add_fault(function="chat", call="dynamodb.GetItem", kind="error", times=20)
    assert client.call("POST", "/webhooks/console", body, token=None).status == 200
    client.advance("1h")
    texts = [message["text"] for message in client.outbox("ada")]
    assert any(text.startswith("I could not answer this message") for text in texts)
    assert client.call("POST", "/dead-letters/redrive").body["redriven"]


def _simulate_refused_token(client: StackClient) -> None:
    """A notification, and then a reminder, wait for a channel that has no valid token.

    One after the other: only the function that is refused first pauses the channel.
    """
    payload = {"provider": "scripted", "script": [{"reply": "ok\nACTION_OUTCOME: success"}]}
    action = {"type": "action", "payload": payload, "description": "dust"}
    for function, fields in (("notifier", action), ("worker", {"description": "stretch"})):
        refused = {"status": 401, "message": "Unauthorized"}
        client.add_fault(
            function=function, call="channel.send", kind="error", error=refused, times=4
        )
        client.create(**fields, **{"in": "4m"})
        client.advance("1h")
    texts = {message["text"] for message in client.outbox("ada")}
    assert {"Done: dust\nok", "Reminder: stretch"} <= texts


def _read_routes(client: StackClient) -> None:
    for target in ("/retries", "/stats", "/policies", "/errors?category=transient", "/subjects/s1"):
        assert client.call("GET", target).status == 200, target
    for target in ("/now", "/budgets/daily", "/tasks?channel=console&sender_id=ada"):
        assert client.call("GET", target).status == 200, target
    explain_request = {"policy": "agent", "message": "boom"}
    assert client.call("POST", "/explain", explain_request).status == 200


def _use_quiet_hours_and_operators(client: StackClient) -> None:
    """Zoe's quiet hours defer her task for two hours. An operator cancels it."""
    now = client.stack.clock.now()
    client.say("/timezone UTC", sender="zoe")
    client.say(f"/quiet {now:%H}:00-{now + timedelta(hours=2):%H}:00", sender="zoe")
    down = {"error": {"message": "connect ECONNREFUSED 127.0.0.1:9", "code": "ECONNREFUSED"}}
    script = [down, {"reply": "ok\nACTION_OUTCOME: success"}]
    to_zoe = {"sender_id": "zoe", "reply_target": "zoe", "in": "5s"}
    client.create(type="action", payload={"provider": "scripted", "script": script}, **to_zoe)
    task = client.create(**to_zoe)
    client.advance("1m")
    assert client.task(task["id"])["wait"] == "quiet_hours"
    body = {"sender_id": "eve", "reply_target": "operators", "text": f"/cancel {task['id']}"}
    assert client.call("POST", "/webhooks/console", body, token=None).status == 200
    assert client.task(task["id"])["status"] == "cancelled"
    client.advance("3h")
    assert client.outbox("zoe")[-1]["text"].startswith("Done on attempt 2: ")


def _permissions(call: Call) -> Iterator[Permission]:
    if "TransactItems" in call.body:
        for item in call.body["TransactItems"]:
            for operation, request in item.items():
                yield ACTION_OF_TRANSACTION[operation], request["TableName"]
        return
    action = f"{call.service}:{call.operation}"
    for resource in _resources(call):
        yield ACTION_OF.get(action, action), resource


# Services whose permissions name a parameter instead of the resource itself.
PARAMETER_OF = {"bedrock-runtime": "BedrockModelArns", "lambda": "LambdaFunctions"}


def _resources(call: Call) -> list[str]:
    body = call.body
    match call.service:
        case "sqs":
            return [str(body["QueueUrl"]).rpartition("/")[2].removesuffix(".fifo")]
        case "bedrock-runtime" | "lambda":
            return [PARAMETER_OF[call.service]]
        case "sns":
            return [str(body["TopicArn"]).rpartition(":")[2]]
        case "apigatewaymanagementapi":
            return [f"LiveApi/{'POST' if call.operation == 'PostToConnection' else 'DELETE'}"]
        case "events":
            return ["EventBus" if call.operation == "PutEvents" else "rules"]
        case "secretsmanager":
            return [re.sub(r".*:secret:(\w+)-\w+", r"\1", body["SecretId"])]
        case "dynamodbstreams":
            # An iterator names its stream too, but only to AWS: every stream that is read gets one.
            return [f"{name}/stream" for name in ("TasksTable", "JournalTable")]
    index = f"/index/{body['IndexName']}" if "IndexName" in body else ""
    return list(body.get("RequestItems") or [body["TableName"] + index])
