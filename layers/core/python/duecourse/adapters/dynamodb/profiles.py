"""What is remembered of people: an item each."""

from __future__ import annotations

from pynamodb.exceptions import DoesNotExist

from duecourse.adapters.dynamodb.items import StateItem
from duecourse.domain.chat.profile import Profile


class DynamoProfiles:
    def get(self, channel: str, sender_id: str) -> Profile:
        try:
            stored = StateItem.get(_key(channel, sender_id), consistent_read=True).value
        except DoesNotExist:
            stored = {}
        return Profile(channel=channel, sender_id=sender_id, timezone=stored.get("timezone"))

    def save(self, profile: Profile) -> None:
        stored = {"timezone": profile.timezone}
        StateItem(_key(profile.channel, profile.sender_id), value=stored).save()


def _key(channel: str, sender_id: str) -> str:
    return f"profile#{channel}#{sender_id}"
