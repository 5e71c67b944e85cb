/**
 * Runs inside the frame: provides the functions and storage that pages made for Mechanical Turk expect, and sends their
 * drafts and answers.
 *
 * A classic script, because old pages call its functions while they load. The frame has no origin: the surrounding page
 * keeps drafts and storage, and the two pages only exchange messages. A HIT's page posts its form itself. A layout's
 * form is read here when the layout submits it, after all of the layout's own handlers, and sent to the surrounding page.
 */

(() => {
  "use strict";
  // Layouts load this script again under the name of Amazon's script.
  if (window.choraleFrame) return;
  window.choraleFrame = true;

  const NOT_ACCEPTED = "ASSIGNMENT_ID_NOT_AVAILABLE";
  /** The path of the study, if a server has several studies. */
  const root = document.currentScript?.dataset.root ?? "";
  const SUBMIT = `${root}/mturk/externalSubmit`;
  const BUTTON = "button, input[type=submit], input[type=image]";
  const MOST_STORED = 100_000;
  /** A press whose end is not seen here counts as ended after this time. */
  const LONGEST_PRESS_MS = 1000;
  const asked = new URLSearchParams(location.search);
  const isLayout = location.pathname === `${root}/mturk/shell`;
  // A layout may have its own variable called `parent`.
  const around = window.parent;

  // What `say.js` does for pages. A frame without an origin cannot load modules.
  const words = window.choraleWords;
  const filled = (text, values) => text.replace(/\{(\w+)\}/g, (whole, name) => String(values[name] ?? whole));
  window.choraleSay = (source, values = {}) => filled(words?.messages[source] ?? source, values);
  window.choraleSayCount = (count, one, several) => {
    const english = count === 1 ? one : several;
    return filled(words?.messages[one]?.[words.plural(count)] ?? english, { count });
  };

  /** @param {string} kind @param {Object<string, any>} [more] */
  const send = (kind, more = {}) => around.postMessage({ chorale: kind, ...more }, "*");

  /** @param {string} name @param {string} [otherwise] */
  window.turkGetParam = (name, otherwise = "") => asked.get(name) ?? otherwise;
  window.turkGetSubmitToHost = () => asked.get("turkSubmitTo") ?? "";
  window.turkSetAssignmentID = (given) => prepare(typeof given === "string" ? given : undefined);

  /** Earlier content of the storage. The surrounding page puts it into the frame's name, which scripts can read at once. */
  const stored = (() => {
    try {
      return JSON.parse(window.name) ?? {};
    } catch {
      return {};
    }
  })();
  window.name = "";

  /** A replacement for storage that the sandbox does not provide. @param {"local" | "session" | "cookies"} area */
  function storage(area) {
    const entries = new Map(Object.entries(stored[area] ?? {}).map(([name, value]) => [name, String(value)]));
    const save = () => {
      stored[area] = Object.fromEntries(entries);
      send("storage", { stored });
    };
    const own = {
      getItem: (name) => entries.get(String(name)) ?? null,
      setItem(name, value) {
        const size = [...entries].reduce((sum, [key, text]) => sum + key.length + text.length, String(value).length);
        if (size > MOST_STORED) throw new DOMException("The storage is full.", "QuotaExceededError");
        entries.set(String(name), String(value));
        save();
      },
      removeItem(name) {
        entries.delete(String(name));
        save();
      },
      clear() {
        entries.clear();
        save();
      },
      key: (position) => [...entries.keys()][position] ?? null,
      get length() {
        return entries.size;
      },
    };
    return new Proxy(own, {
      get: (target, name) => (name in target ? target[name] : entries.get(String(name))),
      set(_target, name, value) {
        own.setItem(name, value);
        return true;
      },
      deleteProperty(_target, name) {
        own.removeItem(name);
        return true;
      },
      has: (target, name) => name in target || entries.has(String(name)),
      ownKeys: () => [...entries.keys()],
      getOwnPropertyDescriptor: (_target, name) =>
        entries.has(String(name)) ? { configurable: true, enumerable: true, value: entries.get(String(name)) } : undefined,
    });
  }

  const cookies = storage("cookies");
  const give = (owner, name, more) => Object.defineProperty(owner, name, { configurable: true, ...more });
  for (const [name, area] of [["localStorage", storage("local")], ["sessionStorage", storage("session")]]) {
    give(window, name, { get: () => area });
  }
  give(document, "cookie", {
    get: () => Object.keys(cookies).map((name) => `${name}=${cookies.getItem(name)}`).join("; "),
    set(text) {
      const [pair, ...rules] = String(text).split(";");
      const [name, ...value] = pair.split("=");
      const ended = rules.some((rule) => {
        const [key, given] = rule.split("=").map((part) => part.trim());
        if (key.toLowerCase() === "max-age") return Number(given) <= 0;
        return key.toLowerCase() === "expires" && Date.parse(given) <= Date.now();
      });
      if (ended) cookies.removeItem(name.trim());
      else cookies.setItem(name.trim(), value.join("=").trim());
    },
  });

  const ignored = (control) => control.name === "assignmentId" || ["submit", "button", "file", "image", "reset"].includes(control.type);

  /** The fields of the page, inside or outside a form. */
  const controls = () =>
    [...document.querySelectorAll("input[name], textarea[name], select[name]")].filter((control) => !ignored(control));

  /** @param {Element[]} among @returns {[string, string][]} names and values, as a form sends them */
  function values(among) {
    const pairs = [];
    for (const control of among) {
      if (control.disabled) continue;
      if (control instanceof HTMLSelectElement) {
        for (const option of control.selectedOptions) pairs.push([control.name, option.value]);
      } else if (!["radio", "checkbox"].includes(control.type) || control.checked) {
        pairs.push([control.name, control.value]);
      }
    }
    return pairs;
  }

  /** @param {any} draft */
  function restore(draft) {
    if (!Array.isArray(draft)) return;
    const kept = new Map();
    for (const [name, value] of draft) kept.set(name, [...(kept.get(name) ?? []), String(value)]);
    for (const control of controls()) {
      const own = kept.get(control.name) ?? [];
      if (control instanceof HTMLSelectElement) {
        for (const option of control.options) option.selected = own.includes(option.value);
      } else if (["radio", "checkbox"].includes(control.type)) {
        control.checked = own.includes(control.value);
      } else if ((control.type !== "hidden" || control.hasAttribute("data-widget-value")) && own.length) {
        // A hidden field belongs to a script of the layout, and the script does not know about drafts.
        control.value = own.shift();
      }
    }
    document.dispatchEvent(new CustomEvent("chorale-restored"));
    report();
  }

  const firstInvalid = () => controls().find((control) => control.willValidate && !control.validity.valid) ?? null;

  const report = () => send("draft", { values: values(controls()) });

  const mainForm = () =>
    document.querySelector("#mturk_form") ?? document.querySelector("crowd-form form") ?? document.forms[0] ?? null;

  /** Whether a button submits, judging by its text or its type. @param {any} button */
  function isForSubmitting(button) {
    if (/\bsubmit\b/i.test(button.value || button.textContent || button.id)) return true;
    return button.getAttribute("type") === "submit" || button.type === "image";
  }

  /** Whether the layout has its own submit button, so that the surrounding page shows none. */
  function hasOwnButton() {
    const wrapped = document.querySelector("form[data-chorale-wrapped]") !== null;
    return [...document.querySelectorAll(`${BUTTON}, input[type=button], [role=button]`)].some((button) => {
      if (isForSubmitting(button)) return true;
      // A button without a type submits the layout's own form. In a form that was added around a layout, it may do anything.
      return !wrapped && button.type === "submit" && button.form !== null;
    });
  }

  let taken = 0;
  /** The last answer: a button may call `form.submit()` and also submit its form, but the answer is sent only once. */
  let lastTaken = "";

  /** Sends a layout's answer: the fields of its form, including those that scripts fill in. @param {HTMLFormElement | null} form @param {any} [submitter] */
  function take(form, submitter = null) {
    const own = form === null ? [] : [...new FormData(form, submitter?.form === form ? submitter : null)];
    const answer = own.filter(([name, value]) => name !== "assignmentId" && typeof value === "string");
    // Browsers never sent fields outside of forms, but losing an answer would be worse.
    const outside = values(controls().filter((control) => control.form === null && !control.closest("crowd-form")));
    const said = JSON.stringify([...answer, ...outside]);
    taken += 1;
    if (said === lastTaken) return;
    lastTaken = said;
    setTimeout(() => (lastTaken = ""));
    send("submit", { values: values(controls()), answer: [...answer, ...outside] });
  }

  /** Submits through the layout's own form and its checks, when the surrounding page requests it. */
  function submitLayout() {
    const form = mainForm();
    const before = taken;
    if (form !== null) form.requestSubmit();
    else if (firstInvalid() === null) take(null);
    else firstInvalid()?.reportValidity();
    if (taken === before) send("refused", { incomplete: firstInvalid() !== null });
  }

  /** Makes every form submit to this site, with the assignment ID. @param {string} [given] */
  function prepare(given) {
    const assignment = given ?? asked.get("assignmentId") ?? "";
    for (const form of document.forms) {
      const field = form.elements.namedItem("assignmentId");
      if (field instanceof HTMLInputElement && !field.value) field.value = assignment;
      if (isLayout) continue;
      form.method = "post";
      form.action = SUBMIT;
      form.removeAttribute("target");
      if (!field) {
        const hidden = document.createElement("input");
        Object.assign(hidden, { type: "hidden", name: "assignmentId", value: assignment });
        form.append(hidden);
      }
      if (assignment === NOT_ACCEPTED) {
        for (const button of form.querySelectorAll("button:not([type=button]), input[type=submit]")) {
          button.disabled = true;
        }
      }
    }
  }

  /** Runs after all handlers of the layout, which may have stopped the submission or filled in hidden fields. @param {SubmitEvent} event */
  function decide(event) {
    if (event.defaultPrevented) return;
    event.preventDefault();
    if (isLayout) take(event.target, event.submitter);
  }

  if (isLayout) {
    // `form.submit()` in a script calls no handlers. Without this, the browser would load another page into the frame.
    HTMLFormElement.prototype.submit = function submit() {
      take(this);
    };
  }
  if (isLayout || asked.get("assignmentId") === NOT_ACCEPTED) {
    addEventListener(
      "submit",
      (event) => {
        // Handlers that the layout added to the window in the meantime run first.
        removeEventListener("submit", decide);
        addEventListener("submit", decide);
        // A handler that stops the event's propagation has not stopped the submission, so `decide` runs after it. Until
        // then, the method `dialog` outside of a dialog keeps the browser from loading another page.
        event.target.setAttribute("method", "dialog");
        event.submitter?.removeAttribute("formmethod");
        for (const name of ["stopPropagation", "stopImmediatePropagation"]) {
          const stop = event[name].bind(event);
          event[name] = () => {
            stop();
            setTimeout(() => decide(event));
          };
        }
      },
      true,
    );
  }

  addEventListener("click", (event) => {
    const button = event.target instanceof Element ? event.target.closest(BUTTON) : null;
    if (button === null || event.defaultPrevented || button.type === "button" || button.type === "reset") return;
    // Outside of a form, a button does nothing in a browser, and may be any button of the layout: Next, Back, Help. A
    // submit button submits nevertheless, because Mechanical Turk had a form around everything.
    if (button.form === null && !button.disabled && isForSubmitting(button)) mainForm()?.requestSubmit();
  });
  document.addEventListener("input", report);
  document.addEventListener("change", report);
  addEventListener("message", (event) => {
    if (event.source !== around) return;
    if (event.data?.chorale === "submit" && isLayout) submitLayout();
    if (event.data?.chorale === "restore") {
      restore(event.data.values);
      send("restored");
    }
  });

  function ready() {
    prepare();
    send("ready");
    if (isLayout) {
      report();
      const tellButton = () => send("button", { own: hasOwnButton() });
      tellButton();
      new MutationObserver(tellButton).observe(document.body, { childList: true, subtree: true });
    }
    const measure = () => pressed || send("height", { height: document.documentElement.offsetHeight });
    /** While a button is pressed, the frame keeps its height. Otherwise, the press could end below the button. */
    let pressed = 0;
    const release = () => {
      clearTimeout(pressed);
      pressed = 0;
      measure();
    };
    const hold = () => {
      clearTimeout(pressed);
      pressed = setTimeout(release, LONGEST_PRESS_MS);
    };
    addEventListener("mousedown", hold, true);
    addEventListener("mouseup", release, true);
    if (document.body) new ResizeObserver(measure).observe(document.body);
    measure();
  }
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", ready);
  else ready();
})();
