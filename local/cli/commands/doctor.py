"""`duecourse doctor`: check a running stack and say what is missing."""

from __future__ import annotations

import argparse
import os

from local.cli.client.run_request import add_json_flag


def add_arguments(doctor: argparse.ArgumentParser) -> None:
    doctor.add_argument(
        "--stack",
        nargs="?",
        const="",
        metavar="NAME",
        help="check this stack on AWS, with your own credentials;"
        " without NAME the one of samconfig.toml",
    )
    doctor.add_argument(
        "--env", metavar="NAME", help="the stack of this environment of samconfig.toml"
    )
    doctor.add_argument(
        "--url", help="address of the API; default: the stack's output ApiUrl, or DUECOURSE_URL"
    )
    modes = doctor.add_mutually_exclusive_group()
    modes.add_argument(
        "--preflight", action="store_true", help="check only AWS region and credentials"
    )
    modes.add_argument(
        "--next-steps", action="store_true", help="print what to do after a deployment"
    )
    add_json_flag(doctor)
    doctor.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    from local.cli.doctor.run import examine, print_next_steps, print_preflight

    if options.preflight:
        print_preflight(options)
    elif options.next_steps:
        print_next_steps(options)
    else:
        examine(options, os.environ)
