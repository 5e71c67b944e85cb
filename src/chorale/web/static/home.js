/** The worker's overview: sends what is still on this device, and copies the completion code. */

import { offerCopying } from "./copying.js";
import { Courier } from "./courier.js";
import { Outbox } from "./outbox.js";
import { make, Notices, showFeedback } from "./show.js";
import { DeviceStore } from "./storage.js";
import { say } from "./say.js";

/** @param {string} id */
const byId = (id) => /** @type {HTMLElement} */ (document.getElementById(id));

const notices = new Notices(byId("notices"));
const outbox = new Outbox(new DeviceStore(byId("home").dataset.owner ?? ""));
let sent = 0;

const courier = new Courier(outbox, notices, {
  async onSent({ entry, data }) {
    sent += 1;
    if (!data.feedback?.explanation) return;
    const section = make("section", { class: "card feedback stack" });
    section.setAttribute("aria-labelledby", "feedback-title");
    byId("notices").after(section);
    await showFeedback(section, entry.recap, data.feedback.explanation);
    section.remove();
  },
  onRefused: ({ code, message }) => {
    if (code !== "invalid_answer") return;
    notices.show("invalid", { tone: "warn", text: [message, say("Continue below to correct it.")].join(" ") });
  },
});

offerCopying(document);
await courier.catchUp();
const before = sent;
await courier.deliverAll();
// The answers and earnings on the page are out of date.
if (sent > before) location.reload();
