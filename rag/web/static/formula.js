// Formulas as MathML. The server converts the LaTeX; until then, and where it can't, the source
// stands there as code.

import { h } from "./dom.js";
import { root } from "./client.js";

const NAMESPACE = "http://www.w3.org/1998/Math/MathML";
const known = new Map();

/** An element that shows the formula. */
export function formula(latex, display) {
  const key = `${display ? "d" : "i"}${latex}`;
  const holder = h("span", { class: display ? "maths shown" : "maths", "data-latex": key });
  if (!known.has(key)) known.set(key, load(latex, display));
  const ready = known.get(key);
  if (ready instanceof Promise) {
    holder.append(h("code", {}, latex));
    ready.then((tree) => fill(holder, latex, tree));
  } else fill(holder, latex, ready);
  return holder;
}

async function load(latex, display) {
  const key = `${display ? "d" : "i"}${latex}`;
  const query = new URLSearchParams({ latex, display });
  let tree = null;
  try {
    const response = await fetch(new URL(`page/formula?${query}`, root));
    if (response.ok) tree = await response.json();
  } catch {
    known.delete(key); // offline for the moment: the next look may find it
    return null;
  }
  known.set(key, tree);
  return tree;
}

function fill(holder, latex, tree) {
  // The source stays reachable for copying and for readers whose software has no MathML.
  holder.replaceChildren(tree ? build(tree) : h("code", {}, latex));
  holder.title = latex;
}

function build([name, attributes, children]) {
  const element = document.createElementNS(NAMESPACE, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children.map((child) => (typeof child === "string" ? child : build(child))));
  return element;
}
