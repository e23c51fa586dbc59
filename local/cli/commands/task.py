"""`duecourse task`: show one task."""

from __future__ import annotations

import argparse

from local.cli.client.run_request import add_json_flag, make_api_client, parse_task_id, print_json

SECTIONS = ("runs", "history", "errors")


def add_arguments(task: argparse.ArgumentParser) -> None:
    task.add_argument(
        "id", type=parse_task_id, metavar="ID", help="the first 8 characters are enough"
    )
    task.add_argument("--runs", action="store_true", help="show every attempt")
    task.add_argument("--history", action="store_true", help="show what happened to it")
    task.add_argument("--errors", action="store_true", help="show how its failures were classified")
    add_json_flag(task)
    task.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    from local.cli.client.http import build_path
    from local.cli.client.screen import Screen
    from local.cli.client.task_view import VIEWS, format_task
    from local.cli.client.times import TimeFormatter

    server = make_api_client()
    answer = server.get(build_path("tasks", options.id)).require_task()
    names = [name for name in SECTIONS if getattr(options, name)]
    sections = {name: server.get(build_path("tasks", options.id, name)).items for name in names}
    if options.json:
        print_json({**answer.body, **sections})
        return
    times, screen = TimeFormatter(answer.server_time), Screen.detect()
    print("\n".join(format_task(answer.body, times, screen)))
    for name, items in sections.items():
        lines = VIEWS[name](items, times, screen) if items else ["none"]
        print("\n".join(["", screen.apply_style(name.capitalize(), "bold"), *lines]))
