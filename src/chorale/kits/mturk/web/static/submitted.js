/** Tells the page around the frame that something was submitted, or leads back to what was not. */
(() => {
  "use strict";
  const back = document.getElementById("back");
  if (back) back.addEventListener("click", () => history.back());
  else parent.postMessage({ chorale: "submitted" }, "*");
})();
