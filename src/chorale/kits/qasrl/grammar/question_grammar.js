/**
 * The grammar of questions about a verb, for pages: parses questions and suggests continuations. It uses the same
 * table and gives the same results as `chorale.kits.qasrl.grammar`.
 *
 * @typedef {import("./question_slots.js").Slots} Slots
 * @typedef {import("./question_slots.js").Forms} Forms
 * @typedef {import("./question_sentence.js").Clause} Clause
 * @typedef {import("./question_arguments.js").Arguments} Arguments
 * @typedef {{text: string, whole: boolean, slot: string}} Completion the question with one more piece
 * @typedef {{
 *   clause: Clause, arguments: Arguments, hasPassive: boolean, prepositions: string[], asked: Set<string>, keys: Set<string>,
 * }} Known probable clause and arguments of the verb, and what was asked already
 */

import { argumentsIn, hasPassive, isPersonSubject } from "./question_arguments.js";
import { LONGEST_QUESTION, Machine, wordsOf } from "./question_machine.js";
import { isModal, likeliest } from "./question_ranking.js";
import { clauseIn, clauseOf, conjugated, prepositionsIn } from "./question_sentence.js";
import { asQuestion, askedFor, capital, has, isPassive, keyOf, render } from "./question_slots.js";
import TABLE from "./question_table.js";

const MOST_SUGGESTED = 3;
const PREPOSITIONS_ASKED = 3;
const BEFORE_PREPOSITIONS = 2;
/** Maximum number of pieces that finish a question. */
const MOST_PIECES = 8;
const LIKELY_MODAL = "might";
const SUGGESTED = 1000;
const SAME_TENSE = 100;
const IN_SENTENCE = 60;
const END = 45;
const NOUNS = new Map([["who", "someone"], ["what", "something"]]);
const WH = new Map([["someone", "who"], ["something", "what"]]);
const FINITE = new Map([["past", "past"], ["present", "presentSingular3rd"]]);
const AUXILIARIES = /** @type {Record<string, {kind: string, tense: string, negated?: string}>} */ (TABLE.auxiliaries);

export class Grammar {
  /**
   * @param {Forms} forms
   * @param {string[]} [tokens] the sentence
   * @param {number} [verbIndex] position of the verb in it; default: the first of its forms
   * @param {string[]} [prepositions] allowed in addition to the usual ones
   * @param {import("./question_slots.js").Variants} [variants] other spellings of the forms
   * @param {string[]} [ranked] questions to offer before all others, likeliest first
   */
  constructor(forms, tokens = [], verbIndex = undefined, prepositions = [], variants = {}, ranked = []) {
    this.forms = forms;
    // Helpers are listed as “'ll” and “n't”.
    this.tokens = tokens.map((token) => token.replaceAll("\u2019", "'"));
    const spelt = Object.values(forms);
    this.verbIndex = verbIndex ?? tokens.findIndex((token) => spelt.includes(token.toLowerCase()));
    this.machine = new Machine(forms, prepositions, variants);
    this.ranked = ranked.map((text) => this.parse(text)).flatMap((one) => ("slots" in one ? [one.slots] : []));
  }

  /** @param {string} question @returns {import("./question_machine.js").Parsed | import("./question_machine.js").NotAQuestion} */
  parse(question) {
    return this.machine.parse(question);
  }

  /** @param {string} prefix @param {string[]} [earlier] questions asked already @returns {Completion[]} likeliest first */
  complete(prefix, earlier = []) {
    if ([...prefix].length > LONGEST_QUESTION) return [];
    const likely = this.#likely(earlier);
    const wanted = wordsOf(prefix).map((word) => word.text).join(" ");
    const isReady = wanted === "" || " \t\r\n\u00a0".includes(prefix[prefix.length - 1]);
    const typed = wanted !== "" && isReady ? `${wanted} ` : wanted;
    let suggested = this.#suggested(likely).filter((text) => text.toLowerCase().startsWith(typed));
    if (typed !== "" && suggested.length === 0) suggested = this.#inOtherWords(typed, likely);
    if (typed !== "" && suggested.length === 0) suggested = this.#finished(typed, likely);
    const completions = suggested.slice(0, MOST_SUGGESTED).map((text) => ({ text, whole: true, slot: "" }));
    const pieces = this.#pieces(wanted, "", likely, suggested);
    if (!isReady) {
      const space = wanted.lastIndexOf(" ");
      pieces.push(...this.#pieces(wanted.slice(0, Math.max(0, space)), wanted.slice(space + 1), likely, suggested));
    }
    const shown = new Set(completions.map((completion) => completion.text));
    for (const completion of pieces) {
      if (!shown.has(completion.text)) {
        shown.add(completion.text);
        completions.push(completion);
      }
    }
    return completions;
  }

  /** @param {string[]} [earlier] @returns {string[]} likely questions that have not been asked yet */
  suggest(earlier = []) {
    return this.#suggested(this.#likely(earlier));
  }

  /**
   * @param {string} typed
   * @param {Known} likely
   * @returns {string[]} the likeliest question with the auxiliary or noun that somebody typed, if it differs from the
   *   sentence's
   */
  #inOtherWords(typed, likely) {
    const words = typed.trim().split(" ");
    const paths = this.machine.walk(words);
    const [last] = words.slice(-1);
    const begun = paths.length > 0 ? [] : this.machine.following(this.machine.walk(words.slice(0, -1)));
    const reached = [
      ...paths.map((path) => path.slots.aux),
      ...begun
        .filter((piece) => piece.text.startsWith(last))
        .map((piece) => (piece.slot === "aux" ? piece.value : piece.after.slots.aux)),
    ];
    const clauses = clausesWith([...new Set(reached)], likely);
    for (const nouns of nounsLike(likely.arguments)) {
      for (const clause of clauses) {
        for (const slots of candidates({ ...likely, clause, arguments: nouns })) {
          const isNew = !likely.asked.has(askedFor(slots)) && !likely.keys.has(keyOf(slots));
          const text = isNew ? render(slots, this.forms) : "";
          if (text.toLowerCase().startsWith(typed)) return [text];
        }
      }
    }
    return [];
  }

  /**
   * @param {string} typed
   * @param {Known} likely
   * @returns {string[]} the typed words as a question, with as few of the likeliest pieces as it needs; empty if it was
   *   asked before
   */
  #finished(typed, likely) {
    let text = typed.trimEnd();
    for (let count = 0; count < MOST_PIECES; count += 1) {
      const slots = this.#endedWithObject(text, likely);
      if (slots !== null) {
        const isNew = !likely.asked.has(askedFor(slots)) && !likely.keys.has(keyOf(slots));
        return isNew ? [render(slots, this.forms)] : [];
      }
      const space = text.lastIndexOf(" ");
      let onward = this.#pieces(text, "", likely, []);
      if (onward.length === 0 && text === typed) {
        // The last word is not finished.
        onward = this.#pieces(text.slice(0, Math.max(0, space)), text.slice(space + 1), likely, []);
      }
      if (onward.length === 0) return [];
      text = onward[0].text.toLowerCase();
    }
    return [];
  }

  /**
   * The question that ends here. A preposition without a noun gets one: “Who was charged with something?” Questions about
   * a place or about the noun itself end with it: “Where was she sent to?”, “Who was it cut by?”
   *
   * @param {string} text
   * @param {Known} likely
   * @returns {Slots | null}
   */
  #endedWithObject(text, likely) {
    const words = text.split(" ");
    const [slots] = this.machine.ended(this.machine.walk(words));
    if (!slots) return null;
    const mayEnd = slots.wh === "where" || (slots.subj !== "" && has(TABLE.groups.argument, slots.wh));
    if (mayEnd || slots.misc || ["", likely.arguments.particle].includes(slots.prep)) return slots;
    const [withObject] = this.machine.ended(this.machine.walk([...words, "something"]));
    return withObject ?? slots;
  }

  /** @param {string} begun @param {string} partial @param {Known} likely @param {string[]} suggested */
  #pieces(begun, partial, likely, suggested) {
    const paths = this.machine.walk(begun === "" ? [] : begun.split(" "));
    /** @type {Map<string, {completion: Completion, score: number}>} */
    const scored = new Map();
    if (partial === "" && this.machine.ended(paths).length > 0) {
      scored.set("?", { completion: { text: asQuestion(begun), whole: true, slot: "" }, score: END });
    }
    for (const piece of this.machine.following(paths)) {
      if (piece.text === partial || !piece.text.startsWith(partial) || !isOffered(piece, partial)) continue;
      const text = begun === "" ? piece.text : `${begun} ${piece.text}`;
      const key = `${piece.slot} ${text}`;
      const score = Math.max(scored.get(key)?.score ?? 0, scoreOf(piece, text, likely, suggested));
      scored.set(key, { completion: { text: capital(text), whole: false, slot: piece.slot }, score });
    }
    return [...scored.values()].sort((one, other) => other.score - one.score).map((one) => one.completion);
  }

  /** @param {string[]} earlier @returns {Known} */
  #likely(earlier) {
    const { tokens, verbIndex } = this;
    const asked = earlier.map((question) => this.parse(question)).flatMap((one) => ("slots" in one ? [one.slots] : []));
    const latestFirst = [...asked].reverse();
    const read = asked.length > 0 ? this.#afterEarlier(latestFirst) : this.#read();
    return {
      ...read,
      hasPassive: hasPassive(this.forms),
      prepositions: prepositionsIn(tokens, verbIndex, this.machine.more),
      asked: new Set(asked.map(askedFor)),
      keys: new Set(asked.map(keyOf)),
    };
  }

  /** @returns {{clause: Clause, arguments: Arguments}} the probable clause and arguments in the sentence */
  #read() {
    const { tokens, verbIndex, forms } = this;
    const clause = clauseIn(tokens, verbIndex, forms);
    const guessed = this.#guessed(clause);
    if (verbIndex < 0 || verbIndex >= tokens.length) return { clause, arguments: guessed };
    const { passive, asked, object, modal } = likeliest(tokens, verbIndex, forms, clause, guessed);
    // The published questions do not show the model whether “called off” has an object.
    const isAfterParticle = guessed.objectAfterParticle && !clause.passive;
    const nouns = passive ? { subject: "someone", object: asked } : { subject: asked, object: isAfterParticle ? guessed.object : object };
    const tense = modal && !isModal(clause.tense) ? LIKELY_MODAL : clause.tense;
    return { clause: { ...clause, passive, tense }, arguments: { ...guessed, ...nouns } };
  }

  /** @param {Clause} clause @returns {Arguments} result of the rules */
  #guessed(clause) {
    const { tokens, verbIndex, forms } = this;
    const unknown = { subject: "someone", object: "something", particle: "", objectAfterParticle: false };
    const guessed = tokens.length > 0 ? argumentsIn(tokens, verbIndex, forms) : unknown;
    if (!clause.passive) return guessed;
    return { ...guessed, subject: "someone", object: isPersonSubject(tokens, verbIndex, forms) ? "someone" : "something" };
  }

  /** @param {Slots[]} latestFirst earlier questions @returns {{clause: Clause, arguments: Arguments}} corrected by these questions */
  #afterEarlier(latestFirst) {
    const clause = clauseOf(latestFirst[0]);
    const guessed = this.#guessed(clause);
    const particle = latestFirst.some((slots) => slots.prep.split(" ").includes(guessed.particle)) ? guessed.particle : "";
    return {
      clause,
      arguments: {
        subject: latestFirst.map(actor).find((noun) => noun) ?? guessed.subject,
        object: latestFirst.map((slots) => patient(slots, particle)).find((noun) => noun) ?? "",
        particle,
        objectAfterParticle: guessed.objectAfterParticle && particle !== "",
      },
    };
  }

  /** @param {Known} likely @returns {string[]} */
  #suggested(likely) {
    const ofRanked = new Set(this.ranked.map(keyOf));
    const others = candidates(likely).filter((slots) => !ofRanked.has(keyOf(slots)));
    const fresh = [...this.ranked, ...others].filter(
      (slots) => !likely.asked.has(askedFor(slots)) && !likely.keys.has(keyOf(slots)),
    );
    return [...new Set(fresh.map((slots) => render(slots, this.forms)))];
  }
}

/** @param {string[]} auxiliaries @param {Known} likely @returns {Clause[]} those with such an auxiliary, most similar first */
function clausesWith(auxiliaries, likely) {
  const own = likely.clause;
  const simple = { tense: "past", perfect: false, progressive: false, negated: false, passive: own.passive };
  /** @type {Map<string, {tense: string, negated: boolean}>} */
  const tenses = new Map();
  for (const name of auxiliaries) {
    const aux = AUXILIARIES[name];
    const possible = aux ? [aux.tense] : [own.tense, "past", "present"];
    const negated = aux !== undefined && "negated" in aux;
    for (const tense of possible) tenses.set(`${tense} ${negated}`, { tense, negated });
  }
  const either = [false, true];
  const clauses = [...tenses.values()].flatMap((each) =>
    either.flatMap((perfect) =>
      either.flatMap((progressive) => either.map((passive) => ({ ...each, perfect, progressive, passive }))),
    ),
  );
  /** @param {Clause} clause */
  const differences = (clause) => {
    const other = clause.tense === own.tense ? own : simple;
    const names = /** @type {(keyof Clause)[]} */ (Object.keys(simple));
    return names.filter((name) => clause[name] !== other[name]).length;
  };
  return clauses
    .filter((clause) => likely.hasPassive || !clause.passive)
    .sort((one, other) => differences(one) - differences(other));
}

/** @param {Arguments} likely @returns {Arguments[]} with *someone* for *something*, or the reverse, after the likely ones */
function nounsLike(likely) {
  const other = new Map([["someone", "something"], ["something", "someone"]]);
  const subject = { ...likely, subject: other.get(likely.subject) ?? "" };
  return [likely, subject, ...(likely.object ? [{ ...likely, object: other.get(likely.object) ?? "" }] : [])];
}

/** @param {import("./question_machine.js").Next} piece @param {string} partial */
function isOffered(piece, partial) {
  const there = piece.after.slots.prep;
  return piece.slot !== "prep" || !there || partial !== "" || TABLE.pairs.includes(`${there} ${piece.value}`);
}

/** @param {import("./question_machine.js").Next} piece @param {string} text @param {Known} likely @param {string[]} suggested */
function scoreOf(piece, text, likely, suggested) {
  let score = piece.weight;
  if (piece.slot === "prep" && likely.prepositions.includes(piece.value)) {
    score += IN_SENTENCE - likely.prepositions.indexOf(piece.value);
  }
  if (piece.slot === "aux") {
    const aux = AUXILIARIES[piece.value];
    if (aux.tense === likely.clause.tense && "negated" in aux === likely.clause.negated) score += SAME_TENSE;
  }
  if (piece.slot === "verb" && piece.value === FINITE.get(likely.clause.tense)) score += SAME_TENSE;
  const number = suggested.findIndex((whole) => {
    const lower = whole.toLowerCase();
    return lower.startsWith(`${text} `) || lower.startsWith(`${text}?`);
  });
  return number < 0 ? score : score + SUGGESTED - number;
}

/** @param {Slots} slots @returns {string} the agent (*someone* or *something*) if the question shows it */
function actor(slots) {
  if (askedFor(slots) === "subject") return NOUNS.get(slots.wh) ?? "";
  if (isPassive(slots)) return slots.prep === "by" && WH.has(slots.misc) ? slots.misc : "";
  return WH.has(slots.subj) ? slots.subj : "";
}

/** @param {Slots} slots @param {string} particle @returns {string} the patient (*someone* or *something*) if the question shows it */
function patient(slots, particle) {
  const beside = particle !== "" && slots.prep === particle && !isPassive(slots);
  const asked = askedFor(slots);
  if (asked === "object" || (beside && asked === `prep ${particle}`)) return NOUNS.get(slots.wh) ?? "";
  const noun = isPassive(slots) ? slots.subj : slots.obj || (beside ? slots.misc : "");
  return WH.has(noun) ? noun : "";
}

/** @param {Known} likely @returns {Slots[]} general questions, filled with the probable arguments of this verb */
function candidates(likely) {
  const { subject, object, particle } = likely.arguments;
  const active = { ...likely.clause, passive: false };
  const passive = { ...likely.clause, passive: true };
  const bySubject = [asking(active, WH.get(subject) ?? "", "", object)];
  const wh = WH.get(object) ?? "";
  const inPassive = likely.hasPassive ? [asking(passive, wh, "", "")] : [];
  const byObject = object ? [...inPassive, asking(active, wh, subject, "")] : [];
  const rest = likely.clause.passive
    ? asking(passive, "when", object || "something", "")
    : asking(active, "when", subject, object);
  const circumstances = TABLE.suggested.map((word) => ({ ...rest, wh: word }));
  const among = likely.prepositions.filter(
    (prep) => prep !== particle && (particle === "" || TABLE.pairs.includes(`${particle} ${prep}`)),
  );
  const prepositions = among.slice(0, PREPOSITIONS_ASKED).map((prep) => ({ ...rest, wh: "what", prep }));
  return ranked(bySubject, byObject, circumstances, prepositions, likely).map((slots) => withParticle(slots, likely.arguments));
}

/**
 * @param {Slots[]} bySubject
 * @param {Slots[]} byObject
 * @param {Slots[]} circumstances
 * @param {Slots[]} prepositions
 * @param {Known} likely
 * @returns {Slots[]} likeliest first
 */
function ranked(bySubject, byObject, circumstances, prepositions, likely) {
  return [
    ...(likely.clause.passive ? [...byObject, ...bySubject] : [...bySubject, ...byObject]),
    ...circumstances.slice(0, BEFORE_PREPOSITIONS),
    ...prepositions,
    ...circumstances.slice(BEFORE_PREPOSITIONS),
  ];
}

/** @param {Slots} slots @param {Arguments} guessed @returns {Slots} */
function withParticle(slots, { particle, objectAfterParticle }) {
  if (particle === "") return slots;
  const prep = `${particle} ${slots.prep}`.trim();
  if (slots.obj && !slots.prep && objectAfterParticle) return { ...slots, obj: "", prep, misc: slots.obj };
  return { ...slots, prep };
}

/** @param {Clause} clause @param {string} wh @param {string} subj @param {string} obj @returns {Slots} */
function asking(clause, wh, subj, obj) {
  const [aux, verb] = conjugated(clause, subj !== "" || !has(TABLE.groups.argument, wh));
  return { wh, aux, subj, verb, obj, prep: "", misc: "" };
}
