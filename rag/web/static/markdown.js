// Writes answers as Markdown with footnotes, for the clipboard and for export.

import { blocks, pieces } from "./text.js";
import { day, words } from "./words.js";

/** A whole conversation as a Markdown document. */
export function conversation(title, entries) {
  const parts = [`# ${escape(title)}`, `*${escape(words().exported(day(new Date().toISOString())))}*`];
  entries.forEach((entry, index) => {
    parts.push(`## ${escape(entry.question.replace(/\s+/g, " ").trim())}`);
    if (entry.answer) parts.push(...answer(entry.answer, `${index + 1}-`));
    if (entry.state === "stopped") parts.push(`*${words().stopped}*`);
    if (entry.state === "broken") parts.push(`*${words().broken}*`);
  });
  return `${parts.join("\n\n")}\n`;
}

/** One answer as Markdown paragraphs; `prefix` keeps footnotes of several answers apart. */
export function answer(object, prefix = "") {
  const t = words();
  const cited = new Set(object.citations.map((citation) => citation.n));
  const parts = [body(object.answer, (n) => (cited.has(n) ? `[^${prefix}${n}]` : null))];
  if (object.withheld) parts.push(`*${t.withheld(object.withheld)}*`);
  if (object.nearest.length) {
    const list = object.nearest.map((page) => `- ${escape(page.title)}: ${address(page.url)}`);
    parts.push(`${t.nearest}:`, list.join("\n"));
  }
  const notes = object.citations.map((citation) => {
    const where = [citation.title, citation.section, citation.published && day(citation.published)];
    const quotes = [...new Set(citation.quotes?.length ? citation.quotes : [citation.quote])].map((quote) => `“${escape(quote.replace(/\s+/g, " ").trim())}”`);
    return `[^${prefix}${citation.n}]: ${where.filter(Boolean).map(escape).join(" · ")}: ${quotes.join(" ")} ${address(citation.url)}`;
  });
  if (notes.length) parts.push(notes.join("\n"));
  return parts;
}

function body(text, marker) {
  const inline = (start, end) =>
    pieces(text, start, end)
      .map((piece) => {
        const source = text.slice(piece.start, piece.end);
        if (piece.kind === "code") return `\`${source}\``;
        if (piece.kind === "maths") return piece.display ? `$$${piece.latex}$$` : `$${piece.latex}$`;
        if (piece.kind === "marker") return marker(piece.n) ?? escape(source);
        return escape(source);
      })
      .join("");
  return blocks(text)
    .map((block) => {
      if (block.kind === "code") return `\`\`\`${block.language}\n${text.slice(block.start, block.end)}\n\`\`\``;
      if (block.kind === "table") return block.rows.map((row) => escapeTags(row.text)).join("\n");
      if (block.kind === "list") {
        return block.items
          .map((item) => `${"  ".repeat(item.depth)}${item.number === null ? "-" : `${item.number}.`} ${inline(item.start, item.end)}`)
          .join("\n");
      }
      return inline(block.start, block.end);
    })
    .join("\n\n");
}

/** Text that shows as itself in Markdown. */
function escape(text) {
  return escapeTags(text.replace(/[\\`*_[\]#|~$]/g, "\\$&"));
}

function escapeTags(text) {
  return text.replace(/&/g, "&amp;").replace(/</g, "&lt;");
}

function address(url) {
  return /^https?:\/\/[^\s<>]+$/i.test(url) ? `<${url}>` : escape(url);
}
