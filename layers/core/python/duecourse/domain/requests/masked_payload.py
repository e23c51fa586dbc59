"""A task's payload as it is shown: the same shape, without its secrets.

Of a webhook, header values, query values and the body are masked altogether, because any of them
may be a secret. Of other payloads, only what is recognized as a secret.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from duecourse.domain.http.url import mask_url
from duecourse.domain.requests.header_secret import is_secret_reference
from duecourse.domain.text.redact_json import mask_leaves, redact_json
from duecourse.domain.text.redaction import REDACTED

WEBHOOK = "webhook"
_PARTLY_MASKED_KEYS = ("url", "headers")


def mask_payload(task_type: str, payload: Mapping[str, Any]) -> dict[str, Any]:
    masks = _WEBHOOK_MASKS if task_type == WEBHOOK else {}
    return {
        name: masks[name](value) if name in masks else redact_json(value, name)
        for name, value in payload.items()
    }


def masked_texts(task_type: str, payload: Mapping[str, Any]) -> set[str]:
    """Return the texts that masking changes, as they are shown."""
    real = {text for _, text in _texts_in(payload)}
    return {text for _, text in _texts_in(mask_payload(task_type, payload))} - real


def refuse_masked(payload: Mapping[str, Any], masked: Collection[str]) -> None:
    """Raise ValueError naming a key of `payload` whose value is the mask of a secret.

    Storing it would replace the secret. `masked`: the masked texts of the payload to be replaced.
    """
    for path, text in _texts_in(payload):
        is_part_masked = path.partition(".")[0] in _PARTLY_MASKED_KEYS and REDACTED in text
        if text == REDACTED or text in masked or is_part_masked:
            raise ValueError(f"{path}: is masked; give its real value, or leave the payload out")


def _mask_url_or_leaves(url: Any) -> Any:
    return mask_url(url) if isinstance(url, str) else mask_leaves(url)


def _mask_headers(headers: Any) -> Any:
    if not isinstance(headers, dict):
        return mask_leaves(headers)
    return {
        name: value if is_secret_reference(value) else mask_leaves(value)
        for name, value in headers.items()
    }


_WEBHOOK_MASKS: dict[str, Callable[[Any], Any]] = {
    "url": _mask_url_or_leaves,
    "headers": _mask_headers,
    "body": mask_leaves,
}


def _texts_in(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield each text in `value` with its path, such as `headers.Authorization`."""
    if isinstance(value, Mapping):
        for name, part in value.items():
            yield from _texts_in(part, f"{path}.{name[:100]}" if path else name[:100])
    elif isinstance(value, list):
        for index, part in enumerate(value):
            yield from _texts_in(part, f"{path}[{index}]")
    elif isinstance(value, str):
        yield path, value
