/**
 * Inputs for settings, made from their descriptions, and the values in them.
 *
 * A table is a plain object of values, as TOML has them. Each entry of a list of tables records whether the file has it
 * as plain text (`"polite"` for `{value = "polite"}`), and its position in the file (null for a new entry).
 *
 * @typedef {{name: string, kind: string, help: string, required: boolean, default?: any, values?: string[], of?: string,
 *   settings?: Setting[], entry?: string, used_with?: Object<string, string[]>}} Setting
 * @typedef {{values: Object<string, any>, plain: boolean, origin: number | null}} Entry
 */

let count = 0;

/**
 * @param {string} tag
 * @param {Object<string, any>} [properties]
 * @param {...(Node | string)} children
 * @returns {any}
 */
export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.includes("-") || name === "role") element.setAttribute(name, value);
    else element[name] = value;
  }
  element.append(...children);
  return element;
}

/**
 * @param {Setting[]} settings
 * @param {any} raw
 * @returns {Object<string, any>}
 */
export function read(settings, raw) {
  /** @type {Object<string, any>} */
  const values = { ...raw };
  for (const setting of settings) {
    const value = values[setting.name];
    if (value === undefined) continue;
    if (setting.kind === "tables") values[setting.name] = value.map((/** @type {any} */ each, /** @type {number} */ place) => entry(setting, each, place));
    if (setting.kind === "table") values[setting.name] = read(setting.settings ?? [], value);
  }
  return values;
}

/**
 * @param {Setting} setting
 * @param {any} raw
 * @param {number | null} origin
 * @returns {Entry}
 */
export function entry(setting, raw, origin) {
  const plain = typeof raw === "string";
  const [first] = setting.settings ?? [];
  return { values: read(setting.settings ?? [], plain ? { [first.name]: raw } : raw), plain, origin };
}

/**
 * The values to send, without empty ones.
 *
 * @param {Setting[]} settings
 * @param {Object<string, any>} values
 * @returns {Object<string, any>}
 */
export function written(settings, values) {
  /** @type {Object<string, any>} */
  const table = {};
  const known = new Map(settings.map((setting) => [setting.name, setting]));
  for (const [name, value] of Object.entries(values)) {
    const setting = known.get(name);
    if (value === undefined || !isUsed(setting, values)) continue;
    if (setting?.kind === "tables") table[name] = value.map((/** @type {Entry} */ each) => writtenEntry(setting, each));
    else if (setting?.kind === "table") {
      const inner = written(setting.settings ?? [], value);
      if (Object.keys(inner).length) table[name] = inner;
    } else table[name] = value;
  }
  return table;
}

/**
 * @param {Setting} setting
 * @param {Entry} each
 */
function writtenEntry(setting, each) {
  const [first] = setting.settings ?? [];
  const table = written(setting.settings ?? [], each.values);
  const names = Object.keys(table);
  return each.plain && names.length === 1 && names[0] === first.name ? table[first.name] : table;
}

/**
 * Whether a setting applies, given the others: `options` does not for a scale.
 *
 * @param {Setting | undefined} setting
 * @param {Object<string, any>} values
 */
export function isUsed(setting, values) {
  return Object.entries(setting?.used_with ?? {}).every(([name, allowed]) => allowed.includes(values[name] ?? ""));
}

/** @param {string} name */
export const spoken = (name) => name.replaceAll("_", " ").replace(/^./, (letter) => letter.toUpperCase());

/**
 * The input of one setting, with its label, help and a place for its problems.
 *
 * @param {Setting} setting
 * @param {Object<string, any>} values the table it is in
 * @param {(string | number)[]} path
 * @param {{changed: (structure: boolean) => void, places: Map<string, HTMLElement>}} context
 * @returns {HTMLElement}
 */
export function field(setting, values, path, context) {
  const id = `setting-${(count += 1)}`;
  const wrong = make("p", { className: "error", id: `${id}-error` });
  context.places.set(JSON.stringify(path), wrong);
  const hint = make("p", { className: "hint small", id: `${id}-hint` }, ...helped(setting.help));
  if (setting.kind === "tables") return rows(setting, values, path, context, hint, wrong);
  if (setting.kind === "table") return table(setting, values, path, context, hint, wrong);
  const input = control(setting, values, context);
  Object.assign(input, { id });
  input.setAttribute("aria-describedby", `${wrong.id} ${hint.id}`);
  const name = spoken(setting.name) + (setting.required ? "" : setting.kind === "switch" ? "" : " (optional)");
  if (setting.kind === "switch") {
    return make("div", { className: "field" }, make("label", { className: "check" }, input, make("span", {}, name)), wrong, hint);
  }
  return make("div", { className: "field" }, make("label", { htmlFor: id }, name), input, wrong, hint);
}

/**
 * Help as text; text in backquotes becomes code.
 *
 * @param {string} help
 */
function helped(help) {
  return help.split("`").map((part, place) => (place % 2 ? make("code", {}, part) : part));
}

/**
 * @param {Setting} setting
 * @param {Object<string, any>} values
 * @param {{changed: (structure: boolean) => void}} context
 */
function control(setting, values, context) {
  const { name } = setting;
  const now = values[name];
  /** @param {any} value @param {boolean} [structure] */
  const set = (value, structure = false) => {
    if (value === undefined) delete values[name];
    else values[name] = value;
    context.changed(structure);
  };
  if (setting.kind === "switch") {
    const input = make("input", { type: "checkbox", checked: now ?? setting.default ?? false });
    input.addEventListener("change", () => set(input.checked === (setting.default ?? false) && now === undefined ? undefined : input.checked));
    return input;
  }
  if (setting.kind === "choice") {
    const input = make("select");
    if (!setting.required) input.append(make("option", { value: "" }, setting.default === undefined ? "Default" : `Default: ${setting.default}`));
    for (const value of setting.values ?? []) input.append(make("option", { value }, value));
    input.value = now ?? "";
    input.addEventListener("change", () => set(input.value || undefined, true));
    return input;
  }
  if (setting.kind === "list") {
    const input = make("textarea", { rows: 2, value: (Array.isArray(now) ? now : now === undefined ? [] : [now]).map((each) => quoted(setting, each)).join("\n") });
    input.placeholder = "One per line";
    input.addEventListener("input", () => {
      const lines = input.value.split("\n").map((/** @type {string} */ line) => line.trim()).filter(Boolean);
      const list = lines.map((/** @type {string} */ line) => parsed(setting.of ?? "text", line));
      set(list.length === 0 ? undefined : setting.of === "text_or_number" && list.length === 1 ? list[0] : list);
    });
    return input;
  }
  const type = setting.kind === "number" ? "number" : setting.kind === "date" ? "date" : "text";
  const input = make("input", { type, value: now ?? "", ...(type === "number" ? { step: "any" } : {}) });
  input.addEventListener("input", () => {
    if (type === "number") set(input.value === "" ? undefined : Number(input.value));
    else set(input.value === "" && !setting.required ? undefined : input.value);
  });
  return input;
}

/** A text that looks like a number is in quotes if the setting also accepts numbers.
 *
 * @param {Setting} setting
 * @param {any} value
 */
function quoted(setting, value) {
  return setting.of === "text_or_number" && typeof value === "string" && isNumber(value) ? `"${value}"` : String(value);
}

/** @param {string} text */
const isNumber = (text) => /^-?\d+(\.\d+)?$/.test(text);

/**
 * @param {string} kind
 * @param {string} line
 */
function parsed(kind, line) {
  if (kind === "number" && isNumber(line)) return Number(line);
  if (kind !== "text_or_number") return line;
  if (isNumber(line)) return Number(line);
  return /^".*"$/.test(line) ? line.slice(1, -1) : line;
}

/**
 * @param {Setting} setting
 * @param {Object<string, any>} values
 * @param {(string | number)[]} path
 * @param {any} context
 * @param {HTMLElement} hint
 * @param {HTMLElement} wrong
 */
function table(setting, values, path, context, hint, wrong) {
  const inner = (values[setting.name] ??= {});
  const inputs = (setting.settings ?? []).map((each) => field({ ...each, required: false }, inner, [...path, each.name], context));
  return make("fieldset", { className: "design-table stack stack-s" }, make("legend", {}, `${spoken(setting.name)} (optional)`), hint, wrong, ...inputs);
}

/**
 * A list of small tables, one row each.
 *
 * @param {Setting} setting
 * @param {Object<string, any>} values
 * @param {(string | number)[]} path
 * @param {any} context
 * @param {HTMLElement} hint
 * @param {HTMLElement} wrong
 */
function rows(setting, values, path, context, hint, wrong) {
  /** @type {Entry[]} */
  const entries = values[setting.name] ?? [];
  const called = setting.entry ?? "entry";
  const list = make("ul", { className: "design-rows" });
  entries.forEach((each, place) => {
    const inputs = (setting.settings ?? []).map((inner) => {
      const made = field(inner, each.values, [...path, place, inner.name], context);
      made.querySelector(".hint")?.remove();
      return made;
    });
    const remove = make("button", { type: "button", className: "button button-small" }, "Remove", make("span", { className: "visually-hidden" }, ` ${called} ${place + 1}`));
    remove.addEventListener("click", () => {
      entries.splice(place, 1);
      if (entries.length === 0) delete values[setting.name];
      context.changed(true);
    });
    const whole = make("p", { className: "error" });
    context.places.set(JSON.stringify([...path, place]), whole);
    list.append(make("li", {}, ...inputs, make("div", {}, remove, whole)));
  });
  const add = make("button", { type: "button", className: "button button-small" }, `Add ${called}`);
  add.addEventListener("click", () => {
    const plain = entries.every((each) => each.plain);
    values[setting.name] = [...entries, { values: { [setting.settings?.[0].name ?? ""]: "" }, plain, origin: null }];
    context.changed(true, () => [...document.querySelectorAll(`#${list.id} input`)].at(-((setting.settings ?? []).length)));
  });
  list.id = `rows-${path.join("-")}`;
  const legend = make("legend", {}, spoken(setting.name));
  return make("fieldset", { className: "design-table stack stack-s" }, legend, hint, wrong, list, make("p", {}, add));
}
