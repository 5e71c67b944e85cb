/**
 * State machine of the grammar for one verb: `machine.py` in the browser. It parses questions, and explains where and
 * why a text is not a question.
 *
 * @typedef {import("./question_slots.js").Slots} Slots
 * @typedef {import("./question_slots.js").Forms} Forms
 * @typedef {import("./question_slots.js").Variants} Variants
 * @typedef {{slot: string, value: string, words: string[], target: string, weight: number, isVariant: boolean}} Arc
 * @typedef {{state: string, slots: Slots, arc: Arc | null, matched: number}} Path one reading of the words so far
 * @typedef {{text: string, slot: string, value: string, weight: number, after: Path}} Next a piece that may follow
 * @typedef {{text: string, start: number}} Word
 * @typedef {{text: string, key: string, slots: Slots}} Parsed
 * @typedef {{reason: string, position: number}} NotAQuestion
 */

import { say, sayOneOf } from "/static/say.js";
import { allSpelt, capital, has, keyOf, render, SLOTS } from "./question_slots.js";
import TABLE from "./question_table.js";

const WORD = /[^ \t\r\n\u00a0]+/g;
const LAST_MARK = /[ \t\r\n\u00a0]*[?]?[ \t\r\n\u00a0]*$/;
const EXTRA_WEIGHT = 1;
export const LONGEST_QUESTION = 300;
const MOST_NAMED = 4;
const STATES = /** @type {Record<string, {ends?: boolean, arcs: string[][]}>} */ (TABLE.states);
const GROUPS = /** @type {Record<string, Record<string, number>>} */ (TABLE.groups);
const INSTEAD_OF = new Map(Object.entries(TABLE.insteadOf));
const TABLE_WORDS = new Set(
  Object.values(GROUPS)
    .flatMap((values) => Object.keys(values))
    .flatMap((value) => value.split(" "))
    .filter((word) => !TABLE.forms.includes(word)),
);

/** All questions about one verb. States are expanded when first reached, because most are never needed. */
export class Machine {
  /**
   * @param {Forms} forms
   * @param {string[]} [morePrepositions] allowed in addition to the usual ones
   * @param {Variants} [variants]
   */
  constructor(forms, morePrepositions = [], variants = {}) {
    this.forms = forms;
    this.variants = variants;
    /** @type {Record<string, number>} */
    this.more = Object.create(null);
    for (const word of morePrepositions.map((each) => each.toLowerCase())) {
      if (!has(GROUPS.preposition, word)) this.more[word] = EXTRA_WEIGHT;
    }
    this.formWords = [...Object.values(forms), ...Object.values(variants).flat()].join(" ").split(" ");
    /** @type {Map<string, {ends: boolean, arcs: Arc[]}>} */
    this.reached = new Map();
  }

  /** @param {string} name */
  #state(name) {
    let state = this.reached.get(name);
    if (!state) {
      const { ends = false, arcs } = STATES[name];
      state = { ends, arcs: arcs.flatMap(([slot, group, target]) => this.#spread(slot, group, target)) };
      this.reached.set(name, state);
    }
    return state;
  }

  /** @param {string} slot @param {string} group @param {string} target @returns {Arc[]} */
  #spread(slot, group, target) {
    const values = slot === "prep" ? { ...GROUPS[group], ...this.more } : GROUPS[group];
    return Object.entries(values).flatMap(([value, weight]) => {
      const spellings = slot === "verb" ? allSpelt(value, this.forms, this.variants) : [value];
      return spellings.map((words, number) => ({ slot, value, words: words.split(" "), target, weight, isVariant: number > 0 }));
    });
  }

  /** @returns {Path[]} */
  start() {
    const slots = /** @type {Slots} */ (/** @type {unknown} */ (Object.fromEntries(SLOTS.map((slot) => [slot, ""]))));
    return [{ state: TABLE.start, slots, arc: null, matched: 0 }];
  }

  /** @param {Path[]} paths @param {string} word @returns {Path[]} all paths with one more word */
  step(paths, word) {
    return paths.flatMap((path) => {
      if (path.arc) {
        return path.arc.words[path.matched] === word ? [advanced(path, path.arc, path.matched + 1)] : [];
      }
      const arcs = this.#state(path.state).arcs.filter((arc) => arc.words[0] === word);
      return arcs.map((arc) => advanced(path, arc, 1));
    });
  }

  /** @param {Path[]} paths @returns {Slots[]} the questions that are complete at this point */
  ended(paths) {
    return paths.filter((path) => !path.arc && this.#state(path.state).ends).map((path) => path.slots);
  }

  /** @param {Path[]} paths @returns {Next[]} every piece that may come next, without spelling variants of the verb */
  following(paths) {
    return paths.flatMap((path) => {
      if (path.arc) {
        // A variant differs only in its last word, so a started variant is also a started form.
        if (path.arc.isVariant) return [];
        const { slot, value, weight, words } = path.arc;
        return [{ text: words.slice(path.matched).join(" "), slot, value, weight, after: path }];
      }
      const arcs = this.#state(path.state).arcs.filter((arc) => !arc.isVariant);
      return arcs.map(({ slot, value, weight, words }) => ({ text: words.join(" "), slot, value, weight, after: path }));
    });
  }

  /** @param {string[]} words */
  walk(words) {
    return words.reduce((paths, word) => this.step(paths, word), this.start());
  }

  /** @param {string} question @returns {Parsed | NotAQuestion} */
  parse(question) {
    if ([...question].length > LONGEST_QUESTION) {
      return { reason: say("This is too long for a question."), position: LONGEST_QUESTION };
    }
    const words = wordsOf(question.replace(LAST_MARK, ""));
    if (words.length === 0) return { reason: this.#whyNotBegun(), position: 0 };
    let paths = this.start();
    for (const [number, word] of words.entries()) {
      const after = this.step(paths, word.text);
      if (after.length === 0) {
        return { reason: this.#whyNot(paths, words.slice(0, number), words.slice(number)), position: word.start };
      }
      paths = after;
    }
    const [slots] = this.ended(paths);
    if (!slots) {
      const last = words[words.length - 1];
      const reason = say("The question is not finished. {hint}", { hint: this.#whatFollows(paths, words) });
      return { reason, position: last.start + [...last.text].length };
    }
    return { text: render(slots, this.forms), key: keyOf(slots), slots };
  }

  #whyNotBegun() {
    const words = oneOf(this.following(this.start()).map((piece) => piece.text));
    return say("A question begins with {words}.", { words });
  }

  /** @param {Path[]} paths @param {Word[]} before @param {Word[]} rest whose first word can't follow */
  #whyNot(paths, before, rest) {
    const word = rest[0].text;
    const following = this.following(paths);
    const firstWords = new Set(following.map((piece) => piece.text.split(" ")[0]));
    const instead = INSTEAD_OF.get(word);
    if (instead !== undefined && firstWords.has(instead)) return writeInstead(instead, word);
    if (before.length === 0) return this.#prepositionFirst(word) || this.#whyNotBegun();
    const both = `${before[before.length - 1].text} ${word}`;
    if (before.length === 1 && has(TABLE.insteadOfTwo, both)) return writeInstead(TABLE.insteadOfTwo[both], both);
    if (firstWords.has("someone") && !this.#knows(word)) {
      const end = rest.findIndex((one) => this.#knows(one.text));
      const unknown = rest.slice(0, end < 0 ? rest.length : end).map((one) => one.text);
      return say("Write “someone” or “something” in place of “{words}”.", { words: unknown.join(" ") });
    }
    const finite = word === this.forms.stem ? this.#withoutDo(paths[0].slots) : "";
    if (finite) return writeInstead(finite, both);
    const ofVerb = following.filter((piece) => piece.slot === "verb" && !piece.text.startsWith("not "));
    if (ofVerb.length > 0 && this.formWords.includes(word)) return verbMustBe(before, ofVerb);
    if (following.length > 0 && has(GROUPS.someone, word) && has(GROUPS.argument, paths[0].slots.wh)) {
      if (before.length === 1) {
        const question = `${said(before)} did ${word} ${this.forms.stem}?`;
        return say("Write “did” or a similar word first: “{question}”", { question });
      }
      return say("Leave out “{word}” here: this is what the question asks for.", { word });
    }
    if (ofVerb.length > 0 && !this.#knows(word)) {
      const hint = this.#whatFollows(paths, before);
      return say("{hint} The question is about the verb “{verb}”.", { hint, verb: this.forms.stem });
    }
    if (following.length === 0) {
      return say("Nothing can follow “{words}”. The question ends there.", { words: said(before) });
    }
    return this.#whatFollows(paths, before);
  }

  /** @param {string} word @returns {string} */
  #prepositionFirst(word) {
    if (!has(GROUPS.preposition, word) && !(word in this.more)) return "";
    const question = `What did someone ${this.forms.stem} something ${word}?`;
    return say("Put “{word}” at the end: “{question}”", { word, question });
  }

  /** @param {Slots} slots @returns {string} the finite verb form that replaces “did” or “does” without a subject */
  #withoutDo(slots) {
    if (slots.subj || !has(GROUPS.argument, slots.wh)) return "";
    if (slots.aux === "did") return this.forms.past;
    return slots.aux === "does" ? this.forms.presentSingular3rd : "";
  }

  /** @param {Path[]} paths @param {Word[]} before */
  #whatFollows(paths, before) {
    const following = this.following(paths);
    if (following.every((piece) => piece.slot === "verb")) return verbMustBe(before, following);
    const values = { words: said(before), next: oneOf(byWeight(following), MOST_NAMED) };
    if (this.ended(paths).length === 0) return say("After “{words}” comes {next}.", values);
    return say("After “{words}” the question may end, or continue with {next}.", values);
  }

  /** @param {string} word */
  #knows(word) {
    return TABLE_WORDS.has(word) || INSTEAD_OF.has(word) || word in this.more || this.formWords.includes(word);
  }
}

/** @param {Path} path @param {Arc} arc @param {number} matched @returns {Path} */
function advanced(path, arc, matched) {
  if (matched < arc.words.length) return { ...path, arc, matched };
  const there = path.slots[/** @type {keyof Slots} */ (arc.slot)];
  const slots = { ...path.slots, [arc.slot]: there ? `${there} ${arc.value}` : arc.value };
  return { state: arc.target, slots, arc: null, matched: 0 };
}

/** @param {string} text @returns {Word[]} `start` counts Unicode characters, not UTF-16 units */
export const wordsOf = (text) =>
  [...text.matchAll(WORD)].map((match) => ({
    text: match[0].toLowerCase().replaceAll("\u2019", "'"),
    start: [...text.slice(0, match.index)].length,
  }));

/** @param {Word[]} words */
const said = (words) => capital(words.map((word) => word.text).join(" "));

/** @param {Word[]} before @param {Next[]} following */
const verbMustBe = (before, following) =>
  say("After “{words}” the verb must be {forms}.", { words: said(before), forms: oneOf(byWeight(following), MOST_NAMED) });

/** @param {string} instead @param {string} words */
const writeInstead = (instead, words) => say("Write “{instead}” in place of “{words}”.", { instead, words });

/** @param {Next[]} following @returns {string[]} common pieces first; rare pieces only if there are no others */
function byWeight(following) {
  const ordered = [...following].sort((one, other) => other.weight - one.weight);
  const pieces = [...new Set(ordered.map((piece) => piece.text))];
  const usual = pieces.filter((piece) => piece !== "it" && !piece.startsWith("not "));
  return usual.length > 0 ? usual : pieces;
}

/** @param {string[]} pieces @param {number} [most] @returns {string} “a”, “b” or “c” */
function oneOf(pieces, most = pieces.length) {
  const shown = pieces.slice(0, most).map((word) => say("“{word}”", { word }));
  return sayOneOf(pieces.length > most ? [...shown, say("a similar word")] : shown);
}
