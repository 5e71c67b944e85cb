/** The page around a frame: keeps a draft of its fields, and continues after submission. */

import { say, sayCount } from "../say.js";
import { DeviceStore } from "../storage.js";

const page = /** @type {HTMLElement} */ (document.getElementById("hit"));
const frame = /** @type {HTMLIFrameElement | null} */ (document.getElementById("hit-frame"));
const { owner, assignment, deadline, serverNow } = page.dataset;
const store = new DeviceStore(owner ?? "");
const TALLEST = 4000;
/** The requested height; the page in the frame may need more, and later less. */
const LEAST = Number(frame?.height ?? 0);
/** The page in the frame is untrusted: its messages are treated as data and validated. */
const MOST_SIGNS = 200_000;
/** Key of the storage of pages in frames, shared by layouts and HITs. */
const STORED = "layout-storage";

/** Whether a draft is being sent into the frame. Until it arrives, values from the frame are older than the draft. */
let restoring = false;

if (frame) {
  addEventListener("message", (event) => {
    if (event.source !== frame.contentWindow || typeof event.data?.chorale !== "string") return;
    heard(event.data);
  });
  if (frame.dataset.src) {
    // A script in the frame can read its own name at once, before any message. A page elsewhere has its own storage.
    frame.name = JSON.stringify(store.get("memory", STORED) ?? {});
    frame.src = frame.dataset.src;
  }
}

/** @param {any} said */
function heard(said) {
  if (said.chorale === "ready" && assignment && !restoring) {
    const draft = store.get("draft", assignment);
    restoring = draft !== null;
    if (draft) frame?.contentWindow?.postMessage({ chorale: "restore", values: draft.values }, "*");
  } else if (said.chorale === "restored") {
    restoring = false;
  } else if (said.chorale === "draft" && assignment && Array.isArray(said.values)) {
    if (restoring || JSON.stringify(said.values).length > MOST_SIGNS) return;
    store.set("draft", assignment, { id: assignment, at: Date.now(), values: said.values });
  } else if (said.chorale === "height" && Number.isFinite(said.height) && frame) {
    frame.height = String(Math.min(TALLEST, Math.max(LEAST, Math.ceil(said.height))));
  } else if (said.chorale === "storage" && JSON.stringify(said.stored ?? {}).length <= MOST_SIGNS) {
    store.set("memory", STORED, said.stored);
  } else if (said.chorale === "submitted") {
    // Only the server knows whether it was really submitted.
    if (assignment) store.remove("draft", assignment);
    location.reload();
  }
}

const clock = document.getElementById("time-left");
if (clock && deadline) {
  const ahead = Number(serverNow) - Date.now();
  const show = () => {
    const left = Math.max(0, Math.ceil((Number(deadline) - Date.now() - ahead) / 60_000));
    clock.textContent = left > 1 ? sayCount(left, "{count} minute left", "{count} minutes left") : left === 1 ? say("Less than a minute left") : say("Your time is up");
  };
  show();
  setInterval(show, 10_000);
}
