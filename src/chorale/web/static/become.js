/**
 * Update an element to new HTML, changing only what differs: unchanged parts keep the focus, the
 * selection, its scroll position and, for `<details>`, whether it is open.
 *
 * @param {HTMLElement} container
 * @param {string} html from our own server, with every text in it escaped there
 */
export function become(container, html) {
  const wanted = new DOMParser().parseFromString(html, "text/html").body;
  adoptChildren(container, wanted);
}

/**
 * @param {Node} old
 * @param {Node} wanted
 */
function adoptChildren(old, wanted) {
  const coming = new Set(["", ...[...wanted.childNodes].map(idOf)]);
  // Remove old nodes first, so that the others need not move: moving loses the focus.
  for (const child of [...old.childNodes]) if (!coming.has(idOf(child))) child.remove();
  const named = new Map([...old.childNodes].map((child) => [idOf(child), child]));
  let at = old.firstChild;
  for (const child of wanted.childNodes) {
    while (at && isBlank(at) && child instanceof Element) at = dropped(at);
    const there = idOf(child) ? named.get(idOf(child)) : at && sameKind(at, child) ? at : undefined;
    if (!there) {
      old.insertBefore(document.importNode(child, true), at);
      continue;
    }
    if (there === at) at = at.nextSibling;
    else old.insertBefore(there, at);
    adopt(there, child);
  }
  while (at) at = dropped(at);
}

/**
 * Remove a node.
 *
 * @param {ChildNode} node
 * @returns {ChildNode | null} the one after it
 */
function dropped(node) {
  const next = node.nextSibling;
  node.remove();
  return next;
}

/**
 * @param {Node} there
 * @param {Node} child
 */
function adopt(there, child) {
  if (there instanceof Element && child instanceof Element) {
    adoptAttributes(there, child);
    adoptChildren(there, child);
  } else if (there.nodeValue !== child.nodeValue) {
    there.nodeValue = child.nodeValue;
  }
}

/**
 * @param {Element} there
 * @param {Element} child
 */
function adoptAttributes(there, child) {
  for (const name of there.getAttributeNames()) {
    const opened = name === "open" && there instanceof HTMLDetailsElement;
    if (!opened && !child.hasAttribute(name)) there.removeAttribute(name);
  }
  for (const name of child.getAttributeNames()) {
    const value = child.getAttribute(name) ?? "";
    if (there.getAttribute(name) !== value) there.setAttribute(name, value);
  }
}

/**
 * Whether one node can be updated to the other. Nodes with an id never replace others: an opened detail must not move to
 * the next row.
 *
 * @param {Node} there
 * @param {Node} child
 */
function sameKind(there, child) {
  return there.nodeType === child.nodeType && there.nodeName === child.nodeName && !idOf(there) && !idOf(child);
}

/** @param {Node} node */
function isBlank(node) {
  return node instanceof Text && !node.data.trim();
}

/** @param {Node} node */
function idOf(node) {
  return node instanceof Element ? node.id : "";
}
