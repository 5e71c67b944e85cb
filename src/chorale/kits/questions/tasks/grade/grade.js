/**
 * The grading page: shows explanations, if any, and highlights the option that the writer marked as correct.
 * If graders answer first, these and the rubric appear once their answers are stored.
 *
 * @typedef {{draft: any, changed: () => void}} Api
 */

/**
 * @param {HTMLElement} root
 * @param {Object<string, any>} item
 * @param {Api} api
 */
export function mount(root, item, { draft }) {
  for (const input of root.querySelectorAll("input[type=radio]")) input.checked = draft?.[input.name] === input.value;
  revealed(root, item);
}

/**
 * @param {HTMLElement} root
 * @param {Object<string, any>} item with the writer's answers, once they may be seen
 */
export function revealed(root, item) {
  root.querySelectorAll(".mcq-graded").forEach((section, index) => {
    const number = index + 1;
    section.querySelector(".mcq-why").hidden = !item[`why_${number}`];
    const place = "abcdefgh".indexOf(item[`right_${number}`] ?? "none");
    section.querySelectorAll(".mcq-options > li, .mcq-own > label")[place]?.classList.add("mcq-right");
  });
}

/**
 * @param {HTMLElement} root
 * @returns {Object<string, string>} what was chosen so far
 */
export function collect(root) {
  const chosen = [...root.querySelectorAll("input[type=radio]:checked")];
  return Object.fromEntries(chosen.map((input) => [input.name, input.value]));
}
