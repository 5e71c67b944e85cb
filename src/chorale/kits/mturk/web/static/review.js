/** Reviewing by keys: j and k move between answers, x selects, a, r and b act on the selected ones. */

import { Shortcuts } from "../shortcuts.js";
import { DeviceStore } from "../storage.js";

const form = /** @type {HTMLFormElement | null} */ (document.getElementById("review"));
const answers = /** @type {HTMLInputElement[]} */ ([...document.querySelectorAll("[data-answer]")]);
const toggle = document.getElementById("answer-keys");
const reason = /** @type {HTMLInputElement | null} */ (document.getElementById("review-reason"));
const amount = /** @type {HTMLInputElement | null} */ (document.getElementById("review-amount"));
let at = -1;

document.getElementById("choose-page")?.addEventListener("change", (event) => {
  for (const answer of answers) answer.checked = /** @type {HTMLInputElement} */ (event.target).checked;
});
answers.forEach((answer, place) => answer.addEventListener("focus", () => (at = place)));
if (toggle instanceof HTMLInputElement && form) new Shortcuts(new DeviceStore("console"), toggle, pressed);

/**
 * @param {string} key
 * @returns {boolean} whether it was meant for something
 */
function pressed(key) {
  if (key === "j" || key === "k") {
    at = Math.min(answers.length - 1, Math.max(0, at + (key === "j" ? 1 : -1)));
    answers[at]?.focus();
  } else if (key === "x" && answers[at]) {
    answers[at].checked = !answers[at].checked;
  } else if (key === "a") {
    choose();
    press("approve");
  } else if (key === "r") {
    choose();
    if (reason?.value.trim()) press("reject");
    else reason?.focus();
  } else if (key === "b") {
    choose();
    if (!amount?.value.trim()) amount?.focus();
    else if (!reason?.value.trim()) reason?.focus();
    else press("bonus");
  } else return false;
  return true;
}

/** If no answer is selected, use the one that has the focus. */
function choose() {
  if (answers[at] && !answers.some((answer) => answer.checked)) answers[at].checked = true;
}

/** @param {string} deed */
function press(deed) {
  /** @type {HTMLButtonElement | null | undefined} */ (form?.querySelector(`button[value=${deed}]`))?.click();
}
