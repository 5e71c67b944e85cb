/**
 * Marking words in a text: by dragging, by tapping one word after the other, or with the keyboard.
 *
 * A span goes from one token up to another. Tokens are options of a list, so that assistive technology knows which are
 * chosen and Enter is left to the form.
 *
 * @typedef {{start: number, end: number, label?: string}} Span
 */

export class Spans {
  /**
   * @param {HTMLElement} element
   * @param {string[]} pieces token, gap, token, gap and so on
   * @param {{overlap?: boolean, max?: number | null, labels?: [string, string][]}} rules
   * @param {() => void} changed
   */
  constructor(element, pieces, rules, changed) {
    this.element = element;
    this.pieces = pieces;
    this.rules = rules;
    this.changed = changed;
    this.box = /** @type {HTMLElement} */ (element.querySelector(".form-tokens"));
    this.marked = /** @type {HTMLElement} */ (element.querySelector(".form-marked"));
    this.status = /** @type {HTMLElement} */ (element.querySelector("[role=status]"));
    this.count = Math.floor(pieces.length / 2);
    /** @type {Span[]} */
    this.spans = [];
    /** @type {Span | null} the one made last, which a tap beside it makes longer */
    this.latest = null;
    /** @type {{from: number, to: number} | null} tokens about to be marked */
    this.pending = null;
    this.current = 0;
    this.listening = new AbortController();
    this.#makeTokens();
    this.#listen();
    this.#draw();
  }

  /** @returns {Span[]} in the order of the text */
  list() {
    return [...this.spans].sort((left, right) => left.start - right.start || left.end - right.end);
  }

  /** @param {any[]} draft perhaps of an older form: what doesn't fit is left */
  restore(draft) {
    this.spans = draft.filter((span) => this.#isSpan(span ?? {})).map((span) => ({ ...span }));
    this.#draw();
  }

  /** @param {any} span */
  #isSpan({ start, end, label }) {
    const labelled = this.#labels.length === 0 ? label === undefined : this.#labels.some(([value]) => value === label);
    return Number.isInteger(start) && Number.isInteger(end) && 0 <= start && start < end && end <= this.count && labelled;
  }

  /** The word that has, or gets, the focus. */
  get focusTarget() {
    return this.tokens[this.current] ?? null;
  }

  /** @returns {string} */
  inWords() {
    return this.list()
      .map((span) => `“${this.#text(span)}”${this.#labelText(span) ? ` (${this.#labelText(span)})` : ""}`)
      .join(", ");
  }

  close() {
    this.listening.abort();
  }

  get #labels() {
    return this.rules.labels ?? [];
  }

  /** What a new span is marked as. */
  get #label() {
    const chosen = /** @type {HTMLInputElement | null} */ (this.element.querySelector(".form-labels input:checked"));
    return chosen?.value;
  }

  #makeTokens() {
    this.tokens = Array.from({ length: this.count }, (_, number) => {
      const token = document.createElement("span");
      token.className = "form-token";
      token.setAttribute("role", "option");
      token.dataset.token = String(number);
      token.textContent = this.pieces[2 * number];
      return token;
    });
    const children = this.tokens.flatMap((token, number) => [token, this.#makeGap(number)]);
    this.box.replaceChildren(...children);
  }

  /** @param {number} number of the token before it; gaps take part in a mark, and in nothing else */
  #makeGap(number) {
    const gap = document.createElement("span");
    gap.className = "form-gap";
    gap.setAttribute("role", "presentation");
    gap.textContent = this.pieces[2 * number + 1];
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
    for (const name of ["input", "change"]) {
      this.marked.addEventListener(name, (event) => this.#relabel(event), { signal });
    }
    this.marked.addEventListener("click", (event) => this.#removeClicked(event), { signal });
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
    if (token === null || event.button !== 0 || !event.isPrimary) return;
    this.dragging = true;
    // The mouse may leave the text and come back; a finger is held by the browser anyway.
    if (event.pointerType === "mouse") this.box.setPointerCapture(event.pointerId);
    event.preventDefault();
    this.pending = { from: token, to: token };
    this.#moveTo(token, true);
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

  /** The browser took the finger for scrolling, or the focus went elsewhere. */
  #cancel() {
    this.dragging = false;
    this.pending = null;
    this.#draw();
  }

  /** @param {FocusEvent} event */
  #leave(event) {
    if (this.pending && !this.dragging && !this.box.contains(/** @type {Node | null} */ (event.relatedTarget))) this.#cancel();
  }

  /** @param {number} token */
  #tap(token) {
    const there = this.#spanAt(token);
    if (there && !this.rules.overlap) {
      this.#remove(there);
      return;
    }
    const { latest } = this;
    const beside = latest && latest.label === this.#label && (latest.end === token || latest.start === token + 1);
    if (beside && this.spans.includes(latest)) {
      this.#remove(latest, true);
      this.#mark(Math.min(latest.start, token), Math.max(latest.end, token + 1));
    } else {
      this.#mark(token, token + 1);
    }
  }

  /**
   * @param {number} start
   * @param {number} end
   */
  #mark(start, end) {
    const label = this.#label;
    const span = label === undefined ? { start, end } : { start, end, label };
    const same = this.spans.some((each) => each.start === start && each.end === end && each.label === label);
    if (!same) {
      // A new mark takes the place of what it lies on, and of the only one there may be.
      if (!this.rules.overlap) this.spans = this.spans.filter((each) => each.end <= start || each.start >= end);
      if (this.rules.max === 1) this.spans = [];
      this.spans.push(span);
      this.latest = span;
    }
    this.#say(`Marked: ${this.#text(span)}`);
  }

  /**
   * @param {Span} span
   * @param {boolean} [quietly] for a span that comes back longer
   */
  #remove(span, quietly = false) {
    this.spans = this.spans.filter((each) => each !== span);
    if (!quietly) this.#say(`No longer marked: ${this.#text(span)}`);
  }

  /** @param {string} text */
  #say(text) {
    this.status.textContent = text;
    this.#draw();
    this.changed();
  }

  /** @param {number} token */
  #spanAt(token) {
    return this.spans.find((span) => span.start <= token && token < span.end);
  }

  /** @param {Span} span */
  #text({ start, end }) {
    return this.pieces.slice(2 * start, 2 * end - 1).join("");
  }

  /** @param {Span} span */
  #labelText(span) {
    return this.#labels.find(([value]) => value === span.label)?.[1] ?? "";
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const leap = this.#leap(event.key);
    if (leap !== null) this.#go(leap, event.shiftKey);
    else if (event.key === " ") this.#confirm();
    else if (event.key === "Enter" && this.pending) this.#confirm();
    else if (event.key === "Escape" && this.pending) this.#cancel();
    else if (!/^[1-9]$/.test(event.key) || !this.#chooseLabel(Number(event.key) - 1)) return;
    event.preventDefault();
    event.stopPropagation();
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
    this.pending = extending ? { from: this.pending?.from ?? this.current, to: target } : null;
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
    const { pending } = this;
    this.pending = null;
    if (pending && pending.from !== pending.to) {
      this.#mark(Math.min(pending.from, pending.to), Math.max(pending.from, pending.to) + 1);
    } else {
      const there = this.#spanAt(this.current);
      if (there && !this.rules.overlap) this.#remove(there);
      else this.#mark(this.current, this.current + 1);
    }
  }

  /**
   * @param {number} number
   * @returns {boolean} whether there is such a label
   */
  #chooseLabel(number) {
    const inputs = this.element.querySelectorAll(".form-labels input");
    const input = /** @type {HTMLInputElement | undefined} */ (inputs[number]);
    if (!input) return false;
    input.checked = true;
    const span = this.#spanAt(this.current);
    if (span) span.label = input.value;
    this.#say(span ? `${this.#labelText(span)}: ${this.#text(span)}` : `Marking as ${this.#labels[number][1]}`);
    return true;
  }

  /** @param {Event} event a choice in the list of what is marked */
  #relabel(event) {
    const choice = /** @type {HTMLSelectElement} */ (event.target);
    const span = this.list()[Number(choice.closest("li")?.dataset.span)];
    if (!span || span.label === choice.value) return;
    span.label = choice.value;
    this.#colour();
    this.changed();
  }

  /** @param {Event} event */
  #removeClicked(event) {
    const button = /** @type {Element} */ (event.target).closest("button");
    const span = button && this.list()[Number(button.closest("li")?.dataset.span)];
    if (!span) return;
    this.current = span.start;
    this.#remove(span);
    this.focusTarget?.focus();
  }

  #draw() {
    this.#colour();
    this.marked.replaceChildren(...this.list().map((span, number) => this.#makeEntry(span, number)));
    this.marked.hidden = this.spans.length === 0;
  }

  /** Which tokens are marked, and which are about to be. */
  #colour() {
    const low = this.pending ? Math.min(this.pending.from, this.pending.to) : 1;
    const high = this.pending ? Math.max(this.pending.from, this.pending.to) : 0;
    const ends = new Set(this.spans.map((span) => span.end));
    this.tokens.forEach((token, number) => {
      const spans = this.spans.filter((span) => span.start <= number && number < span.end);
      const isPending = low <= number && number <= high;
      const gap = /** @type {HTMLElement} */ (token.nextElementSibling);
      token.setAttribute("aria-selected", String(spans.length > 0));
      token.tabIndex = number === this.current ? 0 : -1;
      token.classList.toggle("form-pending", isPending);
      gap.classList.toggle("form-pending", isPending && number < high);
      token.classList.toggle("form-in", spans.length > 0);
      gap.classList.toggle("form-in", spans.some((span) => number < span.end - 1));
      const begins = spans.some((span) => span.start === number);
      token.classList.toggle("form-first", begins);
      token.classList.toggle("form-apart", begins && ends.has(number));
      token.classList.toggle("form-last", spans.some((span) => span.end - 1 === number));
      const ending = spans.filter((span) => span.end - 1 === number).map((span) => this.#labelText(span));
      if (ending.some(Boolean)) token.dataset.label = ending.join(", ");
      else delete token.dataset.label;
    });
  }

  /**
   * @param {Span} span
   * @param {number} number
   */
  #makeEntry(span, number) {
    const entry = document.createElement("li");
    entry.dataset.span = String(number);
    const text = document.createElement("span");
    text.className = "form-excerpt";
    text.textContent = `“${this.#text(span)}”`;
    entry.append(text);
    if (this.#labels.length > 0) entry.append(this.#makeLabels(span));
    const button = document.createElement("button");
    button.type = "button";
    button.className = "button button-small button-quiet";
    button.textContent = "Remove";
    button.setAttribute("aria-label", `Remove ${text.textContent}`);
    entry.append(button);
    return entry;
  }

  /** @param {Span} span */
  #makeLabels(span) {
    const choice = document.createElement("select");
    choice.setAttribute("aria-label", `What “${this.#text(span)}” is marked as`);
    for (const [value, label] of this.#labels) {
      const option = document.createElement("option");
      option.value = value;
      option.textContent = label;
      option.selected = value === span.label;
      choice.append(option);
    }
    return choice;
  }
}
