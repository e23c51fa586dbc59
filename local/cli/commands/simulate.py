"""`duecourse simulate`: run the whole system in a simulated world, with faults from a seed."""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import sys
from math import inf, nan
from pathlib import Path
from typing import TYPE_CHECKING

from local.cli.errors import CommandFailedError, UsageError

if TYPE_CHECKING:
    from local.simulate.processes import Request
    from local.simulate.summary import Summary

_SEEDS = re.compile(r"(\d{1,12})\.\.(\d{1,12})")


def add_arguments(simulate: argparse.ArgumentParser) -> None:
    seeds = simulate.add_mutually_exclusive_group()
    seeds.add_argument("--seed", type=_whole_number, metavar="N", help="simulate one seed")
    seeds.add_argument(
        "--seeds", type=_parse_seeds, metavar="A..B", help="simulate these; default: 1..100"
    )
    seeds.add_argument(
        "--minutes",
        type=_parse_minutes,
        metavar="M",
        help="simulate seeds from 1 on, for so long",
    )
    seeds.add_argument("--replay", type=Path, metavar="FILE", help="simulate a saved plan")
    simulate.add_argument(
        "--steps",
        type=_positive_number,
        metavar="N",
        help="operations of a seed; default: 4",
    )
    simulate.add_argument(
        "--faults", metavar="LIST", help="only these faults, with commas; `none` for none"
    )
    simulate.add_argument(
        "--twice",
        action="store_true",
        help="simulate each seed in two processes and compare the traces",
    )
    simulate.add_argument(
        "--save", type=Path, metavar="DIR", help="where violations are saved; default: here"
    )
    simulate.add_argument("--json", action="store_true", help="print JSON")
    simulate.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    from local.simulate.processes import Request, simulate_seeds
    from local.simulate.simulation import DEFAULT_STEPS

    if options.replay is not None:
        _check_replay(options)
    folder = _prepare_folder(options.save)
    request = Request(
        seeds=(options.seed, options.seed) if options.seed is not None else options.seeds,
        minutes=options.minutes,
        replay=options.replay and options.replay.resolve(),
        steps=DEFAULT_STEPS if options.steps is None else options.steps,
        faults=_parse_faults(options.faults),
        is_repeated=options.twice,
    )
    summary = simulate_seeds(request, progress=None if options.json else sys.stderr)
    _add_commands(summary, folder)
    print(json.dumps(summary.to_json(), indent=2) if options.json else summary, flush=True)
    _save_violations(summary, folder)
    if summary.is_interrupted:
        raise KeyboardInterrupt
    _fail_if_wrong(summary)
    _fail_if_unexercised(summary, request)


def _check_replay(options: argparse.Namespace) -> None:
    """Check that the plan can be read, and that no flag asks for something else."""
    from local.simulate.saved_plan import InvalidPlanError, plan_from_text

    for name in ("steps", "faults"):
        if getattr(options, name) is not None:
            raise UsageError(f"--{name} cannot be used with --replay: the plan has its own")
    try:
        plan_from_text(options.replay.read_text())
    except (InvalidPlanError, UnicodeDecodeError) as error:
        raise UsageError(f"--replay {options.replay}: {error}") from None
    except OSError as error:
        raise UsageError(f"--replay {options.replay}: {error.strerror}") from None


def _prepare_folder(folder: Path | None) -> Path:
    """Create the folder for violations. Without one, they are saved in the current folder."""
    if folder is None:
        return Path()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"--save {folder}: {error.strerror}") from None
    if not os.access(folder, os.W_OK | os.X_OK):
        raise UsageError(f"--save {folder}: files cannot be created there")
    return folder


def _path_of(seed: int, folder: Path) -> Path:
    return folder / f"simulation-{seed}.json"


def _add_commands(summary: Summary, folder: Path) -> None:
    """Add to each violation the command that replays it."""
    for seed, violation in summary.violations.items():
        path = shlex.quote(str(_path_of(seed, folder)))
        violation["replay"] = f"duecourse simulate --replay {path}"


def _save_violations(summary: Summary, folder: Path) -> None:
    """Save the plan of each violation."""
    for seed, violation in summary.violations.items():
        path = _path_of(seed, folder)
        try:
            path.write_text(json.dumps(violation["plan"], indent=2) + "\n")
        except OSError as error:
            raise CommandFailedError(f"{path} cannot be saved: {error.strerror}") from None


def _fail_if_unexercised(summary: Summary, request: Request) -> None:
    """Fail if so many seeds with all faults never exercised something that they should find."""
    from local.simulate.plan import ALL_FAULTS
    from local.simulate.simulation import DEFAULT_STEPS
    from local.simulate.summary import GUARDED_SEEDS

    is_complete = request.faults == ALL_FAULTS and request.steps >= DEFAULT_STEPS
    never = summary.list_unexercised()
    if never and is_complete and summary.seeds >= GUARDED_SEEDS:
        names = ", ".join(never)
        raise CommandFailedError(f"{summary.seeds:,} seeds never exercised: {names}")


def _fail_if_wrong(summary: Summary) -> None:
    """Fail with all that went wrong, in one line."""
    failures = []
    if count := len(summary.violations):
        failures.append(f"{count:,} {'seed' if count == 1 else 'seeds'} violated an invariant")
    if summary.unrepeatable:
        seeds = ", ".join(map(str, summary.unrepeatable))
        failures.append(f"seeds with two different traces: {seeds}")
    failures += [f"--replay: {one}" for one in summary.unreached]
    failures += summary.errors
    if failures:
        raise CommandFailedError("; ".join(failures))


def _parse_faults(text: str | None) -> frozenset[str]:
    from local.simulate.plan import ALL_FAULTS

    if text is None:
        return ALL_FAULTS
    if text.strip() == "none":
        return frozenset()
    names = frozenset(name.strip() for name in text.split(","))
    if "" in names:
        raise UsageError("--faults: a name is empty; `none` simulates without faults")
    if unknown := names - ALL_FAULTS:
        known = ", ".join(sorted(ALL_FAULTS))
        raise UsageError(f"--faults: unknown {', '.join(sorted(unknown))}; known: {known}")
    return names


def _positive_number(text: str) -> int:
    if (number := _whole_number(text)) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not at least 1")
    return number


def _parse_minutes(text: str) -> float:
    try:
        minutes = float(text)
    except ValueError:
        minutes = nan
    if not 0 < minutes < inf:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of minutes above 0")
    return minutes


def _whole_number(text: str) -> int:
    if not re.fullmatch(r"\d{1,12}", text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number")
    return int(text)


def _parse_seeds(text: str) -> tuple[int, int]:
    found = _SEEDS.fullmatch(text)
    if found is None or int(found[1]) > int(found[2]):
        raise argparse.ArgumentTypeError(f"{text!r} is no range such as 1..100")
    return int(found[1]), int(found[2])
