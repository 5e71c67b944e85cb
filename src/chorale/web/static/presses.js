/**
 * A press on a button counts even if the page moves under it.
 *
 * Pressing a button ends the writing in a text field. That may close suggestions or show a message, and the button moves
 * before it is released. Browsers then click neither the button nor what is there now, so it is clicked here.
 *
 * Without imports and exports, so that a frame can load it as a classic script.
 */

(() => {
  "use strict";
  const PRESSED = "a[href], button, input, label, summary";
  /** A press that moves farther was meant to be something else. */
  const MOST_MOVED_PX = 10;

  /** @type {{target: Element, x: number, y: number} | null} */
  let press = null;

  /**
   * What a browser clicks: the closest element around both ends of a press.
   *
   * @param {Element} start
   * @param {EventTarget | null} end
   */
  function clicked(start, end) {
    let around = /** @type {Element | null} */ (start);
    while (around && !(end instanceof Node && around.contains(end))) around = around.parentElement;
    return around;
  }

  addEventListener(
    "mousedown",
    ({ target, button, clientX: x, clientY: y }) => {
      press = target instanceof Element && button === 0 ? { target, x, y } : null;
    },
    true,
  );
  addEventListener(
    "mouseup",
    (event) => {
      if (press === null || event.button !== 0) return;
      const { target, x, y } = press;
      press = null;
      if (Math.hypot(event.clientX - x, event.clientY - y) > MOST_MOVED_PX) return;
      const control = /** @type {HTMLElement | null} */ (target.closest(PRESSED));
      if (control?.isConnected && !clicked(target, event.target)?.closest(PRESSED)) control.click();
    },
    true,
  );
})();
