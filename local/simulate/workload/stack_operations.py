"""Operations of an operator: limits, subjects, learned patterns, dead letters, deployments."""

from __future__ import annotations

from collections.abc import Mapping

from local.simulate.actor import Actor
from local.simulate.workload.create_operations import BUDGETS, SUBJECTS
from local.simulate.workload.follow_ups import AFTER_DEAD_LETTER, AFTER_LIMIT, AFTER_POISON
from local.simulate.workload.operation_kind import (
    Arguments,
    Draft,
    OperationKind,
    Run,
    draw_nothing,
    draw_sender,
)

# Reads by what they read: the routes with the paths that are called.
_OVERVIEW = {
    f"GET {one}": one for one in ("/now", "/stats", "/tasks", "/retries", "/breakers", "/me")
}
_LOGS = {
    **{f"GET {one}": one for one in ("/audit", "/dead-letters")},
    "GET /errors": "/errors?category=transient",
    "GET /breakers/<provider>/history": "/breakers/scripted/history",
}
_LEARNED = {
    **{f"GET {one}": one for one in ("/patterns", "/delays", "/policies", "/budgets")},
    "GET /policies/<policy>": "/policies/agent",
    "GET /budgets/<budget>": f"/budgets/{BUDGETS[0]}",
    "GET /subjects/.+": f"/subjects/{SUBJECTS[1]}",
}
# A letter of the first is stored; the others are handled as failures of their tasks.
_DEAD_LETTERED = (
    *("NoticesQueue", "NoticesQueue", "NoticesQueue"),
    *("WorkQueue", "SlowWorkQueue", "FailuresQueue"),
)
_EXPLAINED = {"policy": "agent", "message": "Too Many Requests", "status": 429, "retry_after": 30}


def _read(paths: Mapping[str, str]) -> OperationKind:
    def run(actor: Actor, _arguments: Arguments) -> None:
        for path in paths.values():
            actor.call("GET", path)

    return OperationKind(1, draw_nothing, run, tuple(paths))


def _post(path: str, body: Arguments | None = None) -> OperationKind:
    def run(actor: Actor, _arguments: Arguments) -> None:
        actor.call("POST", path, body)

    return OperationKind(1, draw_nothing, run, (f"POST {path}",))


def _draw_limit(draft: Draft) -> Arguments:
    return {"budget": draft.rng.choice(BUDGETS), "limit": draft.rng.choice((0, 0.3, 0.6, 5))}


def _run_limit(actor: Actor, arguments: Arguments) -> None:
    actor.set_limit(arguments["budget"], arguments["limit"])


def _draw_subject(draft: Draft) -> Arguments:
    return {"subject": draft.rng.choice(SUBJECTS)}


def _run_reset(actor: Actor, arguments: Arguments) -> None:
    actor.call("POST", f"/subjects/{arguments['subject']}/reset")


def _run_forget_pattern(actor: Actor, _arguments: Arguments) -> None:
    found = actor.call("GET", "/patterns").body or {}
    for pattern in found.get("items", [])[:1]:
        actor.call("DELETE", f"/patterns/{pattern['policy']}/{pattern['fingerprint']}")


def _run_poison(actor: Actor, arguments: Arguments) -> None:
    """Put a message into a queue that no function can read. It becomes a dead letter."""
    actor.send_message(arguments["queue"], "no message of ours")
    actor.note_success("send")


def _draw_poison(draft: Draft) -> Arguments:
    return {"queue": draft.rng.choice(("WorkQueue", "FailuresQueue", "SlowWorkQueue"))}


def _draw_dead_letter(draft: Draft) -> Arguments:
    return {"queue": draft.rng.choice(_DEAD_LETTERED)}


def _run_dead_letter(actor: Actor, arguments: Arguments) -> None:
    """Let the next message to a queue be received too often. It becomes a dead letter."""
    actor.dead_letter_next(arguments["queue"])
    actor.note_success("dead-letter")


def _run_drop_letter(actor: Actor, _arguments: Arguments) -> None:
    found = actor.call("GET", "/dead-letters").body or {}
    ids = [letter["id"] for letter in found.get("items", [])[:1]]
    actor.call("POST", "/dead-letters/drop", {"ids": ids})


def _run_forget_sender(actor: Actor, arguments: Arguments) -> None:
    actor.forgotten.add(arguments["sender"])
    actor.call("POST", "/senders/forget", {"channel": "console", "sender_id": arguments["sender"]})


def _run_redeploy(actor: Actor, _arguments: Arguments) -> None:
    actor.redeploy()
    actor.note_success("deploy")


def _without_arguments(run: Run, *covers: str) -> OperationKind:
    return OperationKind(1, draw_nothing, run, covers)


STACK_OPERATIONS: Mapping[str, OperationKind] = {
    "read-overview": _read(_OVERVIEW),
    "read-logs": _read(_LOGS),
    "read-learned": _read(_LEARNED),
    "explain": _post("/explain", _EXPLAINED),
    "set-limit": OperationKind(2, _draw_limit, _run_limit, ("PUT /budgets/<budget>",), AFTER_LIMIT),
    "reset-subject": OperationKind(1, _draw_subject, _run_reset, ("POST /subjects/.+/reset",)),
    "forget-pattern": _without_arguments(
        _run_forget_pattern, "DELETE /patterns/<policy>/<fingerprint>"
    ),
    "poison": OperationKind(2, _draw_poison, _run_poison, (), AFTER_POISON),
    "dead-letter": OperationKind(1, _draw_dead_letter, _run_dead_letter, (), AFTER_DEAD_LETTER),
    "redrive": _post("/dead-letters/redrive"),
    "drop-letter": _without_arguments(_run_drop_letter, "POST /dead-letters/drop"),
    "forget-sender": OperationKind(1, draw_sender, _run_forget_sender, ("POST /senders/forget",)),
    "redeploy": _without_arguments(_run_redeploy),
}
