"""The page of the API documentation: self-contained, with a strict content security policy."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator

import pytest

from local.runtime.api_gateway import Gateway, Request, Response
from tests.support.stack_client import running_stack

BASIC = "Basic " + base64.b64encode(b":local").decode()


def open_docs(gateway: Gateway, authorization: str) -> Response:
    return gateway.handle(Request("GET", "/docs", {"authorization": authorization}, b"", "::1"))


@pytest.fixture(scope="module")
def gateway() -> Iterator[Gateway]:
    with running_stack() as started:
        yield Gateway(started.stack)


@pytest.fixture(scope="module")
def page(gateway: Gateway) -> Response:
    return open_docs(gateway, BASIC)


def test_a_browser_is_asked_to_authenticate(gateway: Gateway) -> None:
    refused = open_docs(gateway, "")
    assert refused.status == 401
    assert refused.headers["WWW-Authenticate"].startswith("Basic")


def test_the_page_is_small(page: Response) -> None:
    assert (page.status, page.headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    assert len(page.body) < 20_000


def test_the_page_references_no_other_host(page: Response) -> None:
    text = page.body.decode()
    assert re.findall(r"(?:https?:)?//[a-z]", text) == []
    assert (
        re.findall(r"<(?:link|img|iframe|object|embed|base)\b|\bsrc=|@import|\burl\(", text) == []
    )


def test_the_policy_allows_only_the_inline_script_and_style(page: Response) -> None:
    rules = dict(rule.split(" ", 1) for rule in page.headers["content-security-policy"].split("; "))
    assert (rules["default-src"], rules["connect-src"]) == ("'none'", "'self'")
    for kind in ("script", "style"):
        inline = re.findall(rf"<{kind}>(.*?)</{kind}>", page.body.decode(), re.DOTALL)
        digests = [base64.b64encode(hashlib.sha256(block.encode()).digest()) for block in inline]
        assert rules[f"{kind}-src"].split() == [f"'sha256-{block.decode()}'" for block in digests]
        assert len(inline) == 1


def test_the_page_never_inserts_html(page: Response) -> None:
    text = page.body.decode()
    banned = ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(")
    assert [word for word in banned if word in text] == []
    assert re.findall(r"<[a-z][^>]*\s(?:on[a-z]+|style)=", text) == []


def test_the_page_has_its_security_headers(page: Response) -> None:
    assert page.headers["x-content-type-options"] == "nosniff"
    assert page.headers["referrer-policy"] == "no-referrer"
    assert page.headers["cache-control"] == "no-store"
    assert "frame-ancestors 'none'" in page.headers["content-security-policy"]
