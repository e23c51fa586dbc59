"""AWS in memory: the few operations that the functions use, without threads, clock or chance.

It is held to moto by the contract tests, which run on both.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

from local.testing.lean_aws.connections import Connections
from local.testing.lean_aws.dynamodb import DynamoDb
from local.testing.lean_aws.dynamodb_streams import DynamoDbStreams
from local.testing.lean_aws.errors import UnsupportedError
from local.testing.lean_aws.events import Events
from local.testing.lean_aws.secrets import Secrets
from local.testing.lean_aws.sqs import Sqs

SERVICES = frozenset(
    {"dynamodb", "dynamodbstreams", "sqs", "events", "secretsmanager", "apigatewaymanagementapi"}
)
_READS = frozenset({"GetItem", "BatchGetItem", "Query", "GetSecretValue", "GetQueueUrl"})


class LeanAws:
    """`now` returns seconds since the epoch. Ids are numbered, so a run can be repeated exactly.

    `before_call`, if set, gets service, operation and request of every call. It may raise AwsError.
    """

    before_call: Callable[[str, str, dict[str, Any]], None] | None = None

    def __init__(self, *, region: str, account: str, now: Callable[[], float]) -> None:
        self._region = region
        self._account = account
        self._now = now
        self._ids = count(1)
        self.change_count = 0  # of calls that may have changed something
        self.reset()

    def reset(self) -> None:
        """Forget all tables, queues, buses and secrets. Ids continue."""
        where = {"region": self._region, "account": self._account}
        self.dynamodb = DynamoDb(**where, now=self._now)
        self.sqs = Sqs(**where, now=self._now, new_id=self._new_id)
        self.events = Events(self.sqs, **where, now=self._now, new_id=self._new_id)
        self.secrets = Secrets(**where, now=self._now, new_id=self._new_id)
        self._services = {
            "dynamodb": self.dynamodb.operations,
            "dynamodbstreams": DynamoDbStreams(self.dynamodb).operations,
            "sqs": self.sqs.operations,
            "events": self.events.operations,
            "secretsmanager": self.secrets.operations,
            "apigatewaymanagementapi": Connections().operations,
        }

    def call(self, service: str, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        """Return the response. Raises AwsError. The request must not be changed afterwards."""
        handler = self._services[service].get(operation)
        if handler is None:
            raise UnsupportedError(f"{service}.{operation}")
        if self.before_call is not None:
            self.before_call(service, operation, request)
        if operation not in _READS:
            self.change_count += 1
        return handler(request)

    def _new_id(self) -> str:
        return f"00000000-0000-4000-8000-{next(self._ids):012x}"
