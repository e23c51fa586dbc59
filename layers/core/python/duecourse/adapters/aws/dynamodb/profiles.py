"""Owners' preferences (time zone, notification level): one item per owner, with a TTL."""

from __future__ import annotations

from datetime import UTC, datetime

from duecourse.adapters.aws.dynamodb.conditions import update_if
from duecourse.adapters.aws.dynamodb.models import StateItem
from duecourse.adapters.aws.dynamodb.raw_items import find_item
from duecourse.adapters.aws.dynamodb.state import read_state
from duecourse.domain.chat.notification_kind import NotifyLevel
from duecourse.domain.chat.profile import Profile
from duecourse.domain.chat.settings_retention import needs_renewal, settings_expiry
from duecourse.domain.tasks.owner import Owner
from duecourse.ports.runtime import Clock


class DynamoProfiles:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def get(self, owner: Owner) -> Profile:
        def read(item: StateItem) -> Profile:
            notify = item.value.get("notify")
            return Profile(
                owner,
                timezone=item.value.get("timezone"),
                notify=NotifyLevel(notify) if notify else None,
            )

        return read_state(_key(owner), read) or Profile(owner)

    def save(self, profile: Profile) -> None:
        stored = {"timezone": profile.timezone, "notify": profile.notify}
        StateItem(_key(profile.owner), value=stored, expires_at=self._new_expiry()).save()

    def renew(self, owner: Owner) -> None:
        item = find_item(StateItem, _key(owner))
        if item is not None and needs_renewal(_expiry_of(item), now=self._clock.now()):
            action = StateItem.expires_at.set(self._new_expiry())
            update_if(item, [action], condition=StateItem.key.exists())

    def delete(self, owner: Owner) -> None:
        StateItem(_key(owner)).delete()

    def _new_expiry(self) -> int:
        return int(settings_expiry(self._clock.now()).timestamp())


def _key(owner: Owner) -> str:
    return f"profile#{owner.channel}#{owner.sender_id}"


def _expiry_of(item: StateItem) -> datetime | None:
    return None if item.expires_at is None else datetime.fromtimestamp(item.expires_at, tz=UTC)
