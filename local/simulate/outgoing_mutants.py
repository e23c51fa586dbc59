"""Planted bugs in what leaves the stack or is derived from its changes."""

from __future__ import annotations

from collections.abc import Mapping

from local.simulate.mutant import Mutant
from local.simulate.source_edit import SourceEdit

OUTGOING_MUTANTS: Mapping[str, Mutant] = {
    # The journal
    "failed-record-skipped": Mutant(
        "the journal asks Lambda to go on after the record that failed, which is lost",
        SourceEdit(
            "functions.journal.app",
            "records[done : done + 1]",
            "records[done + 1 : done + 2]",
        ),
    ),
    "journal-error-ignored": Mutant(
        "the journal goes on as if entries were stored whose write failed",
        SourceEdit(
            "duecourse.usecases.journal.process_changes",
            "                batch.deps.on_retry(batch.changes[start], error)\n"
            "                return start\n",
            "                batch.deps.on_retry(batch.changes[start], error)\n"
            "                continue\n",
        ),
    ),
    "unreadable-change-raises": Mutant(
        "a change that cannot be read fails the whole batch, each time",
        SourceEdit(
            "duecourse.adapters.aws.dynamodb.stream",
            "        except UnreadableItemError:\n",
            "        except KeyError:\n",
        ),
    ),
    "unknown-attribute-dropped": Mutant(
        "a write drops the attributes that only newer code knows",
        SourceEdit(
            "duecourse.adapters.aws.dynamodb.task_mapper",
            "stored = {**task.unknown_attributes, **_CODEC.encode(values)}",
            "stored = _CODEC.encode(values)",
        ),
    ),
    # People
    "marked-before-sent": Mutant(
        "a notification that SQS refused is remembered as sent",
        SourceEdit(
            "duecourse.adapters.aws.sqs",
            "one.idempotency_key for n, one in unsent.items() if n not in refused",
            "one.idempotency_key for n, one in unsent.items()",
        ),
    ),
    "reply-marked-before-sent": Mutant(
        "a reply is stored as delivered before it is sent",
        SourceEdit(
            "duecourse.usecases.chat.handle_message",
            "StoredReply(dispatch_command(message, context, now=now))",
            "StoredReply(dispatch_command(message, context, now=now), is_delivered=True)",
        ),
    ),
    "failed-reply-dropped": Mutant(
        "a reply that could not be sent is not left to the notification queue",
        SourceEdit(
            "duecourse.usecases.chat.handle_message",
            "deps.notification_queue.send(late_reply_notification(message, stored.reply))",
            "late_reply_notification(message, stored.reply)",
        ),
    ),
    # Webhooks and secrets
    "address-not-checked": Mutant(
        "a webhook is sent to whatever address its host has",
        SourceEdit(
            "duecourse.adapters.http.client",
            "        self._require_allowed(url, found)\n",
            "",
        ),
    ),
    "echoed-secret-kept": Mutant(
        "what a receiver quotes of a request is stored with its secrets",
        SourceEdit(
            "duecourse.domain.requests.echoed_secrets",
            "            text = text.replace(secret, REDACTED)\n",
            "            text.replace(secret, REDACTED)\n",
        ),
    ),
    "payload-not-masked": Mutant(
        "the API shows the payload of a task with its secrets",
        SourceEdit(
            "duecourse.domain.requests.masked_payload",
            "name: masks[name](value) if name in masks else redact_json(value, name)",
            "name: value",
        ),
    ),
}
