"""The operator's AWS account: region, credentials and clients.

boto3 reads AWS_ENDPOINT_URL itself, for an emulator.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import boto3
from botocore.config import Config
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    NoCredentialsError,
    NoRegionError,
    PartialCredentialsError,
)
from botocore.parsers import ResponseParserError

from local.cli.doctor.samconfig import DeployConfig
from local.cli.errors import CommandFailedError

_CONFIG = Config(connect_timeout=5, read_timeout=20, retries={"total_max_attempts": 3})
_API_URL = re.compile(r"https://(?P<id>[a-z0-9]+)\.execute-api\.[a-z0-9-]+\.amazonaws\.com")
_NO_REGION = (
    "no AWS region is set: export AWS_REGION=eu-central-1 (or yours), or run `aws configure`"
)
_NO_CREDENTIALS = (
    "no AWS credentials found: export AWS_PROFILE, or run `aws configure` or `aws sso login`"
)
_LOCAL_STACK = "the local stack has no"  # AwsGateway's answer
_IS_LOCAL = "the endpoint of AWS_ENDPOINT_URL is a local stack: run `duecourse doctor`"


@dataclass(frozen=True, slots=True)
class Caller:
    account: str
    arn: str
    region: str


def use_config(config: DeployConfig) -> None:
    """Use the profile and region of samconfig.toml, as `sam deploy` does."""
    if config.profile is not None:
        os.environ["AWS_PROFILE"] = config.profile
    if config.region is not None:
        os.environ["AWS_REGION"] = os.environ["AWS_DEFAULT_REGION"] = config.region


def find_region() -> str | None:
    """Return the region. SAM reads AWS_REGION too, boto3 alone does not."""
    return os.environ.get("AWS_REGION") or boto3.Session().region_name


def find_caller() -> Caller:
    """Return who the credentials belong to. Raises CommandFailedError with one line."""
    refused, failed = "AWS refused the credentials", "the AWS credentials cannot be checked"
    with explain_errors(refused=refused, failed=failed):
        region = find_region()
        if not region:
            raise CommandFailedError(_NO_REGION)
        identity = make_client("sts").get_caller_identity()
    return Caller(identity["Account"], identity["Arn"], region)


@contextmanager
def explain_errors(*, refused: str, failed: str) -> Iterator[None]:
    """Raise CommandFailedError with one line instead of botocore's errors.

    `refused` is said of a request that AWS answers with an error, `failed` of one that it does not.
    """
    try:
        yield
    except (NoCredentialsError, PartialCredentialsError):
        raise CommandFailedError(_NO_CREDENTIALS) from None
    except NoRegionError:
        raise CommandFailedError(_NO_REGION) from None
    except ClientError as error:
        details = error.response.get("Error", {})
        reason = f"{details.get('Code')}: {details.get('Message')}"
        raise CommandFailedError(f"{refused} ({reason})") from None
    except BotoCoreError as error:
        raise CommandFailedError(f"{failed}: {error}") from None
    except ResponseParserError as error:
        # The services asked first answer in XML. The local stack has neither, and says so in JSON.
        if _LOCAL_STACK in str(error):
            raise CommandFailedError(_IS_LOCAL) from None
        endpoint = os.environ.get("AWS_ENDPOINT_URL", "the endpoint")
        raise CommandFailedError(f"{failed}: {endpoint} does not answer as AWS does") from None


def to_reachable_url(api_url: str) -> str:
    """Return the address of an API. An emulator serves it at its own endpoint, by this path."""
    endpoint, found = os.environ.get("AWS_ENDPOINT_URL"), _API_URL.match(api_url)
    if not endpoint or found is None:
        return api_url
    return f"{endpoint.rstrip('/')}/_aws/execute-api/{found['id']}/$default"


def make_client(service: str) -> Any:
    client: Any = boto3.client
    return client(service, region_name=find_region(), config=_CONFIG)
