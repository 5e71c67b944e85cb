/** The guidelines: read first on the first visit, in a sheet over the work from then on. */

/** @param {string} id */
const byId = (id) => /** @type {HTMLElement} */ (document.getElementById(id));

export class Guidelines {
  constructor() {
    this.text = byId("guidelines");
    this.sheet = /** @type {HTMLDialogElement} */ (byId("sheet"));
    byId("open-guidelines").addEventListener("click", () => this.open());
    window.addEventListener("hashchange", () => location.hash === "#guidelines" && this.text.closest("dialog") && this.open());
    byId("close-guidelines").addEventListener("click", () => this.sheet.close());
    this.sheet.addEventListener("click", (event) => {
      if (event.target === this.sheet) this.sheet.close(); // the backdrop
    });
  }

  get isOpen() {
    return this.sheet.open;
  }

  open() {
    if (this.isOpen) return;
    this.sheet.showModal();
    this.sheet.scrollTop = 0;
  }

  /** Open them and wait until they are closed. */
  async read() {
    this.open();
    await new Promise((resolve) => this.sheet.addEventListener("close", resolve, { once: true }));
  }

  close() {
    this.sheet.close();
  }

  /**
   * Show them as the page's content until the worker starts.
   *
   * @returns {Promise<void>}
   */
  async readFirst() {
    byId("intro-guidelines").append(this.text);
    byId("open-guidelines").hidden = true;
    byId("panel-intro").hidden = false;
    await new Promise((resolve) => byId("start").addEventListener("click", resolve, { once: true }));
    byId("sheet-guidelines").append(this.text);
    byId("open-guidelines").hidden = false;
    byId("panel-intro").hidden = true;
  }
}
