/**
 * Updates the live part of the page every few seconds.
 *
 * Pauses while the page is hidden, slows down while the server does not answer, and shows how old the content is.
 */

import { become } from "./become.js";

const EVERY_MS = 3_000;
const SELDOM_MS = 60_000;
const TIMEOUT_MS = 20_000;

/**
 * @param {HTMLElement} container what is kept up to date
 * @param {HTMLElement} status where to show that it is out of date
 */
export function keepLive(container, status) {
  let seen = new Date();
  let wait = EVERY_MS;
  let timer = 0;
  let looks = 0;

  const look = async () => {
    if (document.hidden) return;
    const mine = ++looks;
    const answer = await ask(container.dataset.live ?? location.pathname);
    // The user has returned to the page in the meantime, and a newer update is running.
    if (mine !== looks) return;
    if (answer.html !== undefined) {
      become(container, answer.html);
      seen = new Date();
      wait = EVERY_MS;
      tell("");
    } else if (answer.over) {
      tell("Your session has ended. Load the page again to sign in.");
      return;
    } else {
      wait = Math.min(wait * 2, SELDOM_MS);
      tell(`Connection lost. This page shows the state at ${seen.toLocaleTimeString([], { hour12: false })}.`);
    }
    timer = window.setTimeout(look, wait);
  };

  /** @param {string} text */
  const tell = (text) => {
    if (status.textContent === text) return;
    status.textContent = text;
    status.hidden = text === "";
  };

  const again = () => {
    window.clearTimeout(timer);
    wait = EVERY_MS;
    if (!document.hidden) look();
  };

  document.addEventListener("visibilitychange", again);
  window.addEventListener("online", again);
  timer = window.setTimeout(look, EVERY_MS);
}

/**
 * @param {string} path not always the page's own, which may be the path of a submitted form and accept no GET
 * @returns {Promise<{html?: string, over?: boolean}>}
 */
async function ask(path) {
  const url = new URL(path + location.search, location.origin);
  url.searchParams.set("part", "live");
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort(), TIMEOUT_MS);
  try {
    const response = await fetch(url, { credentials: "same-origin", cache: "no-store", redirect: "error", signal: abort.signal });
    if (response.status === 401 || response.status === 403) return { over: true };
    return response.ok ? { html: await response.text() } : {};
  } catch {
    return {};
  } finally {
    clearTimeout(timer);
  }
}
