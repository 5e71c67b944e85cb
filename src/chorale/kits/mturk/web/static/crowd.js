/**
 * Amazon's own elements (`<crowd-form>` and others), as far as layouts of questions use them.
 *
 * Each is filled with plain fields, so that drafts, the keyboard and screen readers work as on every page. What is sent is
 * what Amazon's script sent: one field, `taskAnswers`, with the answers by name as JSON; or a field for each of them, where
 * the form says `answer-format="flatten-objects"`.
 */

(() => {
  "use strict";
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

  /** Have an element's properties be those of the field in it. */
  function stand(own, field, ...names) {
    for (const name of names) {
      Object.defineProperty(own, name, {
        configurable: true,
        get: () => field[name],
        set: (value) => (field[name] = value),
      });
    }
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

  /** A choice that is on or off: what it is called in the answer, and where in that. */
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
    // A draft sets the value without a word; the page is told of that afterwards.
    document.addEventListener("chorale-restored", show);
    show();
    own.replaceChildren(field, " ", shown);
    stand(own, field, "value", "disabled");
  }

  /** A list in an attribute, as JSON or nearly so. @param {string | null} text @returns {string[]} */
  function listed(text) {
    try {
      const read = JSON.parse(text ?? "[]");
      if (Array.isArray(read)) return read.map((one) => (typeof one === "object" ? String(one.text ?? one.value) : String(one)));
    } catch {
      // With single quotes, as many layouts have it.
    }
    return [...(text ?? "").matchAll(/'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"/g)].map((found) => found[1] ?? found[2]);
  }

  /** Categories to choose one or several of, for what is shown above them. */
  function classifier(own, several) {
    const name = given(own, "name") ?? "";
    const none = several ? listed(given(own, "exclusion-category")) : [];
    const fields = [...listed(given(own, "categories")), ...none].map((label) =>
      element("input", { type: several ? "checkbox" : "radio", name, value: label, required: !several }),
    );
    const choices = fields.map((field) => element("label", { class: "crowd-choice" }, field, ` ${field.value}`));
    const picture = given(own, "src") ? [element("img", { src: given(own, "src"), alt: given(own, "header") ?? "" })] : [];
    const legend = element("legend", {}, given(own, "header") ?? name);
    own.replaceChildren(...contents(own), ...picture, element("fieldset", { "data-name": name }, legend, ...choices));
    const chosen = () => fields.filter((field) => field.checked).map((field) => field.value);
    const value = () => (several ? { labels: chosen() } : { label: chosen()[0] ?? "" });
    Object.defineProperty(own, "value", { configurable: true, get: value });
    own.dataset.widget = name;
  }

  /** Something to unfold. @param {HTMLElement} own @param {string} name @param {boolean} [open] */
  function folded(own, name, open = false) {
    own.replaceChildren(element("details", { open, class: "crowd-fold" }, element("summary", {}, name), ...contents(own)));
  }

  function button(own) {
    const type = { submit: "submit", reset: "reset" }[given(own, "form-action") ?? ""] ?? "button";
    const made = element("button", { type, disabled: own.hasAttribute("disabled") }, ...contents(own));
    own.replaceChildren(made);
    stand(own, made, "disabled");
  }

  function form(own) {
    const made = element("form", {}, ...contents(own));
    if (!made.querySelector("crowd-button[form-action=submit], button[type=submit], input[type=submit]")) {
      made.append(element("p", {}, element("button", { type: "submit" }, "Submit")));
    }
    made.addEventListener("formdata", (event) => {
      for (const name of new Set(event.formData.keys())) if (name !== "assignmentId") event.formData.delete(name);
      const found = answers(made);
      if (given(own, "answer-format") !== "flatten-objects") event.formData.set("taskAnswers", JSON.stringify([found]));
      else for (const [name, value] of flat(found)) event.formData.set(name, value);
    });
    own.replaceChildren(made);
    own.submit = () => made.requestSubmit();
  }

  /** Everything that is answered, by name. @param {HTMLFormElement} form */
  function answers(form) {
    /** @type {Object<string, any>} */
    const found = {};
    for (const own of form.querySelectorAll("[data-widget]")) found[own.dataset.widget] = own.value;
    for (const field of form.elements) {
      const ignored = ["submit", "button", "reset", "file", "image", "fieldset", "output"].includes(field.type);
      if (ignored || !field.name || field.name === "assignmentId" || field.disabled || field.closest("[data-widget]")) continue;
      if (["radio", "checkbox"].includes(field.type)) {
        const key = field.dataset.key ?? field.name;
        found[key] = { ...found[key], [field.dataset.value ?? field.value]: field.checked };
      } else if (field.type === "select-multiple") {
        found[field.name] = [...field.selectedOptions].map((option) => option.value);
      } else {
        found[field.name] = field.hasAttribute("data-number") ? Number(field.value) : field.value;
      }
    }
    return sorted(found);
  }

  /** Answers as fields: what is inside of one has both names. @param {Object<string, any>} found @returns {[string, string][]} */
  function flat(found) {
    return Object.entries(found).flatMap(([name, value]) => {
      if (Array.isArray(value)) return [[name, value.join("|")]];
      if (value === null || typeof value !== "object") return [[name, String(value)]];
      return flat(value).map(([inside, text]) => [`${name}.${inside}`, text]);
    });
  }

  /** The same with its names in order, so that equal answers are equal texts. @param {any} value @returns {any} */
  function sorted(value) {
    if (value === null || typeof value !== "object" || Array.isArray(value)) return value;
    return Object.fromEntries(Object.keys(value).sort().map((name) => [name, sorted(value[name])]));
  }

  /** @type {Object<string, (own: HTMLElement) => void>} */
  const made = {
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
    "crowd-classifier": (own) => classifier(own, false),
    "crowd-image-classifier": (own) => classifier(own, false),
    "crowd-classifier-multi-select": (own) => classifier(own, true),
    "crowd-image-classifier-multi-select": (own) => classifier(own, true),
    "crowd-button": button,
    "crowd-alert": (own) => own.setAttribute("role", "status"),
    "crowd-instructions": (own) => folded(own, given(own, "link-text") ?? "Instructions"),
    "short-instructions": (own) => folded(own, "Instructions", true),
    "full-instructions": (own) => folded(own, given(own, "header") ?? "Full instructions"),
    "crowd-card": (own) => given(own, "heading") && own.prepend(element("h2", {}, given(own, "heading"))),
    "crowd-tab": (own) => given(own, "header") && own.prepend(element("h2", {}, given(own, "header"))),
  };

  /** Fill every element that is not filled yet; those around others first. */
  function fill() {
    for (const own of document.querySelectorAll(Object.keys(made).join(","))) {
      if (done.has(own)) continue;
      done.add(own);
      made[own.localName](own);
    }
  }

  function begin() {
    const style = new URL("crowd.css", here).href;
    document.head.append(element("link", { rel: "stylesheet", href: style }));
    fill();
    new MutationObserver(fill).observe(document.documentElement, { childList: true, subtree: true });
    document.dispatchEvent(new CustomEvent("all-crowd-elements-ready"));
  }

  const here = document.currentScript?.src ?? location.href;
  // Before anything that waits for the page to be ready, and that must find the fields.
  if (document.readyState === "loading") {
    document.addEventListener("readystatechange", begin, { once: true });
  } else {
    begin();
    window.turkSetAssignmentID?.();
  }
})();
