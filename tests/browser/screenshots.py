"""Takes the pictures of the dashboard that README.md shows."""

from __future__ import annotations

from local.runtime.template import ROOT
from tests.browser.conftest import DESKTOP
from tests.browser.running import TOKEN, chromium, running
from tests.browser.scenes import a_busy_day

PICTURES = ROOT / "docs" / "pictures"
SHOWN = {"playground": "light", "now": "dark"}


def main() -> None:
    PICTURES.mkdir(exist_ok=True)
    with running("manual") as stack, chromium() as browser:
        a_busy_day(stack)
        stack.say("/remind in 10s stretch")
        stack.advance("10s")
        for name, scheme in SHOWN.items():
            page = browser.new_context(viewport=DESKTOP, color_scheme=scheme).new_page()
            page.goto(f"{stack.url}/#token={TOKEN}")
            page.wait_for_selector("#connection[data-state=live]")
            page.goto(f"{stack.url}/#/{name}")
            page.wait_for_selector("#retries [data-task]")
            page.screenshot(path=PICTURES / f"{name}.png")
            print(f"docs/pictures/{name}.png")


if __name__ == "__main__":
    main()
