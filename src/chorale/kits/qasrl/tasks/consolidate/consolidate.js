/**
 * Consolidates the questions of two people, group by group.
 *
 * A group holds the questions of both that belong together. Its result is a list of entries: a question of theirs or
 * an edited one, with answers, possibly marked as redundant. A group is decided once an entry is kept or all are
 * rejected.
 *
 * @typedef {import("./qa_pieces.js").Asked} Asked
 * @typedef {import("./qa_pieces.js").Span} Span
 * @typedef {Asked & {redundant?: boolean, from?: number}} Entry `from`: number of the group's question that it was copied from
 * @typedef {{members: (Asked & {set: number})[], agreed: boolean, entries: Entry[], rejected: boolean}} Group
 */

import { say, sayCount } from "/static/say.js";
import { make } from "/static/show.js";
import { Editor } from "./qa_editor.js";
import { answerList, button, compared, isSame, recapOf, spansIn } from "./qa_pieces.js";
import { split } from "./qa_sentence.js";

/** @type {WeakMap<HTMLElement, Page>} */
const pages = new WeakMap();

class Page {
  /**
   * @param {HTMLElement} root
   * @param {Object<string, any>} item
   * @param {import("/static/form.js").TaskApi} api
   */
  constructor(root, item, api) {
    this.root = root;
    this.api = api;
    this.item = item;
    this.part = (/** @type {string} */ name) => /** @type {HTMLElement} */ (root.querySelector(`[data-part=${name}]`));
    /** @type {Group[]} */
    this.groups = item.groups.map((/** @type {any} */ group) => ({
      members: group.members.map(([set, at]) => ({ ...item.sets[set][at], set })),
      agreed: group.agreed,
      entries: [],
      rejected: false,
    }));
    /** @type {Entry[]} questions that the writers missed */
    this.added = [];
    /** @type {{entries: Entry[], at: number, entry: Entry} | null} where the edited question came from */
    this.origin = null;
    this.editor = new Editor(this.part, item, say("Add a question that the writers missed, or edit one"), {
      others: () => this.entries().filter((entry) => !entry.redundant),
      keep: (asked) => this.#keep(asked),
      changed: () => this.#changed(),
    });
    this.listening = new AbortController();
    // Keys work on the whole page: it is not necessary to focus a group first.
    document.addEventListener("keydown", (event) => this.#key(event), { signal: this.listening.signal });
    this.#restore(api.draft);
    this.#draw();
  }

  /** @returns {Entry[]} all entries, in the order of the page */
  entries() {
    return [...this.groups.flatMap((group) => group.entries), ...this.added];
  }

  /** @returns {Entry[]} all entries; a question that is being added comes last */
  answer() {
    const { groups, added, inHand } = this.draft();
    const all = [...groups.flatMap(({ entries }) => entries), ...added, ...(inHand === null ? [] : [inHand])];
    return all.map(({ question, answers, redundant }) => (redundant ? { question, answers, redundant } : { question, answers }));
  }

  /**
   * An edited question has its original position here, so that it stays redundant if it was, and nothing is lost when
   * the page closes.
   *
   * @returns {{groups: {entries: Entry[], rejected: boolean}[], added: Entry[], inHand: Entry | null}}
   */
  draft() {
    const { asked } = this.editor;
    const whole = (/** @type {Entry[]} */ entries) => {
      if (this.origin?.entries !== entries) return entries;
      const { at, entry } = this.origin;
      const edited = asked !== null && this.editor.problem() === null ? { ...entry, ...asked } : entry;
      return [...entries.slice(0, at), edited, ...entries.slice(at)];
    };
    return {
      groups: this.groups.map(({ entries, rejected }) => ({ entries: whole(entries), rejected })),
      added: whole(this.added),
      inHand: this.origin === null ? asked : null,
    };
  }

  /** @returns {string | null} */
  problem() {
    const problem = this.editor.problem();
    if (problem !== null) return problem;
    const open = this.#undecided();
    return open === null ? null : say("Decide about group {number}: keep one of its questions, or reject the group.", { number: this.groups.indexOf(open) + 1 });
  }

  point() {
    if (this.editor.problem() !== null) this.editor.point();
    else this.#ask(this.problem() ?? "");
  }

  /** @param {string} what to do: shown in the group as well, since the message below the form may be out of view */
  #ask(what) {
    const card = this.#card(this.#undecided());
    if (!card) return;
    card.querySelector(".qa-decide")?.remove();
    card.querySelector(".qa-group-title")?.after(make("p", { class: "hint error qa-decide", text: what }));
    card.focus();
  }

  close() {
    this.listening.abort();
    this.editor.close();
  }

  #undecided() {
    const inHand = this.editor.asked === null ? null : this.origin?.entries;
    return this.groups.find((group) => !isDecided(group) && group.entries !== inHand) ?? null;
  }

  /** @param {Group | null} group */
  #card(group) {
    const number = group === null ? -1 : this.groups.indexOf(group);
    return /** @type {HTMLElement | undefined} */ (this.part("groups").children[number]);
  }

  /** @param {any} draft */
  #restore(draft) {
    const tokens = this.item.tokens.length;
    const entriesOf = (/** @type {any} */ list) =>
      (Array.isArray(list) ? list : [])
        .filter((entry) => typeof entry?.question === "string")
        .map((entry) => ({ ...entry, answers: spansIn(entry.answers, tokens) }));
    if (!Array.isArray(draft?.groups) || draft.groups.length !== this.groups.length) return;
    this.groups.forEach((group, number) => {
      group.entries = entriesOf(draft.groups[number]?.entries);
      group.rejected = draft.groups[number]?.rejected === true;
    });
    this.added = entriesOf(draft.added);
    const [inHand] = entriesOf([draft.inHand]);
    if (inHand) this.editor.open(inHand);
  }

  #changed() {
    this.#draw();
    this.api.changed();
  }

  // What can be done with a group

  /**
   * Keep a question of the group, or stop keeping it. It replaces the same question with other answers.
   *
   * @param {Group} group
   * @param {number} at
   */
  #toggle(group, at) {
    const there = group.entries.findIndex((entry) => entry.from === at && !entry.redundant);
    group.rejected = false;
    if (there >= 0) group.entries.splice(there, 1);
    else {
      const { question } = group.members[at];
      group.entries = group.entries.filter((entry) => entry.from !== at && entry.question !== question);
      group.entries.push(copy(group.members[at], at));
    }
    const { question } = group.members[at];
    this.#decided(group, there >= 0 ? say("No longer kept: {question}", { question }) : say("Kept: {question}", { question }));
  }

  /**
   * Keep one question, with the answers of all writers.
   *
   * @param {Group} group
   */
  #merge(group) {
    const chosen = group.entries.find((entry) => !entry.redundant) ?? copy(group.members[0], 0);
    /** @type {Span[]} */
    const answers = [];
    for (const { answers: theirs } of [chosen, ...group.members]) {
      for (const span of theirs) {
        if (answers.every((other) => span[1] <= other[0] || other[1] <= span[0])) answers.push(span);
      }
    }
    answers.sort((one, other) => one[0] - other[0]);
    group.rejected = false;
    group.entries = [{ ...chosen, answers }];
    this.#decided(group, say("Kept, with the answers of all writers: {question}", { question: chosen.question }));
  }

  /** @param {Group} group */
  #reject(group) {
    group.rejected = !group.rejected;
    group.entries = [];
    this.#decided(group, group.rejected ? say("Rejected.") : say("No longer rejected."));
  }

  /**
   * Keep one question, and mark the others of the group as redundant: they are correct, but ask for nothing new.
   *
   * @param {Group} group
   */
  #redundant(group) {
    const kept = group.entries.filter((entry) => !entry.redundant);
    const first = kept[0] ?? copy(group.members[0], 0);
    const others = group.members
      .map((member, at) => ({ ...copy(member, at), redundant: true }))
      .filter((entry) => entry.question !== first.question);
    const unique = others.filter((entry, number) => others.findIndex((other) => other.question === entry.question) === number);
    group.rejected = false;
    group.entries = [first, ...unique];
    this.#decided(group, say("Kept: {question} The others are redundant.", { question: first.question }));
  }

  /** @returns {boolean} whether no question is kept or being edited: a single key must not discard any */
  #isEmpty() {
    return this.groups.length > 0 && this.entries().length === 0 && this.editor.asked === null;
  }

  /** Reject every question: there is nothing to ask about this word. */
  #rejectAll() {
    for (const group of this.groups) group.rejected = true;
    this.editor.tell(say("Nothing to ask: every question is rejected."));
    this.#changed();
    document.getElementById("submit")?.focus();
  }

  /** @returns {Group[]} undecided groups on which the writers agree */
  #openAgreed() {
    return this.groups.filter((group) => group.agreed && !isDecided(group));
  }

  /** Keep every question on which the writers agree. */
  #acceptAgreed() {
    const open = this.#openAgreed();
    for (const group of open) group.entries = [copy(group.members[0], 0)];
    this.editor.tell(sayCount(open.length, "Kept {count} question on which the writers agree.", "Kept {count} questions on which the writers agree."));
    this.#changed();
    const next = this.#undecided();
    if (next) this.#card(next)?.focus();
    else document.getElementById("submit")?.focus();
  }

  /**
   * @param {Group | null} group null for added questions
   * @param {string} said
   */
  #decided(group, said) {
    this.editor.tell(said);
    this.#changed();
    if (group) this.#card(group)?.focus();
    else this.editor.field.focus();
  }

  /** @param {Entry[]} entries */
  #groupOf(entries) {
    return this.groups.find((group) => group.entries === entries) ?? null;
  }

  /**
   * @param {Entry[]} entries
   * @param {Entry} entry
   */
  #edit(entries, entry) {
    this.#putBack();
    this.origin = { entries, at: entries.indexOf(entry), entry };
    entries.splice(entries.indexOf(entry), 1);
    this.editor.open(entry);
    this.#changed();
    this.editor.field.focus();
  }

  /** The question that was being edited returns to its original place. */
  #putBack() {
    const { asked } = this.editor;
    if (this.origin && (asked === null || this.editor.problem() !== null)) {
      this.origin.entries.splice(this.origin.at, 0, this.origin.entry);
    } else if (asked !== null && this.editor.problem() === null) {
      this.#place(asked);
    }
    this.origin = null;
    this.editor.open(null);
  }

  /** @param {Asked} asked */
  #place(asked) {
    if (this.origin === null) {
      this.added.push(asked);
      return;
    }
    const { entries, at, entry } = this.origin;
    entries.splice(at, 0, { ...entry, ...asked });
  }

  /** @param {Asked} asked */
  #keep(asked) {
    const group = this.origin && this.#groupOf(this.origin.entries);
    this.#place(asked);
    this.origin = null;
    this.#decided(group, say("Kept: {question}", { question: asked.question }));
  }

  /**
   * @param {Entry} entry
   * @returns {Span[]}
   */
  #parts(entry) {
    return entry.answers.flatMap((span) => split(this.item.pieces, span));
  }

  // Keys

  /** @param {KeyboardEvent} event */
  #key(event) {
    const target = /** @type {Element} */ (event.target);
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || target.closest("input, textarea, select, dialog, [data-part=sentence]")) return;
    const card = /** @type {HTMLElement | null} */ (target.closest(".qa-group"));
    const waiting = event.key.startsWith("Arrow") ? null : this.#undecided();
    const group = card ? this.groups[[...this.part("groups").children].indexOf(card)] : waiting;
    if (!this.#commandFor(event.key.toLowerCase(), group)) return;
    event.preventDefault();
    event.stopPropagation();
  }

  /**
   * @param {string} key
   * @param {Group | null} group
   * @returns {boolean} whether the key was handled
   */
  #commandFor(key, group) {
    if (key === "b" && this.#openAgreed().length > 0) this.#acceptAgreed();
    else if (key === "a") this.editor.field.focus();
    else if (key === "n" && this.#isEmpty()) this.#rejectAll();
    else if (group === null) return false;
    else if (key === "m") this.#merge(group);
    else if (key === "x") this.#reject(group);
    else if (key === "r") this.#redundant(group);
    else if (key === "e" && group.entries.length > 0) this.#edit(group.entries, group.entries[0]);
    else if (key === "arrowdown" || key === "arrowup") this.#go(group, key === "arrowdown" ? 1 : -1);
    else if (/^[1-9]$/.test(key) && group.members[Number(key) - 1]) this.#toggle(group, Number(key) - 1);
    else return false;
    return true;
  }

  /**
   * @param {Group} group
   * @param {1 | -1} step
   */
  #go(group, step) {
    const number = this.groups.indexOf(group) + step;
    const card = this.part("groups").children[number];
    if (card instanceof HTMLElement) card.focus();
    else if (step > 0) document.getElementById("submit")?.focus();
    else this.editor.field.focus();
  }

  // Showing

  #draw() {
    this.editor.draw();
    const agreed = this.#openAgreed().length;
    this.part("both").replaceChildren(
      ...(agreed > 0
        ? [this.#makeBoth(sayCount(agreed, "Keep the question on which the writers agree", "Keep all {count} questions on which the writers agree"))]
        : []),
      ...(this.#isEmpty()
        ? [button(say("Nothing to ask"), say("Nothing to ask about this word: reject every question"), () => this.#rejectAll(), { key: "N" })]
        : []),
      ...(this.groups.length === 0
        ? [make("span", { class: "hint", text: say("All writers agree that there is nothing to ask. Submit to agree, or add a question.") })]
        : []),
    );
    this.part("groups").replaceChildren(...this.groups.map((group, number) => this.#makeGroup(group, number)));
    this.part("added").replaceChildren(...this.added.map((entry) => this.#makeEntry(this.added, entry)));
    this.part("asked").hidden = this.added.length === 0;
    const kept = this.entries().filter((entry) => !entry.redundant);
    const count = kept.length;
    const bonus = this.api.bonuses[Math.min(this.editor.roles(kept), this.api.bonuses.length - 1)];
    const questions = sayCount(count, "{count} question kept", "{count} questions kept");
    const settled = bonus ? [questions, say("bonus {amount}", { amount: bonus })].join(" · ") : questions;
    const status = count === 0 && this.#undecided() === null ? say("Nothing to ask") : settled;
    if (this.part("count").textContent !== status) this.part("count").textContent = status;
  }

  /** @param {string} text */
  #makeBoth(text) {
    return button(text, text, () => this.#acceptAgreed(), { class: "button", key: "B" });
  }

  /**
   * @param {Group} group
   * @param {number} number
   */
  #makeGroup(group, number) {
    const state = group.rejected ? say("Rejected") : group.entries.length > 0 ? say("Decided") : group.agreed ? say("The writers agree") : this.#difference(group);
    const title = make("h2", { class: "qa-group-title", id: `qa-group-${number}` }, [
      `${number + 1}. `,
      make("span", { class: `qa-state${isDecided(group) ? " qa-state-decided" : ""}`, text: state }),
    ]);
    const columns = this.item.sets.map((/** @type {Asked[]} */ _, /** @type {number} */ set) =>
      make("div", { class: "qa-set" }, [
        make("p", { class: "overline", text: say("Writer {number}", { number: set + 1 }) }),
        ...group.members.flatMap((member, at) => (member.set === set ? [this.#makeMember(group, at)] : [])),
        ...(group.members.some((member) => member.set === set) ? [] : [make("p", { class: "muted", text: this.item.sets[set].length > 0 ? say("No question here") : say("Chose “Nothing to ask”") })]),
      ]),
    );
    const actions = make("p", { class: "qa-group-actions" }, [
      ...(group.members.length > 1
        ? [
            button(say("Merge answers"), say("Merge the answers of group {number}", { number: number + 1 }), () => this.#merge(group), { key: "M" }),
            button(say("One question is enough"), say("Group {number}: one question is enough, the others are redundant", { number: number + 1 }), () => this.#redundant(group), { key: "R" }),
          ]
        : []),
      this.#makeReject(group, number + 1),
    ]);
    const card = make("section", { class: "qa-group" }, [title, make("div", { class: "qa-sets" }, columns), actions]);
    if (group.entries.length > 0) {
      card.append(
        make("p", { class: "overline", text: say("Result") }),
        make("ul", { class: "qa-list" }, group.entries.map((entry) => this.#makeEntry(group.entries, entry))),
      );
    }
    card.tabIndex = -1;
    card.setAttribute("aria-labelledby", `qa-group-${number}`);
    if (number === this.#entrance()) card.tabIndex = 0;
    return card;
  }

  /**
   * @param {Group} group
   * @param {number} number
   */
  #makeReject(group, number) {
    const [text, label] = group.rejected
      ? [say("Do not reject"), say("Do not reject group {number}", { number })]
      : [say("Reject"), say("Reject group {number}", { number })];
    return button(text, label, () => this.#reject(group), { key: "X" });
  }

  /**
   * @param {Entry} entry
   * @param {(what: Partial<Entry>, said: string) => void} change
   */
  #makeRedundant({ redundant, question }, change) {
    const [text, label, said] = redundant
      ? [say("Not redundant"), say("Not redundant: {question}", { question }), say("No longer redundant.")]
      : [say("Redundant"), say("Redundant: {question}", { question }), say("Marked as redundant.")];
    return button(text, label, () => change({ redundant: !redundant }, said));
  }

  /** The group that Tab leads to: the first that is not decided. */
  #entrance() {
    const open = this.#undecided();
    return open === null ? 0 : this.groups.indexOf(open);
  }

  /** @param {Group} group */
  #difference(group) {
    if (new Set(group.members.map((member) => member.set)).size < this.item.sets.length) return say("Only one writer asks this");
    const questions = new Set(group.members.map((member) => member.question)).size > 1;
    const [first, ...rest] = group.members.map((member) => String(member.answers));
    const answers = rest.some((each) => each !== first);
    if (questions && answers) return say("Questions and answers differ");
    return questions ? say("The questions differ") : say("The answers differ");
  }

  /**
   * @param {Group} group
   * @param {number} at
   */
  #makeMember(group, at) {
    const member = group.members[at];
    const kept = group.entries.some((entry) => entry.from === at && !entry.redundant);
    const keep = button(kept ? say("Kept") : say("Keep"), say("Keep: {question}", { question: member.question }), () => this.#toggle(group, at), {
      key: at < 9 ? String(at + 1) : undefined,
      class: "button button-small qa-keep",
    });
    keep.setAttribute("aria-pressed", String(kept));
    return make("div", { class: "qa-member" }, [
      make("p", { text: member.question }),
      answerList(this.editor.sentence, member.answers, null),
      keep,
    ]);
  }

  /**
   * @param {Entry[]} entries
   * @param {Entry} entry
   */
  #makeEntry(entries, entry) {
    const parts = this.#parts(entry);
    const isList = parts.length !== entry.answers.length || parts.some((part, number) => !isSame(part, entry.answers[number]));
    const change = (/** @type {Partial<Entry>} */ what, /** @type {string} */ said) => {
      entries[entries.indexOf(entry)] = { ...entry, ...what };
      this.#decided(this.#groupOf(entries), said);
    };
    return make("li", { class: entry.redundant ? "qa-entry qa-redundant" : "qa-entry" }, [
      make("div", {}, [
        make("p", { text: entry.redundant ? say("{question} (redundant)", { question: entry.question }) : entry.question }),
        answerList(this.editor.sentence, entry.answers, null),
      ]),
      make("p", { class: "qa-entry-actions" }, [
        button(say("Edit"), say("Edit {question}", { question: entry.question }), () => this.#edit(entries, entry), { key: "E" }),
        ...(isList
          ? [
              button(say("Split"), say("Split the answers to {question}", { question: entry.question }), () =>
                change({ answers: parts }, sayCount(parts.length, "Split into {count} answer.", "Split into {count} answers.")),
              ),
            ]
          : []),
        this.#makeRedundant(entry, change),
        button(say("Remove"), say("Remove {text}", { text: entry.question }), () => {
          entries.splice(entries.indexOf(entry), 1);
          this.#decided(this.#groupOf(entries), say("Removed: {question}", { question: entry.question }));
        }),
      ]),
    ]);
  }
}

/** @param {Group} group */
const isDecided = (group) => group.rejected || group.entries.length > 0;

/**
 * @param {Asked} member
 * @param {number} from
 * @returns {Entry}
 */
const copy = (member, from) => ({ question: member.question, answers: member.answers.map(([start, end]) => [start, end]), from });

/** @type {import("/static/form.js").TaskModule["mount"]} */
export function mount(root, item, api) {
  pages.set(root, new Page(root, item, api));
}

/** @param {HTMLElement} root */
export const collect = (root) => pages.get(root)?.answer() ?? [];

/** @param {HTMLElement} root */
export const draft = (root) => pages.get(root)?.draft() ?? null;

/** @param {HTMLElement} root */
export const problem = (root) => pages.get(root)?.problem() ?? null;

/** @param {HTMLElement} root */
export const point = (root) => pages.get(root)?.point();

/** @param {HTMLElement} root */
export function recap(root) {
  const page = pages.get(root);
  return page ? recapOf(page.editor.sentence, page.answer()) : { lines: [], answer: "" };
}

/** @param {any} details */
export const compare = (details) => compared(details);

/** @param {HTMLElement} root */
export function unmount(root) {
  pages.get(root)?.close();
  pages.delete(root);
}
