/** The console: keeps its live part up to date, and copies links. */

import { offerCopying } from "./copying.js";
import { keepLive } from "./live.js";

offerCopying(document);

const container = document.getElementById("live");
const status = document.getElementById("live-status");
if (container && status) keepLive(container, status);
