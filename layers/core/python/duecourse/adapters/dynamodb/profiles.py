"""What is remembered of people: an item each."""

from __future__ import annotations

from pynamodb.exceptions import DoesNotExist

from duecourse.adapters.dynamodb.items import StateItem
from duecourse.domain.chat.kind import Notify
from duecourse.domain.chat.profile import Profile
from duecourse.domain.owner import Owner


class DynamoProfiles:
    def get(self, owner: Owner) -> Profile:
        try:
            stored = StateItem.get(_key(owner), consistent_read=True).value
        except DoesNotExist:
            stored = {}
        notify = Notify(stored["notify"]) if stored.get("notify") else None
        return Profile(owner, timezone=stored.get("timezone"), notify=notify)

    def save(self, profile: Profile) -> None:
        stored = {"timezone": profile.timezone, "notify": profile.notify}
        StateItem(_key(profile.owner), value=stored).save()


def _key(owner: Owner) -> str:
    return f"profile#{owner.channel}#{owner.sender_id}"
