"""A policy by the name that a flag gives."""

from __future__ import annotations

from typing import TYPE_CHECKING

from local.cli.errors import CommandFailedError, UsageError

if TYPE_CHECKING:
    from duecourse.domain.failures.policy import Policy


def find_policy(name: str) -> Policy:
    """Raises UsageError for a name that is unknown, FailedError where a policy file is wrong."""
    from duecourse.adapters.runtime.policy_files import read_policies
    from duecourse.domain.errors import PolicyError

    try:
        policies = read_policies()
    except PolicyError as error:
        raise CommandFailedError(str(error)) from None
    if name not in policies:
        raise UsageError(f"--policy {name}: must be one of {', '.join(sorted(policies))}")
    return policies[name]
