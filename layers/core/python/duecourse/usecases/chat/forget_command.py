"""The command /forget me: ask first, then delete everything about the sender."""

from __future__ import annotations

from datetime import datetime

from duecourse.domain.chat.chat_message import ChatMessage
from duecourse.domain.chat.message import Message
from duecourse.usecases.chat.context import ChatContext
from duecourse.usecases.chat.forget_sender import ForgetDeps, forget_sender

MAX_TASKS = 500  # what one message may delete before the chat function times out
_CONFIRM_COMMAND = "/forget me yes"
_QUESTION = (
    "This deletes all your tasks, open ones too, their history, and your time zone, quiet hours and"
    f" notification settings. It cannot be undone. To confirm, send: {_CONFIRM_COMMAND}"
)


def handle_forget(
    is_confirmed: bool, message: Message, context: ChatContext, *, now: datetime
) -> ChatMessage:
    if not is_confirmed:
        # No button: in a group, somebody else could press it and lose their own data.
        return ChatMessage(_QUESTION)
    deps = ForgetDeps(
        context.create_deps.store, context.profiles, context.quiet_hours, context.dead_letters
    )
    result = forget_sender(message.owner, deps, limit=MAX_TASKS, now=now)
    if not result.is_complete:
        return ChatMessage(
            f"Deleted {result.deleted_tasks} tasks. There is more: send {_CONFIRM_COMMAND} again."
        )
    tasks = "1 task" if result.deleted_tasks == 1 else f"{result.deleted_tasks} tasks"
    return ChatMessage(
        f"Deleted {tasks} and your settings. Their history is erased within minutes."
    )
