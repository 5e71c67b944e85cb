/**
 * Amazon's own elements (`<crowd-form>` and others) that layouts of questions use.
 *
 * Each is filled with plain fields, so that drafts, the keyboard and screen readers work as on every page. An answer has
 * the format of Amazon's script: one field, `taskAnswers`, with the answers by name as JSON, or one field per answer if
 * the form has `answer-format="flatten-objects"`.
 */

(() => {
  "use strict";
  // Layouts that use both generations of Amazon's elements load this script twice.
  if (window.choraleCrowdLoaded) return;
  window.choraleCrowdLoaded = true;
  const say = window.choraleSay;
  const SUBMITS = "crowd-button[form-action=submit], button[type=submit], input[type=submit]";
  const done = new WeakSet();
  let groups = 0;

  /** @param {string} tag @param {Object<string, any>} [own] @param {(Node | string)[]} inside */
  function element(tag, own = {}, ...inside) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(own)) {
      if (value !== null && value !== undefined && value !== false) made.setAttribute(name, value === true ? "" : value);
    }
    made.append(...inside);
    return made;
  }

  const given = (own, name) => own.getAttribute(name);
  const contents = (own) => [...own.childNodes];

  /** Gives an element the properties of the field in it. */
  function stand(own, field, ...names) {
    for (const name of names) {
      Object.defineProperty(own, name, {
        configurable: true,
        get: () => field[name],
        set: (value) => (field[name] = value),
      });
    }
  }

  /** Properties of an element, as scripts know them. @param {HTMLElement} own @param {Object<string, PropertyDescriptor>} properties */
  function offer(own, properties) {
    for (const [name, about] of Object.entries(properties)) Object.defineProperty(own, name, { configurable: true, ...about });
  }

  function textField(own, tag) {
    const label = given(own, "label");
    const field = element(tag, {
      name: given(own, "name"),
      type: tag === "input" ? (given(own, "type") ?? "text") : null,
      placeholder: given(own, "placeholder"),
      maxlength: given(own, "max-length") ?? given(own, "maxlength"),
      minlength: given(own, "min-length") ?? given(own, "minlength"),
      min: given(own, "min"),
      max: given(own, "max"),
      pattern: given(own, "pattern"),
      rows: tag === "textarea" ? (given(own, "rows") ?? "4") : null,
      required: own.hasAttribute("required"),
      disabled: own.hasAttribute("disabled"),
      "aria-label": label ? null : (given(own, "placeholder") ?? given(own, "name")),
    });
    field.value = given(own, "value") ?? "";
    own.replaceChildren(label ? element("label", { class: "crowd-label" }, label, field) : field);
    stand(own, field, "value", "disabled");
  }

  /** A choice that is on or off, with its name in the answer and the place of its value there. */
  function choice(own, type, shared) {
    const name = given(own, "name") ?? "";
    const value = given(own, "value") ?? "on";
    const field = element("input", {
      type,
      name: shared ?? name,
      value: shared ? JSON.stringify([name, value]) : value,
      "data-key": name,
      "data-value": value,
      checked: own.hasAttribute("checked"),
      disabled: own.hasAttribute("disabled"),
      required: own.hasAttribute("required"),
    });
    own.replaceChildren(element("label", { class: "crowd-choice" }, field, " ", element("span", {}, ...contents(own))));
    stand(own, field, "checked", "disabled");
  }

  function slider(own) {
    const shown = element("output", { class: "crowd-number" });
    const field = element("input", {
      type: "range",
      name: given(own, "name"),
      min: given(own, "min") ?? "0",
      max: given(own, "max") ?? "100",
      step: given(own, "step") ?? "1",
      disabled: own.hasAttribute("disabled"),
      "aria-label": given(own, "label") ?? given(own, "name"),
      "data-number": true,
    });
    field.value = given(own, "value") ?? given(own, "min") ?? "0";
    const show = () => (shown.textContent = field.value);
    field.addEventListener("input", show);
    // A draft sets the value without an event; the page is notified afterwards.
    document.addEventListener("chorale-restored", show);
    show();
    const marks = [...own.querySelectorAll("crowd-slider-label")];
    own.replaceChildren(field, " ", shown, ...(marks.length ? [element("div", { class: "crowd-marks" }, ...marks)] : []));
    stand(own, field, "value", "disabled");
  }

  /** A value in an attribute, as JSON or as JavaScript writes it. @param {string | null} text @returns {any} */
  function parsed(text) {
    const quoted = (text ?? "").replace(
      /'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"/g,
      (_all, single, double) => (double === undefined ? JSON.stringify(single.replace(/\\'/g, "'")) : `"${double}"`),
    );
    for (const written of [text ?? "", quoted, quoted.replace(/([{,]\s*)(\w+)\s*:/g, '$1"$2":')]) {
      try {
        return JSON.parse(written);
      } catch {
        // Try the next format.
      }
    }
    return null;
  }

  /** @param {string | null} text @returns {any[]} */
  const list = (text) => {
    const read = parsed(text);
    return Array.isArray(read) ? read : [];
  };

  /** @param {string | null} text @returns {string[]} */
  const listed = (text) => list(text).map((entry) => String(entry?.text ?? entry?.value ?? entry));

  /** Categories for the content shown above them: workers choose one or several. */
  function classifier(own, several) {
    const name = given(own, "name") ?? "";
    const none = several ? listed(given(own, "exclusion-category")) : [];
    let fields = [];
    const legend = element("legend", {}, given(own, "header") ?? name);
    const box = element("fieldset", { "data-widget-own": true, class: "category-picker-wrapper" });
    const choose = (categories) => {
      const before = chosen();
      fields = [...categories, ...none].map((label) =>
        element("input", { type: several ? "checkbox" : "radio", name, value: label, required: !several, checked: before.includes(label) }),
      );
      box.replaceChildren(legend, ...fields.map((field) => element("label", { class: "crowd-choice" }, field, ` ${field.value}`)));
    };
    const chosen = () => fields.filter((field) => field.checked).map((field) => field.value);
    choose(listed(given(own, "categories")));
    const picture = given(own, "src") ? [element("img", { src: given(own, "src"), alt: given(own, "header") ?? "" })] : [];
    own.replaceChildren(...contents(own), ...picture, element("div", { class: "annotation-area" }, box));
    const value = () => (several ? { labels: chosen() } : { label: chosen()[0] ?? "" });
    const categories = { get: () => fields.map((field) => field.value).filter((label) => !none.includes(label)), set: choose };
    offer(own, { value: { get: value }, _submittableValue: { get: value }, categories });
    own.dataset.widget = name;
  }

  /**
   * An element with its own value. A hidden field stores the value as JSON, so that drafts include it.
   *
   * @param {HTMLElement} own
   * @param {(place: HTMLElement, tools: any) => {get: () => any, set: (value: any) => void, properties?: Object<string,
   *   any>}} build
   */
  function widget(own, build) {
    const name = given(own, "name") ?? own.localName;
    const place = own.querySelector("crowd-widget-body") ?? own;
    const field = element("input", { type: "hidden", name: `widget:${name}`, "data-widget-value": true });
    const kept = element("div", { "data-widget-own": true, class: "crowd-widget" });
    const header = given(own, "header");
    place.append(...(header ? [element("h2", { class: "crowd-header" }, header)] : []), kept);
    const changed = () => {
      field.value = JSON.stringify(state.get());
      field.dispatchEvent(new Event("change", { bubbles: true }));
    };
    const state = build(kept, { own, element, given: (attribute) => given(own, attribute), list, parsed, changed });
    kept.append(field);
    field.value = JSON.stringify(state.get());
    document.addEventListener("chorale-restored", () => state.set(JSON.parse(field.value)));
    const properties = { value: { get: state.get }, _submittableValue: { get: state.get }, ...state.properties };
    for (const holder of new Set([place, own])) offer(holder, properties);
    place.dataset.widget = name;
  }

  /** A section that can be expanded. @param {HTMLElement} own @param {string} name @param {boolean} [open] */
  function folded(own, name, open = false) {
    own.replaceChildren(element("details", { open, class: "crowd-fold" }, element("summary", {}, name), ...contents(own)));
  }

  function button(own) {
    const type = { submit: "submit", reset: "reset" }[given(own, "form-action") ?? ""] ?? "button";
    const made = element("button", { type, disabled: own.hasAttribute("disabled") }, ...contents(own));
    own.replaceChildren(made);
    stand(own, made, "disabled");
  }

  /** Browsers do not support nested forms: if `<crowd-form>` contains a form, that form is used. */
  function form(own) {
    const inner = own.querySelector("form");
    const made = inner ?? element("form", {}, ...contents(own));
    if (!own.querySelector(SUBMITS) && !made.querySelector(SUBMITS)) {
      made.append(element("p", {}, element("button", { type: "submit" }, say("Submit"))));
    }
    made.addEventListener("formdata", (event) => {
      for (const name of new Set(event.formData.keys())) if (name !== "assignmentId") event.formData.delete(name);
      const named = answers(own);
      if (given(own, "answer-format") !== "flatten-objects") event.formData.set("taskAnswers", JSON.stringify([named]));
      else for (const [name, value] of flat(named)) event.formData.set(name, value);
    });
    if (!inner) own.replaceChildren(made);
    own.form = made;
    own.submit = () => made.requestSubmit();
  }

  /** All answers by name. @param {HTMLElement} own */
  function answers(own) {
    /** @type {Object<string, any>} */
    const named = {};
    for (const widget of own.querySelectorAll("[data-widget]")) named[widget.dataset.widget] = widget.value;
    for (const field of own.querySelectorAll("input, select, textarea")) {
      const ignored = ["submit", "button", "reset", "file", "image"].includes(field.type);
      if (ignored || !field.name || field.name === "assignmentId" || field.disabled || field.closest("[data-widget-own]")) continue;
      if (["radio", "checkbox"].includes(field.type)) {
        const key = field.dataset.key ?? field.name;
        named[key] = { ...named[key], [field.dataset.value ?? field.value]: field.checked };
      } else if (field.type === "select-multiple") {
        named[field.name] = [...field.selectedOptions].map((option) => option.value);
      } else {
        named[field.name] = field.hasAttribute("data-number") ? Number(field.value) : field.value;
      }
    }
    return sorted(named);
  }

  /** Answers as fields: a value inside an answer has the names of both. @param {Object<string, any>} found @returns {[string, string][]} */
  function flat(found) {
    return Object.entries(found).flatMap(([name, value]) => {
      if (Array.isArray(value)) return [[name, value.join("|")]];
      if (value === null || typeof value !== "object") return [[name, String(value)]];
      return flat(value).map(([inside, text]) => [`${name}.${inside}`, text]);
    });
  }

  /** A value with its names in alphabetical order, so that equal answers are equal texts. @param {any} value @returns {any} */
  function sorted(value) {
    if (value === null || typeof value !== "object" || Array.isArray(value)) return value;
    return Object.fromEntries(Object.keys(value).sort().map((name) => [name, sorted(value[name])]));
  }

  // Elements that consist of more than a few fields. Their scripts are loaded before this one.
  const widgets = window.choraleWidgets ?? {};

  /** @type {Object<string, (own: HTMLElement) => void>} */
  const made = {
    ...Object.fromEntries(Object.entries(widgets).map(([name, build]) => [name, (own) => widget(own, build)])),
    "crowd-form": form,
    "crowd-input": (own) => textField(own, "input"),
    "crowd-text-area": (own) => textField(own, "textarea"),
    "crowd-checkbox": (own) => choice(own, "checkbox", null),
    "crowd-toggle-button": (own) => choice(own, "checkbox", null),
    "crowd-radio-group": (own) => {
      groups += 1;
      own.setAttribute("role", "radiogroup");
      for (const one of own.querySelectorAll("crowd-radio-button")) {
        done.add(one);
        choice(one, "radio", `crowd-group-${groups}`);
      }
    },
    "crowd-radio-button": (own) => choice(own, "radio", null),
    "crowd-slider": slider,
    "crowd-slider-label": () => {},
    "crowd-classifier": (own) => classifier(own, false),
    "crowd-image-classifier": (own) => classifier(own, false),
    "crowd-classifier-multi-select": (own) => classifier(own, true),
    "crowd-image-classifier-multi-select": (own) => classifier(own, true),
    "crowd-button": button,
    "crowd-alert": (own) => own.setAttribute("role", "status"),
    "crowd-instructions": (own) => folded(own, given(own, "link-text") ?? say("Instructions")),
    "short-instructions": (own) => folded(own, say("Instructions"), true),
    "full-instructions": (own) => folded(own, given(own, "header") ?? say("Full instructions")),
    "crowd-card": (own) => given(own, "heading") && own.prepend(element("h2", {}, given(own, "heading"))),
    "crowd-tab": (own) => given(own, "header") && own.prepend(element("h2", {}, given(own, "header"))),
  };

  /** Puts a widget outside of any form into the form it names, or into a new form. @param {HTMLElement} own */
  function intoForm(own) {
    const other = document.getElementById(given(own, "crowd-form-element-id") ?? "");
    if (other === null) {
      own.replaceChildren(element("crowd-form", {}, element("crowd-widget-body", {}, ...contents(own))));
      return;
    }
    other.style.removeProperty("display");
    (other.form ?? other).prepend(own);
  }

  /** Fills all elements that are still empty, outer elements first. */
  function fill() {
    const all = document.querySelectorAll(Object.keys(made).join(","));
    const waiting = [...all].filter((own) => !done.has(own));
    for (const own of waiting) {
      if (done.has(own)) continue; // already filled with its group
      done.add(own);
      const root = shadowOf(own);
      Object.defineProperty(own, "shadowRoot", { configurable: true, get: () => root });
      if (own.localName in widgets && !own.closest("form, crowd-form")) intoForm(own);
      made[own.localName](own);
    }
    if (waiting.length) fill(); // filling an element can add others
  }

  /**
   * A replacement for the open shadow root, in which scripts look for the parts of Amazon's elements. Here, the parts
   * are in the element itself, so that the page's styles and drafts can reach them.
   */
  function shadowOf(own) {
    const root = { getElementById: (id) => own.querySelector(`#${CSS.escape(id)}`), host: own, mode: "open", shadowRoot: undefined };
    return new Proxy(root, {
      get(target, name) {
        if (name in target) return target[name];
        return typeof own[name] === "function" ? own[name].bind(own) : own[name];
      },
    });
  }

  function begin() {
    const style = new URL("crowd.css", here).href;
    document.head.append(element("link", { rel: "stylesheet", href: style }));
    for (const name of Object.keys(made)) {
      // Scripts wait until Amazon's elements are defined.
      if (name.startsWith("crowd-") && !customElements.get(name)) customElements.define(name, class extends HTMLElement {});
    }
    fill();
    new MutationObserver(fill).observe(document.documentElement, { childList: true, subtree: true });
    document.dispatchEvent(new CustomEvent("all-crowd-elements-ready"));
  }

  const here = document.currentScript?.src ?? location.href;
  // Runs before scripts that wait for the page to be ready, because they need the fields.
  if (document.readyState === "loading") {
    document.addEventListener("readystatechange", begin, { once: true });
  } else {
    begin();
    window.turkSetAssignmentID?.();
  }
})();
