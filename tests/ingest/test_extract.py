"""What comes out of a page: each kind of content whole, each kind of junk not at all."""

# ruff: noqa: E501 (markup and sentences are easier to compare on one line)

from __future__ import annotations

import pytest

from rag.ingest.extract import extract
from rag.ingest.refuse import NotAnArticle
from rag.types import Document

URL = "https://blog.example/posts/one"
FILLER = (
    "Retrieval finds the passages that a question is about, and the model then reads nothing but "
    "those. What it may say is bounded by what they say, which is the whole point of the exercise."
)
PROSE = "".join(f"<p>{FILLER} Paragraph number {n} ends here.</p>" for n in range(3))


def document(body: str, head: str = "", html: str = 'lang="en"', url: str = URL) -> Document:
    markup = f"<!doctype html><html {html}><head><title>One</title>{head}</head><body>{body}</body></html>"
    return extract(markup.encode(), url)


def article(inner: str, **changes: str) -> Document:
    return document(f"<main><article><h1>One</h1>{PROSE}{inner}{PROSE}</article></main>", **changes)


def block(inner: str, kind: str) -> str:
    """The text of the only block of a kind."""
    found = [b.text for b in article(inner).blocks if b.kind == kind]
    assert len(found) == 1, found
    return found[0]


# structure


def test_headings_become_section_paths_with_their_anchors() -> None:
    page = article(
        '<h2 id="setup">Setup<a class="anchor" href="#setup">#</a></h2><p>How it is set up.</p>'
        '<h3><a href="#tools">Tools</a></h3><p>What it is set up with.</p>'
        '<h2><a name="use"></a>Use ¶</h2><p>How it is used.</p>'
    )
    sections = {b.text: (b.section, b.anchor) for b in page.blocks}
    assert sections["How it is set up."] == (("Setup",), "setup")
    assert sections["What it is set up with."] == (("Setup", "Tools"), "tools")
    assert sections["How it is used."][1] == "use"
    assert "## Setup" in page.text
    assert "### Tools" in page.text


def test_the_title_isnt_repeated_and_headings_over_nothing_are_left_out() -> None:
    page = article("<h2>Empty</h2><h2>Full</h2><p>Here is something to read.</p>")
    assert "# One" not in page.text
    assert "Empty" not in page.text
    assert "## Full" in page.text


def test_a_small_article_comes_out_once() -> None:
    page = document(
        "<article><h1>Tea</h1><p>Green tea wants water of eighty degrees.</p>"
        "<p>Black tea wants it boiling.</p></article>"
    )
    assert page.text.count("Green tea") == 1
    assert page.text.count("boiling") == 1


def test_the_same_page_again_and_again_stays_whole() -> None:
    pages = {article("<p>The same each time.</p>").text for _ in range(5)}
    assert len(pages) == 1


def test_lists_keep_their_nesting_and_numbers() -> None:
    text = block(
        "<ol start=3><li>Third<ul><li>Inner one</li><li>Inner two</li></ul></li><li>Fourth</li>"
        "<li value=9>Ninth</li></ol>",
        "list",
    )
    assert text == "3. Third\n  - Inner one\n  - Inner two\n4. Fourth\n9. Ninth"


def test_a_list_of_links_within_the_text_is_kept() -> None:
    text = block(
        "<ul><li><a href=/a>First tool</a></li><li><a href=/b>Second tool</a></li></ul>", "list"
    )
    assert text == "- First tool\n- Second tool"


def test_code_in_a_list_item_stays_code_and_the_numbers_go_on() -> None:
    page = article("<ol><li>Run this:<pre>make  run</pre></li><li>Look at it.</li></ol>")
    kinds = [(b.kind, b.text) for b in page.blocks if b.kind in {"list", "code"}]
    assert kinds == [
        ("list", "1. Run this:"),
        ("code", "```\nmake  run\n```"),
        ("list", "2. Look at it."),
    ]


def test_definitions_keep_term_and_explanation_together() -> None:
    assert block("<dl><dt>Recall</dt><dd>Share of what was found.</dd></dl>", "list") == (
        "- Recall: Share of what was found."
    )


def test_table_rows_carry_their_headings() -> None:
    text = block(
        "<table><thead><tr><th>Model</th><th>Size</th></tr></thead><tbody>"
        "<tr><td>Qwen</td><td>0.5 B</td></tr><tr><td>Phi</td><td>3.8 B</td></tr></tbody></table>",
        "table",
    )
    assert text == "Model: Qwen | Size: 0.5 B\nModel: Phi | Size: 3.8 B"


def test_spanning_cells_count_for_all_their_rows() -> None:
    text = block(
        "<table><tr><th>Year</th><th colspan=2>Score</th></tr><tr><th></th><th>mean</th><th>best</th></tr>"
        "<tr><td rowspan=2>2020</td><td>1</td><td>2</td></tr><tr><td>3</td><td>4</td></tr></table>",
        "table",
    )
    assert (
        text
        == "Year: 2020 | Score mean: 1 | Score best: 2\nYear: 2020 | Score mean: 3 | Score best: 4"
    )


def test_a_layout_table_is_no_table() -> None:
    page = document(f"<table><tr><td><h1>One</h1>{PROSE}</td></tr></table>")
    assert "Paragraph number 2 ends here." in page.text
    assert all(b.kind == "paragraph" for b in page.blocks)


def test_captions_asides_and_quotations_are_kept() -> None:
    page = article(
        "<figure><img src=a.png alt=x><figcaption>A cat on a mat.</figcaption></figure>"
        "<aside><p>Note that the mat is red, which the picture can't show.</p></aside>"
        "<blockquote><p>To be or not to be.</p><footer>Hamlet</footer></blockquote>"
    )
    kinds = {b.text: b.kind for b in page.blocks}
    assert kinds["A cat on a mat."] == "caption"
    assert "Note that the mat is red" in page.text
    assert kinds["> To be or not to be."] == "quote"


# code


def test_code_is_exact_with_its_language() -> None:
    text = block(
        '<pre class="highlight"><code class="language-python"><span class="k">def</span> f(x):\n'
        '    <span class="k">return</span> x &lt; 1\n\n\n# done\n</code></pre>',
        "code",
    )
    assert text == "```python\ndef f(x):\n    return x < 1\n\n\n# done\n```"


@pytest.mark.parametrize(
    "markup",
    [
        # a table with a column of numbers
        '<table class="highlighttable"><tr><td class="linenos"><pre>1\n2</pre></td>'
        "<td class=code><pre>a = 1\n  b = 2</pre></td></tr></table>",
        # numbers and a button within
        '<pre><button>Copy</button><span class="lineno">1</span>a = 1\n<span class="lineno">2</span>  b = 2</pre>',
        # one element per line
        "<pre><code><div class=line>a = 1</div><div class=line>  b = 2</div></code></pre>",
        '<pre><span class="line">a = 1</span><span class="line">  b = 2</span></pre>',
        "<pre>a = 1<br>  b = 2</pre>",
        "<p><code>a = 1<br>  b = 2</code></p>",
        "<pre>a = 1\r\n  b = 2\r\n</pre>",
    ],
)
def test_highlighters_leave_the_code_alone(markup: str) -> None:
    assert block(markup, "code").strip("`").strip("\n") == "a = 1\n  b = 2"


def test_code_with_fences_in_it_gets_a_longer_one() -> None:
    assert block("<pre>```\nx\n```</pre>", "code").startswith("````\n```")


def test_inline_code_is_plain_text_unescaped() -> None:
    page = article("<p>Set <code>max_output_tokens</code> and <code>a * b</code> to 3 &amp; 4.</p>")
    assert "Set max_output_tokens and a * b to 3 & 4." in page.text


# formulas

KATEX = (
    '<span class="katex"><span class="katex-mathml"><math xmlns="http://www.w3.org/1998/Math/MathML">'
    "<semantics><mrow><msup><mi>e</mi><mi>x</mi></msup></mrow>"
    '<annotation encoding="application/x-tex">e^x</annotation></semantics></math></span>'
    '<span class="katex-html" aria-hidden="true"><span class="base"><span>e</span><span>x</span></span></span></span>'
)
MATHML = "<math><mfrac><mn>1</mn><mi>n</mi></mfrac></math>"


@pytest.mark.parametrize(
    ("markup", "latex"),
    [
        (KATEX, "$e^x$"),
        (f'<span class="katex-display">{KATEX}</span>', "$$e^x$$"),
        (MATHML, r"$\frac{1}{n}$"),
        ('<math display="block"><msqrt><mn>2</mn></msqrt></math>', r"$$\sqrt{2}$$"),
        ('<math alttext="{\\displaystyle a+b}"><mi>a</mi></math>', "$a+b$"),
        (
            '<span class="MathJax_Preview">x2</span><span class="MathJax" id="m1"><span>x2</span></span>'
            '<script type="math/tex">x_2</script>',
            "$x_2$",
        ),
        (
            '<span class="MathJax_Display"><span class="MathJax">y</span></span>'
            '<script type="math/tex; mode=display">y</script>',
            "$$y$$",
        ),
        (
            '<mjx-container class="MathJax" jax="CHTML" display="true"><mjx-math aria-hidden="true">'
            f"<mjx-mi>n</mjx-mi></mjx-math><mjx-assistive-mml>{MATHML}</mjx-assistive-mml></mjx-container>",
            r"$$\frac{1}{n}$$",
        ),
        (
            '<span class="mwe-math-element"><span class="mwe-math-mathml-inline" style="display: none">'
            '<math><semantics><mi>a</mi><annotation encoding="application/x-tex">{\\displaystyle a_{1}}'
            '</annotation></semantics></math></span><img class="mwe-math-fallback-image-inline" alt="a"></span>',
            "$a_{1}$",
        ),
        ('<img class="latex" alt="\\pi r^2" src="x.png">', r"$\pi r^2$"),
    ],
)
def test_a_formula_comes_out_once_as_latex(markup: str, latex: str) -> None:
    page = article(f"<p>Before it {markup} after it.</p>")
    assert f"Before it {latex} after it." in page.text


def test_a_formula_in_a_table_cell() -> None:
    text = block(
        f"<table><tr><th>Rule</th><th>Value</th></tr><tr><td>mean</td><td>{MATHML}</td></tr></table>",
        "table",
    )
    assert text == r"Rule: mean | Value: $\frac{1}{n}$"


def test_mathml_becomes_latex() -> None:
    page = article(
        "<p>It is <math><munderover><mo>∑</mo><mrow><mi>k</mi><mo>=</mo><mn>1</mn></mrow><mi>n</mi></munderover>"
        "<msubsup><mi>a</mi><mi>k</mi><mn>2</mn></msubsup><mo>≤</mo><mi>sin</mi><mi>α</mi></math>.</p>"
    )
    assert r"It is $\sum_{k = 1}^{n} a_{k}^{2} \leq \sin \alpha$." in page.text


def test_powers_of_ten_keep_their_meaning() -> None:
    assert "about 10^6 cells" in article("<p>It has about 10<sup>6</sup> cells in all.</p>").text


# characters


@pytest.mark.parametrize(
    ("encoding", "head", "header"),
    [
        ("latin-1", '<meta charset="iso-8859-1">', None),
        (
            "latin-1",
            '<meta http-equiv="Content-Type" content="text/html; charset=ISO-8859-1">',
            "text/html",
        ),
        ("latin-1", "", "text/html; charset=iso-8859-1"),
        ("cp1252", "", None),
        ("utf-8", "", None),
        ("utf-8", '<meta charset="iso-8859-1">', "text/html; charset=iso-8859-1"),
        ("utf-8-sig", "", "text/html; charset=latin-1"),
        ("utf-16", "", None),
    ],
)
def test_encodings_declared_undeclared_and_misdeclared(
    encoding: str, head: str, header: str | None
) -> None:
    words = "El corazón del niño latía más rápido; mañana habrá señales, según él."
    markup = f"<html><head>{head}<title>Año</title></head><body><article><p>{words}</p><p>{words} Fin.</p></article>"
    page = extract(markup.encode(encoding), URL, header)
    assert words in page.text
    assert page.title == "Año"


def test_invisible_characters_are_gone_and_letters_composed() -> None:
    page = article(
        "<p>zero\u200bwidth soft\u00adhyphen \ue8b8icon cafe\u0301&nbsp;ok\ufeff and so on.</p>"
    )
    assert "zerowidth softhyphen icon café ok and so on." in page.text


# junk


@pytest.mark.parametrize(
    "junk",
    [
        '<div class="cookie-banner"><p>JUNK we use cookies to make this better for you and us.</p></div>',
        '<div id="onetrust-consent-sdk"><h2>JUNK</h2><p>JUNK your privacy matters to us all.</p></div>',
        '<section id="comments"><h2>3 JUNK</h2><article><p>JUNK what a great and useful post.</p></article></section>',
        '<div id="disqus_thread"><p>JUNK be the first to say something about it.</p></div>',
        '<div class="share-buttons"><p>JUNK share this with all the people you know.</p></div>',
        '<div class="related-posts"><h3>JUNK</h3><ul><li><a href=/x>JUNK other post</a></li></ul></div>',
        '<aside class="newsletter-signup"><p>JUNK get one mail a week from us.</p></aside>',
        '<nav class="toc"><p>JUNK</p><ul><li><a href="#a">JUNK</a></li></ul></nav>',
        '<h2>Table of contents</h2><ul><li><a href="#a">JUNK part a</a></li><li><a href="#b">JUNK part b</a></li></ul>'
        "<h2 id=a>Part a</h2><p>Text of a.</p><h2 id=b>Part b</h2><p>Text of b.</p>",
        '<p>Good <span class="material-icons">JUNK</span> text goes on and on here.</p>',
        '<p>Good <i class="material-symbols-outlined">JUNK</i> text goes on and on here.</p>',
        '<p style="display:none">JUNK that nobody can see on the page.</p>',
        "<p hidden>JUNK that nobody can see on the page.</p>",
        '<span class="sr-only">JUNK for screen readers only</span>',
        '<div class="breadcrumbs"><a href=/>JUNK home</a> / <a href=/x>JUNK</a></div>',
        "<script>JUNK = 1</script><style>.JUNK {}</style><template><p>JUNK</p></template><noscript>JUNK</noscript>",
        "<footer><p>JUNK all rights reserved by someone or other.</p></footer>",
        "<p>As shown elsewhere<sup><a href='#fn1'>JUNK</a></sup> it works.</p>".replace(
            "JUNK", "7JK"
        )
        + "<!-- JUNK -->",
        "<form><label>JUNK</label><input><button>JUNK send</button></form>",
        "<dialog open><p>JUNK please subscribe to go on reading.</p></dialog>",
    ],
)
def test_junk_stays_out_and_the_text_stays_in(junk: str) -> None:
    page = article(junk)
    assert "JUNK" not in page.text
    assert "7JK" not in page.text
    assert page.text.count("Paragraph number 2 ends here.") == 2


def test_headers_and_navigation_stay_out() -> None:
    page = document(
        "<header><div class=logo>JUNK</div><nav><ul><li><a href=/>JUNK</a></li></ul></nav></header>"
        f"<div class=layout><aside class=sidebar><h3>JUNK</h3><p>JUNK about me, a person who writes.</p></aside>"
        f"<div class=post><h1>One</h1>{PROSE}</div></div><footer>JUNK</footer>"
    )
    assert "JUNK" not in page.text


def test_class_names_cant_take_the_article_away() -> None:
    for name in (
        "post has-sidebar",
        "comments-open",
        "content-with-toc",
        "cookie-recipes",
        "social-media",
    ):
        page = document(f'<div class="{name}"><h1>One</h1>{PROSE}</div>')
        assert "Paragraph number 2 ends here." in page.text, name


def test_a_page_in_a_form_is_read() -> None:
    assert (
        "Paragraph number 0"
        in document(f"<form><div id=content><h1>One</h1>{PROSE}</div></form>").text
    )


# refusals


@pytest.mark.parametrize(
    ("markup", "reason"),
    [
        ("", "empty"),
        ("<html><body></body></html>", "no text"),
        ("<title>404 Not Found</title><h1>Not Found</h1><p>The page that you asked for isn't on this server.</p>", "an error page"),
        ("<title>Página no encontrada - Blog</title><h1>Página no encontrada</h1><p>Lo sentimos, esta página no existe o se ha movido a otro lugar.</p>", "an error page"),
        ("<title>Just a moment...</title><h1>blog.example</h1><p>Checking that you are a person; this may take a few seconds.</p>", "an error page"),
        ("<title>Blog</title><div><p>We use cookies. Accept all cookies or manage your cookie consent to go on.</p></div>", "a notice in place of the page"),
    ],
)  # fmt: skip
def test_pages_without_a_text_are_refused(markup: str, reason: str) -> None:
    with pytest.raises(NotAnArticle) as caught:
        extract(markup.encode(), URL)
    assert caught.value.reason == reason


def test_an_article_about_errors_is_an_article() -> None:
    page = document(
        f"<article><h1>Why 404 pages matter</h1>{PROSE}{PROSE}</article>",
        "<title>Why 404 pages matter</title>",
    )
    assert "Paragraph number 1" in page.text


@pytest.mark.parametrize(
    "url", ["https://blog.example/tag/python", "https://blog.example/", "https://blog.example/blog"]
)
def test_a_list_of_posts_is_refused(url: str) -> None:
    teasers = "".join(
        f'<article><h2><a href="/posts/{n}">Post number {n}</a></h2><p>{FILLER} <a href="/posts/{n}">Read more</a></p></article>'
        for n in range(6)
    )
    with pytest.raises(NotAnArticle, match="lists other pages"):
        document(f"<main><h1>Posts</h1>{teasers}</main>", url=url)


def test_a_post_with_links_to_others_under_it_is_no_list() -> None:
    others = "".join(f'<div><h3><a href="/posts/{n}">Post {n}</a></h3></div>' for n in range(6))
    head = '<script type="application/ld+json">{"@type": "Blog"}</script>'
    page = document(f"<main><h1>One</h1>{PROSE}{PROSE}<section>{others}</section></main>", head)
    assert "Paragraph number 1" in page.text


def test_a_bare_list_of_links_is_refused() -> None:
    items = "".join(
        f'<li><a href="/posts/{n}">How the number {n} came to be a post</a> 2024-01-0{n}</li>'
        for n in range(1, 9)
    )
    with pytest.raises(NotAnArticle):
        document(f"<main><h1>Archive</h1><ul>{items}</ul></main>")


# hostile markup


@pytest.mark.parametrize(
    "markup",
    [
        "<p>zero &#0; byte &#x1f; and surrogate &#xD800; and more words to read here</p>",
        "<p>\x00control\x01 characters and more words to read in this paragraph</p>",
        '<p>a <a rel="tag" href="http://[bad/tags/x">broken link</a> and more words to read here</p>',
        '<link rel="canonical" href="http://[bad">',
        '<link rel="alternate" hreflang="es" href="http://[bad">',
        "<ol start=x><li value=y>words</li></ol>",
        "<table><tr><td rowspan=99999 colspan=99999>a</td><td>b</td></tr><tr><td>c</td></tr></table>",
        "<math><mfrac></mfrac><msup></msup><mmultiscripts></mmultiscripts></math>",
        "<math><mi<ol>x</mi></math>",
        "<div>" * 3000 + "deep words" + "</div>" * 3000,
        "<span>" * 3000 + "deep words",
        "<ul><li>" * 3000 + "deep words",
    ],
)
def test_broken_markup_doesnt_break_the_build(markup: str) -> None:
    assert "Paragraph number 0 ends here." in article(f"<div>{markup}</div>").text
