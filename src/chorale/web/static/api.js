/**
 * Requests to the server. Every outcome is one of four kinds:
 *
 * - `ok`: the server accepted the request, with a valid reply;
 * - `refused`: the server will never accept this; `message` is for the worker;
 * - `signed_out`: it may accept this once the worker has signed in again; `message` says why;
 * - `unreachable`: no usable reply (no connection, time-out, 5xx, 429, the login page of a network).
 *
 * @typedef {{kind: "ok", data: Object<string, any>}
 *   | {kind: "refused", status: number, code: string, message: string}
 *   | {kind: "signed_out", message: string}
 *   | {kind: "unreachable", retryAfterMs: number}} Reply
 */

import { say } from "./say.js";

const TIMEOUT_MS = 15_000;
// The worker of this page: on a shared device, another worker may sign in while it is open.
const owner = /** @type {HTMLElement | null} */ (document.querySelector("[data-owner]"))?.dataset.owner ?? "";
const WORTH_RETRYING = new Set([408, 425, 429]);

/**
 * POST a JSON body. Never throws.
 *
 * @param {string} url a path on this server
 * @param {Object<string, any>} body
 * @param {{keepalive?: boolean, timeoutMs?: number}} [options]
 * @returns {Promise<Reply>}
 */
export async function post(url, body, { keepalive = false, timeoutMs = TIMEOUT_MS } = {}) {
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort(), timeoutMs);
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: { "Content-Type": "application/json", Accept: "application/json", "X-Chorale-Worker": owner },
      body: JSON.stringify(body),
      credentials: "same-origin",
      cache: "no-store",
      redirect: "error",
      keepalive,
      signal: abort.signal,
    });
    const data = await response.json().catch(() => null);
    return classify(response, data);
  } catch {
    return { kind: "unreachable", retryAfterMs: 0 };
  } finally {
    clearTimeout(timer);
  }
}

/**
 * @param {Response} response
 * @param {any} data
 * @returns {Reply}
 */
function classify(response, data) {
  const retryAfterMs = 1000 * (Number(response.headers.get("Retry-After")) || 0);
  if (response.ok && typeof data?.status === "string") return { kind: "ok", data };
  const error = data?.error;
  if (response.status === 401 || error?.code === "signed_out") {
    return { kind: "signed_out", message: error?.message ?? say("You are signed out.") };
  }
  const definite = response.status >= 400 && response.status < 500 && !WORTH_RETRYING.has(response.status);
  if (definite && typeof error?.code === "string") {
    return { kind: "refused", status: response.status, code: error.code, message: String(error.message ?? "") };
  }
  return { kind: "unreachable", retryAfterMs };
}
