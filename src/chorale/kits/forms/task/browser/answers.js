/** The answers to an item side by side, for reviewers. The selected answer of a row is copied to the field below. */

import { make } from "./field.js";
import { say } from "/static/say.js";

/**
 * @param {HTMLElement} place
 * @param {Object<string, {value: any, words: string}>[]} answers
 * @param {(name: string) => boolean} isAsked whether the reviewer decides the field
 * @param {(name: string, value: any) => void} take
 */
export function showAnswers(place, answers, isAsked, take) {
  const rows = JSON.parse(place.dataset.answers ?? "[]");
  place.replaceChildren(
    make("h2", { class: "pair-label", text: say("Answers side by side") }),
    ...rows.map((row) => (isAsked(row.name) ? choiceRow(row, answers, take) : textRow(row, answers))),
  );
  place.hidden = false;
}

/**
 * Forget which answer was chosen for a field, after it was changed by hand.
 *
 * @param {HTMLElement} place
 * @param {string} name
 */
export function forgetChoice(place, name) {
  for (const input of place.querySelectorAll("input")) if (input.name === nameOf(name)) input.checked = false;
}

/** @param {string} name */
const nameOf = (name) => `answer-to-${name}`;

/**
 * @param {{name: string, ask: string}} row
 * @param {Object<string, {value: any, words: string}>[]} answers
 * @param {(name: string, value: any) => void} take
 */
function choiceRow({ name, ask }, answers, take) {
  const options = answers.map((answer, number) => {
    const input = /** @type {HTMLInputElement} */ (make("input", { type: "radio", name: nameOf(name), value: number }));
    input.addEventListener("change", () => take(name, answer[name]?.value));
    return make("label", {}, input, " ", make("span", {}, ...cell(answer[name], number)));
  });
  return make("fieldset", { class: "choices form-given" }, make("legend", { text: ask }), ...options);
}

/**
 * @param {{name: string, ask: string}} row
 * @param {Object<string, {value: any, words: string}>[]} answers
 */
function textRow({ name, ask }, answers) {
  const texts = answers.map((answer, number) => make("p", { class: "form-given-text" }, ...cell(answer[name], number)));
  return make("div", { class: "form-given" }, make("p", { class: "form-asked", text: ask }), ...texts);
}

/**
 * @param {{words: string} | undefined} given
 * @param {number} number
 */
function cell(given, number) {
  return [
    make("span", { class: "pair-label", text: say("Answer {number}", { number: number + 1 }) }),
    " ",
    make("span", { dir: "auto", text: given?.words || say("none") }),
  ];
}
