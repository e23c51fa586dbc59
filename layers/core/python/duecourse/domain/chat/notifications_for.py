"""Derive the notifications about a task from two committed versions of it."""

from __future__ import annotations

from collections.abc import Sequence

from duecourse.domain.chat import notification_text
from duecourse.domain.chat.chat_address import ChatAddress
from duecourse.domain.chat.chat_message import ChatMessage
from duecourse.domain.chat.correction_content import correction_content
from duecourse.domain.chat.notification import Notification
from duecourse.domain.chat.notification_content import NotificationContent, change_content
from duecourse.domain.chat.notification_kind import NotificationKind
from duecourse.domain.lifecycle.correction import is_correction
from duecourse.domain.lifecycle.spec_review import is_review
from duecourse.domain.tasks.task import API_CHANNEL, Task

_OPERATOR_KINDS = (
    NotificationKind.ESCALATION,
    NotificationKind.INDETERMINATE,
    NotificationKind.RESOLVED,
)


def notifications_for(
    old: Task | None, new: Task, operator_chats: Sequence[ChatAddress] = ()
) -> list[Notification]:
    """Return the notifications that the change from `old` to `new` calls for.

    The owner gets at most one per version. What needs a person also goes to the operators' chats;
    if the owner's chat is one of them, only the operators' copy is sent, which no quiet hours
    defer.
    """
    content = None if old is None else _content_for(old, new)
    if old is None or content is None:
        return []
    chats = operator_chats if content.kind in _OPERATOR_KINDS else ()
    is_owner_chat_included = ChatAddress(new.channel, new.reply_target) in chats
    notifications = (
        []
        if new.channel == API_CHANNEL or is_owner_chat_included
        else [_owner_notification(old, new, content)]
    )
    return notifications + [_operator_notification(new, content, chat) for chat in chats]


def _owner_notification(old: Task, new: Task, content: NotificationContent) -> Notification:
    return Notification(
        channel=new.channel,
        target=new.reply_target,
        message=content.message,
        idempotency_key=_idempotency_key(new),
        task_id=new.id,
        kind=content.kind,
        sender_id=new.sender_id,
        owner_requested_at=old.owner_requested_at,
        run_id=_run_id(new),
    )


def _operator_notification(
    task: Task, content: NotificationContent, chat: ChatAddress
) -> Notification:
    is_resolved = content.kind is NotificationKind.RESOLVED
    text = notification_text.format_for_operators(
        task, content.message.text, needs_person=not is_resolved
    )
    message = ChatMessage(text, content.message.buttons)
    return Notification(
        channel=chat.channel,
        target=chat.target,
        message=message,
        idempotency_key=f"{_idempotency_key(task)}:{chat}",
        task_id=task.id,
        kind=content.kind,
        run_id=_run_id(task),
    )


def _idempotency_key(task: Task) -> str:
    return f"{task.id}:{task.version}"


def _run_id(task: Task) -> str | None:
    return task.run.id if task.run else None


def _content_for(old: Task, new: Task) -> NotificationContent | None:
    if is_review(new):
        return None  # its result is reported with the task it reviews
    return correction_content(old, new) if is_correction(old, new) else change_content(old, new)
