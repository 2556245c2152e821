"""Pages shaped as the widely used blog engines shape them: the post comes out, and only the post."""

# ruff: noqa: E501 (markup is easier to compare on one line)

from __future__ import annotations

import pytest

from rag.ingest.extract import extract

BODY = (
    "<p>Small models answer well when they are given the right sentences to read, and badly when they aren't.</p>"
    "<h2 id='why'>Why it works</h2><p>The sentences hold the answer; the model only has to find and say it.</p>"
    "<pre><code class='language-python'>x = 1\nif x:\n    print(x)</code></pre>"
    "<ul><li>Read less.</li><li>Check more.</li></ul>"
    "<p>That is all there is to it, and it took a year of measuring to believe it.</p>"
)
NAV = (
    "<nav><ul><li><a href='/'>JUNK home</a></li><li><a href='/about'>JUNK about</a></li></ul></nav>"
)
META = '<meta property="article:published_time" content="2024-05-06T07:08:09+00:00">'

THEMES = {
    "wordpress": f"""<body class="post-template-default single single-post has-sidebar comments-open">
<header class="site-header"><h1 class="site-title"><a href="/">JUNK Notes</a></h1>{NAV}</header>
<main><article class="post type-post hentry category-x"><header class="entry-header"><h1 class="entry-title">Read less</h1>
<div class="entry-meta"><span class="posted-on">Posted on <time class="entry-date published" datetime="2024-05-06">May 6, 2024</time></span></div></header>
<div class="entry-content">{BODY}<div class="sharedaddy sd-sharing-enabled"><h3>JUNK Share this:</h3><ul><li><a href="#">JUNK Tweet</a></li></ul></div>
<div id="jp-relatedposts" class="jp-relatedposts"><h3>JUNK Related</h3></div></div>
<footer class="entry-footer">JUNK <a rel="tag" href="/tag/llm/">llm</a></footer></article>
<nav class="navigation post-navigation"><a href="/x">JUNK Previous: other post</a></nav>
<div id="comments" class="comments-area"><h2>JUNK 2 thoughts</h2><ol class="comment-list"><li class="comment"><article><p>JUNK great post, thank you so much for it!</p></article></li></ol>
<div id="respond"><h3>JUNK Leave a Reply</h3><form><textarea></textarea></form></div></div></main>
<aside id="secondary" class="widget-area"><section class="widget"><h2>JUNK Recent Posts</h2><ul><li><a href="/y">JUNK one</a></li></ul></section></aside>
<footer class="site-footer">JUNK Proudly powered by something</footer></body>""",
    "ghost": f"""<body class="post-template"><div class="site-wrapper"><header class="gh-head"><a href="/">JUNK</a>{NAV}</header>
<main id="site-main"><article class="article post"><header class="article-header gh-canvas"><section class="article-tag"><a href="/tag/llm/">JUNK llm</a></section>
<h1 class="article-title">Read less</h1><div class="article-byline"><time datetime="2024-05-06">May 6, 2024</time> <span class="byline-reading-time">JUNK 3 min read</span></div></header>
<section class="gh-content gh-canvas">{BODY}</section></article>
<section class="footer-cta"><h2>JUNK Sign up for more</h2><a href="#/portal">JUNK Subscribe</a></section>
<aside class="read-more-wrap"><article class="post-card"><h2><a href="/z">JUNK other post to read next</a></h2><p>JUNK teaser text of the other post.</p></article></aside></main></div></body>""",
    "hugo": f"""<body class="single"><header class="header">{NAV}</header><main class="main"><article class="post-single">
<header class="post-header"><div class="breadcrumbs"><a href="/">JUNK Home</a></div><h1 class="post-title">Read less</h1><div class="post-meta"><span title="2024-05-06">May 6, 2024</span>&nbsp;·&nbsp;JUNK 3 min</div></header>
<div class="toc"><details><summary>JUNK Table of Contents</summary><div class="inner"><ul><li><a href="#why">JUNK Why it works</a></li></ul></div></details></div>
<div class="post-content">{BODY}</div><footer class="post-footer"><ul class="post-tags"><li><a href="/tags/llm/">llm</a></li></ul><nav class="paginav"><a href="/a">JUNK « Prev</a></nav>
<ul class="share-buttons"><li><a href="https://x.com/share">JUNK</a></li></ul></footer></article></main><footer class="footer">JUNK</footer></body>""",
    "jekyll": f"""<body><header class="site-header" role="banner"><div class="wrapper"><a class="site-title" href="/">JUNK</a>{NAV}</div></header>
<main class="page-content" aria-label="Content"><div class="wrapper"><article class="post h-entry" itemscope itemtype="http://schema.org/BlogPosting">
<header class="post-header"><h1 class="post-title p-name" itemprop="name headline">Read less</h1><p class="post-meta"><time class="dt-published" datetime="2024-05-06T00:00:00+00:00" itemprop="datePublished">May 6, 2024</time></p></header>
<div class="post-content e-content" itemprop="articleBody">{BODY}</div><div id="disqus_thread">JUNK</div><a class="u-url" href="/x" hidden>JUNK</a></article></div></main>
<footer class="site-footer h-card"><p>JUNK my notes on things</p></footer></body>""",
    "docusaurus": f"""<body class="navigation-with-keyboard"><div role="region"><a class="skipToContent_x" href="#main">JUNK Skip to main content</a></div>
<nav class="navbar navbar--fixed-top"><div class="navbar__inner"><a href="/">JUNK</a></div></nav><div class="main-wrapper"><div class="container"><div class="row">
<aside class="col col--3"><nav class="sidebar_x"><div>JUNK Recent posts</div><ul><li><a href="/b">JUNK</a></li></ul></nav></aside>
<main class="col col--7"><article itemscope itemtype="https://schema.org/BlogPosting"><header><h1 class="title_x" itemprop="headline">Read less</h1><div><time datetime="2024-05-06T00:00:00.000Z" itemprop="datePublished">May 6, 2024</time></div></header>
<div id="__blog-post-container" class="markdown" itemprop="articleBody">{BODY.replace("Why it works", 'Why it works<a href="#why" class="hash-link" aria-label="Direct link">​</a>')}</div>
<footer class="row"><b>JUNK Tags:</b><ul class="tags_x"><li><a class="tag_x" href="/blog/tags/llm">JUNK</a></li></ul></footer></article><nav class="pagination-nav"><a href="/c">JUNK Older post</a></nav></main>
<div class="col col--2"><div class="tableOfContents_x thin-scrollbar"><ul class="table-of-contents"><li><a href="#why">JUNK Why it works</a></li></ul></div></div></div></div></div><footer class="footer">JUNK</footer></body>""",
    "blogger": f"""<body><div id="header"><h1 class="title"><a href="/">JUNK Notes</a></h1></div><div id="main"><div class="blog-posts hfeed">
<h2 class="date-header"><span>Monday, May 6, 2024</span></h2><div class="post hentry"><h3 class="post-title entry-title">Read less</h3>
<div class="post-body entry-content" itemprop="description articleBody">{BODY}</div><div class="post-footer">JUNK Posted by me at 7:08 <div class="post-share-buttons">JUNK</div></div></div>
<div class="comments" id="comments"><h4>JUNK No comments:</h4></div></div></div><div id="sidebar-wrapper"><div class="widget BlogArchive"><h2>JUNK Archive</h2></div></div></body>""",
    "astro": f"""<body><header><a href="/">JUNK</a>{NAV}</header><main><article class="prose"><h1>Read less</h1><p class="meta"><time datetime="2024-05-06">6 May 2024</time></p>
<div class="post-content">{BODY}<p>Done <span class="material-symbols-outlined">JUNKbeenhere</span> at last, and written down for later.</p></div></article></main><footer>JUNK</footer></body>""",
    "plain": f"""<body><p><a href="/">JUNK home</a> | <a href="/rss">JUNK rss</a></p><h1>Read less</h1><p><i>2024-05-06</i></p>{BODY}<hr><p><a href="/prev">JUNK ← older</a> <a href="/next">JUNK newer →</a></p></body>""",
}


@pytest.mark.parametrize("theme", THEMES)
def test_the_post_and_only_the_post(theme: str) -> None:
    head = f"<head><title>Read less | Notes</title>{META}</head>"
    page = extract(
        f"<!doctype html><html lang='en'>{head}{THEMES[theme]}</html>".encode(),
        "https://n.example/read-less",
    )
    assert "JUNK" not in page.text
    assert page.title == "Read less"
    assert page.published == "2024-05-06"
    assert "Small models answer well" in page.text
    assert "it took a year of measuring" in page.text
    assert "- Read less.\n- Check more." in page.text
    assert "```python\nx = 1\nif x:\n    print(x)\n```" in page.text
    assert any(b.section == ("Why it works",) and b.anchor == "why" for b in page.blocks)
