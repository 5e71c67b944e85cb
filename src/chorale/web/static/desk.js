/** The experts' desk by keys: j and k go from one thing to the next, w, m and g go where the work is. */

import { Shortcuts } from "./shortcuts.js";
import { DeviceStore } from "./storage.js";

const PLACES = { w: "desk-work", m: "desk-messages", g: "desk-gold" };

/** @param {HTMLInputElement} toggle what switches single keys off */
export function workByKeys(toggle) {
  new Shortcuts(new DeviceStore("console"), toggle, (key) => {
    if (key === "j" || key === "k") return step(key === "j" ? 1 : -1);
    const place = document.getElementById(PLACES[/** @type {keyof typeof PLACES} */ (key)] ?? "");
    place?.click();
    return place !== null;
  });
}

/**
 * @param {number} by
 * @returns {boolean} whether there was anything to go to
 */
function step(by) {
  const all = [...document.querySelectorAll("[data-desk] > summary")];
  const at = all.findIndex((each) => each.parentElement?.contains(document.activeElement));
  const next = all[at < 0 ? (by > 0 ? 0 : all.length - 1) : Math.min(all.length - 1, Math.max(0, at + by))];
  if (next instanceof HTMLElement) next.focus();
  return next !== undefined;
}
