"""Takes the screenshots in this folder from the running app.

python app.py --port 7861 &
PYTHONPATH=. python docs/make_screenshots.py http://127.0.0.1:7861
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

HERE = Path(__file__).parent
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]


def ask(page: Page, question: str) -> None:
    """Types a question and waits for the whole answer."""
    before = page.locator("article .actions").count()
    page.locator("#composer textarea").fill(question)
    page.keyboard.press("Enter")
    page.wait_for_function(
        "n => document.querySelectorAll('article .actions').length > n", arg=before, timeout=60_000
    )


def main(url: str) -> None:
    """Wide with the source panel, narrow, dark, a refusal, and the empty page."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)

        def fresh(width: int, height: int, scheme: str = "light", language: str = "en-GB") -> Page:
            context = browser.new_context(
                viewport={"width": width, "height": height},
                color_scheme=scheme,  # type: ignore[arg-type]
                locale=language,
            )
            page = context.new_page()
            page.goto(url)
            page.wait_for_selector("#composer textarea")
            return page

        page = fresh(1280, 800)
        page.screenshot(path=HERE / "empty.png")
        ask(page, "Who developed BM25?")
        page.locator(".marker").first.click()
        page.screenshot(path=HERE / "answer.png")
        ask(page, "How does Elasticsearch shard an index?")
        page.screenshot(path=HERE / "refusal.png")
        page = fresh(390, 844, language="es-ES")
        ask(page, "¿Qué es un entorno virtual?")
        page.screenshot(path=HERE / "narrow.png")
        page = fresh(1280, 800, scheme="dark")
        ask(page, "Who writes this blog?")
        page.locator(".marker").first.click()
        page.screenshot(path=HERE / "dark.png")
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1])
