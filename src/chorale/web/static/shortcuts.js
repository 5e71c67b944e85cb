/** Single-key shortcuts, which can be switched off (WCAG 2.1.4); the device remembers the choice. */

export class Shortcuts {
  /**
   * @param {import("./storage.js").DeviceStore} store
   * @param {HTMLInputElement} toggle
   * @param {(key: string) => boolean} onKey whether the key was handled
   */
  constructor(store, toggle, onKey) {
    this.on = store.get("settings", "shortcuts") !== false;
    toggle.checked = this.on;
    const apply = () => document.body.classList.toggle("shortcuts", this.on);
    toggle.addEventListener("change", () => {
      this.on = toggle.checked;
      store.set("settings", "shortcuts", this.on);
      apply();
    });
    apply();
    document.addEventListener("keydown", (event) => {
      const plain = !event.ctrlKey && !event.metaKey && !event.altKey && !event.isComposing && !event.repeat;
      if (!this.on || !plain || event.defaultPrevented || event.key.length !== 1 || isWriting(event.target)) return;
      if (onKey(event.key)) event.preventDefault();
    });
  }
}

/**
 * @param {EventTarget | null} target
 * @returns {boolean} whether keys pressed there are text
 */
export function isWriting(target) {
  if (!(target instanceof HTMLElement)) return false;
  if (target.isContentEditable || target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement) return true;
  return target instanceof HTMLInputElement && !["radio", "checkbox", "button", "submit", "range"].includes(target.type);
}
