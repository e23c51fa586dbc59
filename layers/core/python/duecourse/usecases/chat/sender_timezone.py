"""Find the time zone of the sender of a message, and how it is known."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from zoneinfo import ZoneInfo

from duecourse.domain.chat.message import Message
from duecourse.domain.chat.timezone_lookup import guess_timezone
from duecourse.domain.tasks.task import Task
from duecourse.domain.time.timezones import UnknownTimezoneError, load_timezone
from duecourse.ports.chat import Profiles

GUESSED_HINT = "I guessed your time zone from your language: {zone}. Change it: /timezone <place>"


class ZoneSource(Enum):
    """How the zone is known. UNKNOWN means UTC."""

    SET_BY_USER = auto()
    GUESSED = auto()
    UNKNOWN = auto()


@dataclass(frozen=True)
class SenderTimezone:
    zone: ZoneInfo
    source: ZoneSource

    @property
    def name(self) -> str:
        return self.zone.key

    @property
    def name_if_known(self) -> str | None:
        return None if self.source is ZoneSource.UNKNOWN else self.name

    def name_for(self, task: Task) -> str:
        """Return the zone in which the sender is shown the task's times."""
        return self.name_if_known or task.timezone

    @property
    def hint(self) -> str | None:
        """Return a hint for replies with a time, until the sender has set a zone; then None."""
        match self.source:
            case ZoneSource.SET_BY_USER:
                return None
            case ZoneSource.GUESSED:
                return GUESSED_HINT.format(zone=self.name)
            case ZoneSource.UNKNOWN:
                return "This time is in UTC. Set your time zone: /timezone <place>"


def find_sender_timezone(message: Message, profiles: Profiles) -> SenderTimezone:
    chosen = profiles.get(message.owner).timezone
    for name, source in (
        (chosen, ZoneSource.SET_BY_USER),
        (guess_timezone(message.locale), ZoneSource.GUESSED),
    ):
        try:
            if name is not None:
                return SenderTimezone(load_timezone(name), source)
        except UnknownTimezoneError:
            continue  # zones are renamed at times: try the next source
    return SenderTimezone(load_timezone("UTC"), ZoneSource.UNKNOWN)
