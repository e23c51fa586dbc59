"""Each function's role allows just the calls that the function makes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import pytest
from duecourse.adapters.aws.websocket_sender import ApiGatewaySender
from duecourse.adapters.channels.telegram.outbound import TelegramChannel
from duecourse.app import registry, stores

from local.runtime import aws_clients
from local.runtime.call_interceptor import Call
from local.runtime.template import ROOT, load_template, resources_of_type
from local.testing.faults import short_name
from tests.support.custom_handler import BUG, HandlerProject, handler_project
from tests.support.platforms import telegram_message, telegram_update
from tests.support.receiver import Receiver
from tests.support.stack_client import StackClient

Permission = tuple[str, str]  # an action and what it is done to: ("dynamodb:Query", "TasksTable")
ACTION_OF = {
    "sqs:SendMessageBatch": "sqs:SendMessage",
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
# Lambda itself reports to the on-failure destination of a stream, in the function's name.
USED_BY_LAMBDA = {"journal": {("sqs:SendMessage", "JournalDeadLetterQueue")}}
FUNCTIONS = sorted(
    short_name(name) for name in resources_of_type(load_template(), "AWS::Lambda::Function")
)
every_function = pytest.mark.parametrize("function", FUNCTIONS)


@every_function
def test_every_call_a_function_makes_is_allowed(function: str) -> None:
    assert _made()[function] - _allowed(function) == set()


@every_function
def test_nothing_is_allowed_that_a_function_does_not_do(function: str) -> None:
    needed = _made()[function] | USED_BY_LAMBDA.get(function, set())

    assert _allowed(function) - needed == set()


# --- what the roles say -----------------------------------------------------------------------


def _allowed(function: str) -> set[Permission]:
    roles = resources_of_type(load_template(), "AWS::IAM::Role")
    [role] = [
        roles[properties["Role"]["Fn::GetAtt"][0]]
        for name, properties in resources_of_type(load_template(), "AWS::Lambda::Function").items()
        if short_name(name) == function
    ]
    documents = [policy["PolicyDocument"] for policy in role.get("Policies", ())]
    return {
        (action, _named(resource))
        for document in documents
        for statement in map(_granted, document["Statement"])
        for action in _listed(statement["Action"])
        for resource in _listed(statement["Resource"])
    }


def _granted(statement: dict[str, Any]) -> dict[str, Any]:
    """Also what is granted only where a parameter says so."""
    granted: dict[str, Any] = statement["Fn::If"][1] if "Fn::If" in statement else statement
    return granted


def _named(resource: Any) -> str:
    """TasksTable, TasksTable/index/DueIndex, ... as the calls below are named."""
    match resource:
        case {"Fn::GetAtt": [name, "Arn"]} | {"Ref": name}:
            return str(name)
        case {"Fn::Sub": text} if text.endswith("/@connections/*"):
            return f"LiveApi/{text.split('/')[-3]}"
        case {"Fn::Sub": text}:
            return re.sub(r"\$\{(\w+)\.Arn\}", r"\1", text)
    raise ValueError(f"{resource} is not understood here")


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


# --- what the functions do --------------------------------------------------------------------


@cache
def _made() -> dict[str, set[Permission]]:
    """All calls of a day in the life of the system."""
    made: dict[str, set[Permission]] = {function: set() for function in FUNCTIONS}

    def on_call(call: Call) -> None:
        if call.function is not None:
            made[call.function].update(_permissions(call))

    with (
        TemporaryDirectory() as folder,
        Receiver() as receiver,
        _elsewhere(receiver),
        handler_project(Path(folder)) as team,
    ):
        client = team.client
        client.stack.calls.on_aws_call = on_call
        _outside(client, receiver)
        _mended_code(team)
        _by_http(client)
        _a_listener(client)
        _by_chat(client)
        _by_telegram(client)
        _lost_answers(client)
        _a_crash(client)
        _failures(client)
        _a_review(client)
        _lessons(client)
        _dead_letters(client)
        _a_chat_that_is_down(client)
        _questions(client)
        _quiet_hours_and_operators(client)
        client.create(due_at="2026-02-19T15:00:00Z", repeat="daily")
        client.advance("3d")
        assert len(client.outbox()) > 5
        seen = {function for function, _ in client.stack.calls.counts}
        assert seen == set(FUNCTIONS), "the scenario must wake every function"
    return made


@contextmanager
def _elsewhere(receiver: Receiver) -> Iterator[None]:
    """Bedrock, another Lambda function and Telegram, played by the receiver."""
    there = {
        "AWS_ENDPOINT_URL_BEDROCK_RUNTIME": receiver.url(""),
        "AWS_ENDPOINT_URL_LAMBDA": receiver.url(""),
        "LAMBDA_FUNCTIONS": "lights",
        "TELEGRAM_BOT_TOKEN": "1:token",
        "ADAPT_DELAYS": "on",
    }
    telegram = TelegramChannel.__init__.__kwdefaults__
    with patch.dict("os.environ", there), patch.dict(telegram, endpoint=receiver.url("")):
        yield


def _outside(client: StackClient, receiver: Receiver) -> None:
    """A webhook, a provider with a key, Bedrock, another function, and work to be verified."""
    receiver.answer(200, b'{"ok": true, "result": {}}')
    for kind, payload in [
        ("webhook", {"url": receiver.url("/hook")}),
        ("lambda", {"function": "lights"}),
        ("action", {"provider": "openai", "endpoint": receiver.url("/v1")}),
        ("action", {"provider": "bedrock"}),
    ]:
        client.create(type=kind, payload=payload, **{"in": "1s"})
    client.advance("10s")
    for verdict, body in (("approve", None), ("reject", {"reason": "no"})):
        task = _to_be_verified(client, subject=verdict)
        assert client.call("POST", f"/tasks/{task['id']}/{verdict}", body).status == 200
    for answer in ("/approve {}", "/reject {} no"):
        task = _to_be_verified(client, subject=answer)
        client.say(answer.format(task["short_id"]))
    told = {sent["text"].split()[0] for sent in client.outbox()}
    assert {"Approved", "Rejected"} <= told


def _to_be_verified(client: StackClient, *, subject: str) -> dict[str, Any]:
    done = {"provider": "scripted", "script": [{"reply": "ACTION_OUTCOME: success"}]}
    task = client.create(type="action", payload=done, verify=True, subject=subject, **{"in": "1s"})
    client.advance("2s")
    return client.task(task["id"])


def _by_http(client: StackClient) -> None:
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
    other = client.create(**{"in": "2d"})
    assert client.call("POST", f"/tasks/{other['id']}/cancel").status == 200


def _mended_code(team: HandlerProject) -> None:
    """The sweeper takes up what failed by a bug, once other code is deployed."""
    team.deploy(prepare=BUG)
    task_id = team.create()
    team.client.advance("15m")
    team.deploy()
    team.client.advance("15m")
    assert team.status(task_id) == "completed"


def _by_telegram(client: StackClient) -> None:
    """A message in, its answer, a reminder, and what becomes of an action: each so much after the
    other that whoever speaks has to read the token anew."""
    proof = {"x-telegram-bot-api-secret-token": "local"}
    for n, text in enumerate(
        ["/timezone berlin", "/remind in 10 minutes tea", "/do in 20 minutes x"]
    ):
        said_at = int(client.stack.clock.now().timestamp())
        update = telegram_update(telegram_message(text, date=said_at), update_id=n)
        answer = client.call("POST", "/webhooks/telegram", update, token=None, headers=proof)
        assert answer.status == 200
    client.advance("30m")
    told = {sent["text"].split()[0] for sent in client.items("/_local/outbox?channel=telegram")}
    assert {"Your", "Reminder", "Reminder:", "Action", "Done:"} <= told


def _by_chat(client: StackClient) -> None:
    short_id = client.say("/remind in 20 seconds stretch").split()[1]
    assert short_id in client.say("/tasks")
    later = client.say("/remind in 2 days stretch").split()[1]
    assert client.say(f"/cancel {later}").startswith("Cancelled")


def _a_listener(client: StackClient) -> None:
    """Held by API Gateway, which moto plays: one hears of a task and expires, another leaves."""
    client.advance("1m")  # what others read of the tokens is forgotten
    pusher = ApiGatewaySender(stores.settings().live_endpoint)
    client.stack.scheduler.call(lambda: registry.register_connection_sender(pusher))
    files = [ROOT / "events" / f"live_{name}.json" for name in ("connect", "ping")]
    connect, ping = (json.loads(file.read_text()) for file in files)
    assert client.stack.invoke("live", connect)["statusCode"] == 200
    said = {**ping, "body": '{"action": "subscribe"}'}
    assert "subscribed" in client.stack.invoke("live", said)["body"]
    client.create(**{"in": "2d"})
    client.advance("2h")
    client.create(**{"in": "2d"})
    client.stack.invoke("live", connect)
    leaving = {**ping["requestContext"], "eventType": "DISCONNECT"}
    client.stack.invoke("live", {**ping, "requestContext": leaving})


def _lost_answers(client: StackClient) -> None:
    """A write whose answer was lost is looked up, to be recognised as one's own."""
    for function in ("api", "chat"):
        client.add_fault(function=function, call="dynamodb.PutItem", when="after", kind="timeout")
    client.create(**{"in": "2d"})
    assert client.say("/remind in 2 days stretch").startswith("Reminder")


def _a_crash(client: StackClient) -> None:
    """The sweeper finds the lease that ran out; a series due again soon is sent by its worker."""
    client.add_fault(function="worker", call="channel.send", when="before", kind="crash")
    client.create(**{"in": "5m"})
    often = client.create(**{"in": "6m"}, repeat="* * * * *")
    client.advance("15m")
    assert client.call("POST", f"/tasks/{often['id']}/cancel").status == 200
    assert client.stack.functions.metrics["RunsRecovered"].count(1) == 1


def _failures(client: StackClient) -> None:
    """Actions on a subject and a budget that fail, are given up, open the breaker, and succeed."""
    down = {"error": {"message": "connect ECONNREFUSED 127.0.0.1:9", "code": "ECONNREFUSED"}}
    well = {"reply": "done\nACTION_OUTCOME: success"}
    assert client.call("PUT", "/budgets/daily", {"limit": 1}).status == 200
    assert client.items("/budgets")
    paid = {"provider": "scripted", "script": [down, well], "budget": "daily"}
    client.create(type="action", policy="agent", subject="s1", payload=paid, **{"in": "5s"})
    _an_outage(client, down, well)  # whose end the sweeper notices
    client.add_fault(function="sweeper", call="dynamodb.GetItem", times=1000)
    _an_outage(client, down, well)  # and one whose end the next task notices
    client.create(type="action", payload={"provider": "scripted", "script": [well]}, **{"in": "1s"})
    client.advance("1m")
    assert client.call("DELETE", "/_local/faults").status == 200
    states = {breaker["provider"]: breaker["state"] for breaker in client.items("/breakers")}
    assert states["scripted"] == "closed"
    assert client.items("/breakers/scripted/history")
    assert client.call("POST", "/subjects/s1/reset").status == 200


def _a_review(client: StackClient) -> None:
    """Of a specification, with whose answer the task goes on."""
    broken = {"error": {"message": 'file.ts(45,12): error TS2304: Cannot find name "foo"'}}
    script = [broken, broken, broken, {"reply": "done\nACTION_OUTCOME: success"}]
    payload = {"provider": "scripted", "script": script, "spec": "foo is in lib/foo.ts"}
    task = client.create(type="action", payload=payload, **{"in": "5s"})
    client.advance("10m")
    assert client.task(task["id"])["status"] == "completed"


def _an_outage(client: StackClient, down: dict[str, Any], well: dict[str, Any]) -> None:
    for _ in range(10):
        payload = {"provider": "scripted", "script": [down, well]}
        client.create(type="action", payload=payload, **{"in": "1m"})
    client.advance("1h")


def _lessons(client: StackClient) -> None:
    """What a person says of a failure is remembered, shown and forgotten."""
    payload = {"provider": "scripted", "script": [{"error": {"message": "the quay is wet"}}]}
    task = client.create(type="action", payload=payload, **{"in": "5s"})
    client.advance("6s")
    said = {"category": "timeout"}
    assert client.call("POST", f"/tasks/{task['id']}/reclassify", said).status == 200
    client.advance("1s")
    assert client.items("/delays")
    [pattern] = [one for one in client.items("/patterns") if one["said_by_person"]]
    target = f"/patterns/{pattern['policy']}/{pattern['fingerprint']}"
    assert client.call("DELETE", target).body["forgotten"]


def _dead_letters(client: StackClient) -> None:
    """A message nobody can read, one that no worker got to, and a report nobody could record."""
    sqs = aws_clients.client("sqs")
    for queue in ("WorkDeadLetterQueue", "SlowWorkDeadLetterQueue", "FailuresDeadLetterQueue"):
        sqs.send_message(QueueUrl=sqs.get_queue_url(QueueName=queue)["QueueUrl"], MessageBody="?")
    client.create(**{"in": "4m"})
    client.add_fault(function="worker", call="dynamodb.GetItem", when="before", times=12)
    client.advance("1h")
    lost = {"error": {"message": "connect ECONNREFUSED 127.0.0.1:9", "code": "ECONNREFUSED"}}
    payload = {"provider": "scripted", "script": [lost]}
    client.add_fault(function="failure", call="dynamodb.GetItem", when="before", times=1000)
    client.create(type="action", policy="agent", subject="s2", payload=payload, **{"in": "4m"})
    client.advance("30m")
    assert client.call("DELETE", "/_local/faults").status == 200
    client.advance("1h")
    assert client.call("POST", "/dead-letters/redrive").body["redriven"]
    client.advance("1h")


def _a_chat_that_is_down(client: StackClient) -> None:
    """A notice dies, is kept, and arrives once it is sent back; so does a message."""
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
    client.add_fault(function="chat", call="channel.send", kind="error", times=5)
    body = {"sender_id": "ada", "text": "/tasks"}
    assert client.call("POST", "/webhooks/console", body, token=None).status == 200
    client.advance("1h")
    told = [sent["text"] for sent in client.outbox("ada")]
    assert any(text.startswith("I could not answer this message") for text in told)
    assert client.call("POST", "/dead-letters/redrive").body["redriven"]


def _questions(client: StackClient) -> None:
    for target in ("/retries", "/stats", "/policies", "/errors?category=transient", "/subjects/s1"):
        assert client.call("GET", target).status == 200, target
    for target in ("/now", "/budgets/daily"):
        assert client.call("GET", target).status == 200, target
    asked = {"policy": "agent", "message": "boom"}
    assert client.call("POST", "/explain", asked).status == 200


def _quiet_hours_and_operators(client: StackClient) -> None:
    """Zoe is not to be disturbed for two hours: what would come waits. An operator calls it off."""
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


def _resources(call: Call) -> list[str]:
    body = call.body
    match call.service:
        case "sqs":
            return [str(body["QueueUrl"]).rpartition("/")[2].removesuffix(".fifo")]
        case "bedrock-runtime":
            return ["BedrockModelArns"]
        case "lambda":
            return ["LambdaFunctions"]
        case "apigatewaymanagementapi":
            return [f"LiveApi/{'POST' if call.operation == 'PostToConnection' else 'DELETE'}"]
        case "events":
            return ["EventBus"]
        case "secretsmanager":
            return [re.sub(r".*:secret:(\w+)-\w+", r"\1", body["SecretId"])]
    if "RequestItems" in body:
        return list(body["RequestItems"])
    index = f"/index/{body['IndexName']}" if "IndexName" in body else ""
    return [body["TableName"] + index]
