"""The lean endpoint as the AWS emulation of the local stack."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from math import ceil
from typing import Any

from local.runtime.clock import LocalClock
from local.runtime.template import ACCOUNT, REGION
from local.testing.lean_aws.botocore_hook import install_hook, refill_retry_quotas
from local.testing.lean_aws.endpoint import LeanAws
from local.testing.lean_aws.stream import SHARD_ID


class LeanBackend:
    aws: LeanAws

    @contextmanager
    def install(self, clock: LocalClock) -> Iterator[None]:
        self.aws = LeanAws(region=REGION, account=ACCOUNT, now=lambda: clock.now().timestamp())
        with install_hook(self.aws):
            yield

    def reset(self) -> None:
        self.aws.reset()
        refill_retry_quotas()

    def next_message_at(self, queue: str) -> datetime | None:
        available_at = self.aws.sqs.queue(queue).next_available_at()
        if available_at is None:
            return None
        # A float of seconds is a fraction of a microsecond off; a message is never early.
        return datetime.fromtimestamp(ceil(available_at * 1_000_000) / 1_000_000, tz=UTC)

    def release_visible(self, queue: str) -> None:
        """Nothing to do: a receive looks at all messages of a group first."""

    def stream_records(self, table: str) -> Sequence[dict[str, Any]]:
        stream = self.aws.dynamodb.table(table).stream
        return () if stream is None else stream.records

    def stream_shard_id(self, table: str) -> str:  # noqa: ARG002 - the same for all tables
        return SHARD_ID

    def read(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        return self.aws.call("dynamodb", operation, request)
