/**
 * The frames task's page: a sentence with its word marked, and the candidates in a different order for each worker.
 *
 * @typedef {{frame: string, definition: string, example: string, example_word: [number, number] | null,
 *   more_examples?: [string, number, number][]}} Candidate
 * @typedef {{draft: any, arrangement: {frames: string[]} | null, changed: () => void, submit: () => void}} Api
 */

import { say, sayCount } from "/static/say.js";

const NONE = "none";
/** Keys of the options after the ninth; N is for none of them, and G opens the guidelines. */
const LETTERS = [..."abcdefhijklmopqrstuvwxyz"];
/** Lists of more meanings than this are collapsed at first, and have a search field. */
const LONG_LIST = 8;

/** @type {WeakMap<HTMLElement, AbortController>} */
const listening = new WeakMap();

/**
 * @param {HTMLElement} root
 * @param {{sentence: string, word: string, start: number, candidates: Candidate[], left_out?: number}} item
 * @param {Api} api
 */
export function mount(root, item, api) {
  const end = item.start + [...item.word].length;
  const sentence = root.querySelector("[data-sentence]");
  sentence.replaceChildren(...marked(item.sentence, item.start, end));
  const byName = new Map(item.candidates.map((candidate) => [candidate.frame, candidate]));
  const order = (api.arrangement?.frames ?? []).filter((name) => byName.has(name));
  const names = order.length === byName.size ? order : [...byName.keys()];
  const draft = new Set(Array.isArray(api.draft) ? api.draft : (api.draft?.frames ?? []));
  const options = names.map((name, index) => makeOption(byName.get(name), index, draft.has(name)));
  const fieldset = root.querySelector("fieldset");
  fieldset.append(...options, makeNone(draft.has(NONE)));
  const controller = new AbortController();
  listening.set(root, controller);
  root.addEventListener("change", (event) => exclude(root, event.target), { signal: controller.signal });
  explainTheCap(root, names.length, item.left_out ?? 0);
  if (names.length > LONG_LIST) foldList(root, options);
  const meaning = explanation(root);
  if (meaning && typeof api.draft?.meaning === "string") meaning.value = api.draft.meaning;
  askIfNone(root);
  root.addEventListener("change", () => askIfNone(root), { signal: controller.signal });
}

/**
 * @param {HTMLElement} root
 * @returns {string[] | {frames: string[], meaning: string}} the chosen frames; with the explanation, if the study asks
 *   for one
 */
export function collect(root) {
  const meaning = explanation(root);
  const text = meaning?.closest("[hidden]") ? "" : meaning?.value.trim();
  return meaning ? { frames: chosen(root), meaning: text } : chosen(root);
}

/** @param {HTMLElement} root */
export function problem(root) {
  if (!chosen(root).length) return say("Choose every meaning that fits, or “None of these fits” at the end.");
  const meaning = explanation(root);
  return meaning?.required && !meaning.value.trim() ? say("Explain the meaning in your own words.") : null;
}

/** @param {HTMLElement} root */
export const point = (root) => (chosen(root).length ? explanation(root) : boxes(root)[0])?.focus();

/** @param {HTMLElement} root */
export function recap(root) {
  const checked = boxes(root).filter((box) => box.checked);
  const meaning = explanation(root)?.value.trim();
  return {
    lines: [
      { kind: "quote", text: root.querySelector("[data-sentence]").textContent },
      { kind: "text", text: say("The marked word: {word}", { word: root.querySelector("mark").textContent }) },
      ...(meaning ? [{ kind: "text", text: say("In your own words: {text}", { text: meaning }) }] : []),
    ],
    answer: checked.map((box) => box.closest("label").querySelector(".frame-name").textContent).join("; "),
  };
}

/** @param {HTMLElement} root */
export function unmount(root) {
  listening.get(root)?.abort();
  listening.delete(root);
}

/**
 * @param {ParentNode} root
 * @returns {HTMLTextAreaElement | null} where the meaning is explained, if the study asks for that
 */
const explanation = (root) => root.querySelector("textarea[name=meaning]");

/** @param {ParentNode} root */
const chosen = (root) =>
  boxes(root)
    .filter((box) => box.checked)
    .map((box) => box.value)
    .sort();

/**
 * Ask for an explanation if the study asks only workers who choose “none”.
 *
 * @param {HTMLElement} root
 */
function askIfNone(root) {
  const field = root.querySelector(".frames-explain[data-if-none]");
  if (field) field.hidden = !chosen(root).includes(NONE);
}

/**
 * Show that the list is incomplete, and what to do if the right meaning is missing.
 *
 * @param {HTMLElement} root
 * @param {number} shown
 * @param {number} leftOut
 */
function explainTheCap(root, shown, leftOut) {
  if (leftOut < 1) return;
  const hint = /** @type {HTMLElement} */ (root.querySelector("#frames-hint"));
  const cap = say("The list shows the {shown} most likely of {total} meanings. If the right one is missing, choose “None of these fits”.", { shown, total: shown + leftOut });
  hint.textContent = [hint.textContent, cap].join(" ");
}

/**
 * A long list begins with names and first lines only, and can be searched. Chosen options always stay visible.
 *
 * @param {HTMLElement} root
 * @param {HTMLElement[]} options
 */
function foldList(root, options) {
  const tools = root.querySelector("template[data-long-list]").content.cloneNode(true);
  const [search, status, all] = ["[data-search]", "[data-found]", "[data-unfold]"].map((name) => tools.querySelector(name));
  const fieldset = root.querySelector("fieldset");
  const texts = options.map((option) => option.textContent.toLowerCase());
  const places = options.map(withUnfolder);
  const filter = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let matching = 0;
    options.forEach((option, index) => {
      const fits = words.every((word) => texts[index].includes(word));
      if (fits) matching += 1;
      places[index].hidden = !fits && !option.querySelector("input").checked;
    });
    status.textContent = words.length ? sayCount(options.length, "{found} of {count} meaning matches.", "{found} of {count} meanings match.", { found: matching }) : sayCount(options.length, "{count} meaning.", "{count} meanings.");
  };
  search.addEventListener("input", filter);
  search.addEventListener("keydown", (event) => {
    if (event.key === "Enter") event.preventDefault(); // it must not submit the answer
    if (event.key === "Escape") {
      search.value = "";
      filter();
    }
  });
  root.addEventListener("change", filter, { signal: listening.get(root).signal });
  all.addEventListener("click", () => {
    const folded = fieldset.classList.toggle("frames-folded");
    all.textContent = folded ? say("Show full descriptions") : say("Show short descriptions");
    all.setAttribute("aria-pressed", String(!folded));
  });
  fieldset.classList.add("frames-folded");
  fieldset.insertBefore(tools, places[0]);
  filter();
}

/**
 * A button beside an option, not in it: a click on the option chooses it.
 *
 * @param {HTMLElement} option
 */
function withUnfolder(option) {
  const place = document.createElement("div");
  place.className = "choices frame-place";
  option.replaceWith(place);
  const button = document.createElement("button");
  button.type = "button";
  button.className = "frame-more button button-quiet button-small";
  button.textContent = say("More");
  button.setAttribute("aria-expanded", "false");
  button.setAttribute("aria-label", say("More about {name}", { name: option.querySelector(".frame-name").textContent }));
  button.addEventListener("click", () => {
    const open = option.classList.toggle("frame-open");
    button.textContent = open ? say("Less") : say("More");
    button.setAttribute("aria-expanded", String(open));
  });
  place.append(option, button);
  return place;
}

/** @param {ParentNode} root */
const boxes = (root) => /** @type {HTMLInputElement[]} */ ([...root.querySelectorAll("input[name=answer]")]);

/**
 * “None” and frames exclude each other: the latest choice counts.
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
    text.append(makeExample(candidate.example, ...(candidate.example_word ?? [0, 0])));
  }
  text.append(...(candidate.more_examples ?? []).map((example) => makeExample(...example)));
  const key = index < 9 ? "" : (LETTERS[index - 9] ?? "");
  return option(candidate.frame, text, key, checked);
}

/**
 * @param {string} text
 * @param {number} from
 * @param {number} to
 */
function makeExample(text, from, to) {
  const example = part("frame-example", "");
  example.append(...(to > from ? marked(text, from, to) : [text]));
  return example;
}

/** @param {boolean} checked */
function makeNone(checked) {
  const text = document.createElement("span");
  text.append(part("frame-name", say("None of these fits")));
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
