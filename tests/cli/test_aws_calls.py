"""Where `duecourse up` answers AWS calls."""

from __future__ import annotations

import argparse
import socket

import pytest

from local.cli.commands.aws_calls import check_aws_port
from local.cli.errors import CommandFailedError, UsageError
from local.cli.parser import build_parser


def _parse(*arguments: str) -> argparse.Namespace:
    return build_parser().parse_args(["up", *arguments])


def test_aws_calls_are_answered_only_if_asked_for() -> None:
    options = _parse()
    assert (options.aws_port, options.aws_host) == (None, "127.0.0.1")


@pytest.mark.parametrize(
    "address",
    ["0.0.0.0", "192.168.1.5", "10.0.0.5", "8.8.8.8", "::", "docker"],  # noqa: S104
)
def test_an_address_that_others_reach_is_refused(address: str) -> None:
    with pytest.raises(UsageError, match="--aws-host"):
        _parse("--aws-port", "4566", "--aws-host", address)


def test_the_address_of_dockers_bridge_is_accepted() -> None:
    assert _parse("--aws-host", "172.17.0.1").aws_host == "172.17.0.1"


def test_a_port_in_use_is_an_error_that_names_it() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        with pytest.raises(CommandFailedError, match=f"--aws-port: cannot listen on .*:{port}"):
            check_aws_port(_parse("--aws-port", str(port)))
