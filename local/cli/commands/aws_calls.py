"""`duecourse up --aws-port`: answer AWS calls of other processes, such as containers."""

from __future__ import annotations

import argparse
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from ipaddress import IPv4Address, IPv4Network
from typing import TYPE_CHECKING

from local.cli.errors import CommandFailedError

if TYPE_CHECKING:
    from local.runtime.moto_backend import MotoBackend
    from local.runtime.stack import Stack

LOOPBACK = "127.0.0.1"
BRIDGES = IPv4Network("172.16.0.0/12")  # Docker takes its networks from here


def add_aws_arguments(up: argparse.ArgumentParser, parse_port: Callable[[str], int]) -> None:
    up.add_argument(
        "--aws-port",
        metavar="PORT",
        type=parse_port,
        help="also answer AWS calls on this port, such as 4566; 0: any free port",
    )
    up.add_argument(
        "--aws-host",
        metavar="ADDRESS",
        type=_parse_address,
        default=LOOPBACK,
        help="default: 127.0.0.1; on Linux, the address of Docker's bridge, for containers",
    )


def check_aws_port(options: argparse.Namespace) -> None:
    """Raise CommandFailedError if AWS calls are wanted where the server cannot listen."""
    if options.aws_port is None:
        return
    try:
        with socket.create_server((options.aws_host, options.aws_port)):
            return
    except OSError as error:
        where = f"{options.aws_host}:{options.aws_port}"
        reason = error.strerror or error
        raise CommandFailedError(f"--aws-port: cannot listen on {where}: {reason}") from None


@contextmanager
def answer_aws_calls(
    stack: Stack, backend: MotoBackend, options: argparse.Namespace
) -> Iterator[None]:
    """Answer AWS calls inside the block, if they are wanted, and print where."""
    if options.aws_port is None:
        yield
        return
    from local.runtime.aws_gateway import AwsGateway
    from local.runtime.aws_server import AwsServer

    gateway = AwsGateway(stack, backend, hosts=[options.aws_host])
    with AwsServer(gateway, options.aws_host, options.aws_port) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        print(f"AWS calls are answered at {server.url}.")
        if options.aws_host != LOOPBACK:
            print("Every container on that network can read and change this stack.")
        print(flush=True)
        try:
            yield
        finally:
            server.shutdown()


def _parse_address(text: str) -> str:
    """Return the address. Raises ArgumentTypeError for one that other machines could reach."""
    try:
        address = IPv4Address(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text} is not an IPv4 address") from None
    if not (address.is_loopback or address in BRIDGES):
        raise argparse.ArgumentTypeError(f"{text} is neither a loopback nor in {BRIDGES}")
    return text
