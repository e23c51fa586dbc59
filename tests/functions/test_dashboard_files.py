"""The dashboard's page and files: served without a token, and nothing else is served."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest
from duecourse.app import stores

from functions.api.http.csp import dashboard_csp
from functions.api.routes import dashboard
from local.runtime.api_gateway import Gateway, Request, Response
from tests.support.stack_client import StackClient, moto_stack

SCRIPT = "export const ellipsis = '…';\n"
DEPLOYED = "wss://a1b2.execute-api.eu-central-1.amazonaws.com/live"


@pytest.fixture(scope="module")
def shared() -> Iterator[StackClient]:
    with moto_stack() as running:
        yield running


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Replace the dashboard's files with test files."""
    (tmp_path / "index.html").write_text('<title>x</title><body class="a">hello</body>')
    (tmp_path / "app.js").write_text(SCRIPT, encoding="utf-8")
    (tmp_path / "notes.txt").write_text("secret")
    (tmp_path / "folder.js").mkdir()
    (tmp_path.parent / "outside.js").write_text("secret")
    monkeypatch.setattr(dashboard, "DASHBOARD_FOLDER", tmp_path)
    clear_caches()
    yield tmp_path
    clear_caches()


def clear_caches() -> None:
    dashboard.load_assets.cache_clear()
    dashboard._load_index.cache_clear()


def send_request(client: StackClient, path: str, method: str = "GET", **headers: str) -> Response:
    return Gateway(client.stack).handle(Request(method, path, headers, b"", "127.0.0.1"))


def header(reply: Response, name: str) -> str | None:
    return {header_name.lower(): value for header_name, value in reply.headers.items()}.get(name)


def parse_body_attributes(page: str) -> dict[str, str | None]:
    """Return the attributes of the body element, as a browser parses them."""
    bodies: list[dict[str, str | None]] = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            if tag == "body":
                bodies.append(dict(attrs))

    Reader().feed(page)
    [body] = bodies
    return body


# --- the page ---------------------------------------------------------------------------------


def test_the_page_contains_its_live_url_and_extra_scripts(
    shared: StackClient, folder: Path
) -> None:
    (folder / "index.html").write_text('<body data-modules="" class="a" data-live-url="x">hello')
    page = send_request(shared, "/")

    assert (page.status, header(page, "content-type")) == (200, "text/html; charset=utf-8")
    assert parse_body_attributes(page.body.decode()) == {
        "class": "a",
        "data-live-url": "/live",
        "data-modules": "/_local/playground.js",
    }


@pytest.mark.usefixtures("folder")
def test_settings_are_escaped_in_the_page(
    shared: StackClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    evil = '"><script>alert(1)</script>'
    monkeypatch.setenv("LIVE_URL", evil)
    monkeypatch.setenv("PAGE_MODULES", f"{evil},/b.js")
    stores.settings.cache_clear()
    try:
        page = send_request(shared, "/").body.decode()
    finally:
        monkeypatch.undo()
        stores.settings.cache_clear()

    assert parse_body_attributes(page)["data-live-url"] == evil
    assert parse_body_attributes(page)["data-modules"] == f"{evil},/b.js"
    assert "<script" not in page


@pytest.mark.usefixtures("folder")
def test_the_page_may_load_its_own_files_and_nothing_else(shared: StackClient) -> None:
    page = send_request(shared, "/")

    assert header(page, "content-security-policy") == (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
        "require-trusted-types-for 'script'; trusted-types 'none'"
    )
    assert header(page, "x-content-type-options") == "nosniff"
    assert header(page, "referrer-policy") == "no-referrer"
    assert header(page, "cache-control") == "no-cache"


def test_a_deployed_page_may_connect_only_to_the_websocket_api() -> None:
    rules = dashboard_csp(DEPLOYED).split("; ")
    assert "connect-src 'self' wss://a1b2.execute-api.eu-central-1.amazonaws.com" in rules


# --- the files --------------------------------------------------------------------------------


@pytest.mark.usefixtures("folder")
def test_a_file_is_served_with_its_content_type(shared: StackClient) -> None:
    response = send_request(shared, "/assets/app.js")

    assert (response.status, response.body.decode()) == (200, SCRIPT)
    assert header(response, "content-type") == "text/javascript; charset=utf-8"
    assert header(response, "x-content-type-options") == "nosniff"
    assert header(response, "cache-control") == "no-cache"


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    "path",
    [
        *("/assets/index.html", "/assets/notes.txt", "/assets/folder.js", "/assets/other.js"),
        *("/assets/..%2foutside.js", "/assets/%2e%2e%2foutside.js", "/assets/..%5coutside.js"),
        *("/assets/APP.JS", "/assets/app.js%00", "/assets/.", "/assets/.."),
    ],
)
def test_no_other_path_serves_a_file(shared: StackClient, path: str) -> None:
    response = send_request(shared, path)

    # A name with a slash does not match the open path.
    assert response.status == (401 if "/" in unquote(path.removeprefix("/assets/")) else 404)
    assert header(response, "content-type") == "application/problem+json"
    assert json.loads(response.body)["status"] == response.status
    assert b"secret" not in response.body


@pytest.mark.usefixtures("folder")
def test_a_matching_etag_gets_304(shared: StackClient) -> None:
    etag = header(send_request(shared, "/assets/app.js"), "etag")
    assert etag is not None
    assert re.fullmatch(r'"[0-9a-f]{32}"', etag)
    for if_none_match in (etag, f"W/{etag}", f'"other", {etag}', "*"):
        response = send_request(shared, "/assets/app.js", **{"if-none-match": if_none_match})
        assert (response.status, response.body, header(response, "etag")) == (304, b"", etag), (
            if_none_match
        )
        assert header(response, "cache-control") == "no-cache"
    for unknown in ('"other"', etag.strip('"'), ""):
        assert send_request(shared, "/assets/app.js", **{"if-none-match": unknown}).status == 200


def test_a_changed_file_has_a_new_etag(shared: StackClient, folder: Path) -> None:
    before = header(send_request(shared, "/assets/app.js"), "etag")
    (folder / "app.js").write_text(SCRIPT + SCRIPT, encoding="utf-8")
    clear_caches()  # as the next deployment does
    assert header(send_request(shared, "/assets/app.js"), "etag") != before


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("path", ["/", "/assets/app.js"])
def test_head_returns_the_headers_of_get(shared: StackClient, path: str) -> None:
    get_response, head_response = send_request(shared, path), send_request(shared, path, "HEAD")
    assert (head_response.status, head_response.headers) == (200, get_response.headers)


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("path", ["/?x=1", "/assets/app.js?v=2"])
def test_a_query_string_is_ignored(shared: StackClient, path: str) -> None:
    assert send_request(shared, path).status == 200


# --- the real files ---------------------------------------------------------------------------


def test_the_dashboard_and_all_its_files_are_served(shared: StackClient) -> None:
    clear_caches()
    page = send_request(shared, "/").body.decode()
    loaded = re.findall(r'(?:src|href)="/?assets/([^"]+)"', page)

    assert parse_body_attributes(page)["data-live-url"] == "/live"
    assert any(name.endswith(".js") for name in loaded)
    assert any(name.endswith(".css") for name in loaded)
    assert set(loaded) <= set(dashboard.load_assets())
    for name in dashboard.load_assets():
        assert send_request(shared, f"/assets/{name}").status == 200, name


def test_the_page_and_its_files_name_no_other_host() -> None:
    clear_caches()
    for name, asset in dashboard.load_assets().items():
        hosts = set(re.findall(r"(?:https?|wss?)://[\w.-]+", asset.text))
        assert hosts <= {"http://www.w3.org"}, name  # the names of SVG's and XHTML's elements
    page = (dashboard.DASHBOARD_FOLDER / dashboard.INDEX_FILE).read_text(encoding="utf-8")
    assert re.findall(r"(?:https?:)?//[a-z]", page) == []
