"""EventBridge: buses whose rules send matching events to queues."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from local.testing.lean_aws.errors import AwsError, UnsupportedError, validation_error
from local.testing.lean_aws.sqs import Sqs

MAX_ENTRIES = 10
_REQUIRED = ("Source", "DetailType", "Detail")


@dataclass
class Rule:
    pattern: dict[str, Any]
    is_enabled: bool = True
    queue_arns: dict[str, str] = field(default_factory=dict)


class Events:
    def __init__(
        self,
        sqs: Sqs,
        *,
        region: str,
        account: str,
        now: Callable[[], float],
        new_id: Callable[[], str],
    ) -> None:
        self._sqs = sqs
        self._region = region
        self._account = account
        self._now = now
        self._new_id = new_id
        self.buses: dict[str, dict[str, Rule]] = {"default": {}}
        self.operations: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
            "CreateEventBus": self.create_event_bus,
            "PutRule": self.put_rule,
            "ListRules": self.list_rules,
            "EnableRule": lambda request: self._switch(request, is_enabled=True),
            "DisableRule": lambda request: self._switch(request, is_enabled=False),
            "DeleteRule": self.delete_rule,
            "PutTargets": self.put_targets,
            "PutEvents": self.put_events,
        }

    def create_event_bus(self, request: dict[str, Any]) -> dict[str, Any]:
        name = request["Name"]
        if name in self.buses:
            raise AwsError("ResourceAlreadyExistsException", f"Event bus {name} already exists.")
        self.buses[name] = {}
        return {"EventBusArn": self._arn(f"event-bus/{name}")}

    def put_rule(self, request: dict[str, Any]) -> dict[str, Any]:
        if "EventPattern" not in request:
            raise UnsupportedError("PutRule without EventPattern")
        rules, name = self._rules(request), request["Name"]
        queues = rules[name].queue_arns if name in rules else {}
        is_enabled = request.get("State", "ENABLED") == "ENABLED"
        rules[name] = Rule(json.loads(request["EventPattern"]), is_enabled, queues)
        return {"RuleArn": self._arn(f"rule/{name}")}

    def list_rules(self, request: dict[str, Any]) -> dict[str, Any]:
        bus = request.get("EventBusName", "default")
        rules = [
            {
                "Name": name,
                "Arn": self._arn(f"rule/{name}"),
                "EventPattern": json.dumps(rule.pattern),
                "State": "ENABLED" if rule.is_enabled else "DISABLED",
                "EventBusName": bus,
            }
            for name, rule in self._rules(request).items()
        ]
        return {"Rules": rules}

    def delete_rule(self, request: dict[str, Any]) -> dict[str, Any]:
        self._rules(request).pop(request["Name"], None)
        return {}

    def put_targets(self, request: dict[str, Any]) -> dict[str, Any]:
        rules = self._rules(request)
        if request["Rule"] not in rules:
            raise AwsError("ResourceNotFoundException", f"Rule {request['Rule']} does not exist.")
        for target in request["Targets"]:
            if ":sqs:" not in target["Arn"] or target.keys() != {"Id", "Arn"}:
                raise UnsupportedError("targets of a rule other than plain SQS queues")
            rules[request["Rule"]].queue_arns[target["Id"]] = target["Arn"]
        return {"FailedEntryCount": 0, "FailedEntries": []}

    def put_events(self, request: dict[str, Any]) -> dict[str, Any]:
        if len(request["Entries"]) > MAX_ENTRIES:
            raise validation_error(f"entries must have at most {MAX_ENTRIES} members")
        results = [self._put_event(entry) for entry in request["Entries"]]
        failed = sum("ErrorCode" in result for result in results)
        return {"FailedEntryCount": failed, "Entries": results}

    def _put_event(self, entry: dict[str, Any]) -> dict[str, Any]:
        for name in _REQUIRED:
            if not entry.get(name):
                message = f"Parameter {name} is not valid. Reason: {name} is a required argument."
                return {"ErrorCode": "InvalidArgument", "ErrorMessage": message}
        try:
            detail = json.loads(entry["Detail"])
        except ValueError:
            return {"ErrorCode": "MalformedDetail", "ErrorMessage": "Detail is malformed."}
        event = self._to_event(entry, detail)
        for rule in self._rules(entry).values():
            if rule.is_enabled and matches(event, rule.pattern):
                self._send(event, rule)
        return {"EventId": event["id"]}

    def _to_event(self, entry: dict[str, Any], detail: Any) -> dict[str, Any]:
        at = datetime.fromtimestamp(entry.get("Time", self._now()), tz=UTC)
        return {
            "version": "0",
            "id": self._new_id(),
            "detail-type": entry["DetailType"],
            "source": entry["Source"],
            "account": self._account,
            "time": at.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "region": self._region,
            "resources": entry.get("Resources", []),
            "detail": detail,
        }

    def _send(self, event: dict[str, Any], rule: Rule) -> None:
        for arn in rule.queue_arns.values():
            url = self._sqs.queue(arn.rpartition(":")[2]).url
            self._sqs.send_message({"QueueUrl": url, "MessageBody": json.dumps(event)})

    def _switch(self, request: dict[str, Any], *, is_enabled: bool) -> dict[str, Any]:
        rules = self._rules(request)
        if request["Name"] not in rules:
            raise AwsError("ResourceNotFoundException", f"Rule {request['Name']} does not exist.")
        rules[request["Name"]].is_enabled = is_enabled
        return {}

    def _arn(self, resource: str) -> str:
        return f"arn:aws:events:{self._region}:{self._account}:{resource}"

    def _rules(self, request: dict[str, Any]) -> dict[str, Rule]:
        name = request.get("EventBusName", "default").rpartition("/")[2]
        if name not in self.buses:
            raise AwsError("ResourceNotFoundException", f"Event bus {name} does not exist.")
        return self.buses[name]


def matches(value: Any, pattern: dict[str, Any]) -> bool:
    """Return whether an event matches: by value, `prefix`, `exists` or `anything-but`."""
    return all(
        _matches_field(value.get(name) if isinstance(value, dict) else None, expected)
        for name, expected in pattern.items()
    )


def _matches_field(value: Any, expected: Any) -> bool:
    if isinstance(expected, dict):
        return matches(value, expected)
    values = value if isinstance(value, list) else [value]
    return any(_matches_one(one, option) for one in values for option in expected)


def _matches_one(value: Any, option: Any) -> bool:
    match option:
        case {"prefix": prefix}:
            return isinstance(value, str) and value.startswith(prefix)
        case {"exists": bool(is_expected)}:
            return (value is not None) is is_expected
        case {"anything-but": list(refused)}:
            return value is not None and value not in refused
        case dict():
            raise UnsupportedError(f"the event pattern {option}")
        case _:
            return bool(value == option)
