"""`duecourse cancel`: tasks are called off."""

from __future__ import annotations

import argparse

from local.cli.client.task_actions import add_answer_arguments, give_answer


def add_arguments(cancel: argparse.ArgumentParser) -> None:
    add_answer_arguments(cancel)
    cancel.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    give_answer(options, "cancel", "cancelled")
