"""Presentation MathML (MathML 3, https://www.w3.org/TR/MathML3/chapter3.html) as LaTeX."""

from __future__ import annotations

from lxml import etree

from rag.ingest.dom import local

_SYMBOLS = {
    "≠": r"\neq", "≤": r"\leq", "≥": r"\geq", "±": r"\pm", "∓": r"\mp", "×": r"\times",
    "÷": r"\div", "⋅": r"\cdot", "·": r"\cdot", "∗": "*", "∘": r"\circ", "⊗": r"\otimes",
    "⊕": r"\oplus", "∑": r"\sum", "∏": r"\prod", "∫": r"\int", "∬": r"\iint", "∭": r"\iiint",
    "∮": r"\oint", "∂": r"\partial", "∇": r"\nabla", "∞": r"\infty", "√": r"\surd",
    "∈": r"\in", "∉": r"\notin", "∋": r"\ni", "⊂": r"\subset", "⊆": r"\subseteq",
    "⊃": r"\supset", "⊇": r"\supseteq", "∪": r"\cup", "∩": r"\cap", "∅": r"\emptyset",
    "∖": r"\setminus", "∀": r"\forall", "∃": r"\exists", "¬": r"\neg", "∧": r"\land",
    "∨": r"\lor", "→": r"\to", "←": r"\leftarrow", "↔": r"\leftrightarrow",
    "⇒": r"\Rightarrow", "⇐": r"\Leftarrow", "⇔": r"\Leftrightarrow", "⟹": r"\implies",
    "⟺": r"\iff", "⟶": r"\longrightarrow", "↦": r"\mapsto", "≈": r"\approx", "≡": r"\equiv",
    "∼": r"\sim", "≃": r"\simeq", "≅": r"\cong", "∝": r"\propto", "≪": r"\ll", "≫": r"\gg",
    "⟨": r"\langle", "⟩": r"\rangle", "⌊": r"\lfloor", "⌋": r"\rfloor", "⌈": r"\lceil",
    "⌉": r"\rceil", "‖": r"\|", "∥": r"\parallel", "⊥": r"\perp", "…": r"\dots",
    "⋯": r"\cdots", "⋮": r"\vdots", "⋱": r"\ddots", "′": "'", "″": "''", "ℓ": r"\ell",
    "ℏ": r"\hbar", "ℜ": r"\Re", "ℑ": r"\Im", "ℵ": r"\aleph", "†": r"\dagger", "−": "-",
    "{": r"\{", "}": r"\}", "%": r"\%", "#": r"\#", "&": r"\&", "_": r"\_", "$": r"\$",
    "α": r"\alpha", "β": r"\beta", "γ": r"\gamma", "δ": r"\delta", "ϵ": r"\epsilon",
    "ε": r"\varepsilon", "ζ": r"\zeta", "η": r"\eta", "θ": r"\theta", "ϑ": r"\vartheta",
    "ι": r"\iota", "κ": r"\kappa", "λ": r"\lambda", "μ": r"\mu", "ν": r"\nu", "ξ": r"\xi",
    "π": r"\pi", "ϖ": r"\varpi", "ρ": r"\rho", "ϱ": r"\varrho", "σ": r"\sigma",
    "ς": r"\varsigma", "τ": r"\tau", "υ": r"\upsilon", "ϕ": r"\phi", "φ": r"\varphi",
    "χ": r"\chi", "ψ": r"\psi", "ω": r"\omega", "Γ": r"\Gamma", "Δ": r"\Delta",
    "Θ": r"\Theta", "Λ": r"\Lambda", "Ξ": r"\Xi", "Π": r"\Pi", "Σ": r"\Sigma",
    "Υ": r"\Upsilon", "Φ": r"\Phi", "Ψ": r"\Psi", "Ω": r"\Omega",
}  # fmt: skip
_BLACKBOARD = dict(zip("ℂℍℕℙℚℝℤ", "CHNPQRZ", strict=True))
_FUNCTIONS = frozenset(
    "arccos arcsin arctan arg cos cosh cot coth csc deg det dim exp gcd hom inf ker lg lim liminf "
    "limsup ln log max min Pr sec sin sinh sup tan tanh".split()
)
_ACCENTS = {
    "^": "hat", "ˆ": "hat", "~": "tilde", "˜": "tilde", "¯": "bar", "‾": "overline",
    "―": "overline", "_": "bar", "→": "vec", "⃗": "vec", "˙": "dot", ".": "dot", "¨": "ddot",
    "´": "acute", "`": "grave", "˘": "breve", "ˇ": "check", "⏞": "overbrace",
}  # fmt: skip
_STYLES = {
    "bold": "mathbf", "double-struck": "mathbb", "script": "mathcal", "fraktur": "mathfrak",
    "sans-serif": "mathsf", "monospace": "mathtt", "bold-italic": "boldsymbol",
}  # fmt: skip
_INVISIBLE = {"\u2061", "\u2062", "\u2063", "\u2064", ""}


def latex(element: etree._Element) -> str:
    """LaTeX of a <math> element or one inside it, without delimiters. Unknown tags give their parts."""
    tag = local(element)
    parts = [child for child in element if isinstance(child.tag, str)]
    if tag in {"mi", "mn", "mo", "mtext", "ms"}:
        return _token(element, tag)
    if tag == "mspace":
        return ""
    if tag in {"annotation", "annotation-xml"}:
        return ""
    if tag == "mfrac" and len(parts) == 2:
        command = r"\binom" if element.get("linethickness") in {"0", "0pt", "0px"} else r"\frac"
        return f"{command}{_group(parts[0])}{_group(parts[1])}"
    if tag == "msqrt":
        return rf"\sqrt{{{_row(parts)}}}"
    if tag == "mroot" and len(parts) == 2:
        return rf"\sqrt[{latex(parts[1])}]{_group(parts[0])}"
    if tag in {"msub", "msup", "msubsup", "munder", "mover", "munderover"}:
        return _scripts(tag, parts)
    if tag == "mmultiscripts":
        return _multiscripts(parts)
    if tag == "mtable":
        rows = [
            " & ".join(latex(cell) for cell in row if isinstance(cell.tag, str))
            for row in parts
            if local(row) in {"mtr", "mlabeledtr"}
        ]
        return r"\begin{matrix}" + r" \\ ".join(rows) + r"\end{matrix}"
    if tag == "mfenced":
        separators = (element.get("separators", ",") or " ")[0]
        inside = f"{separators} ".join(latex(part) for part in parts)
        return f"{element.get('open', '(')}{inside}{element.get('close', ')')}"
    if tag == "menclose":
        return rf"\boxed{{{_row(parts)}}}"
    if tag == "mphantom":
        return ""
    return _row(parts)


def _token(element: etree._Element, tag: str) -> str:
    text = " ".join("".join(element.itertext()).split())
    if text in _INVISIBLE:
        return ""
    if tag in {"mtext", "ms"}:
        return rf"\text{{{text}}}" if text.strip(" .,;:") else text
    if tag == "mn":
        return text
    if text in _FUNCTIONS:
        return "\\" + text
    if len(text) > 1 and text.isalpha() and tag == "mi":
        return rf"\operatorname{{{text}}}"
    symbols = (
        _SYMBOLS.get(c) or (rf"\mathbb{{{_BLACKBOARD[c]}}}" if c in _BLACKBOARD else c)
        for c in text
    )
    out = " ".join(symbols) if any(c in _SYMBOLS for c in text) else "".join(text)
    if len(text) == 1 and text in _BLACKBOARD:
        out = rf"\mathbb{{{_BLACKBOARD[text]}}}"
    style = _STYLES.get(element.get("mathvariant", ""))
    return rf"\{style}{{{out}}}" if style else out


def _row(parts: list[etree._Element]) -> str:
    return " ".join(text for text in (latex(part) for part in parts) if text)


def _group(element: etree._Element) -> str:
    return "{" + latex(element) + "}"


def _scripts(tag: str, parts: list[etree._Element]) -> str:
    if len(parts) < 2:
        return _row(parts)
    base, marks = latex(parts[0]), [latex(part) for part in parts[1:]]
    raw = "".join(parts[-1].itertext()).strip()
    if tag == "mover":
        if raw in _ACCENTS:
            return rf"\{_ACCENTS[raw]}{{{base}}}"
        if not base.startswith("\\"):
            return rf"\overset{{{marks[0]}}}{{{base}}}"
    if tag == "munder":
        if raw in {"_", "̲", "¯", "―", "‾"}:
            return rf"\underline{{{base}}}"
        if raw == "⏟":
            return rf"\underbrace{{{base}}}"
        if not base.startswith("\\"):
            return rf"\underset{{{marks[0]}}}{{{base}}}"
    # A script on more than one symbol needs its base in braces.
    if " " in base:
        base = "{" + base + "}"
    if tag in {"msup", "mover"}:
        return base + (marks[0] if set(marks[0]) == {"'"} else f"^{{{marks[0]}}}")
    if tag in {"msub", "munder"}:
        return f"{base}_{{{marks[0]}}}"
    return f"{base}_{{{marks[0]}}}" + (f"^{{{marks[1]}}}" if len(marks) > 1 else "")


def _multiscripts(parts: list[etree._Element]) -> str:
    """Base, then pairs of lower and upper scripts; those after <mprescripts/> stand before it."""
    if not parts:
        return ""
    before, after = "", ""
    target_before = False
    scripts = parts[1:]
    index = 0
    while index < len(scripts):
        if local(scripts[index]) == "mprescripts":
            target_before = True
            index += 1
            continue
        pair = [latex(part) for part in scripts[index : index + 2]]
        text = "".join(
            f"{mark}{{{script}}}" for mark, script in zip("_^", pair, strict=False) if script
        )
        if target_before:
            before += text
        else:
            after += text
        index += 2
    return ("{}" + before if before else "") + latex(parts[0]) + after
