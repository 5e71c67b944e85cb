/**
 * A task's form: filled from an item, read into an answer, kept as a draft.
 *
 * Item text goes into the page through `textContent` only.
 *
 * @typedef {HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement} Control
 * @typedef {{kind: "text" | "quote" | "question", text: string}} RecapLine
 * @typedef {{lines: RecapLine[], answer: string}} Recap what was asked and answered, in words
 *
 * A task may have its own ES module. Functions of the module:
 *
 * - `draft` returns the draft to save, if the module keeps more than the answer that `collect` returns.
 * - `problem` returns the reason why the answer cannot be sent; `point` then moves the focus to the place. In a form
 *   with two steps, `problem` is called in the second step only.
 * - `submitted` is called when the answer is being sent.
 * - `request` is called by the Submit button, if the form itself decides when it is complete. It then calls
 *   `api.submit`, or `api.complain` with the reason why not.
 * - `revealed` is called with the whole item when the first answer of a form in two steps is stored.
 *
 * Values and functions that the module gets:
 *
 * - `api.id` is the ID of the assignment.
 * - `api.draft` is the saved draft.
 * - `api.suggestion` is an answer to fill in if there is no draft, or null.
 * - `api.arrangement` is the order that the task's `arrange` returned for this worker and item.
 * - `api.bonuses` has the bonus for each number of parts of an answer, in words.
 * - `api.memory` stores values on this device, for this worker only.
 * - `api.ownButton(true)` hides the Submit button of a page that has its own.
 *
 * @typedef {{get: (name: string) => any, set: (name: string, value: any) => void}} TaskMemory
 * @typedef {{
 *   id: string, draft: any, suggestion: any, arrangement: any, changed: () => void, submit: () => void,
 *   complain: (message: string) => void, ownButton: (own: boolean) => void, memory: TaskMemory, bonuses: string[],
 * }} TaskApi
 * @typedef {{
 *   mount: (root: HTMLElement, item: Object<string, any>, api: TaskApi) => void,
 *   collect: (root: HTMLElement) => any,
 *   draft?: (root: HTMLElement) => any,
 *   compare?: (details: any) => Node,
 *   problem?: (root: HTMLElement) => string | null,
 *   revealed?: (root: HTMLElement, item: Object<string, any>) => void,
 *   point?: (root: HTMLElement) => void,
 *   recap?: (root: HTMLElement) => Recap,
 *   request?: (root: HTMLElement) => void,
 *   submitted?: (root: HTMLElement) => void,
 *   unmount?: (root: HTMLElement) => void,
 * }} TaskModule
 */

import { say, sayList } from "./say.js";

/**
 * A form in two steps: the fields in `fields` are answered and stored first. Elements with `data-reveal` are hidden, and
 * their fields disabled, until the rest of the item has arrived. Elements with `data-before-reveal` are hidden from then
 * on.
 *
 * @typedef {{fields: string[], answer: Object<string, any> | null}} FirstStep `answer` is the stored answer; null before it is stored
 */

const TOGGLES = new Set(["radio", "checkbox"]);

/**
 * @param {ParentNode} root
 * @returns {Control[]} the named fields
 */
function controls(root) {
  return [...root.querySelectorAll("input[name], textarea[name], select[name]")];
}

/** @param {Control} control */
const isToggle = (control) => TOGGLES.has(control.type);

/**
 * Fill the elements with `data-text` with the item's fields.
 *
 * @param {ParentNode} root
 * @param {Object<string, any>} item
 */
export function fill(root, item) {
  for (const element of root.querySelectorAll("[data-text]")) {
    element.textContent = inWords(item[element.dataset.text]);
    if (!element.hasAttribute("dir")) element.setAttribute("dir", "auto");
  }
}

/** @param {any} value */
function inWords(value) {
  if (value === undefined || value === null) return "";
  if (Array.isArray(value)) return sayList(value.map(inWords));
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/**
 * The answer in the form: the value of the field `answer`, or an object of several named fields.
 *
 * @param {ParentNode} root
 * @returns {any}
 */
export function collect(root) {
  /** @type {Map<string, Control[]>} */
  const byName = new Map();
  for (const control of controls(root)) {
    byName.set(control.name, [...(byName.get(control.name) ?? []), control]);
  }
  const answer = Object.fromEntries([...byName].map(([name, group]) => [name, valueOf(group)]));
  return byName.size === 1 && byName.has("answer") ? answer.answer : answer;
}

/**
 * Show the current step of a form in two steps: stored first answers are filled in and disabled.
 *
 * @param {ParentNode} root
 * @param {FirstStep} step
 */
export function showStep(root, step) {
  for (const part of root.querySelectorAll("[data-reveal]")) part.hidden = step.answer === null;
  for (const part of root.querySelectorAll("[data-before-reveal]")) part.hidden = step.answer !== null;
  for (const control of controls(root)) {
    const first = step.fields.includes(control.name);
    control.disabled = first === (step.answer !== null);
    if (!first || step.answer === null) continue;
    const value = step.answer[control.name];
    if (isToggle(control)) control.checked = Array.isArray(value) ? value.includes(control.value) : value === control.value || value === true;
    else control.value = inWords(value);
  }
}

/**
 * Fill in a suggested answer, in the format of `collect`.
 *
 * @param {ParentNode} root
 * @param {any} answer null if there is no suggestion
 */
export function suggest(root, answer) {
  if (answer === null) return;
  const named = typeof answer === "object" && !Array.isArray(answer) ? answer : { answer };
  for (const control of controls(root)) {
    const value = named[control.name];
    if (value === undefined || value === null) continue;
    if (isToggle(control)) control.checked = [value].flat().map(String).includes(control.value) || value === true;
    else control.value = inWords(value);
  }
}

/**
 * @param {Control[]} group fields of one name
 * @returns {any}
 */
function valueOf(group) {
  const [first] = group;
  if (first.type === "radio") return group.find((control) => control.checked)?.value ?? null;
  if (first.type === "checkbox") {
    const checked = group.filter((control) => control.checked).map((control) => control.value);
    return group.length === 1 ? checked.length === 1 : checked;
  }
  if (group.length > 1) return group.map((control) => valueOf([control]));
  if (first.type === "select-multiple") return [...first.selectedOptions].map((option) => option.value);
  if (first.type === "number") return first.value === "" ? null : Number(first.value);
  return first.value;
}

/**
 * @param {ParentNode} root
 * @returns {[string, string | boolean | string[]][]} the state of every field, for a draft
 */
export function readDraft(root) {
  return controls(root).map((control) => {
    if (isToggle(control)) return [`${control.name}=${control.value}`, control.checked];
    if (control.type === "select-multiple") {
      return [control.name, [...control.selectedOptions].map((option) => option.value)];
    }
    return [control.name, control.value];
  });
}

/**
 * @param {ParentNode} root
 * @param {any} draft the result of `readDraft`, possibly from an older form: values that do not fit are ignored
 */
export function restoreDraft(root, draft) {
  if (!Array.isArray(draft)) return;
  controls(root).forEach((control, index) => {
    const [name, value] = draft[index] ?? [];
    if (isToggle(control)) {
      if (name === `${control.name}=${control.value}`) control.checked = value === true;
    } else if (name !== control.name) {
      return;
    } else if (control.type === "select-multiple") {
      for (const option of control.options) option.selected = Array.isArray(value) && value.includes(option.value);
    } else if (typeof value === "string") {
      control.value = value;
    }
  });
}

/**
 * The first problem that prevents submitting the form.
 *
 * @param {ParentNode} root
 * @returns {{control: Control, message: string} | null}
 */
export function firstProblem(root) {
  const control = controls(root).find((candidate) => !candidate.checkValidity());
  if (!control) return null;
  const missing = control.validity.valueMissing;
  if (missing && isToggle(control)) return { control, message: say("Choose an answer first.") };
  return { control, message: missing ? say("Write an answer first.") : control.validationMessage };
}

/**
 * The option a key stands for: by its `data-key`, or by its number in the group in focus. If no field of the form is in
 * focus, the first group is used. A number pressed on a slider or a ranking must not change another answer.
 *
 * @param {ParentNode} root
 * @param {string} key
 * @returns {HTMLInputElement | null}
 */
export function optionFor(root, key) {
  const options = /** @type {HTMLInputElement[]} */ (controls(root).filter((control) => isToggle(control) && !control.disabled));
  const named = options.find((option) => option.dataset.key?.toLowerCase() === key.toLowerCase());
  if (named || !/^[1-9]$/.test(key)) return named ?? null;
  const field = document.activeElement?.closest("fieldset, [data-field]") ?? null;
  const group = (root.contains(field) ? options.find((option) => field?.contains(option)) : options[0])?.name;
  return options.filter((option) => option.name === group)[Number(key) - 1] ?? null;
}

/**
 * Show each option's key next to it, also to assistive technology.
 *
 * @param {ParentNode} root
 */
export function addKeyHints(root) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const option of controls(root).filter(isToggle)) {
    const number = (counts.get(option.name) ?? 0) + 1;
    counts.set(option.name, number);
    const first = counts.size === 1 && number < 10 ? [String(number)] : [];
    const keys = [...(option.dataset.key ? [option.dataset.key.toUpperCase()] : []), ...first];
    if (keys.length === 0) continue;
    option.setAttribute("aria-keyshortcuts", keys.join(" "));
    const hint = document.createElement("kbd");
    hint.className = "key-hint";
    hint.setAttribute("aria-hidden", "true");
    hint.textContent = keys[0];
    option.closest("label")?.append(hint);
  }
}

/**
 * The question and answer in words, to show them again without the form.
 *
 * @param {ParentNode} root
 * @returns {Recap}
 */
export function recap(root) {
  const lines = [...root.querySelectorAll("[data-recap], [data-text], legend")].map((element) => ({
    kind: /** @type {RecapLine["kind"]} */ (
      element.matches("[data-text]") ? "quote" : element.matches("legend") ? "question" : "text"
    ),
    text: element.textContent.trim(),
  }));
  const answer = controls(root)
    .map((control) => (isToggle(control) ? (control.checked ? labelText(control) : "") : control.value.trim()))
    .filter((text) => text !== "")
    .join("; ");
  return { lines: lines.filter((line) => line.text !== ""), answer };
}

/** @param {Control} control */
function labelText(control) {
  const label = control.closest("label") ?? control.labels?.[0];
  return label?.querySelector("span")?.textContent.trim() || label?.textContent.trim() || control.value;
}
