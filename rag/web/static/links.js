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
  const line = quote
    .split("\n")
    .map((part) => part.replace(/^\s*(```.*|#{1,6}\s+|[-*•]\s+|\d+[.)]\s+)/, "").replace(/[`|]/g, " "))
    .filter((part) => part.trim() && !/^[\s:-]+$/.test(part))
    .join(" ");
  const shown = line.split("$").sort((a, b) => b.length - a.length)[0];
  const all = shown.trim().split(/\s+/).filter(Boolean);
  if (!all.length) return null;
  if (all.length <= WHOLE) return encode(all);
  return `${encode(all.slice(0, ENDS))},${encode(all.slice(-ENDS))}`;
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
