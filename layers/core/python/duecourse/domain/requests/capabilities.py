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
    """What this deployment supports. Requests for anything else are refused.

    `default_channel` is for tasks of every type that name no channel, `default_reminder_channel`
    for reminders alone. `only_targets` are the channels with one reply target, and that target.
    """

    types: frozenset[str]
    channels: frozenset[str]
    policies: Mapping[str, int]  # each with its default max_retries
    default_channel: str | None = None
    default_reminder_channel: str | None = None
    only_targets: Mapping[str, str] = field(default_factory=dict)
    payload_checks: Mapping[str, PayloadCheck] = field(default_factory=dict)  # by task type
    check_verifier: PayloadCheck = _accept_any
    find_call_keys: FindKeys = _any_keys  # keys a provider reads from its payload

    def channels_for(self, task_type: str) -> frozenset[str]:
        return self.channels if task_type == REMINDER else self.channels | {API_CHANNEL}

    def default_channel_for(self, task_type: str) -> str | None:
        """Return the channel of a task that names none, or None if it has to name one."""
        if task_type == REMINDER:
            return self.default_channel or self.default_reminder_channel
        return self.default_channel or API_CHANNEL
