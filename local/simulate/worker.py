"""Simulates seeds in a process of its own, and prints one JSON object for each.

Run with PYTHONHASHSEED=0: the order of sets of texts is part of a simulation.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import sys
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from local.simulate.mutants import MUTANTS
from local.simulate.plan import Plan
from local.simulate.saved_plan import plan_from_text
from local.simulate.shrink import shrink
from local.simulate.simulation import Outcome, make_plan, simulate
from local.simulate.source_edit import plant
from local.simulate.story import to_story

HASH_SEED = "0"
ERROR_CODE = 3  # after a simulation that ended with an error, which is reported


def main(arguments: Sequence[str] | None = None) -> None:
    options = _parse(arguments)
    if os.environ.get("PYTHONHASHSEED") != HASH_SEED:
        sys.exit(f"set PYTHONHASHSEED={HASH_SEED}")
    warnings.simplefilter("ignore")
    gc.set_threshold(100_000, 20, 100)  # to search the modules of all containers takes long
    if options.mutant is not None:
        plant(MUTANTS[options.mutant].edit)
    ends_at = time.monotonic() + options.seconds if options.seconds is not None else None
    for plan in _plans(options):
        try:
            report = _report(plan, options)
        except Exception as error:  # noqa: BLE001 - any error is reported with its seed
            _print({"seed": plan.seed, "error": f"{type(error).__name__}: {error}"})
            if os.environ.get("DUECOURSE_DEBUG"):
                traceback.print_exc()
            sys.exit(ERROR_CODE)
        _print(report)
        is_late = ends_at is not None and time.monotonic() >= ends_at
        if is_late or (options.until_violation and report["violation"]):
            break


def _print(report: Mapping[str, Any]) -> None:
    """Print the report, or end if nobody reads it any more."""
    try:
        print(json.dumps(report), flush=True)
    except BrokenPipeError:
        os._exit(1)  # a normal exit would try to flush again


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="local.simulate.worker", description=__doc__)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--last", type=int)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--steps", type=int, required=True)
    parser.add_argument("--faults", required=True, help="names with commas; empty for none")
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--replay", type=Path, nargs="+", default=())
    parser.add_argument("--mutant", choices=sorted(MUTANTS), help="plant this bug first")
    parser.add_argument(
        "--until-violation", action="store_true", help="stop at the first one, and do not shrink it"
    )
    parser.add_argument("--trace-only", action="store_true", help="do not check the invariants")
    return parser.parse_args(arguments)


def _plans(options: argparse.Namespace) -> Iterator[Plan]:
    if options.replay:
        yield from (plan_from_text(path.read_text()) for path in options.replay)
        return
    names = frozenset(filter(None, options.faults.split(",")))
    seed = options.first
    while options.last is None or seed <= options.last:
        yield make_plan(seed, steps=options.steps, fault_names=names)
        seed += options.every


def _report(plan: Plan, options: argparse.Namespace) -> dict[str, Any]:
    outcome = simulate(plan, is_checked=not options.trace_only)
    report = {
        "seed": plan.seed,
        "trace": outcome.trace_hash,
        "is_checked": not options.trace_only,
        "calls": outcome.call_count,
        "operations": outcome.operations,
        "succeeded": outcome.succeeded,
        "faults": _count_faults(outcome),
        "invariants": outcome.invariants,
        "unreached": _list_unreached(outcome) if options.replay else [],
    }
    if not outcome.violations:
        return {**report, "violation": None}
    return {
        **report,
        "violation": _describe(outcome if options.until_violation else shrink(outcome)),
    }


def _list_unreached(outcome: Outcome) -> list[str]:
    """Return what the plan has and the simulation had not: operations and faults."""
    names = Counter(one.name for one in outcome.plan.operations) - outcome.operations
    points = {one.point for one in outcome.struck}
    faults = (outcome.plan.faults or {}).items()
    return [
        *(f"operation {name} did not run" for name in names.elements()),
        *(f"fault {name} did not strike at {at}" for at, name in faults if at not in points),
    ]


def _count_faults(outcome: Outcome) -> dict[str, int]:
    counts: dict[str, int] = {}
    for one in outcome.struck:
        counts[one.name] = counts.get(one.name, 0) + 1
    return counts


def _describe(outcome: Outcome) -> dict[str, Any]:
    return {
        "invariants": sorted({one.invariant for one in outcome.violations}),
        "texts": [one.text for one in outcome.violations],
        "plan": outcome.plan_as_run.to_json(),
        "story": to_story(outcome),
    }


if __name__ == "__main__":
    main()
