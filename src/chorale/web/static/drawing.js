/**
 * Shapes drawn on a picture: boxes, points, lines and polygons, each with a label, by mouse, finger or keyboard.
 *
 * Made for pages and for sandboxed frames alike, which can't import modules: it defines `ChoraleDrawing` and exports nothing.
 * Shapes are in the picture's own pixels, whatever size it is shown in.
 *
 * @typedef {{label: string, points: [number, number][]}} Shape
 * @typedef {"box" | "point" | "line" | "polyline" | "polygon"} Kind
 */

(() => {
  "use strict";
  const SVG = "http://www.w3.org/2000/svg";
  const COLOURS = ["#d1495b", "#1f6feb", "#2a9134", "#8f3fbf", "#b8860b", "#00798c", "#c2410c", "#475569"];
  /** @type {(source: string, values?: Object<string, string | number>) => string} of `say.js`, or of the script of a frame */
  const say = globalThis.choraleSay;
  const LINE = { add: () => say("Add a line"), named: (values) => say("line {number} {label}", values) };
  const NAMES = {
    box: { add: () => say("Add a box"), named: (values) => say("box {number} {label}", values) },
    point: { add: () => say("Add a point"), named: (values) => say("point {number} {label}", values) },
    line: LINE,
    polyline: LINE,
    polygon: { add: () => say("Add a polygon"), named: (values) => say("polygon {number} {label}", values) },
  };
  /** Number of points that complete a shape automatically; others are completed by the worker. */
  const ENOUGH = { point: 1, line: 2 };
  /** Shapes whose points are moved and added one by one. */
  const BY_POINTS = ["polyline", "polygon"];
  const FEWEST = { box: 2, point: 1, line: 2, polyline: 2, polygon: 3 };

  /** @param {string} tag @param {Object<string, any>} [own] @param {(Node | string)[]} inside */
  function html(tag, own = {}, ...inside) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(own)) made.setAttribute(name, String(value));
    made.append(...inside);
    return made;
  }

  /** @param {string} tag @param {Object<string, any>} own */
  function svg(tag, own) {
    const made = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(own)) made.setAttribute(name, String(value));
    return made;
  }

  class Drawing {
    /**
     * Without `preselected`, workers choose a label before or after drawing.
     *
     * @param {{src: string, alt: string, kind: Kind, labels: string[], shapes?: Shape[], preselected?: boolean, changed: () => void}} options
     */
    constructor({ src, alt, kind, labels, shapes = [], preselected = true, changed }) {
      this.kind = kind;
      this.preselected = preselected;
      this.changed = changed;
      /** @type {Shape[]} */
      this.shapes = shapes;
      /** @type {[number, number][]} the points of a shape that is not finished */
      this.pending = [];
      /** The point that the keyboard moves, as the positions of its shape and in it. */
      this.chosen = [-1, -1];
      this.image = html("img", { src, alt });
      this.layer = svg("svg", { class: "drawing-layer", "aria-label": say("Drawn on the picture"), role: "group" });
      this.list = html("ol", { class: "drawing-list" });
      this.status = html("p", { class: "drawing-status", role: "status" });
      this.choices = html("div", { class: "drawing-labels", role: "group", "aria-label": say("Labels") });
      this.relabel(labels);
      this.finishing = this.#button(say("Finish this shape"), () => this.#finish());
      // Phones have no Escape key.
      this.cancelling = this.#button(say("Cancel this shape"), () => this.#forget());
      this.element = html(
        "div",
        { class: "drawing" },
        this.choices,
        html("div", { class: "drawing-picture" }, this.image, this.layer),
        html("div", { class: "drawing-actions" }, this.#button(NAMES[kind].add(), () => this.#addInTheMiddle()), this.finishing, this.cancelling),
        this.status,
        this.list,
      );
      this.image.addEventListener("load", () => this.show());
      this.image.addEventListener("error", () => {
        this.status.textContent = say("The picture could not be loaded. Reload the page, or skip this question.");
      });
      this.layer.addEventListener("pointerdown", (event) => this.#down(event));
      this.layer.addEventListener("pointermove", (event) => this.#move(event));
      this.layer.addEventListener("pointerup", (event) => this.#up(event));
      this.layer.addEventListener("pointercancel", () => this.kind === "box" && this.#forget());
      this.element.addEventListener("keydown", (event) => this.#pressed(event));
      this.show();
    }

    get size() {
      return { width: this.image.naturalWidth || 1, height: this.image.naturalHeight || 1 };
    }

    /** Set the labels. @param {string[]} labels */
    relabel(labels) {
      this.labels = labels.length ? labels : [""];
      if (!this.labels.includes(this.label)) this.label = this.preselected || this.labels.length === 1 ? this.labels[0] : "";
      this.buttons = this.labels.map((label, position) => this.#labelButton(label, position));
      this.choices.replaceChildren(...this.buttons);
      this.choices.hidden = labels.length === 0;
    }

    /** Number of shapes without a label. */
    get unlabelled() {
      return this.labels.includes("") ? 0 : this.shapes.filter(({ label }) => label === "").length;
    }

    /** Disable drawing if the picture can't be loaded. */
    get #isLoaded() {
      return this.image.naturalWidth > 0;
    }

    /** @param {Shape[]} shapes */
    set(shapes) {
      this.shapes = shapes;
      this.show();
    }

    /** @param {string} text @param {() => void} act */
    #button(text, act) {
      const button = html("button", { type: "button" }, text);
      button.addEventListener("click", act);
      return button;
    }

    /** @param {string} label @param {number} position */
    #labelButton(label, position) {
      const button = this.#button(label, () => {
        this.label = label;
        const waits = this.unlabelled > 0;
        this.shapes = this.shapes.map((shape) => (shape.label === "" ? { ...shape, label } : shape));
        this.show();
        if (waits) this.changed();
      });
      button.style.borderLeft = `0.75rem solid ${COLOURS[position % COLOURS.length]}`;
      return button;
    }

    /** @param {PointerEvent} event @returns {[number, number]} where on the picture, in its pixels */
    #at(event) {
      const frame = this.layer.getBoundingClientRect();
      const { width, height } = this.size;
      const x = ((event.clientX - frame.left) / frame.width) * width;
      const y = ((event.clientY - frame.top) / frame.height) * height;
      return [Math.round(Math.min(width, Math.max(0, x))), Math.round(Math.min(height, Math.max(0, y)))];
    }

    /** @param {PointerEvent} event */
    #down(event) {
      event.preventDefault();
      if (this.kind !== "box" || !this.#isLoaded || event.button !== 0 || !event.isPrimary) return;
      this.layer.setPointerCapture(event.pointerId);
      this.pending = [this.#at(event), this.#at(event)];
    }

    /** @param {PointerEvent} event */
    #move(event) {
      if (this.kind !== "box" || this.pending.length !== 2) return;
      this.pending = [this.pending[0], this.#at(event)];
      this.#draw();
    }

    /** @param {PointerEvent} event */
    #up(event) {
      if (event.button !== 0 || !event.isPrimary) return;
      if (this.kind === "box") {
        const [[left, top], [right, bottom]] = this.pending.length === 2 ? this.pending : [[0, 0], [0, 0]];
        const isBox = Math.abs(right - left) > 1 && Math.abs(bottom - top) > 1;
        if (isBox) this.#finish();
        else this.#forget();
        return;
      }
      if (!this.#isLoaded) return;
      const point = this.#at(event);
      const last = this.pending.at(-1);
      // The second click of a double click completes the shape.
      const again = last !== undefined && Math.hypot(last[0] - point[0], last[1] - point[1]) < this.size.width / 200;
      if (again) this.#finish();
      else this.#addPoint(point);
    }

    /** @param {[number, number]} point */
    #addPoint(point) {
      this.pending = [...this.pending, point];
      if (this.pending.length === ENOUGH[this.kind]) this.#finish();
      else this.show();
    }

    #finish() {
      if (this.pending.length < FEWEST[this.kind]) return;
      this.#add(this.pending);
      this.pending = [];
      this.show();
    }

    #forget() {
      this.pending = [];
      this.show();
    }

    /** @param {[number, number][]} points */
    #add(points) {
      this.shapes = [...this.shapes, { label: this.label, points }];
      this.show();
      this.status.textContent = say("Added: {name}", { name: this.#named(this.shapes.length - 1) });
      this.changed();
    }

    /** Add a shape. If the picture is not loaded yet, add it then, so that no press is lost. */
    #addInTheMiddle() {
      if (!this.#isLoaded) {
        this.image.addEventListener("load", () => this.#addInTheMiddle(), { once: true });
        return;
      }
      const { width, height } = this.size;
      const at = (across, down) => /** @type {[number, number]} */ ([Math.round(width * across), Math.round(height * down)]);
      const shapes = {
        box: [at(0.4, 0.4), at(0.6, 0.6)],
        point: [at(0.5, 0.5)],
        line: [at(0.4, 0.5), at(0.6, 0.5)],
        polyline: [at(0.4, 0.5), at(0.5, 0.45), at(0.6, 0.5)],
        polygon: [at(0.4, 0.6), at(0.5, 0.4), at(0.6, 0.6)],
      };
      this.#add(shapes[this.kind]);
      this.layer.querySelectorAll("[tabindex]")[this.shapes.length - 1]?.focus();
    }

    /**
     * Arrow keys move a shape, with Shift its chosen point; Delete removes it. In lines and polygons, N chooses the
     * next point, and + adds one.
     *
     * @param {KeyboardEvent} event
     */
    #pressed(event) {
      if (event.key === "Escape" && this.pending.length) this.#forget();
      const position = Number(event.target instanceof Element ? (event.target.getAttribute("data-shape") ?? -1) : -1);
      if (position < 0) return;
      const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
      if (event.key === "Delete" || event.key === "Backspace") this.remove(position);
      else if (step) this.#push(position, step, event.shiftKey);
      else if (BY_POINTS.includes(this.kind) && event.key.toLowerCase() === "n") this.#chooseNextPoint(position);
      else if (BY_POINTS.includes(this.kind) && event.key === "+") this.#insertPoint(position);
      else return;
      event.preventDefault();
      event.stopPropagation();
      this.layer.querySelectorAll("[tabindex]")[Math.min(position, this.shapes.length - 1)]?.focus();
    }

    /** @param {number} position of a shape @returns {number} its point that the keyboard moves: the last one at first */
    #chosenPoint(position) {
      const last = this.shapes[position].points.length - 1;
      return this.chosen[0] === position ? Math.min(this.chosen[1], last) : last;
    }

    /** @param {number} position */
    #chooseNextPoint(position) {
      this.chosen = [position, (this.#chosenPoint(position) + 1) % this.shapes[position].points.length];
      this.show();
    }

    /** Add a point halfway to the next one. @param {number} position */
    #insertPoint(position) {
      const { points } = this.shapes[position];
      const place = this.#chosenPoint(position);
      const [[x, y], [nextX, nextY]] = [points[place], points[(place + 1) % points.length]];
      const between = /** @type {[number, number]} */ ([Math.round((x + nextX) / 2), Math.round((y + nextY) / 2)]);
      this.chosen = [position, place + 1];
      this.#reshape(position, [...points.slice(0, place + 1), between, ...points.slice(place + 1)]);
    }

    /** @param {number} position @param {number[]} step @param {boolean} onePoint */
    #push(position, step, onePoint) {
      const { width, height } = this.size;
      const by = Math.max(1, Math.round(Math.max(width, height) / 200));
      const { points } = this.shapes[position];
      const place = this.#chosenPoint(position);
      const moving = onePoint ? [points[place]] : points;
      // A shape stops at the edge of the picture and keeps its form.
      const most = (/** @type {number} */ way, /** @type {number} */ axis, /** @type {number} */ length) => {
        const along = moving.map((point) => point[axis]);
        return way < 0 ? -Math.min(by, ...along) : way * Math.min(by, length - Math.max(...along));
      };
      const [across, down] = [most(step[0], 0, width), most(step[1], 1, height)];
      const moved = points.map(([x, y], index) => (onePoint && index !== place ? [x, y] : [x + across, y + down]));
      this.#reshape(position, /** @type {[number, number][]} */ (moved));
    }

    /** @param {number} position @param {[number, number][]} points */
    #reshape(position, points) {
      this.shapes = this.shapes.map((shape, index) => (index === position ? { ...shape, points } : shape));
      this.show();
      this.changed();
    }

    /** @param {number} position */
    remove(position) {
      this.status.textContent = say("Removed: {name}", { name: this.#named(position) });
      this.shapes = this.shapes.filter((_, index) => index !== position);
      this.show();
      this.changed();
    }

    /** @param {number} position */
    #named(position) {
      return NAMES[this.kind].named({ number: position + 1, label: this.shapes[position].label }).trim();
    }

    show() {
      this.buttons.forEach((button, position) => button.setAttribute("aria-pressed", String(this.labels[position] === this.label)));
      this.cancelling.hidden = this.kind === "box" || this.pending.length === 0;
      this.finishing.hidden = this.kind === "box" || this.pending.length < FEWEST[this.kind];
      this.list.replaceChildren(
        ...this.shapes.map((_, position) => {
          const remove = this.#button(say("Remove"), () => this.remove(position));
          remove.setAttribute("aria-label", say("Remove {name}", { name: this.#named(position) }));
          remove.className = "button button-small button-quiet";
          const line = html("li", {}, html("span", { class: "drawing-name" }, this.#named(position)), " ", remove);
          line.style.borderColor = this.#colour(this.shapes[position].label);
          return line;
        }),
      );
      this.#draw();
    }

    #draw() {
      const { width, height } = this.size;
      this.layer.setAttribute("viewBox", `0 0 ${width} ${height}`);
      const shapes = this.shapes.map((shape, position) => {
        const isChosen = BY_POINTS.includes(this.kind) && this.chosen[0] === position;
        const drawn = this.#outline(shape.points, this.#colour(shape.label), isChosen ? this.#chosenPoint(position) : -1);
        for (const [name, value] of Object.entries({ tabindex: 0, role: "img", "data-shape": position })) drawn.setAttribute(name, String(value));
        const name = this.#named(position);
        const keys = BY_POINTS.includes(this.kind)
          ? say("{name}. Arrow keys move it, Shift and arrow keys move a point, N chooses the next point, + adds a point, Delete removes it.", { name })
          : say("{name}. Arrow keys move it, Shift and arrow keys resize it, Delete removes it.", { name });
        drawn.setAttribute("aria-label", keys);
        return drawn;
      });
      const pending = this.pending.length ? [this.#outline(this.pending, this.#colour(this.label))] : [];
      this.layer.replaceChildren(...shapes, ...pending);
    }

    /** @param {string} label */
    #colour(label) {
      return COLOURS[Math.max(0, this.labels.indexOf(label)) % COLOURS.length];
    }

    /** @param {[number, number][]} points @param {string} colour @param {number} [chosen] the point to show larger */
    #outline(points, colour, chosen = -1) {
      const thick = Math.max(this.size.width, this.size.height) / 250;
      const look = { stroke: colour, "stroke-width": thick, fill: colour, "fill-opacity": 0.15 };
      const group = svg("g", {});
      if (this.kind === "box" && points.length === 2) {
        const [[left, top], [right, bottom]] = points;
        const box = { x: Math.min(left, right), y: Math.min(top, bottom), width: Math.abs(right - left), height: Math.abs(bottom - top) };
        group.append(svg("rect", { ...box, ...look }));
        return group;
      }
      const path = points.map((point) => point.join(",")).join(" ");
      if (this.kind === "polygon") group.append(svg("polygon", { points: path, ...look }));
      else if (this.kind !== "point") group.append(svg("polyline", { points: path, ...look, fill: "none" }));
      points.forEach(([x, y], index) => {
        group.append(svg("circle", { cx: x, cy: y, r: thick * (index === chosen ? 4 : 2), fill: colour }));
      });
      return group;
    }
  }

  /** @type {any} */ (globalThis).ChoraleDrawing = Drawing;
})();
