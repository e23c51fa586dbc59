"""Operations that create tasks over HTTP."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any
from zoneinfo import ZoneInfo

from local.simulate.actor import Actor
from local.simulate.workload.follow_ups import (
    AFTER_BLOCK,
    AFTER_CODE_ERROR,
    AFTER_FAILURE,
    AFTER_REMINDER,
    AFTER_SUBJECT,
    AFTER_UNKNOWN,
    AFTER_WORK,
    AT_END,
    BEFORE_PAYMENT,
    BEFORE_REMINDER,
    TO_FORGET,
)
from local.simulate.workload.operation_kind import Arguments, Draft, OperationKind, select
from local.simulate.workload.provider_scripts import (
    CODE_ERROR_SCRIPT,
    FAILING_SCRIPTS,
    REFUSED_SCRIPT,
    REVIEWED_SCRIPT,
    SCRIPTS,
    with_cost,
)

# Nobody but the receiver of a webhook may ever see this text.
CANARY = "zq7canary"
BUDGETS = ("llm", "daily")
SUBJECTS = ("story-1", "owner/repository")
SPEC = "foo is exported by lib/foo.ts"
_POLICIES = ("agent", "enrichment", "omega", "standard")
_ZONES = ("Europe/Berlin", "Asia/Kolkata", "America/New_York")
_STATUSES = ([200], [500, 200], [503, 500, 204], [400])
_UNKNOWN_STATUSES = ([504], [502, 200])
_QUIET_DELAYS = ("100s", "130s", "160s")
_QUIET_HOURS = ("12:00-12:30", "12:00-12:12")
_ACTION_FIELDS = ("policy", "max_retries", "subject", "verify")
COVERS = ("POST /tasks",)


def draw_reminder(draft: Draft) -> Arguments:
    return {"new": draft.new_task(), "in": draft.delay(), "sender": draft.sender()}


def run_reminder(actor: Actor, arguments: Arguments) -> None:
    fields = select(arguments, "in", "repeat")
    actor.create(arguments["new"], fields, sender=arguments["sender"])


def _draw_to_edit(draft: Draft) -> Arguments:
    """Draw a reminder that leaves time for changes."""
    return {**draw_reminder(draft), "in": "130s"}


def _draw_in_quiet_hours(draft: Draft) -> Arguments:
    """Draw a reminder in quiet hours that are set more than a minute before, see `say-quiet`."""
    delay, hours = draft.rng.choice(_QUIET_DELAYS), draft.rng.choice(_QUIET_HOURS)
    return {**draw_reminder(draft), "in": delay, "hours": hours}


def _run_in_quiet_hours(actor: Actor, arguments: Arguments) -> None:
    actor.say("/timezone UTC", sender=arguments["sender"])
    actor.say(f"/quiet {arguments['hours']}", sender=arguments["sender"])
    run_reminder(actor, arguments)


def _draw_in_zone(draft: Draft) -> Arguments:
    """Draw a time of the wall clock in a zone, and perhaps a cron line, which is of that zone."""
    zone = draft.rng.choice(_ZONES)
    due_at = draft.starts_at.astimezone(ZoneInfo(zone)) + timedelta(
        seconds=draft.rng.randint(70, 130)
    )
    arguments = {"new": draft.new_task(), "sender": draft.sender(), "timezone": zone}
    repeat = {"repeat": "*/3 * * * *"} if draft.rng.random() < 0.4 else {}
    return {**arguments, "due_at": due_at.replace(tzinfo=None).isoformat(), **repeat}


def _run_in_zone(actor: Actor, arguments: Arguments) -> None:
    fields = select(arguments, "due_at", "timezone", "repeat")
    actor.create(arguments["new"], fields, sender=arguments["sender"])


def _draw_action(draft: Draft) -> Arguments:
    script = draft.rng.randrange(len(SCRIPTS))
    return {**draw_reminder(draft), "script": script, "verify": draft.rng.random() < 0.2}


def _draw_failing_action(draft: Draft) -> Arguments:
    return {**draw_reminder(draft), "script": draft.rng.choice(FAILING_SCRIPTS)}


def _draw_with_policy(draft: Draft) -> Arguments:
    """Draw a failing action with a policy and a number of retries."""
    limits = {"policy": draft.rng.choice(_POLICIES), "max_retries": draft.rng.randint(1, 3)}
    return {**_draw_failing_action(draft), **limits}


def _draw_blocked(draft: Draft) -> Arguments:
    """Draw an action whose only retry fails too."""
    limits = {"policy": "agent", "max_retries": 1}
    return {**_draw_failing_action(draft), "script": REFUSED_SCRIPT, **limits}


def _draw_with_subject(draft: Draft) -> Arguments:
    return {**_draw_failing_action(draft), "subject": draft.rng.choice(SUBJECTS)}


def _draw_with_budget(draft: Draft) -> Arguments:
    cost = draft.rng.choice((0.001, 0.4))
    budget = {"budget": draft.rng.choice(BUDGETS), "max_cost": 0.5, "cost": cost}
    return {**_draw_action(draft), **budget}


def _draw_with_spec(draft: Draft) -> Arguments:
    """Draw an action with a specification. Code errors let it be reviewed."""
    arguments = {**_draw_failing_action(draft), "spec": SPEC}
    script = draft.rng.choice((arguments["script"], REVIEWED_SCRIPT, CODE_ERROR_SCRIPT))
    return {**arguments, "script": script}


def _draw_with_verifier(draft: Draft) -> Arguments:
    """Draw an action that a provider checks. If its answer is unclear, a person is asked."""
    verdict = draft.rng.choice(("success", "failed | the link is missing", "unclear"))
    script = {"script": 0} if draft.rng.random() < 0.6 else {}
    return {**_draw_action(draft), **script, "verify": True, "verdict": verdict}


def _draw_to_verify(draft: Draft) -> Arguments:
    """Draw an action that succeeds, and that a person has to approve."""
    return {**_draw_action(draft), "script": 0, "verify": True}


def _run_action(actor: Actor, arguments: Arguments) -> None:
    payload = _action_payload(arguments)
    options = {name: arguments[name] for name in _ACTION_FIELDS if arguments.get(name)}
    fields = {"in": arguments["in"], "type": "action", "payload": payload, **options}
    actor.create(arguments["new"], fields, sender=arguments["sender"])


def _action_payload(arguments: Arguments) -> dict[str, Any]:
    script = SCRIPTS[arguments["script"]]
    if "cost" in arguments:
        script = with_cost(script, arguments["cost"])
    payload: dict[str, Any] = {"provider": "scripted", "script": script}
    payload |= select(arguments, "budget", "max_cost", "spec")
    if "verdict" in arguments:
        reply = f"Checked.\nACTION_OUTCOME: {arguments['verdict']}"
        payload["verifier"] = {"provider": "scripted", "script": [{"reply": reply}]}
    return payload


def _draw_webhook(draft: Draft) -> Arguments:
    return {**draw_reminder(draft), "statuses": draft.rng.choice(_STATUSES)}


def _draw_unknown(draft: Draft) -> Arguments:
    """Draw a webhook whose receiver does not say whether it did the work."""
    return {**draw_reminder(draft), "statuses": draft.rng.choice(_UNKNOWN_STATUSES)}


def _run_webhook(actor: Actor, arguments: Arguments) -> None:
    """Create a webhook with secrets wherever a receiver may want some."""
    path = "-".join(map(str, arguments["statuses"]))
    payload = {
        "url": f"https://receiver.example/{arguments['new']}/{path}?token={CANARY}-query",
        "headers": {"authorization": f"Bearer {CANARY}-header", "x-caller": f"{CANARY}-id"},
        "body": {"password": f"{CANARY}-body"},
    }
    fields = {"in": arguments["in"], "type": "webhook", "payload": payload}
    actor.create(arguments["new"], fields, sender=arguments["sender"])


CREATE_OPERATIONS: Mapping[str, OperationKind] = {
    "create-reminder": OperationKind(7, draw_reminder, run_reminder, COVERS, AFTER_REMINDER),
    "create-in-quiet-hours": OperationKind(2, _draw_in_quiet_hours, _run_in_quiet_hours, COVERS),
    "create-to-edit": OperationKind(3, _draw_to_edit, run_reminder, COVERS, BEFORE_REMINDER),
    "create-to-forget": OperationKind(2, draw_reminder, run_reminder, COVERS, TO_FORGET),
    "create-in-zone": OperationKind(2, _draw_in_zone, _run_in_zone, COVERS),
    "create-action": OperationKind(5, _draw_action, _run_action, COVERS, AT_END),
    "create-blocked": OperationKind(2, _draw_blocked, _run_action, COVERS, AFTER_BLOCK),
    "create-with-policy": OperationKind(2, _draw_with_policy, _run_action, COVERS, AFTER_FAILURE),
    "create-with-subject": OperationKind(2, _draw_with_subject, _run_action, COVERS, AFTER_SUBJECT),
    "create-with-budget": OperationKind(2, _draw_with_budget, _run_action, COVERS, BEFORE_PAYMENT),
    "create-with-spec": OperationKind(1, _draw_with_spec, _run_action, COVERS, AFTER_CODE_ERROR),
    "create-with-verifier": OperationKind(1, _draw_with_verifier, _run_action, COVERS, AT_END),
    "create-to-verify": OperationKind(3, _draw_to_verify, _run_action, COVERS, AFTER_WORK),
    "create-webhook": OperationKind(4, _draw_webhook, _run_webhook, COVERS, AT_END),
    "create-unknown": OperationKind(4, _draw_unknown, _run_webhook, COVERS, AFTER_UNKNOWN),
}
