/** Numbers, amounts and names as text. */

/** "spec_refresh" -> "Spec refresh". For names that have no label of their own. */
export function capitalize(name) {
  const words = String(name).replaceAll("_", " ").replace(/^task:/, "");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

export function truncate(text, maxLength) {
  const characters = [...text]; // by code point: a surrogate pair stays whole
  return characters.length > maxLength ? `${characters.slice(0, maxLength - 1).join("").trimEnd()}…` : text;
}

export function formatNumber(number) {
  return number.toLocaleString("en");
}

export function formatCount(number, singular, plural = `${singular}s`) {
  return `${formatNumber(number)} ${number === 1 ? singular : plural}`;
}

/** `used` may exceed `limit`: retries that a person asks for are not limited. */
export function formatRetries(used, limit) {
  return used > limit ? `no retries left (limit ${limit})` : `${used} of ${formatCount(limit, "retry", "retries")} used`;
}

/** Dollars, with four decimals for small amounts. */
export function formatDollars(amount) {
  return `$${amount.toFixed(amount !== 0 && amount < 0.1 ? 4 : 2)}`;
}

export function formatPercent(value) {
  return value === null || value === undefined ? "–" : `${Math.round(value)}%`;
}
