"""Where people are served in chat, and what time it is for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import Enum, auto
from zoneinfo import ZoneInfo

from duecourse.domain.chat.locale_zone import zone_of_locale
from duecourse.domain.chat.message import Message
from duecourse.domain.wallclock import UnknownZoneError, zone_named
from duecourse.ports import Owner, Profiles
from duecourse.usecases.create_task import Desk
from duecourse.usecases.give_verdict import VerdictBook
from duecourse.usecases.record_failure import Recorder

# The queue may be slow. What should have come longer ago than this is not done without asking.
LATEST = timedelta(minutes=5)
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
    def is_known(self) -> bool:
        return self.known is not Known.NOT

    @property
    def hint(self) -> str | None:
        """Said where a time depends on it, until they tell."""
        match self.known:
            case Known.TOLD:
                return None
            case Known.GUESSED:
                return f"I guessed {self.name} from your language: /timezone <place> corrects it."
            case Known.NOT:
                return "That is UTC: /timezone <place> sets your own, such as Europe/Berlin."


def zone_of(sender: Message, profiles: Profiles) -> SenderZone:
    told = profiles.get(sender.channel, sender.sender_id).timezone
    for name, known in ((told, Known.TOLD), (zone_of_locale(sender.locale), Known.GUESSED)):
        try:
            if name is not None:
                return SenderZone(zone_named(name), known)
        except UnknownZoneError:
            continue  # zones are renamed now and then
    return SenderZone(zone_named("UTC"), Known.NOT)


def owner_of(message: Message) -> Owner:
    return Owner(message.channel, message.sender_id)
