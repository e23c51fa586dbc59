"""Count failures in batches cut and repeated at random; compare every counter with a recount."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from tests.functions.test_recount import recount
from tests.support.stack_client import running_stack


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="bench.recount", description=__doc__)
    parser.add_argument("--failures", type=int, default=10_000, help="how many; default: 10,000")
    parser.add_argument("--seed", type=int, default=2, help="chooses tasks, errors and batches")
    options = parser.parse_args(arguments)
    print(f"counting {options.failures:,} failures, which takes some minutes", file=sys.stderr)
    with running_stack() as client:
        recount(client, options.failures, seed=options.seed)
    print(f"Every counter equals the recount of {options.failures:,} failures.")


if __name__ == "__main__":
    main()
