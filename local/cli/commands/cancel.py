"""`duecourse cancel`: cancel tasks."""

from __future__ import annotations

import argparse

from local.cli.client.task_actions import add_task_action_arguments, post_task_action


def add_arguments(cancel: argparse.ArgumentParser) -> None:
    add_task_action_arguments(cancel)
    cancel.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    post_task_action(options, "cancel", "Cancelled")
