// Keeps conversations in the browser, one per collection, shared by its tabs.
//
// An entry is {id, rev, at, question, state, answer, beat}. States: "waiting" (a tab is getting
// the answer), "done", "stopped" (by the reader), "broken" (the connection or the page ended).
// A waiting entry whose `beat` is old belongs to a tab that is gone.

const PREFIX = "footnote/conversation/";
const KEEP = 200;
export const BEAT_MS = 1000;
const DEAD_MS = 6000;

const memory = new Map(); // stands in where storage is forbidden

export function remember(key, value) {
  try {
    if (value === null) localStorage.removeItem(key);
    else localStorage.setItem(key, value);
    return true;
  } catch (error) {
    if (error.name === "QuotaExceededError") return false;
    memory.set(key, value);
    return true;
  }
}

export function recall(key) {
  try {
    return localStorage.getItem(key);
  } catch {
    return memory.get(key) ?? null;
  }
}

/** The entries of a collection, oldest first; those that a dead tab left are "broken". */
export function load(collection) {
  const now = Date.now();
  return read(collection).entries.map((entry) =>
    entry.state === "waiting" && now - entry.beat > DEAD_MS ? { ...entry, state: "broken" } : entry,
  );
}

/** Adds or changes one entry; what other tabs wrote meanwhile stays. */
export function save(collection, entry) {
  entry.rev = (entry.rev ?? 0) + 1;
  entry.beat = Date.now();
  const { cleared, entries } = read(collection);
  if (entry.at <= cleared) return;
  const others = entries.filter((other) => other.id !== entry.id);
  const all = [...others, entry].sort((a, b) => a.at - b.at).slice(-KEEP);
  while (!remember(PREFIX + collection, JSON.stringify({ cleared, entries: all })) && all.length > 1) all.shift();
}

export function remove(collection, id) {
  const { cleared, entries } = read(collection);
  remember(PREFIX + collection, JSON.stringify({ cleared, entries: entries.filter((entry) => entry.id !== id) }));
}

/** Empties a conversation and returns what undoes it. */
export function clear(collection) {
  const before = recall(PREFIX + collection);
  remember(PREFIX + collection, JSON.stringify({ cleared: Date.now(), entries: [] }));
  return () => remember(PREFIX + collection, before);
}

/** Calls back when another tab changed a conversation. */
export function watch(changed) {
  window.addEventListener("storage", (event) => {
    if (event.key?.startsWith(PREFIX)) changed(event.key.slice(PREFIX.length));
  });
}

function read(collection) {
  const empty = { cleared: 0, entries: [] };
  try {
    const value = JSON.parse(recall(PREFIX + collection) ?? "null");
    if (!Array.isArray(value?.entries)) return empty;
    const whole = (entry) => typeof entry?.id === "string" && typeof entry.question === "string" && typeof entry.at === "number";
    return { cleared: Number(value.cleared) || 0, entries: value.entries.filter(whole) };
  } catch {
    return empty; // not ours, or from a version that wrote it differently
  }
}
