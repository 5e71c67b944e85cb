/** The design page: settings of a form, checked and previewed while they are edited, and saved to the study file. */

import { entry, field, isUsed, make, read, spoken, written } from "./design_settings.js";

/** @typedef {import("./design_settings.js").Setting} Setting */
/** @typedef {import("./design_settings.js").Entry} Entry */
/** @typedef {{name: string, title: string, shares: string | null, options: Object<string, any>, settings: Setting[]}} Stage */

const PAUSE_MS = 300;
/** @param {string} id @returns {any} */
const byId = (id) => document.getElementById(id);
const base = byId("design").dataset.base;
/** Where problems are shown, by the place of the setting. @type {Map<string, HTMLElement>} */
const places = new Map();
/** Cards that are open, by the values in them, also after they have moved. @type {WeakSet<Object>} */
const opened = new WeakSet();

let digest = "";
/** @type {Stage[]} */
let stages = [];
/** @type {Stage} */
let stage;
/** The settings of the stage that is shown. @type {Object<string, any>} */
let values = {};
let changed = false;
let timer = 0;
let asked = 0;

window.addEventListener("beforeunload", (event) => {
  if (changed) event.preventDefault();
});
byId("narrow").addEventListener("change", () => byId("preview").classList.toggle("narrow", byId("narrow").checked));
byId("stage").addEventListener("change", chooseStage);
byId("save").addEventListener("click", save);
document.addEventListener("keydown", (event) => {
  if (event.key !== "s" || !(event.ctrlKey || event.metaKey)) return;
  event.preventDefault();
  save();
});

load();

async function load() {
  const reply = await ask("GET", "/state");
  if (reply === null) return;
  ({ digest, stages } = reply);
  byId("stage").replaceChildren(...stages.map(({ name, title }) => make("option", { value: name }, title === name ? name : `${name}: ${title}`)));
  const own = stages.find((each) => each.shares === null) ?? stages[0];
  byId("stage").value = own.name;
  show(own);
}

function chooseStage() {
  const chosen = stages.find((each) => each.name === byId("stage").value) ?? stages[0];
  if (changed && !window.confirm("Leave this stage without saving your changes?")) {
    byId("stage").value = stage.name;
    return;
  }
  show(chosen);
}

/** @param {Stage} next */
function show(next) {
  stage = next;
  values = read(stage.settings, structuredClone(stage.options));
  setChanged(false);
  byId("shares").hidden = stage.shares === null;
  byId("shares").textContent = stage.shares === null ? "" : `This stage uses the form of ${stage.shares}. Edit the fields there; settings here apply to this stage only.`;
  draw();
  check();
}

/** The settings a stage has here: one that shares a form has no lists of its own. */
function editable() {
  return stage.settings.filter((setting) => stage.shares === null || setting.kind !== "tables" || setting.name in values);
}

/** @param {() => Element | undefined | null} [focus] */
function draw(focus) {
  places.clear();
  const sections = editable().map((setting) => (setting.kind === "tables" ? cards(setting) : make("div", { className: "card" }, field(setting, values, [setting.name], { changed: edited, places }))));
  byId("settings").replaceChildren(...sections);
  const target = focus?.();
  if (target instanceof HTMLElement) target.focus();
}

/**
 * A list of tables: a card for each, to open, move and remove.
 *
 * @param {Setting} setting
 */
function cards(setting) {
  const called = setting.entry ?? "entry";
  /** @type {Entry[]} */
  const entries = (values[setting.name] ??= []);
  const wrong = make("p", { className: "error" });
  places.set(JSON.stringify([setting.name]), wrong);
  const add = make("button", { type: "button", className: "button" }, `Add ${called}`);
  add.addEventListener("click", () => {
    entries.push(entry(setting, firstValues(setting, entries), null));
    opened.add(entries[entries.length - 1]);
    edited(true, () => byId(cardId(setting, entries.length - 1))?.querySelector("input, select"));
  });
  const list = entries.map((each, place) => card(setting, entries, place));
  const title = make("h3", {}, spoken(setting.name));
  return make("section", { className: "stack stack-s" }, title, make("p", { className: "hint small" }, setting.help), wrong, ...list, make("p", {}, add));
}

/**
 * The initial values of a new entry: an unused name, and the first option of each choice.
 *
 * @param {Setting} setting
 * @param {Entry[]} entries
 */
function firstValues(setting, entries) {
  /** @type {Object<string, any>} */
  const first = {};
  for (const { name, required, kind, values: choices } of setting.settings ?? []) {
    if (!required) continue;
    first[name] = kind === "choice" ? (choices ?? [""])[0] : "";
  }
  if ("name" in first) {
    const taken = new Set(entries.map((each) => each.values.name));
    let number = entries.length + 1;
    while (taken.has(`${setting.entry}_${number}`)) number += 1;
    first.name = `${setting.entry}_${number}`;
  }
  return first;
}

/** @param {Setting} setting @param {number} place */
const cardId = (setting, place) => `card-${setting.name}-${place}`;

/**
 * @param {Setting} setting
 * @param {Entry[]} entries
 * @param {number} place
 */
function card(setting, entries, place) {
  const each = entries[place];
  const path = [setting.name, place];
  const usable = (setting.settings ?? []).filter((inner) => isUsed(inner, each.values));
  const isMain = (/** @type {Setting} */ inner) => inner.required || inner.used_with !== undefined || inner.name in each.values;
  const context = { changed: edited, places };
  const inputs = usable.filter(isMain).map((inner) => field(inner, each.values, [...path, inner.name], context));
  const rest = usable.filter((inner) => !isMain(inner)).map((inner) => field(inner, each.values, [...path, inner.name], context));
  const more = rest.length ? [make("details", { className: "design-more" }, make("summary", {}, "More settings"), make("div", { className: "stack stack-s" }, ...rest))] : [];
  const wrong = make("p", { className: "error" });
  places.set(JSON.stringify(path), wrong);
  const element = make("details", { className: "card design-card", id: cardId(setting, place), open: opened.has(each) });
  element.addEventListener("toggle", () => (element.open ? opened.add(each) : opened.delete(each)));
  element.append(make("summary", {}, ...headline(each)), make("div", { className: "stack" }, wrong, ...inputs, ...more, buttons(setting, entries, place)));
  return element;
}

/** @param {Entry} each */
function headline({ values: table }) {
  const [name, what] = [table.name ?? table.item ?? table.value ?? "", table.kind ?? table.look ?? ""];
  return [make("span", {}, name || "(no name yet)"), make("span", { className: "muted small" }, what)];
}

/**
 * @param {Setting} setting
 * @param {Entry[]} entries
 * @param {number} place
 */
function buttons(setting, entries, place) {
  const named = entries[place].values.name ?? entries[place].values.item ?? setting.entry;
  /**
   * @param {string} label
   * @param {boolean} possible
   * @param {() => void} act
   */
  const button = (label, possible, act) => {
    const made = make("button", { type: "button", className: "button button-small", disabled: !possible }, label, make("span", { className: "visually-hidden" }, ` ${named}`));
    made.addEventListener("click", act);
    return made;
  };
  /** @param {number} to */
  const move = (to) => {
    entries.splice(to, 0, ...entries.splice(place, 1));
    edited(true, () => {
      const moved = [...(byId(cardId(setting, to))?.querySelectorAll(".actions button") ?? [])];
      return moved.find((each) => !each.disabled && each.textContent.startsWith(to < place ? "Move up" : "Move down")) ?? moved.find((each) => !each.disabled);
    });
    say(`${named} is now number ${to + 1}.`);
  };
  const remove = () => {
    entries.splice(place, 1);
    edited(true, () => byId(cardId(setting, Math.min(place, entries.length - 1)))?.querySelector("summary") ?? byId("settings").querySelector("button"));
    say(`${named} removed.`);
  };
  return make("p", { className: "actions" }, button("Move up", place > 0, () => move(place - 1)), button("Move down", place < entries.length - 1, () => move(place + 1)), button("Remove", true, remove));
}

/**
 * Handle a change. Inputs that depend on it are recreated; the focus is kept.
 *
 * @param {boolean} structure
 * @param {() => Element | undefined | null} [focus]
 */
function edited(structure, focus) {
  setChanged(true);
  if (structure) {
    const active = document.activeElement;
    const at = active?.closest("details.design-card")?.id;
    const label = active?.closest(".field")?.querySelector("label")?.textContent;
    draw(focus ?? (() => [...(byId(at ?? "")?.querySelectorAll(".field") ?? [])].find((each) => each.querySelector("label")?.textContent === label)?.querySelector("input, select, textarea")));
  }
  clearTimeout(timer);
  timer = window.setTimeout(check, PAUSE_MS);
}

/** @param {boolean} now */
function setChanged(now) {
  changed = now;
  byId("save").disabled = !now;
  say(now ? "Not saved yet." : "No changes yet.");
}

/** @param {string} text */
function say(text) {
  byId("status").textContent = text;
}

function edit() {
  const lists = stage.settings.filter((setting) => setting.kind === "tables");
  const origins = Object.fromEntries(lists.filter(({ name }) => values[name]?.length).map(({ name }) => [name, values[name].map((/** @type {Entry} */ each) => each.origin)]));
  return { stage: stage.name, digest, options: written(stage.settings, values), origins };
}

async function check() {
  clearTimeout(timer);
  const number = (asked += 1);
  const reply = await ask("POST", "/draft", edit());
  if (reply === null || number !== asked) return;
  showProblems(reply);
  const wrong = !reply.shown;
  byId("preview-note").textContent = wrong ? "The preview shows the last valid version of the form." : "This is the page that workers see. Answers here are checked but not stored. Skip shows the next item.";
  if (!wrong || !byId("preview").src) byId("preview").src = `${base}/preview/${encodeURIComponent(stage.name)}?v=${reply.version}`;
}

/**
 * @param {{problems: {at: (string | number)[], message: string}[], elsewhere: string[]}} reply
 * @returns {number}
 */
function showProblems({ problems: given, elsewhere }) {
  const known = new Set(given.map(({ at }) => JSON.stringify(at)));
  const problems = [...given, ...namedTwice().filter(({ at }) => !known.has(JSON.stringify(at)))];
  for (const place of places.values()) mark(place, "");
  for (const element of document.querySelectorAll("[data-wrong]")) element.removeAttribute("data-wrong");
  /** @type {string[]} */
  const rest = [];
  for (const { at, message } of problems) {
    const place = nearest(at);
    if (place === undefined) rest.push(`${at.join(".")}: ${message}`);
    else mark(place, message);
  }
  fail(rest.join("\n"));
  byId("elsewhere").hidden = elsewhere.length === 0;
  byId("elsewhere-list").replaceChildren(...elsewhere.map((each) => make("li", {}, each)));
  return problems.length + elsewhere.length;
}

/** Names that are used twice. The server reports them only if each field is valid by itself. */
function namedTwice() {
  return stage.settings
    .filter(({ kind }) => kind === "tables")
    .flatMap(({ name: list, entry: called }) => {
      const names = (values[list] ?? []).map((/** @type {Entry} */ each) => each.values.name);
      const message = `Another ${called ?? "entry"} already has this name. Choose another name.`;
      return names.flatMap((/** @type {any} */ name, /** @type {number} */ place) => (name && names.indexOf(name) < place ? [{ at: [list, place, "name"], message }] : []));
    });
}

/** @param {(string | number)[]} at */
function nearest(at) {
  for (let length = at.length; length > 0; length -= 1) {
    const place = places.get(JSON.stringify(at.slice(0, length)));
    if (place) return place;
  }
  return undefined;
}

/**
 * @param {HTMLElement} place
 * @param {string} message
 */
function mark(place, message) {
  place.textContent = message && place.textContent ? `${place.textContent} ${message}` : message;
  const input = document.querySelector(`[aria-describedby~="${place.id}"]`);
  if (place.id && input) input.setAttribute("aria-invalid", String(message !== ""));
  if (message) place.closest("details.design-card")?.setAttribute("data-wrong", "");
  const more = place.closest("details.design-more");
  if (message && more instanceof HTMLDetailsElement) more.open = true;
}

/** @param {string} message */
function fail(message) {
  byId("failure").hidden = message === "";
  byId("failure").textContent = message;
}

async function save() {
  if (!changed) return;
  byId("save").disabled = true;
  say("Saving …");
  const sent = edit();
  const lists = stage.settings.filter((setting) => setting.kind === "tables").map(({ name }) => [...(values[name] ?? [])]);
  const reply = await ask("POST", "/save", sent);
  byId("save").disabled = false;
  if (reply === null) {
    say("Not saved.");
    return;
  }
  const wrong = showProblems(reply);
  if (!reply.saved) {
    say(wrong === 1 ? "Not saved: 1 problem to correct." : `Not saved: ${wrong} problems to correct.`);
    document.querySelector("#failure:not([hidden]), [data-wrong] > summary, #elsewhere")?.scrollIntoView({ block: "center" });
    return;
  }
  digest = reply.digest;
  const typedMeanwhile = JSON.stringify(edit().options) !== JSON.stringify(sent.options);
  stage.options = sent.options;
  // These are their positions in the saved file, even if entries were moved.
  for (const list of lists) list.forEach((each, place) => (each.origin = place));
  setChanged(typedMeanwhile);
  const rest = reply.elsewhere.length ? "Other files do not match the form yet." : "";
  say(["Saved to study.toml.", rest, reply.note ?? ""].filter(Boolean).join(" "));
}

/**
 * @param {"GET" | "POST"} method
 * @param {string} path
 * @param {any} [body]
 * @returns {Promise<any>} the reply; null after an error was shown
 */
async function ask(method, path, body) {
  try {
    const response = await fetch(base + path, {
      method,
      headers: { "Content-Type": "application/json", Accept: "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
      cache: "no-store",
    });
    const data = await response.json();
    if (response.ok) return data;
    fail(String(data?.error?.message ?? "The server did not answer as expected."));
  } catch {
    fail("No connection to the server. Your changes are still on this page.");
  }
  return null;
}
