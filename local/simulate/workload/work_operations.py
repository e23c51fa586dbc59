"""Operations that create tasks of the types `enrich` and `lambda`, and of the team's own types."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from local.simulate.actor import Actor
from local.simulate.outside_work import LAMBDA_NAME
from local.simulate.workload.create_operations import (
    BUDGETS,
    COVERS,
    SUBJECTS,
    draw_reminder,
)
from local.simulate.workload.follow_ups import AFTER_BUG, AFTER_UNKNOWN, AT_END
from local.simulate.workload.operation_kind import Arguments, Draft, OperationKind, select
from local.simulate.workload.provider_scripts import ENRICH_SCRIPTS, with_cost

_SCHEMA = {
    "type": "object",
    "required": ["grade"],
    "properties": {"grade": {"type": "integer", "minimum": 1}},
}
# What happens at each attempt, see `outside_work`.
_LAMBDA_OUTCOMES = (
    ["success"],
    ["refused", "success"],
    ["fails-before", "success"],
    ["fails-after", "success"],
    ["unreadable"],
)
_LAMP_OUTCOMES = (["success"], *_LAMBDA_OUTCOMES[1:4])


def _draw_enrich(draft: Draft) -> Arguments:
    script = draft.rng.randrange(len(ENRICH_SCRIPTS))
    options: Arguments = {"tell": draft.rng.random() < 0.6}
    if draft.rng.random() < 0.4:
        options |= {"budget": draft.rng.choice(BUDGETS), "max_cost": 0.5, "cost": 0.2}
    if draft.rng.random() < 0.5:
        options["subject"] = draft.rng.choice(SUBJECTS)
    return {**draw_reminder(draft), "script": script, **options}


def _run_enrich(actor: Actor, arguments: Arguments) -> None:
    script = ENRICH_SCRIPTS[arguments["script"]]
    payload: dict[str, Any] = {"provider": "scripted", "schema": _SCHEMA, "input": {"text": "Ah."}}
    payload |= select(arguments, "tell", "budget", "max_cost")
    payload["script"] = with_cost(script, arguments["cost"]) if "cost" in arguments else script
    _create(actor, arguments, "enrich", payload, **select(arguments, "subject"))


def _draw_lambda(draft: Draft) -> Arguments:
    outcomes = draft.rng.choice(_LAMBDA_OUTCOMES)
    return {**draw_reminder(draft), "outcomes": outcomes, "verify": draft.rng.random() < 0.15}


def _run_lambda(actor: Actor, arguments: Arguments) -> None:
    payload = {"function": LAMBDA_NAME, "input": {"outcomes": arguments["outcomes"]}}
    _create(actor, arguments, "lambda", payload, verify=arguments["verify"])


def _draw_lamp(draft: Draft) -> Arguments:
    return {
        **draw_reminder(draft),
        "type": draft.rng.choice(("lamp", "lamp", "remote-lamp")),
        "outcomes": draft.rng.choice(_LAMP_OUTCOMES),
        "verify": draft.rng.random() < 0.15,
    }


def _draw_buggy_lamp(draft: Draft) -> Arguments:
    """Draw a task of the handler that has a bug until the next deployment."""
    return {**_draw_lamp(draft), "type": "lamp", "bug": draft.rng.choice(("prepare", "mutate"))}


def _run_lamp(actor: Actor, arguments: Arguments) -> None:
    payload = select(arguments, "outcomes", "bug")
    _create(actor, arguments, arguments["type"], payload, verify=arguments["verify"])


def _create(
    actor: Actor, arguments: Arguments, kind: str, payload: Arguments, **options: Any
) -> None:
    fields = {"in": arguments["in"], "type": kind, "payload": payload, **options}
    actor.create(arguments["new"], fields, sender=arguments["sender"])


WORK_OPERATIONS: Mapping[str, OperationKind] = {
    "create-enrich": OperationKind(2, _draw_enrich, _run_enrich, COVERS, AT_END),
    "create-lambda": OperationKind(3, _draw_lambda, _run_lambda, COVERS, AFTER_UNKNOWN),
    "create-lamp": OperationKind(3, _draw_lamp, _run_lamp, COVERS),
    "create-buggy-lamp": OperationKind(2, _draw_buggy_lamp, _run_lamp, COVERS, AFTER_BUG),
}
