"""`duecourse completion`: print the script for shell completion."""

from __future__ import annotations

import argparse

SHELLS = ("bash", "zsh", "fish", "tcsh")


def add_arguments(completion: argparse.ArgumentParser) -> None:
    completion.add_argument("shell", choices=SHELLS)
    completion.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    import shtab

    from local.cli.parser import build_parser

    print(shtab.complete(build_parser(), shell=options.shell))
