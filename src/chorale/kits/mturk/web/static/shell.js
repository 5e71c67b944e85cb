/**
 * An empty frame, filled once with the page that it receives. The page keeps the frame's sandbox and its policy.
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
