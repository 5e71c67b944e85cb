/** Labelled spans, and relations between them: chosen in a list, shown as arrows over the text. */

import { Field, make } from "./field.js";
import { Spans } from "./spans.js";
import { say, sayCount, sayOneOf, sayQuoted } from "/static/say.js";

const SVG = "http://www.w3.org/2000/svg";

/** @param {{start: number, end: number, label?: string}} span */
const keyOf = (span) => `${span.start}:${span.end}:${span.label ?? ""}`;

/** @typedef {{x: number, top: number, bottom: number}} Edges of the first line of a span, and its middle */

/**
 * An arrow from one span to another: above a line that has both, and otherwise from line to line, beside their words.
 *
 * @param {Edges} start
 * @param {Edges} end
 * @param {number} number of the relation: arrows above the same line have different heights
 */
function arrow(start, end, number) {
  const curve = (from, by, to) => `M${start.x} ${from} C${start.x} ${by} ${end.x} ${by} ${end.x} ${to}`;
  if (start.top < end.bottom && end.top < start.bottom) {
    const above = Math.max(8, Math.min(start.top, end.top) - 14 - (number % 3) * 7);
    const y = Math.max(10, (start.top + end.top + 6 * above) / 8 - 2);
    return { line: curve(start.top, above, end.top), tip: { x: end.x, y: end.top }, down: true, place: { x: (start.x + end.x) / 2, y } };
  }
  const down = start.top < end.top;
  const [from, to] = down ? [start.bottom, end.top] : [start.top, end.bottom];
  return { line: curve(from, (from + to) / 2, to), tip: { x: end.x, y: to }, down, place: { x: start.x, y: down ? from + 13 : from - 6 } };
}

export default class Relations extends Field {
  /**
   * @param {HTMLElement} element
   * @param {import("./field.js").Rules} rules
   * @param {import("./field.js").About} about
   */
  constructor(element, rules, { item, draft, changed }) {
    super(element, rules);
    this.changed = changed;
    /** @type {{from: any, to: any, label: string}[]} between the spans themselves, which may change their labels */
    this.relations = [];
    /** @type {any[]} the spans that can be chosen for a relation */
    this.listed = [];
    this.spans = new Spans(element, item.pieces?.[rules.item] ?? [], rules, () => this.#spansChanged());
    this.form = /** @type {HTMLElement} */ (element.querySelector(".form-connect"));
    this.refused = /** @type {HTMLElement} */ (element.querySelector(".form-refused"));
    this.list = /** @type {HTMLElement} */ (element.querySelector(".form-connected"));
    this.status = /** @type {HTMLElement} */ ([...element.querySelectorAll("[role=status]")].at(-1));
    this.picture = document.createElementNS(SVG, "svg");
    this.picture.setAttribute("aria-hidden", "true");
    element.querySelector(".form-arrows")?.append(this.picture);
    this.#fillRelations();
    this.form.querySelector("button")?.addEventListener("click", () => this.#connect());
    this.form.addEventListener("change", () => {
      this.refused.textContent = "";
    });
    if (Array.isArray(draft?.spans)) {
      this.spans.restore(draft.spans);
      const all = this.spans.list();
      this.relations = (draft.relations ?? [])
        .filter(({ from, to }) => all[from] && all[to])
        .map(({ from, to, label }) => ({ from: all[from], to: all[to], label }));
    }
    this.resizing = new ResizeObserver(() => this.#drawArrows());
    this.resizing.observe(this.spans.box);
    this.#draw();
  }

  #spansChanged() {
    const left = new Set(this.spans.spans);
    this.relations = this.relations.filter(({ from, to }) => left.has(from) && left.has(to));
    this.#draw();
    this.changed();
  }

  /** @param {string} end @returns {HTMLSelectElement} */
  #select(end) {
    return /** @type {HTMLSelectElement} */ (this.form.querySelector(`[data-end=${end}]`));
  }

  #fillRelations() {
    this.#select("label").append(...this.rules.relations.map(({ value, label }) => make("option", { value, text: label })));
  }

  #connect() {
    const all = this.spans.list();
    const [from, to] = ["from", "to"].map((end) => all[Number(this.#select(end).value)]);
    const label = this.#select("label").value;
    const why = this.#problemOf(from, to, label);
    this.refused.textContent = why ?? "";
    if (why !== null) return;
    this.relations.push({ from, to, label });
    this.status.textContent = say("Connected: {relation}", { relation: this.#inWords({ from, to, label }) });
    this.#draw();
    this.changed();
  }

  /**
   * @param {any} from
   * @param {any} to
   * @param {string} label
   * @returns {string | null} why there can be no such relation
   */
  #problemOf(from, to, label) {
    if (!from || !to || from === to) return say("Choose two different marked parts.");
    const rule = this.rules.relations.find(({ value }) => value === label);
    const labels = new Map(this.rules.labels);
    const named = (/** @type {string[]} */ values) => sayOneOf(values.map((value) => labels.get(value) ?? value));
    if (rule.from && !rule.from.includes(from.label)) return say("“{relation}” must start from {labels}.", { relation: rule.label, labels: named(rule.from) });
    if (rule.to && !rule.to.includes(to.label)) return say("“{relation}” must lead to {labels}.", { relation: rule.label, labels: named(rule.to) });
    const there = this.relations.some((each) => each.from === from && each.to === to && each.label === label);
    return there ? say("These two marked parts already have this relation.") : null;
  }

  /** @param {{from: any, to: any, label: string}} relation */
  #inWords({ from, to, label }) {
    const { label: words } = this.rules.relations.find(({ value }) => value === label);
    const parts = [sayQuoted(this.#text(from)), words, sayQuoted(this.#text(to))];
    if (getComputedStyle(this.element).direction !== "rtl") return parts.join(" → ");
    // From right to left, the arrow points to the left; isolated, a text in another script keeps its own direction.
    return parts.map((part) => `\u2068${part}\u2069`).join(" ← ");
  }

  /** @param {{start: number, end: number}} span */
  #text({ start, end }) {
    return this.spans.words.text([start, end]);
  }

  #draw() {
    const all = this.spans.list();
    this.form.hidden = all.length < 2;
    for (const end of ["from", "to"]) {
      const select = this.#select(end);
      // A new span changes the numbers of those after it: the choice stays with its span.
      const before = all.indexOf(this.listed[Number(select.value)]);
      select.replaceChildren(...all.map((span, number) => make("option", { value: number, text: this.#text(span) })));
      if (before >= 0) select.value = String(before);
    }
    this.listed = all;
    const [from, to] = [this.#select("from"), this.#select("to")];
    if (from.value === to.value && all.length > 1) to.value = from.value === "0" ? "1" : "0";
    this.list.replaceChildren(...this.relations.map((relation) => this.#entry(relation)));
    this.list.hidden = this.relations.length === 0;
    this.#drawArrows();
  }

  /** @param {{from: any, to: any, label: string}} relation */
  #entry(relation) {
    const words = this.#inWords(relation);
    const remove = make("button", { type: "button", class: "button button-small button-quiet", text: say("Remove"), "aria-label": say("Remove {name}", { name: words }) });
    remove.addEventListener("click", () => {
      this.relations = this.relations.filter((each) => each !== relation);
      this.status.textContent = say("Removed: {name}", { name: words });
      this.#draw();
      this.changed();
      this.#select("from").focus();
    });
    return make("li", {}, make("span", { class: "form-excerpt", text: words }), remove);
  }

  #drawArrows() {
    const frame = this.picture.getBoundingClientRect();
    const shapes = this.relations.flatMap(({ from, to, label }, number) => {
      const [start, end] = [this.#edges(from, frame), this.#edges(to, frame)];
      if (!start || !end) return [];
      const { line, tip, down, place } = arrow(start, end, number);
      const path = document.createElementNS(SVG, "path");
      path.setAttribute("d", line);
      path.setAttribute("class", "form-arrow");
      const head = document.createElementNS(SVG, "path");
      const back = down ? -7 : 7;
      head.setAttribute("d", `M${tip.x - 4} ${tip.y + back} L${tip.x} ${tip.y} L${tip.x + 4} ${tip.y + back}`);
      head.setAttribute("class", "form-arrow");
      const text = document.createElementNS(SVG, "text");
      text.textContent = this.rules.relations.find(({ value }) => value === label)?.label ?? "";
      text.setAttribute("x", String(place.x));
      text.setAttribute("y", String(place.y));
      text.setAttribute("class", "form-arrow-label");
      return [path, head, text];
    });
    this.picture.replaceChildren(...shapes);
  }

  /**
   * @param {{start: number, end: number}} span
   * @param {DOMRect} frame
   * @returns {Edges | null}
   */
  #edges({ start, end }, frame) {
    // A word may break before its label: only its first line counts.
    const boxes = this.spans.words.all.slice(start, end).map((word) => word.getClientRects()[0]);
    if (boxes.length === 0 || frame.width === 0) return null;
    const line = boxes.filter((box) => Math.abs(box.top - boxes[0].top) < box.height / 2);
    const [left, right] = [Math.min(...line.map((box) => box.left)), Math.max(...line.map((box) => box.right))];
    const { top, bottom } = boxes[0];
    return { x: Math.round((left + right) / 2 - frame.left), top: Math.round(top - frame.top + 4), bottom: Math.round(bottom - frame.top) };
  }

  value() {
    const spans = this.spans.list();
    if (spans.length === 0 && !(this.rules.required && this.rules.min === 0)) return undefined;
    const places = new Map(spans.map((span, number) => [span, number]));
    const relations = this.relations.map(({ from, to, label }) => ({ from: places.get(from), to: places.get(to), label }));
    return { spans, relations };
  }

  problem() {
    const spans = this.spans.list();
    const { min = 0, max, required } = this.rules;
    if (this.spans.unlabelled) return say("Choose a label for {text}.", { text: this.spans.unlabelled });
    if (spans.length === 0 && !required) return null;
    if (spans.length < min) return sayCount(min, "Mark the words first.", "Mark at least {count} parts of the text (you have marked {marked}).", { marked: spans.length });
    if (max && spans.length > max) return sayCount(max, "Mark at most {count} part of the text (you have marked {marked}).", "Mark at most {count} parts of the text (you have marked {marked}).", { marked: spans.length });
    if (new Set(spans.map(keyOf)).size < spans.length) return say("The same words are marked twice with the same label.");
    const wrong = this.relations.map(({ from, to, label }) => {
      const others = this.relations.filter((each) => each.from !== from || each.to !== to || each.label !== label);
      const all = this.relations;
      this.relations = others;
      const why = this.#problemOf(from, to, label);
      this.relations = all;
      return why;
    });
    return wrong.find((why) => why !== null) ?? null;
  }

  get focusTarget() {
    return this.spans.focusTarget;
  }

  get invalidTarget() {
    return this.spans.box;
  }

  words() {
    return [this.spans.inWords(), ...this.relations.map((relation) => this.#inWords(relation))].filter(Boolean).join("; ");
  }

  close() {
    this.resizing.disconnect();
    this.spans.close();
  }
}
