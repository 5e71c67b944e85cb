/**
 * Two questions side by side, in random order per worker. The answer identifies the question, not its position.
 *
 * @typedef {{draft: any, arrangement: {order: string[]} | null}} Api
 */

import { say } from "/static/say.js";

/** @type {Object<string, string>} what is asked, in the language of the page */
const ASKED = {
  "Which question is less ambiguous?": say("Which question is less ambiguous?"),
  "Which question is more difficult?": say("Which question is more difficult?"),
  "Which question is more creative?": say("Which question is more creative?"),
  "Which question has the more misleading options?": say("Which question has the more misleading options?"),
};

/**
 * @param {HTMLElement} root
 * @param {Object<string, any>} item
 * @param {Api} api
 */
export function mount(root, item, { draft, arrangement }) {
  root.querySelector("legend").textContent = ASKED[item.asked] ?? item.asked;
  const sides = [...root.querySelectorAll("[data-side]")];
  const order = arrangement?.order ?? ["first", "second"];
  const ordered = order.map((name) => sides.find((side) => side.dataset.side === name));
  ordered.forEach((side, place) => {
    side.parentElement.append(side);
    side.querySelector(".mcq-letter").textContent = "AB"[place];
    side.querySelector("input").checked = draft === side.dataset.side;
  });
}

/**
 * @param {HTMLElement} root
 * @returns {string | null}
 */
export const collect = (root) => root.querySelector("input:checked")?.value ?? null;

/** @param {HTMLElement} root */
export function recap(root) {
  const chosen = root.querySelector("input:checked")?.closest("label");
  const quoted = [...root.querySelectorAll(".kept-text")].map((text) => ({ kind: "quote", text: text.textContent }));
  const asked = { kind: "question", text: root.querySelector("legend").textContent };
  // Every question and every option on a line of its own, as in the form.
  const candidates = [...root.querySelectorAll(".mcq-ask, .mcq-option")].map((one) => ({
    kind: one.matches(".mcq-ask") ? "text" : "question",
    text: inOneLine(one),
  }));
  return { lines: [...quoted, asked, ...candidates], answer: chosen ? inOneLine(chosen.querySelector(".mcq-ask")) : "" };
}

/** @param {Element} element */
const inOneLine = (element) => element.textContent.replace(/\s+/g, " ").trim();
