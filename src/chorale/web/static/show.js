/**
 * Small page elements, made without HTML strings.
 *
 * @typedef {import("./form.js").Recap} Recap
 */

import { say } from "./say.js";

/**
 * @param {string} tag
 * @param {{class?: string, text?: string, id?: string}} [about]
 * @param {(Node | string)[]} [children]
 * @returns {HTMLElement}
 */
export function make(tag, about = {}, children = []) {
  const element = document.createElement(tag);
  if (about.class) element.className = about.class;
  if (about.id) element.id = about.id;
  if (about.text !== undefined) element.textContent = about.text;
  element.append(...children);
  return element;
}

/**
 * @param {string} text
 * @param {string} [classes]
 * @returns {HTMLButtonElement}
 */
export function makeButton(text, classes = "button") {
  const button = /** @type {HTMLButtonElement} */ (make("button", { class: classes, text }));
  button.type = "button";
  return button;
}

/**
 * @param {Recap} recap
 * @returns {HTMLElement}
 */
export function makeRecap(recap) {
  const box = make("div", { class: "recap" });
  for (const line of recap.lines) {
    const piece =
      line.kind === "quote"
        ? make("blockquote", { class: "phrase", text: line.text })
        : make("p", { class: line.kind === "question" ? "" : "pair-label", text: line.text });
    if (line.kind === "quote") piece.dir = "auto";
    box.append(piece);
  }
  if (recap.answer) box.append(make("p", {}, [say("Your answer:"), " ", make("span", { class: "recap-answer", text: recap.answer })]));
  return box;
}

/**
 * Fill a section with the explanation of a wrong answer, move the focus there and wait for Continue (or Enter).
 *
 * @param {HTMLElement} section
 * @param {Recap} recap
 * @param {string} explanation
 * @param {Node | null} [compared] the answer beside the expert's, as the task's module shows it, in place of the recap
 * @returns {Promise<void>}
 */
export async function showFeedback(section, recap, explanation, compared = null) {
  const title = make("h2", { id: "feedback-title", text: say("Not quite.") });
  title.tabIndex = -1;
  const button = makeButton(say("Continue"), "button button-primary");
  const hint = make("kbd", { class: "key-hint", text: "Enter" });
  hint.setAttribute("aria-hidden", "true");
  button.append(hint);
  section.replaceChildren(
    title,
    make("div", { class: "feedback-columns" }, [
      make("div", {}, [
        make("p", { class: "overline", text: say("Why") }),
        make("p", { class: "explanation" }, [make("bdi", { text: explanation })]),
      ]),
      ...(compared ? [] : [make("div", {}, [make("p", { class: "overline", text: say("The question") }), makeRecap(recap)])]),
    ]),
    ...(compared ? [compared] : []),
    make("p", { class: "actions" }, [button]),
  );
  section.hidden = false;
  title.focus();
  await confirmed(button);
  section.hidden = true;
  section.replaceChildren();
}

/**
 * Resolves when the worker presses the button or Enter. Ignores the second half of a double click or double Enter, meant for
 * the previous content.
 *
 * @param {HTMLButtonElement} button
 * @returns {Promise<void>}
 */
function confirmed(button) {
  button.disabled = true;
  setTimeout(() => {
    button.disabled = false;
  }, 400);
  return new Promise((resolve) => {
    const listening = new AbortController();
    const { signal } = listening;
    const done = () => {
      listening.abort();
      resolve();
    };
    button.addEventListener("click", done, { signal });
    document.addEventListener(
      "keydown",
      (event) => {
        const elsewhere = event.target instanceof Element && event.target.closest("a, button, input, summary, dialog");
        if (event.key !== "Enter" || event.repeat || event.defaultPrevented || elsewhere || button.disabled) return;
        event.preventDefault();
        done();
      },
      { signal },
    );
  });
}

/** The messages above the work: each has a name, so that it appears once. */
export class Notices {
  /** @param {HTMLElement} place a live region */
  constructor(place) {
    this.place = place;
    /** @type {Map<string, HTMLElement>} */
    this.shown = new Map();
  }

  /**
   * Show a message; a repeated name changes nothing.
   *
   * @param {string} name
   * @param {{tone: "info" | "ok" | "warn" | "danger", title?: string, text: string, more?: Node[], buttons?: HTMLElement[]}} notice
   */
  show(name, { tone, title, text, more = [], buttons = [] }) {
    if (this.shown.has(name)) return;
    const box = make("div", { class: `alert alert-${tone} stack stack-s` });
    if (tone === "danger") box.setAttribute("role", "alert");
    this.shown.set(name, box);
    if (title) box.append(make("p", { class: "alert-title", text: title }));
    box.append(make("p", { text }), ...more);
    if (buttons.length) box.append(make("p", { class: "actions" }, buttons));
    this.place.append(box);
  }

  /** @param {string} name */
  hide(name) {
    this.shown.get(name)?.remove();
    this.shown.delete(name);
  }
}

/**
 * Focus new content, unless the page is a preview in a frame and the user is typing outside of it.
 *
 * @param {HTMLElement} element
 * @param {FocusOptions} [options]
 */
export function takeFocus(element, options) {
  if (window.parent === window || document.hasFocus()) element.focus(options);
}
