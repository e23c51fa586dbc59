"""The entry point of the `duecourse` command.

The commands are imported inside `main`, so Ctrl-C during the import exits cleanly.
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
        os._exit(0)  # the reader has closed the pipe
    except OSError as error:
        _print_error(error.strerror or str(error))
        os._exit(1)  # a normal exit would try to flush again
    except Exception as error:
        if os.environ.get("DUECOURSE_DEBUG"):
            raise
        _exit_with_error(1, f"internal error: {type(error).__name__}: {error}")
    sys.exit(0)


def _run(arguments: Sequence[str] | None) -> None:
    warnings.simplefilter("ignore")  # warnings of libraries are not for users
    _prepare_streams()
    from local.cli.parser import build_parser

    try:
        options = build_parser().parse_args(arguments)
        options.run(options)
    finally:
        sys.stdout.flush()


def _prepare_streams() -> None:
    """Prepare the standard streams. One that was closed (`>&-`) is None."""
    sys.stdin = sys.stdin or _open_devnull("r")
    sys.stdout = sys.stdout or _open_devnull("w")
    sys.stderr = sys.stderr or _open_devnull("w")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # replace characters that the terminal cannot encode
            stream.reconfigure(errors="replace")


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
