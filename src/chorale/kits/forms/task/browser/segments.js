/**
 * Segments of audio or video: dragged over a bar, or begun and ended while it plays. Times can be written, too.
 *
 * @typedef {{start: number, end: number, label?: string}} Segment in seconds
 */

import { Field, make } from "./field.js";
import { player } from "./parts.js";
import { say, sayCount, sayList, sayNumber } from "/static/say.js";

const SHORTEST = 0.05;
const VIDEO = /\.(mp4|webm|ogv)([?#]|$)/i;

/** @param {number} seconds */
const rounded = (seconds) => Math.round(seconds * 1000) / 1000;

export default class Segments extends Field {
  /**
   * @param {HTMLElement} element
   * @param {import("./field.js").Rules} rules
   * @param {import("./field.js").About} about
   */
  constructor(element, rules, { item, draft, changed }) {
    super(element, rules);
    this.changed = changed;
    const src = item[rules.item] ?? "";
    this.player = player(VIDEO.test(src) ? "video" : "audio", src, rules.ask);
    this.bar = make("div", { class: "form-bar" });
    this.list = /** @type {HTMLElement} */ (element.querySelector(".form-marked"));
    this.status = /** @type {HTMLElement} */ (element.querySelector("[role=status]"));
    /** @type {Segment[]} */
    this.segments = Array.isArray(draft) ? draft.filter((each) => each?.end > each?.start).map((each) => ({ ...each })) : [];
    /** @type {number | null} the start of a segment that has no end yet */
    this.begun = null;
    /** @type {AbortController | null} stops the player at the end of the segment that is played now */
    this.playing = null;
    this.button = make("button", { type: "button", class: "button button-small" });
    this.button.addEventListener("click", () => this.#beginOrEnd());
    element.querySelector(".form-player")?.append(this.player, this.bar, make("p", { class: "form-zooms" }, this.button));
    this.#listen();
    this.#draw();
  }

  #listen() {
    this.player.addEventListener("loadedmetadata", () => this.#draw());
    this.player.addEventListener("timeupdate", () => this.#drawBar());
    /** @type {number | null} */
    let from = null;
    this.bar.addEventListener("pointerdown", (event) => {
      if (!event.isPrimary || event.button !== 0 || !this.#length) return;
      event.preventDefault();
      this.bar.setPointerCapture(event.pointerId);
      from = this.#at(event);
    });
    this.bar.addEventListener("pointermove", (event) => from !== null && this.#drawBar([from, this.#at(event)]));
    this.bar.addEventListener("pointerup", (event) => {
      if (from === null) return;
      const [start, end] = [Math.min(from, this.#at(event)), Math.max(from, this.#at(event))];
      from = null;
      if (end - start >= SHORTEST) this.#add(start, end);
      else this.player.currentTime = start;
      this.#drawBar();
    });
    this.bar.addEventListener("pointercancel", () => {
      from = null;
      this.#drawBar();
    });
    for (const input of this.#choices) input.addEventListener("change", () => this.#labelWaiting(input.value));
  }

  /** @returns {HTMLInputElement[]} */
  get #choices() {
    return [...this.element.querySelectorAll("input[name^=label-of-]")];
  }

  get #label() {
    return this.#choices.find((input) => input.checked)?.value;
  }

  get #length() {
    return Number.isFinite(this.player.duration) ? this.player.duration : 0;
  }

  /** @param {PointerEvent} event */
  #at(event) {
    const box = this.bar.getBoundingClientRect();
    return rounded(Math.min(1, Math.max(0, (event.clientX - box.left) / box.width)) * this.#length);
  }

  #beginOrEnd() {
    const now = rounded(this.player.currentTime);
    if (this.begun === null) this.begun = now;
    else {
      const [start, end] = [Math.min(this.begun, now), Math.max(this.begun, now)];
      this.begun = null;
      if (end - start >= SHORTEST) this.#add(start, end);
    }
    this.status.textContent = this.begun === null ? "" : say("Segment starts at {start} s", { start: this.begun });
    this.#draw();
  }

  /** @param {number} start @param {number} end */
  #add(start, end) {
    const label = this.#label;
    this.segments.push(label === undefined ? { start, end } : { start, end, label });
    this.status.textContent = say("Segment from {start} to {end} s", { start, end });
    this.#draw();
    this.changed();
  }

  /** @param {string} label */
  #labelWaiting(label) {
    for (const segment of this.segments) segment.label ??= label;
    this.#draw();
    this.changed();
  }

  /** @returns {Segment[]} in the order of time */
  #list() {
    return [...this.segments].sort((left, right) => left.start - right.start || left.end - right.end);
  }

  #draw() {
    this.button.textContent = this.begun === null ? say("Start a segment here") : say("End the segment here (started at {start} s)", { start: this.begun });
    this.list.replaceChildren(...this.#list().map((segment) => this.#entry(segment)));
    this.list.hidden = this.segments.length === 0;
    this.#drawBar();
  }

  /** @param {number[]} [drawing] the segment that is being dragged */
  #drawBar(drawing) {
    const whole = this.#length || 1;
    const place = (/** @type {number} */ start, /** @type {number} */ end, /** @type {string} */ name, /** @type {string | undefined} */ label) => {
      const made = make("span", { class: name, "data-tone": this.#tone(label) });
      made.style.insetInlineStart = `${(start / whole) * 100}%`;
      made.style.inlineSize = `${((end - start) / whole) * 100}%`;
      return made;
    };
    const shown = this.#list().map((each) => place(each.start, each.end, "form-stretch", each.label));
    if (drawing) shown.push(place(Math.min(...drawing), Math.max(...drawing), "form-stretch", this.#label));
    const now = this.player.currentTime || 0;
    this.bar.replaceChildren(...shown, place(now, now, "form-now", undefined));
  }

  /** @param {string | undefined} label */
  #tone(label) {
    const place = this.rules.labels.findIndex(([value]) => value === label);
    return place < 0 ? undefined : place % 8;
  }

  /** @param {Segment} segment */
  #entry(segment) {
    const entry = make("li", { "data-tone": this.#tone(segment.label) });
    const time = (/** @type {"start" | "end"} */ name, /** @type {string} */ label) => {
      const input = /** @type {HTMLInputElement} */ (make("input", { type: "number", step: "0.1", min: "0", value: segment[name], "aria-label": say("{name} in seconds", { name: label }) }));
      input.addEventListener("change", () => {
        // Times after the end of the recording mean its end.
        const value = rounded(Math.min(Number(input.value), this.#length || Infinity));
        const ordered = name === "start" ? value < segment.end : value > segment.start;
        if (input.value !== "" && value >= 0 && ordered) segment[name] = value;
        // The entry stays where it is: a new one would take the focus away from people who use arrow keys.
        input.value = String(segment[name]);
        rename();
        this.#drawBar();
        this.changed();
      });
      return input;
    };
    entry.append(make("span", { class: "form-times" }, time("start", say("Start time")), "–", time("end", say("End time")), say("s")));
    if (this.rules.labels.length > 0) entry.append(this.#labels(segment, entry));
    const play = make("button", { type: "button", class: "button button-small button-quiet", text: say("Play") });
    play.addEventListener("click", () => this.#play(segment));
    const remove = make("button", { type: "button", class: "button button-small button-quiet", text: say("Remove") });
    const named = () => say("Segment from {start} to {end} s", { start: segment.start, end: segment.end });
    const rename = () => {
      play.setAttribute("aria-label", say("Play: {name}", { name: named() }));
      remove.setAttribute("aria-label", say("Remove: {name}", { name: named() }));
    };
    rename();
    remove.addEventListener("click", () => {
      this.segments = this.segments.filter((each) => each !== segment);
      this.status.textContent = say("Removed: {name}", { name: named() });
      this.#draw();
      this.changed();
      this.button.focus();
    });
    entry.append(play, remove);
    return entry;
  }

  /** @param {Segment} segment @param {HTMLElement} entry */
  #labels(segment, entry) {
    const choice = /** @type {HTMLSelectElement} */ (make("select", { "aria-label": say("Label") }));
    const missing = segment.label === undefined ? [["", say("Choose a label")]] : [];
    for (const [value, label] of [...missing, ...this.rules.labels]) choice.append(make("option", { value, text: label }));
    choice.value = segment.label ?? "";
    choice.addEventListener("change", () => {
      segment.label = choice.value || undefined;
      const tone = this.#tone(segment.label);
      if (tone === undefined) delete entry.dataset.tone;
      else entry.dataset.tone = String(tone);
      this.#drawBar();
      this.changed();
    });
    return choice;
  }

  /** @param {Segment} segment */
  #play({ start, end }) {
    this.playing?.abort();
    this.playing = new AbortController();
    const { signal } = this.playing;
    this.player.currentTime = start;
    this.player.play().catch(() => {});
    const stop = () => {
      if (this.player.currentTime < end) return;
      this.player.pause();
      this.playing?.abort();
    };
    this.player.addEventListener("timeupdate", stop, { signal });
  }

  value() {
    const segments = this.#list();
    return segments.length > 0 || (this.rules.required && this.rules.min === 0) ? segments : undefined;
  }

  problem() {
    const segments = this.#list();
    const { min = 0, max, required, labels } = this.rules;
    if (segments.length === 0 && !required) return null;
    const without = labels.length ? segments.find((each) => each.label === undefined) : undefined;
    if (without) return say("Choose a label for the segment from {start} to {end} s.", { start: without.start, end: without.end });
    if (segments.length < min) return sayCount(min, "Mark a segment first.", "Mark at least {count} segments (you have marked {marked}).", { marked: segments.length });
    return max && segments.length > max ? sayCount(max, "Mark at most {count} segment (you have marked {marked}).", "Mark at most {count} segments (you have marked {marked}).", { marked: segments.length }) : null;
  }

  get focusTarget() {
    return this.button;
  }

  words() {
    const labels = new Map(this.rules.labels);
    const name = (label) => (label === undefined ? "" : ` (${labels.get(label)})`);
    return sayList(this.#list().map(({ start, end, label }) => `${sayNumber(start)}–${sayNumber(end)} ${say("s")}${name(label)}`));
  }

  close() {
    this.player.pause();
  }
}
