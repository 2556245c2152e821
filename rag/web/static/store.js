// Keeps conversations in the browser, one per collection, shared by its tabs. Each entry has its own
// key, so that two tabs that write at the same moment never undo each other's.
//
// An entry is {id, at, question, state, answer, beat}. States: "waiting" (a tab is getting
// the answer), "done", "stopped" (by the reader), "broken" (the connection or the page ended).
// A waiting entry whose `beat` is old belongs to a tab that is gone.

const PREFIX = "footnote/conversation/";
const CLEARED = "footnote/cleared/";
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
  return [...stored(collection).values()].map((entry) =>
    entry.state === "waiting" && now - entry.beat > DEAD_MS ? { ...entry, state: "broken" } : entry,
  );
}

/** Adds or changes one entry. What was cleared meanwhile doesn't come back. */
export function save(collection, entry) {
  entry.beat = Date.now();
  if (entry.at <= Number(recall(CLEARED + collection) ?? 0)) return;
  const others = [...stored(collection).keys()].filter((key) => key !== keyOf(collection, entry.id));
  while (others.length >= KEEP) remember(others.shift(), null);
  while (!remember(keyOf(collection, entry.id), JSON.stringify(entry)) && others.length) remember(others.shift(), null);
}

export function remove(collection, id) {
  remember(keyOf(collection, id), null);
}

/** Empties a conversation and returns what undoes it. */
export function clear(collection) {
  const entries = [...stored(collection)];
  const before = recall(CLEARED + collection);
  remember(CLEARED + collection, String(Date.now()));
  for (const [key] of entries) remember(key, null);
  return () => {
    remember(CLEARED + collection, before);
    for (const [key, entry] of entries) remember(key, JSON.stringify(entry));
  };
}

/** Calls back when another tab changed a conversation. */
export function watch(changed) {
  window.addEventListener("storage", (event) => {
    if (event.key?.startsWith(PREFIX)) changed(event.key.slice(PREFIX.length, event.key.lastIndexOf("/")));
  });
}

const keyOf = (collection, id) => `${PREFIX}${collection}/${id}`;

/** The whole entries by key, oldest first; what isn't ours is passed over. */
function stored(collection) {
  const prefix = keyOf(collection, "");
  const found = keys().filter((key) => key.startsWith(prefix)).map((key) => [key, read(key)]);
  return new Map(found.filter(([, entry]) => entry).sort(([, a], [, b]) => a.at - b.at));
}

function keys() {
  try {
    return Object.keys(localStorage);
  } catch {
    return [...memory.keys()];
  }
}

function read(key) {
  try {
    const entry = JSON.parse(recall(key));
    return typeof entry?.id === "string" && typeof entry.question === "string" && typeof entry.at === "number" ? entry : null;
  } catch {
    return null;
  }
}
