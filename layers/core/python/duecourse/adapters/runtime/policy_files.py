"""Read the policies of a folder: the built-in ones, or a team's own."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from duecourse.domain.errors import PolicyError
from duecourse.domain.failures.policy import Policy
from duecourse.domain.failures.policy_loader import RULES_SUFFIX, load_policies

BUILTIN_FOLDER = Path(__file__).parents[2] / "policies"


@cache
def read_policies(folder: Path = BUILTIN_FOLDER) -> Mapping[str, Policy]:
    """Return the policies by name. They are cached: they change only with a deployment.

    Raises PolicyError.
    """
    return load_policies({path.name: _read_text(path) for path in sorted(folder.glob("*.toml"))})


@cache
def read_policies_without_rules(folder: Path = BUILTIN_FOLDER) -> Mapping[str, Policy]:
    """Return the policies without the rules from separate files, in a tenth of the time.

    Such policies know everything except how to classify an error.
    """
    files = [path for path in folder.glob("*.toml") if not path.name.endswith(RULES_SUFFIX)]
    return load_policies({path.name: _read_text(path) for path in files})


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise PolicyError(path.name, None, f"cannot be read: {error}") from None
