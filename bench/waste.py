"""Compare what retry policies waste: `make bench-waste`.

Labelled messages are drawn as failures whose causes last as `bench/fault_model.py` assumes. All
strategies meet the same failures.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from functools import partial
from random import Random
from typing import Any

from duecourse.adapters.runtime.policy_files import read_policies
from duecourse.domain.tasks.failure_kind import Kind

from bench.fault_model import DAY, draw_cause
from bench.kinds import CORPUS, build_failure, read_rows
from bench.waste_report import Figures, format_table, measure, write_page
from bench.waste_simulation import Incident, Player, Strategy, find_best_outcome, simulate
from bench.waste_strategies import NO_SUBJECT, list_strategies

# Of held-out messages too only the totals are printed.
FILES = ("agent.jsonl", "provider.jsonl", "more.jsonl", "held_out.jsonl")
# The mixes by the label that a message must have.
MIXES = {"agent": "agent mix", "provider": "provider mix"}
WITH_SUBJECTS = ("provider",)
FAILURES = 5_000
SEED = 1
_FIRST_DAY = datetime(2026, 3, 2, tzinfo=UTC)


def read_mix(label: str) -> list[dict[str, Any]]:
    """Return the labelled messages that occur in this kind of work."""
    return [row for name in FILES for row in read_rows(CORPUS / name) if row[label]]


def draw_incidents(
    rows: Sequence[dict[str, Any]], count: int, seed: int, *, has_subject: bool = False
) -> list[Incident]:
    """Draw failures. Each message occurs equally often, but for the remainder."""
    order = Random(seed).sample(range(len(rows)), len(rows))  # noqa: S311 - reproducible
    drawn = [_draw_incident(rows[order[i % len(rows)]], f"{seed}/{i}") for i in range(count)]
    return [replace(incident, has_subject=has_subject) for incident in drawn]


def _draw_incident(row: Mapping[str, Any], id: str) -> Incident:
    rng = Random(f"{id}/{row['id']}")  # noqa: S311 - the same for all strategies
    failure = build_failure(dict(row))
    failed_at = _FIRST_DAY + rng.random() * DAY
    cause = draw_cause(Kind(row["kind"]), rng, failed_at=failed_at, announced=failure.retry_after)
    if cause.retry_after is not None:
        failure = replace(failure, retry_after=cause.retry_after)
    return Incident(id, failure, failed_at, cause)


def compare(label: str, strategies: Mapping[str, Strategy], count: int, seed: int) -> list[Figures]:
    """Return the figures of each strategy and of the oracle for the same failures."""
    has_subject = label in WITH_SUBJECTS
    incidents = draw_incidents(read_mix(label), count, seed, has_subject=has_subject)
    if not has_subject:
        strategies = {name: one for name, one in strategies.items() if name != NO_SUBJECT}
    players: dict[str, Player] = {
        name: partial(simulate, strategy) for name, strategy in strategies.items()
    }
    players["oracle"] = find_best_outcome
    return [measure(name, incidents, play) for name, play in players.items()]


def compare_all(count: int = FAILURES, seed: int = SEED) -> dict[str, list[Figures]]:
    """Return the figures by mix, for all policies that exist."""
    strategies = list_strategies(read_policies())
    return {title: compare(label, strategies, count, seed) for label, title in MIXES.items()}


def format_mixes(mixes: Mapping[str, Sequence[Figures]]) -> Iterator[str]:
    for title, figures in mixes.items():
        yield from format_table(title, figures)
        yield ""


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="bench.waste", description=__doc__)
    parser.add_argument("--failures", type=int, default=FAILURES, help="how many; %(default)s")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--json", action="store_true", help="print JSON, times in seconds")
    parser.add_argument("--write", action="store_true", help="also write docs/failures.md")
    options = parser.parse_args(arguments)
    mixes = compare_all(options.failures, options.seed)
    if options.json:
        print(json.dumps({name: [asdict(one) for one in mixes[name]] for name in mixes}, indent=2))
    else:
        print("\n".join(format_mixes(mixes)))
    if options.write:
        write_page(format_mixes(mixes))


if __name__ == "__main__":
    main()
