"""The figures of `make bench-waste` and their tables, on the screen and in docs/failures.md."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean, median

from duecourse.domain.tasks.failure_kind import ClearsBy

from bench.waste_simulation import Incident, Outcome, Player, find_best_outcome
from local.runtime.template import ROOT

PAGE = ROOT / "docs" / "failures.md"
START, END = "<!-- bench-waste: begin -->\n", "<!-- bench-waste: end -->\n"
_COLUMNS = (
    "wasted calls",
    "people asked",
    "recovered",
    "time to recovery: mean",
    "median",
    "median without people",
    "later than the oracle",
)
_UNITS = (("s", 60), ("min", 60), ("h", 48))


@dataclass(frozen=True, slots=True)
class Figures:
    """What a strategy did. Counts are per 1,000 failures, times in seconds.

    `recovered`: the share of the failures whose cause can end. Times are of recovered failures, and
    None if there are none. `median_without_people`: of those whose cause ends by itself.
    `delay_*`: how much later than the oracle.
    """

    strategy: str
    wasted: float
    people_asked: float
    recovered: float
    mean: float | None
    median: float | None
    median_without_people: float | None
    delay_mean: float | None
    delay_median: float | None


@dataclass(frozen=True, slots=True)
class _Recovery:
    """How long a recovery took, and how much of that the strategy added, in seconds."""

    time: float
    delay: float
    is_without_people: bool


def measure(name: str, incidents: Sequence[Incident], play: Player) -> Figures:
    """Return the figures of a strategy, and how much later than the oracle it recovers."""
    outcomes = [play(incident) for incident in incidents]
    recoveries = [
        recovery
        for incident, outcome in zip(incidents, outcomes, strict=True)
        if (recovery := _compare_with_oracle(incident, outcome))
    ]
    times, delays = [one.time for one in recoveries], [one.delay for one in recoveries]
    can_end = sum(incident.cause.can_end for incident in incidents)
    return Figures(
        strategy=name,
        wasted=1_000 * fmean(one.wasted for one in outcomes),
        people_asked=1_000 * fmean(one.has_asked for one in outcomes),
        recovered=len(recoveries) / can_end if can_end else 1.0,
        mean=_aggregate(fmean, times),
        median=_aggregate(median, times),
        median_without_people=_aggregate(
            median, [one.time for one in recoveries if one.is_without_people]
        ),
        delay_mean=_aggregate(fmean, delays),
        delay_median=_aggregate(median, delays),
    )


def _compare_with_oracle(incident: Incident, outcome: Outcome) -> _Recovery | None:
    earliest = find_best_outcome(incident).recovered_after
    if outcome.recovered_after is None or earliest is None:
        return None
    return _Recovery(
        time=outcome.recovered_after.total_seconds(),
        delay=(outcome.recovered_after - earliest).total_seconds(),
        is_without_people=incident.cause.clears_by is ClearsBy.WAITING,
    )


def _aggregate(
    function: Callable[[Sequence[float]], float], times: Sequence[float]
) -> float | None:
    return function(times) if times else None


def format_table(title: str, figures: Sequence[Figures]) -> Iterator[str]:
    """Yield the lines of a Markdown table that is aligned for reading as text too."""
    rows = [(title, *_COLUMNS), *(_cells(one) for one in figures)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for number, row in enumerate(rows):
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        yield f"| {' | '.join(cells)} |"
        if number == 0:
            yield f"|{'|'.join('-' * (width + 2) for width in widths)}|"


def _cells(figures: Figures) -> tuple[str, ...]:
    times = (figures.mean, figures.median, figures.median_without_people, figures.delay_mean)
    return (
        figures.strategy,
        f"{figures.wasted:,.0f}",
        f"{figures.people_asked:,.0f}",
        f"{figures.recovered:.2f}",
        *(_format_time(seconds) for seconds in times),
    )


def _format_time(seconds: float | None) -> str:
    """Return the time in the largest unit that fits, with two digits or three."""
    if seconds is None:
        return "–"
    figure = seconds
    for unit, limit in _UNITS:
        if figure < limit:
            return f"{figure:.0f} {unit}" if figure >= 10 or not figure else f"{figure:.1f} {unit}"
        figure /= limit
    return f"{seconds / 86_400:.1f} days"


def write_page(lines: Iterable[str]) -> None:
    """Replace the tables in docs/failures.md."""
    head, _, rest = PAGE.read_text(encoding="utf-8").partition(START)
    _, _, tail = rest.partition(END)
    PAGE.write_text(f"{head}{START}" + "\n".join(lines) + f"{END}{tail}", encoding="utf-8")


def read_page() -> str:
    """Return the tables that docs/failures.md has."""
    return PAGE.read_text(encoding="utf-8").partition(START)[2].partition(END)[0]
