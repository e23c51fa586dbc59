"""The dashboard's page and files: open to all, just those that are there, and closed to others."""

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
from tests.support.stack_client import StackClient, running_stack

SCRIPT = "export const ellipsis = '…';\n"
DEPLOYED = "wss://a1b2.execute-api.eu-central-1.amazonaws.com/live"


@pytest.fixture(scope="module")
def shared() -> Iterator[StackClient]:
    with running_stack() as running:
        yield running


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Files of our own in place of the dashboard's."""
    (tmp_path / "index.html").write_text('<title>x</title><body class="a">hello</body>')
    (tmp_path / "app.js").write_text(SCRIPT, encoding="utf-8")
    (tmp_path / "notes.txt").write_text("secret")
    (tmp_path / "folder.js").mkdir()
    (tmp_path.parent / "outside.js").write_text("secret")
    monkeypatch.setattr(dashboard, "DASHBOARD_FOLDER", tmp_path)
    _forget()
    yield tmp_path
    _forget()


def _forget() -> None:
    dashboard.load_assets.cache_clear()
    dashboard._load_index.cache_clear()


def ask(client: StackClient, path: str, method: str = "GET", **headers: str) -> Response:
    return Gateway(client.stack).handle(Request(method, path, headers, b"", "127.0.0.1"))


def header(reply: Response, name: str) -> str | None:
    return {known.lower(): value for known, value in reply.headers.items()}.get(name)


def body_of(page: str) -> dict[str, str | None]:
    """The attributes of its body, as a browser reads them."""
    found: list[dict[str, str | None]] = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            if tag == "body":
                found.append(dict(attrs))

    Reader().feed(page)
    [body] = found
    return body


# --- the page ---------------------------------------------------------------------------------


def test_the_page_is_told_where_to_listen_and_what_else_to_load(
    shared: StackClient, folder: Path
) -> None:
    (folder / "index.html").write_text('<body data-modules="" class="a" data-live-url="x">hello')
    page = ask(shared, "/")

    assert (page.status, header(page, "content-type")) == (200, "text/html; charset=utf-8")
    assert body_of(page.body.decode()) == {
        "class": "a",
        "data-live-url": "/live",
        "data-modules": "/_local/playground.js",
    }


@pytest.mark.usefixtures("folder")
def test_settings_cannot_break_out_of_the_page(
    shared: StackClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    evil = '"><script>alert(1)</script>'
    monkeypatch.setenv("LIVE_URL", evil)
    monkeypatch.setenv("PAGE_MODULES", f"{evil},/b.js")
    stores.settings.cache_clear()
    try:
        page = ask(shared, "/").body.decode()
    finally:
        monkeypatch.undo()
        stores.settings.cache_clear()

    assert body_of(page)["data-live-url"] == evil
    assert body_of(page)["data-modules"] == f"{evil},/b.js"
    assert "<script" not in page


@pytest.mark.usefixtures("folder")
def test_the_page_may_load_its_own_files_and_nothing_else(shared: StackClient) -> None:
    page = ask(shared, "/")

    assert header(page, "content-security-policy") == (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
        "require-trusted-types-for 'script'; trusted-types 'none'"
    )
    assert header(page, "x-content-type-options") == "nosniff"
    assert header(page, "referrer-policy") == "no-referrer"
    assert header(page, "cache-control") == "no-cache"


def test_a_deployed_page_may_listen_at_the_websocket_api_and_at_no_other() -> None:
    rules = dashboard_csp(DEPLOYED).split("; ")
    assert "connect-src 'self' wss://a1b2.execute-api.eu-central-1.amazonaws.com" in rules


# --- the files --------------------------------------------------------------------------------


@pytest.mark.usefixtures("folder")
def test_a_file_comes_as_what_it_is(shared: StackClient) -> None:
    found = ask(shared, "/assets/app.js")

    assert (found.status, found.body.decode()) == (200, SCRIPT)
    assert header(found, "content-type") == "text/javascript; charset=utf-8"
    assert header(found, "x-content-type-options") == "nosniff"
    assert header(found, "cache-control") == "no-cache"


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    "path",
    [
        *("/assets/index.html", "/assets/notes.txt", "/assets/folder.js", "/assets/other.js"),
        *("/assets/..%2foutside.js", "/assets/%2e%2e%2foutside.js", "/assets/..%5coutside.js"),
        *("/assets/APP.JS", "/assets/app.js%00", "/assets/.", "/assets/.."),
    ],
)
def test_no_other_name_leads_anywhere(shared: StackClient, path: str) -> None:
    refused = ask(shared, path)

    # With a slash in its name, it is no file's address.
    assert refused.status == (401 if "/" in unquote(path.removeprefix("/assets/")) else 404)
    assert header(refused, "content-type") == "application/problem+json"
    assert json.loads(refused.body)["status"] == refused.status
    assert b"secret" not in refused.body


@pytest.mark.usefixtures("folder")
def test_a_file_that_is_known_is_not_sent_again(shared: StackClient) -> None:
    etag = header(ask(shared, "/assets/app.js"), "etag")
    assert etag is not None
    assert re.fullmatch(r'"[0-9a-f]{32}"', etag)
    for known in (etag, f"W/{etag}", f'"other", {etag}', "*"):
        again = ask(shared, "/assets/app.js", **{"if-none-match": known})
        assert (again.status, again.body, header(again, "etag")) == (304, b"", etag), known
        assert header(again, "cache-control") == "no-cache"
    for unknown in ('"other"', etag.strip('"'), ""):
        assert ask(shared, "/assets/app.js", **{"if-none-match": unknown}).status == 200


def test_a_file_that_changed_has_another_tag(shared: StackClient, folder: Path) -> None:
    before = header(ask(shared, "/assets/app.js"), "etag")
    (folder / "app.js").write_text(SCRIPT + SCRIPT, encoding="utf-8")
    _forget()  # as the next deployment does
    assert header(ask(shared, "/assets/app.js"), "etag") != before


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("path", ["/", "/assets/app.js"])
def test_one_may_ask_about_a_page_without_reading_it(shared: StackClient, path: str) -> None:
    read, asked = ask(shared, path), ask(shared, path, "HEAD")
    assert (asked.status, asked.headers) == (200, read.headers)


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("path", ["/?x=1", "/assets/app.js?v=2"])
def test_whoever_wants_to_get_past_a_cache_may(shared: StackClient, path: str) -> None:
    assert ask(shared, path).status == 200


# --- what is there ----------------------------------------------------------------------------


def test_the_dashboard_itself_is_there(shared: StackClient) -> None:
    _forget()
    page = ask(shared, "/").body.decode()
    loaded = re.findall(r'(?:src|href)="/?assets/([^"]+)"', page)

    assert body_of(page)["data-live-url"] == "/live"
    assert any(name.endswith(".js") for name in loaded)
    assert any(name.endswith(".css") for name in loaded)
    assert set(loaded) <= set(dashboard.load_assets())
    for name in dashboard.load_assets():
        assert ask(shared, f"/assets/{name}").status == 200, name


def test_the_page_and_its_files_name_no_other_host() -> None:
    _forget()
    for name, asset in dashboard.load_assets().items():
        hosts = set(re.findall(r"(?:https?|wss?)://[\w.-]+", asset.text))
        assert hosts <= {"http://www.w3.org"}, name  # the names of SVG's and XHTML's elements
    page = (dashboard.DASHBOARD_FOLDER / dashboard.INDEX_FILE).read_text(encoding="utf-8")
    assert re.findall(r"(?:https?:)?//[a-z]", page) == []
