// Shows one exchange: the question, the answer as far as it is there, and what can be done with it.

import { h, icon, iconButton } from "./dom.js";
import { pageLink } from "./links.js";
import { footnotes, marker, nearest } from "./sources.js";
import { render } from "./text.js";
import { words } from "./words.js";

/**
 * The content of an exchange. `stage` is what a waiting reader is told; `last` allows asking
 * again and editing; `chips` are questions to offer.
 */
export function entryContent(entry, { stage, last, chips, feedback, info }) {
  const { answer } = entry;
  return [
    h("h2", { class: "asked", id: `asked-${entry.id}` }, h("span", { class: "unseen" }, `${words().you}: `), entry.question),
    answer && changedQuery(entry) && h("p", { class: "quiet searched" }, words().searched(answer.search_query)),
    answer && h("div", { class: stage ? "answer" : `answer ${answer.outcome}`, lang: answer.language }, ...answerContent(answer, info, Boolean(stage))),
    stage ? h("p", { class: "stage" }, h("span", { class: "pulse", "aria-hidden": "true" }), stage) : outcome(entry),
    !stage && answer?.withheld > 0 && h("p", { class: "quiet withheld" }, words().withheld(answer.withheld)),
    answer && footnotes(answer),
    answer && !stage && nearest(answer),
    !stage && actions(entry, last, feedback),
    !stage && chips.length > 0 && chipList(chips, answer?.outcome === "refused" ? words().canAnswer : words().followUps, answer.language),
  ].filter(Boolean);
}

function answerContent(answer, info, growing) {
  const byNumber = new Map(answer.citations.map((citation) => [citation.n, citation]));
  const used = new Map(); // how often each number stood there already
  const next = (n) => {
    if (!byNumber.has(n)) return null;
    used.set(n, (used.get(n) ?? -1) + 1);
    return marker(byNumber.get(n), used.get(n));
  };
  const speaker = info?.mode === "interview" && answer.answer ? info.title : null;
  // The outcome of an answer that is still growing isn't known.
  const label = (growing ? null : { refused: words().refused, error: words().failed }[answer.outcome]) ?? speaker;
  return [
    label && h("p", { class: "label", lang: speaker === label ? null : document.documentElement.lang }, label),
    ...render(answer.answer, { marker: next }),
    // The sentence that is being written: not checked yet, so it looks provisional.
    growing && answer.draft && h("p", { class: "draft" }, answer.draft),
  ].filter(Boolean);
}

function changedQuery(entry) {
  const flat = (text) => text.toLowerCase().replace(/\s+/g, " ").trim();
  const { search_query: query, outcome: result } = entry.answer;
  return query && result !== "greeting" && result !== "error" && flat(query) !== flat(entry.question);
}

function outcome(entry) {
  const t = words();
  const text = { stopped: t.stopped, broken: t[entry.reason] ?? t.broken }[entry.state];
  if (!text) return null;
  return h("p", { class: `notice ${entry.state}` }, text, " ",
    h("button", { type: "button", class: "text-button", "data-action": "retry" }, t.retry));
}

function actions(entry, last, feedback) {
  const t = words();
  const act = (name, label, attributes = {}) => iconButton(name, label, null, { "data-action": name, ...attributes });
  const judged = feedback && entry.answer && entry.state === "done";
  return h(
    "div",
    { class: "actions" },
    entry.answer && act("copy", t.copy),
    act("link", t.link),
    last && act("retry", t.retry),
    last && act("edit", t.edit),
    judged && act("up", t.up, { "aria-pressed": String(entry.verdict === "up") }),
    judged && act("down", t.down, { "aria-pressed": String(entry.verdict === "down") }),
  );
}

/** Questions as buttons, under a heading. */
export function chipList(questions, heading, language = null) {
  return h("div", { class: "chips" }, h("h3", {}, heading),
    h("ul", { lang: language }, questions.map((question) => h("li", {}, h("button", { type: "button", class: "chip", "data-ask": question }, h("span", {}, question), icon("send"))))));
}

/** What stands in an empty conversation. */
export function welcome(info, facts, openers, openersLanguage) {
  const t = words();
  return h(
    "section",
    { class: "welcome" },
    h("p", { class: "label" }, t.mode[info.mode] ?? info.mode),
    h("h2", { lang: info.language }, info.title),
    ...(info.card ? whoSpeaks(info) : [h("p", { class: "promise" }, t.promise)]),
    h("p", { class: "quiet" }, facts),
    openers.length > 0 && chipList(openers, t.openers, openersLanguage),
  );
}

/** Of an interview: who it is with, that a machine speaks, and which page it reads. */
function whoSpeaks({ card, language, source }) {
  const t = words();
  const address = pageLink(source);
  return [
    h("p", { class: "promise", lang: language }, [card.line, card.years].filter(Boolean).join(" · ")),
    h("p", { class: "quiet machine" }, t.machine(card.name), " ",
      address ? h("a", { href: address, target: "_blank", rel: "noopener" }, t.itsPage) : t.itsPage,
      card.licence ? ` (${card.licence}).` : "."),
  ];
}

/** The form for a thumb's optional word. */
export function commentForm(send, cancel) {
  const t = words();
  const field = h("input", { type: "text", maxlength: "2000", "aria-label": t.comment, placeholder: t.comment });
  const form = h("form", { class: "comment" }, field,
    h("button", { type: "submit", class: "text-button" }, t.sendComment),
    h("button", { type: "button", class: "text-button", onclick: cancel }, t.cancel),
    h("p", { class: "quiet" }, t.feedbackNote));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    send(field.value);
  });
  return form;
}
