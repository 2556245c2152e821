// The page's state and what the reader does with it.

import { openAbout } from "./about.js";
import { ask, QueueFull, sendFeedback, setup, TooMany } from "./client.js";
import { h, icon, iconButton, morph } from "./dom.js";
import { commentForm, entryContent, welcome } from "./entry.js";
import { questionLink, setPublished } from "./links.js";
import * as markdown from "./markdown.js";
import { fillPanel, growPanel, hideQuote, openPassage, refreshPanel, showQuote } from "./sources.js";
import { BEAT_MS, clear, load, recall, remember, remove, save, watch } from "./store.js";
import { day, language, switchLanguage, words } from "./words.js";

const SAVE_MS = 500;
const NEAR_PX = 80;
const CHIPS = 3;
const SLOW_MS = 4000;
const HAS_KEYS = window.matchMedia("(hover: hover)").matches;

const conversation = document.getElementById("conversation");
const scroller = document.getElementById("scroller");
const composer = document.getElementById("composer");


let config = null;
let collection = null; // its name
let entries = [];
let running = null; // {entry, collection, stage, stopper} while this tab waits for an answer
let editing = null; // the entry that the composer replaces
const field = h("textarea", { id: "question", rows: "1", enterkeyhint: "send", autocomplete: "off" });
const note = h("p", { class: "hint", id: "note" });

// ---------------------------------------------------------------- start

start();

async function start() {
  frame();
  try {
    config = await setup();
  } catch {
    toast(words().noStart);
    setTimeout(start, 2000);
    return;
  }
  setPublished(config.published);
  const query = new URLSearchParams(location.search);
  const wished = query.get("collection");
  const known = config.collections.some((info) => info.name === wished);
  open(known ? wished : config.collections[0]?.name, { push: false });
  if (wished && !known) toast(words().noCollection(wished));
  const question = query.get("q");
  if (question) {
    field.value = question;
    keepDraft();
    grow();
  }
  const clean = new URL(location.href);
  clean.searchParams.delete("q"); // a reload must not bring it back after it was sent
  history.replaceState(null, "", clean);
  if (question || HAS_KEYS) field.focus({ preventScroll: true });
  watch((changed) => changed === collection && refresh());
  setInterval(() => entries.some((entry) => entry.state === "waiting" && entry.id !== running?.entry.id) && refresh(), 2000);
}

function info() {
  return config?.collections.find((one) => one.name === collection) ?? null;
}

function open(name, { push }) {
  collection = name;
  editing = null;
  if (push) {
    const url = new URL(location.href);
    url.search = new URLSearchParams({ collection: name }).toString();
    history.pushState(null, "", url);
  }
  field.value = recall(draftKey()) ?? "";
  frame();
  refresh();
  showSources(entries.findLast((entry) => entry.answer?.citations.length));
  scroller.scrollTop = entries.length ? scroller.scrollHeight : 0;
}

window.addEventListener("popstate", () => {
  const wished = new URLSearchParams(location.search).get("collection");
  const name = config?.collections.some((one) => one.name === wished) ? wished : config?.collections[0]?.name;
  if (name && name !== collection) open(name, { push: false });
});

// ---------------------------------------------------------------- frame: header and composer

function frame() {
  const t = words();
  document.documentElement.lang = language();
  document.title = info() ? `${info().title} · Footnote` : "Footnote";
  document.getElementById("skip").textContent = t.skip;
  const nav = document.getElementById("collections");
  nav.setAttribute("aria-label", t.collections);
  nav.hidden = (config?.collections.length ?? 0) < 2;
  nav.replaceChildren(...(config?.collections ?? []).map((one) =>
    h("button", { type: "button", "aria-current": one.name === collection ? "true" : null, onclick: () => one.name !== collection && open(one.name, { push: true }) }, one.title)));
  nav.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
  const theme = recall("footnote/theme") ?? "auto";
  document.getElementById("tools").replaceChildren(
    h("button", { type: "button", class: "text-button", lang: language() === "en" ? "es" : "en", onclick: changeLanguage }, t.otherLanguage),
    iconButton(theme, t.theme[theme], changeTheme, { id: "theme" }),
    iconButton("info", t.about, () => config && openAbout(config), { id: "about-button" }),
  );
  conversation.setAttribute("aria-label", t.conversation);
  scroller.setAttribute("aria-label", t.conversation);
  field.setAttribute("aria-label", t.question);
  field.placeholder = info()?.mode === "interview" ? t.askPerson(info().title) : t.askBlog;
  drawComposer();
  refreshPanel();
}

function drawComposer() {
  const t = words();
  const form = composer.querySelector("form") ?? h("form", {}, field, h("span", { class: "send" }));
  if (!form.isConnected) {
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      submit();
    });
    field.setAttribute("aria-describedby", "note");
    composer.replaceChildren(form, note);
  }
  const busy = running !== null;
  const slot = form.querySelector(".send");
  const wanted = busy ? "stop" : "send";
  if (slot.firstChild?.dataset.kind !== wanted || slot.firstChild.title !== t[wanted]) {
    const had = slot.contains(document.activeElement);
    slot.replaceChildren(
      busy
        ? iconButton("stop", t.stop, stop, { class: "round", "data-kind": "stop", id: "stop" })
        : h("button", { type: "submit", class: "round", "data-kind": "send", "aria-label": t.send, title: t.send, id: "send" }, icon("send")),
    );
    if (had) slot.firstChild.focus();
  }
  drawNote();
}

function drawNote() {
  const t = words();
  const over = field.value.trim().length - (config?.max_question_chars ?? Infinity);
  note.classList.toggle("wrong", over > 0);
  if (over > 0) note.replaceChildren(t.tooLong(over));
  else if (editing) note.replaceChildren(t.editing, " ", h("button", { type: "button", class: "text-button", onclick: cancelEdit }, t.cancel));
  else note.replaceChildren(HAS_KEYS ? `${t.hint} ${t.keys}` : t.hint);
}

function grow() {
  field.style.height = "auto";
  field.style.height = `${Math.min(field.scrollHeight, 200)}px`;
}

const draftKey = () => `footnote/draft/${collection}`;
const keepDraft = () => remember(draftKey(), field.value || null);

field.addEventListener("input", () => {
  grow();
  keepDraft();
  drawNote();
});
field.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
    event.preventDefault();
    submit();
  } else if (event.key === "Escape" && editing) cancelEdit();
});

function changeLanguage() {
  switchLanguage();
  frame();
  refresh({ anew: true });
  document.querySelector("#tools button").focus();
}

function changeTheme() {
  const order = ["auto", "light", "dark"];
  const theme = order[(order.indexOf(recall("footnote/theme") ?? "auto") + 1) % order.length];
  remember("footnote/theme", theme === "auto" ? null : theme);
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  frame();
  document.getElementById("theme").focus();
}

// ---------------------------------------------------------------- conversation

function refresh({ anew = false } = {}) {
  entries = load(collection).map((entry) => (entry.id === running?.entry.id ? running.entry : entry));
  if (anew) conversation.replaceChildren();
  draw();
}

function draw() {
  if (!info()) return;
  const t = words();
  if (!entries.length) {
    const one = info();
    const facts = [t.pages(one.pages), t.passages(one.chunks), t.built(day(one.built))].join(" · ");
    const spoken = one.suggestions[language()] ? language() : one.language;
    conversation.replaceChildren(welcome(one, facts, one.suggestions[spoken] ?? [], spoken));
    return;
  }
  conversation.querySelector(".welcome")?.remove();
  let bar = conversation.querySelector(".bar");
  if (!bar) {
    bar = h("div", { class: "bar" },
      h("button", { type: "button", class: "text-button", id: "export", title: t.exportTitle, onclick: exportConversation }, t.export),
      h("button", { type: "button", class: "text-button", id: "clear", onclick: clearConversation }, t.clear));
    conversation.prepend(bar);
  }
  const ids = new Set(entries.map((entry) => entry.id));
  for (const node of conversation.querySelectorAll(".entry")) if (!ids.has(node.dataset.id)) node.remove();
  let before = bar;
  for (const entry of entries) {
    const node = drawEntry(entry);
    if (before.nextSibling !== node) before.after(node);
    before = node;
  }
}

function drawEntry(entry) {
  let node = conversation.querySelector(`.entry[data-id="${CSS.escape(entry.id)}"]`);
  node ??= h("article", { class: "entry", "data-id": entry.id, "aria-labelledby": `asked-${entry.id}` });
  const last = entry === entries.at(-1);
  const content = entryContent(entry, {
    stage: stageOf(entry),
    last: last && !running,
    chips: last && !running ? chips(entry) : [],
    feedback: config.feedback,
    info: info(),
  });
  const form = node.querySelector(":scope > .comment");
  form?.remove();
  morph(node, h("article", {}, ...content));
  if (form) node.append(form);
  return node;
}

function stageOf(entry) {
  if (entry.state !== "waiting") return null;
  const t = words().stages;
  if (entry.id !== running?.entry.id) return t.elsewhere;
  const { stage, place } = running;
  if (stage === "waiting") return t.waiting(place + 1);
  if (stage === "reading") return t.reading(entry.answer?.passages ?? 0);
  return t[stage] ?? t.writing;
}

const flat = (text) => text.toLowerCase().replace(/[\s¿?¡!.]+/g, " ").trim();

/** What is offered under an entry: nothing twice, nothing that was asked or offered before. */
function chips(entry) {
  const asked = new Set(entries.map((one) => flat(one.question)));
  const earlier = entries.filter((one) => one.at < entry.at);
  const offered = entry.answer?.outcome === "answered" ? earlier.flatMap((one) => one.offered ?? []) : [];
  const seen = new Set([...asked, ...offered.map(flat)]);
  const fresh = (entry.answer?.suggestions ?? []).filter((question) => {
    const key = flat(question);
    if (!key || seen.has(key)) return false;
    seen.add(key);
    return true;
  });
  return fresh.slice(0, CHIPS);
}

function nearEnd() {
  return scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < NEAR_PX;
}

function showSources(entry) {
  if (entry?.answer?.citations.length) fillPanel(entry.id, entry.answer, entry.answer.citations[0].n);
  else fillPanel(null, null);
}

// ---------------------------------------------------------------- asking

function submit() {
  const question = field.value.trim();
  if (!question || running || !config || question.length > config.max_question_chars) return;
  const replaced = editing;
  editing = null;
  field.value = "";
  keepDraft();
  grow();
  if (replaced) remove(collection, replaced.id);
  send(question, replaced?.at);
  readOn();
}

/** The focus goes to where the next question is typed; on a phone that would bring up its keyboard. */
function readOn() {
  (HAS_KEYS ? field : scroller).focus({ preventScroll: true });
}

async function send(question, at = Date.now()) {
  const entry = { id: crypto.randomUUID?.() ?? `${Date.now()}${Math.random()}`, at, question, state: "waiting", answer: null };
  const here = collection;
  const stopper = { stop: () => {} };
  const job = { entry, collection: here, stage: "sending", place: 0, stopper };
  const turns = load(here).filter((one) => one.at < at).flatMap(asTurns).slice(-2 * config.history_turns);
  running = job;
  save(here, entry);
  refresh();
  drawComposer();
  scroller.scrollTop = scroller.scrollHeight;
  const beat = setInterval(() => save(here, entry), BEAT_MS);
  const slow = setTimeout(() => {
    if (job.stage === "sending") job.stage = "slow";
    show();
  }, SLOW_MS);
  let saved = 0;
  const show = () => {
    if (collection !== here) return;
    const follow = nearEnd();
    drawEntry(entry);
    if (follow) scroller.scrollTop = scroller.scrollHeight;
  };
  try {
    const answer = await ask({
      endpoint: config.ask,
      question,
      collection: here,
      history: turns,
      stopper,
      ontabs: () => {
        job.stage = "tabs";
        show();
      },
      onplace: (place) => {
        Object.assign(job, { stage: "waiting", place });
        show();
      },
      onstart: () => {
        job.stage = "starting";
        show();
      },
      onpartial: (partial) => {
        job.stage = partial.stage;
        entry.answer = partial;
        show();
        if (collection === here) growPanel(entry.id, partial);
        if (Date.now() - saved > SAVE_MS) {
          saved = Date.now();
          save(here, entry);
        }
      },
    });
    if (answer) entry.answer = answer;
    entry.state = answer ? "done" : "stopped";
  } catch (error) {
    entry.state = "broken";
    entry.reason = error instanceof QueueFull ? "full" : error instanceof TooMany ? "tooMany" : entry.answer ? "broken" : "unreachable";
  } finally {
    clearInterval(beat);
    clearTimeout(slow);
  }
  if (leaving) return; // kept by the pagehide handler already
  if (entry.state !== "done" && !entry.answer?.answer) entry.answer = null;
  if (collection === here) entry.offered = chips(entry);
  save(here, entry);
  running = null;
  drawComposer();
  if (collection !== here) return;
  const follow = nearEnd();
  refresh();
  if (follow) scroller.scrollTop = scroller.scrollHeight;
  if (entry.answer?.citations.length) growPanel(entry.id, entry.answer);
  else showSources(null);
  announce(entry);
}

function asTurns(entry) {
  if (entry.state !== "done" || !entry.answer || entry.answer.outcome === "error") return [];
  return [{ role: "user", content: entry.question }, { role: "assistant", content: entry.answer.answer }];
}

function stop() {
  running?.stopper.stop();
  readOn();
}

/** Says the finished answer once to a screen reader; streaming says nothing. */
function announce(entry) {
  const t = words();
  const notice = { stopped: t.stopped, broken: t[entry.reason] ?? t.broken }[entry.state] ?? "";
  const region = document.getElementById("announcer");
  const spoken = entry.answer?.answer.replace(/\s*\[\d+\]/g, "") ?? "";
  region.replaceChildren(h("span", { lang: entry.answer?.language ?? language() }, spoken), " ", notice);
}

// A page that goes away takes its question with it; what was written of the answer is kept.
let leaving = false;
window.addEventListener("pagehide", () => {
  if (!running) return;
  leaving = true;
  const { entry, collection: here, stopper } = running;
  stopper.stop();
  entry.state = "broken";
  entry.reason = "broken";
  if (!entry.answer?.answer) entry.answer = null;
  save(here, entry);
  running = null;
});
window.addEventListener("pageshow", (event) => {
  if (!event.persisted) return;
  leaving = false;
  drawComposer();
  refresh();
});

// ---------------------------------------------------------------- what can be done with an answer

function entryOf(node) {
  const id = node.closest(".entry")?.dataset.id;
  return entries.find((entry) => entry.id === id) ?? null;
}

conversation.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (!button) return;
  if (button.dataset.ask !== undefined) {
    if (running) return;
    send(button.dataset.ask);
    readOn();
    return;
  }
  const entry = entryOf(button);
  if (!entry) return;
  if (button.dataset.n !== undefined) {
    hideQuote();
    openPassage(entry.id, entry.answer, Number(button.dataset.n), Number(button.dataset.i ?? 0));
  } else if (button.dataset.action) act(button.dataset.action, entry);
});

function act(action, entry) {
  const t = words();
  if (action === "copy") copy(markdown.answer(entry.answer).join("\n\n"), t.copied);
  else if (action === "link") copy(questionLink(collection, entry.question), t.copied);
  else if (action === "retry" && !running) {
    const last = entry === entries.at(-1);
    if (last) remove(collection, entry.id);
    send(entry.question, last ? entry.at : Date.now());
    readOn();
  } else if (action === "edit" && !running) {
    editing = entry;
    field.value = entry.question;
    grow();
    drawNote();
    field.focus();
  } else if (action === "up" || action === "down") judge(entry, action);
}

function cancelEdit() {
  editing = null;
  field.value = "";
  keepDraft();
  grow();
  drawNote();
  field.focus();
}

function judge(entry, verdict) {
  const node = conversation.querySelector(`.entry[data-id="${CSS.escape(entry.id)}"]`);
  node.querySelector(":scope > .comment")?.remove();
  const back = () => {
    form.remove();
    node.querySelector(`[data-action="${verdict}"]`)?.focus();
  };
  const form = commentForm(async (comment) => {
    const sent = await sendFeedback({ verdict, comment, question: entry.question, answer: entry.answer.answer, collection });
    toast(sent ? words().thanks : words().notSaved);
    if (sent) {
      entry.verdict = verdict;
      save(collection, entry);
      back();
      refresh();
    }
  }, back);
  node.append(form);
  form.querySelector("input").focus();
}

async function copy(text, done) {
  try {
    await navigator.clipboard.writeText(text);
    toast(done);
  } catch {
    toast(copyOldWay(text) ? done : words().notCopied);
  }
}

/** Plain HTTP from another machine has no clipboard API; selecting and copying works there. */
function copyOldWay(text) {
  const focused = document.activeElement;
  const holder = h("textarea", { class: "unseen", "aria-hidden": "true" });
  holder.value = text;
  document.body.append(holder);
  holder.select();
  const copied = document.execCommand("copy");
  holder.remove();
  focused?.focus();
  return copied;
}

function exportConversation() {
  const text = markdown.conversation(info().title, entries);
  const link = h("a", { href: URL.createObjectURL(new Blob([text], { type: "text/markdown" })), download: `footnote-${collection}.md` });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

function clearConversation() {
  running?.stopper.stop();
  const here = collection;
  const undo = clear(here);
  showSources(null);
  refresh();
  field.focus();
  toast(words().cleared, words().undo, () => {
    undo();
    if (collection === here) open(here, { push: false });
  });
}

let toastTimer = null;
function toast(text, label = null, action = null) {
  const region = document.getElementById("toast");
  clearTimeout(toastTimer);
  const away = () => region.replaceChildren();
  region.replaceChildren(h("span", {}, text), label ? h("button", { type: "button", class: "text-button", onclick: () => { away(); action(); } }, label) : "");
  toastTimer = setTimeout(away, label ? 12_000 : 5000);
}

// ---------------------------------------------------------------- quotes on hover and focus

let quoteTimer = null;
const markerAt = (event) => (event.target instanceof Element ? event.target.closest(".marker") : null);

function quoteOf(button) {
  const entry = entryOf(button);
  return entry?.answer?.citations.find((citation) => citation.n === Number(button.dataset.n));
}

function reveal(event) {
  const button = markerAt(event);
  const citation = button && quoteOf(button);
  clearTimeout(quoteTimer);
  if (citation) showQuote(button, citation);
}

function conceal(event) {
  if (!markerAt(event)) return;
  clearTimeout(quoteTimer);
  quoteTimer = setTimeout(hideQuote, 200); // time to move onto the quote itself
}

conversation.addEventListener("pointerover", (event) => event.pointerType !== "touch" && reveal(event));
conversation.addEventListener("pointerout", conceal);
conversation.addEventListener("focusin", (event) => event.target.matches?.(":focus-visible") && reveal(event));
conversation.addEventListener("focusout", conceal);
const bubble = document.getElementById("quote");
bubble.addEventListener("pointerenter", () => clearTimeout(quoteTimer));
bubble.addEventListener("pointerleave", hideQuote);
scroller.addEventListener("scroll", hideQuote, { passive: true });
document.addEventListener("keydown", (event) => event.key === "Escape" && hideQuote());
