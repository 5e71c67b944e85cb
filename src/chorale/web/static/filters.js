/** Filters of tables: a choice in a menu applies at once. Texts apply with Enter or the button. */

const KEPT = "chorale:filter";
const KEYBOARD_MS = 900;

/** @param {Document} page */
export function filterAtOnce(page) {
  let byKey = false;
  let timer = 0;
  page.addEventListener("pointerdown", () => (byKey = false));
  page.addEventListener("keydown", () => {
    byKey = true;
    window.clearTimeout(timer);
  });
  page.addEventListener("change", (event) => {
    const menu = event.target;
    const form = menu instanceof HTMLSelectElement ? menu.closest("form") : null;
    if (!form?.matches(".filters") || form.method !== "get") return;
    window.clearTimeout(timer);
    // With the keyboard, each arrow key changes a closed menu, so the filter applies only after the last one.
    timer = window.setTimeout(() => {
      keep(`${location.pathname} ${menu.id}`);
      form.requestSubmit();
    }, byKey ? KEYBOARD_MS : 0);
  });
  returnTo(page);
}

/** Moves the focus back to the menu that changed, so that the next filter is as near as before.
 *  @param {Document} page */
function returnTo(page) {
  const [path, id] = keep("").split(" ");
  const menu = path === location.pathname && id ? page.getElementById(id) : null;
  if (!menu) return;
  page.getElementById("filters-fold")?.setAttribute("open", "");
  menu.focus({ preventScroll: true });
}

/** Stores a text for this tab, where the browser allows it.
 *  @param {string} text
 *  @returns {string} the text stored before */
function keep(text) {
  try {
    const before = sessionStorage.getItem(KEPT) ?? "";
    sessionStorage.setItem(KEPT, text);
    return before;
  } catch {
    return "";
  }
}
