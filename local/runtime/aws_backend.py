"""What the runtime needs to know of the AWS emulation beside its API."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Any, Protocol

from local.runtime.clock import LocalClock


class AwsBackend(Protocol):
    def install(self, clock: LocalClock) -> AbstractContextManager[None]:
        """Send all AWS calls of this process to the emulation, on this clock."""

    def reset(self) -> None:
        """Forget all resources and their contents."""

    def next_message_at(self, queue: str) -> datetime | None:
        """Return when the next message of the queue can be received, or None if it is empty.

        A FIFO group becomes available only when all its messages are visible.
        """

    def release_visible(self, queue: str) -> None:
        """Prepare a receive, so that it returns the visible messages of a group in order."""

    def stream_records(self, table: str) -> Sequence[dict[str, Any]]:
        """Return the table's stream records in the form that Lambda hands to functions."""

    def stream_shard_id(self, table: str) -> str:
        """Return the id of the stream's only shard."""

    def read(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        """Return DynamoDB's response to a read, without counting it or injecting a fault."""
