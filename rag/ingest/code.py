"""Code blocks as they were typed: text exact, numbers and buttons out, the language where told."""

from __future__ import annotations

import re

from lxml import etree
from lxml.html import HtmlElement

from rag.ingest.dom import classes, drop, local, replace, text_of
from rag.ingest.text import visible

_GUTTER = re.compile(
    r"^(?:linenos?|lineno\w*|line-?numbers?(?:-rows)?|line-?num|gutter|rouge-gutter|hljs-ln-numbers"
    r"|hljs-ln-line-number|lnt|ln|blob-num|ec-gutter|react-syntax-highlighter-line-number|lntd-gutter)$",
    re.I,
)
_LINE = {"line", "code-line", "token-line", "ec-line", "view-line", "hljs-ln-code", "blob-code"}
_BLOCKS = {"div", "p", "li", "tr", "table", "figure", "section"}
_LANGUAGE = re.compile(
    r"^(?:language|lang|highlight-source|highlight|brush:?|source)-([\w+#.-]+)$", re.I
)
_SOURCE_CLASSES = {"sourcecode", "hljs", "highlight", "src", "prettyprint", "codehilite", "chroma"}
_NOT_LANGUAGES = {
    "none", "plain", "plaintext", "text", "txt", "default", "nohighlight", "auto", "undefined",
    "numbersource", "linenums", "copyable", "notranslate", "literal-block", "wrapper", "source",
}  # fmt: skip


def settle_code(root: HtmlElement) -> None:
    """Replaces every code block by `<pre data-fn-lang="…">text</pre>`, its text ready to be fenced.

    Knows <pre>, highlighters that put code into a table with a column of numbers, and <code> that
    breaks its lines with <br>.
    """
    for table in list(root.iter("table")):
        if any("blob-code" in classes(cell) for cell in table.iter("td")):
            _put(table)
            continue
        pres = list(table.iter("pre"))
        # A table of one row around code is a highlighter's frame: numbers left, code right.
        if pres and len(list(table.iter("tr"))) == 1 and not list(table.iter("th")):
            _put_pre(table, pres[-1])
    for pre in list(root.iter("pre")):
        if pre.getparent() is not None and not any(local(p) == "pre" for p in pre.iterancestors()):
            _put_pre(pre, pre)
    for code in list(root.iter("code")):
        if code.find(".//br") is not None and not any(
            local(p) == "pre" for p in code.iterancestors()
        ):
            _put(code)


def fenced(code: str, language: str = "") -> str:
    """Markdown fence around code, longer than any run of back-ticks in it."""
    longest = max((len(run) for run in re.findall(r"`{3,}", code)), default=2)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{code}\n{fence}"


def _put_pre(element: HtmlElement, pre: HtmlElement) -> None:
    if element is not pre:
        pre.tail = None
    # Poems and letters are set in <pre> too, but carry no highlighting; they stay as they look.
    _put(element, pre)


def _put(element: HtmlElement, content: HtmlElement | None = None) -> None:
    content = element if content is None else content
    language = _language(content, element)
    for part in [part for part in content.iter() if isinstance(part.tag, str)]:
        numbers = any(_GUTTER.match(name) for name in classes(part))
        if part is not content and (numbers or local(part) == "button"):
            drop(part)
    code = visible(_code_text(content)).replace("\r\n", "\n").replace("\r", "\n")
    code = re.sub(r"\A(?:[ \t]*\n)+|\s+\Z", "", code)
    if not code.strip():
        drop(element)
        return
    pre = etree.Element("pre")
    pre.text = code
    if language:
        pre.set("data-fn-lang", language)
    replace(element, pre)


def _code_text(element: etree._Element) -> str:
    parts: list[str] = []
    _collect(element, parts)
    text = "".join(parts)
    lines = [e for e in element.iter() if isinstance(e.tag, str) and classes(e) & _LINE]
    if len(lines) > 1 and "\n" not in text.strip():
        return "\n".join(text_of(line) for line in lines)
    return text


def _collect(element: etree._Element, parts: list[str]) -> None:
    """Text of the element with <br> and the ends of block elements as line breaks."""
    parts.append(element.text or "")
    for child in element:
        if local(child) == "br":
            parts.append("\n")
        elif isinstance(child.tag, str):
            block = local(child) in _BLOCKS or "display:block" in (
                child.get("style") or ""
            ).replace(" ", "")
            if block:
                _break(parts)
            _collect(child, parts)
            if block:
                _break(parts)
        parts.append(child.tail or "")


def _break(parts: list[str]) -> None:
    """Ends the line unless it is already ended."""
    for part in reversed(parts):
        if part:
            if not part.endswith("\n"):
                parts.append("\n")
            return


def _language(content: etree._Element, outer: etree._Element) -> str:
    """The language that the page gives for a code block, in lower case; empty where it gives none."""
    inner = content.find(".//code")
    chain = [e for e in (inner, content, outer) if e is not None]
    chain += list(outer.iterancestors())[:3]
    for element in chain:
        for name in ("data-lang", "data-language"):
            if element.get(name):
                return _known(element.get(name) or "")
        names = (element.get("class") or "").replace("brush: ", "brush-").replace(";", " ").split()
        for name in names:
            if (match := _LANGUAGE.match(name)) and (found := _known(match[1])):
                return found
        lowered = [name.lower() for name in names]
        if set(lowered) & {"sourcecode", "hljs"}:
            for name in lowered:
                if name not in _SOURCE_CLASSES and (found := _known(name)):
                    return found
        if element is not outer and local(element) in {"article", "main", "body", "section"}:
            break
    return ""


def _known(name: str) -> str:
    name = name.strip().lower()
    return name if re.fullmatch(r"[a-z][\w+#.-]{0,19}", name) and name not in _NOT_LANGUAGES else ""
