// The interface in English and Spanish, and how it says dates and numbers.

import { recall, remember } from "./store.js";

const KEY = "footnote/language";

const WORDS = {
  en: {
    skip: "Skip to the question",
    collections: "Collections",
    conversation: "Conversation",
    otherLanguage: "Español",
    theme: { auto: "Colours: as the system", light: "Colours: light", dark: "Colours: dark" },
    about: "About",
    askBlog: "Ask the blog…",
    askPerson: (name) => `Ask ${name}…`,
    question: "Your question",
    send: "Send",
    stop: "Stop",
    editing: "Editing your last question.",
    cancel: "Cancel",
    hint: "Answers come from these pages only.",
    keys: "Enter sends, Shift+Enter breaks the line.",
    tooLong: (n) => `The question is too long by ${n} characters.`,
    machine: (name) => `This is not ${name} but a machine that reads one page and speaks in the first person. Every sentence carries a footnote to`,
    itsPage: "the page",
    promise: "Every sentence carries a footnote to the passage it came from. What the sources don’t say isn’t said.",
    pages: (n) => (n === 1 ? "1 page" : `${n} pages`),
    passages: (n) => (n === 1 ? "1 passage" : `${n} passages`),
    built: (date) => `indexed ${date}`,
    openers: "Questions to begin with",
    followUps: "Ask next",
    canAnswer: "These can be answered",
    stages: {
      sending: "Sending…",
      tabs: "Waiting: other tabs of this page go first…",
      slow: "Still trying to reach the server…",
      waiting: (place) => `Waiting: place ${place} in the queue`,
      starting: "Starting…",
      searching: "Searching the pages…",
      reading: (n) => (n === 0 ? "Reading the passages…" : n === 1 ? "Reading 1 passage…" : `Reading ${n} passages…`),
      writing: "Writing…",
      elsewhere: "Being answered in another tab…",
    },
    you: "You asked",
    answer: "Answer",
    stopped: "Stopped.",
    broken: "The connection broke before the answer was whole. Your conversation is kept.",
    unreachable: "The server can’t be reached. Your conversation is kept; ask again in a moment.",
    full: "Too many readers are waiting just now. Ask again in a moment.",
    tooMany: "You have asked more questions in a minute than this server answers. Wait a little.",
    failed: "No answer",
    refused: "Not in the sources",
    nearest: "What came nearest",
    searched: (query) => `Searched for: “${query}”`,
    withheld: (n) => (n === 1 ? "1 sentence was held back: no passage supports it." : `${n} sentences were held back: no passage supports them.`),
    copy: "Copy with footnotes",
    copied: "Copied.",
    notCopied: "The browser did not allow copying.",
    link: "Copy a link to this question",
    retry: "Ask again",
    edit: "Edit the question",
    up: "Good answer",
    down: "Bad answer",
    comment: "A word on why (optional)",
    sendComment: "Send",
    feedbackNote: "Kept in a file on this server, with the question and the answer.",
    thanks: "Thank you. It was saved on this server.",
    notSaved: "It could not be saved.",
    clear: "Clear",
    cleared: "The conversation was cleared.",
    undo: "Undo",
    export: "Export",
    exportTitle: "Export as Markdown with footnotes",
    exported: (date) => `Exported from Footnote on ${date}.`,
    noCollection: (name) => `There is no collection “${name}”; this is the first one.`,
    noStart: "The page could not be loaded from the server. It tries again by itself.",
    sources: "Sources",
    sourcesOf: "Sources of this answer",
    noSources: "The passages behind an answer appear here. Choose a footnote to read where a sentence comes from.",
    footnote: (n) => `Footnote ${n}`,
    footnotes: "Footnotes",
    open: "Open the page at this sentence",
    inLanguage: (name) => `in ${name}`,
    score: (value) => `similarity ${value}`,
    verbatim: "quoted word for word",
    undated: "undated",
    close: "Close",
    aboutText: "Ask a blog, or interview a person from their Wikipedia page. Each sentence of an answer is checked against the passages that were read, and gets its footnote from the one that supports it; a sentence without support is held back. Below a threshold nothing is written by the model at all.",
    aboutCollections: "Collections",
    aboutModels: "Models",
    aboutLabels: {},
    aboutLimits: "Limits",
    limits: [
      "A small language model on a processor: it can leave things out and put them clumsily. The footnote shows what the page says.",
      "It knows these pages only, as they were when they were indexed.",
      "Questions and answers in English and Spanish.",
    ],
    aboutPrivacy: "Privacy",
    privacy: "Nothing leaves this machine: search, model and page run on the server that showed you this, and neither asks any other. The conversation is kept in your browser and nowhere else.",
    privacyFeedback: "Thumbs, if you send any, are written to a file on that server.",
    mode: { blog: "blog", interview: "interview" },
    source: "Source",
    content: "Content",
    languages: "Languages",
    indexed: "Indexed",
  },
  es: {
    skip: "Ir a la pregunta",
    collections: "Colecciones",
    conversation: "Conversación",
    otherLanguage: "English",
    theme: { auto: "Colores: como el sistema", light: "Colores: claros", dark: "Colores: oscuros" },
    about: "Acerca de",
    askBlog: "Pregunta al blog…",
    askPerson: (name) => `Pregunta a ${name}…`,
    question: "Tu pregunta",
    send: "Enviar",
    stop: "Detener",
    editing: "Estás editando tu última pregunta.",
    cancel: "Cancelar",
    hint: "Las respuestas salen solo de estas páginas.",
    keys: "Intro envía, Mayús+Intro cambia de línea.",
    tooLong: (n) => `La pregunta se pasa en ${n} caracteres.`,
    machine: (name) => `No es ${name}, sino una máquina que lee una página y habla en primera persona. Cada frase lleva una nota a`,
    itsPage: "la página",
    promise: "Cada frase lleva una nota al pasaje del que procede. Lo que las fuentes no dicen no se dice.",
    pages: (n) => (n === 1 ? "1 página" : `${n} páginas`),
    passages: (n) => (n === 1 ? "1 pasaje" : `${n} pasajes`),
    built: (date) => `indexado el ${date}`,
    openers: "Preguntas para empezar",
    followUps: "Para seguir",
    canAnswer: "Estas sí tienen respuesta",
    stages: {
      sending: "Enviando…",
      tabs: "En espera: otras pestañas de esta página van antes…",
      slow: "Intentando aún conectar con el servidor…",
      waiting: (place) => `En espera: puesto ${place} de la cola`,
      starting: "Empezando…",
      searching: "Buscando en las páginas…",
      reading: (n) => (n === 0 ? "Leyendo los pasajes…" : n === 1 ? "Leyendo 1 pasaje…" : `Leyendo ${n} pasajes…`),
      writing: "Escribiendo…",
      elsewhere: "Se está respondiendo en otra pestaña…",
    },
    you: "Preguntaste",
    answer: "Respuesta",
    stopped: "Detenida.",
    broken: "La conexión se cortó antes de terminar la respuesta. Tu conversación está guardada.",
    unreachable: "No se puede conectar con el servidor. Tu conversación está guardada; vuelve a preguntar en un momento.",
    full: "Ahora mismo hay demasiados lectores en espera. Vuelve a preguntar en un momento.",
    tooMany: "Has hecho más preguntas por minuto de las que este servidor responde. Espera un poco.",
    failed: "Sin respuesta",
    refused: "No está en las fuentes",
    nearest: "Lo más cercano",
    searched: (query) => `Se buscó: «${query}»`,
    withheld: (n) => (n === 1 ? "Se retuvo 1 frase: ningún pasaje la respalda." : `Se retuvieron ${n} frases: ningún pasaje las respalda.`),
    copy: "Copiar con las notas",
    copied: "Copiado.",
    notCopied: "El navegador no permitió copiar.",
    link: "Copiar un enlace a esta pregunta",
    retry: "Preguntar de nuevo",
    edit: "Editar la pregunta",
    up: "Buena respuesta",
    down: "Mala respuesta",
    comment: "Una palabra sobre el motivo (opcional)",
    sendComment: "Enviar",
    feedbackNote: "Se guarda en un archivo de este servidor, con la pregunta y la respuesta.",
    thanks: "Gracias. Quedó guardado en este servidor.",
    notSaved: "No se pudo guardar.",
    clear: "Borrar",
    cleared: "Se borró la conversación.",
    undo: "Deshacer",
    export: "Exportar",
    exportTitle: "Exportar como Markdown con las notas",
    exported: (date) => `Exportado de Footnote el ${date}.`,
    noCollection: (name) => `No existe la colección «${name}»; esta es la primera.`,
    noStart: "No se pudo cargar la página desde el servidor. Lo vuelve a intentar sola.",
    sources: "Fuentes",
    sourcesOf: "Fuentes de esta respuesta",
    noSources: "Aquí aparecen los pasajes que respaldan una respuesta. Elige una nota para leer de dónde sale una frase.",
    footnote: (n) => `Nota ${n}`,
    footnotes: "Notas",
    open: "Abrir la página en esta frase",
    inLanguage: (name) => `en ${name}`,
    score: (value) => `similitud ${value}`,
    verbatim: "citado palabra por palabra",
    undated: "sin fecha",
    close: "Cerrar",
    aboutText: "Pregunta a un blog o entrevista a una persona a partir de su página de Wikipedia. Cada frase de una respuesta se coteja con los pasajes leídos y recibe su nota del que la respalda; una frase sin respaldo se retiene. Por debajo de un umbral, el modelo no escribe nada.",
    aboutCollections: "Colecciones",
    aboutModels: "Modelos",
    aboutLabels: { "Language model": "Modelo de lenguaje", Embedder: "Modelo de embeddings" },
    aboutLimits: "Límites",
    limits: [
      "Es un modelo de lenguaje pequeño en un procesador: puede omitir cosas y expresarlas con torpeza. La nota muestra lo que dice la página.",
      "Solo conoce estas páginas, tal como eran cuando se indexaron.",
      "Preguntas y respuestas en español e inglés.",
    ],
    aboutPrivacy: "Privacidad",
    privacy: "Nada sale de esta máquina: la búsqueda, el modelo y la página funcionan en el servidor que te muestra esto, y ninguno consulta a otro. La conversación se guarda en tu navegador y en ningún otro sitio.",
    privacyFeedback: "Los pulgares que envíes se escriben en un archivo de ese servidor.",
    mode: { blog: "blog", interview: "entrevista" },
    source: "Fuente",
    content: "Contenido",
    languages: "Idiomas",
    indexed: "Indexado",
  },
};

let current = choose();

function choose() {
  const kept = recall(KEY);
  if (kept in WORDS) return kept;
  const wished = navigator.languages.map((tag) => tag.slice(0, 2)).find((tag) => tag in WORDS);
  return wished ?? "en";
}

/** The interface's language, "en" or "es". */
export function language() {
  return current;
}

/** The words of the interface's language. */
export function words() {
  return WORDS[current];
}

// The reader's own variety of it, for dates and numbers.
const locale = () => navigator.languages.find((tag) => tag.startsWith(current)) ?? current;

export function switchLanguage() {
  current = current === "en" ? "es" : "en";
  remember(KEY, current);
}

/** "3 November 2025", or the text itself when it is no date. */
export function day(iso) {
  const date = new Date(iso.length === 10 ? `${iso}T12:00:00` : iso);
  if (Number.isNaN(date.getTime())) return iso;
  return new Intl.DateTimeFormat(locale(), { day: "numeric", month: "long", year: "numeric" }).format(date);
}

/** "3 months ago", or null when it is no date. */
export function age(iso) {
  const days = Math.round((new Date(`${iso}T12:00:00`) - Date.now()) / 86_400_000);
  if (Number.isNaN(days)) return null;
  const say = (amount, unit) => new Intl.RelativeTimeFormat(locale(), { numeric: unit === "day" ? "auto" : "always" }).format(amount, unit);
  if (Math.abs(days) < 31) return say(days, "day");
  if (Math.abs(days) < 365) return say(Math.round(days / 30.44), "month");
  return say(Math.trunc(days / 365.25), "year");
}

/** The name of a language by its code, "Spanish" or "español". */
export function languageName(code) {
  try {
    return new Intl.DisplayNames(locale(), { type: "language" }).of(code);
  } catch {
    return code;
  }
}

export function number(value, digits = 2) {
  return new Intl.NumberFormat(locale(), { minimumFractionDigits: digits, maximumFractionDigits: digits }).format(value);
}
