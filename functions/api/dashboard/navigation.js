/** The links to the pages, and which of them one is at. */

import { h } from "./dom.js";
import { linkTo } from "./router.js";

export function navigation(nav) {
  function mark(link, isHere) {
    if (!isHere) {
      link.removeAttribute("aria-current");
      return;
    }
    link.setAttribute("aria-current", "page");
    // Not scrollIntoView: the Tab key would go on from there.
    nav.scrollLeft = link.offsetLeft - (nav.clientWidth - link.offsetWidth) / 2;
  }

  return {
    /** Not those that stand within another. */
    offer(pages) {
      nav.replaceChildren(...pages.filter((one) => !one.within).map(({ name, title }) =>
        h("a", { href: linkTo(name), data: { nav: name } }, title)));
      nav.hidden = false;
    },
    at(page) {
      for (const link of nav.children) mark(link, link.dataset.nav === (page?.within || page?.name));
    },
  };
}
