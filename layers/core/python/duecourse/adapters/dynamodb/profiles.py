"""What is remembered of people: an item each."""

from __future__ import annotations

from pynamodb.exceptions import DoesNotExist

from duecourse.adapters.dynamodb.items import StateItem
from duecourse.domain.chat.profile import Profile
from duecourse.domain.owner import Owner


class DynamoProfiles:
    def get(self, owner: Owner) -> Profile:
        try:
            stored = StateItem.get(_key(owner), consistent_read=True).value
        except DoesNotExist:
            stored = {}
        return Profile(owner, timezone=stored.get("timezone"))

    def save(self, profile: Profile) -> None:
        stored = {"timezone": profile.timezone}
        StateItem(_key(profile.owner), value=stored).save()


def _key(owner: Owner) -> str:
    return f"profile#{owner.channel}#{owner.sender_id}"
