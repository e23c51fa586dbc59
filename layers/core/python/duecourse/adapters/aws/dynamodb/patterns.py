"""What was learnt of failures. Counters are added to without a read; nobody waits for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from pynamodb.exceptions import DoesNotExist
from pynamodb.expressions.operand import Path
from pynamodb.expressions.update import Action

from duecourse.adapters.aws.dynamodb.conditions import updated
from duecourse.adapters.aws.dynamodb.stored_item import read_item, read_items
from duecourse.adapters.aws.dynamodb.tracking_models import CounterItem, PatternItem
from duecourse.domain.failures.adaptive_backoff import TriesBySeconds
from duecourse.domain.journal.learned_patterns import Pattern, Said, Sighting, months_until
from duecourse.domain.limits.budget import day_of
from duecourse.domain.tasks.adapted_delay import Tries
from duecourse.domain.tasks.run import Followed
from duecourse.domain.time.instant import from_text, to_text

KEPT = timedelta(days=90)
KEPT_IF_SAID = timedelta(days=400)
MOST_DELAYS = 1_000  # a few for each category and month: only a broken policy has so many
_TRIED, _WORKED = "t", "w"


class DynamoPatterns:
    def find(self, policy: str, fingerprint: str, *, now: datetime) -> Pattern | None:
        try:
            item = PatternItem.get(_patterns(policy), fingerprint)
        except DoesNotExist:
            return None
        return read_item(item, _pattern) if _is_kept(item, now) else None

    def newest(self, policy: str, *, limit: int, now: datetime) -> Sequence[Pattern]:
        found = PatternItem.newest_index.query(
            _patterns(policy), scan_index_forward=False, limit=limit
        )
        return list(read_items((item for item in found if _is_kept(item, now)), _pattern))

    def seen(self, sighting: Sighting) -> None:
        """Mostly nobody has said anything of it; where somebody has, it is kept for longer."""
        item = _item(sighting)
        changes = [
            PatternItem.times.add(1),
            PatternItem.category.set(sighting.category),
            PatternItem.read_as.set(sighting.read_as),
            PatternItem.example.set(sighting.example),
            PatternItem.last_seen.set(to_text(sighting.at)),
            PatternItem.repeats.set(_patterns(sighting.policy)),
        ]
        nobody = PatternItem.said.does_not_exist()
        if not updated(item, [*changes, _until(sighting.at + KEPT)], where=nobody):
            item.update([*changes, _until(sighting.at + KEPT_IF_SAID)])

    def taught(self, sighting: Sighting, said: Said) -> None:
        last_seen, times = PatternItem.last_seen, PatternItem.times
        by, of = PatternItem.said_by, PatternItem.said_of
        _item(sighting).update(
            [
                PatternItem.said.set(said.category),
                PatternItem.said_at.set(to_text(said.at)),
                by.set(said.by) if said.by else by.remove(),
                of.set(said.read_as) if said.read_as else of.remove(),
                PatternItem.category.set(said.category),
                PatternItem.read_as.set(sighting.read_as),
                PatternItem.example.set(sighting.example),
                times.set(times | 0),
                last_seen.set(last_seen | to_text(sighting.at)),
                PatternItem.repeats.set(_patterns(sighting.policy)),
                _until(said.at + KEPT_IF_SAID),
            ]
        )

    def forget(self, policy: str, fingerprint: str, *, now: datetime) -> bool:
        item = PatternItem(_patterns(policy), fingerprint)
        changes = [
            PatternItem.said.remove(),
            PatternItem.said_at.remove(),
            PatternItem.said_by.remove(),
            PatternItem.said_of.remove(),
            PatternItem.category.set(PatternItem.read_as),
            _until(now + KEPT),
        ]
        return updated(item, changes, where=PatternItem.said.exists())

    def tried(self, policy: str, follows: Followed, *, worked: bool, at: datetime) -> None:
        if follows.fingerprint is not None:
            item = PatternItem(_patterns(policy), follows.fingerprint)
            changes = [PatternItem.tried.add(1), PatternItem.worked.add(int(worked))]
            updated(item, changes, where=PatternItem.times.exists())
        if follows.waited is not None:
            month, _ = months_until(day_of(at))
            counter = CounterItem(_delays(policy), f"{follows.category}#{month}")
            tried = Path(f"{_TRIED}{follows.waited}").add(1)
            succeeded = Path(f"{_WORKED}{follows.waited}").add(int(worked))
            counter.update([tried, succeeded, _until(at + KEPT)])

    def tries(self, policy: str, category: str, *, now: datetime) -> TriesBySeconds:
        found: dict[int, Tries] = {}
        for month in months_until(day_of(now)):
            try:
                item = CounterItem.get(_delays(policy), f"{category}#{month}")
            except DoesNotExist:
                continue
            _add(found, item)
        return found

    def all_tries(self, policy: str, *, now: datetime) -> Mapping[str, TriesBySeconds]:
        months = months_until(day_of(now))
        found: dict[str, dict[int, Tries]] = {}
        for item in CounterItem.query(_delays(policy), limit=MOST_DELAYS):
            category, _, month = item.counter.rpartition("#")
            if month in months:
                _add(found.setdefault(category, {}), item)
        return found


def _patterns(policy: str) -> str:
    return f"patterns#{policy}"


def _delays(policy: str) -> str:
    return f"delays#{policy}"


def _item(sighting: Sighting) -> PatternItem:
    return PatternItem(_patterns(sighting.policy), sighting.fingerprint)


def _until(instant: datetime) -> Action:
    return Path("expires_at").set(int(instant.timestamp()))


def _is_kept(item: PatternItem, now: datetime) -> bool:
    """What has aged out may be there for some days."""
    return item.unreadable is not None or item.expires_at > now.timestamp()


def _pattern(item: PatternItem) -> Pattern:
    return Pattern(
        policy=item.day.partition("#")[2],
        fingerprint=item.counter,
        category=item.category,
        read_as=item.read_as,
        example=item.example,
        last_seen=from_text(item.last_seen),
        count=int(item.times),
        tried=int(item.tried or 0),
        worked=int(item.worked or 0),
        said=_said(item),
    )


def _said(item: PatternItem) -> Said | None:
    if item.said is None or item.said_at is None:
        return None
    at = from_text(item.said_at)
    return Said(category=item.said, at=at, by=item.said_by, read_as=item.said_of)


def _add(found: dict[int, Tries], item: CounterItem) -> None:
    """`t30` retries were tried after 30 seconds, and `w30` of them worked."""
    for name, tried in item.numbers.items():
        if name.startswith(_TRIED):
            seconds = int(name.removeprefix(_TRIED))
            tries = Tries(tried, item.numbers.get(f"{_WORKED}{seconds}", 0))
            found[seconds] = found.get(seconds, Tries()).plus(tries)
