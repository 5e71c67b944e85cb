/** Timers: time in view, remaining time limit, and retry delays. */

/** Counts only while the page can be seen. */
export class VisibleTimer {
  /** @param {number} [already] milliseconds counted before (a reload, another tab) */
  constructor(already = 0) {
    this.total = already;
    /** @type {number | null} */
    this.since = null;
    this.update = () => {
      this.total = this.elapsed;
      this.since = document.visibilityState === "visible" ? performance.now() : null;
    };
    document.addEventListener("visibilitychange", this.update);
    this.update();
  }

  /** Milliseconds so far. */
  get elapsed() {
    return Math.round(this.total + (this.since === null ? 0 : performance.now() - this.since));
  }

  stop() {
    document.removeEventListener("visibilitychange", this.update);
    this.total = this.elapsed;
    this.since = null;
  }
}

/** The remaining time limit by the server's clock. Ticks each second near the end, and once at the end. */
export class LeaseClock {
  /**
   * @param {{expires_at: number, server_now: number}} lease
   * @param {number} nearMs ticks begin when less than this is left
   * @param {(leftMs: number) => void} onTick
   */
  constructor(lease, nearMs, onTick) {
    this.nearMs = nearMs;
    this.onTick = onTick;
    this.renew(lease);
  }

  /** @param {{expires_at: number, server_now: number}} lease */
  renew(lease) {
    this.deadline = Date.now() + (lease.expires_at - lease.server_now);
    this.#schedule();
  }

  get left() {
    return Math.max(0, this.deadline - Date.now());
  }

  stop() {
    clearTimeout(this.timer);
  }

  #schedule() {
    clearTimeout(this.timer);
    const left = this.left;
    // Short waits, since a laptop may sleep in between.
    const wait = left > this.nearMs ? Math.min(left - this.nearMs, 30_000) : 1000;
    this.timer = setTimeout(() => {
      if (this.left <= this.nearMs) this.onTick(this.left);
      if (this.left > 0) this.#schedule();
    }, Math.min(wait, Math.max(left, 0)));
  }
}

/** Growing retry delays with random jitter, so that many browsers do not retry in the same second. */
export class Backoff {
  /**
   * @param {number} firstMs
   * @param {number} mostMs
   * @param {number} [factor]
   */
  constructor(firstMs, mostMs, factor = 2) {
    this.next = firstMs;
    this.mostMs = mostMs;
    this.factor = factor;
  }

  /** The next pause in milliseconds. */
  step() {
    const pause = this.next;
    this.next = Math.min(this.next * this.factor, this.mostMs);
    return pause * (0.75 + Math.random() / 4);
  }
}

/**
 * Wait, but stop as soon as trying again may work: the connection is back, the worker looks at the page again or presses
 * the button, or another tab did the work.
 *
 * @param {number} ms
 * @param {{button?: HTMLElement, storageKeys?: (key: string) => boolean}} [wake]
 * @returns {Promise<void>}
 */
export function pause(ms, { button, storageKeys } = {}) {
  return new Promise((resolve) => {
    const listening = new AbortController();
    const { signal } = listening;
    const done = () => {
      clearTimeout(timer);
      listening.abort();
      resolve();
    };
    const timer = setTimeout(done, ms);
    window.addEventListener("online", done, { signal });
    document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && done(), { signal });
    button?.addEventListener("click", done, { signal });
    if (storageKeys) {
      window.addEventListener("storage", (event) => event.key !== null && storageKeys(event.key) && done(), { signal });
    }
  });
}
