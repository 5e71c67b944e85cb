/** Boxes and polygons on an image, in fractions of its width and height. */

import { say, sayCount, sayList } from "/static/say.js";
import "/static/drawing.js";
import { Field } from "./field.js";

/** @param {number} number */
const rounded = (number) => Math.round(number * 10_000) / 10_000;

export default class Regions extends Field {
  /**
   * @param {HTMLElement} element
   * @param {import("./field.js").Rules} rules
   * @param {import("./field.js").About} about
   */
  constructor(element, rules, { item, draft, changed }) {
    super(element, rules);
    /** @type {any[]} regions to show once the picture is loaded and its size is known */
    this.waiting = Array.isArray(draft) ? draft : [];
    this.loaded = false;
    const Drawing = /** @type {any} */ (globalThis).ChoraleDrawing;
    this.drawing = new Drawing({
      src: item[rules.item] ?? "",
      alt: say("The picture to draw on"),
      kind: rules.kind === "boxes" ? "box" : "polygon",
      labels: rules.labels.map(([, label]) => label),
      preselected: false,
      changed,
    });
    this.drawing.image.addEventListener("load", () => this.#restore());
    element.querySelector(".form-drawing")?.append(this.drawing.element);
    for (const button of this.drawing.element.querySelectorAll("button")) button.classList.add("button", "button-small");
  }

  #restore() {
    this.loaded = true;
    const { width, height } = this.drawing.size;
    const labels = new Map(this.rules.labels);
    this.drawing.set(
      this.waiting.map((region) => ({
        label: labels.get(region.label) ?? "",
        points: corners(region).map(([x, y]) => [Math.round(x * width), Math.round(y * height)]),
      })),
    );
  }

  /** @returns {any[]} */
  #list() {
    if (!this.loaded) return this.waiting;
    const { width, height } = this.drawing.size;
    const values = new Map(this.rules.labels.map(([value, label]) => [label, value]));
    return this.drawing.shapes.map((shape) => {
      const points = shape.points.map(([x, y]) => [rounded(x / width), rounded(y / height)]);
      const place = this.rules.kind === "boxes" ? box(points) : { points };
      return values.size ? { ...place, label: values.get(shape.label) } : place;
    });
  }

  value() {
    const regions = this.#list();
    return regions.length > 0 || (this.rules.required && this.rules.min === 0) ? regions : undefined;
  }

  problem() {
    const count = this.#list().length;
    const { min = 0, max, required } = this.rules;
    if (count === 0 && !required) return null;
    if (this.drawing.pending.length > 0) return say("Finish the shape you have started, or cancel it.");
    if (this.drawing.unlabelled > 0) return this.rules.kind === "boxes" ? say("Choose a label for the box without one.") : say("Choose a label for the polygon without one.");
    if (count < min) return sayCount(min, "Draw on the picture first.", "Draw at least {count} shapes (you have drawn {drawn}).", { drawn: count });
    return max && count > max ? sayCount(max, "Draw at most {count} shape (you have drawn {drawn}).", "Draw at most {count} shapes (you have drawn {drawn}).", { drawn: count }) : null;
  }

  get focusTarget() {
    return this.drawing.element.querySelector(".drawing-actions button");
  }

  words() {
    const labels = new Map(this.rules.labels);
    const unnamed = this.rules.kind === "boxes" ? say("box") : say("polygon");
    return sayList(this.#list().map((region) => labels.get(region.label) ?? unnamed));
  }
}

/** @param {any} region @returns {[number, number][]} */
function corners(region) {
  if (Array.isArray(region.points)) return region.points;
  return [
    [region.x, region.y],
    [region.x + region.width, region.y + region.height],
  ];
}

/** @param {number[][]} points two corners of a box */
function box([[left, top], [right, bottom]]) {
  return {
    x: Math.min(left, right),
    y: Math.min(top, bottom),
    width: rounded(Math.abs(right - left)),
    height: rounded(Math.abs(bottom - top)),
  };
}
