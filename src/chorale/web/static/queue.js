/** The review queue by keys: j and k go to the next and the previous entry, other keys to its parts. */

import { Shortcuts } from "./shortcuts.js";
import { DeviceStore } from "./storage.js";

const PLACES = { q: "#queue-questions", m: "#queue-messages" };
const ACTS = { w: "[data-starts]", g: "#queue-gold" };

/** @param {HTMLInputElement} toggle turns single keys off */
export function workByKeys(toggle) {
  new Shortcuts(new DeviceStore("console"), toggle, (key) => {
    if (key === "j" || key === "k") return step(key === "j" ? 1 : -1);
    const act = find(ACTS, key);
    const place = act ?? find(PLACES, key);
    if (act) act.click();
    else place?.focus();
    return place !== null;
  });
}

/**
 * @param {Record<string, string>} known
 * @param {string} key
 * @returns {HTMLElement | null}
 */
function find(known, key) {
  return key in known ? document.querySelector(known[key]) : null;
}

/**
 * @param {number} by
 * @returns {boolean} whether there was anything to go to
 */
function step(by) {
  const all = [...document.querySelectorAll("[data-queue]")].filter((each) => each.checkVisibility());
  const here = document.activeElement;
  const at = all.findIndex((each) => each === here || (each.matches("summary") && each.parentElement?.contains(here)));
  const next = all[at < 0 ? (by > 0 ? 0 : all.length - 1) : Math.min(all.length - 1, Math.max(0, at + by))];
  if (next instanceof HTMLElement) next.focus();
  return next !== undefined;
}
