"""Print which AWS limit comes first, from the units, calls and seconds that the code uses."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence

from bench import prices
from bench.bill import MILLION
from bench.capacity_limits import (
    FIRST_BATCHES,
    MORE_BATCHES,
    SCAN_SECONDS,
    TABLE_QUOTA,
    Limit,
    Settings,
    budget_calls_per_second,
    deliver_while_scaling,
    find_limits,
    make_large_settings,
    read_settings,
    seconds_per_dispatch,
    worst_lateness,
)
from bench.capacity_loads import (
    measure_action,
    measure_delivery,
    measure_failure,
    measure_message,
    measure_task,
)
from local.runtime.template import ROOT, load_template

PAGE = ROOT / "docs" / "capacity.md"
START, END = "<!-- capacity: begin -->\n", "<!-- capacity: end -->\n"
AIMS = {"tasks": 1_000, "failures": 300}
_MAX_RATIO = 10  # to the first limit: limits that are further away are only named


def format_large_settings(large: Settings) -> Iterator[str]:
    yield f"- `ShardCount` {large.shard_count}"
    yield (
        f"- `MemorySize` {large.scanner_memory_mb:,} of `ScannerFunction`, edited in"
        " `template.yaml` (it is no parameter): the scanner has one vCPU then"
    )
    yield (
        f"- a quota of {large.writes_per_table:,} write units/s for a table, raised by AWS on"
        f" request (the default is {TABLE_QUOTA:,}): a delivery writes two units to the tasks table"
        " and one to its index"
    )
    yield (
        f"- the tasks table and `DueIndex` warmed to {large.writes_per_table:,} write units/s and"
        f" {large.reads_per_table:,} read units/s, which gives the stream {large.stream_shards}"
        " shards"
    )
    yield (
        f"- provisioned mode with `MinimumPollers` {large.work_pollers} for the event source of"
        " `WorkQueue`, edited in `template.yaml`; AWS accepts it only without `MaximumConcurrency`"
    )


def format_page() -> Iterator[str]:
    settings = read_settings(load_template())
    yield from _format_table("tasks", find_limits(measure_task(), settings))
    yield from _format_table("actions", find_limits(measure_action(), settings))
    yield (
        "The provider answers at once here; if a run takes a second, `SlowWorkConcurrency` allows"
        f" {settings.slow_work_concurrency:,} actions/s. Of actions that pay from one budget and"
        f" take a second, {_round(budget_calls_per_second(1))}/s can run, and"
        f" {_round(budget_calls_per_second(10))}/s that take ten: each changes the budget's item"
        " twice, and the item grows with the calls in progress."
    )
    yield ""
    yield from _format_table("failures", find_limits(measure_failure(), settings))
    yield from _format_table("chat messages", find_limits(measure_message(), settings))
    yield from _format_listeners(settings)
    large = make_large_settings(settings)
    yield f"A million tasks due in one minute ({MILLION / 60:,.0f}/s), created earlier, with:"
    yield ""
    yield from format_large_settings(large)
    yield ""
    delivery = measure_delivery()
    yield from _format_table("deliveries", find_limits(delivery, large))
    yield from _format_scans(large)
    yield from _format_scaling(delivery.seconds["worker"], settings.concurrency["worker"])


def _format_scaling(seconds_per_task: float, concurrency: int) -> Iterator[str]:
    delivered, after = deliver_while_scaling(seconds_per_task, concurrency)
    yield (
        f"Without provisioned mode, Lambda starts with {FIRST_BATCHES} batches and adds"
        f" {MORE_BATCHES} a minute: about {_round(delivered)} are delivered in that minute and the"
        f" others in the {_round(after)} s after it."
    )
    yield ""


def _format_scans(settings: Settings) -> Iterator[str]:
    """Say whether one scanner sends a million tasks in time that are due within one minute."""
    seconds = seconds_per_dispatch(settings)
    late = worst_lateness(seconds * MILLION)
    yield (
        f"The scanner needs {seconds * 1000:.2g} ms of CPU for a task (`make bench-cpu`), so"
        f" {seconds * MILLION:.0f} s for all of them, {SCAN_SECONDS:.0f} s in each minute. It"
        f" begins two minutes before the first is due, and sends"
        f" {f'the last one about {late:.0f} s late' if late > 0 else 'every one in time'}."
    )
    yield ""


def _format_table(unit: str, limits: Sequence[Limit]) -> Iterator[str]:
    aim = AIMS.get(unit)
    yield f"| limit | {unit}/s | raise it by |"
    yield "|---|---|---|"
    far = limits[0].per_second * _MAX_RATIO
    for one in limits:
        if one.per_second <= far:
            yield f"| {one.name} | {_round(one.per_second)} | {one.remedy} |"
    yield ""
    if names := [one.name for one in limits if one.per_second > far]:
        yield f"Above {_round(far)}/s: {'; '.join(names)}."
        yield ""
    if aim is not None and (below := [one.name for one in limits if one.per_second < aim]):
        yield f"Below the aim of {aim:,}/s: {'; '.join(below)}."
        yield ""


def _format_listeners(settings: Settings) -> Iterator[str]:
    call = prices.CPU_MS_PER_CALL * prices.MB_PER_VCPU / 512 / 1000
    posts = settings.stream_shards / call
    yield "| limit | listeners | raise it by |"
    yield "|---|---|---|"
    rate = f"{settings.connections_per_second:,.0f} new ones/s"
    remedy = "`ThrottlingRateLimit` of `LiveStage`"
    yield f"| WebSocket API: throttling of the stage | {rate} | {remedy} |"
    yield f"| live function: messages sent | {_round(posts)} events × listeners/s | its memory |"
    yield ""


def _round(figure: float) -> str:
    """Return two significant digits: the model has no more."""
    return f"{float(f'{figure:.2g}'):,.0f}"


def renew(lines: Sequence[str]) -> None:
    """Write the tables into docs/capacity.md."""
    head, _, rest = PAGE.read_text(encoding="utf-8").partition(START)
    tail = rest.partition(END)[2]
    PAGE.write_text(f"{head}{START}" + "\n".join(lines) + f"{END}{tail}", encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="bench.capacity", description=__doc__)
    parser.add_argument("--write", action="store_true", help="also write docs/capacity.md")
    options = parser.parse_args(arguments)
    print("measuring, which takes half a minute", file=sys.stderr)
    lines = list(format_page())
    print("\n".join(lines))
    if options.write:
        renew(lines)


if __name__ == "__main__":
    main()
