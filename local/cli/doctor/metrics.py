"""Read single figures from CloudWatch."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

WINDOW = timedelta(minutes=15)


def read_metric(
    client: Any, metric: str, dimension: tuple[str, str], *, statistic: str, now: datetime
) -> float | None:
    """Return the figure over the last minutes, None if there is no data.

    `metric` is namespace and name: AWS/Lambda:Errors.
    """
    namespace, _, name = metric.partition(":")
    points = client.get_metric_statistics(
        Namespace=namespace,
        MetricName=name,
        Dimensions=[{"Name": dimension[0], "Value": dimension[1]}],
        StartTime=now - WINDOW,
        EndTime=now,
        Period=60,
        Statistics=[statistic],
    )["Datapoints"]
    values = [float(point[statistic]) for point in points]
    if not values:
        return None
    return sum(values) if statistic == "Sum" else max(values)
