/**
 * In the frame: what pages made for Mechanical Turk expect to find, and what keeps a draft of them.
 *
 * A classic script, since old pages call its functions while they load. The frame has no origin and no storage: the page
 * around it keeps the draft, and all they exchange are messages.
 */

(() => {
  "use strict";
  const NOT_ACCEPTED = "ASSIGNMENT_ID_NOT_AVAILABLE";
  const SUBMIT = "/mturk/externalSubmit";
  const asked = new URLSearchParams(location.search);
  // A layout's answers go to the page around it, which submits them.
  const isLayout = asked.get("assignmentId") === null;

  /** @param {string} kind @param {Object<string, any>} [more] */
  const tell = (kind, more = {}) => parent.postMessage({ chorale: kind, ...more }, "*");

  /** @param {string} name @param {string} [otherwise] */
  window.turkGetParam = (name, otherwise = "") => asked.get(name) ?? otherwise;
  window.turkGetSubmitToHost = () => asked.get("turkSubmitTo") ?? "";
  window.turkSetAssignmentID = (given) => prepare(typeof given === "string" ? given : undefined);

  /** The fields there are, in a form or not. */
  const controls = () =>
    [...document.querySelectorAll("input[name], textarea[name], select[name]")].filter(
      (control) => control.name !== "assignmentId" && !["submit", "button", "file", "image"].includes(control.type),
    );

  /** @returns {[string, string][]} names and values, as a form sends them */
  function values() {
    const found = [];
    for (const control of controls()) {
      if (control.disabled) continue;
      if (control instanceof HTMLSelectElement) {
        for (const option of control.selectedOptions) found.push([control.name, option.value]);
      } else if (!["radio", "checkbox"].includes(control.type) || control.checked) {
        found.push([control.name, control.value]);
      }
    }
    return found;
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
      } else if (control.type !== "hidden" && own.length) {
        control.value = own.shift();
      }
    }
    document.dispatchEvent(new CustomEvent("chorale-restored"));
    report();
  }

  const firstInvalid = () => controls().find((control) => control.willValidate && !control.validity.valid) ?? null;

  /** What is sent of the fields, where that is not just their values. */
  function answer() {
    const crowd = document.querySelector("crowd-form > form");
    if (!crowd) return values();
    return [...new FormData(crowd)].filter(([name, value]) => name !== "assignmentId" && typeof value === "string");
  }

  function report() {
    tell("draft", { values: values(), answer: answer(), valid: firstInvalid() === null });
  }

  /** Have every form submit here, by the assignment's id. @param {string} [given] */
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

  document.addEventListener("submit", (event) => {
    if (isLayout) {
      event.preventDefault();
      report();
      tell("submit");
    } else if (asked.get("assignmentId") === NOT_ACCEPTED) {
      event.preventDefault();
    }
  });
  document.addEventListener("input", report);
  document.addEventListener("change", report);
  addEventListener("message", (event) => {
    if (event.source !== parent) return;
    if (event.data?.chorale === "hello" && document.readyState !== "loading") tell("ready");
    if (event.data?.chorale === "restore") {
      restore(event.data.values);
      tell("restored");
    }
    if (event.data?.chorale === "point") {
      const wrong = firstInvalid();
      wrong?.reportValidity();
      wrong?.focus();
    }
  });

  function ready() {
    prepare();
    tell("ready");
    if (isLayout) report();
    const measure = () => tell("height", { height: document.documentElement.offsetHeight });
    if (document.body) new ResizeObserver(measure).observe(document.body);
    measure();
  }
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", ready);
  else ready();
})();
