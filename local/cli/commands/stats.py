"""`duecourse stats`: what went wrong in some days, and how late it was."""

from __future__ import annotations

import argparse

from local.cli.client.run_request import add_json_flag, api, print_json

_FLAGS = {"days": "--days"}


def add_arguments(stats: argparse.ArgumentParser) -> None:
    stats.add_argument("--days", metavar="N", help="1 to 30, today included; default: 7")
    add_json_flag(stats)
    stats.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    from local.cli.client.problem import RefusedError, bad_flags
    from local.cli.client.screen import Screen
    from local.cli.client.stats_view import stats_lines
    from local.cli.client.times import Times

    try:
        answer = api().get("/stats", {"days": options.days}).of_stats()
    except RefusedError as error:
        raise bad_flags(error, _FLAGS) from None
    if options.json:
        print_json(answer.body)
    else:
        lines = stats_lines(answer.body, Times(answer.now), Screen.of_this_process())
        print("\n".join(lines))
