/**
 * Selecting rows of a table: all at once, or with Shift from one row to another. The form of the table counts them, and
 * its buttons are disabled until a row is selected.
 */

/** @param {Document} page */
export function selectRows(page) {
  /** @type {HTMLInputElement | null} */
  let last = null;
  page.addEventListener("click", (event) => {
    const box = event.target;
    if (!(box instanceof HTMLInputElement) || box.name !== "chosen" || !box.form) return;
    const rows = boxesOf(box.form);
    if (event.shiftKey && last && last !== box && rows.includes(last)) {
      const [first, end] = [rows.indexOf(last), rows.indexOf(box)].sort((a, b) => a - b);
      for (const between of rows.slice(first, end + 1)) between.checked = box.checked;
    }
    last = box;
    show(box.form);
  });
  page.addEventListener("change", (event) => {
    const all = event.target;
    if (!(all instanceof HTMLInputElement) || !all.hasAttribute("data-choose-all") || !all.form) return;
    for (const box of boxesOf(all.form)) box.checked = all.checked;
    show(all.form);
  });
  const showAll = () => page.querySelectorAll("form[data-selection]").forEach(show);
  // The browser restores boxes when somebody comes back to the page; rows come and go as the page is updated.
  window.addEventListener("pageshow", showAll);
  const live = page.getElementById("live");
  if (live) new MutationObserver(showAll).observe(live, { childList: true, subtree: true });
  showAll();
}

/**
 * @param {HTMLFormElement} form
 * @returns {HTMLInputElement[]}
 */
function boxesOf(form) {
  return /** @type {HTMLInputElement[]} */ ([...form.elements].filter((box) => box.name === "chosen"));
}

/** @param {HTMLFormElement} form */
function show(form) {
  const boxes = boxesOf(form);
  const some = boxes.filter((box) => box.checked).length;
  for (const all of [...form.elements].filter((box) => box.hasAttribute("data-choose-all"))) {
    all.checked = boxes.length > 0 && some === boxes.length;
    all.indeterminate = some > 0 && some < boxes.length;
  }
  const count = form.querySelector("[data-selected]");
  if (!(count instanceof HTMLElement)) return;
  count.dataset.none ??= count.textContent ?? "";
  const text = some ? `${some} selected` : count.dataset.none;
  if (count.textContent !== text) count.textContent = text;
  form.toggleAttribute("data-some", some > 0);
  for (const button of form.querySelectorAll("button")) button.disabled = some === 0;
}
