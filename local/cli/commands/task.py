"""`duecourse task`: everything about one of them."""

from __future__ import annotations

import argparse

from local.cli.client.run_request import add_json_flag, api, print_json, task_id

PARTS = ("runs", "history", "errors")


def add_arguments(task: argparse.ArgumentParser) -> None:
    task.add_argument("id", type=task_id, metavar="ID", help="its first 8 characters are enough")
    task.add_argument("--runs", action="store_true", help="every attempt at it")
    task.add_argument("--history", action="store_true", help="what happened to it")
    task.add_argument("--errors", action="store_true", help="how its failures were read")
    add_json_flag(task)
    task.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    from local.cli.client.http import path_of
    from local.cli.client.screen import Screen
    from local.cli.client.task_view import VIEWS, task_block
    from local.cli.client.times import Times

    server = api()
    answer = server.get(path_of("tasks", options.id)).of_task()
    wanted = [part for part in PARTS if getattr(options, part)]
    parts = {part: server.get(path_of("tasks", options.id, part)).items for part in wanted}
    if options.json:
        print_json({**answer.body, **parts})
        return
    times, screen = Times(answer.now), Screen.of_this_process()
    print("\n".join(task_block(answer.body, times, screen)))
    for part, items in parts.items():
        lines = VIEWS[part](items, times, screen) if items else ["none"]
        print("\n".join(["", screen.styled(part.capitalize(), "bold"), *lines]))
