"""A header of a webhook that names a secret instead of carrying it: `{"secret": "NAME"}`.

The secret of that name holds the value of the header. If it is JSON of the form
`{"value": "Bearer …", "hosts": ["api.example.com"]}`, it is sent to these hosts only.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from duecourse.domain.http.header import check_header

SECRET_KEY = "secret"  # noqa: S105 - the key that holds the name
_SUFFIX_LENGTH = len("-AbCdEf")  # Secrets Manager appends it to the name in an ARN


@dataclass(frozen=True)
class SecretReference:
    name: str


def is_secret_reference(value: Any) -> bool:
    if not isinstance(value, Mapping):
        return False
    return set(value) == {SECRET_KEY} and isinstance(value[SECRET_KEY], str)


def arns_by_name(arns: Iterable[str]) -> dict[str, str]:
    """Return the ARN of each secret by the name that a header gives.

    The ARNs have to be complete: IAM does not match partial ones, and a deployment refuses them,
    except for a name that ends like the suffix (`my-secret`), which nobody can tell apart.
    """
    return {arn.partition(":secret:")[2][:-_SUFFIX_LENGTH]: arn for arn in arns}


def parse_header_secret(text: str, *, header: str, host: str) -> str:
    """Return the value that the secret holds for `header` in a request to `host`.

    Raises ValueError, with a message that does not repeat the secret, if it may not be sent there
    or is no header value.
    """
    secret = _parse_object(text)
    if secret is None:
        value = text.strip()
    else:
        value, hosts = _checked(secret)
        if host not in hosts:
            raise ValueError(f"may not be sent to {host}: it is not among its hosts")
    check_header(header, value)
    return value


def _parse_object(text: str) -> dict[str, Any] | None:
    """Return the JSON object in `text`. Any other text is the value itself."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _checked(secret: Mapping[str, Any]) -> tuple[str, list[str]]:
    value, hosts = secret.get("value"), secret.get("hosts")
    is_list = isinstance(hosts, list) and all(isinstance(host, str) for host in hosts)
    if not isinstance(value, str) or not is_list or set(secret) != {"value", "hosts"}:
        raise ValueError('must be a text, or JSON of the form {"value": "…", "hosts": ["…"]}')
    return value.strip(), [host.lower().rstrip(".") for host in hosts or ()]
