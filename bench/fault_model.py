"""How long the causes of failures last, by kind: the assumptions behind `make bench-waste`.

There is no public record of how long each kind of failure lasts for one caller, so the shares and
medians are assumptions, rounded on purpose. The comments name the published figures that exist.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import log
from random import Random

from duecourse.domain.limits.budget import next_reset
from duecourse.domain.tasks.failure_kind import ClearsBy, Kind

HORIZON = timedelta(days=7)
DAY = timedelta(days=1)
_MINUTE = timedelta(minutes=1)
_HOUR = timedelta(hours=1)

Draw = Callable[[Random], timedelta]


def lognormal(median: timedelta, sigma: float) -> Draw:
    """Draw times around the median; two thirds are within a factor of e^sigma of it."""
    mu = log(median.total_seconds())
    return lambda rng: min(timedelta(seconds=rng.lognormvariate(mu, sigma)), HORIZON)


def uniform(longest: timedelta) -> Draw:
    return lambda rng: rng.random() * longest


# A connection that was cut, a request that met a broken node, a lock held for one write.
BLIP = lognormal(timedelta(seconds=2), 1.0)
# A restart or a failover. Amazon RDS: typically 60 to 120 seconds (User Guide, Multi-AZ failover).
RESTART = lognormal(timedelta(seconds=75), 0.6)
# Overload, a deployment, a node that is replaced.
DISTURBANCE = lognormal(10 * _MINUTE, 1.0)
# Of the outages of clouds that were made public in 2016, 17 % lasted less than an hour, 51 % one to
# five hours and 32 % longer (https://www.blackswantec.com/learn). This draws 18, 49 and 34 %.
OUTAGE = lognormal(3 * _HOUR, 1.2)
# Google Cloud: a changed policy usually takes effect within 2 minutes, but may need 7 or more
# (https://docs.cloud.google.com/iam/docs/access-change-propagation).
PROPAGATION = lognormal(2 * _MINUTE, 0.8)
# Providers count requests and tokens by the minute. A caller that fails meets the window anywhere.
WINDOW = uniform(_MINUTE)
DAILY_WINDOW = uniform(DAY)

# How long a person takes who was asked: to see it, to clear the cause and to retry. A blocked task
# waits for a day.
PERSON = lognormal(_HOUR, 1.0)
# How long it takes if the task asks nobody, but others have the same failure.
UNASKED = lognormal(8 * _HOUR, 1.0)
# A key, a grant or an account is shared by many tasks; code, data or an address less often.
UNASKED_SHARE = {ClearsBy.PERSON: 0.5, ClearsBy.MONEY: 0.5, ClearsBy.CODE_CHANGE: 0.25}

# Where each try fails independently of the last one, so often.
FLAKY_FAILURE = 0.3


@dataclass(frozen=True, slots=True)
class Fault:
    """How failures of one kind end.

    `waits`: shares that end by themselves, and after how long. `flaky`: the share where each try
    fails independently. `rest`: what ends the others. `retry_after`: the share of those that end by
    themselves where the server says when; it is right.
    """

    rest: ClearsBy
    waits: tuple[tuple[float, Draw], ...] = ()
    flaky: float = 0.0
    retry_after: float = 0.0


_CODE = Fault(ClearsBy.CODE_CHANGE)
_NEVER = Fault(ClearsBy.NEVER)

FAULTS: Mapping[Kind, Fault] = {
    # The rest: a certificate that expired, a wrong address that looks like an outage.
    Kind.NETWORK: Fault(
        ClearsBy.CODE_CHANGE, ((0.45, BLIP), (0.25, RESTART), (0.20, DISTURBANCE), (0.05, OUTAGE))
    ),
    # The rest: a request that makes the service fail every time.
    Kind.SERVER_ERROR: Fault(
        ClearsBy.CODE_CHANGE,
        ((0.30, BLIP), (0.30, RESTART), (0.25, DISTURBANCE), (0.10, OUTAGE)),
        retry_after=0.1,
    ),
    # Limits by the minute; under load the next window is full again. Limits by the day are quotas.
    Kind.RATE_LIMIT: Fault(
        ClearsBy.WAITING, ((0.80, WINDOW), (0.20, DISTURBANCE)), retry_after=0.6
    ),
    # A lock or a concurrent writer. The rest: what exists already goes on existing.
    Kind.CONFLICT: Fault(ClearsBy.CODE_CHANGE, ((0.45, BLIP), (0.25, DISTURBANCE))),
    # Load of others. The rest: the work is too long for its limit.
    Kind.TIMEOUT: Fault(ClearsBy.CODE_CHANGE, ((0.20, RESTART), (0.30, DISTURBANCE))),
    # Other processes that use the memory. The rest: the work needs more than there is.
    Kind.MEMORY: Fault(ClearsBy.CODE_CHANGE, ((0.40, DISTURBANCE),)),
    # Clean-up and rotation run by the hour or by the day.
    Kind.DISK: Fault(ClearsBy.PERSON, ((0.20, OUTAGE),)),
    Kind.CAPACITY: Fault(
        ClearsBy.CODE_CHANGE, ((0.30, RESTART), (0.40, DISTURBANCE), (0.05, OUTAGE))
    ),
    # A model answers differently each time. The rest: the prompt or the schema is wrong.
    Kind.BAD_JSON: Fault(ClearsBy.CODE_CHANGE, flaky=0.85),
    # A quota by the day. The rest: a plan, a credit or a limit of the account.
    Kind.QUOTA: Fault(ClearsBy.MONEY, ((0.20, DAILY_WINDOW),), retry_after=0.2),
    # Until midnight UTC: `draw_cause` knows the time of day.
    Kind.BUDGET: Fault(ClearsBy.MONEY, ((1.0, DAILY_WINDOW),)),
    # A token that is renewed in the background.
    Kind.AUTH: Fault(ClearsBy.PERSON, ((0.10, BLIP),)),
    Kind.PERMISSION: Fault(ClearsBy.PERSON, ((0.05, PROPAGATION),)),
    # What was created a moment ago, and is not seen everywhere yet.
    Kind.NOT_FOUND: Fault(ClearsBy.CODE_CHANGE, ((0.10, PROPAGATION),)),
    # Google, 2016: almost 16 % of its tests fail now and then without a change
    # (Flaky Tests at Google and How We Mitigate Them).
    Kind.ASSERTION: Fault(ClearsBy.CODE_CHANGE, flaky=0.15),
    # Killed from outside, or a race.
    Kind.CRASH: Fault(ClearsBy.CODE_CHANGE, flaky=0.25),
    Kind.SYNTAX: _CODE,
    Kind.TYPE: _CODE,
    Kind.IMPORT: _CODE,
    Kind.LINT: _CODE,
    Kind.DATA: _CODE,
    Kind.CONFIG: _CODE,
    Kind.INVALID_REQUEST: _NEVER,
    Kind.CONTENT_POLICY: _NEVER,
    Kind.TOKEN_LIMIT: _NEVER,
    Kind.UNKNOWN: Fault(ClearsBy.CODE_CHANGE, ((0.20, BLIP), (0.20, DISTURBANCE))),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Cause:
    """The cause of one failure, the same for all strategies. Times count from the failure.

    `ends_after`: when it is over without anybody being asked; None if it then never is.
    `failing_retries`: so many retries fail by chance, and the next one does not; else None.
    `person_after`: how long a person takes who is asked. `person_clears`: whether that ends the
    cause; else the person can only retry. `retry_after`: what the server says.
    """

    clears_by: ClearsBy
    person_after: timedelta
    person_clears: bool = False
    ends_after: timedelta | None = None
    failing_retries: int | None = None
    retry_after: timedelta | None = None

    @property
    def can_end(self) -> bool:
        return self.clears_by is not ClearsBy.NEVER

    def is_over(self, at: timedelta, retry: int) -> bool:
        """Return whether the retry of this number succeeds at this time if nobody was asked."""
        if self.failing_retries is not None:
            return retry > self.failing_retries
        return self.ends_after is not None and at >= self.ends_after


def draw_cause(
    kind: Kind, rng: Random, *, failed_at: datetime, announced: timedelta | None = None
) -> Cause:
    """Draw how this failure ends. `announced` is the wait that its text names, which is right."""
    fault = FAULTS[kind]
    person_after = min(PERSON(rng), DAY)
    chance = rng.random()
    if chance < fault.flaky:
        return Cause(
            clears_by=ClearsBy.WAITING,
            person_after=person_after,
            failing_retries=_count_failing(rng),
        )
    draw = _choose_wait(fault, chance - fault.flaky)
    if draw is None:
        is_noticed = rng.random() < UNASKED_SHARE.get(fault.rest, 0.0)
        ends_after = UNASKED(rng) if is_noticed else None
        return Cause(
            clears_by=fault.rest,
            person_after=person_after,
            person_clears=fault.rest is not ClearsBy.NEVER,
            ends_after=ends_after,
        )
    ends_after = next_reset(failed_at) - failed_at if kind is Kind.BUDGET else draw(rng)
    is_announced = rng.random() < fault.retry_after
    if announced is not None and fault.retry_after:
        ends_after, is_announced = announced, True
    return Cause(
        clears_by=ClearsBy.WAITING,
        person_after=person_after,
        # Somebody can raise a quota, free a disk or renew a key before it clears by itself.
        person_clears=fault.rest in (ClearsBy.PERSON, ClearsBy.MONEY),
        ends_after=ends_after,
        retry_after=ends_after if is_announced else None,
    )


def _choose_wait(fault: Fault, chance: float) -> Draw | None:
    """Return how long the cause lasts, or None if it does not end by itself."""
    for share, draw in fault.waits:
        if chance < share:
            return draw
        chance -= share
    return None


def _count_failing(rng: Random) -> int:
    failing = 0
    while rng.random() < FLAKY_FAILURE:
        failing += 1
    return failing
