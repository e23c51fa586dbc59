"""What time it is for whoever talks to us: where they are, and how we know."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from zoneinfo import ZoneInfo

from duecourse.domain.chat.message import Message
from duecourse.domain.chat.timezone_lookup import zone_of_locale
from duecourse.domain.tasks.task import Task
from duecourse.domain.time.timezones import UnknownZoneError, zone_named
from duecourse.ports.chat import Profiles

GUESSED = "I guessed {zone} from your language: /timezone <place> corrects it."


class Known(Enum):
    """How we know where somebody is."""

    TOLD = auto()
    GUESSED = auto()
    NOT = auto()


@dataclass(frozen=True)
class SenderZone:
    zone: ZoneInfo
    known: Known

    @property
    def name(self) -> str:
        return self.zone.key

    @property
    def name_if_known(self) -> str | None:
        return None if self.known is Known.NOT else self.name

    def name_for(self, task: Task) -> str:
        """In which they are told of it."""
        return self.name_if_known or task.timezone

    @property
    def hint(self) -> str | None:
        """Said where a time depends on it, until they tell."""
        match self.known:
            case Known.TOLD:
                return None
            case Known.GUESSED:
                return GUESSED.format(zone=self.name)
            case Known.NOT:
                return "That is UTC: /timezone <place> sets your own, such as Europe/Berlin."


def zone_of(sender: Message, profiles: Profiles) -> SenderZone:
    told = profiles.get(sender.owner).timezone
    for name, known in ((told, Known.TOLD), (zone_of_locale(sender.locale), Known.GUESSED)):
        try:
            if name is not None:
                return SenderZone(zone_named(name), known)
        except UnknownZoneError:
            continue  # zones are renamed now and then
    return SenderZone(zone_named("UTC"), Known.NOT)
