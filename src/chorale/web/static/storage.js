/**
 * Records on this device, in localStorage; in memory if that is unavailable.
 */

const PREFIX = "chorale";
const DRAFT_DAYS = 30;

/**
 * Records of one worker: `chorale:<room>:<owner>:<id>`. One key per record, so that two tabs never overwrite each other.
 */
export class DeviceStore {
  /** @param {string} owner the worker's pseudonym: another worker on this device has their own records */
  constructor(owner) {
    this.owner = owner;
    this.storage = usableStorage();
    /** Whether records survive a reload. */
    this.lasting = this.storage !== null;
    /** @type {Map<string, string>} */
    this.memory = new Map();
  }

  /**
   * @param {string} room
   * @param {string} [id]
   */
  key(room, id = "") {
    return `${PREFIX}:${room}:${this.owner}:${id}`;
  }

  /**
   * @param {string} room
   * @param {string} id
   * @returns {any} the record, or null
   */
  get(room, id) {
    const key = this.key(room, id);
    const text = this.memory.get(key) ?? this.storage?.getItem(key) ?? null;
    try {
      return text === null ? null : JSON.parse(text);
    } catch {
      return null;
    }
  }

  /**
   * @param {string} room
   * @param {string} id
   * @param {any} record
   * @returns {boolean} whether it is kept beyond this page
   */
  set(room, id, record) {
    const key = this.key(room, id);
    const text = JSON.stringify(record);
    try {
      if (this.storage) {
        this.storage.setItem(key, text);
        this.memory.delete(key);
        return true;
      }
    } catch {
      this.lasting = false; // full or disabled in the meantime: use memory
    }
    this.memory.set(key, text);
    return false;
  }

  /**
   * @param {string} room
   * @param {string} id
   */
  remove(room, id) {
    const key = this.key(room, id);
    this.memory.delete(key);
    this.storage?.removeItem(key);
  }

  /**
   * @param {string} room
   * @returns {any[]} all records of a room, oldest first (by their `at`)
   */
  all(room) {
    const start = this.key(room);
    const keys = new Set([...this.memory.keys(), ...(this.storage ? Object.keys(this.storage) : [])]);
    return [...keys]
      .filter((key) => key.startsWith(start))
      .map((key) => this.get(room, key.slice(start.length)))
      .filter((record) => record !== null)
      .sort((left, right) => (left.at ?? 0) - (right.at ?? 0));
  }

  /** Delete abandoned drafts. */
  forgetOldDrafts() {
    const limit = Date.now() - DRAFT_DAYS * 24 * 3600 * 1000;
    for (const draft of this.all("draft")) {
      if (draft.id && (draft.at ?? 0) < limit) this.remove("draft", draft.id);
    }
  }
}

/** @returns {Storage | null} */
function usableStorage() {
  try {
    const probe = `${PREFIX}:probe`;
    window.localStorage.setItem(probe, "1");
    window.localStorage.removeItem(probe);
    return window.localStorage;
  } catch {
    return null;
  }
}

/** A random version 4 UUID; `crypto.randomUUID` exists on https and localhost only. */
export function uuid() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}
