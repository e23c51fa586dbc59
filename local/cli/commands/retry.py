"""`duecourse retry`: retry failed, blocked or waiting tasks now."""

from __future__ import annotations

import argparse

from local.cli.client.task_actions import add_task_action_arguments, post_task_action


def add_arguments(retry: argparse.ArgumentParser) -> None:
    add_task_action_arguments(retry)
    retry.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    post_task_action(options, "retry", "Retrying")
