/**
 * The sentence: its verb, the answers to the question in hand, and marking them by dragging, tapping or with the keyboard.
 *
 * A span is the first token and the token after the last. Tokens are options of a list, so that assistive technology
 * knows which are chosen.
 *
 * @typedef {[number, number]} Span
 * @typedef {{
 *   changed: (spans: Span[], said: string) => void,
 *   confirmed: () => void,
 *   left: () => void,
 * }} SentenceEvents `confirmed`: Enter with nothing about to be marked; `left`: Escape
 */

import { make } from "/static/show.js";

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
    this.verb = verb;
    this.events = events;
    this.count = pieces.length / 2;
    /** @type {Span[]} the answers to the question in hand */
    this.spans = [];
    /** @type {Span[]} the answers to the other questions */
    this.others = [];
    this.open = true;
    /** @type {{from: number, to: number} | null} tokens about to be marked */
    this.pending = null;
    /** @type {Span | null} the one made last, which a tap beside it makes longer */
    this.latest = null;
    this.current = verb;
    this.listening = new AbortController();
    this.tokens = Array.from({ length: this.count }, (_, number) => this.#makeToken(number));
    box.setAttribute("role", "listbox");
    box.setAttribute("aria-multiselectable", "true");
    box.classList.add("qa-sentence");
    box.replaceChildren(...this.tokens.flatMap((token, number) => [token, this.#makeGap(number)]));
    this.#listen();
    this.#draw();
  }

  /**
   * Show other answers.
   *
   * @param {Span[]} spans those of the question in hand
   * @param {Span[]} others
   * @param {boolean} [open] whether they can be marked now
   */
  show(spans, others, open = true) {
    if (String(spans) !== String(this.spans)) this.latest = null;
    this.spans = spans.map(([start, end]) => [start, end]);
    this.others = others;
    this.open = open;
    this.box.setAttribute("aria-disabled", String(!open));
    this.#draw();
  }

  /** @param {Span} span */
  text([start, end]) {
    return this.pieces.slice(2 * start, 2 * end - 1).join("");
  }

  /** Take the focus, at an answer if there is one. */
  focus() {
    if (this.spans.length > 0) this.current = this.spans.at(-1)[0];
    this.#moveTo(this.current);
  }

  close() {
    this.listening.abort();
  }

  /** @param {number} number */
  #makeToken(number) {
    const token = make("span", { class: number === this.verb ? "qa-token qa-verb" : "qa-token", text: this.pieces[2 * number] });
    token.setAttribute("role", "option");
    token.dataset.token = String(number);
    if (number === this.verb) token.setAttribute("aria-label", `${this.pieces[2 * number]}, the verb`);
    return token;
  }

  /** @param {number} number of the token before it */
  #makeGap(number) {
    const gap = make("span", { class: "qa-gap", text: this.pieces[2 * number + 1] });
    gap.setAttribute("role", "presentation");
    return gap;
  }

  #listen() {
    const { signal } = this.listening;
    this.box.addEventListener("pointerdown", (event) => this.#press(event), { signal });
    this.box.addEventListener("pointermove", (event) => this.#drag(event), { signal });
    this.box.addEventListener("pointerup", () => this.#release(), { signal });
    this.box.addEventListener("pointercancel", () => this.#cancel(), { signal });
    this.box.addEventListener("keydown", (event) => this.#key(event), { signal });
  }

  /**
   * @param {number} x
   * @param {number} y
   * @returns {number | null} the token at a place on the screen
   */
  #tokenAt(x, y) {
    const token = document.elementFromPoint(x, y)?.closest("[data-token]");
    return token instanceof HTMLElement && this.box.contains(token) ? Number(token.dataset.token) : null;
  }

  /** @param {PointerEvent} event */
  #press(event) {
    const token = this.#tokenAt(event.clientX, event.clientY);
    if (!this.open || token === null || event.button !== 0 || !event.isPrimary) return;
    this.dragging = true;
    if (event.pointerType === "mouse") this.box.setPointerCapture(event.pointerId);
    event.preventDefault();
    this.pending = { from: token, to: token };
    this.current = token;
    // A finger on a word is no reason for the keyboard of a phone to go: whoever wrote goes on writing afterwards.
    if (event.pointerType === "mouse") this.#moveTo(token, true);
    else this.#draw();
  }

  /** @param {PointerEvent} event */
  #drag(event) {
    if (!this.dragging || !this.pending || !event.isPrimary) return;
    const token = this.#tokenAt(event.clientX, event.clientY);
    if (token === null || token === this.pending.to) return;
    this.pending = { ...this.pending, to: token };
    this.#draw();
  }

  #release() {
    if (!this.dragging || !this.pending) return;
    this.dragging = false;
    const { from, to } = this.pending;
    this.pending = null;
    if (from === to) this.#tap(from);
    else this.#mark(Math.min(from, to), Math.max(from, to) + 1);
  }

  #cancel() {
    this.dragging = false;
    this.pending = null;
    this.#draw();
  }

  /** @param {number} token */
  #tap(token) {
    const there = this.spans.find(([start, end]) => start <= token && token < end);
    if (there) {
      this.#remove(there);
      return;
    }
    const { latest } = this;
    const beside = latest && this.#has(latest) && (latest[1] === token || latest[0] === token + 1);
    if (beside) {
      this.spans = this.spans.filter((span) => String(span) !== String(latest));
      this.#mark(Math.min(latest[0], token), Math.max(latest[1], token + 1));
    } else {
      this.#mark(token, token + 1);
    }
  }

  /** @param {Span} span */
  #has(span) {
    return this.spans.some((each) => String(each) === String(span));
  }

  /**
   * A new mark takes the place of what it lies on.
   *
   * @param {number} start
   * @param {number} end
   */
  #mark(start, end) {
    /** @type {Span} */
    const span = [start, end];
    this.spans = [...this.spans.filter((each) => each[1] <= start || each[0] >= end), span].sort((one, other) => one[0] - other[0]);
    this.latest = span;
    this.#tell(`Marked: ${this.text(span)}`);
  }

  /** @param {Span} span */
  #remove(span) {
    this.spans = this.spans.filter((each) => each !== span);
    this.#tell(`No longer marked: ${this.text(span)}`);
  }

  /** @param {string} said */
  #tell(said) {
    this.#draw();
    this.events.changed(
      this.spans.map(([start, end]) => [start, end]),
      said,
    );
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const leap = this.#leap(event.key);
    if (leap !== null) this.#go(leap, event.shiftKey);
    else if (event.key === " ") this.#confirm();
    else if (event.key === "Enter" && !event.repeat) this.pending ? this.#confirm() : this.events.confirmed();
    else if (event.key === "Escape") this.pending ? this.#cancel() : this.events.left();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /**
   * @param {string} key
   * @returns {number | null} where it leads
   */
  #leap(key) {
    if (key === "ArrowRight") return this.current + 1;
    if (key === "ArrowLeft") return this.current - 1;
    if (key === "ArrowDown") return this.#beside(1);
    if (key === "ArrowUp") return this.#beside(-1);
    if (key === "Home") return 0;
    return key === "End" ? this.count - 1 : null;
  }

  /**
   * @param {1 | -1} direction
   * @returns {number} the nearest token of the next line, or of the one before
   */
  #beside(direction) {
    const here = this.tokens[this.current].getBoundingClientRect();
    const centre = (here.left + here.right) / 2;
    const others = this.tokens
      .map((token, number) => ({ number, place: token.getBoundingClientRect() }))
      .filter(({ place }) => direction * (place.top - here.top) > here.height / 2);
    if (others.length === 0) return this.current;
    const tops = others.map(({ place }) => place.top);
    const line = direction > 0 ? Math.min(...tops) : Math.max(...tops);
    const away = (/** @type {DOMRect} */ place) => Math.abs((place.left + place.right) / 2 - centre);
    return others
      .filter(({ place }) => Math.abs(place.top - line) < here.height / 2)
      .reduce((best, each) => (away(each.place) < away(best.place) ? each : best)).number;
  }

  /**
   * @param {number} token
   * @param {boolean} extending
   */
  #go(token, extending) {
    const target = Math.max(0, Math.min(this.count - 1, token));
    this.pending = extending && this.open ? { from: this.pending?.from ?? this.current, to: target } : null;
    this.#moveTo(target);
  }

  /**
   * @param {number} token
   * @param {boolean} [preventScroll] under a finger, the page stays where it is
   */
  #moveTo(token, preventScroll = false) {
    this.current = token;
    this.#draw();
    this.tokens[token].focus({ preventScroll });
  }

  #confirm() {
    if (!this.open) return;
    const { pending } = this;
    this.pending = null;
    if (pending && pending.from !== pending.to) {
      this.#mark(Math.min(pending.from, pending.to), Math.max(pending.from, pending.to) + 1);
    } else {
      const there = this.spans.find(([start, end]) => start <= this.current && this.current < end);
      if (there) this.#remove(there);
      else this.#mark(this.current, this.current + 1);
    }
  }

  #draw() {
    const low = this.pending ? Math.min(this.pending.from, this.pending.to) : 1;
    const high = this.pending ? Math.max(this.pending.from, this.pending.to) : 0;
    this.tokens.forEach((token, number) => {
      const inside = (/** @type {Span} */ [start, end]) => start <= number && number < end;
      const span = this.spans.find(inside);
      const isPending = low <= number && number <= high;
      const gap = /** @type {HTMLElement} */ (token.nextElementSibling);
      token.setAttribute("aria-selected", String(span !== undefined));
      token.tabIndex = number === this.current ? 0 : -1;
      token.classList.toggle("qa-pending", isPending);
      gap.classList.toggle("qa-pending", isPending && number < high);
      token.classList.toggle("qa-in", span !== undefined);
      gap.classList.toggle("qa-in", span !== undefined && number < span[1] - 1);
      token.classList.toggle("qa-first", span !== undefined && span[0] === number);
      token.classList.toggle("qa-last", span !== undefined && span[1] - 1 === number);
      token.classList.toggle("qa-other", this.others.some(inside));
    });
  }
}

/**
 * A span cut where it lists several things: at commas, brackets, and, or.
 *
 * @param {string[]} pieces
 * @param {Span} span
 * @returns {Span[]} the parts; the span itself if there is nothing to cut
 */
export function split(pieces, [start, end]) {
  const cuts = new Set([",", ";", "(", ")", "and", "or", "&", "/", "as", "well"]);
  /** @type {Span[]} */
  const parts = [];
  let from = start;
  for (let token = start; token <= end; token += 1) {
    if (token < end && !cuts.has(pieces[2 * token].toLowerCase())) continue;
    if (token > from) parts.push([from, token]);
    from = token + 1;
  }
  return parts.length > 0 ? parts : [[start, end]];
}
