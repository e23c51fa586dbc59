"""The `duecourse` command."""

from __future__ import annotations

import argparse
import json
import logging
import os
import signal
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from duecourse.domain.policy import Policy

DEFAULT_PORT = 8000


class UsageError(Exception):
    """Exit code 2."""


class FailedError(Exception):
    """Exit code 1."""


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    warnings.simplefilter("ignore")  # what libraries say to programmers is not for users
    try:
        options = _parser().parse_args(arguments)
        options.run(options)
    except UsageError as error:
        _leave(2, str(error))
    except FailedError as error:
        _leave(1, str(error))
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        os._exit(0)  # the reader has gone; nothing is left to say
    sys.exit(0)


def _leave(code: int, message: str) -> NoReturn:
    print(f"duecourse: {' '.join(message.split())}", file=sys.stderr)
    sys.exit(code)


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """One line, where argparse would print its usage first."""
        raise UsageError(f"{message} (see {self.prog} --help)")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="duecourse", description="Duecourse on this machine")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    _add_up(commands.add_parser("up", help="run the whole system on this machine"))
    _add_invoke(commands.add_parser("invoke", help="run one function with an event file"))
    _add_classify(commands.add_parser("classify", help="read failures as JSON lines, sort them"))
    _add_explain(commands.add_parser("explain", help="what would happen to this failure, as JSON"))
    _add_check(commands.add_parser("check-handler", help="crash a handler at every point"))
    return parser


def _add_up(up: argparse.ArgumentParser) -> None:
    up.add_argument("--port", type=_port, default=DEFAULT_PORT, help="default: 8000")
    up.add_argument(
        "--clock",
        choices=["real", "manual"],
        default="real",
        help="manual: time moves only by POST /_local/clock",
    )
    up.add_argument("--verbose", action="store_true", help="show the functions' logs")
    up.set_defaults(run=_up)


def _add_invoke(invoke: argparse.ArgumentParser) -> None:
    invoke.add_argument("function", help="as in template.yaml: ScannerFunction, or scanner")
    invoke.add_argument("-e", "--event", required=True, help="for example events/scanner_tick.json")
    invoke.set_defaults(run=_invoke)


def _add_classify(classify: argparse.ArgumentParser) -> None:
    classify.add_argument("--policy", required=True, help="for example agent")
    classify.set_defaults(run=_classify)


def _add_explain(explain: argparse.ArgumentParser) -> None:
    explain.add_argument("--policy", required=True, help="for example agent")
    explain.add_argument(
        "--attempt", type=int, default=0, help="retry_count before this failure; default: 0"
    )
    explain.add_argument("--code", help="for example ECONNRESET")
    explain.add_argument("--status", type=int, help="the HTTP status")
    explain.add_argument("--type", help="the exception's type")
    explain.add_argument("--retry-after", type=float, metavar="S", help="seconds the server asked")
    explain.add_argument("--spec", action="store_true", help="the task has a specification")
    explain.add_argument("message")
    explain.set_defaults(run=_explain)


def _add_check(check: argparse.ArgumentParser) -> None:
    check.add_argument("type", help="of the tasks it performs, for example reminder")
    check.add_argument("--payload", default="{}", metavar="JSON", help="of the task; default: {}")
    check.add_argument(
        "--only",
        action="append",
        metavar="CALL",
        help="for example handler.mutate; may be repeated",
    )
    check.add_argument("--json", action="store_true", help="the report as JSON")
    check.set_defaults(run=_check_handler)


def _port(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and int(text[:6]) < 65536):
        raise argparse.ArgumentTypeError(f"{text} is not a port from 0 to 65535")
    return int(text)


def _up(options: argparse.Namespace) -> None:
    from local.gateway import Gateway
    from local.server import Server
    from local.stack import DEFAULT_TOKEN, Stack

    token = os.environ.get("DUECOURSE_TOKEN") or DEFAULT_TOKEN
    if not (token.isascii() and token.isprintable() and " " not in token):
        raise UsageError("DUECOURSE_TOKEN must be plain ASCII without blanks")
    stack = Stack(manual_clock=options.clock == "manual", token=token)
    stack.start(log_level="INFO" if options.verbose else "WARNING")
    try:
        server = Server(Gateway(stack), options.port)
    except OSError as error:
        stack.stop()
        raise FailedError(f"--port {options.port}: {error}") from None
    # Both stop it cleanly, also where a shell started it in the background and ignores Ctrl-C.
    for stop in (signal.SIGINT, signal.SIGTERM):
        signal.signal(stop, signal.default_int_handler)
    _welcome(server.server_address[1], token, options.clock)
    try:
        server.serve_forever(poll_interval=0.2)
    except KeyboardInterrupt:
        print("\nstopping", flush=True)
    finally:
        server.server_close()
        stack.stop()


def _welcome(port: int | Any, token: str, clock: str) -> None:
    url = f"http://127.0.0.1:{port}"
    print(f"Duecourse is up at {url}  (token: {token}, clock: {clock}, Ctrl-C stops it)")
    print("\nA reminder in 10 seconds, and what arrived:\n")
    print(f"  curl -H 'Authorization: Bearer {token}' {url}/tasks \\")
    print('       -d \'{"in": "10s", "description": "stretch"}\'')
    print(f"  curl {url}/_local/outbox\n", flush=True)


def _invoke(options: argparse.Namespace) -> None:
    from local.functions import InvocationError, UnknownFunctionError
    from local.stack import Stack

    event = _event(Path(options.event))
    logging.disable(logging.INFO)
    stack = Stack(manual_clock=False)
    stack.start()
    try:
        reply = stack.invoke(options.function, event)
    except UnknownFunctionError as error:
        raise UsageError(str(error)) from None
    except InvocationError as error:
        raise FailedError(f"{options.function}: {error}") from None
    finally:
        stack.stop()
    print(json.dumps(reply, indent=2))


def _classify(options: argparse.Namespace) -> None:
    from local.classify_command import classify_lines

    policy = _policy(options.policy)
    try:
        for answer in classify_lines(sys.stdin, policy):
            print(answer, flush=True)
    except ValueError as error:
        raise UsageError(str(error)) from None


def _policy(name: str) -> Policy:
    from duecourse.adapters.policy_files import read_policies
    from duecourse.domain.errors import PolicyError

    try:
        policies = read_policies()
    except PolicyError as error:
        raise FailedError(str(error)) from None
    if name not in policies:
        raise UsageError(f"--policy {name}: must be one of {', '.join(sorted(policies))}")
    return policies[name]


def _explain(options: argparse.Namespace) -> None:
    from duecourse.adapters.clock import SystemClock
    from duecourse.domain.errors import InvalidFieldsError
    from duecourse.domain.explain import explained, question_from

    names = ("policy", "attempt", "code", "status", "type", "retry_after", "spec", "message")
    asked = {name: getattr(options, name) for name in names}
    policy = _policy(options.policy)
    try:
        question = question_from(asked, {policy.name: policy})
    except InvalidFieldsError as error:
        told = [f"--{bad.field.replace('_', '-')}: {bad.message}" for bad in error.errors]
        raise UsageError("; ".join(told).replace("--message", "MESSAGE")) from None
    print(json.dumps(explained(question, now=SystemClock().now()), indent=2, ensure_ascii=False))


def _check_handler(options: argparse.Namespace) -> None:
    from duecourse.domain.errors import InvalidFieldsError, SettingsError

    from local.check_command import UnknownTypeError, check_handler
    from local.handler_kit import NotPerformedError

    payload = _payload(options.payload)
    try:
        report = check_handler(options.type, payload, only=options.only)
    except UnknownTypeError as error:
        raise UsageError(str(error)) from None
    except InvalidFieldsError as error:
        raise UsageError(f"--payload: {error}") from None
    except (NotPerformedError, SettingsError, ImportError, SyntaxError) as error:
        raise FailedError(f"{options.type}: {error}") from None
    print(json.dumps(report.to_json(), indent=2) if options.json else report)
    if not report.is_sound:
        raise FailedError(f"{options.type}: the effect could be lost or come twice")


def _payload(text: str) -> dict[str, Any]:
    try:
        payload = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"--payload: is not JSON: {error}") from None
    if not isinstance(payload, dict):
        raise UsageError("--payload: must be a JSON object")
    return payload


def _event(path: Path) -> Any:
    try:
        return json.loads(path.read_text())
    except OSError as error:
        raise UsageError(f"--event {path}: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise UsageError(f"--event {path}: is not JSON: {error}") from None


if __name__ == "__main__":
    main()
