"""The queue for changes that the journal cannot process."""

from __future__ import annotations

from typing import TYPE_CHECKING

from duecourse.adapters.aws.sqs import to_body
from duecourse.domain.dispatch.unjournaled import UnjournaledRecords, unjournaled_to_json

if TYPE_CHECKING:
    from types_boto3_sqs.client import SQSClient


class SqsJournalDeadLetters:
    def __init__(self, client: SQSClient, url: str) -> None:
        self._client = client
        self._url = url

    def send(self, unjournaled: UnjournaledRecords) -> None:
        body = to_body(unjournaled_to_json(unjournaled))
        self._client.send_message(QueueUrl=self._url, MessageBody=body)
