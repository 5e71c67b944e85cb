/**
 * Sentences of this page. They are in English where they are used; a study in another language loads a script before
 * all others, with their translations.
 *
 * @typedef {Object<string, string | number>} Values
 */

/** @type {{language: string, messages: Object<string, string | string[]>, plural: (n: number) => number} | undefined} */
const words = globalThis.choraleWords;
const alternatives = new Intl.ListFormat(words?.language ?? "en-GB", { type: "disjunction" });
const numbers = new Intl.NumberFormat(words?.language ?? "en", { maximumFractionDigits: 20, numberingSystem: "latn" });
const dates = new Intl.DateTimeFormat(words?.language ?? "en-GB", { dateStyle: "long", timeZone: "UTC", numberingSystem: "latn", calendar: "gregory" });

/**
 * @param {string} source with placeholders, such as `{count}`
 * @param {Values} [values]
 * @returns {string} the sentence in the language of the page
 */
export function say(source, values = {}) {
  const translation = words?.messages[source];
  return filled(typeof translation === "string" ? translation : source, values);
}

/**
 * @param {number} count
 * @param {string} one the sentence for 1
 * @param {string} several the sentence for any other number; `{count}` shows it
 * @param {Values} [values]
 * @returns {string}
 */
export function sayCount(count, one, several, values = {}) {
  const forms = words?.messages[one];
  const english = count === 1 ? one : several;
  return filled(Array.isArray(forms) ? (forms[words?.plural(count) ?? 0] ?? english) : english, { count, ...values });
}

globalThis.choraleSay = say; // for scripts that are not modules

/** @param {string[]} choices @returns {string} “a, b or c” */
export const sayOneOf = (choices) => alternatives.format(choices);

/** @param {string} text @returns {string} the text in the quotation marks of the page's language */
export const sayQuoted = (text) => say("“{text}”", { text });

/** @param {string[]} parts @returns {string} the parts, with the comma of the page's language between them */
export const sayList = (parts) => parts.join(say(", "));

/** @param {string} day such as 2024-05-31 */
export const sayDate = (day) => dates.format(new Date(`${day}T00:00Z`));

/** @param {number} value */
export const sayNumber = (value) => numbers.format(value);

/**
 * @param {string} text
 * @param {Values} values
 */
function filled(text, values) {
  return text.replace(/\{(\w+)\}/g, (whole, name) => {
    const value = values[name];
    return value === undefined ? whole : typeof value === "number" ? numbers.format(value) : value;
  });
}
