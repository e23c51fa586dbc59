"""How often the faults strike that are no fault of a single call.

Each is drawn for what is named above it, while the faults last. `CALL_FAULTS` has the others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

# Returns a number below 1 if the fault strikes at the point, otherwise None.
Strike = Callable[[str, str], float | None]

FAULT_RATES: Mapping[str, float] = {
    # each message of a queue
    "duplicate-message": 0.03,
    "late-message": 0.03,
    "reordered-message": 0.3,
    "lost-delete": 0.03,
    # each entry of a batch that is sent to a queue
    "refused-entry": 0.02,
    # each batch of a stream
    "repeated-batch": 0.03,
    "cut-batch": 0.1,
    "delayed-batch": 0.03,
    # each task that a request or a message in chat writes
    "older-item": 0.06,
    "unknown-attribute": 0.06,
    "newer-item": 0.04,
    # each write that an index shows
    "index-lag": 0.1,
    # each call of a table
    "throttled-table": 0.001,
    "failing-table": 0.001,
    # each invocation
    "cold-start": 0.1,
    "concurrency-limit": 0.01,
    "old-code": 0.5,  # in the first minute after a deployment
    # each container that starts
    "clock-skew": 0.05,
    # each request to a receiver of webhooks; the first two also for each answer to a channel's or
    # a provider's client
    "answers-late": 0.04,
    "hangs": 0.04,
    "answers-twice": 0.6,
    "errs": 0.3,
    "dns-change": 0.25,
}
