"""What each fault does, for people who read a story."""

from __future__ import annotations

from collections.abc import Mapping

FAULT_TEXTS: Mapping[str, str] = {
    "crash-before": "the container is killed before the call",
    "crash-after": "the container is killed after the call took effect",
    "throttle": "the call is throttled",
    "error": "the call fails with a server error",
    "timeout": "the call times out without an effect",
    "lost-response": "the call takes effect, its response is lost",
    "lambda-timeout": "the function reaches its time limit and is killed",
    "throttled-minute": "all AWS calls of the function are throttled for a minute",
    "failing-minute": "all AWS calls of the function fail for a minute",
    "timeout-minute": "all AWS calls of the function time out for a minute",
    "throttled-table": "all calls of the table are throttled for a while",
    "failing-table": "all calls of the table fail for a while",
    "refused-entry": "the queue refuses one message of a batch",
    "index-lag": "an index shows the write late",
    "duplicate-message": "the queue delivers the message twice",
    "late-message": "the queue delivers the message late",
    "reordered-message": "the queue delivers the message out of order",
    "lost-delete": "the queue delivers the message again after a success",
    "repeated-batch": "the stream delivers the batch again",
    "cut-batch": "the stream delivers small batches",
    "delayed-batch": "the stream delivers the next batch late",
    "cold-start": "the function gets a new container",
    "concurrency-limit": "Lambda does not start the function",
    "old-code": "the invocation runs the version before the deployment",
    "clock-skew": "the clock of the container is off by up to two minutes",
    "older-item": "the task is stored as older code stores it",
    "unknown-attribute": "the task has an attribute that only newer code knows",
    "newer-item": "only newer code can read the task, until the faults end",
    "answers-late": "the other side answers late",
    "hangs": "the other side does not answer in time",
    "answers-twice": "the request arrives twice with the same key",
    "errs": "the receiver answers 500 or breaks the connection",
    "dns-change": "the host has a private address, or is not found",
}
