/** Over how many days a page looks: chosen by the person, and said by the address. */

import { segments } from "./panel.js";
import { note } from "./router.js";

const RANGES = [["1", "Today"], ["7", "7 days"], ["30", "30 days"]];
const FIRST = "7";

/** `days()` is what is chosen now; `node` is where one chooses. */
export function dayRange(page, query, onChange) {
  let days = RANGES.some(([one]) => one === query.get("days")) ? query.get("days") : FIRST;
  const node = segments("Days", RANGES, days, (chosen) => {
    days = chosen;
    note(page, { days });
    onChange();
  });
  return { node, days: () => days };
}
