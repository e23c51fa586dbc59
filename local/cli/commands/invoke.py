"""`duecourse invoke`: run one function of the template in this process."""

from __future__ import annotations

import argparse
import json
import logging
from pathlib import Path

from local.cli.commands.json_arguments import read_json_file
from local.cli.errors import CommandFailedError, UsageError


def add_arguments(invoke: argparse.ArgumentParser) -> None:
    invoke.add_argument("function", help="name in template.yaml: ScannerFunction or scanner")
    invoke.add_argument(
        "-e", "--event", required=True, help="JSON file, for example events/scanner_tick.json"
    )
    invoke.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    from local.runtime.functions import InvocationError, UnknownFunctionError
    from local.runtime.stack import Stack

    event = read_json_file(Path(options.event), flag="--event")
    disabled_logs = logging.root.manager.disable
    logging.disable(logging.INFO)
    stack = Stack(is_clock_manual=False)
    stack.start()
    try:
        reply = stack.invoke(options.function, event)
    except UnknownFunctionError as error:
        raise UsageError(str(error)) from None
    except InvocationError as error:
        raise CommandFailedError(f"{options.function}: {error}") from None
    finally:
        stack.stop()
        logging.disable(disabled_logs)
    print(json.dumps(reply, indent=2))
