"""What a deployment supports: task types, channels, policies and providers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from duecourse.domain.tasks.task import API_CHANNEL, REMINDER
from duecourse.domain.validation.payload_keys import FindKeys, PayloadCheck


def _accept_any(payload: Mapping[str, Any]) -> None:
    """Accept every payload."""


def _any_keys(payload: Mapping[str, Any]) -> None:
    """Accept every key."""


@dataclass(frozen=True)
class Capabilities:
    """What this deployment supports. Requests for anything else are refused."""

    types: frozenset[str]
    channels: frozenset[str]
    policies: Mapping[str, int]  # each with its default max_retries
    default_channel: str | None = None
    payload_checks: Mapping[str, PayloadCheck] = field(default_factory=dict)  # by task type
    check_verifier: PayloadCheck = _accept_any
    find_call_keys: FindKeys = _any_keys  # keys a provider reads from its payload

    def channels_for(self, task_type: str) -> frozenset[str]:
        return self.channels if task_type == REMINDER else self.channels | {API_CHANNEL}
