/** Displayed parts of a form other than plain text: Markdown, dialogues, images, audio and video. */

import { make } from "./field.js";
import { showTurn } from "./turns.js";
import { say } from "/static/say.js";

export { showTurn };

const ZOOM = { least: 1, most: 6, step: 1.5 };

/**
 * @param {HTMLElement} root
 * @param {Object<string, any>} item
 */
export function showLooks(root, item) {
  for (const place of root.querySelectorAll("[data-look]")) {
    const value = item[place.dataset.of];
    if (value === undefined) continue;
    if (place.dataset.look === "markdown") place.replaceChildren(...rendered(item.rendered?.[place.dataset.of]));
    else if (place.dataset.look === "dialogue") place.replaceChildren(...value.map((turn, number) => showTurn(turn, number)));
    else if (place.dataset.look === "picture") place.replaceChildren(...picture(value, item[place.dataset.alt] ?? ""));
    else place.replaceChildren(player(place.dataset.look, value, place.dataset.label));
  }
}

/**
 * A picture, audio or video, as the question showed it.
 *
 * @param {string} look
 * @param {string} src
 * @param {string} alt
 * @param {string} label
 */
export function showMedia(look, src, alt, label) {
  return look === "picture" ? picture(src, alt) : [player(look, src, label)];
}

/**
 * HTML that the server has made and sanitised; the page's security policy blocks scripts and external content in it.
 *
 * @param {string | undefined} html
 */
function rendered(html) {
  const { body } = new DOMParser().parseFromString(html ?? "", "text/html");
  for (const link of body.querySelectorAll("a")) if (!link.textContent.trim()) link.textContent = link.href;
  return [...body.childNodes];
}

/**
 * @param {string} src
 * @param {string} alt
 * @returns {HTMLElement[]} a picture that can be made larger
 */
function picture(src, alt) {
  const image = /** @type {HTMLImageElement} */ (make("img", { src, alt, class: "form-picture" }));
  const frame = make("div", { class: "form-frame", tabindex: "0", role: "group", "aria-label": alt || say("Picture") }, image);
  let scale = 1;
  const zoom = (/** @type {number} */ factor) => {
    scale = factor === 0 ? 1 : Math.min(ZOOM.most, Math.max(ZOOM.least, scale * factor));
    image.style.width = `${scale * 100}%`;
  };
  const button = (/** @type {string} */ text, /** @type {string} */ label, /** @type {number} */ factor) => {
    const made = make("button", { type: "button", class: "button button-small", "aria-label": label, text });
    made.addEventListener("click", () => zoom(factor));
    return made;
  };
  const failed = make("p", { class: "error", hidden: "", text: say("The picture could not be loaded. Reload the page, or skip this question.") });
  image.addEventListener("error", () => failed.removeAttribute("hidden"));
  const actions = make("p", { class: "form-zooms" }, button("+", say("Zoom in"), ZOOM.step), button("−", say("Zoom out"), 1 / ZOOM.step), button(say("Fit"), say("Fit the picture"), 0));
  return [frame, failed, actions];
}

/**
 * @param {string} kind audio or video
 * @param {string} src
 * @param {string} [label]
 * @returns {HTMLMediaElement}
 */
export function player(kind, src, label) {
  const made = make(kind, { src, controls: "", preload: "metadata", "aria-label": label || (kind === "audio" ? say("Audio") : say("Video")) });
  if (kind === "video") made.setAttribute("playsinline", "");
  return /** @type {HTMLMediaElement} */ (made);
}
