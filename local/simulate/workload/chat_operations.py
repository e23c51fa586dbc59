"""Operations of people in chat: commands, and buttons under messages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from local.simulate.actor import Actor
from local.simulate.workload.operation_kind import (
    Arguments,
    Draft,
    OperationKind,
    Run,
    draw_sender,
    draw_task,
)


def _say_about(text: str) -> Run:
    """Return an operation that says a command about a task, as its owner."""

    def run(actor: Actor, arguments: Arguments) -> None:
        if task_id := actor.task_id(arguments["task"]):
            command = text.format(task_id[:8], **arguments)
            actor.say(command, sender=actor.sender_of(arguments["task"]))

    return run


def _about_task(text: str) -> OperationKind:
    return OperationKind(1, draw_task, _say_about(text), (text.split()[0],))


def _one_of(texts: Sequence[str]) -> OperationKind:
    """Return an operation that says one of the texts, which are the same command."""

    def draw(draft: Draft) -> Arguments:
        return {**draw_sender(draft), "text": draft.rng.choice(texts)}

    return OperationKind(1, draw, _run_say, (texts[0].split()[0],))


def _run_say(actor: Actor, arguments: Arguments) -> None:
    actor.say(arguments["text"], sender=arguments["sender"])


def _draw_remind(draft: Draft) -> Arguments:
    seconds = draft.delay().removesuffix("s")
    return {**draw_sender(draft), "text": f"/remind in {seconds} seconds {draft.new_text('tea')}"}


def _draw_do(draft: Draft) -> Arguments:
    seconds = draft.delay().removesuffix("s")
    time = draft.rng.choice(("", f"in {seconds} seconds "))
    return {**draw_sender(draft), "text": f"/do {time}{draft.new_text('water plant')}"}


def _draw_resolution(draft: Draft) -> Arguments:
    return {**draw_task(draft), "outcome": draft.rng.choice(("applied", "not_applied", "skip"))}


def _draw_forget(draft: Draft) -> Arguments:
    return {**draw_sender(draft), "is_confirmed": draft.rng.random() < 0.5}


def _run_forget(actor: Actor, arguments: Arguments) -> None:
    actor.say("/forget me", sender=arguments["sender"])
    if arguments["is_confirmed"]:
        actor.forgotten.add(arguments["sender"])
        actor.say("/forget me yes", sender=arguments["sender"])


def _draw_quiet(draft: Draft) -> Arguments:
    return {**draw_sender(draft), "hours": draft.rng.choice(_QUIET_HOURS)}


def _run_quiet(actor: Actor, arguments: Arguments) -> None:
    """Set quiet hours. They need a zone first."""
    actor.say("/timezone UTC", sender=arguments["sender"])
    actor.say(f"/quiet {arguments['hours']}".rstrip(), sender=arguments["sender"])


def _draw_press(draft: Draft) -> Arguments:
    """Draw a message that was sent until then, one of its buttons, and how often it is pressed."""
    part, button = draft.rng.randrange(1_000) / 1_000, draft.rng.randrange(4)
    return {"message": part, "button": button, "times": draft.rng.choice((1, 2))}


def _run_press(actor: Actor, arguments: Arguments) -> None:
    messages = [one for one in actor.sent if one.content.buttons]
    if not messages:
        return
    message = messages[min(int(arguments["message"] * len(messages)), len(messages) - 1)]
    buttons = message.content.buttons
    command = buttons[arguments["button"] % len(buttons)].command
    for _ in range(arguments["times"]):
        actor.say(command, sender=message.target)


# A simulation starts at 12:03:40 UTC.
_QUIET_HOURS = ("12:00-12:30", "12:04-12:20", "12:05-12:20", "off", "")
CHAT_OPERATIONS: Mapping[str, OperationKind] = {
    "say-remind": OperationKind(3, _draw_remind, _run_say, ("/remind",)),
    "say-do": OperationKind(2, _draw_do, _run_say, ("/do",)),
    "say-cancel": _about_task("/cancel {}"),
    "say-snooze": _about_task("/snooze {} 1 minute"),
    "say-pause": _about_task("/pause {}"),
    "say-resume": _about_task("/resume {}"),
    "say-retry": _about_task("/retry {}"),
    "say-done": _about_task("/done {}"),
    "say-approve": _about_task("/approve {}"),
    "say-reject": _about_task("/reject {} not yet"),
    "say-resolve": OperationKind(
        1, _draw_resolution, _say_about("/resolve {} {outcome}"), ("/resolve",)
    ),
    "say-task": _about_task("/task {}"),
    "say-tasks": _one_of(["/tasks"]),
    "say-help": _one_of(["/help"]),
    "say-start": _one_of(["/start"]),
    "say-timezone": _one_of(["/timezone Berlin", "/timezone UTC", "/timezone"]),
    "say-quiet": OperationKind(2, _draw_quiet, _run_quiet, ("/quiet",)),
    "say-notify": _one_of(["/notify all", "/notify important", "/notify none", "/notify"]),
    "say-forget": OperationKind(1, _draw_forget, _run_forget, ("/forget",)),
    "press-button": OperationKind(3, _draw_press, _run_press),
}
