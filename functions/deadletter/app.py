"""Consumes the dead-letter queues: each message becomes a failure of its task or is stored."""

from __future__ import annotations

from aws_lambda_powertools import Logger, Metrics
from duecourse.adapters.aws.sqs_batch import QueueRecord, sqs_batch_handler
from duecourse.app import services
from duecourse.usecases.dead_letters.handle import handle_dead_letter

from .parsing import letter_from_record, parse_content

logger = Logger(service="deadletter")
metrics = Metrics(service="deadletter")


def _handle_record(record: QueueRecord) -> None:
    letter = letter_from_record(record)
    outcome = handle_dead_letter(letter, parse_content(letter), services.dead_letter_deps())
    logger.warning(
        "dead_letter", outcome=str(outcome), queue=str(letter.queue), letter_id=letter.id
    )


handler = sqs_batch_handler(
    _handle_record, logger=logger, metrics=metrics, received_metric="DeadLettersReceived"
)
