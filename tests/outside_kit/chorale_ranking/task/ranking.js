/**
 * Texts to be chosen in order, best first. Each is a checkbox, so that mouse, thumb and keyboard work as everywhere.
 *
 * @typedef {{question: string, texts: Object<string, string>}} Item
 * @typedef {{draft: any, arrangement: {names: string[]} | null}} Api
 */

/** @type {WeakMap<HTMLElement, {order: string[], listening: AbortController}>} */
const states = new WeakMap();

/**
 * @param {HTMLElement} root
 * @param {Item} item
 * @param {Api} api
 */
export function mount(root, item, api) {
  const names = api.arrangement?.names ?? Object.keys(item.texts);
  const order = Array.isArray(api.draft) ? api.draft.filter((name) => names.includes(name)) : [];
  const listening = new AbortController();
  states.set(root, { order, listening });
  root.querySelector("fieldset").append(...names.map((name) => option(name, item.texts[name])));
  root.addEventListener("change", ({ target }) => choose(root, target), { signal: listening.signal });
  show(root);
}

/**
 * @param {HTMLElement} root
 * @returns {string[]} the names of the texts that have a rank, best first
 */
export const collect = (root) => [...(states.get(root)?.order ?? [])];

/** @param {HTMLElement} root */
export const problem = (root) =>
  boxes(root).every((box) => box.checked) ? null : "Choose every text: the best first, the worst last.";

/** @param {HTMLElement} root */
export const point = (root) => boxes(root).find((box) => !box.checked)?.focus();

/** @param {HTMLElement} root */
export function recap(root) {
  const texts = new Map(boxes(root).map((box) => [box.value, textOf(box)]));
  return {
    lines: [{ kind: "question", text: root.querySelector("legend").textContent }],
    answer: collect(root)
      .map((name, index) => `${index + 1}. ${texts.get(name)}`)
      .join("; "),
  };
}

/**
 * @param {{yours: string[], expert: string[]}} details
 * @returns {Node} both orders, one below the other
 */
export function compare({ yours, expert }) {
  const both = document.createElement("div");
  for (const [title, texts] of [["Your order", yours], ["The expert's order", expert]]) {
    const heading = document.createElement("p");
    heading.textContent = title;
    const list = document.createElement("ol");
    list.append(...texts.map((text) => Object.assign(document.createElement("li"), { textContent: text, dir: "auto" })));
    both.append(heading, list);
  }
  return both;
}

/** @param {HTMLElement} root */
export function unmount(root) {
  states.get(root)?.listening.abort();
  states.delete(root);
}

/** @param {ParentNode} root */
const boxes = (root) => /** @type {HTMLInputElement[]} */ ([...root.querySelectorAll("input[name=answer]")]);

/** @param {HTMLInputElement} box */
const textOf = (box) => box.closest("label").querySelector(".ranking-text").textContent;

/**
 * @param {HTMLElement} root
 * @param {EventTarget | null} target
 */
function choose(root, target) {
  if (!(target instanceof HTMLInputElement)) return;
  const state = states.get(root);
  state.order = state.order.filter((name) => name !== target.value);
  if (target.checked) state.order.push(target.value);
  show(root);
}

/** @param {HTMLElement} root */
function show(root) {
  const order = collect(root);
  for (const box of boxes(root)) {
    const place = order.indexOf(box.value) + 1;
    box.checked = place > 0;
    box.closest("label").querySelector(".ranking-place").textContent = place ? `${place}.` : "";
  }
}

/**
 * @param {string} name
 * @param {string} text
 */
function option(name, text) {
  const box = Object.assign(document.createElement("input"), { type: "checkbox", name: "answer", value: name });
  const shown = Object.assign(document.createElement("span"), { className: "ranking-text", textContent: text, dir: "auto" });
  const place = Object.assign(document.createElement("span"), { className: "ranking-place" });
  const label = document.createElement("label");
  label.append(box, shown, place);
  return label;
}
