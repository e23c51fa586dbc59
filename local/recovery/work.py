"""Stop everything that a stack does, and let it start again."""

from __future__ import annotations

from typing import Any

from local.stack_resources import FUNCTION, MAPPING, RULE, StackResources

# Queues and streams keep what is not read, schedules miss their ticks. Requests have to be refused.
_CALLED_FROM_OUTSIDE = ("ApiFunction", "WebhookFunction", "LiveFunction")


def stop_work(resources: StackResources, *, events: Any, functions: Any) -> None:
    """Stop schedules, queues, streams and requests. Invocations that run end by themselves.

    Messages and changes wait: four days in a queue, one in a stream.
    """
    for logical_id in _CALLED_FROM_OUTSIDE:
        functions.put_function_concurrency(
            FunctionName=resources.of_type(FUNCTION)[logical_id], ReservedConcurrentExecutions=0
        )
    for rule in resources.of_type(RULE).values():
        events.disable_rule(Name=rule)
    _set_mappings(resources, functions, is_enabled=False)


def start_work(resources: StackResources, *, events: Any, functions: Any) -> None:
    _set_mappings(resources, functions, is_enabled=True)
    for rule in resources.of_type(RULE).values():
        events.enable_rule(Name=rule)
    for logical_id in _CALLED_FROM_OUTSIDE:
        functions.delete_function_concurrency(FunctionName=resources.of_type(FUNCTION)[logical_id])


def _set_mappings(resources: StackResources, functions: Any, *, is_enabled: bool) -> None:
    for mapping in resources.of_type(MAPPING).values():
        functions.update_event_source_mapping(UUID=mapping, Enabled=is_enabled)
