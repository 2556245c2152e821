// Talks to Gradio's queue: joins it, tells the place in it, applies what streams, cancels.

/** The address under which the application lies, behind whatever path prefix. */
export const root = new URL("..", import.meta.url);

export class QueueFull extends Error {}
export class TooMany extends Error {}
export class Broken extends Error {}

/** What the page has to know before it can start. */
export async function setup() {
  const response = await fetch(new URL("page/setup", root));
  if (!response.ok) throw new Broken(`setup: ${response.status}`);
  return response.json();
}

/** Sends a reader's thumb; false if it could not be kept. */
export async function sendFeedback(record) {
  try {
    const response = await post("page/feedback", record);
    return response.ok;
  } catch {
    return false;
  }
}

function post(path, body, options = {}) {
  return fetch(new URL(path, root), {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
    ...options,
  });
}

const TURNS = 4;

/**
 * Waits until fewer than TURNS tabs of this browser hold a stream, and returns what gives the turn
 * back. A browser opens six connections to a server: with a stream in each, no further tab would
 * even load. `onwait()` is called when there is no turn at once.
 */
async function takeTurn(signal, onwait) {
  if (!navigator.locks) return () => {}; // an address that isn't secure has none
  const take = (number, options) =>
    new Promise((resolve, reject) => {
      const hold = (lock) => (lock ? new Promise((release) => resolve(release)) : resolve(null));
      navigator.locks.request(`footnote/turn-${number}`, options, hold).catch(reject);
    });
  for (let number = 0; number < TURNS; number += 1) {
    const release = await take(number, { ifAvailable: true });
    if (release) return release;
  }
  onwait();
  return take(Math.floor(Math.random() * TURNS), { signal });
}

/**
 * Asks, and resolves with the final answer object, or null when it was stopped.
 * `ontabs()` says that other tabs go first, `onplace(rank)` gets the place in the queue, 0 being
 * next; `onstart()` its end;
 * `onpartial(answer)` each partial answer. `stopper.stop()` ends it here and on the server.
 * Throws QueueFull, TooMany, or Broken when the connection or the server gave up.
 */
export async function ask({ endpoint, question, collection, history, stopper, ontabs, onplace, onstart, onpartial }) {
  const session = Math.random().toString(36).slice(2, 14);
  const connection = new AbortController();
  let event = null;
  let stopped = false;
  let giveBack = () => {};
  stopper.stop = () => {
    if (stopped) return;
    stopped = true;
    if (event) {
      // keepalive: the request survives the page when it is the page that goes away.
      post("gradio_api/cancel", { session_hash: session, fn_index: endpoint, event_id: event }, { keepalive: true }).catch(() => {});
    }
    connection.abort();
  };
  try {
    giveBack = await takeTurn(connection.signal, ontabs);
    const joined = await post(
      "gradio_api/queue/join",
      { data: [question, collection, history], fn_index: endpoint, session_hash: session },
      { signal: connection.signal },
    );
    if (joined.status === 503) throw new QueueFull();
    if (joined.status === 429) throw new TooMany();
    if (!joined.ok) throw new Broken(`join: ${joined.status}`);
    event = (await joined.json()).event_id;
    const stream = await fetch(new URL(`gradio_api/queue/data?session_hash=${session}`, root), { signal: connection.signal });
    if (!stream.ok) throw new Broken(`data: ${stream.status}`);
    let answer = null;
    for await (const message of messages(stream.body)) {
      if (message.msg === "estimation") onplace(message.rank);
      else if (message.msg === "process_starts") onstart();
      else if (message.msg === "process_generating" && message.success) {
        const [data] = message.output.data;
        // The first is whole, the following are edits to it.
        answer = Array.isArray(data) ? edited(answer, data) : data;
        onpartial(answer);
      } else if (message.msg === "process_completed") {
        if (!message.success) throw new Broken(message.output?.error ?? "failed");
        const whole = message.output?.data?.[0];
        return Array.isArray(whole) ? edited(answer, whole) : (whole ?? null);
      } else if (message.msg === "unexpected_error") throw new Broken(message.message ?? "unexpected");
    }
    throw new Broken("the stream ended early");
  } catch (error) {
    if (stopped) return null;
    if ([QueueFull, TooMany, Broken].some((kind) => error instanceof kind)) throw error;
    throw new Broken(String(error));
  } finally {
    connection.abort();
    giveBack();
  }
}

async function* messages(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const events = (rest + value).split("\n\n");
    rest = events.pop();
    for (const text of events) if (text.startsWith("data: ")) yield JSON.parse(text.slice(6));
  }
}

/** A copy of `value` after Gradio's edits: [["replace" | "append" | "add" | "delete", path, value], …]. */
export function edited(value, edits) {
  let result = structuredClone(value);
  for (const [action, path, content] of edits) {
    if (!path.length) {
      result = action === "append" ? result + content : content;
      continue;
    }
    const parent = path.slice(0, -1).reduce((node, key) => node[key], result);
    const key = path.at(-1);
    if (action === "append") parent[key] += content;
    else if (action === "delete") Array.isArray(parent) ? parent.splice(key, 1) : delete parent[key];
    else if (action === "add" && Array.isArray(parent)) parent.splice(key, 0, content);
    else parent[key] = content;
  }
  return result;
}
