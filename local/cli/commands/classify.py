"""`duecourse classify`: classify failures given as JSON lines."""

from __future__ import annotations

import argparse
import sys

from local.cli.commands.policy_argument import find_policy
from local.cli.errors import UsageError


def add_arguments(classify: argparse.ArgumentParser) -> None:
    classify.add_argument("--policy", required=True, help="failure policy, for example agent")
    classify.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    from local.cli.line_classifier import classify_lines

    policy = find_policy(options.policy)
    if sys.stdin.isatty():
        print("Enter one JSON object per line; Ctrl-D ends the input.", file=sys.stderr)
    try:
        for answer in classify_lines(sys.stdin, policy):
            print(answer, flush=True)
    except ValueError as error:
        raise UsageError(str(error)) from None
