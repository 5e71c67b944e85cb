/**
 * The grading page: a question without an explanation shows none, and the option its writer holds right stands out.
 *
 * @typedef {{draft: any, changed: () => void}} Api
 */

/**
 * @param {HTMLElement} root
 * @param {Object<string, any>} item
 * @param {Api} api
 */
export function mount(root, item, { draft }) {
  root.querySelectorAll(".mcq-graded").forEach((section, index) => {
    const number = index + 1;
    section.querySelector(".mcq-why").hidden = !item[`why_${number}`];
    const place = "abcdefgh".indexOf(item[`right_${number}`]);
    section.querySelectorAll(".mcq-options > li")[place]?.classList.add("mcq-right");
  });
  for (const input of root.querySelectorAll("input[type=radio]")) input.checked = draft?.[input.name] === input.value;
}

/**
 * @param {HTMLElement} root
 * @returns {Object<string, string>} what was chosen so far
 */
export function collect(root) {
  const chosen = [...root.querySelectorAll("input[type=radio]:checked")];
  return Object.fromEntries(chosen.map((input) => [input.name, input.value]));
}
