/**
 * Reviewing by keys: numbers choose an answer in the field at hand, j and k go to the next field and back, s submits.
 * Letters are text in the reason and in another value, so Ctrl+Enter submits from there.
 */

import { isWriting, Shortcuts } from "./shortcuts.js";
import { DeviceStore } from "./storage.js";

/** @param {HTMLInputElement} toggle what switches single keys off */
export function reviewByKeys(toggle) {
  new Shortcuts(new DeviceStore("console"), toggle, (key) => {
    if (key === "j" || key === "k") return go(key === "j" ? 1 : -1);
    if (key === "r") return focus(document.getElementById("review-reason"));
    if (key === "s") return submit();
    return choose(Number(key));
  });
  const form = document.getElementById("review-form");
  form?.addEventListener("input", (event) => chooseTyped(event.target));
  form?.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.isComposing || event.repeat) return;
    event.preventDefault();
    submit();
  });
}

/** A typed value counts only if its option is chosen, so typing chooses it. @param {EventTarget | null} target */
function chooseTyped(target) {
  if (!(target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement) || !isWriting(target)) return;
  const option = target.closest("[data-decide]")?.querySelector("input[type=radio][value=other]");
  if (option instanceof HTMLInputElement && target.value) option.checked = true;
}

/** @returns {HTMLElement[]} */
function fields() {
  return [...document.querySelectorAll("[data-decide]")].filter((each) => each instanceof HTMLElement);
}

/** @returns {number} the field that has the focus; the first one if none has */
function here() {
  return Math.max(0, fields().findIndex((each) => each.contains(document.activeElement)));
}

/** @param {number} by */
function go(by) {
  const all = fields();
  const inside = all.some((each) => each.contains(document.activeElement));
  const next = all[Math.min(all.length - 1, Math.max(0, here() + (inside ? by : 0)))];
  return focus(next?.querySelector("input:checked") ?? next?.querySelector("input") ?? null);
}

/** @param {number} number */
function choose(number) {
  const option = fields()[here()]?.querySelectorAll("input[type=radio]")[number - 1];
  if (!(option instanceof HTMLInputElement)) return false;
  option.checked = true;
  return focus(option);
}

/** @param {Element | null} element */
function focus(element) {
  if (element instanceof HTMLElement) element.focus();
  return element !== null;
}

function submit() {
  const form = document.getElementById("review-form");
  if (form instanceof HTMLFormElement) form.requestSubmit();
  return form !== null;
}
