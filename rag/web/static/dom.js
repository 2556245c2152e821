// Builds elements. Whatever comes from a page, a reader or a model goes through here as text.

/** An element; strings among the children become text nodes, null and false are left out. */
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== false && child !== undefined));
  return element;
}

const ICONS = {
  send: "M4 10h11M10 5l5 5-5 5",
  stop: "M6 6h8v8H6z",
  copy: "M7 7h8v9H7zM5 12V4h7",
  retry: "M15.5 10a5.5 5.5 0 1 1-1.8-4.1M14 2.8v3.4h-3.4",
  edit: "M4 16l.8-3.4L13 4.4l2.6 2.6-8.2 8.2zM11.5 6l2.6 2.6",
  link: "M8.5 11.5l3-3M9 6.5l1.6-1.6a3 3 0 0 1 4.4 4.4L13.4 11M11 13.5l-1.6 1.6a3 3 0 0 1-4.4-4.4L6.6 9",
  up: "M7 9v7H4V9zM7 9l3-6c1.6 0 2 1.2 1.7 2.4L11.2 8H16l-1.3 8H7",
  down: "M7 11V4H4v7zM7 11l3 6c1.6 0 2-1.2 1.7-2.4L11.2 12H16l-1.3-8H7",
  out: "M8 5H5v10h10v-3M11 4h5v5M16 4l-7 7",
  close: "M5 5l10 10M15 5L5 15",
  info: "M10 9v5M10 6v.6M10 17.5a7.5 7.5 0 1 0 0-15 7.5 7.5 0 0 0 0 15z",
  auto: "M10 3a7 7 0 0 0 0 14zM10 3a7 7 0 0 1 0 14",
  light: "M10 6.5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7zM10 2v1.5M10 16.5V18M2 10h1.5M16.5 10H18M4.3 4.3l1.1 1.1M14.6 14.6l1.1 1.1M4.3 15.7l1.1-1.1M14.6 5.4l1.1-1.1",
  dark: "M16 11.6A6.5 6.5 0 0 1 8.4 4a6.5 6.5 0 1 0 7.6 7.6z",
};

/** A line drawing of 20 by 20, hidden from screen readers. */
export function icon(name) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 20 20");
  svg.setAttribute("class", `icon icon-${name}`);
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  path.setAttribute("d", ICONS[name]);
  svg.append(path);
  return svg;
}

/** A button with an icon and a name that is read out and shown as a tooltip. */
export function iconButton(name, label, action, attributes = {}) {
  return h(
    "button",
    { type: "button", class: "icon-button", "aria-label": label, title: label, onclick: action, ...attributes },
    icon(name),
  );
}

/**
 * Makes `target`'s children like `source`'s and keeps every node that needs no change: focus,
 * selection and hover survive while text streams in.
 */
export function morph(target, source) {
  const wanted = [...source.childNodes];
  for (let i = 0; i < wanted.length; i += 1) {
    const have = target.childNodes[i];
    const want = wanted[i];
    if (!have) target.append(want);
    else if (have.nodeName !== want.nodeName || have.nodeType !== want.nodeType) have.replaceWith(want);
    else if (have.nodeType === Node.TEXT_NODE) {
      if (have.data !== want.data) have.data = want.data;
    } else if (!(have.dataset?.latex !== undefined && have.dataset.latex === want.dataset.latex)) {
      for (const { name } of [...have.attributes]) if (!want.hasAttribute(name)) have.removeAttribute(name);
      for (const { name, value } of want.attributes) if (have.getAttribute(name) !== value) have.setAttribute(name, value);
      morph(have, want);
    }
  }
  while (target.childNodes.length > wanted.length) target.lastChild.remove();
}
