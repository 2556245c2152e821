// Renders the few kinds of markup that answers and passages have: fenced and inline code, tables,
// lists, formulas, footnote markers. Everything else, HTML and other Markdown included, is text.

import { h } from "./dom.js";
import { formula } from "./formula.js";

const FENCE = /^\s*(`{3,}|~{3,})\s*([\w+#.-]*)\s*$/;
const ROW = /^\s*\|.*\|\s*$/;
const RULE_ROW = /^\s*\|(\s*:?-+:?\s*\|)+\s*$/;
const HEADING = /^#{1,6}\s+(?=\S)/;
const ITEM = /^(\s*)([-*•]|\d{1,3}[.)])\s+(?=\S)/;
const INLINE = new RegExp(
  [
    "`(?<code>[^`\\n]+)`",
    "\\$\\$(?<shown>[^$]+)\\$\\$",
    "\\\\\\[(?<bracketed>[\\s\\S]+?)\\\\\\]",
    "\\\\\\((?<inner>[^\\n]+?)\\\\\\)",
    "(?<![\\w$\\\\])\\$(?<dollar>[^\\s$](?:[^$\\n]*[^\\s$\\\\])?)\\$(?![\\d$])",
    "\\[(?<marker>\\d{1,3})\\]",
  ].join("|"),
  "g",
);
// Between single dollars stands a formula only if it looks like one: prices don't.
const LOOKS_LIKE_MATHS = /[\\^_=<>{}+]|^[A-Za-z]$|^[A-Za-z]+\(/;

/**
 * The blocks of `text`, each with the range [start, end) of the source that it shows. Only a
 * passage has `headings`: there they are the index's own marks.
 */
export function blocks(text, headings = false) {
  const lines = [];
  let offset = 0;
  for (const line of text.split("\n")) {
    lines.push({ text: line, start: offset, end: offset + line.length });
    offset += line.length + 1;
  }
  const found = [];
  let at = 0;
  while (at < lines.length) {
    const line = lines[at];
    const fence = FENCE.exec(line.text);
    const heading = headings && HEADING.exec(line.text);
    if (!line.text.trim()) at += 1;
    else if (heading) {
      found.push({ kind: "heading", start: line.start + heading[0].length, end: line.end });
      at += 1;
    } else if (fence) {
      let close = at + 1;
      while (close < lines.length && !closes(lines[close].text, fence[1])) close += 1;
      const start = Math.min(line.end + 1, text.length);
      const end = close > at + 1 ? lines[close - 1].end : start;
      found.push({ kind: "code", language: fence[2], start, end });
      const after = close < lines.length ? lines[close].text.indexOf("[") : -1;
      if (after >= 0) found.push({ kind: "paragraph", start: lines[close].start + after, end: lines[close].end });
      at = close + 1;
    } else if (ROW.test(line.text)) {
      const first = at;
      while (at < lines.length && ROW.test(lines[at].text)) at += 1;
      found.push({ kind: "table", rows: lines.slice(first, at), start: line.start, end: lines[at - 1].end });
    } else if (ITEM.test(line.text)) {
      const items = [];
      const first = at;
      while (at < lines.length && lines[at].text.trim() && !FENCE.test(lines[at].text)) {
        const item = ITEM.exec(lines[at].text);
        if (item) {
          items.push({
            start: lines[at].start + item[0].length,
            end: lines[at].end,
            depth: Math.min(3, Math.floor(item[1].replaceAll("\t", "  ").length / 2)),
            number: /\d/.test(item[2]) ? parseInt(item[2], 10) : null,
          });
        } else items.at(-1).end = lines[at].end;
        at += 1;
      }
      found.push({ kind: "list", items, start: lines[first].start, end: items.at(-1).end });
    } else {
      const first = at;
      do at += 1;
      while (
        at < lines.length && lines[at].text.trim() && !FENCE.test(lines[at].text) &&
        !ROW.test(lines[at].text) && !ITEM.test(lines[at].text) && !(headings && HEADING.test(lines[at].text))
      );
      found.push({ kind: "paragraph", start: lines[first].start, end: lines[at - 1].end });
    }
  }
  return found;
}

// Behind a closing fence may stand the marker of the code above it, and the next sentence.
function closes(line, fence) {
  const bare = line.replace(/\s*\[\d{1,3}\].*$/, "").trim();
  return bare.startsWith(fence) && bare.replaceAll(fence[0], "") === "";
}

/** The inline pieces of [start, end): `{kind: text | code | maths | marker, start, end, …}`. */
export function pieces(text, start, end) {
  const found = [];
  let from = start;
  const part = text.slice(start, end);
  for (const match of part.matchAll(INLINE)) {
    const { code, shown, bracketed, inner, dollar, marker } = match.groups;
    if (dollar !== undefined && !LOOKS_LIKE_MATHS.test(dollar)) continue;
    const at = start + match.index;
    if (at > from) found.push({ kind: "text", start: from, end: at });
    from = at + match[0].length;
    if (code !== undefined) found.push({ kind: "code", start: at + 1, end: from - 1 });
    else if (marker !== undefined) found.push({ kind: "marker", n: Number(marker), start: at, end: from });
    else {
      const latex = (shown ?? bracketed ?? inner ?? dollar).trim();
      const display = shown !== undefined || bracketed !== undefined;
      found.push({ kind: "maths", latex, display, start: at, end: from });
    }
  }
  if (from < end) found.push({ kind: "text", start: from, end });
  return found;
}

/**
 * Elements that show `text`. `marker(n)` returns what stands for `[n]`, or null for text.
 * `highlight` is a range [start, end) of the source to mark.
 */
export function render(text, { marker = () => null, highlight = null, headings = false } = {}) {
  const plain = (start, end) => {
    if (!highlight || highlight[1] <= start || highlight[0] >= end) return [text.slice(start, end)];
    const from = Math.max(start, highlight[0]);
    const to = Math.min(end, highlight[1]);
    return [text.slice(start, from), h("mark", {}, text.slice(from, to)), text.slice(to, end)].filter((p) => p !== "");
  };
  const inline = (start, end) => {
    const shown = [];
    for (const piece of pieces(text, start, end)) {
      if (piece.kind === "text") shown.push(...plain(piece.start, piece.end));
      else if (piece.kind === "code") shown.push(h("code", {}, ...plain(piece.start, piece.end)));
      else if (piece.kind === "marker") {
        const button = marker(piece.n);
        if (button) keepTogether(shown, button);
        else shown.push(...plain(piece.start, piece.end));
      } else {
        const maths = formula(piece.latex, piece.display);
        const marked = highlight && highlight[0] < piece.end && highlight[1] > piece.start;
        shown.push(marked ? h("mark", {}, maths) : maths);
      }
    }
    return shown;
  };
  return blocks(text, headings).map((block) => {
    if (block.kind === "code") {
      return h("pre", { tabindex: "0", "data-language": block.language || null }, h("code", {}, ...plain(block.start, block.end)));
    }
    if (block.kind === "table") return table(text, block, inline);
    if (block.kind === "list") return list(block, inline);
    return h("p", { class: block.kind === "heading" ? "heading" : null }, ...inline(block.start, block.end));
  });
}

/** Adds a marker to its sentence's last word, so that no line begins with it. */
function keepTogether(shown, button) {
  let last = shown.at(-1);
  if (typeof last === "string" && !last.trim() && shown.at(-2)?.className === "kept") {
    shown.pop();
    last = shown.at(-1);
  }
  const word = typeof last === "string" ? /(\S{1,30})\s*$/.exec(last) : null;
  if (last?.className === "kept") last.append(button);
  else if (word) shown.splice(-1, 1, last.slice(0, word.index), h("span", { class: "kept" }, word[1], button));
  else shown.push(button);
}

function table(text, block, inline) {
  const headed = block.rows.length > 1 && RULE_ROW.test(block.rows[1].text);
  const cells = (row, tag) => h("tr", {}, ...cellRanges(row).map(([start, end]) => h(tag, tag === "th" ? { scope: "col" } : {}, ...inline(start, end))));
  const body = (headed ? block.rows.slice(1) : block.rows).filter((row) => !RULE_ROW.test(row.text));
  return h(
    "div",
    { class: "table", tabindex: "0" },
    h("table", {}, headed && h("thead", {}, cells(block.rows[0], "th")), h("tbody", {}, ...body.map((row) => cells(row, "td")))),
  );
}

function cellRanges(row) {
  const ranges = [];
  let start = row.text.indexOf("|") + 1;
  const last = row.text.lastIndexOf("|");
  let code = false;
  for (let i = start; i <= last; i += 1) {
    if (row.text[i] === "`") code = !code;
    if (i !== last && (row.text[i] !== "|" || row.text[i - 1] === "\\" || code)) continue;
    let [from, to] = [start, i];
    while (from < to && row.text[from] === " ") from += 1;
    while (to > from && row.text[to - 1] === " ") to -= 1;
    ranges.push([row.start + from, row.start + to]);
    start = i + 1;
  }
  return ranges;
}

function list(block, inline) {
  const numbered = block.items[0].number !== null;
  return h(
    numbered ? "ol" : "ul",
    {},
    ...block.items.map((item) =>
      h("li", { value: numbered && item.number !== null ? String(item.number) : null, class: item.depth ? `deeper-${item.depth}` : null },
        ...inline(item.start, item.end)),
    ),
  );
}

/** The range of `quote` in `passage`, white space aside, or null. */
export function find(passage, quote) {
  const words = quote.trim().split(/\s+/).filter(Boolean);
  if (!words.length) return null;
  const pattern = words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("\\s+");
  const match = new RegExp(pattern).exec(passage);
  return match ? [match.index, match.index + match[0].length] : null;
}
