/** A number on a slider, a number with a unit, a date. */

import { Field } from "./field.js";
import { say, sayDate, sayNumber, sayOneOf } from "/static/say.js";

export default class Numbers extends Field {
  /**
   * @param {HTMLElement} element
   * @param {import("./field.js").Rules} rules
   * @param {import("./field.js").About} about
   */
  constructor(element, rules, { draft }) {
    super(element, rules);
    this.input = /** @type {HTMLInputElement} */ (element.querySelector("input"));
    this.output = element.querySelector("output");
    /** A slider always has a position, which counts as an answer once the worker has moved it. */
    this.touched = rules.kind !== "slider";
    if (draft !== undefined && draft !== null) {
      this.input.value = String(draft);
      this.touched = true;
    }
    for (const name of ["input", "pointerup", "keydown"]) {
      this.input.addEventListener(name, (event) => this.#touch(event));
    }
    for (const end of element.querySelectorAll("[data-number]")) end.textContent = sayNumber(Number(end.textContent));
    this.noted();
  }

  /** @param {Event} event */
  #touch(event) {
    if (this.rules.kind !== "slider" || this.touched) return;
    if (event instanceof KeyboardEvent && event.key !== " ") return; // keys that move the slider trigger an input event
    this.touched = true;
    if (event.type === "input") return;
    event.preventDefault();
    this.input.dispatchEvent(new Event("input", { bubbles: true }));
  }

  get invalidTarget() {
    return this.input;
  }

  /** The text of the field as typed. */
  get #text() {
    return this.touched ? this.input.value.trim() : "";
  }

  value() {
    if (this.#text === "") return undefined;
    return this.rules.kind === "date" ? this.#text : asNumber(this.#text);
  }

  draft() {
    return this.#text === "" ? undefined : this.#text;
  }

  problem() {
    const { kind, required, min, max, step, unit } = this.rules;
    if (this.input.validity.badInput) return kind === "date" ? say("Complete the date.") : say("Enter a number.");
    const value = this.value();
    if (value === undefined) {
      if (!required) return null;
      return { slider: say("Move the slider first."), date: say("Choose a date first.") }[kind] ?? say("Enter a number first.");
    }
    if (Number.isNaN(value)) return say("Enter a number, such as 12 or 3.5.");
    const bound = (/** @type {number} */ limit) => `${sayNumber(limit)} ${unit ?? ""}`.trim();
    if (min !== null && value < min) return kind === "date" ? say("The earliest date is {date}.", { date: sayDate(min) }) : say("Enter at least {number}.", { number: bound(min) });
    if (max !== null && value > max) return kind === "date" ? say("The latest date is {date}.", { date: sayDate(max) }) : say("Enter at most {number}.", { number: bound(max) });
    if (kind !== "number" || !step) return null;
    const steps = (value - (min ?? 0)) / step;
    if (isWhole(steps)) return null;
    if (isWhole((min ?? 0) / step)) return step === 1 ? say("Enter a whole number.") : say("Enter a multiple of {number}.", { number: step });
    // With a minimum of 1 and a step of 2, for example, the allowed numbers are not multiples of the step.
    const allowed = [0, 1, 2].map((times) => Number((min + times * step).toPrecision(12))).filter((number) => max === null || number <= max);
    return say("Enter a number such as {numbers}.", { numbers: sayOneOf(allowed.map(sayNumber)) });
  }

  noted() {
    if (!this.output) return;
    this.element.classList.toggle("form-unset", !this.touched);
    this.output.textContent = this.touched ? this.words() : "–";
    this.input.setAttribute("aria-valuetext", this.touched ? this.words() : say("Not answered yet"));
  }

  words() {
    const { kind, unit } = this.rules;
    if (kind === "date" || this.#text === "" || Number.isNaN(this.value())) return this.#text;
    return `${sayNumber(Number(this.value()))} ${unit ?? ""}`.trim();
  }
}

/** @param {number} steps */
const isWhole = (steps) => Math.abs(steps - Math.round(steps)) < 1e-6;

/** Zeros of the digits that keyboards for Arabic, Persian, Hindi and East Asian languages write. */
const ZEROS = ["٠", "۰", "०", "０"].map((zero) => zero.charCodeAt(0));

/** @param {string} text with a point or a comma before the fraction */
function asNumber(text) {
  const digit = (/** @type {string} */ written) => {
    const zero = ZEROS.find((first) => written.charCodeAt(0) >= first && written.charCodeAt(0) < first + 10);
    return zero === undefined ? written : String(written.charCodeAt(0) - zero);
  };
  const plain = text.replace(/\p{Nd}/gu, digit).replace("−", "-").replace("٫", ".");
  return /^[-+]?(\d+([.,]\d*)?|[.,]\d+)$/.test(plain) ? Number(plain.replace(",", ".")) : Number.NaN;
}
