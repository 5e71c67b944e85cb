/**
 * A layout in its frame. The frame has no origin: it sends what is filled in as messages, and gets a draft back as one.
 *
 * @typedef {{draft: any, changed: () => void, submit: () => void}} Api
 */

const SANDBOX = "allow-scripts allow-forms allow-popups allow-modals";
const HELPER = "/static/mturk/frame.js";
const CROWD = "/static/mturk/crowd.js";
const TALLEST = 4000;
const MOST_SIGNS = 200_000;

/** @type {WeakMap<HTMLElement, Layout>} */
const layouts = new WeakMap();

/**
 * @param {HTMLElement} root
 * @param {Object<string, any>} item
 * @param {Api} api
 */
export function mount(root, item, api) {
  layouts.set(root, new Layout(root, item, api));
}

/** @param {HTMLElement} root */
export const collect = (root) => layouts.get(root)?.answer() ?? {};

/** @param {HTMLElement} root */
export const draft = (root) => layouts.get(root)?.values ?? [];

/** @param {HTMLElement} root */
export const problem = (root) => layouts.get(root)?.problem() ?? null;

/** @param {HTMLElement} root */
export const point = (root) => layouts.get(root)?.say({ chorale: "point" });

/** @param {HTMLElement} root */
export const recap = (root) => ({
  lines: [],
  answer: Object.entries(collect(root)).map(([name, value]) => `${name}: ${value}`).join(", "),
});

/** @param {HTMLElement} root */
export function unmount(root) {
  layouts.get(root)?.close();
  layouts.delete(root);
}

class Layout {
  /**
   * @param {HTMLElement} root
   * @param {Object<string, any>} item
   * @param {Api} api
   */
  constructor(root, item, api) {
    this.api = api;
    this.html = asDocument(item.html);
    /** @type {[string, string][]} */
    this.values = Array.isArray(api.draft) ? api.draft : [];
    this.sent = this.values;
    this.valid = false;
    this.listening = new AbortController();
    this.frame = document.createElement("iframe");
    this.frame.className = "hit-frame";
    this.frame.title = "Question";
    this.frame.setAttribute("sandbox", SANDBOX);
    this.frame.setAttribute("allow", "");
    this.frame.height = "480";
    this.frame.src = "/mturk/shell";
    addEventListener("message", (event) => this.#heard(event), { signal: this.listening.signal });
    root.querySelector("[data-layout]")?.replaceChildren(this.frame);
  }

  /** @param {any} message */
  say(message) {
    this.frame.contentWindow?.postMessage(message, "*");
  }

  /** @param {MessageEvent} event */
  #heard(event) {
    if (event.source !== this.frame.contentWindow || typeof event.data?.chorale !== "string") return;
    const said = event.data;
    if (said.chorale === "empty") this.say({ chorale: "fill", html: this.html });
    else if (said.chorale === "ready" && this.values.length) this.say({ chorale: "restore", values: this.values });
    else if (said.chorale === "draft" && isFields(said.values) && isFields(said.answer)) this.#keep(said);
    else if (said.chorale === "submit") this.api.submit();
    else if (said.chorale === "height" && Number.isFinite(said.height)) {
      this.frame.height = String(Math.min(TALLEST, Math.max(120, Math.ceil(said.height))));
    }
  }

  /** @param {{values: [string, string][], answer: [string, string][], valid: unknown}} said */
  #keep({ values, answer, valid }) {
    const first = !this.heardBefore;
    this.heardBefore = true;
    this.valid = valid === true;
    // A page that has only just come up has nothing yet that a draft could lack.
    if (first && this.values.length) return;
    const changed = JSON.stringify(values) !== JSON.stringify(this.values);
    this.values = values;
    this.sent = answer;
    if (changed && !first) this.api.changed();
  }

  /** @returns {Object<string, string>} fields by name; several values of one name with | between them */
  answer() {
    /** @type {Map<string, string[]>} */
    const together = new Map();
    for (const [name, value] of this.sent) together.set(name, [...(together.get(name) ?? []), value]);
    return Object.fromEntries([...together].map(([name, values]) => [name, values.join("|")]));
  }

  problem() {
    return this.valid ? null : "Please fill in what the page asks for.";
  }

  close() {
    this.listening.abort();
    this.frame.remove();
  }
}

/** @param {any} values */
function isFields(values) {
  return (
    Array.isArray(values) &&
    values.length <= 500 &&
    values.every((pair) => Array.isArray(pair) && pair.length === 2 && pair.every((text) => typeof text === "string")) &&
    JSON.stringify(values).length <= MOST_SIGNS
  );
}

/**
 * A layout as a whole page, with what old pages expect to find.
 *
 * @param {string} html
 */
function asDocument(html) {
  const script = `<script src="${HELPER}"></` + "script>";
  const own = html
    .replace(/(?:https?:)?\/\/[^"'\s<>]{0,200}\/externalHIT_v1\.js/gi, HELPER)
    .replace(/(?:https?:)?\/\/[^"'\s<>]{0,200}\/crowd-html-elements[\w.-]{0,40}\.js/gi, CROWD);
  const head = /<head(?:\s[^>]{0,1000})?>/i.exec(own) ?? /<html(?:\s[^>]{0,1000})?>/i.exec(own);
  if (head) {
    const end = head.index + head[0].length;
    return own.slice(0, end) + script + own.slice(end);
  }
  return (
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Question</title>' +
    '<meta name="viewport" content="width=device-width, initial-scale=1">' +
    `<link rel="stylesheet" href="/static/mturk/frame.css">${script}</head><body>${own}</body></html>`
  );
}
