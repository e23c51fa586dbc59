"""What is remembered of chats: the answers given, and the people."""

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


@pytest.fixture(params=[DynamoReplyStore, MemoryReplyStore])
def answers(request: pytest.FixtureRequest) -> ReplyStore:
    found: ReplyStore = request.param()
    return found


@pytest.fixture(params=[DynamoProfiles, MemoryProfiles])
def profiles(request: pytest.FixtureRequest) -> Profiles:
    found: Profiles = request.param()
    return found


SAYING = ChatMessage("Reminder a1b2c3d4 set", (Button("Cancel", "/cancel a1b2c3d4"),))


def test_an_answer_is_remembered_by_its_message_alone(answers: ReplyStore) -> None:
    answers.save(a_message(dedup_key="1"), StoredReply(SAYING))

    assert answers.get(a_message("said again", dedup_key="1", sender_id="bob")) == StoredReply(
        SAYING
    )
    assert answers.get(a_message(dedup_key="2")) is None
    assert answers.get(a_message(dedup_key="1", channel="slack")) is None


def test_that_it_was_told_is_remembered(answers: ReplyStore) -> None:
    answers.save(a_message(), StoredReply(SAYING))
    answers.save(a_message(), StoredReply(SAYING, is_delivered=True))

    assert answers.get(a_message()) == StoredReply(SAYING, is_delivered=True)


def test_an_answer_goes_by_itself_when_no_platform_repeats_itself_any_more() -> None:
    DynamoReplyStore().save(a_message(), StoredReply(SAYING))

    [item] = StateItem.scan()
    assert item.expires_at == int((NOW + timedelta(days=3)).timestamp())


def test_a_key_may_be_as_long_as_a_platform_likes(answers: ReplyStore) -> None:
    long = a_message(dedup_key="x" * 5_000)
    answers.save(long, StoredReply(SAYING))

    assert answers.get(long) == StoredReply(SAYING)


def test_somebody_never_seen_has_a_profile_that_says_nothing(profiles: Profiles) -> None:
    profile = profiles.get(Owner("slack", "U1"))

    assert profile == Profile(Owner("slack", "U1"))


def test_a_time_zone_is_remembered_for_one_person_on_one_channel(profiles: Profiles) -> None:
    profiles.save(Profile(Owner("slack", "U1"), timezone="Asia/Tokyo"))

    assert profiles.get(Owner("slack", "U1")).timezone == "Asia/Tokyo"
    assert profiles.get(Owner("slack", "U2")).timezone is None
    assert profiles.get(Owner("telegram", "U1")).timezone is None


def test_what_somebody_wants_to_hear_is_remembered_beside_where_they_are(
    profiles: Profiles,
) -> None:
    owner = Owner("slack", "U1")
    profiles.save(Profile(owner, timezone="Asia/Tokyo", notify=NotifyLevel.NONE))

    assert profiles.get(owner) == Profile(owner, timezone="Asia/Tokyo", notify=NotifyLevel.NONE)


def test_a_profile_from_before_there_was_a_choice_has_made_none() -> None:
    StateItem("profile#slack#U1", value={"timezone": "Asia/Tokyo"}).save()

    assert DynamoProfiles().get(Owner("slack", "U1")).notify is None
