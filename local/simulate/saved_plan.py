"""Read a saved plan. One that was edited wrongly is refused, with the name of the field."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from local.simulate.chance import Chance
from local.simulate.fault_rates import FAULT_RATES
from local.simulate.faults import CALL_FAULTS, LAMBDA_TIMEOUT
from local.simulate.operations import OPERATIONS
from local.simulate.plan import ALL_FAULTS, Operation, Plan
from local.simulate.workload.operation_kind import Draft

MAX_SEED = 10**12 - 1
MAX_SECONDS = 24 * 60 * 60
_FIELDS = ("seed", "operations", "faults", "waits")
_DRAWS = 200  # enough to draw each argument that an operation may have
_SECONDS_RULE = f"must be a number of seconds from 0 to {MAX_SECONDS}"


class InvalidPlanError(Exception):
    """A saved plan cannot be read."""


def plan_from_text(text: str) -> Plan:
    """Return the saved plan. Raises InvalidPlanError naming the field."""
    raw = _parse_object(text)
    for name in raw:
        _check(name in _FIELDS, name, f"unknown field; known: {', '.join(_FIELDS)}")
    seed, operations = raw.get("seed"), raw.get("operations")
    is_seed = isinstance(seed, int) and not isinstance(seed, bool) and 0 <= seed <= MAX_SEED
    _check(is_seed, "seed", f"must be a whole number from 0 to {MAX_SEED}")
    if not isinstance(operations, list):
        raise InvalidPlanError("operations: must be a list")
    return Plan(
        raw["seed"],
        [_to_operation(f"operations[{n}]", one) for n, one in enumerate(operations)],
        faults=_read_faults(raw.get("faults")),
        waits=_read_waits(raw.get("waits")),
    )


def _check(is_valid: bool, field: str, message: str) -> None:
    if not is_valid:
        raise InvalidPlanError(f"{field}: {message}")


def _parse_object(text: str) -> dict[str, Any]:
    try:
        raw = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidPlanError(f"not JSON: {error}") from None
    if not isinstance(raw, dict):
        raise InvalidPlanError("must be an object with seed and operations")
    return raw


def _is_seconds(raw: Any) -> bool:
    is_number = isinstance(raw, int | float) and not isinstance(raw, bool)
    return is_number and 0 <= raw <= MAX_SECONDS


def _to_operation(field: str, raw: Any) -> Operation:
    if not isinstance(raw, dict):
        raise InvalidPlanError(f"{field}: must be an object with at and do")
    at, name = raw.get("at"), raw.get("do")
    _check(_is_seconds(at), f"{field}.at", _SECONDS_RULE)
    if not isinstance(name, str) or name not in OPERATIONS:
        raise InvalidPlanError(f"{field}.do: must be one of {', '.join(OPERATIONS)}")
    arguments = {key: value for key, value in raw.items() if key not in ("at", "do")}
    required, known = _list_arguments(name)
    for key in arguments:
        listed = ", ".join(sorted(known)) or "none"
        _check(key in known, f"{field}.{key}", f"no argument of {name}; known: {listed}")
    for key in sorted(required):
        _check(key in arguments, f"{field}.{key}", f"{name} needs this argument")
    return Operation(raw["at"], name, arguments)


@cache
def _list_arguments(operation: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the arguments that the operation always has, and all that it may have."""
    draft = Draft(Chance(0).source("operations"))
    draws = [frozenset(OPERATIONS[operation].draw(draft)) for _ in range(_DRAWS)]
    return frozenset.intersection(*draws), frozenset.union(*draws)


def _read_faults(raw: Any) -> Mapping[str, str] | None:
    if raw is None:
        return None
    if not isinstance(raw, dict):
        raise InvalidPlanError("faults: must be an object of points and faults, or null")
    for point, name in raw.items():
        field = f"faults[{json.dumps(point)}]"
        is_known = isinstance(name, str) and name in ALL_FAULTS
        _check(is_known, field, f"must be one of {', '.join(sorted(ALL_FAULTS))}")
        _check_point(field, point, name)
    return raw


def _check_point(field: str, point: str, name: str) -> None:
    """Check that the fault can strike at a point of this form."""
    if name in FAULT_RATES:
        is_fitting = len(point) > len(name) + 1 and point.endswith(f" {name}")
        _check(is_fitting, field, f"the point of {name} must end with {name}")
        return
    # An invocation may also time out while it waits for a response.
    when = "before|after" if name == LAMBDA_TIMEOUT else CALL_FAULTS[name][1].when
    is_fitting = re.fullmatch(rf"\S+ \S+ ({when}) [1-9][0-9]*", point) is not None
    example = f"worker channel.send {when.split('|')[0]} 1"
    _check(is_fitting, field, f"the point of {name} must be such as `{example}`")


def _read_waits(raw: Any) -> Mapping[str, float] | None:
    if raw is None:
        return None
    if not isinstance(raw, dict):
        raise InvalidPlanError("waits: must be an object of points and seconds, or null")
    for point, seconds in raw.items():
        _check(_is_seconds(seconds), f"waits[{json.dumps(point)}]", _SECONDS_RULE)
    return raw
