"""The `duecourse` command: how it begins and how it ends.

What it can be asked is loaded only once a Ctrl-C would be heeded.
"""

from __future__ import annotations

import io
import os
import sys
import warnings
from collections.abc import Sequence
from typing import Literal, NoReturn

from local.cli.errors import CommandFailedError, UsageError


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    try:
        _run(arguments)
    except UsageError as error:
        _exit_with_error(2, str(error))
    except CommandFailedError as error:
        _exit_with_error(1, str(error))
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        os._exit(0)  # the reader has gone; nothing is left to say
    except OSError as error:
        _print_error(error.strerror or str(error))
        os._exit(1)  # what could not be written would be tried again
    except Exception as error:
        if os.environ.get("DUECOURSE_DEBUG"):
            raise
        _exit_with_error(1, f"an error of ours, {type(error).__name__}: {error}")
    sys.exit(0)


def _run(arguments: Sequence[str] | None) -> None:
    warnings.simplefilter("ignore")  # what libraries say to programmers is not for users
    _prepare_streams()
    from local.cli.parser import build_parser

    try:
        options = build_parser().parse_args(arguments)
        options.run(options)
    finally:
        sys.stdout.flush()


def _prepare_streams() -> None:
    """One that was closed (`>&-`) is None: nobody is at its other end."""
    sys.stdin = sys.stdin or _open_devnull("r")
    sys.stdout = sys.stdout or _open_devnull("w")
    sys.stderr = sys.stderr or _open_devnull("w")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # no terminal is too poor to be told something


def _open_devnull(mode: Literal["r", "w"]) -> io.TextIOWrapper:
    from pathlib import Path

    return Path(os.devnull).open(mode, encoding="utf-8")


def _exit_with_error(code: int, message: str) -> NoReturn:
    _print_error(message)
    sys.exit(code)


def _print_error(message: str) -> None:
    from local.cli.client.text import to_safe_line

    print(f"duecourse: {to_safe_line(message)}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
