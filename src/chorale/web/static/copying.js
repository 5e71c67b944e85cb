/** Buttons that copy a text: `data-copy` names the element with the text, `data-copied` where to say that it worked. */

import { say } from "./say.js";

/** @param {Document} page */
export function offerCopying(page) {
  // Only pages on https or localhost may write to the clipboard; elsewhere the text can still be selected.
  if (!navigator.clipboard) return;
  for (const button of page.querySelectorAll("button[data-copy]")) {
    const name = /** @type {HTMLElement} */ (button).dataset.copy ?? "";
    const source = page.getElementById(name);
    const told = page.querySelector(`[data-copied="${CSS.escape(name)}"]`);
    if (!source || !told) continue;
    button.removeAttribute("hidden");
    button.addEventListener("click", async () => {
      const text = source instanceof HTMLTextAreaElement ? source.value : (source.textContent ?? "");
      const copied = await navigator.clipboard.writeText(text).then(
        () => true,
        () => false,
      );
      told.textContent = copied ? say("Copied.") : say("Please select the text and copy it.");
    });
  }
}
