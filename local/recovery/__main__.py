"""The steps of the runbook in docs/operations.md: `python -m local.recovery --help`."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any

import boto3

from local.recovery.pointing import adopt, point_at
from local.recovery.removal import DAYS_OF_GRACE, find_leftovers, remove_leftovers
from local.recovery.restore import RestoredTable, restore_tables
from local.recovery.work import start_work, stop_work
from local.stack_resources import read_resources


def main(arguments: Sequence[str] | None = None) -> None:
    options = _parse(arguments)
    print(options.run(options))


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m local.recovery", description=__doc__)
    steps = parser.add_subparsers(required=True, metavar="STEP")
    for name, run, text in (
        ("stop", _stop, "stop schedules, queues, streams and requests of a stack"),
        ("start", _start, "let them start again"),
        ("restore", _restore, "restore all tables into new ones"),
        ("templates", _write_templates, "write the templates that point the stack at them"),
        ("leftovers", _write_leftovers, "list what deleting the stack will leave behind"),
    ):
        step = steps.add_parser(name, help=text)
        step.add_argument("stack", help="name of the stack")
        step.add_argument("--file", type=Path, default=Path(f"{name}.json"), help="where to write")
        step.set_defaults(run=run)
        if name == "restore":
            step.add_argument("--suffix", required=True, help="of the new tables' names")
            step.add_argument("--at", type=datetime.fromisoformat, help="default: the latest time")
        if name == "templates":
            step.add_argument("--tables", type=Path, default=Path("restore.json"))
    remove = steps.add_parser("remove", help="delete tables and secrets of a deleted stack")
    remove.add_argument("file", type=Path, help="what `leftovers` wrote")
    remove.set_defaults(run=_remove)
    return parser.parse_args(arguments)


def _stop(options: argparse.Namespace) -> str:
    resources = read_resources(boto3.client("cloudformation"), options.stack)
    stop_work(resources, events=boto3.client("events"), functions=boto3.client("lambda"))
    return "Stopped. Wait a minute until running invocations have ended."


def _start(options: argparse.Namespace) -> str:
    resources = read_resources(boto3.client("cloudformation"), options.stack)
    start_work(resources, events=boto3.client("events"), functions=boto3.client("lambda"))
    return "Started."


def _restore(options: argparse.Namespace) -> str:
    stacks = boto3.client("cloudformation")
    restored = restore_tables(
        _template(stacks, options.stack),
        read_resources(stacks, options.stack),
        client=boto3.client("dynamodb"),
        suffix=options.suffix,
        at=options.at,
    )
    _write(options.file, {name: asdict(table) for name, table in restored.items()})
    return f"Restored {len(restored)} tables; their names are in {options.file}."


def _write_templates(options: argparse.Namespace) -> str:
    template = _template(boto3.client("cloudformation"), options.stack)
    tables = {
        name: RestoredTable(**one) for name, one in json.loads(options.tables.read_text()).items()
    }
    adopted, imports = adopt(template, tables)
    contents = {"1-point.json": point_at(template, tables), "2-adopt.json": adopted}
    for name, content in (contents | {"imports.json": imports}).items():
        _write(Path(name), content)
    return "Wrote 1-point.json, 2-adopt.json and imports.json."


def _write_leftovers(options: argparse.Namespace) -> str:
    stacks = boto3.client("cloudformation")
    resources = read_resources(stacks, options.stack)
    leftovers = find_leftovers(_template(stacks, options.stack), resources)
    _write(options.file, leftovers)
    return f"{sum(map(len, leftovers.values()))} tables and secrets are in {options.file}."


def _remove(options: argparse.Namespace) -> str:
    leftovers = json.loads(options.file.read_text())
    remove_leftovers(
        leftovers, tables=boto3.client("dynamodb"), secrets=boto3.client("secretsmanager")
    )
    return f"Deleted. Secrets can be restored for {DAYS_OF_GRACE} days."


def _template(client: Any, stack: str) -> dict[str, Any]:
    """Return the stack's template as SAM translated it."""
    reply = client.get_template(StackName=stack, TemplateStage="Processed")
    template: dict[str, Any] = reply["TemplateBody"]
    return template


def _write(path: Path, content: Any) -> None:
    path.write_text(json.dumps(content, indent=2) + "\n")


if __name__ == "__main__":
    main()
