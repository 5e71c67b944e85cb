/**
 * The frames task's page: a sentence with its word marked, and the candidates in an order of the worker's own.
 *
 * @typedef {{frame: string, definition: string, example: string, example_word: [number, number] | null}} Candidate
 * @typedef {{draft: any, arrangement: {frames: string[]} | null, changed: () => void, submit: () => void}} Api
 */

const NONE = "none";
/** Keys of the options after the ninth; N is for none of them, and G opens the guidelines. */
const LETTERS = [..."abcdefhijklmopqrstuvwxyz"];

/** @type {WeakMap<HTMLElement, AbortController>} */
const listening = new WeakMap();

/**
 * @param {HTMLElement} root
 * @param {{sentence: string, word: string, start: number, candidates: Candidate[]}} item
 * @param {Api} api
 */
export function mount(root, item, api) {
  const end = item.start + [...item.word].length;
  const sentence = root.querySelector("[data-sentence]");
  sentence.replaceChildren(...marked(item.sentence, item.start, end));
  const byName = new Map(item.candidates.map((candidate) => [candidate.frame, candidate]));
  const order = (api.arrangement?.frames ?? []).filter((name) => byName.has(name));
  const names = order.length === byName.size ? order : [...byName.keys()];
  const draft = new Set(Array.isArray(api.draft) ? api.draft : []);
  const options = names.map((name, index) => makeOption(byName.get(name), index, draft.has(name)));
  root.querySelector("fieldset").append(...options, makeNone(draft.has(NONE)));
  const controller = new AbortController();
  listening.set(root, controller);
  root.addEventListener("change", (event) => exclude(root, event.target), { signal: controller.signal });
}

/**
 * @param {HTMLElement} root
 * @returns {string[]} the names of what is chosen
 */
export const collect = (root) =>
  boxes(root)
    .filter((box) => box.checked)
    .map((box) => box.value)
    .sort();

/** @param {HTMLElement} root */
export const problem = (root) =>
  collect(root).length ? null : "Choose every meaning that fits, or “None of these fits” at the end.";

/** @param {HTMLElement} root */
export const point = (root) => boxes(root)[0]?.focus();

/** @param {HTMLElement} root */
export function recap(root) {
  const chosen = boxes(root).filter((box) => box.checked);
  return {
    lines: [
      { kind: "quote", text: root.querySelector("[data-sentence]").textContent },
      { kind: "text", text: `The marked word: ${root.querySelector("mark").textContent}` },
    ],
    answer: chosen.map((box) => box.closest("label").querySelector(".frame-name").textContent).join("; "),
  };
}

/** @param {HTMLElement} root */
export function unmount(root) {
  listening.get(root)?.abort();
  listening.delete(root);
}

/** @param {ParentNode} root */
const boxes = (root) => /** @type {HTMLInputElement[]} */ ([...root.querySelectorAll("input[name=answer]")]);

/**
 * None and a frame exclude each other: the one that was chosen last holds.
 *
 * @param {HTMLElement} root
 * @param {EventTarget | null} target
 */
function exclude(root, target) {
  if (!(target instanceof HTMLInputElement) || !target.checked) return;
  for (const box of boxes(root)) {
    if (box !== target && (box.value === NONE) !== (target.value === NONE)) box.checked = false;
  }
}

/**
 * @param {Candidate} candidate
 * @param {number} index
 * @param {boolean} checked
 */
function makeOption(candidate, index, checked) {
  const text = document.createElement("span");
  text.append(
    part("frame-name", candidate.frame.replaceAll("_", " ")),
    part("frame-definition", candidate.definition),
  );
  if (candidate.example) {
    const example = part("frame-example", "");
    const [from, to] = candidate.example_word ?? [0, 0];
    example.append(...(to > from ? marked(candidate.example, from, to) : [candidate.example]));
    text.append(example);
  }
  const key = index < 9 ? "" : (LETTERS[index - 9] ?? "");
  return option(candidate.frame, text, key, checked);
}

/** @param {boolean} checked */
function makeNone(checked) {
  const text = document.createElement("span");
  text.append(part("frame-name", "None of these fits"));
  const label = option(NONE, text, "n", checked);
  label.classList.add("frame-none");
  return label;
}

/**
 * @param {string} value
 * @param {HTMLElement} text
 * @param {string} key
 * @param {boolean} checked
 */
function option(value, text, key, checked) {
  const box = document.createElement("input");
  box.type = "checkbox";
  box.name = "answer";
  box.value = value;
  box.checked = checked;
  if (key) box.dataset.key = key;
  const label = document.createElement("label");
  label.append(box, text);
  return label;
}

/**
 * @param {string} name
 * @param {string} content
 */
function part(name, content) {
  const piece = document.createElement("span");
  piece.className = name;
  piece.dir = "auto";
  piece.textContent = content;
  return piece;
}

/**
 * Characters as Python counts them, so that a place in the text is the same on both sides.
 *
 * @param {string} text
 * @param {number} from
 * @param {number} to
 * @returns {(Node | string)[]}
 */
function marked(text, from, to) {
  const characters = [...text];
  const mark = document.createElement("mark");
  mark.textContent = characters.slice(from, to).join("");
  return [characters.slice(0, from).join(""), mark, characters.slice(to).join("")];
}
