"""Takes the screenshots of README.md."""

from __future__ import annotations

from local.runtime.template import ROOT
from tests.browser.conftest import DESKTOP
from tests.browser.sample_tasks import create_sample_tasks
from tests.browser.stack_process import TOKEN, launch_chromium, start_stack

PICTURES = ROOT / "docs" / "pictures"
SCHEME_BY_PAGE = {"playground": "light", "now": "dark"}


def main() -> None:
    PICTURES.mkdir(exist_ok=True)
    with start_stack("manual") as stack, launch_chromium() as browser:
        create_sample_tasks(stack)
        stack.say("/remind in 10s stretch")
        stack.advance("10s")
        for name, scheme in SCHEME_BY_PAGE.items():
            page = browser.new_context(viewport=DESKTOP, color_scheme=scheme).new_page()
            page.goto(f"{stack.url}/#token={TOKEN}")
            page.wait_for_selector("#connection[data-state=live]")
            page.goto(f"{stack.url}/#/{name}")
            page.wait_for_selector("#retries [data-task]")
            page.screenshot(path=PICTURES / f"{name}.png")
            print(f"docs/pictures/{name}.png")


if __name__ == "__main__":
    main()
