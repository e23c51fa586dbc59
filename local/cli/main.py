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

from local.cli.errors import FailedError, UsageError


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    try:
        _run(arguments)
    except UsageError as error:
        _leave(2, str(error))
    except FailedError as error:
        _leave(1, str(error))
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        os._exit(0)  # the reader has gone; nothing is left to say
    except OSError as error:
        _say(error.strerror or str(error))
        os._exit(1)  # what could not be written would be tried again
    except Exception as error:
        if os.environ.get("DUECOURSE_DEBUG"):
            raise
        _leave(1, f"an error of ours, {type(error).__name__}: {error}")
    sys.exit(0)


def _run(arguments: Sequence[str] | None) -> None:
    warnings.simplefilter("ignore")  # what libraries say to programmers is not for users
    _prepare_streams()
    from local.cli.parser import parser

    try:
        options = parser().parse_args(arguments)
        options.run(options)
    finally:
        sys.stdout.flush()


def _prepare_streams() -> None:
    """One that was closed (`>&-`) is None: nobody is at its other end."""
    sys.stdin = sys.stdin or _nowhere("r")
    sys.stdout = sys.stdout or _nowhere("w")
    sys.stderr = sys.stderr or _nowhere("w")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # no terminal is too poor to be told something


def _nowhere(mode: Literal["r", "w"]) -> io.TextIOWrapper:
    from pathlib import Path

    return Path(os.devnull).open(mode, encoding="utf-8")


def _leave(code: int, message: str) -> NoReturn:
    _say(message)
    sys.exit(code)


def _say(message: str) -> None:
    from local.cli.client.text import one_line

    print(f"duecourse: {one_line(message)}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
