"""The checks that use the HTTP API: a token, a task that runs, its history, the clocks."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from duecourse.domain.tasks.event import EventType

from local.cli.client.http import ApiClient, build_path
from local.cli.client.problem import RefusedError
from local.cli.doctor.clocks import Reading, compare_clocks
from local.cli.doctor.result import CheckResult, failed, ok, warning
from local.cli.errors import CommandFailedError

# A type and a channel that every stack has: no chat, no provider, and nobody is disturbed. It is
# started by a request, because the journal function writes that down; the history of a reminder
# that only runs at its time is derived from the task itself.
TEST_TASK = {
    "type": "reminder",
    "channel": "log",
    "description": "test of duecourse doctor",
    "in": "1h",
    "sender_id": "duecourse-doctor",
}
POLL_SECONDS = 0.5
MAX_FAILURES = 3  # of a stack that does not answer, for example because it has just started
LATE_AFTER = timedelta(seconds=30)
_EVENTS = (
    EventType.TASK_CREATED,
    EventType.TASK_CHANGED,
    EventType.TASK_STARTED,
    EventType.TASK_DELIVERED,
)
_UNAUTHORIZED = 401
_RUNS = ("pending", "in_progress")


@dataclass
class HttpChecks:
    """`patience` is how long to wait for each effect; 0 if the stack's time stands still.

    `token_name` says which token `client` sends. `is_new_token`: it was stored just now, and the
    stack may not know it yet.
    """

    client: ApiClient
    now: Callable[[], datetime]
    pause: Callable[[float], None]
    patience: timedelta
    token_name: str
    is_new_token: bool = False
    task: dict[str, Any] = field(default_factory=dict)
    reading: Reading | None = None

    def check_api(self) -> CheckResult:
        try:
            version = self.client.get("/health").body.get("version")
        except CommandFailedError as error:
            advice = (
                "Start the stack (`make up` starts the local one),"
                " or give its address: --url or DUECOURSE_URL."
            )
            return failed("api", error.message, advice)  # its hint would repeat the advice
        return ok("api", f"answers, version {version}")

    def check_token(self) -> CheckResult:
        """Use the token. This is the first request that starts the functions, so it may be slow."""
        tries, failures = self._tries() if self.is_new_token else 1, 0
        for attempt in range(1, tries + MAX_FAILURES):
            try:
                self.client.get("/tasks", {"limit": 1})
            except CommandFailedError as error:
                failures += not _is_refused_token(error)
                if failures == MAX_FAILURES or attempt - failures == tries:
                    return self._refuse_token(error)
                self.pause(POLL_SECONDS)
            else:
                break
        return ok("token", f"{self.token_name} works")

    def check_task(self) -> CheckResult:
        """Create the test task and see it run. `clean_up` removes it."""
        before = self.now()
        created = self.client.post("/tasks", TEST_TASK).require_task()
        self.task = created.body
        created_at = _instant(self.task, "created_at")
        self.reading = Reading(before, self.now(), created.server_time, created_at)
        started = self.client.post(build_path("tasks", self.task["id"], "run")).require_task()
        self._wait_until(self._has_ended)
        return self._judge_task(due_at=_instant(started.body, "due_at"))

    def check_history(self) -> CheckResult:
        seen: list[str] = []

        def is_complete() -> bool:
            events = self.client.get(build_path("tasks", self.task["id"], "history")).items
            seen[:] = [str(event.get("type")) for event in events]
            return set(_EVENTS) <= set(seen)

        if self._wait_until(is_complete):
            return ok("history", ", ".join(name.removeprefix("task:") for name in _EVENTS))
        missing = ", ".join(name for name in _EVENTS if name not in seen)
        return failed("history", f"without {missing}", "Read the log of the journal function.")

    def check_clock(self, *, is_local: bool) -> CheckResult:
        if self.reading is None:
            raise CommandFailedError("no task was created")
        return compare_clocks(self.reading, is_local=is_local)

    def check_dead_letters(self) -> CheckResult:
        letters = self.client.get("/dead-letters").items
        if not letters:
            return ok("dead_letters", "none")
        queues = ", ".join(sorted({str(letter.get("queue")) for letter in letters}))
        return failed(
            "dead_letters",
            f"{len(letters)} stored, of: {queues}",
            "See GET /dead-letters, fix the cause, then POST /dead-letters/redrive.",
        )

    def clean_up(self) -> None:
        """Cancel the test task if it is open, and delete it where the API can."""
        if not self.task:
            return
        path = build_path("tasks", self.task["id"])
        with suppress(CommandFailedError):
            if self.task.get("status") in _RUNS:
                self.client.post(f"{path}/cancel")
        with suppress(CommandFailedError):
            self.client.delete(path)

    def _refuse_token(self, error: CommandFailedError) -> CheckResult:
        if not _is_refused_token(error):
            advice = "Read the logs of the authorizer function and of the API function."
            return failed("token", str(error), advice)
        if not self.is_new_token:
            advice = "Set DUECOURSE_TOKEN to a valid token; `duecourse token` creates one."
            return failed("token", str(error), advice)
        found = "the API refuses a token that is in the stack's secret"
        return failed("token", found, "Read the log of the authorizer function.")

    def _has_ended(self) -> bool:
        self.task = self.client.get(build_path("tasks", self.task["id"])).require_task().body
        return self.task.get("status") not in _RUNS or bool(self.task.get("last_error"))

    def _judge_task(self, *, due_at: datetime) -> CheckResult:
        status, error = self.task.get("status"), self.task.get("last_error")
        if status != "delivered":
            seconds = f"{self.patience.total_seconds():.0f} s"
            found = f"{status}: {error}" if error else f"still {status} after {seconds}"
            return failed(
                "task", found, "Read the log of the worker function, and the queues below."
            )
        late = _instant(self.task, "delivered_at") - due_at
        found = f"a reminder was delivered {max(late.total_seconds(), 0):.1f} s after it was due"
        if late > LATE_AFTER:
            return warning("task", found, "Run doctor again; see docs/operations.md, Lateness.")
        return ok("task", found)

    def _wait_until(self, is_done: Callable[[], bool]) -> bool:
        for attempt in range(self._tries()):
            if attempt:
                self.pause(POLL_SECONDS)
            if is_done():
                return True
        return False

    def _tries(self) -> int:
        return 1 + int(self.patience.total_seconds() / POLL_SECONDS)


def _is_refused_token(error: CommandFailedError) -> bool:
    return isinstance(error, RefusedError) and error.status == _UNAUTHORIZED


def _instant(task: dict[str, Any], name: str) -> datetime:
    try:
        return datetime.fromisoformat(str(task.get(name))).astimezone(UTC)
    except ValueError:
        raise CommandFailedError(f"the task has no valid {name}") from None
