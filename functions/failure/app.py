"""Records the failures reported on the failures queue."""

from __future__ import annotations

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit
from duecourse.adapters.aws.sqs import report_from_body
from duecourse.adapters.aws.sqs_batch import QueueRecord, sqs_batch_handler
from duecourse.app import services
from duecourse.usecases.failures.record_failure import (
    CorrectedRun,
    RecordedFailure,
    record_failure,
)

logger = Logger(service="failure")
metrics = Metrics(service="failure")


def _handle_record(record: QueueRecord) -> None:
    report = report_from_body(record.body)
    recorded = record_failure(report, services.failure_deps())
    if isinstance(recorded, CorrectedRun):
        _log_corrected(recorded)
    elif recorded is not None:
        if report.refused_channel is not None:
            reason = report.failure.summary
            logger.error("channel_paused", channel=report.refused_channel, reason=reason)
        _log_recorded(recorded)


def _log_corrected(corrected: CorrectedRun) -> None:
    metrics.add_metric("RunsCorrected", MetricUnit.Count, 1)
    logger.info("run_corrected", task_id=corrected.task.id, is_settled=corrected.is_settled)


def _log_recorded(recorded: RecordedFailure) -> None:
    decision = recorded.decision
    metrics.add_metric("FailuresRecorded", MetricUnit.Count, 1)
    if recorded.follow_up_error is not None:
        metrics.add_metric("FollowUpsFailed", MetricUnit.Count, 1)
    log = logger.warning if recorded.follow_up_error else logger.info
    log(
        "failure_recorded",
        task_id=recorded.task.id,
        category=decision.category.name,
        kind=str(recorded.diagnosis.kind),
        pattern=recorded.diagnosis.pattern,
        next_step=str(decision.action),
        retry_count=decision.retry_count,
        follow_up_error=recorded.follow_up_error,
    )


handler = sqs_batch_handler(
    _handle_record, logger=logger, metrics=metrics, received_metric="FailureReportsReceived"
)
