"""The ARNs of secrets that headers may name: a deployment takes only complete ones."""

from __future__ import annotations

import re

import pytest
from duecourse.domain.requests.header_secret import arns_by_name

from local.runtime.template import load_template

PREFIX = "arn:aws:secretsmanager:eu-central-1:123456789012:secret:"
PARAMETER = load_template()["Parameters"]["WebhookSecretArns"]


@pytest.mark.parametrize("name", ["crm-token", "a", "team/crm_token+x=1.y@z", "crm-AbCdEf"])
def test_a_complete_arn_is_accepted_and_gives_the_name(name: str) -> None:
    arn = f"{PREFIX}{name}-AbC1eF"

    assert re.fullmatch(PARAMETER["AllowedPattern"], arn)
    assert arns_by_name([arn]) == {name: arn}


@pytest.mark.parametrize("text", ["", " ", f" {PREFIX}crm-token-AbC1eF"])
def test_no_secret_and_spaces_are_accepted(text: str) -> None:
    assert re.fullmatch(PARAMETER["AllowedPattern"], text)


@pytest.mark.parametrize(
    "text",
    [
        f"{PREFIX}crm-token",
        f"{PREFIX}crm-token-??????",
        f"{PREFIX}-AbC1eF",
        "crm-token",
        "crm-token-AbC1eF",
        "arn:aws:kms:eu-central-1:123456789012:key/crm-token-AbC1eF",
    ],
)
def test_a_deployment_refuses_what_is_no_complete_arn(text: str) -> None:
    """IAM would not let the worker read the secret of a partial ARN."""
    assert not re.fullmatch(PARAMETER["AllowedPattern"], text)
    assert "six characters" in PARAMETER["ConstraintDescription"]
