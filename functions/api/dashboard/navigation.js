/** The links to the pages, with the current page marked. */

import { h } from "./dom.js";
import { linkTo } from "./router.js";

export function createNavigation(nav) {
  function markLink(link, isCurrent) {
    if (!isCurrent) {
      link.removeAttribute("aria-current");
      return;
    }
    link.setAttribute("aria-current", "page");
    // Not scrollIntoView: it would move the starting point of the Tab key.
    nav.scrollLeft = link.offsetLeft - (nav.clientWidth - link.offsetWidth) / 2;
  }

  return {
    /** Show a link to each page that has no parent page. */
    setPages(pages) {
      nav.replaceChildren(...pages.filter((page) => !page.parent).map(({ name, title }) =>
        h("a", { href: linkTo(name), data: { nav: name } }, title)));
      nav.hidden = false;
    },
    setCurrent(page) {
      for (const link of nav.children) markLink(link, link.dataset.nav === (page?.parent || page?.name));
    },
  };
}
