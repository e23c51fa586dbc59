"""`duecourse up`: run the whole system on this machine."""

from __future__ import annotations

import argparse
import errno
import os
import re
import shlex
import signal
import socket
import sys
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from local.cli.client.server import LOCAL_TOKEN, LOCAL_URL
from local.cli.commands.aws_calls import add_aws_arguments, answer_aws_calls, check_aws_port
from local.cli.errors import CommandFailedError, UsageError

if TYPE_CHECKING:
    from local.runtime.server import Server
    from local.runtime.stack import Stack

DEFAULT_PORT = 8000
OTHER_PORT = 8123
_HOST_PATTERN = re.compile(r"[a-z0-9-]+(\.[a-z0-9-]+)+", re.IGNORECASE)


def add_arguments(up: argparse.ArgumentParser) -> None:
    up.add_argument(
        "--port", type=_parse_port, default=DEFAULT_PORT, help="default: 8000; 0: any free port"
    )
    up.add_argument(
        "--clock",
        choices=["real", "manual"],
        default="real",
        help="default: real; manual: time moves only by POST /_local/clock",
    )
    up.add_argument(
        "--allow-host",
        metavar="NAME",
        type=_parse_host,
        action="append",
        default=[],
        help="a tunnel's host, through which chat platforms may reach /webhooks/*; needs secrets "
        "of your own",
    )
    add_aws_arguments(up, _parse_port)
    up.add_argument("--verbose", action="store_true", help="show the functions' logs")
    up.set_defaults(run=run)


def _parse_port(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) < 10 and int(text) < 65536):
        raise argparse.ArgumentTypeError(f"{text} is not a port from 0 to 65535")
    return int(text)


def _parse_host(text: str) -> str:
    if not _HOST_PATTERN.fullmatch(text):
        raise argparse.ArgumentTypeError(f"{text} is not a host such as name.example.com")
    return text.lower()


def run(options: argparse.Namespace) -> None:
    from local.runtime.moto_backend import MotoBackend
    from local.runtime.stack import Stack

    token = _read_token()
    if options.allow_host:
        _refuse_default_secrets()
    _check_port(options.port)  # before the stack starts, which takes seconds
    check_aws_port(options)
    backend = MotoBackend()
    stack = Stack(is_clock_manual=options.clock == "manual", token=token, backend=backend)
    server = _start(stack, options)
    # Shells start background jobs with SIGINT ignored; this restores a clean stop on both signals.
    for stop in (signal.SIGINT, signal.SIGTERM):
        signal.signal(stop, signal.default_int_handler)
    _print_welcome(server.server_address[1], token, options.clock)
    try:
        with answer_aws_calls(stack, backend, options):
            server.serve_forever(poll_interval=0.2)
    except KeyboardInterrupt:
        print("\nStopping.", flush=True)
    finally:
        server.server_close()
        stack.stop()


def _read_token() -> str:
    from local.runtime.stack import DEFAULT_TOKEN

    token = os.environ.get("DUECOURSE_TOKEN") or DEFAULT_TOKEN
    if not (token.isascii() and token.isprintable() and " " not in token):
        raise UsageError("DUECOURSE_TOKEN must be ASCII without spaces")
    return token


def _start(stack: Stack, options: argparse.Namespace) -> Server:
    """Start the stack and return its server, which does not serve yet."""
    from duecourse.app import chat_access
    from duecourse.domain.errors import SettingsError

    from local.runtime.api_gateway import Gateway
    from local.runtime.server import Server

    try:
        stack.start(log_level="INFO" if options.verbose else "WARNING")
    except SettingsError as error:
        raise UsageError(str(error)) from None
    try:
        chat_access.chat_settings()  # a wrong entry is reported now, not when somebody writes
        return Server(Gateway(stack), options.port, tunnel_hosts=options.allow_host)
    except SettingsError as error:
        stack.stop()
        raise CommandFailedError(str(error)) from None
    except OSError as error:
        stack.stop()
        raise _port_error(options.port, error) from None


def _refuse_default_secrets() -> None:
    """Raise UsageError if a secret is a default: through a tunnel, everybody reaches the stack."""
    from local.cli.default_secrets import list_default_secrets

    if names := list_default_secrets(os.environ):
        raise UsageError(
            f"--allow-host: set {', '.join(names)} to secrets of your own; "
            "the defaults are public. An empty verification secret closes its webhook"
        )


def _check_port(port: int) -> None:
    """Raise CommandFailedError if the server cannot listen on the port."""
    try:
        with socket.create_server(("127.0.0.1", port)):
            return
    except OSError as error:
        raise _port_error(port, error) from None


def _port_error(port: int, error: OSError) -> CommandFailedError:
    if error.errno == errno.EADDRINUSE:
        other = OTHER_PORT if port != OTHER_PORT else DEFAULT_PORT
        return CommandFailedError(
            f"Port {port} is in use. Try --port {other}, or make up PORT={other}"
        )
    return CommandFailedError(f"--port {port}: {error.strerror or error}")


def _print_welcome(port: int | Any, token: str, clock: str) -> None:
    url = f"http://127.0.0.1:{port}"
    print(f"Duecourse is running at {url} (token: {token}, clock: {clock}). Press Ctrl-C to stop.")
    print(f"\nDashboard and playground: {url}/#token={quote(token, safe='')}")
    print("\nOr create a reminder with curl, and see it arrive after 10 seconds:\n")
    print(f"  curl -H 'Authorization: Bearer {token}' {url}/tasks \\")
    print('       -d \'{"in": "10s", "description": "stretch"}\'')
    print(f"  curl {url}/_local/outbox\n")
    if exports := _needed_exports(url, token):
        print("To use the command line in another terminal, first run there:\n")
        print(*(f"  export {one}" for one in exports), sep="\n", end="\n\n")
    sys.stdout.flush()


def _needed_exports(url: str, token: str) -> list[str]:
    """Return the variables that the client needs because they differ from its defaults."""
    needed = {"DUECOURSE_URL": (url, LOCAL_URL), "DUECOURSE_TOKEN": (token, LOCAL_TOKEN)}
    return [f"{name}={shlex.quote(used)}" for name, (used, own) in needed.items() if used != own]
