/**
 * Selecting the words of a text: moving between them, and choosing ranges by dragging,
 * tapping, or with the keyboard. The host decides what to do with a range.
 *
 * Words are options of a list, so that assistive technology knows which are chosen and Enter is left to the form.
 *
 * @typedef {[number, number]} Stretch the first word, and the word after the last
 * @typedef {{
 *   tapped: (word: number) => void,
 *   toggled: (word: number) => void,
 *   chosen: (start: number, end: number) => void,
 *   draw: () => void,
 *   key?: (event: KeyboardEvent) => boolean,
 * }} Host `tapped`: a word by mouse or finger; `toggled`: the one with the focus, by Space; `chosen`: several words;
 *   `draw`: the display has to be updated; `key`: handles other keys, and returns whether it did
 */

import { make } from "./show.js";

export class Words {
  /**
   * @param {HTMLElement} box
   * @param {string[]} pieces word, gap, word, gap and so on
   * @param {string} prefix of the classes of words and gaps
   * @param {Host} host
   */
  constructor(box, pieces, prefix, host) {
    this.box = box;
    this.pieces = pieces;
    this.prefix = prefix;
    this.host = host;
    this.count = Math.floor(pieces.length / 2);
    this.current = 0;
    this.open = true;
    /** @type {{from: number, to: number} | null} words about to be chosen */
    this.pending = null;
    this.dragging = false;
    this.listening = new AbortController();
    this.all = Array.from({ length: this.count }, (_, number) => this.#makeWord(number));
    box.replaceChildren(...this.all.flatMap((word, number) => [word, this.#makeGap(number)]));
    this.#listen();
  }

  /** @param {Stretch} stretch */
  text([start, end]) {
    return this.pieces.slice(2 * start, 2 * end - 1).join("");
  }

  close() {
    this.listening.abort();
  }

  /**
   * @param {number} word
   * @param {boolean} [preventScroll] under a hand, the page stays where it is
   */
  goTo(word, preventScroll = false) {
    this.current = word;
    this.host.draw();
    this.all[word].focus({ preventScroll });
  }

  /**
   * Show the chosen words and the current range.
   *
   * @param {Stretch[]} chosen
   * @param {(word: HTMLElement, number: number) => void} [more] shows more about each word
   */
  show(chosen, more) {
    const [low, high] = this.pending === null ? [1, 0] : ordered(this.pending);
    this.all.forEach((word, number) => {
      const around = chosen.filter(([start, end]) => start <= number && number < end);
      const isPending = low <= number && number <= high;
      const gap = /** @type {HTMLElement} */ (word.nextElementSibling);
      word.setAttribute("aria-selected", String(around.length > 0));
      word.tabIndex = number === this.current ? 0 : -1;
      this.#mark(word, "pending", isPending);
      this.#mark(gap, "pending", isPending && number < high);
      this.#mark(word, "in", around.length > 0);
      this.#mark(gap, "in", around.some(([, end]) => number < end - 1));
      this.#mark(word, "first", around.some(([start]) => start === number));
      this.#mark(word, "last", around.some(([, end]) => end - 1 === number));
      more?.(word, number);
    });
  }

  /**
   * @param {HTMLElement} element
   * @param {string} name
   * @param {boolean} isSo
   */
  #mark(element, name, isSo) {
    element.classList.toggle(`${this.prefix}-${name}`, isSo);
  }

  /** @param {number} number */
  #makeWord(number) {
    const word = make("span", { class: `${this.prefix}-token`, text: this.pieces[2 * number] });
    word.setAttribute("role", "option");
    word.dataset.token = String(number);
    return word;
  }

  /** @param {number} number of the word before it; gaps are only marked, never focused or chosen */
  #makeGap(number) {
    const gap = make("span", { class: `${this.prefix}-gap`, text: this.pieces[2 * number + 1] });
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
    this.box.addEventListener("focusout", (event) => this.#leave(event), { signal });
  }

  // With mouse or finger

  /**
   * @param {number} x
   * @param {number} y
   * @returns {number | null} the word at a place on the screen
   */
  #wordAt(x, y) {
    const word = document.elementFromPoint(x, y)?.closest("[data-token]");
    return word instanceof HTMLElement && this.box.contains(word) ? Number(word.dataset.token) : null;
  }

  /** @param {PointerEvent} event */
  #press(event) {
    const word = this.#wordAt(event.clientX, event.clientY);
    if (!this.open || word === null || event.button !== 0 || !event.isPrimary) return;
    const byMouse = event.pointerType === "mouse";
    this.dragging = true;
    // The mouse may leave the text and return; the browser captures touches anyway.
    if (byMouse) this.box.setPointerCapture(event.pointerId);
    event.preventDefault();
    this.pending = { from: word, to: word };
    this.current = word;
    // Touching a word must not close a phone's keyboard, so that people can continue typing.
    if (byMouse) this.goTo(word, true);
    else this.host.draw();
  }

  /** @param {PointerEvent} event */
  #drag(event) {
    if (!this.dragging || !this.pending || !event.isPrimary) return;
    const word = this.#wordAt(event.clientX, event.clientY);
    if (word === null || word === this.pending.to) return;
    this.pending = { ...this.pending, to: word };
    this.host.draw();
  }

  #release() {
    if (!this.dragging || !this.pending) return;
    this.dragging = false;
    this.#choose(this.pending, (word) => this.host.tapped(word));
  }

  /** The browser started scrolling, or the focus moved elsewhere. */
  #cancel() {
    this.dragging = false;
    this.pending = null;
    this.host.draw();
  }

  /** @param {FocusEvent} event */
  #leave(event) {
    if (this.pending && !this.dragging && !this.box.contains(/** @type {Node | null} */ (event.relatedTarget))) this.#cancel();
  }

  /**
   * @param {{from: number, to: number}} pending
   * @param {(word: number) => void} one what a single word means
   */
  #choose(pending, one) {
    const [low, high] = ordered(pending);
    this.pending = null;
    if (low === high) one(low);
    else this.host.chosen(low, high + 1);
  }

  // With the keyboard

  /** @param {KeyboardEvent} event */
  #key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const leap = this.#leap(event.key);
    if (leap !== null) this.#go(leap, event.shiftKey);
    else if (event.key === " " || (event.key === "Enter" && this.pending)) this.#confirm();
    else if (event.key === "Escape" && this.pending) this.#cancel();
    else if (!this.host.key?.(event)) return;
    event.preventDefault();
    event.stopPropagation();
  }

  #confirm() {
    if (this.open) this.#choose(this.pending ?? { from: this.current, to: this.current }, () => this.host.toggled(this.current));
  }

  /**
   * @param {string} key
   * @returns {number | null} where it leads
   */
  #leap(key) {
    const forward = getComputedStyle(this.box).direction === "rtl" ? "ArrowLeft" : "ArrowRight";
    const back = forward === "ArrowRight" ? "ArrowLeft" : "ArrowRight";
    if (key === forward) return this.current + 1;
    if (key === back) return this.current - 1;
    if (key === "ArrowDown") return this.#beside(1);
    if (key === "ArrowUp") return this.#beside(-1);
    if (key === "Home") return 0;
    return key === "End" ? this.count - 1 : null;
  }

  /**
   * @param {1 | -1} direction
   * @returns {number} the nearest word of the next line, or of the one before
   */
  #beside(direction) {
    const here = this.all[this.current].getBoundingClientRect();
    const centre = (here.left + here.right) / 2;
    const others = this.all
      .map((word, number) => ({ number, place: word.getBoundingClientRect() }))
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
   * @param {number} word
   * @param {boolean} extending
   */
  #go(word, extending) {
    const target = Math.max(0, Math.min(this.count - 1, word));
    this.pending = extending && this.open ? { from: this.pending?.from ?? this.current, to: target } : null;
    this.goTo(target);
  }
}

/**
 * @param {{from: number, to: number}} pending
 * @returns {Stretch} here with the last word, not the word after it
 */
const ordered = ({ from, to }) => [Math.min(from, to), Math.max(from, to)];
