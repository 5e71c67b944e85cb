/**
 * The work page: read the guidelines, then question after question until there are none.
 *
 * The page is one loop (`main`). Each step is a function that resolves when the step is over, so at any time the page
 * is in exactly one state: sending unsent answers, requesting a question, showing one, or waiting.
 *
 * @typedef {import("./question.js").Assignment} Assignment
 * @typedef {{answered: number, earned: number, earned_text: string}} Progress
 * @typedef {{title: string, url: string, at_once: boolean}} Following what to do next, where a part has nothing more
 */

import { post } from "./api.js";
import { Courier, RETRY } from "./courier.js";
import { Guidelines } from "./guidelines.js";
import { Outbox } from "./outbox.js";
import "./presses.js";
import { announce, Question } from "./question.js";
import { isWriting, Shortcuts } from "./shortcuts.js";
import { makeButton, Notices, showFeedback, takeFocus } from "./show.js";
import { DeviceStore } from "./storage.js";
import { Backoff, pause } from "./timer.js";
import { say, sayCount, sayNumber } from "./say.js";

const MARK = "\u0000";

/** @param {string} id */
const byId = (id) => /** @type {HTMLElement} */ (document.getElementById(id));

const PANELS = ["panel-intro", "panel-loading", "panel-item", "panel-feedback", "panel-rest"];
const POLL = { firstMs: 10_000, mostMs: 60_000, factor: 1.5 };

/** Long enough to read the next step and to decide to stay. */
const CONTINUES_AFTER_S = 8;

/**
 * The messages when there is no question: a title, an icon, and whether to check again later. If a
 * result may open the next part (`awaits`), the page checks automatically.
 */
const RESTS = {
  wait: { title: say("Nothing to do right now"), icon: "icon-clock", again: true },
  paused: { title: say("This part is paused"), icon: "icon-pause", again: true },
  done: { title: say("All done. Thank you!"), icon: "icon-check", again: false },
  none: { title: say("Nothing to do right now"), icon: "icon-info", again: false },
  limit: { title: say("You have reached the limit for this part. Thank you!"), icon: "icon-check", again: false },
  round: { title: say("You have answered all questions. Thank you!"), icon: "icon-check", again: false, awaits: true },
  dropped: { title: say("This part has ended for you"), icon: "icon-info", again: false },
  locked: { title: say("This part is not available right now"), icon: "icon-lock", again: false },
  signed_out: { title: say("You are signed out"), icon: "icon-lock", again: true },
  ended: { title: say("Your session has ended"), icon: "icon-lock", again: false },
  refused: { title: say("This part is not available right now"), icon: "icon-warn", again: false },
};

const config = byId("work").dataset;
const store = new DeviceStore(config.owner ?? "");
const outbox = new Outbox(store);
const notices = new Notices(byId("notices"));
const guidelines = new Guidelines();
/** @type {Question | null} */
let question = null;
/** @type {{id: string, message: string} | null} the answer that has to be corrected */
let invalid = null;

const courier = new Courier(outbox, notices, {
  async onSent({ entry, data }) {
    showProgress(data.progress);
    const saved = data.progress ? say("Answer {number} saved", { number: data.progress.answered }) : say("Saved");
    showSaved("saved", data.right ? [say("Correct!"), saved].join(" ") : saved);
    if (data.feedback?.explanation) {
      showOnly("panel-feedback");
      const { explanation, details } = data.feedback;
      const module = details && config.taskModule ? await loadModule(config.taskModule) : null;
      const compared = (await module?.compare?.(details)) ?? null;
      await showFeedback(byId("panel-feedback"), entry.recap, explanation, compared);
      showOnly("panel-loading");
    }
  },
  onRefused: ({ id, code, message }) => {
    showSaved("", say("Answer not accepted"));
    if (code === "invalid_answer") invalid = { id, message };
  },
  onWaiting: () => showSaved(store.lasting ? "device" : "sending", store.lasting ? say("Saved on this device, not sent yet") : say("Not sent yet")),
});

new Shortcuts(store, /** @type {HTMLInputElement} */ (byId("use-shortcuts")), (key) => {
  if (guidelines.isOpen) {
    if (key !== "g" && key !== "?") return false;
    guidelines.close();
    return true;
  }
  if (question?.press(key)) return true;
  if ((key === "g" || key === "?") && byId("panel-intro").hidden) {
    guidelines.open();
    return true;
  }
  return false;
});

const { desk } = config;
if (desk) {
  // Experts return to their review queue; started work is kept.
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || event.defaultPrevented || guidelines.isOpen || isWriting(event.target)) return;
    location.assign(desk);
  });
}

byId("lease-extend").addEventListener("click", extendLease);
// Never submit by the browser itself, not even between two questions.
byId("task-form").addEventListener("submit", (event) => event.preventDefault());

main();

async function main() {
  store.forgetOldDrafts();
  if (!store.lasting) warnAboutStorage();
  await courier.catchUp();
  if (outbox.pending().length > 0) await courier.deliverAll();
  const module = config.taskModule ? await loadModule(config.taskModule) : null;
  await introduction();
  for (;;) {
    await courier.deliverAll();
    const reply = await askNext();
    showProgress(reply.progress);
    if (!byId("saved").textContent && reply.progress?.answered) showSaved("saved", say("All saved"));
    byId("panel-item").setAttribute("aria-label", say("Question {number}", { number: (reply.progress?.answered ?? 0) + 1 }));
    if (reply.status === "item") {
      showSkips(reply.skips_left ?? null);
      showPay(reply.assignment.pay_text ?? null);
      await workOn(reply.assignment, module);
    } else if (!(await rest(reply.status, reply.message, reply.following))) return;
  }
}

/** Show the guidelines, if this worker has not started here or opened them. No question is requested meanwhile. */
async function introduction() {
  const mark = config.stage ?? "";
  if (config.firstVisit !== "yes" || store.get("read", mark) !== null) {
    if (location.hash === "#guidelines") await guidelines.read();
    return;
  }
  showOnly("panel-intro");
  await guidelines.readFirst();
  store.set("read", mark, { at: Date.now() });
  showOnly("panel-loading");
  window.scrollTo({ top: 0 });
}

/**
 * @param {Assignment} assignment
 * @param {import("./form.js").TaskModule | null} module
 */
async function workOn(assignment, module) {
  showOnly("panel-item");
  const problem = invalid?.id === assignment.id ? invalid.message : undefined;
  invalid = null;
  question = new Question(assignment, store, module, (answer) => sendFirst(assignment, answer));
  const outcome = await question.ask(problem);
  question = null;
  notices.hide("skip");
  if (outcome.kind === "answered") {
    showSaved("sending", say("Sending …"));
    const { key, answer, durationMs, writing, recap } = outcome;
    const url = urlFor(config.submitUrl, assignment.id);
    outbox.put({ id: assignment.id, url, key, answer, durationMs, writing, recap });
  } else if (outcome.kind === "skip") {
    await giveBack(assignment);
  } else if (outcome.kind === "elsewhere") {
    announce(say("You answered this question in another tab. Here is the next one."));
  }
}

/**
 * Send the first answer of a form in two steps until it is stored, or refused.
 *
 * @param {Assignment} assignment
 * @param {Object<string, any>} answer
 */
async function sendFirst(assignment, answer) {
  const backoff = new Backoff(RETRY.firstMs, RETRY.mostMs);
  const button = makeButton(say("Try now"), "button button-small");
  for (;;) {
    const reply = await post(urlFor(config.firstUrl, assignment.id), { answer });
    if (reply.kind !== "unreachable") notices.hide("first");
    if (reply.kind === "ok") return /** @type {any} */ (reply.data);
    if (reply.kind !== "unreachable") return { problem: reply.message };
    notices.show("first", {
      tone: "warn",
      title: say("No connection."),
      text: say("Your first answer is not saved yet. It will be sent when you are back online."),
      buttons: [button],
    });
    await pause(Math.max(backoff.step(), reply.retryAfterMs), { button });
  }
}

/** @param {Assignment} assignment */
async function giveBack(assignment) {
  const reply = await post(urlFor(config.returnUrl, assignment.id), {});
  if (reply.kind === "unreachable") {
    notices.show("skip", { tone: "warn", text: say("No connection: the question was not skipped. Please try again.") });
    return; // the same question comes again
  }
  if (reply.kind === "refused" && reply.code === "no_skips_left") {
    notices.show("skip", { tone: "warn", title: say("No skips left."), text: reply.message });
    return; // the same question comes again, with what was written
  }
  if (reply.kind !== "signed_out") store.remove("draft", assignment.id);
  if (reply.kind === "ok") showSaved("", say("Skipped"));
}

const FEW_SKIPS = 3;

/**
 * The number of skips left, shown once few are left.
 *
 * @param {number | null} left
 */
function showSkips(left) {
  const shown = byId("skips-left");
  shown.hidden = left === null || left > FEW_SKIPS;
  if (left === null) return;
  shown.textContent = left === 0 ? say("No skips left. Answer more questions to get more skips.") : sayCount(left, "{count} skip left", "{count} skips left");
  /** @type {HTMLButtonElement} */ (byId("skip")).disabled = left === 0;
}

/**
 * The pay for this question, if it depends on its length.
 *
 * @param {string | null} text
 */
function showPay(text) {
  byId("item-pay").hidden = text === null;
  byId("item-pay").textContent = text === null ? "" : say("This question pays {amount}.", { amount: text });
}

/**
 * Request the next question until there is a reply.
 *
 * @returns {Promise<{status: string, message?: string, progress?: Progress, assignment?: any, skips_left?: number |
 *   null, following?: Following | null}>}
 */
async function askNext() {
  const backoff = new Backoff(RETRY.firstMs, RETRY.mostMs);
  const button = makeButton(say("Try now"), "button button-small");
  for (;;) {
    const reply = await post(config.nextUrl ?? "", {});
    if (reply.kind !== "unreachable") notices.hide("next");
    if (reply.kind === "ok") return /** @type {any} */ (reply.data);
    if (reply.kind === "signed_out") {
      return { status: "signed_out", message: reply.message };
    }
    if (reply.kind === "refused") {
      const ended = reply.code === "participation_lost" || reply.code === "revoked";
      return { status: ended ? "ended" : "refused", message: reply.message };
    }
    notices.show("next", {
      tone: "warn",
      title: say("No connection."),
      text: say("Everything you submitted is saved. The next question will load when you are back online."),
      buttons: [button],
    });
    await pause(Math.max(backoff.step(), reply.retryAfterMs), { button });
  }
}

/** The delays between polls grow while waiting, and are reset after a question. */
let polling = new Backoff(POLL.firstMs, POLL.mostMs, POLL.factor);

/**
 * No question now.
 *
 * @param {string} status
 * @param {string} [message]
 * @param {Following | null} [following]
 * @returns {Promise<boolean>} whether to ask again
 */
async function rest(status, message = "", following = null) {
  const about = RESTS[status] ?? RESTS.refused;
  const again = byId("rest-again");
  const news = byId("rest-title").textContent !== about.title || byId("panel-rest").hidden;
  const link = /** @type {HTMLAnchorElement} */ (byId("rest-following"));
  const newer = following !== null && link.textContent !== following.title;
  showOnly("panel-rest");
  again.hidden = !about.again;
  byId("rest-icon").className = `icon rest-icon ${about.icon}`;
  byId("rest-message").textContent = message;
  link.hidden = following === null;
  link.textContent = following?.title ?? "";
  if (following) link.href = following.url;
  if (news || newer) {
    polling = new Backoff(POLL.firstMs, POLL.mostMs, POLL.factor);
    byId("rest-title").textContent = about.title;
    // An expert's next step is the review queue, everybody else's the next part: Enter is enough.
    takeFocus(byId(following?.at_once ? "rest-following" : config.desk ? "rest-home" : "rest-title"));
  }
  if (following?.at_once && !about.again && (await leave())) {
    location.assign(following.url);
    return false;
  }
  if (!about.again && (following || !about.awaits)) return false;
  await pause(polling.step(), { button: again });
  return true;
}

/**
 * Count down to the next step.
 *
 * @returns {Promise<boolean>} whether to go there: the worker may stay
 */
function leave() {
  const [soon, stay] = [byId("rest-soon"), byId("rest-stay")];
  let left = CONTINUES_AFTER_S;
  soon.textContent = sayCount(left, "The next part opens in {count} second.", "The next part opens in {count} seconds.");
  soon.hidden = stay.hidden = false;
  return new Promise((resolve) => {
    /** @param {boolean} going */
    const end = (going) => {
      clearInterval(timer);
      soon.hidden = stay.hidden = true;
      if (!going) byId("rest-following").focus();
      resolve(going);
    };
    // Do not continue automatically while another tab is visible.
    const timer = setInterval(() => {
      if (document.visibilityState === "visible") left -= 1;
      if (left <= 0) end(true);
    }, 1000);
    stay.addEventListener("click", () => end(false), { once: true });
  });
}

async function extendLease() {
  if (!question) return;
  const reply = await post(urlFor(config.extendUrl, question.assignment.id), {});
  if (reply.kind === "ok" && reply.data.assignment) {
    question?.renew(reply.data.assignment);
    announce(say("You have more time for this question now."));
  } else {
    announce(say("You cannot get more time for this question."));
  }
}

/** @param {Progress} [progress] */
function showProgress(progress) {
  if (!progress) return;
  const { answered, earned_text: earned } = progress;
  const total = Number(config.answers ?? 0);
  const done = total
    ? sayCount(total, "{answered} of {count} answer", "{answered} of {count} answers", { answered: MARK })
    : sayCount(answered, "{count} answer", "{count} answers", { count: MARK });
  byId("answered").replaceChildren(...withBold(done, sayNumber(answered)));
  byId("earned").replaceChildren(...(earned ? withBold(say("{amount} earned", { amount: MARK }), earned) : []));
}

/**
 * @param {string} text a sentence with `MARK` in it, unless its language writes the number as a word
 * @param {string} value the text that replaces `MARK`
 */
function withBold(text, value) {
  if (!text.includes(MARK)) return [text];
  const element = document.createElement("b");
  element.textContent = value;
  const [before, after] = text.split(MARK);
  return [before, element, after];
}

/**
 * @param {"" | "sending" | "saved" | "device"} state
 * @param {string} text
 */
function showSaved(state, text) {
  byId("saved").dataset.state = state;
  if (byId("saved").textContent !== text) byId("saved").textContent = text;
}

/** @param {string} panel */
function showOnly(panel) {
  for (const id of PANELS) byId(id).hidden = id !== panel;
}

/**
 * @param {string | undefined} pattern
 * @param {string} id
 */
function urlFor(pattern, id) {
  return (pattern ?? "").replace("{id}", encodeURIComponent(id));
}

/**
 * @param {string} url
 * @returns {Promise<import("./form.js").TaskModule>}
 */
async function loadModule(url) {
  const backoff = new Backoff(RETRY.firstMs, RETRY.mostMs);
  for (let attempt = 0; ; attempt += 1) {
    try {
      // Browsers cache a failed module by its URL.
      return await import(attempt === 0 ? url : `${url}${url.includes("?") ? "&" : "?"}attempt=${attempt}`);
    } catch {
      await pause(backoff.step());
    }
  }
}

function warnAboutStorage() {
  const button = makeButton(say("OK"), "button button-small");
  button.addEventListener("click", () => notices.hide("storage"));
  notices.show("storage", {
    tone: "warn",
    title: say("This browser does not store data for this page."),
    text: say("It may be in private mode. You can work as usual. Keep the page open until you see that your answer is saved."),
    buttons: [button],
  });
}
