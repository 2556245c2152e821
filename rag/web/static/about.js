// The About panel, made from the collections' manifests and the models in use.

import { h, iconButton } from "./dom.js";
import { day, languageName, words } from "./words.js";

/** Opens the dialog. */
export function openAbout({ collections, about, feedback }) {
  const t = words();
  const dialog = document.getElementById("about");
  const facts = (pairs) => h("dl", {}, pairs.flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]));
  dialog.setAttribute("aria-labelledby", "about-title");
  dialog.replaceChildren(
    h("div", { class: "panel-head" }, h("h2", { id: "about-title" }, `${t.about} Footnote`), iconButton("close", t.close, () => dialog.close())),
    h("p", {}, t.aboutText),
    h("h3", {}, t.aboutCollections),
    ...collections.map((info) =>
      h("section", { class: "about-collection" }, h("h4", { lang: info.language }, info.title),
        facts([
          [t.content, `${t.mode[info.mode] ?? info.mode}, ${t.pages(info.pages)}, ${t.passages(info.chunks)}`],
          [t.languages, info.languages.map(languageName).join(", ")],
          [t.source, info.source],
          [t.indexed, day(info.built)],
        ]))),
    ...(Object.keys(about).length ? [h("h3", {}, t.aboutModels), facts(Object.entries(about).map(([name, value]) => [t.aboutLabels[name] ?? name, value]))] : []),
    h("h3", {}, t.aboutLimits),
    h("ul", {}, t.limits.map((text) => h("li", {}, text))),
    h("h3", {}, t.aboutPrivacy),
    h("p", {}, feedback ? `${t.privacy} ${t.privacyFeedback}` : t.privacy),
  );
  dialog.showModal();
  dialog.scrollTop = 0;
}

document.getElementById("about").addEventListener("click", (event) => {
  if (event.target === event.currentTarget) event.currentTarget.close();
});
