/** The console: keeps its live part up to date, copies texts, and offers the review queue by keys. */

import { offerCopying, offerCopyingIds } from "./copying.js";
import { filterAtOnce } from "./filters.js";
import { workByKeys } from "./queue.js";
import { keepLive } from "./live.js";
import { reviewByKeys } from "./review.js";
import { selectRows } from "./selecting.js";

offerCopying(document);
offerCopyingIds(document);

const container = document.getElementById("live");
const status = document.getElementById("live-status");
if (container && status) keepLive(container, status);

const toggle = document.getElementById("queue-keys");
if (toggle instanceof HTMLInputElement) workByKeys(toggle);

const reviewing = document.getElementById("review-keys");
if (reviewing instanceof HTMLInputElement) reviewByKeys(reviewing);

// On a phone the tabs continue beyond the edge of the screen: the tab of this page is scrolled into view.
for (const tab of document.querySelectorAll(".site-nav [aria-current], .sub-nav [aria-current]")) {
  tab.scrollIntoView({ block: "nearest", inline: "center" });
}

// A second click while the first is on its way sends nothing.
for (const form of document.querySelectorAll("form[method=post]")) {
  form.addEventListener("submit", (event) => {
    if (event.submitter?.hasAttribute("data-downloads")) return; // The page stays open, and may request another download.
    if (form.hasAttribute("data-sent")) event.preventDefault();
    form.setAttribute("data-sent", "");
    window.addEventListener("pageshow", () => form.removeAttribute("data-sent"), { once: true });
  });
}

selectRows(document);
filterAtOnce(document);
