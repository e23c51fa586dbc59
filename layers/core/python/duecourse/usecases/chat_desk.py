"""What it takes to serve people in chat."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from duecourse.ports import Profiles
from duecourse.usecases.create_task import Desk
from duecourse.usecases.give_verdict import VerdictBook
from duecourse.usecases.record_failure import Recorder

# The queue may be slow. What should have come longer ago than this is not done without asking.
MOST_LATE = timedelta(minutes=5)
TOO_LATE = "Your message took too long to get here, that time has passed. Please say it again."


@dataclass(frozen=True)
class ChatDesk:
    """Few commands need to record a failure, so that is made on demand. Of the `providers`, the
    first carries out what is asked for here."""

    desk: Desk
    book: VerdictBook
    profiles: Profiles
    recorder: Callable[[], Recorder]
    providers: Sequence[str] = ()
