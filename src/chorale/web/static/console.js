/** The console: keeps its live part up to date, copies links, and lets experts go through their desk by keys. */

import { offerCopying } from "./copying.js";
import { workByKeys } from "./desk.js";
import { keepLive } from "./live.js";
import { reviewByKeys } from "./review.js";

offerCopying(document);

const container = document.getElementById("live");
const status = document.getElementById("live-status");
if (container && status) keepLive(container, status);

const toggle = document.getElementById("desk-keys");
if (toggle instanceof HTMLInputElement) workByKeys(toggle);

const reviewing = document.getElementById("review-keys");
if (reviewing instanceof HTMLInputElement) reviewByKeys(reviewing);

// On a phone the tabs go on beyond the edge of the screen: the one of this page is to be seen.
document.querySelector(".site-nav [aria-current=page]")?.scrollIntoView({ block: "nearest", inline: "center" });

for (const all of document.querySelectorAll("[data-choose-all]")) {
  all.addEventListener("change", () => {
    const name = all.getAttribute("data-choose-all");
    for (const one of all.closest("form")?.querySelectorAll(`input[name="${name}"]`) ?? []) one.checked = all.checked;
  });
}
