// Addresses that open a page at the very sentence, and addresses that fill in a question.

import { root } from "./client.js";

let published = [];

/** The public addresses of sites whose pages this server holds, in its order. */
export function setPublished(sites) {
  published = sites;
}

/** What opens a page: its address, or this server's copy of it; null when it may not be opened. */
export function pageLink(address) {
  if (!/^https?:\/\//i.test(address)) return null;
  let url;
  try {
    url = new URL(address);
  } catch {
    return null;
  }
  const site = published.findIndex((one) => url.href === one || url.href.startsWith(`${one}/`));
  if (site < 0) return url.href;
  return new URL(`source/${site}/${url.href.slice(published[site].length + 1)}`, root).href;
}

const WHOLE = 12; // a quote of at most so many words is searched whole
const ENDS = 5; // of a longer one the first and the last words

/** The page's address with a text fragment for the quote; null when it may not be opened. */
export function sentenceLink(address, quote) {
  const page = pageLink(address);
  const fragment = page && textFragment(quote);
  if (!fragment) return page;
  // "#section:~:text=…" opens the section where the words are not found.
  return `${page}${page.includes("#") ? "" : "#"}:~:text=${fragment}`;
}

function textFragment(quote) {
  // The browser searches the page as shown: fences, ticks and list marks don't stand there.
  const lines = quote
    .split("\n")
    .flatMap((row) => (/^\s*\|.*\|\s*$/.test(row) ? row.split("|") : [row]))
    .map((part) => part.replace(/^\s*(```.*|#{1,6}\s+|[-*•]\s+|\d+[.)]\s+)/, "").replaceAll("`", " "))
    .filter((part) => part.trim() && !/^[\s:-]+$/.test(part));
  // A formula looks different there: the longest part without one is searched.
  const parts = quote.includes("$") ? [lines.join(" ").split("$").sort((a, b) => b.length - a.length)[0]] : lines;
  const [first, last] = [parts.at(0), parts.at(-1)].map((part) => (part ?? "").trim().split(/\s+/).filter(Boolean));
  if (!first.length) return null;
  // Whole, a text is found within one paragraph or list item only; by its ends, across them.
  if (parts.length === 1 && first.length <= WHOLE) return encode(first);
  return `${encode(first.slice(0, ENDS))},${encode(last.slice(-ENDS))}`;
}

// "-" and "," have a meaning in a text fragment; encodeURIComponent leaves the hyphen.
function encode(words) {
  return encodeURIComponent(words.join(" ")).replaceAll("-", "%2D");
}

/** The address of this page with a question filled in. */
export function questionLink(collection, question) {
  const url = new URL(location.href);
  url.hash = "";
  url.search = new URLSearchParams({ collection, q: question }).toString();
  return url.href;
}
