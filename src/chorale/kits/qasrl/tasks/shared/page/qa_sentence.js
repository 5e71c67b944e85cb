/**
 * The sentence with its verb, where answers to the current question are marked.
 *
 * A span is the first token and the token after the last.
 *
 * @typedef {[number, number]} Span
 * @typedef {{
 *   changed: (spans: Span[], said: string) => void,
 *   confirmed: () => void,
 *   left: () => void,
 * }} SentenceEvents `confirmed`: Enter with nothing about to be marked; `left`: Escape
 */

import { say } from "/static/say.js";
import { Words } from "/static/words.js";

export class Sentence {
  /**
   * @param {HTMLElement} box
   * @param {string[]} pieces token, gap, token, gap and so on
   * @param {number} verb
   * @param {SentenceEvents} events
   */
  constructor(box, pieces, verb, events) {
    this.box = box;
    this.pieces = pieces;
    this.events = events;
    /** @type {Span[]} the answers to the current question */
    this.spans = [];
    /** @type {Span[]} the answers to the other questions */
    this.others = [];
    /** @type {Span | null} the latest one, which a tap next to it extends */
    this.latest = null;
    box.setAttribute("role", "listbox");
    box.setAttribute("aria-multiselectable", "true");
    box.classList.add("qa-sentence");
    box.setAttribute("data-own-enter", "");
    this.words = new Words(box, pieces, "qa", {
      tapped: (token) => this.#tap(token),
      toggled: (token) => this.#toggle(token),
      chosen: (start, end) => this.#mark(start, end),
      draw: () => this.#draw(),
      key: (event) => this.#key(event),
    });
    this.words.current = verb;
    const word = this.words.all[verb];
    word.classList.add("qa-verb");
    word.setAttribute("aria-label", say("{word}, the verb", { word: pieces[2 * verb] }));
    this.#draw();
    // A long sentence scrolls in its box, which a phone's keyboard makes smaller. Keep the verb or the latest word visible.
    this.sizes = new ResizeObserver(() => {
      box.scrollTop = this.words.all[this.words.current].offsetTop - box.offsetTop - box.clientHeight / 2;
    });
    this.sizes.observe(box);
  }

  /**
   * Show other answers.
   *
   * @param {Span[]} spans those of the current question
   * @param {Span[]} others
   * @param {boolean} [open] whether they can be marked now
   */
  show(spans, others, open = true) {
    if (String(spans) !== String(this.spans)) this.latest = null;
    this.spans = spans.map(([start, end]) => [start, end]);
    this.others = others;
    this.words.open = open;
    this.box.setAttribute("aria-disabled", String(!open));
    this.#draw();
  }

  /** @param {Span} span */
  text(span) {
    return this.words.text(span);
  }

  /** Take the focus, at an answer if there is one. */
  focus() {
    this.words.goTo(this.spans.at(-1)?.[0] ?? this.words.current);
  }

  close() {
    this.sizes.disconnect();
    this.words.close();
  }

  /** @param {number} token */
  #tap(token) {
    const { latest } = this;
    const beside = latest && this.#has(latest) && (latest[1] === token || latest[0] === token + 1);
    if (!beside || this.#at(token)) {
      this.#toggle(token);
      return;
    }
    this.spans = this.spans.filter((span) => String(span) !== String(latest));
    this.#mark(Math.min(latest[0], token), Math.max(latest[1], token + 1));
  }

  /** @param {number} token to mark; if it is in a span, the span is removed */
  #toggle(token) {
    const there = this.#at(token);
    if (there) {
      this.spans = this.spans.filter((each) => each !== there);
      this.#tell(say("No longer marked: {text}", { text: this.text(there) }));
    } else {
      this.#mark(token, token + 1);
    }
  }

  /** @param {number} token */
  #at(token) {
    return this.spans.find(([start, end]) => start <= token && token < end);
  }

  /** @param {Span} span */
  #has(span) {
    return this.spans.some((each) => String(each) === String(span));
  }

  /**
   * A new span replaces the spans that it overlaps.
   *
   * @param {number} start
   * @param {number} end
   */
  #mark(start, end) {
    /** @type {Span} */
    const span = [start, end];
    this.spans = [...this.spans.filter((each) => each[1] <= start || each[0] >= end), span].sort((one, other) => one[0] - other[0]);
    this.latest = span;
    this.#tell(say("Marked: {text}", { text: this.text(span) }));
  }

  /** @param {string} said */
  #tell(said) {
    this.#draw();
    this.events.changed(
      this.spans.map(([start, end]) => [start, end]),
      said,
    );
  }

  /**
   * @param {KeyboardEvent} event
   * @returns {boolean} whether the key was handled
   */
  #key(event) {
    if (event.key === "Enter" && !event.repeat) this.events.confirmed();
    else if (event.key === "Escape") this.events.left();
    else return false;
    return true;
  }

  #draw() {
    this.words.show(this.spans, (word, number) => {
      word.classList.toggle("qa-other", this.others.some(([start, end]) => start <= number && number < end));
    });
  }
}

/**
 * A span cut where it lists several things: at commas, brackets, and, or, as well as.
 *
 * @param {string[]} pieces
 * @param {Span} span
 * @returns {Span[]} the parts; the span itself if there is nothing to cut
 */
export function split(pieces, [start, end]) {
  const cuts = new Set([",", ";", "(", ")", "and", "or", "&", "/"]);
  const words = pieces.filter((_, at) => at % 2 === 0).map((word) => word.toLowerCase());
  const isAsWellAs = (/** @type {number} */ at) => start <= at && at + 3 <= end && words.slice(at, at + 3).join(" ") === "as well as";
  const isCut = (/** @type {number} */ at) => cuts.has(words[at]) || [at, at - 1, at - 2].some(isAsWellAs);
  /** @type {Span[]} */
  const parts = [];
  let from = start;
  for (let token = start; token <= end; token += 1) {
    if (token < end && !isCut(token)) continue;
    if (token > from) parts.push([from, token]);
    from = token + 1;
  }
  return parts.length > 0 ? parts : [[start, end]];
}
