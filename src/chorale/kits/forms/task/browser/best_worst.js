/** Best–worst scaling: select the best and the worst of a few texts. */

import { Field, make } from "./field.js";
import { say } from "/static/say.js";

const ROLES = ["best", "worst"];

export default class BestWorst extends Field {
  /**
   * @param {HTMLElement} element
   * @param {import("./field.js").Rules} rules
   * @param {import("./field.js").About} about
   */
  constructor(element, rules, { item, order, draft }) {
    super(element, rules);
    /** @type {Object<string, string>} */
    this.headings = { best: rules.best ?? say("Best"), worst: rules.worst ?? say("Worst") };
    /** @type {{id: string, text: string}[]} */
    const given = item[rules.item] ?? [];
    const shown = order ? order.map((id) => given.find((each) => each.id === id)).filter((each) => each !== undefined) : given;
    const box = /** @type {HTMLElement} */ (element.querySelector(".form-tuple"));
    const head = make("div", { class: "form-candidate form-heads", "aria-hidden": "true" });
    head.append(make("span", { text: this.headings.best }), make("span"), make("span", { text: this.headings.worst }));
    box.append(head, ...shown.map((each) => this.#row(each)));
    for (const input of this.inputs) {
      input.checked = draft?.[input.dataset.role ?? ""] === input.value;
      input.addEventListener("change", () => this.#exclude(input));
    }
    box.addEventListener("keydown", (event) => this.#key(event));
  }

  /** @param {KeyboardEvent} event number and arrow keys choose in the column that has the focus */
  #key(event) {
    const input = event.target instanceof HTMLInputElement && event.target.dataset.role ? event.target : null;
    if (input === null || event.ctrlKey || event.metaKey || event.altKey) return;
    const column = this.inputs.filter((each) => each.dataset.role === input.dataset.role);
    const chosen = /^[1-9]$/.test(event.key) ? column[Number(event.key) - 1] : this.#beside(column, input, event.key);
    if (!chosen) return;
    event.preventDefault();
    chosen.focus();
    chosen.click();
  }

  /**
   * The next choice with an arrow key. It skips the text chosen in the other column, because selecting it would undo
   * that choice.
   *
   * @param {HTMLInputElement[]} column
   * @param {HTMLInputElement} from
   * @param {string} key
   */
  #beside(column, from, key) {
    const onward = getComputedStyle(this.element).direction === "rtl" ? "ArrowLeft" : "ArrowRight";
    if (!["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight"].includes(key)) return undefined;
    const taken = this.inputs.find((each) => each.checked && each.dataset.role !== from.dataset.role)?.value;
    const free = column.filter((each) => each === from || each.value !== taken);
    return free.at((free.indexOf(from) + (key === "ArrowDown" || key === onward ? 1 : -1)) % free.length);
  }

  /** @param {{id: string, text: string}} candidate */
  #row({ id, text }) {
    const row = make("div", { class: "form-candidate" });
    const cells = ROLES.map((role) =>
      make("label", {}, make("input", { type: "radio", name: `${this.rules.name}-${role}`, value: id, "data-role": role }),
        make("span", { class: "visually-hidden", text: `${this.headings[role]}: ${text}` })),
    );
    row.append(cells[0], make("span", { class: "form-side", dir: "auto", text }), cells[1]);
    return row;
  }

  /** @returns {HTMLInputElement[]} */
  get inputs() {
    return [...this.element.querySelectorAll("input")];
  }

  /** @param {HTMLInputElement} chosen the same text cannot be both best and worst */
  #exclude(chosen) {
    for (const input of this.inputs) {
      if (input !== chosen && input.value === chosen.value) input.checked = false;
    }
  }

  draft() {
    const chosen = this.inputs.filter((input) => input.checked);
    return chosen.length ? Object.fromEntries(chosen.map((input) => [input.dataset.role, input.value])) : undefined;
  }

  value() {
    return this.draft();
  }

  problem() {
    const given = this.draft();
    if (given === undefined && !this.rules.required) return null;
    const missing = ROLES.filter((role) => given?.[role] === undefined);
    return missing.length ? missing.map((role) => say("Choose one as “{role}”.", { role: this.headings[role] })).join(" ") : null;
  }

  get focusTarget() {
    const given = this.draft() ?? {};
    const role = ROLES.find((each) => given[each] === undefined) ?? ROLES[0];
    return this.inputs.find((input) => input.dataset.role === role) ?? null;
  }

  words() {
    const texts = this.inputs.filter((input) => input.checked);
    return texts.map((input) => input.closest("label")?.textContent.trim() ?? "").join(" · ");
  }
}
