"""What a reader does with the page, in headless Chromium."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import pytest
from playwright.sync_api import Page, expect

from tests.web.conftest import Site, ask, until
from tests.web.scripted import HOSTILE, SECOND_QUOTE, citation

pytestmark = pytest.mark.browser

Visit = Callable[..., Page]
GATE = "How is the gate calibrated?"


def test_an_opener_is_answered_with_footnotes(visit: Visit, site: Site) -> None:
    page = visit()
    expect(page).to_have_title("Notes on small language models · Footnote")
    page.click(f".chip:has-text('{GATE}')")
    page.wait_for_selector("#send")
    expect(page.locator(".asked")).to_contain_text(GATE)
    expect(page.locator(".answer .marker")).to_have_text(["1", "1", "2"])
    expect(page.locator(".footnotes .source")).to_have_text(
        ["Choosing a threshold that means something", "Eight bits are enough"]
    )
    expect(page.locator(".withheld")).to_contain_text("1 sentence was held back")
    expect(page.locator(".searched")).to_have_count(0)
    assert site.answerer.asked[0][:2] == (GATE, "blog")


def test_the_wait_is_explained(visit: Visit, site: Site) -> None:
    site.answerer.pace = 0.06
    page = visit()
    ask(page, GATE, wait=False)
    for stage in ("Searching", "Reading", "Writing"):
        expect(page.locator(".stage")).to_contain_text(stage)
        expect(page.locator(".label")).to_have_count(0)
    page.wait_for_selector("#send")
    expect(page.locator(".stage")).to_have_count(0)


def test_the_place_in_the_queue_is_shown(visit: Visit, site: Site) -> None:
    first, second, third, fourth = visit(), visit(), visit(), visit()
    ask(first, "a silent one", wait=False)
    expect(first.locator(".stage")).to_contain_text("Reading")
    ask(second, "second", wait=False)
    expect(second.locator(".stage")).to_contain_text("place 1 in the queue")
    ask(third, "third", wait=False)
    expect(third.locator(".stage")).to_contain_text("place 2 in the queue")
    ask(fourth, "fourth", wait=False)
    expect(fourth.locator(".stage")).to_contain_text("place 3 in the queue")
    first.click("#stop")
    for page in (second, third, fourth):
        page.wait_for_selector("#send")
        expect(page.locator(".marker")).to_have_count(3)
    assert [question for question, _, _ in site.answerer.asked] == [
        "a silent one", "second", "third", "fourth",
    ]  # fmt: skip


def test_hover_and_focus_show_the_quote(visit: Visit) -> None:
    page = visit()
    ask(page, GATE)
    quote = page.locator("#quote")
    page.locator(".marker").first.hover()
    expect(quote).to_contain_text("Thresholds on that score are not portable")
    page.mouse.move(5, 5)
    expect(quote).to_be_hidden()
    page.focus("#clear")
    page.keyboard.press("Tab")
    expect(page.locator(".marker").first).to_be_focused()
    expect(quote).to_be_visible()
    expect(page.locator(".marker").first).to_have_attribute("aria-describedby", "quote")
    page.keyboard.press("Escape")
    expect(quote).to_be_hidden()


@pytest.mark.parametrize("width", [1280, 390])
def test_a_click_opens_the_passage_with_the_quote_marked(visit: Visit, width: int) -> None:
    page = visit(width=width)
    ask(page, GATE)
    page.locator(".marker").first.click()
    panel = page.locator("#sheet" if width < 1000 else "#margin")
    card = panel.locator(".card.open")
    expect(card).to_be_visible()
    expect(card.locator("mark")).to_have_text(
        "Thresholds on that score are not portable between encoders, "
        "so they are calibrated on each collection."
    )
    expect(card.locator(".passage")).to_contain_text("Dense retrieval ranks passages")
    expect(card.locator(".path")).to_have_text("Retrieval › Calibrating the gate")
    facts = card.locator(".facts")
    expect(facts).to_contain_text("3 November 2025")
    expect(facts).to_contain_text("ago")
    expect(facts).to_contain_text("English")
    expect(facts).to_contain_text("0.83")
    page.keyboard.press("Escape")
    expect(page.locator(".marker").first).to_be_focused()
    if width < 1000:
        expect(panel).to_be_hidden()


def test_the_link_opens_the_page_at_the_sentence(visit: Visit) -> None:
    page = visit()
    ask(page, GATE)
    link = page.locator(".footnotes a").first
    address = link.get_attribute("href") or ""
    before, _, directive = address.partition(":~:")
    assert before == "https://blog.example/posts/thresholds#calibration"
    start, end = parse_qs(directive, keep_blank_values=True)["text"][0].split(",")
    assert start == "Thresholds on that score are"
    assert end == "are calibrated on each collection."
    assert link.get_attribute("target") == "_blank"
    assert "noopener" in (link.get_attribute("rel") or "")
    page.locator(".marker").last.click()
    expect(page.locator(".card.open .heading")).to_have_text("Scales")
    code = unquote(page.locator(".footnotes a").last.get_attribute("href") or "")
    assert code == "https://blog.example/posts/int8#:~:text=scale = abs(w).max(axis=1) / 127"


@pytest.mark.parametrize("width", [1280, 390])
def test_each_marker_shows_marks_and_links_to_its_own_sentence(visit: Visit, width: int) -> None:
    page = visit(width=width)
    ask(page, GATE)
    panel = page.locator("#sheet" if width < 1000 else "#margin")
    first, second = page.locator(".marker[data-n='1']").all()
    if width > 1000:
        second.hover()
        expect(page.locator("#quote")).to_contain_text("A score of one means the same direction")
    for marker, quote, start in (
        (second, SECOND_QUOTE, "A score of one means"),
        (first, citation(1).quote, "Thresholds on that score are"),
    ):
        marker.click()
        card = panel.locator(".card.open")
        expect(card.locator("mark")).to_have_text(quote)
        expect(card.locator(".facts")).to_contain_text("word for word")
        fragment = unquote(card.locator(".open-page a").get_attribute("href") or "")
        assert f":~:text={start}," in fragment
        page.keyboard.press("Escape")


def test_a_quote_that_its_passage_lacks_is_not_called_verbatim(visit: Visit, site: Site) -> None:
    page = visit()
    ask(page, f"hostile {HOSTILE}")
    page.locator(".marker").click()
    expect(page.locator(".card.open .facts")).to_contain_text("word for word")
    kept = only_entry(page)
    kept["answer"]["citations"][0]["quote"] = "made up"
    store(page, kept)
    page.reload()
    page.locator(".marker").click()
    expect(page.locator(".card.open mark")).to_have_text("made up")
    expect(page.locator(".card.open .facts")).not_to_contain_text("word for word")


def test_a_marker_without_a_source_stays_text_and_one_behind_code_works(visit: Visit) -> None:
    page = visit()
    ask(page, "hello")
    kept = only_entry(page)
    kept["answer"] |= {
        "answer": "One. [1] Nine. [9]\n```python\nw[1]\n``` [1] After the code. [1]",
        "citations": [asdict(citation(1))],
    }
    store(page, kept)
    page.reload()
    expect(page.locator(".answer .marker")).to_have_text(["1", "1", "1"])
    expect(page.locator(".answer p").first).to_contain_text("Nine. [9]")
    expect(page.locator(".answer pre")).to_have_text("w[1]")


def test_a_source_on_this_machine_opens_here_at_the_sentence_and_runs_nothing(
    visit: Visit, site: Site, tmp_path: Path
) -> None:
    filler = "<p>Something else.</p>" * 200
    page_of_site = tmp_path / "thresholds.html"
    page_of_site.write_text(
        "<!doctype html><title>untouched</title><script>document.title = 'ran'</script>"
        f"<style>p {{ color: rgb(1, 2, 3) }}</style>{filler}<p>Thresholds on that score are not "
        f"portable between encoders, so they are calibrated on each collection.</p>{filler}"
    )
    site.stop()
    site.published = {
        "https://blog.example": lambda path: page_of_site if path == "posts/thresholds" else None
    }
    site.start()
    page = visit(may_fail=True)
    ask(page, GATE)
    with page.context.expect_page() as opened:
        page.locator(".footnotes a").first.click()
    source = opened.value
    expect(source.locator("p", has_text="Thresholds")).to_be_in_viewport()
    assert source.url.startswith(f"{site.url}/source/0/posts/thresholds#calibration")
    assert source.title() == "untouched"
    expect(source.locator("p").first).to_have_css("color", "rgb(1, 2, 3)")
    assert page.request.get(f"{site.url}/source/0/other").status == 404
    assert page.request.get(f"{site.url}/source/1/posts/thresholds").status == 404


def test_text_fragments_are_encoded(visit: Visit) -> None:
    page = visit()
    made = page.evaluate(
        """async () => {
          const { sentenceLink } = await import("./page/links.js");
          return [
            sentenceLink("https://a.example/p", "Short, well-known & plain."),
            sentenceLink("https://a.example/p#", "one"),
            sentenceLink("https://a.example/p", "- use `x` and\\n- keep $y^2$ out of the longest part"),
            sentenceLink("https://a.example/p", "- one two\\n- three four five six seven eight"),
            sentenceLink("https://a.example/p", "| int8 | 1 byte |"),
            sentenceLink("javascript:alert(1)", "x"),
            sentenceLink("data:text/html,x", "x"),
          ];
        }"""
    )
    assert made == [
        "https://a.example/p#:~:text=Short%2C%20well%2Dknown%20%26%20plain.",
        "https://a.example/p#:~:text=one",
        "https://a.example/p#:~:text=out%20of%20the%20longest%20part",
        "https://a.example/p#:~:text=one%20two,four%20five%20six%20seven%20eight",
        "https://a.example/p#:~:text=int8,1%20byte",
        None,
        None,
    ]


def test_a_refusal_says_what_came_nearest_and_what_can_be_asked(visit: Visit) -> None:
    page = visit()
    ask(page, "What is the best pizza dough?")
    expect(page.locator(".answer.refused .label")).to_have_text("Not in the sources")
    links = page.locator(".nearest a")
    expect(links).to_have_count(2)
    expect(links.first).to_have_attribute("href", "https://blog.example/posts/thresholds")
    expect(page.locator(".nearest li").first).to_contain_text("0.31")
    expect(page.locator(".footnotes")).to_have_count(0)
    page.click(".chip:has-text('Why int8')")
    page.wait_for_selector("#send")
    expect(page.locator(".entry")).to_have_count(2)


def test_follow_ups_are_never_repeated(visit: Visit) -> None:
    page = visit()
    ask(page, "Why int8 and not int4")
    expect(page.locator(".chip")).to_have_text([GATE, "What is lost by int4?"])
    ask(page, GATE)
    expect(page.locator(".chip")).to_have_text(["What topics does this blog cover?"])
    ask(page, "show me code")  # would offer what the first answer offered
    expect(page.locator(".chip")).to_have_count(0)
    page.reload()
    expect(page.locator(".chip")).to_have_count(0)


def test_the_query_that_was_searched_is_shown_when_it_differs(visit: Visit) -> None:
    page = visit()
    ask(page, "and the follow up?")
    expect(page.locator(".searched")).to_have_text(
        "Searched for: “how is the gate calibrated for Spanish questions”"
    )


def test_code_tables_and_formulas_are_shown_and_prices_are_not_formulas(visit: Visit) -> None:
    page = visit()
    ask(page, "show me code")
    answer = page.locator(".answer")
    expect(answer.locator("pre code")).to_contain_text("q = (w / scale[:, None])")
    expect(answer.locator("table th")).to_have_text(["format", "bytes a weight", "note"])
    expect(answer.locator("td").last).to_have_text("costs $5 to $10 a month")
    expect(answer.locator("li")).to_have_text(["one scale per channel", "zero stays zero"])
    expect(answer.locator("math")).to_have_count(2)
    expect(answer.locator("math mfrac")).to_have_count(2)
    expect(answer.locator("p > code").first).to_have_text("scale = abs(w).max(axis=1) / 127")


def test_prices_code_and_odd_dollars(visit: Visit) -> None:
    page = visit()
    kinds = page.evaluate(
        """async () => {
          const { pieces } = await import("./page/text.js");
          const of = (text) => pieces(text, 0, text.length).map((p) => `${p.kind}:${p.latex}`);
          return ["$5 to $10", "$5, and US$6", "from $3/$4", "cost $100 = A$150", "$x$ and $a_i$", "$f(x)$",
                  "`$x$`", "\\\\(a+b\\\\)", "a[1] b [22]", "$5", "$ x $", "a*b $y=2$."].map(of);
        }"""
    )
    texts = [[k for k in line if k.startswith("maths")] for line in kinds]
    assert texts == [
        [], [], [], [], ["maths:x", "maths:a_i"], ["maths:f(x)"], [], ["maths:a+b"], [], [], [],
        ["maths:y=2"],
    ]  # fmt: skip


def test_the_back_button_closes_the_sheet_and_nothing_else(visit: Visit) -> None:
    page = visit(width=390)
    ask(page, GATE)
    for _ in range(2):
        page.locator(".marker").first.tap()
        expect(page.locator("#sheet .card.open")).to_be_visible()
        page.go_back()
        expect(page.locator("#sheet")).to_be_hidden()
        page.locator(".marker").first.tap()
        page.locator("#sheet .sheet-only").tap()
        expect(page.locator("#sheet")).to_be_hidden()
    expect(page.locator(".entry")).to_have_count(1)


def test_no_line_begins_with_a_marker(visit: Visit) -> None:
    page = visit(width=390)
    ask(page, GATE)
    starts = page.evaluate(
        "[...document.querySelectorAll('.answer .marker')].map((m) => m.getBoundingClientRect().left"
        " - m.closest('p').getBoundingClientRect().left)"
    )
    assert min(starts) > 20


@pytest.mark.parametrize("width", [1280, 390])
def test_hostile_text_is_text_everywhere(visit: Visit, width: int) -> None:
    page = visit(width=width)
    question = f"hostile {HOSTILE}"
    ask(page, question)
    expect(page.locator(".asked")).to_contain_text(question)
    expect(page.locator(".answer p").last).to_contain_text(HOSTILE)
    expect(page.locator(".answer pre")).to_have_text(HOSTILE)
    expect(page.locator(".searched")).to_contain_text(HOSTILE)
    expect(page.locator(".footnotes .source")).to_have_text(HOSTILE)
    expect(page.locator(".footnotes")).to_contain_text("javascript:window.pwned=1//<script>")
    expect(page.locator(".chip")).to_have_text(HOSTILE)
    page.locator(".marker").hover()
    expect(page.locator("#quote")).to_contain_text(HOSTILE)
    page.locator(".marker").click()
    card = page.locator(".card.open")
    expect(card.locator("mark")).to_have_text(HOSTILE)
    expect(card.locator(".path")).to_have_text(HOSTILE)
    assert page.evaluate("window.pwned") is None
    for foreign in ("script:not([src])", "img", "body style", "a[href^=javascript]", "strong"):
        expect(page.locator(foreign)).to_have_count(0)
    page.reload()
    expect(page.locator(".asked")).to_contain_text(question)
    assert page.evaluate("window.pwned") is None


def test_stop_ends_the_work_and_keeps_what_was_written(visit: Visit, site: Site) -> None:
    page = visit()
    ask(page, "a long answer", wait=False)
    page.wait_for_selector(".marker")
    page.click("#stop")
    until(lambda: site.answerer.stopped == ["a long answer"])
    expect(page.locator(".notice.stopped")).to_contain_text("Stopped.")
    expect(page.locator(".answer")).to_contain_text("The gate is calibrated")
    expect(page.locator("#question")).to_be_focused()
    page.click(".notice button")
    page.wait_for_selector("#send")
    expect(page.locator(".entry")).to_have_count(1)
    expect(page.locator(".notice")).to_have_count(0)


def test_a_phone_s_keyboard_stays_away_while_one_reads(visit: Visit) -> None:
    page = visit(width=390)
    assert page.evaluate("scroller.scrollTop") == 0
    ask(page, GATE)
    expect(page.locator("#question")).not_to_be_focused()
    page.locator(".chip").first.tap()
    page.wait_for_selector("#send")
    expect(page.locator(".entry")).to_have_count(2)
    expect(page.locator("#question")).not_to_be_focused()


def test_stop_works_before_the_first_word(visit: Visit, site: Site) -> None:
    page = visit()
    ask(page, "a silent one", wait=False)
    expect(page.locator(".stage")).to_contain_text("Reading")
    page.click("#stop")
    until(lambda: site.answerer.stopped == ["a silent one"])
    ask(page, "hello")
    expect(page.locator(".entry")).to_have_count(2)


@pytest.mark.parametrize("how", ["close", "leave"])
def test_a_tab_that_goes_away_ends_the_work(visit: Visit, site: Site, how: str) -> None:
    page = visit()
    ask(page, "a silent one", wait=False)
    until(lambda: site.answerer.running == 1)
    if how == "close":
        page.close()
    else:
        page.goto("about:blank")
    until(lambda: site.answerer.stopped == ["a silent one"])


def test_a_reload_keeps_the_conversation_and_the_draft(visit: Visit) -> None:
    page = visit()
    ask(page, GATE)
    page.fill("#question", "half a thou")
    page.reload()
    expect(page.locator(".asked")).to_contain_text(GATE)
    expect(page.locator(".marker")).to_have_count(3)
    expect(page.locator("#question")).to_have_value("half a thou")
    page.locator(".marker").first.click()
    expect(page.locator(".card.open mark")).to_be_visible()


def test_a_reload_in_mid_answer_tells_and_lets_one_go_on(visit: Visit, site: Site) -> None:
    page = visit()
    ask(page, GATE)
    ask(page, "a long answer", wait=False)
    page.wait_for_selector(".entry:last-child .marker")
    page.reload()
    expect(page.locator(".entry")).to_have_count(2)
    expect(page.locator(".stage")).to_have_count(0)
    expect(page.locator(".notice.broken")).to_contain_text("Your conversation is kept")
    expect(page.locator(".entry").last).to_contain_text("The gate is calibrated")
    until(lambda: "a long answer" in site.answerer.stopped)
    page.click(".notice button")
    page.wait_for_selector("#send")
    expect(page.locator(".entry")).to_have_count(2)
    expect(page.locator(".notice")).to_have_count(0)


def test_a_server_restart_in_mid_answer_loses_nothing(visit: Visit, site: Site) -> None:
    page = visit(may_fail=True)
    ask(page, GATE)
    ask(page, "a very long answer", wait=False)
    page.wait_for_selector(".entry:last-child .marker")
    site.stop()
    expect(page.locator(".entry").last).to_contain_text("This server is being restarted")
    expect(page.locator(".entry").last.locator(".marker").first).to_be_visible()
    expect(page.locator(".stage")).to_have_count(0)
    page.fill("#question", "while it is away")
    page.press("#question", "Enter")
    expect(page.locator(".entry").last).to_contain_text("The server can’t be reached")
    site.start()
    page.locator(".notice button").last.click()
    page.wait_for_selector("#send")
    expect(page.locator(".entry")).to_have_count(3)
    expect(page.locator(".entry").last.locator(".marker")).to_have_count(3)
    page.reload()
    expect(page.locator(".entry")).to_have_count(3)


def test_a_fault_in_the_answer_is_told_and_the_next_question_works(visit: Visit) -> None:
    page = visit()
    ask(page, "explode")
    expect(page.locator(".answer.error")).to_contain_text("The next question will work")
    ask(page, "hello")
    expect(page.locator(".entry").last).to_contain_text("Ask me about the blog")


def test_two_tabs_show_one_conversation_and_double_nothing(visit: Visit, site: Site) -> None:
    one = visit()
    two = visit(context=one.context)
    ask(one, "a long answer", wait=False)
    one.wait_for_selector(".marker")
    expect(two.locator(".stage")).to_contain_text("in another tab")
    one.wait_for_selector("#send")
    expect(two.locator(".marker")).to_have_count(24)
    ask(two, "hello")
    for page in (one, two):
        expect(page.locator(".entry")).to_have_count(2)
    assert len(site.answerer.asked) == 2


def test_many_tabs_wait_with_a_word_leave_room_for_another_and_are_all_answered(
    visit: Visit, site: Site
) -> None:
    first = visit()
    others = [visit(context=first.context) for _ in range(7)]
    ask(first, "a silent one", wait=False)
    expect(first.locator(".stage")).to_contain_text("Reading")
    for number, page in enumerate(others):
        ask(page, f"question {number}", wait=False)
        stage = page.locator(".entry:last-child .stage")
        expect(stage).to_contain_text("in the queue" if number < 3 else "other tabs of this page")
    others[5].click("#stop")
    expect(others[5].locator(".entry").nth(6).locator(".notice.stopped")).to_be_visible()
    visit(context=first.context)
    first.click("#stop")
    for page in others:
        page.wait_for_selector("#send")
    for page in others:
        expect(page.locator(".stage")).to_have_count(0, timeout=20_000)
    asked = [question for question, _, _ in site.answerer.asked]
    assert sorted(asked) == ["a silent one", *(f"question {n}" for n in (0, 1, 2, 3, 4, 6))]


def test_a_tab_that_died_leaves_no_spinner(visit: Visit) -> None:
    page = visit()
    dead = {"id": "x", "at": 1, "question": "Q?", "state": "waiting", "answer": None,
            "beat": time.time() * 1000 - 60_000}  # fmt: skip
    store(page, dead)
    page.reload()
    expect(page.locator(".notice.broken")).to_be_visible()


@pytest.mark.parametrize("kept", ["{", "[]", "7", "null", '{"id": 3}', '{"id": "x", "at": 1}'])
def test_a_store_that_is_not_ours_is_an_empty_conversation(visit: Visit, kept: str) -> None:
    page = visit()
    page.evaluate("kept => localStorage.setItem('footnote/conversation/blog/x', kept)", kept)
    page.reload()
    expect(page.locator(".welcome")).to_be_visible()


def store(page: Page, entry: dict[str, Any]) -> None:
    """Puts an entry of the blog's conversation into the browser's storage."""
    page.evaluate(
        "([id, v]) => localStorage.setItem(`footnote/conversation/blog/${id}`, v)",
        [entry["id"], json.dumps(entry)],
    )


def only_entry(page: Page) -> dict[str, Any]:
    """What the browser keeps of a conversation of one question."""
    (kept,) = page.evaluate(
        "Object.keys(localStorage).filter((key) => key.startsWith('footnote/conversation/blog/'))"
        ".map((key) => JSON.parse(localStorage[key]))"
    )
    return kept


def test_tabs_that_write_at_once_undo_nothing_of_each_other(visit: Visit) -> None:
    page = visit()
    kept = page.evaluate(
        """async () => {
          const store = await import("./page/store.js");
          store.save("t", { id: "a", at: 1, question: "A", state: "done" });
          store.save("t", { id: "b", at: 2, question: "B", state: "waiting" });
          store.save("t", { id: "a", at: 1, question: "A", state: "done", verdict: "up" });
          store.save("t", { id: "b", at: 2, question: "B", state: "done" });
          const both = store.load("t").map((one) => `${one.id} ${one.state} ${one.verdict ?? ""}`);
          const undo = store.clear("t");
          store.save("t", { id: "b", at: 2, question: "B", state: "done" });
          const none = store.load("t").length;
          undo();
          for (let i = 0; i < 205; i += 1) store.save("t", { id: `n${i}`, at: 10 + i, question: "Q" });
          const many = store.load("t");
          return [both, none, many.length, many.at(-1).id];
        }"""
    )
    assert kept == [["a done up", "b done "], 0, 200, "n204"]


def test_each_collection_has_its_conversation_and_back_returns(visit: Visit) -> None:
    page = visit()
    ask(page, GATE)
    page.click("#collections button:has-text('Ada')")
    expect(page.locator(".welcome h2")).to_have_text("Ada Lovelace")
    assert parse_qs(urlsplit(page.url).query) == {"collection": ["people"]}
    ask(page, "Who are you?")
    expect(page.locator(".answer .label")).to_have_text("Ada Lovelace")
    page.go_back()
    expect(page.locator(".asked")).to_contain_text(GATE)
    expect(page.locator(".entry")).to_have_count(1)
    page.go_forward()
    expect(page.locator(".asked")).to_contain_text("Who are you?")
    page.reload()
    expect(page.locator(".asked")).to_contain_text("Who are you?")


def test_switching_during_an_answer_loses_nothing(visit: Visit) -> None:
    page = visit()
    ask(page, "a long answer", wait=False)
    page.wait_for_selector(".marker")
    page.click("#collections button:has-text('Ada')")
    expect(page.locator(".welcome")).to_be_visible()
    page.wait_for_selector("#send")
    expect(page.locator(".welcome")).to_be_visible()
    page.click("#collections button:has-text('Notes')")
    expect(page.locator(".marker")).to_have_count(24)


def test_a_link_fills_in_a_question_and_does_not_send_it(visit: Visit, site: Site) -> None:
    page = visit("/?q=Who+wrote+%3Cb%3Ethis%3C%2Fb%3E%3F&collection=people")
    expect(page.locator("#question")).to_have_value("Who wrote <b>this</b>?")
    expect(page.locator("#collections [aria-current]")).to_have_text("Ada Lovelace")
    page.wait_for_timeout(300)
    assert site.answerer.asked == []
    page.press("#question", "Enter")
    page.wait_for_selector(".asked")
    page.wait_for_selector("#send")
    page.reload()
    expect(page.locator("#question")).to_have_value("")


def test_an_unknown_collection_in_the_address_is_told(visit: Visit) -> None:
    page = visit("/?collection=nope")
    expect(page.locator("#toast")).to_contain_text("no collection “nope”")
    expect(page.locator(".welcome h2")).to_have_text("Notes on small language models")


def test_history_goes_along_in_whole_turns(visit: Visit, site: Site) -> None:
    page = visit()
    ask(page, GATE)
    ask(page, "explode")
    ask(page, "a long answer", wait=False)
    page.wait_for_selector(".entry:last-child .marker")
    page.click("#stop")
    ask(page, "hello")
    turns = site.answerer.asked[-1][2]
    assert [turn.role for turn in turns] == ["user", "assistant"]
    assert turns[0].content == GATE


def test_edit_and_retry_replace_the_last_exchange(visit: Visit, site: Site) -> None:
    page = visit()
    ask(page, "hello")
    ask(page, GATE)
    expect(page.locator("[data-action=edit]")).to_have_count(1)
    page.click("[data-action=retry]")
    page.wait_for_selector("#send")
    expect(page.locator(".entry")).to_have_count(2)
    page.click("[data-action=edit]")
    expect(page.locator("#question")).to_have_value(GATE)
    expect(page.locator("#note")).to_contain_text("Editing")
    page.keyboard.press("Escape")
    expect(page.locator("#question")).to_have_value("")
    page.click("[data-action=edit]")
    ask(page, "Why int8?")
    expect(page.locator(".asked")).to_have_text([re.compile("hello$"), re.compile("Why int8\\?$")])
    assert len(site.answerer.asked[-1][2]) == 2


def test_copy_keeps_the_footnotes(visit: Visit) -> None:
    page = visit()
    ask(page, GATE)
    page.click("[data-action=copy]")
    expect(page.locator("#toast")).to_contain_text("Copied")
    text = page.evaluate("navigator.clipboard.readText()")
    assert "from another. [^1]" in text
    assert re.search(
        r"^\[\^2\]: Eight bits are enough · .*<https://blog\.example/posts/int8>$", text, re.M
    )
    page.click("[data-action=link]")
    link = page.evaluate("navigator.clipboard.readText()")
    assert parse_qs(urlsplit(link).query) == {"collection": ["blog"], "q": [GATE]}


def test_export_is_markdown_with_its_footnotes(visit: Visit, tmp_path: Path) -> None:
    page = visit()
    ask(page, "show me code")
    ask(page, f"hostile {HOSTILE}")
    with page.expect_download() as download:
        page.click("#export")
    assert download.value.suggested_filename == "footnote-blog.md"
    download.value.save_as(tmp_path / "out.md")
    text = (tmp_path / "out.md").read_text()
    assert text.startswith("# Notes on small language models\n")
    assert "## show me code" in text
    assert "[^1-2]: Eight bits are enough" in text
    assert "```python\nscale = abs(w)" in text
    assert "| fp32 | 4 | as trained |" in text
    assert r"$$|w - s q| \le \frac{s}{2}$$" in text
    assert "[^2-1]" in text
    outside = re.sub(r"```.*?```", "", text, flags=re.S)
    assert "<script" not in outside
    assert "<img" not in outside
    assert r"\[link\](javascript" in outside


def test_clear_can_be_undone(visit: Visit) -> None:
    page = visit()
    ask(page, GATE)
    page.click("#clear")
    expect(page.locator(".welcome")).to_be_visible()
    page.click("#toast button")
    expect(page.locator(".marker")).to_have_count(3)
    page.click("#clear")
    page.reload()
    expect(page.locator(".welcome")).to_be_visible()


def test_a_thumb_is_saved_with_its_word(visit: Visit, site: Site) -> None:
    page = visit()
    ask(page, GATE)
    page.click("[data-action=down]")
    expect(page.locator(".comment")).to_contain_text("Kept in a file on this server")
    page.fill(".comment input", "too long")
    page.keyboard.press("Enter")
    expect(page.locator("[data-action=down]")).to_have_attribute("aria-pressed", "true")
    assert site.settings.feedback_file is not None
    (record,) = map(json.loads, site.settings.feedback_file.read_text().splitlines())
    assert (record["verdict"], record["comment"], record["question"]) == ("down", "too long", GATE)


def test_the_interface_speaks_spanish_and_remembers_the_switch(visit: Visit) -> None:
    page = visit(locale="es-MX")
    expect(page.locator("html")).to_have_attribute("lang", "es")
    expect(page.locator(".chip").first).to_contain_text("¿De qué trata este blog?")
    ask(page, "¿Cómo se calibra el umbral?")
    expect(page.locator(".answer")).to_have_attribute("lang", "es")
    page.locator(".marker").click()
    expect(page.locator(".card .facts")).to_contain_text("3 de noviembre de 2025")
    page.click("#tools button:has-text('English')")
    expect(page.locator("html")).to_have_attribute("lang", "en")
    expect(page.locator(".card .facts")).to_contain_text("November")
    page.reload()
    expect(page.locator("html")).to_have_attribute("lang", "en")


def test_both_languages_have_the_same_words(visit: Visit) -> None:
    source = (Path(__file__).parents[2] / "rag/web/static/words.js").read_text()
    english, spanish = (
        re.findall(r"^ {4}(\w+):", part, re.M)
        for part in (source.split("  es: {")[0], source.split("  es: {")[1])
    )
    assert english == spanish


def test_the_theme_follows_the_system_and_a_switch_that_is_remembered(visit: Visit) -> None:
    def dark(page: Page) -> bool:
        colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
        return int(re.findall(r"\d+", colour)[0]) < 100

    page = visit(dark=True)
    assert dark(page)
    page.click("#theme")
    assert not dark(page)
    page.reload()
    assert not dark(page)
    page.click("#theme")
    page.emulate_media(color_scheme="light")
    assert dark(page)
    page.click("#theme")
    assert not dark(page)


def test_about_tells_sources_models_and_limits(visit: Visit) -> None:
    page = visit()
    page.click("#about-button")
    about = page.locator("#about")
    expect(about).to_contain_text("Language model")
    for text in ("11 pages", "143 passages", "31 January 2026", "Ada Lovelace", "scripted (MIT)",
                 "Nothing leaves this machine", "Thumbs"):  # fmt: skip
        expect(about).to_contain_text(text)
    page.keyboard.press("Escape")
    expect(about).to_be_hidden()


def test_everything_works_with_the_keyboard_alone(visit: Visit) -> None:
    page = visit()
    expect(page.locator("#question")).to_be_focused()
    page.keyboard.type("first line")
    page.keyboard.press("Shift+Enter")
    page.keyboard.type("second line")
    expect(page.locator("#question")).to_have_value("first line\nsecond line")
    page.keyboard.press("Enter")
    page.wait_for_selector("#send")
    page.wait_for_selector(".marker")
    page.focus("body")
    seen: list[str] = []
    for _ in range(40):
        page.keyboard.press("Tab")
        seen.append(page.evaluate("(e => e.id || e.className)(document.activeElement)"))
        outline = page.evaluate(
            "(e => getComputedStyle(e).outlineStyle !== 'none' || e.id === 'question')"
            "(document.activeElement)"
        )
        assert outline or seen[-1] == "", seen[-1]
    for name in ("skip", "theme", "about-button", "scroller", "export", "clear", "marker",
                 "source", "chip", "question", "send"):  # fmt: skip
        assert any(name in one for one in seen), name


def test_a_screen_reader_hears_the_answer_once(visit: Visit) -> None:
    page = visit()
    page.evaluate(
        """() => {
          window.heard = [];
          new MutationObserver(() => heard.push(announcer.textContent))
            .observe(announcer, { childList: true, subtree: true, characterData: true });
        }"""
    )
    ask(page, GATE)
    page.wait_for_timeout(300)
    heard = page.evaluate("heard")
    assert len(heard) == 1
    assert heard[0].startswith("The gate is calibrated")
    assert "[1]" not in heard[0]
    expect(page.locator("#conversation")).to_have_attribute("aria-live", "off")


def test_a_question_that_is_too_long_is_not_sent(visit: Visit, site: Site) -> None:
    page = visit()
    page.fill("#question", "x" * 2010)
    expect(page.locator("#note")).to_contain_text("too long by 10")
    page.press("#question", "Enter")
    page.wait_for_timeout(200)
    assert site.answerer.asked == []


def test_markers_keep_their_focus_while_text_streams(visit: Visit) -> None:
    page = visit()
    ask(page, "a long answer", wait=False)
    page.locator(".marker").first.focus()
    page.locator(".marker").nth(6).wait_for()
    expect(page.locator(".marker").first).to_be_focused()


def test_nothing_is_wider_than_a_phone(visit: Visit) -> None:
    page = visit(width=390)
    for question in (GATE, "show me code", "pizza", f"hostile {HOSTILE}", "w" * 400):
        ask(page, question)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        assert page.evaluate("scroller.scrollWidth <= scroller.clientWidth")


def test_the_conversation_works_where_storage_is_forbidden(visit: Visit) -> None:
    page = visit()
    page.add_init_script(
        "Object.defineProperty(window, 'localStorage', "
        "{ get() { throw new DOMException('no', 'SecurityError'); } })"
    )
    page.reload()
    ask(page, GATE)
    expect(page.locator(".marker")).to_have_count(3)


def show(page: Page, state: str) -> None:
    """Brings a page with a finished answer, or none, into a state by its name."""
    questions = {
        "answer": GATE,
        "code": "show me code",
        "refusal": "pizza",
        "error": "explode",
        "greeting": "hello",
        "hostile": f"hostile {HOSTILE}",
    }
    if state in questions:
        ask(page, questions[state])
    elif state == "panel":
        page.locator(".marker").last.click()
    elif state == "quote":
        page.locator(".marker").first.hover()
    elif state == "comment":
        page.locator("[data-action=up]").last.click()
    elif state == "about":
        page.click("#about-button")
    elif state == "streaming":
        ask(page, "a silent one", wait=False)
        expect(page.locator(".stage")).to_contain_text("Reading")


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (1280, True), (390, False)])
def test_axe_finds_nothing_serious_in_any_state(
    visit: Visit, axe: str, width: int, dark: bool
) -> None:
    page = visit(width=width, dark=dark)
    page.evaluate(axe)
    serious = []
    for state in ("empty", "answer", "quote", "panel", "comment", "code", "refusal", "error",
                  "greeting", "hostile", "about", "streaming"):  # fmt: skip
        show(page, state)
        found = page.evaluate("axe.run(document, { resultTypes: ['violations'] })")
        serious += [
            f"{state}: {one['id']}: {node['html'][:120]} {node.get('failureSummary', '')[:200]}"
            for one in found["violations"]
            if one["impact"] in ("moderate", "serious", "critical")
            for node in one["nodes"]
        ]
        page.keyboard.press("Escape")
    assert not serious, "\n".join(serious)


def test_over_the_limit_the_page_says_so(visit: Visit, site: Site) -> None:
    page = visit(may_fail=True)
    page.route("**/queue/join", lambda route: route.fulfill(status=429, body="{}"))
    ask(page, "Why int8?")
    expect(page.locator("#conversation")).to_contain_text("more questions in a minute")
    page.unroute("**/queue/join")
    ask(page, "Why int8?")
    expect(page.locator(".marker").first).to_be_visible()
