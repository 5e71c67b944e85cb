/**
 * A layout in its frame. The frame has no origin: it sends field values as messages, and receives a draft as a message.
 * The layout decides when it is submitted, by its own button and checks; its form is read at that moment.
 *
 * @typedef {import("../static/form.js").TaskApi} TaskApi
 */

import { say } from "/static/say.js";

const SANDBOX = "allow-scripts allow-forms allow-popups allow-modals";
/** The path of the study, if a server has several studies. */
const ROOT = document.documentElement.dataset.root ?? "";
const HELPER = "/static/mturk/frame.js";
const PRESSES = "/static/presses.js";
const CROWD = "/static/mturk/crowd.js";
const TEXT_ELEMENTS = "/static/mturk/crowd-text.js";
const DRAWING = "/static/drawing.js";
const DRAWN_ELEMENTS = "/static/mturk/crowd-drawing.js";
/** URL of the sentences in the study's language; undefined in English. */
const SENTENCES = document.querySelector('script[src*="/static/sentences.js"]')?.getAttribute("src");
const TALLEST = 4000;
const MOST_SIGNS = 200_000;
const STORED = "layout-storage";
/** Time from the end of a touch to its click. */
const CLICKED_AFTER_MS = 300;
/** A press whose end is not seen here counts as ended after this time. */
const LONGEST_PRESS_MS = 1000;

/** @type {WeakMap<HTMLElement, Layout>} */
const layouts = new WeakMap();

/**
 * @param {HTMLElement} root
 * @param {Object<string, any>} item
 * @param {TaskApi} api
 */
export function mount(root, item, api) {
  layouts.set(root, new Layout(root, item, api));
}

/** @param {HTMLElement} root */
export const collect = (root) => layouts.get(root)?.answer() ?? {};

/** @param {HTMLElement} root */
export const draft = (root) => layouts.get(root)?.values ?? [];

/** @param {HTMLElement} root */
export const request = (root) => layouts.get(root)?.post({ chorale: "submit" });

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

/** @param {boolean} incomplete whether something was not filled in */
function refusal(incomplete) {
  return incomplete
    ? say("Please fill in all required fields.")
    : say("The page above has not accepted this answer yet. Follow its message, then submit again.");
}

class Layout {
  /**
   * @param {HTMLElement} root
   * @param {Object<string, any>} item
   * @param {TaskApi} api
   */
  constructor(root, item, api) {
    this.api = api;
    this.html = asDocument(item.html);
    /** @type {[string, string][]} */
    this.values = Array.isArray(api.draft) ? api.draft : [];
    /** @type {[string, string][]} */
    this.sent = [];
    this.listening = new AbortController();
    this.pressed = 0;
    this.height = 480;
    this.frame = document.createElement("iframe");
    this.frame.className = "hit-frame";
    this.frame.title = say("Question");
    this.frame.setAttribute("sandbox", SANDBOX);
    this.frame.setAttribute("allow", "");
    this.frame.height = String(this.height);
    // A script in the frame can read its own name at once, before any message.
    this.frame.name = JSON.stringify(api.memory.get(STORED) ?? {});
    // Layouts read these parameters from their address, and post to the address in them.
    const parameters = { assignmentId: api.id, hitId: api.id, turkSubmitTo: location.origin + ROOT };
    this.frame.src = `${ROOT}/mturk/shell?${new URLSearchParams(parameters)}`;
    const { signal } = this.listening;
    addEventListener("message", (event) => this.#heard(event), { signal });
    addEventListener("pointerdown", () => this.#hold(LONGEST_PRESS_MS), { signal });
    for (const name of ["pointerup", "pointercancel"]) addEventListener(name, () => this.#hold(CLICKED_AFTER_MS), { signal });
    root.querySelector("[data-layout]")?.replaceChildren(this.frame);
  }

  /** @param {any} message */
  post(message) {
    this.frame.contentWindow?.postMessage(message, "*");
  }

  /** @param {MessageEvent} event */
  #heard(event) {
    if (event.source !== this.frame.contentWindow || typeof event.data?.chorale !== "string") return;
    const said = event.data;
    if (said.chorale === "empty") this.post({ chorale: "fill", html: this.html });
    else if (said.chorale === "ready" && this.values.length) this.post({ chorale: "restore", values: this.values });
    else if (said.chorale === "draft" && isFields(said.values)) this.#keep(said.values);
    else if (said.chorale === "submit") this.#submit(said.values, said.answer);
    else if (said.chorale === "refused") this.api.complain(refusal(said.incomplete));
    else if (said.chorale === "button") this.api.ownButton(said.own === true);
    else if (said.chorale === "storage" && JSON.stringify(said.stored ?? {}).length <= MOST_SIGNS) {
      this.api.memory.set(STORED, said.stored);
    } else if (said.chorale === "height" && Number.isFinite(said.height)) {
      this.height = Math.min(TALLEST, Math.max(120, Math.ceil(said.height)));
      if (!this.pressed) this.#fit();
    }
  }

  /** While a button is pressed, the frame above it keeps its height. Otherwise, the press could end in the frame. @param {number} ms */
  #hold(ms) {
    window.clearTimeout(this.pressed);
    this.pressed = window.setTimeout(() => this.#fit(), ms);
  }

  #fit() {
    this.pressed = 0;
    this.frame.height = String(this.height);
  }

  /** @param {[string, string][]} values */
  #keep(values) {
    const first = !this.heardBefore;
    this.heardBefore = true;
    // A page that was just loaded has no values yet that the draft could lack.
    if (first && this.values.length) return;
    const changed = JSON.stringify(values) !== JSON.stringify(this.values);
    this.values = values;
    if (changed && !first) this.api.changed();
  }

  /**
   * @param {any} values
   * @param {any} answer
   */
  #submit(values, answer) {
    if (!isFields(values) || !isFields(answer)) {
      this.api.complain(say("Your answer is too large to send. Shorten it, or skip this question."));
      return;
    }
    this.values = values;
    this.sent = answer;
    this.api.submit();
  }

  /** @returns {Object<string, string>} fields by name, without empty ones; several values of one name with | between them */
  answer() {
    /** @type {Map<string, string[]>} */
    const together = new Map();
    for (const [name, value] of this.sent) if (value !== "") together.set(name, [...(together.get(name) ?? []), value]);
    return Object.fromEntries([...together].map(([name, values]) => [name, values.join("|")]));
  }

  close() {
    this.listening.abort();
    window.clearTimeout(this.pressed);
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
 * A layout as a complete page, with the script and styles that old pages need.
 *
 * @param {string} html
 */
function asDocument(html) {
  const elements = /<crowd-/i.test(html) ? [TEXT_ELEMENTS, DRAWING, DRAWN_ELEMENTS] : [];
  const scripts = [...(SENTENCES && elements.length > 0 ? [SENTENCES] : []), HELPER, PRESSES, ...elements];
  const script = scripts.map((source) => `<script src="${source}" data-root="${ROOT}"></` + "script>").join("");
  const own = inForm(html)
    .replace(/(?:https?:)?\/\/[^"'\s<>]{0,200}\/externalHIT_v1\.js/gi, HELPER)
    .replace(/(?:https?:)?\/\/[^"'\s<>]{0,200}\/crowd-html-elements[\w.-]{0,40}\.js/gi, CROWD);
  const head = /<head(?:\s[^>]{0,1000})?>/i.exec(own) ?? /<html(?:\s[^>]{0,1000})?>/i.exec(own);
  if (head) {
    const end = head.index + head[0].length;
    return own.slice(0, end) + script + own.slice(end);
  }
  const { lang, dir } = document.documentElement;
  const title = say("Question");
  return (
    `<!doctype html><html lang="${lang}" dir="${dir || "ltr"}"><head>` +
    `<meta charset="utf-8"><title>${title}</title>` +
    '<meta name="viewport" content="width=device-width, initial-scale=1">' +
    `<link rel="stylesheet" href="/static/mturk/frame.css">${script}</head><body>${own}</body></html>`
  );
}

/**
 * Puts a layout without a form into a form, as Mechanical Turk did.
 *
 * @param {string} html
 */
function inForm(html) {
  const bare = html.replace(/<!--[\s\S]*?-->/g, "");
  if (/<form[\s>]|<crowd-/i.test(bare)) return html;
  const open = '<form id="mturk_form" name="mturk_form" data-chorale-wrapped>';
  const body = /<body(?:\s[^>]{0,1000})?>/i.exec(html);
  if (!body) return /<html[\s>]/i.test(html) ? html : `${open}${html}</form>`;
  const start = body.index + body[0].length;
  const end = html.toLowerCase().lastIndexOf("</body>");
  const inside = html.slice(start, end < start ? undefined : end);
  return html.slice(0, start) + open + inside + "</form>" + (end < start ? "" : html.slice(end));
}
