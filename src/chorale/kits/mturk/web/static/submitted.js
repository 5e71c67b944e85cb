/** Notifies the surrounding page of a submission, or leads back to a form that was not submitted. */
(() => {
  "use strict";
  const back = document.getElementById("back");
  if (back) back.addEventListener("click", () => history.back());
  else parent.postMessage({ chorale: "submitted" }, "*");
})();
