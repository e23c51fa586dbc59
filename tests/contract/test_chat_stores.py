"""Stored replies and chat profiles."""

from __future__ import annotations

from datetime import timedelta

import pytest
from duecourse.adapters.aws.dynamodb.models import StateItem
from duecourse.adapters.aws.dynamodb.profiles import DynamoProfiles
from duecourse.adapters.aws.dynamodb.replies import DynamoReplyStore
from duecourse.domain.chat.chat_message import Button, ChatMessage
from duecourse.domain.chat.notification_kind import NotifyLevel
from duecourse.domain.chat.profile import Profile
from duecourse.domain.chat.stored_reply import StoredReply
from duecourse.domain.tasks.owner import Owner
from duecourse.ports.chat import Profiles, ReplyStore

from tests.support.builders.chat import a_message
from tests.support.builders.moments import NOW
from tests.support.fakes.chat import MemoryProfiles, MemoryReplyStore
from tests.support.fakes.clock import ManualClock


@pytest.fixture(params=[DynamoReplyStore, MemoryReplyStore])
def replies(request: pytest.FixtureRequest) -> ReplyStore:
    replies: ReplyStore = request.param()
    return replies


@pytest.fixture(params=["dynamodb", "memory"])
def profiles(request: pytest.FixtureRequest) -> Profiles:
    return MemoryProfiles() if request.param == "memory" else DynamoProfiles(ManualClock(NOW))


REPLY = ChatMessage("Reminder a1b2c3d4 set", (Button("Cancel", "/cancel a1b2c3d4"),))


def test_a_reply_is_stored_by_channel_and_dedup_key(replies: ReplyStore) -> None:
    replies.save(a_message(dedup_key="1"), StoredReply(REPLY))

    assert replies.get(a_message("said again", dedup_key="1", sender_id="bob")) == StoredReply(
        REPLY
    )
    assert replies.get(a_message(dedup_key="2")) is None
    assert replies.get(a_message(dedup_key="1", channel="slack")) is None


def test_the_delivery_of_a_reply_is_stored(replies: ReplyStore) -> None:
    replies.save(a_message(), StoredReply(REPLY))
    replies.save(a_message(), StoredReply(REPLY, is_delivered=True))

    assert replies.get(a_message()) == StoredReply(REPLY, is_delivered=True)


def test_a_reply_expires_after_three_days() -> None:
    DynamoReplyStore().save(a_message(), StoredReply(REPLY))

    [item] = StateItem.scan()
    assert item.expires_at == int((NOW + timedelta(days=3)).timestamp())


def test_a_dedup_key_can_have_any_length(replies: ReplyStore) -> None:
    long = a_message(dedup_key="x" * 5_000)
    replies.save(long, StoredReply(REPLY))

    assert replies.get(long) == StoredReply(REPLY)


def test_an_unknown_sender_has_an_empty_profile(profiles: Profiles) -> None:
    profile = profiles.get(Owner("slack", "U1"))

    assert profile == Profile(Owner("slack", "U1"))


def test_a_timezone_is_stored_per_sender_and_channel(profiles: Profiles) -> None:
    profiles.save(Profile(Owner("slack", "U1"), timezone="Asia/Tokyo"))

    assert profiles.get(Owner("slack", "U1")).timezone == "Asia/Tokyo"
    assert profiles.get(Owner("slack", "U2")).timezone is None
    assert profiles.get(Owner("telegram", "U1")).timezone is None


def test_the_notify_level_is_stored_with_the_timezone(
    profiles: Profiles,
) -> None:
    owner = Owner("slack", "U1")
    profiles.save(Profile(owner, timezone="Asia/Tokyo", notify=NotifyLevel.NONE))

    assert profiles.get(owner) == Profile(owner, timezone="Asia/Tokyo", notify=NotifyLevel.NONE)


def test_an_old_profile_has_no_notify_level() -> None:
    StateItem("profile#slack#U1", value={"timezone": "Asia/Tokyo"}).save()

    assert DynamoProfiles(ManualClock(NOW)).get(Owner("slack", "U1")).notify is None


def test_a_deleted_profile_is_empty(profiles: Profiles) -> None:
    owner = Owner("slack", "U1")
    profiles.save(Profile(owner, timezone="Asia/Tokyo"))

    profiles.delete(owner)
    profiles.delete(owner)

    assert profiles.get(owner) == Profile(owner)


@pytest.mark.parametrize(("days", "expected"), [(0, 400), (199, 400), (201, 601)])
def test_a_profile_is_kept_while_its_owner_writes(days: int, expected: int) -> None:
    owner = Owner("slack", "U1")
    DynamoProfiles(ManualClock(NOW)).save(Profile(owner, timezone="Asia/Tokyo"))

    DynamoProfiles(ManualClock(NOW + timedelta(days=days))).renew(owner)

    [item] = StateItem.scan()
    assert item.expires_at == int((NOW + timedelta(days=expected)).timestamp())
    assert DynamoProfiles(ManualClock(NOW)).get(owner).timezone == "Asia/Tokyo"


def test_an_old_profile_gets_an_expiry_and_an_unknown_one_is_not_created() -> None:
    StateItem("profile#slack#U1", value={"timezone": "Asia/Tokyo"}).save()
    profiles = DynamoProfiles(ManualClock(NOW))

    for name in ("U1", "U2"):
        profiles.renew(Owner("slack", name))

    [item] = StateItem.scan()
    assert item.expires_at == int((NOW + timedelta(days=400)).timestamp())
