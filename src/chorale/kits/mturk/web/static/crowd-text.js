/**
 * Amazon's larger elements for text: spans with labels, rankings of responses, and questions with answers.
 *
 * Offsets count characters as Unicode does, as Amazon's elements did.
 */

(() => {
  "use strict";
  const say = window.choraleSay;
  const sayCount = window.choraleSayCount;
  const COLOURS = ["#ffd9a8", "#b9e0ff", "#c9efc0", "#f3c6e8", "#e3d5ff", "#ffe98a", "#ffc9c4", "#c4efe9"];

  /** A text in which parts can be selected by mouse, by touch, and word by word with the arrow keys. */
  class SelectableText {
    /** @param {any} tools @param {string} text @param {(start: number, end: number) => void} selected */
    constructor({ element }, text, selected) {
      this.characters = [...text];
      this.words = [...text.matchAll(/[\p{L}\p{N}\p{M}'’_-]+|[^\s]/gu)].map((word) => {
        const start = [...text.slice(0, word.index)].length;
        return [start, start + [...word[0]].length];
      });
      this.cursor = [-1, -1];
      this.box = element("div", {
        class: "crowd-text",
        tabindex: "0",
        role: "group",
        dir: "auto",
        "aria-label": say("Text. Select with the mouse, or use arrow keys to go from word to word and Shift to select more."),
      });
      /** @type {[number, number] | null} what is selected and not used yet */
      this.selection = null;
      this.box.addEventListener("pointerup", () => setTimeout(() => this.selection && selected(...this.selection)));
      document.addEventListener("selectionchange", () => this.#noticed());
      this.box.addEventListener("keydown", (event) => this.#pressed(event));
    }

    #noticed() {
      const selection = getSelection();
      if (!selection || selection.isCollapsed || !this.box.contains(selection.anchorNode) || !this.box.contains(selection.focusNode)) return;
      const range = selection.getRangeAt(0);
      const before = document.createRange();
      before.setStart(this.box, 0);
      before.setEnd(range.startContainer, range.startOffset);
      let start = [...before.toString()].length;
      let end = start + [...range.toString()].length;
      while (start < end && !this.characters[start].trim()) start += 1;
      while (end > start && !this.characters[end - 1].trim()) end -= 1;
      this.selection = start < end ? [start, end] : null;
    }

    /** @param {KeyboardEvent} event */
    #pressed(event) {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (step === undefined || event.target !== this.box || this.words.length === 0) return;
      event.preventDefault();
      const [first, last] = this.cursor;
      const next = Math.max(0, Math.min(this.words.length - 1, last + step));
      this.cursor = [event.shiftKey && first >= 0 ? first : next, next];
      const [from, to] = [Math.min(...this.cursor), Math.max(...this.cursor)];
      this.#select(this.words[from][0], this.words[to][1]);
    }

    /** @param {number} start @param {number} end */
    #select(start, end) {
      const range = document.createRange();
      range.setStart(...this.#place(start));
      range.setEnd(...this.#place(end));
      getSelection()?.removeAllRanges();
      getSelection()?.addRange(range);
      this.selection = [start, end];
    }

    /** @param {number} offset @returns {[Node, number]} */
    #place(offset) {
      const walker = document.createTreeWalker(this.box, NodeFilter.SHOW_TEXT);
      let left = offset;
      let last = this.box;
      for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        const length = [...node.data].length;
        if (left <= length) return [node, [...node.data].slice(0, left).join("").length];
        left -= length;
        last = node;
      }
      return [last, last.data?.length ?? 0];
    }

    used() {
      this.selection = null;
      getSelection()?.removeAllRanges();
    }

    /** @param {number} start @param {number} end */
    part(start, end) {
      return this.characters.slice(start, end).join("");
    }
  }

  /** Spans of a text, each with a label. */
  function entities(place, tools) {
    const { element, given, list, changed } = tools;
    const labels = list(given("labels")).map((entry) => (typeof entry === "string" ? { label: entry } : { fullDisplayName: entry.longDisplayName, ...entry }));
    const shown = (label) => labels.find((entry) => entry.label === label) ?? { label };
    let spans = list(given("initial-value"));
    let current = labels.length === 1 ? labels[0].label : null;
    const message = element("p", { class: "crowd-message", role: "status" });
    const text = new SelectableText(tools, given("text") ?? "", () => current !== null && add(current));
    const buttons = labels.map((entry, position) => {
      const button = element("button", { type: "button", class: "crowd-tag", "aria-pressed": String(entry.label === current) });
      button.append(entry.fullDisplayName ?? entry.label, position < 9 ? " " : "", position < 9 ? element("kbd", {}, String(position + 1)) : "");
      button.style.background = COLOURS[position % COLOURS.length];
      button.addEventListener("pointerdown", (event) => event.preventDefault()); // keeps what is selected
      button.addEventListener("click", () => choose(entry.label));
      return button;
    });

    function choose(label) {
      current = label;
      buttons.forEach((button, position) => button.setAttribute("aria-pressed", String(labels[position].label === label)));
      if (text.selection) add(label);
    }

    function add(label) {
      const [start, end] = text.selection;
      text.used();
      const same = (span) => span.startOffset === start && span.endOffset === end;
      if (spans.some((span) => span.startOffset < end && start < span.endOffset && !same(span))) {
        message.textContent = say("Part of this text already has a label. Remove that label first.");
        return;
      }
      const kept = spans.filter((span) => !same(span));
      show([...kept, { endOffset: end, label, startOffset: start }]);
      message.textContent = `${text.part(start, end)}: ${shown(label).fullDisplayName ?? label}`;
      changed();
    }

    function show(next) {
      spans = [...next].sort((left, right) => left.startOffset - right.startOffset);
      const pieces = [];
      let at = 0;
      for (const span of spans) {
        const words = text.part(span.startOffset, span.endOffset);
        const entry = shown(span.label);
        const mark = element("mark", { tabindex: "0", role: "button", "data-short": entry.shortDisplayName ?? span.label }, words);
        mark.setAttribute("aria-label", say("{text}: {label}. Remove this label", { text: words, label: entry.fullDisplayName ?? span.label }));
        mark.title = say("Remove this label");
        mark.style.background = COLOURS[Math.max(0, labels.indexOf(entry)) % COLOURS.length];
        const remove = () => {
          show(spans.filter((other) => other !== span));
          message.textContent = say("Removed: {name}", { name: words });
          changed();
        };
        mark.addEventListener("click", () => !text.selection && remove());
        mark.addEventListener("keydown", (event) => ["Enter", "Delete", "Backspace"].includes(event.key) && remove());
        pieces.push(text.part(at, span.startOffset), mark);
        at = span.endOffset;
      }
      text.box.replaceChildren(...pieces, text.part(at, text.characters.length));
    }

    text.box.addEventListener("keydown", (event) => {
      const entry = labels[Number(event.key) - 1];
      if (entry && event.key >= "1" && event.key <= "9") choose(entry.label);
      else if (event.key === "Enter" && event.target === text.box && current !== null && text.selection) add(current);
      else return;
      event.preventDefault();
    });
    show(spans);
    place.append(element("div", { class: "crowd-tags", role: "group", "aria-label": say("Labels") }, ...buttons), text.box, message);
    return { get: () => ({ entities: spans }), set: (value) => show(value?.entities ?? []) };
  }

  /** Responses ranked by each of several dimensions. */
  function ranking(place, { element, given, list, changed }) {
    const responses = list(given("responses")).map(String);
    const dimensions = list(given("ordinal-ranking-dimensions"));
    place.append(element("blockquote", { dir: "auto" }, given("text") ?? ""));
    const table = dimensions.map((dimension) => {
      const selects = responses.map((response, position) => {
        const ranks = responses.map((_, rank) => element("option", { value: rank + 1 }, String(rank + 1)));
        const select = element("select", { required: true }, element("option", { value: "" }, say("Rank")), ...ranks);
        select.setAttribute("aria-label", say("{dimension}: rank of response {number}", { dimension: dimension.name, number: position + 1 }));
        select.addEventListener("change", () => {
          check();
          changed();
        });
        return select;
      });
      const check = () => {
        for (const select of selects) {
          const twice = selects.some((other) => other !== select && other.value && other.value === select.value);
          select.setCustomValidity(twice && !dimension.allowTie ? say("Give every response a different rank.") : "");
        }
      };
      return { dimension, selects };
    });
    for (const [position, response] of responses.entries()) {
      const ranks = table.map(({ dimension, selects }) => element("label", { class: "crowd-rank" }, `${dimension.name} `, selects[position]));
      place.append(element("div", { class: "crowd-response" }, element("p", { dir: "auto" }, response), ...ranks));
    }
    const get = () => ({
      rankings: table.map(({ dimension, selects }) => ({
        dimension: dimension.name,
        ranks: selects.map((select) => (select.value ? Number(select.value) : null)),
      })),
    });
    const set = (value) =>
      table.forEach(({ selects }, row) =>
        selects.forEach((select, column) => (select.value = String(value?.rankings?.[row]?.ranks?.[column] ?? ""))),
      );
    return { get, set };
  }

  const countWords = (text) => (text.match(/\S+/g) ?? []).length;

  /** Questions about a text, each with its answer, a tag, and the part of the text it is about. */
  function questions(place, tools) {
    const { element, given, list, changed } = tools;
    const fewest = Number(given("min-questions") ?? 1);
    const most = Number(given("max-questions") ?? 50);
    const tags = list(given("question-tags")).map(String);
    const custom = (given("allow-custom-question-tags") ?? given("allow-custom-tags")) === "true";
    const text = new SelectableText(tools, given("text") ?? "", () => {});
    text.box.append(given("text") ?? "");
    const pairs = element("div", {});
    const more = element("button", { type: "button" }, say("Add a question"));
    more.addEventListener("click", () => {
      add();
      changed();
    });
    const instructions = given("instructions");
    place.append(...(instructions ? [element("p", { class: "crowd-instruction-text" }, instructions)] : []), text.box, pairs, more);
    /** @type {{value: () => any}[]} */
    let written = [];

    /** A field with a number of words between two bounds. */
    function field(name, label, value) {
      const area = element("textarea", { rows: "2", required: true });
      area.value = value;
      const low = Number(given(`${name}-min-words`) ?? 1);
      const high = Number(given(`${name}-max-words`) ?? Number.POSITIVE_INFINITY);
      const check = () => {
        const count = countWords(area.value);
        let wrong = "";
        if (count < low) wrong = sayCount(low, "Write at least {count} word.", "Write at least {count} words.");
        else if (count > high) wrong = sayCount(high, "Write at most {count} word.", "Write at most {count} words.");
        area.setCustomValidity(area.value.trim() ? wrong : "");
      };
      area.addEventListener("input", () => {
        check();
        changed();
      });
      check();
      return { area, row: element("label", { class: "crowd-label" }, label, area) };
    }

    function add(pair = {}) {
      const question = field("question", say("Question"), pair.question ?? "");
      const answer = field("answer", say("Answer"), pair.answer ?? "");
      const tag = custom ? element("input", { list: "crowd-question-tags" }) : element("select", {}, element("option", { value: "" }, say("None")));
      if (!custom) tag.append(...tags.map((name) => element("option", { value: name }, name)));
      tag.value = pair.tags?.[0] ?? "";
      tag.addEventListener("change", changed);
      let references = pair.references ?? [];
      const shown = element("span", { class: "crowd-reference" });
      const show = () => (shown.textContent = references.map((one) => say("“{text}”", { text: text.part(one.startOffset, one.endOffset) })).join(" "));
      const refer = element("button", { type: "button" }, say("Use the selected text"));
      refer.addEventListener("pointerdown", (event) => event.preventDefault());
      refer.addEventListener("click", () => {
        if (!text.selection) return;
        references = [...references, { endOffset: text.selection[1], startOffset: text.selection[0] }];
        text.used();
        show();
        changed();
      });
      const remove = element("button", { type: "button" }, say("Remove"));
      const row = element("fieldset", {}, question.row, answer.row, element("p", {}, refer, " ", shown), remove);
      if (tags.length || custom) row.insertBefore(element("label", { class: "crowd-label" }, say("Tag"), " ", tag), remove);
      const entry = {
        value: () => ({
          answer: answer.area.value,
          question: question.area.value,
          references,
          tags: tag.value ? [tag.value] : [],
        }),
      };
      remove.addEventListener("click", () => {
        written = written.filter((other) => other !== entry);
        row.remove();
        limit();
        changed();
      });
      written = [...written, entry];
      pairs.append(row);
      show();
      limit();
    }

    function limit() {
      more.disabled = written.length >= most;
      for (const button of pairs.querySelectorAll("fieldset > button")) button.disabled = written.length <= fewest;
    }

    function set(value) {
      written = [];
      pairs.replaceChildren();
      const kept = value?.questions ?? [];
      for (const pair of kept) add(pair);
      while (written.length < fewest) add();
    }
    if (custom) place.append(element("datalist", { id: "crowd-question-tags" }, ...tags.map((name) => element("option", { value: name }))));
    set(null);
    return { get: () => ({ questions: written.map((entry) => entry.value()) }), set };
  }

  window.choraleWidgets = {
    ...window.choraleWidgets,
    "crowd-entity-annotation": entities,
    "crowd-text-ranking": ranking,
    "crowd-question-answer-generation": questions,
  };
})();
