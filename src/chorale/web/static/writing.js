/**
 * Writing statistics of an answer, if the study records them and the consent form says so.
 *
 * No text or keys are stored: only the numbers of entered and pasted characters, the typing rhythm, and how often
 * the page was left. The numbers are sent with the answer.
 *
 * @typedef {{typed: number, pasted: number, gaps: number, mean: number, squares: number, typingMs: number, left: number, awayMs: number}} Counts
 * @typedef {{characters: number, pasted: number, typing_ms: number, rhythm: number | null, left: number, away_ms: number}} WritingNumbers
 */

/** A longer pause is for thinking or reading, not for typing. */
const LONGEST_GAP_MS = 2000;
const FEWEST_GAPS = 5;
const PASTED = new Set(["insertFromPaste", "insertFromPasteAsQuotation", "insertFromDrop"]);
const TEXT = "textarea, input[type=text], input:not([type])";

export class Writing {
  /**
   * @param {HTMLElement} root the form
   * @param {Counts | null} before what was counted before the page was loaded again
   * @param {AbortSignal} signal
   */
  constructor(root, before, signal) {
    this.root = root;
    /** @type {Counts} */
    this.counts = before ?? { typed: 0, pasted: 0, gaps: 0, mean: 0, squares: 0, typingMs: 0, left: 0, awayMs: 0 };
    /** @type {WeakMap<HTMLInputElement | HTMLTextAreaElement, number>} */
    this.lengths = new WeakMap();
    this.last = 0;
    this.leftAt = 0;
    for (const control of this.#controls()) this.lengths.set(control, control.value.length);
    root.addEventListener("input", (event) => this.#put(/** @type {InputEvent} */ (event)), { signal });
    document.addEventListener("visibilitychange", () => this.#look(document.visibilityState === "visible"), { signal });
    window.addEventListener("blur", () => this.#look(false), { signal });
    window.addEventListener("focus", () => this.#look(true), { signal });
  }

  /** @returns {WritingNumbers} */
  numbers() {
    const { typed, pasted, gaps, mean, squares, typingMs, left, awayMs } = this.counts;
    const put = typed + pasted;
    return {
      characters: this.#controls().reduce((sum, control) => sum + control.value.length, 0),
      pasted: put > 0 ? pasted / put : 0,
      typing_ms: Math.round(typingMs),
      rhythm: gaps >= FEWEST_GAPS && mean > 0 ? Math.sqrt(squares / (gaps - 1)) / mean : null,
      left,
      away_ms: Math.round(awayMs),
    };
  }

  #controls() {
    return /** @type {(HTMLInputElement | HTMLTextAreaElement)[]} */ ([...this.root.querySelectorAll(TEXT)]);
  }

  /** @param {InputEvent} event */
  #put(event) {
    const control = /** @type {HTMLInputElement} */ (event.target);
    if (!control.matches?.(TEXT)) return;
    const more = control.value.length - (this.lengths.get(control) ?? 0);
    this.lengths.set(control, control.value.length);
    const counts = this.counts;
    if (PASTED.has(event.inputType)) {
      counts.pasted += Math.max(event.data?.length ?? 0, more, 0);
      this.last = 0;
      return;
    }
    counts.typed += Math.max(0, more);
    const now = performance.now();
    const gap = now - this.last;
    if (this.last && gap <= LONGEST_GAP_MS) {
      // Mean and sum of squares as they come (Welford).
      counts.gaps += 1;
      const off = gap - counts.mean;
      counts.mean += off / counts.gaps;
      counts.squares += off * (gap - counts.mean);
      counts.typingMs += gap;
    }
    this.last = now;
  }

  /** @param {boolean} here */
  #look(here) {
    if (!here && !this.leftAt) {
      this.leftAt = Date.now(); // counted on return, since reloading a page does not count as leaving
    } else if (here && this.leftAt && document.visibilityState === "visible") {
      this.counts.left += 1;
      this.counts.awayMs += Date.now() - this.leftAt;
      this.leftAt = 0;
    }
  }
}
