"""SQS: the operations on queues and messages."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

from local.testing.lean_aws.errors import AwsError, check_parameters
from local.testing.lean_aws.queue import Message, Queue, describe_attributes

MAX_BODY_BYTES = 1024 * 1024
MAX_BATCH = 10
MAX_DELAY_SECONDS = 900
MAX_VISIBILITY_SECONDS = 12 * 60 * 60
_SERVER_ERROR = 500
_SEND = {"QueueUrl", "MessageBody", "DelaySeconds", "MessageGroupId", "MessageDeduplicationId"}
_RECEIVE = {"QueueUrl", "MaxNumberOfMessages", "VisibilityTimeout", "WaitTimeSeconds"}
_RECEIVE |= {"AttributeNames", "MessageSystemAttributeNames"}
Operation = Callable[[dict[str, Any]], dict[str, Any]]


class Sqs:
    """`now` returns seconds since the epoch, `new_id` an unused id.

    `before_entry`, if set, gets the queue's name for each entry of a batch that is sent. It may
    raise AwsError, which refuses this entry only.
    """

    before_entry: Callable[[str], None] | None = None

    def __init__(
        self, *, region: str, account: str, now: Callable[[], float], new_id: Callable[[], str]
    ) -> None:
        self._region = region
        self._account = account
        self._now = now
        self._new_id = new_id
        self._sent = 0
        self.queues: dict[str, Queue] = {}
        self.operations: dict[str, Operation] = {
            "CreateQueue": self.create_queue,
            "DeleteQueue": self.delete_queue,
            "GetQueueUrl": self.get_queue_url,
            "GetQueueAttributes": self.get_queue_attributes,
            "PurgeQueue": self.purge_queue,
            "SendMessage": self.send_message,
            "SendMessageBatch": self.send_message_batch,
            "ReceiveMessage": self.receive_message,
            "DeleteMessage": self.delete_message,
            "DeleteMessageBatch": lambda request: self._batch(request, self.delete_message),
            "ChangeMessageVisibility": self.change_visibility,
            "ChangeMessageVisibilityBatch": lambda request: self._batch(
                request, self.change_visibility
            ),
        }

    def create_queue(self, request: dict[str, Any]) -> dict[str, Any]:
        name = request["QueueName"]
        if name not in self.queues:
            url = f"https://sqs.{self._region}.amazonaws.com/{self._account}/{name}"
            arn = f"arn:aws:sqs:{self._region}:{self._account}:{name}"
            self.queues[name] = Queue(name, url, arn, request.get("Attributes") or {})
        return {"QueueUrl": self.queues[name].url}

    def delete_queue(self, request: dict[str, Any]) -> dict[str, Any]:
        del self.queues[self._queue(request).name]
        return {}

    def get_queue_url(self, request: dict[str, Any]) -> dict[str, Any]:
        return {"QueueUrl": self.queue(request["QueueName"]).url}

    def get_queue_attributes(self, request: dict[str, Any]) -> dict[str, Any]:
        queue = self._queue(request)
        found = {**queue.attributes, "QueueArn": queue.arn, **queue.count(self._now())}
        names = request.get("AttributeNames", ())
        return {"Attributes": {k: v for k, v in found.items() if k in names or "All" in names}}

    def purge_queue(self, request: dict[str, Any]) -> dict[str, Any]:
        self._queue(request).messages.clear()
        return {}

    def send_message(self, request: dict[str, Any]) -> dict[str, Any]:
        check_parameters("SendMessage", request, frozenset(_SEND))
        queue = self._queue(request)
        _check_message(queue, request)
        now = self._now()
        self._sent += 1
        message = Message(
            id=self._new_id(),
            body=request["MessageBody"],
            sent_at=now,
            available_at=now + request.get("DelaySeconds", queue.seconds("DelaySeconds")),
            group=request.get("MessageGroupId"),
            deduplication_id=_deduplication_id(queue, request),
            sequence_number=self._sent,
        )
        return {"MessageId": queue.add(message).id, "MD5OfMessageBody": _md5(message.body)}

    def send_message_batch(self, request: dict[str, Any]) -> dict[str, Any]:
        queue, entries = self._queue(request), request["Entries"]
        if sum(len(one["MessageBody"].encode()) for one in entries) > MAX_BODY_BYTES:
            raise AwsError("AWS.SimpleQueueService.BatchRequestTooLong", "The batch is too long")
        for one in entries:
            _check_message(queue, one)
        return self._batch(request, self._send_entry)

    def _send_entry(self, request: dict[str, Any]) -> dict[str, Any]:
        if self.before_entry is not None:
            self.before_entry(self._queue(request).name)
        return self.send_message(request)

    def receive_message(self, request: dict[str, Any]) -> dict[str, Any]:
        check_parameters("ReceiveMessage", request, frozenset(_RECEIVE))
        queue, now = self._queue(request), self._now()
        timeout = request.get("VisibilityTimeout", queue.seconds("VisibilityTimeout"))
        messages, dead = queue.take(now, request.get("MaxNumberOfMessages", 1))
        for one in dead:
            self._queue_of_arn(queue.dead_letter_arn or "").messages.append(one)
        for one in messages:
            one.receive_count += 1
            one.first_received_at = one.first_received_at or now
            one.available_at = now + timeout
            one.handles.append(self._new_id())
        names = {
            *request.get("AttributeNames", ()),
            *request.get("MessageSystemAttributeNames", ()),
        }
        return {"Messages": [_to_response(one, names) for one in messages]} if messages else {}

    def delete_message(self, request: dict[str, Any]) -> dict[str, Any]:
        queue = self._queue(request)
        if message := queue.find(request["ReceiptHandle"]):
            queue.messages.remove(message)
        return {}

    def change_visibility(self, request: dict[str, Any]) -> dict[str, Any]:
        timeout = request["VisibilityTimeout"]
        if not 0 <= timeout <= MAX_VISIBILITY_SECONDS:
            raise AwsError("InvalidParameterValue", f"VisibilityTimeout {timeout} is invalid")
        message = self._queue(request).find(request["ReceiptHandle"])
        if message is None:
            raise AwsError("ReceiptHandleIsInvalid", "The input receipt handle is invalid.")
        message.available_at = self._now() + timeout
        return {}

    def queue(self, name: str) -> Queue:
        if name not in self.queues:
            raise AwsError(
                "AWS.SimpleQueueService.NonExistentQueue", "The specified queue does not exist."
            )
        return self.queues[name]

    def _batch(self, request: dict[str, Any], operation: Operation) -> dict[str, Any]:
        entries = request["Entries"]
        if not 1 <= len(entries) <= MAX_BATCH:
            raise AwsError(
                "AWS.SimpleQueueService.TooManyEntriesInBatchRequest",
                f"Maximum number of entries per request are {MAX_BATCH}."
                f" You have sent {len(entries)}.",
            )
        if len({one["Id"] for one in entries}) < len(entries):
            raise AwsError("AWS.SimpleQueueService.BatchEntryIdsNotDistinct", "An Id is repeated")
        reply: dict[str, Any] = {"Successful": [], "Failed": []}
        for one in entries:
            single = {name: value for name, value in one.items() if name != "Id"}
            try:
                answer = operation({**single, "QueueUrl": request["QueueUrl"]})
                reply["Successful"].append({"Id": one["Id"], **answer})
            except AwsError as error:
                is_ours = error.status < _SERVER_ERROR
                failure = {"Id": one["Id"], "SenderFault": is_ours, "Code": error.code}
                reply["Failed"].append({**failure, "Message": error.message})
        return {name: results for name, results in reply.items() if results}

    def _queue(self, request: dict[str, Any]) -> Queue:
        return self.queue(request["QueueUrl"].rpartition("/")[2])

    def _queue_of_arn(self, arn: str) -> Queue:
        return self.queue(arn.rpartition(":")[2])


def _check_message(queue: Queue, request: dict[str, Any]) -> None:
    delay = request.get("DelaySeconds", 0)
    if not 0 <= delay <= MAX_DELAY_SECONDS or (queue.is_fifo and delay):
        raise AwsError("InvalidParameterValue", f"Value {delay} for DelaySeconds is invalid")
    if len(request["MessageBody"].encode("utf-8", "surrogatepass")) > MAX_BODY_BYTES:
        raise AwsError("InvalidParameterValue", "The message is too long")
    if queue.is_fifo and not request.get("MessageGroupId"):
        raise AwsError("MissingParameter", "The request must contain MessageGroupId.")
    if queue.is_fifo and _deduplication_id(queue, request) is None:
        raise AwsError(
            "InvalidParameterValue",
            "The queue should either have ContentBasedDeduplication enabled or"
            " MessageDeduplicationId provided explicitly",
        )


def _deduplication_id(queue: Queue, request: dict[str, Any]) -> str | None:
    if (found := request.get("MessageDeduplicationId")) or not queue.is_fifo:
        return None if found is None else str(found)
    if queue.attributes.get("ContentBasedDeduplication") == "true":
        return hashlib.sha256(request["MessageBody"].encode()).hexdigest()
    return None


def _to_response(message: Message, names: set[str]) -> dict[str, Any]:
    response: dict[str, Any] = {
        "MessageId": message.id,
        "ReceiptHandle": message.handles[-1],
        "MD5OfBody": _md5(message.body),
        "Body": message.body,
    }
    attributes = describe_attributes(message)
    if selected := {k: v for k, v in attributes.items() if k in names or "All" in names}:
        response["Attributes"] = selected
    return response


def _md5(text: str) -> str:
    return hashlib.md5(text.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()
