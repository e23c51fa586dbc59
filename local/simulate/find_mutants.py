"""Plant each bug and simulate until a violation is found: `make simulate-mutants`.

Prints after how many seeds each one was found and by which invariants. Exits with 1 if one was not.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from typing import Any

from local.runtime.template import ROOT
from local.simulate.mutants import MUTANTS
from local.simulate.plan import ALL_FAULTS
from local.simulate.simulation import DEFAULT_STEPS
from local.simulate.worker import HASH_SEED

MAX_SEEDS = 1_000  # half of those that `make simulate` runs


@dataclass(frozen=True)
class Search:
    """`invariants` are those that the planted bug violated; empty if it was not found."""

    mutant: str
    seeds: int
    invariants: tuple[str, ...]

    def __str__(self) -> str:
        found = ", ".join(self.invariants) or "NOT FOUND"
        return f"{self.mutant:<30} {self.seeds:>5}  {found}"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="local.simulate.find_mutants", description=__doc__)
    parser.add_argument("mutants", nargs="*", help="only these; default: all")
    parser.add_argument("--seeds", type=int, default=MAX_SEEDS, help="at most so many for each")
    parser.add_argument(
        "--processes", type=int, default=os.cpu_count() or 1, help="default: one for each core"
    )
    options = parser.parse_args(arguments)
    if unknown := set(options.mutants) - set(MUTANTS):
        parser.error(f"unknown: {', '.join(sorted(unknown))}")
    searches = _search_all(options.mutants or list(MUTANTS), options.seeds, options.processes)
    missed = [one.mutant for one in searches if not one.invariants]
    print(f"{len(searches) - len(missed)} of {len(searches)} planted bugs found")
    if missed:
        sys.exit(1)


def _search_all(names: Sequence[str], seeds: int, processes: int) -> list[Search]:
    """Search for each in a process of its own, so many at a time.

    Prints each when it is done.
    """
    print(f"{'planted bug':<30} {'seed':>5}  violated", flush=True)
    searches = []
    with ThreadPoolExecutor(processes) as pool:
        running = [pool.submit(search_for, name, seeds=seeds) for name in names]
        for done in as_completed(running):
            searches.append(done.result())
            print(searches[-1], flush=True)
    return searches


def search_for(mutant: str, *, seeds: int) -> Search:
    """Simulate seeds from 1 on until one violates an invariant."""
    reports = run_worker("--mutant", mutant, "--last", str(seeds), "--until-violation")
    violation = reports[-1]["violation"]
    return Search(mutant, len(reports), tuple(violation["invariants"]) if violation else ())


def run_worker(*options: str) -> list[dict[str, Any]]:
    """Simulate seeds from 1 on with all faults, in another process; return its reports."""
    command = [sys.executable, "-m", "local.simulate.worker", "--first", "1", *options]
    command += ["--steps", str(DEFAULT_STEPS), "--faults", ",".join(sorted(ALL_FAULTS))]
    done = subprocess.run(  # noqa: S603 - our own module
        command,
        cwd=ROOT,
        env={**os.environ, "PYTHONHASHSEED": HASH_SEED, "DUECOURSE_DEBUG": "1"},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


if __name__ == "__main__":
    main()
