/** The number of days that a page covers, chosen by the user and stored in the address. */

import { renderSegments } from "./panel.js";
import { replaceQuery } from "./router.js";

const RANGES = [["1", "Today"], ["7", "7 days"], ["30", "30 days"]];
const DEFAULT = "7";

/** Create the control. `getDays()` returns the current choice. */
export function createDayRange(page, query, onChange) {
  let days = RANGES.some(([value]) => value === query.get("days")) ? query.get("days") : DEFAULT;
  const node = renderSegments("Days", RANGES, days, (value) => {
    days = value;
    replaceQuery(page, { days });
    onChange();
  });
  return { node, getDays: () => days };
}
