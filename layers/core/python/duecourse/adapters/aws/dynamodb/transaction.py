"""All-or-nothing writes of several items."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from pynamodb.connection import Connection as PynamoConnection
from pynamodb.transactions import TransactWrite

from duecourse.adapters.aws.dynamodb.models import Connection


@contextmanager
def write_transaction() -> Iterator[TransactWrite]:
    with TransactWrite(connection=_connection()) as transaction:
        yield transaction


@cache
def _connection() -> PynamoConnection:
    return PynamoConnection(
        connect_timeout_seconds=Connection.connect_timeout_seconds,
        read_timeout_seconds=Connection.read_timeout_seconds,
        max_retry_attempts=Connection.max_retry_attempts,
    )
