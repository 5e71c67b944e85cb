/**
 * Buttons that copy a text. `data-copy` names the element with the text, and `data-copied` the one that confirms it;
 * `data-copy-text` is the text itself.
 */

const SHOWN_MS = 1_500;

import { say } from "./say.js";

/** @param {Document} page */
export function offerCopying(page) {
  // Only pages on https or localhost may write to the clipboard; elsewhere the text can still be selected.
  if (!navigator.clipboard) return;
  for (const button of page.querySelectorAll("button[data-copy]")) {
    const name = /** @type {HTMLElement} */ (button).dataset.copy ?? "";
    const source = page.getElementById(name);
    const status = page.querySelector(`[data-copied="${CSS.escape(name)}"]`);
    if (!source || !status) continue;
    button.removeAttribute("hidden");
    button.addEventListener("click", async () => {
      const text = source instanceof HTMLTextAreaElement ? source.value : (source.textContent ?? "");
      const copied = await navigator.clipboard.writeText(text).then(
        () => true,
        () => false,
      );
      status.textContent = copied ? say("Copied.") : say("Please select the text and copy it.");
    });
  }
}

/**
 * Buttons with the text itself. They may come and go as the page is updated.
 *
 * @param {Document} page
 */
export function offerCopyingIds(page) {
  if (!navigator.clipboard) return;
  const style = new CSSStyleSheet();
  // The attribute `hidden` comes back with every update of the page.
  style.replaceSync("button.copy[hidden] { display: inline-block !important; }");
  page.adoptedStyleSheets.push(style);
  page.addEventListener("click", async (event) => {
    const button = event.target instanceof Element ? event.target.closest("button[data-copy-text]") : null;
    if (!(button instanceof HTMLElement)) return;
    await navigator.clipboard.writeText(button.dataset.copyText ?? "").catch(() => {});
    button.dataset.done = "";
    setTimeout(() => delete button.dataset.done, SHOWN_MS);
  });
}
