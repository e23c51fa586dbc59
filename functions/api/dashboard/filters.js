/** The filters of a list of tasks; what there is to choose from is read where it is described. */

import { h } from "./dom.js";
import { STATUSES } from "./words.js";

export const FILTERS = ["search", "status", "type", "channel", "category"];
const TYPING = 300; // ms without a key until the search begins

export function filterBar({ api, signal, given, onChange }) {
  const fields = {
    search: h("input", {
      id: "search", type: "search", placeholder: "Description, ID or subject", autocomplete: "off",
      maxlength: "200", value: given.search, enterkeyhint: "search",
    }),
    status: choices("status", "Any status", Object.entries(STATUSES).map(([one, [label]]) => [one, label])),
    type: choices("type", "Any type", []),
    channel: choices("channel", "Any channel", []),
    category: choices("category", "Any category", []),
  };
  for (const name of FILTERS.slice(1)) choose(fields[name], given[name]);

  const values = () => Object.fromEntries(FILTERS.map((name) => [name, fields[name].value.trim()]));
  let timer = null;
  fields.search.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => onChange(values()), TYPING);
  });
  signal.addEventListener("abort", () => clearTimeout(timer)); // the page was left
  for (const name of FILTERS.slice(1)) {
    fields[name].addEventListener("change", () => onChange(values()));
  }
  learnChoices({ api, signal, fields }).catch(() => {}); // what is chosen from is not what is shown

  const node = h("form", { class: "filters", role: "search", "aria-label": "Filter tasks" },
    FILTERS.map((name) => h("label", { class: `filter ${name}` },
      h("span", { class: "unseen" }, name), fields[name])));
  node.addEventListener("submit", (event) => event.preventDefault());
  return { node, values };
}

function choices(name, any, listed) {
  const node = h("select", { id: `filter-${name}` }, h("option", { value: "" }, any));
  for (const [value, label] of listed) node.append(h("option", { value }, label));
  return node;
}

/** Also a value that is not, or not yet, listed: the address may name it. */
function choose(field, value) {
  if (value && ![...field.options].some((one) => one.value === value)) {
    field.append(h("option", { value }, value));
  }
  field.value = value;
}

async function learnChoices({ api, signal, fields }) {
  const [described, policies] = await Promise.all([
    api.get("/openapi.json", { signal }), api.get("/policies", { signal }),
  ]);
  const { properties } = described.paths["/tasks"].post.requestBody.content["application/json"].schema;
  const named = new Set(policies.items.flatMap((one) => one.categories.map(({ name }) => name)));
  offer(fields.type, listed(properties.type));
  offer(fields.channel, listed(properties.channel));
  offer(fields.category, [...named].sort());
}

function listed(schema) {
  return schema?.enum || (schema?.anyOf || []).flatMap((one) => one.enum || []);
}

function offer(field, values) {
  const known = new Set([...field.options].map((one) => one.value));
  for (const value of values) {
    if (!known.has(value)) field.append(h("option", { value }, value));
  }
}
