"""Owners' preferences (time zone, notification level): one item per owner."""

from __future__ import annotations

from duecourse.adapters.aws.dynamodb.models import StateItem
from duecourse.adapters.aws.dynamodb.state import read_state
from duecourse.domain.chat.notification_kind import NotifyLevel
from duecourse.domain.chat.profile import Profile
from duecourse.domain.tasks.owner import Owner


class DynamoProfiles:
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
        StateItem(_key(profile.owner), value=stored).save()


def _key(owner: Owner) -> str:
    return f"profile#{owner.channel}#{owner.sender_id}"
