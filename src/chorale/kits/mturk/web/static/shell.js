/**
 * An empty frame that becomes the page it is sent, once. What is written keeps the frame's sandbox and its policy.
 */

(() => {
  "use strict";
  addEventListener("message", function filled(event) {
    if (event.source !== parent || event.data?.chorale !== "fill") return;
    removeEventListener("message", filled);
    document.open();
    document.write(String(event.data.html));
    document.close();
  });
  parent.postMessage({ chorale: "empty" }, "*");
})();
