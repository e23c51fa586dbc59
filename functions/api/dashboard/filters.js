/** The filters of the task list. The choices come from the API's description and policies. */

import { h } from "./dom.js";
import { STATUSES } from "./labels.js";

export const FILTERS = ["search", "status", "type", "channel", "category"];
const SEARCH_DELAY = 300; // ms after the last key

export function createFilterBar({ api, signal, initial, onChange }) {
  const fields = {
    search: h("input", {
      id: "search", type: "search", placeholder: "Description, ID or subject", autocomplete: "off",
      maxlength: "200", value: initial.search, enterkeyhint: "search",
    }),
    status: renderSelect("status", "Any status", Object.entries(STATUSES).map(([value, [label]]) => [value, label])),
    type: renderSelect("type", "Any type", []),
    channel: renderSelect("channel", "Any channel", []),
    category: renderSelect("category", "Any category", []),
  };
  for (const name of FILTERS.slice(1)) selectValue(fields[name], initial[name]);

  const getValues = () => Object.fromEntries(FILTERS.map((name) => [name, fields[name].value.trim()]));
  let timer = null;
  fields.search.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => onChange(getValues()), SEARCH_DELAY);
  });
  signal.addEventListener("abort", () => clearTimeout(timer)); // the user left the page
  for (const name of FILTERS.slice(1)) {
    fields[name].addEventListener("change", () => onChange(getValues()));
  }
  loadChoices({ api, signal, fields }).catch(() => {}); // without choices the list still works

  const node = h("form", { class: "filters", role: "search", "aria-label": "Filter tasks" },
    FILTERS.map((name) => h("label", { class: `filter ${name}` },
      h("span", { class: "visually-hidden" }, name), fields[name])));
  node.addEventListener("submit", (event) => event.preventDefault());
  return { node, getValues };
}

function renderSelect(name, anyLabel, choices) {
  const node = h("select", { id: `filter-${name}` }, h("option", { value: "" }, anyLabel));
  for (const [value, label] of choices) node.append(h("option", { value }, label));
  return node;
}

/** Select a value. The address may name a value that is not listed yet: then it is added. */
function selectValue(field, value) {
  if (value) addOptions(field, [value]);
  field.value = value;
}

async function loadChoices({ api, signal, fields }) {
  const [description, policies] = await Promise.all([
    api.get("/openapi.json", { signal }), api.get("/policies", { signal }),
  ]);
  const { properties } = description.paths["/tasks"].post.requestBody.content["application/json"].schema;
  const categories = new Set(policies.items.flatMap((policy) => policy.categories.map(({ name }) => name)));
  addOptions(fields.type, getEnum(properties.type));
  addOptions(fields.channel, getEnum(properties.channel));
  addOptions(fields.category, [...categories].sort());
}

function getEnum(schema) {
  return schema?.enum || (schema?.anyOf || []).flatMap((variant) => variant.enum || []);
}

function addOptions(field, values) {
  const existing = new Set([...field.options].map((option) => option.value));
  for (const value of values) {
    if (!existing.has(value)) field.append(h("option", { value }, value));
  }
}
