// The sources of an answer: footnote list, quote on hover, and the panel with the passages.

import { h, icon, iconButton } from "./dom.js";
import { pageLink, sentenceLink } from "./links.js";
import { find, render } from "./text.js";
import { age, day, languageName, number, words } from "./words.js";

const WIDE = window.matchMedia("(min-width: 1000px)");

const margin = document.getElementById("margin");
const sheet = document.getElementById("sheet");
const bubble = document.getElementById("quote");
const panel = h("div", { class: "panel" });

let shown = null; // {key, answer, n, i}: the i-th marker of number n is open
let opener = null; // what had the focus before the panel took it

function path(citation) {
  return citation.section?.replaceAll(" > ", " › ");
}

/** "Section › subsection · 3 November 2025". */
export function where(citation) {
  return [path(citation), citation.published && day(citation.published)].filter(Boolean).join(" · ");
}

/** The words behind the i-th marker of a citation's number. */
export function quoteAt(citation, i) {
  return citation.quotes?.[i] ?? citation.quote;
}

/** The button that stands for the i-th `[n]` in an answer. */
export function marker(citation, i) {
  return h(
    "button",
    { type: "button", class: "marker", "data-n": String(citation.n), "data-i": String(i), "aria-label": words().footnote(citation.n) },
    String(citation.n),
  );
}

/** The footnotes under an answer. */
export function footnotes(answer) {
  if (!answer.citations.length) return null;
  return h(
    "ol",
    { class: "footnotes", "aria-label": words().footnotes },
    answer.citations.map((citation) => {
      const href = sentenceLink(citation.url, citation.quote);
      return h(
        "li",
        { value: String(citation.n) },
        h("span", { class: "number", "aria-hidden": "true" }, String(citation.n)),
        h("span", { class: "note" },
          h("button", { type: "button", class: "source", "data-n": String(citation.n) }, citation.title),
          where(citation) && h("span", { class: "where" }, where(citation)),
        ),
        href
          ? h("a", { class: "icon-button", href, target: "_blank", rel: "noopener noreferrer", "aria-label": `${words().open}: ${citation.title}`, title: words().open }, icon("out"))
          : h("span", { class: "address" }, citation.url),
      );
    }),
  );
}

/** Fills the panel with an answer's sources, passage `n` open at its i-th quote; `key` tells answers apart. */
export function fillPanel(key, answer, n = null, i = 0) {
  shown = answer ? { key, answer, n, i } : null;
  draw();
}

/** Shows the sources of an answer that is still growing as soon as it has some. */
export function growPanel(key, answer) {
  if (!answer.citations.length) return;
  if (shown?.key !== key) fillPanel(key, answer, answer.citations[0].n);
  else if (shown.answer.citations.length !== answer.citations.length) fillPanel(key, answer, shown.n, shown.i);
}

export function refreshPanel() {
  draw();
}

/** Opens passage `n` at its i-th quote, beside the conversation or over it on a narrow screen. */
export function openPassage(key, answer, n, i) {
  opener = document.activeElement;
  fillPanel(key, answer, n, i);
  if (!WIDE.matches && !sheet.open) {
    sheet.showModal();
    history.pushState({ sheet: true }, ""); // a phone's back button closes the sheet
  }
  const card = panel.querySelector(`[data-card="${n}"]`);
  card?.querySelector("h3")?.focus({ preventScroll: true });
  const target = card?.querySelector("mark") ?? card;
  const calm = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
  target?.scrollIntoView({ block: target === card ? "start" : "center", behavior: calm || !WIDE.matches ? "auto" : "smooth" });
}

function draw() {
  const t = words();
  margin.setAttribute("aria-label", t.sources);
  sheet.setAttribute("aria-label", t.sources);
  const head = h(
    "div",
    { class: "panel-head" },
    h("h2", {}, shown ? t.sourcesOf : t.sources),
    iconButton("close", t.close, () => sheet.close(), { class: "icon-button sheet-only" }),
  );
  if (!shown) {
    panel.replaceChildren(head, h("p", { class: "quiet" }, t.noSources));
    return;
  }
  panel.replaceChildren(head, ...shown.answer.citations.map((citation) => card(citation, citation.n === shown.n)));
}

function card(citation, open) {
  const t = words();
  const quote = quoteAt(citation, open ? shown.i : 0);
  const href = sentenceLink(citation.url, quote);
  const range = find(citation.passage, quote);
  const facts = [
    citation.published ? `${day(citation.published)}${age(citation.published) ? `, ${age(citation.published)}` : ""}` : t.undated,
    t.inLanguage(languageName(citation.language)),
    t.score(number(citation.score)),
    range && t.verbatim,
  ].filter(Boolean);
  const title = h("button", { type: "button", "aria-expanded": String(open), onclick: () => toggle(citation.n) },
    h("span", { class: "number" }, String(citation.n)), h("span", {}, citation.title));
  return h(
    "article",
    { class: open ? "card open" : "card", "data-card": String(citation.n) },
    h("h3", { tabindex: "-1" }, title),
    citation.section && h("p", { class: "path" }, path(citation)),
    h("p", { class: "facts" }, facts.join(" · ")),
    href
      ? h("p", { class: "open-page" }, h("a", { href, target: "_blank", rel: "noopener noreferrer" }, t.open, icon("out")))
      : h("p", { class: "address" }, citation.url),
    open ? passage(citation, quote, range) : h("blockquote", { lang: citation.language }, ...render(quote, { headings: true })),
  );
}

function passage(citation, quote, highlight) {
  const body = h("div", { class: "passage", lang: citation.language });
  // A passage that doesn't hold the quote letter by letter still shows it, above.
  if (!highlight) body.append(h("p", {}, h("mark", {}, quote)));
  body.append(...render(citation.passage, { highlight, headings: true }));
  return body;
}

function toggle(n) {
  fillPanel(shown.key, shown.answer, shown.n === n ? null : n);
  panel.querySelector(`[data-card="${n}"] h3 button`)?.focus();
}

/** A list of pages with links, for what came nearest to a refused question. */
export function nearest(answer) {
  if (!answer.nearest.length) return null;
  const t = words();
  return h(
    "div",
    { class: "nearest" },
    h("h3", {}, t.nearest),
    h("ul", {}, answer.nearest.map((page) => {
      const href = pageLink(page.url);
      return h("li", {},
        href ? h("a", { href, target: "_blank", rel: "noopener noreferrer" }, page.title, icon("out")) : h("span", {}, `${page.title} (${page.url})`),
        h("span", { class: "where" }, t.score(number(page.score))),
      );
    })),
  );
}

/** Shows the quote of a marker while it is hovered or focused. */
export function showQuote(button, citation) {
  const quote = quoteAt(citation, Number(button.dataset.i));
  bubble.replaceChildren(
    h("span", { class: "bubble-quote", lang: citation.language }, `“${shorten(quote.replace(/\s+/g, " ").trim(), 320)}”`),
    h("span", { class: "bubble-where" }, [citation.title, citation.published && day(citation.published)].filter(Boolean).join(" · ")),
  );
  bubble.hidden = false;
  button.setAttribute("aria-describedby", "quote");
  const box = button.getBoundingClientRect();
  const width = bubble.offsetWidth;
  const left = Math.max(8, Math.min(box.left + box.width / 2 - width / 2, document.documentElement.clientWidth - width - 8));
  const above = box.top > bubble.offsetHeight + 12;
  bubble.style.left = `${left}px`;
  bubble.style.top = `${above ? box.top - bubble.offsetHeight - 6 : box.bottom + 6}px`;
}

export function hideQuote() {
  bubble.hidden = true;
}

function shorten(text, most) {
  return text.length <= most ? text : `${text.slice(0, text.lastIndexOf(" ", most))} …`;
}

function place() {
  (WIDE.matches ? margin : sheet).append(panel);
  if (WIDE.matches && sheet.open) sheet.close();
}

sheet.addEventListener("click", (event) => {
  if (event.target === sheet) sheet.close(); // the backdrop
});
sheet.addEventListener("close", () => {
  if (history.state?.sheet) history.back();
  opener?.focus();
});
window.addEventListener("popstate", () => sheet.open && !history.state?.sheet && sheet.close());
margin.addEventListener("keydown", (event) => {
  if (event.key === "Escape") opener?.focus();
});
WIDE.addEventListener("change", place);
place();
