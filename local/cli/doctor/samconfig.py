"""Read from samconfig.toml which stack an environment deploys, and where."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from local.cli.errors import UsageError

DEFAULT_ENVIRONMENT = "default"


@dataclass(frozen=True, slots=True)
class DeployConfig:
    """`region` and `profile` are None if the file leaves them to the caller's environment."""

    stack_name: str
    region: str | None = None
    profile: str | None = None


def read_config(path: Path, environment: str) -> DeployConfig:
    """Return the configuration of one environment. Raises UsageError."""
    try:
        document = tomllib.loads(path.read_text())
    except OSError:
        raise UsageError(f"{path.name} not found: use --stack NAME") from None
    except (ValueError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"{path.name}: {error}") from None
    sections = document.get(environment)
    if not isinstance(sections, dict):
        known = ", ".join(name for name, value in document.items() if isinstance(value, dict))
        raise UsageError(f"--env: {path.name} has no environment {environment}; it has: {known}")
    values = {**_parameters(sections, "global"), **_parameters(sections, "deploy")}
    if not isinstance(values.get("stack_name"), str):
        raise UsageError(f"{path.name} names no stack_name for {environment}: use --stack NAME")
    return DeployConfig(
        values["stack_name"], _text_or_none(values, "region"), _text_or_none(values, "profile")
    )


def _parameters(sections: Mapping[str, Any], command: str) -> dict[str, Any]:
    section = sections.get(command)
    parameters = section.get("parameters") if isinstance(section, dict) else None
    return parameters if isinstance(parameters, dict) else {}


def _text_or_none(values: Mapping[str, Any], name: str) -> str | None:
    value = values.get(name)
    return value if isinstance(value, str) and value else None
