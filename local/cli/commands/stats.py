"""`duecourse stats`: show errors, recoveries and lateness of the last days."""

from __future__ import annotations

import argparse

from local.cli.client.run_request import add_json_flag, make_api_client, print_json

_FLAG_BY_FIELD = {"days": "--days"}


def add_arguments(stats: argparse.ArgumentParser) -> None:
    stats.add_argument(
        "--days", metavar="N", help="number of days, 1 to 30, including today; default: 7"
    )
    add_json_flag(stats)
    stats.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    from local.cli.client.problem import RefusedError, to_usage_error
    from local.cli.client.screen import Screen
    from local.cli.client.stats_view import format_stats
    from local.cli.client.times import TimeFormatter

    try:
        answer = make_api_client().get("/stats", {"days": options.days}).require_stats()
    except RefusedError as error:
        raise to_usage_error(error, _FLAG_BY_FIELD) from None
    if options.json:
        print_json(answer.body)
    else:
        lines = format_stats(answer.body, TimeFormatter(answer.server_time), Screen.detect())
        print("\n".join(lines))
