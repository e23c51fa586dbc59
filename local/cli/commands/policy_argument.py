"""Find the policy that a flag names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from local.cli.errors import CommandFailedError, UsageError

if TYPE_CHECKING:
    from duecourse.domain.failures.policy import Policy


def find_policy(name: str) -> Policy:
    """Return the policy.

    Raises UsageError for an unknown name, and CommandFailedError if a policy file is invalid.
    """
    from duecourse.adapters.runtime.policy_files import read_policies
    from duecourse.domain.errors import PolicyError

    try:
        policies = read_policies()
    except PolicyError as error:
        raise CommandFailedError(str(error)) from None
    if name not in policies:
        raise UsageError(f"--policy {name}: use one of {', '.join(sorted(policies))}")
    return policies[name]
