"""Records `demo.webp` in this folder from the running app: a question, its footnotes, the next one.

python app.py --port 7861 &
PYTHONPATH=. python docs/make_recording.py http://127.0.0.1:7861
"""

from __future__ import annotations

import io
import shutil
import sys
import time
from pathlib import Path

from PIL import Image, ImageChops
from playwright.sync_api import Page, sync_playwright

HERE = Path(__file__).parent
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
SIZE = {"width": 1100, "height": 680}
LONGEST_WAIT = 400
"""Milliseconds that a frame is shown while the app works; a busy machine's pauses are cut to it."""


class Recorder:
    """Takes a frame whenever it is told to, and keeps those that differ."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.frames: list[Image.Image] = []
        self.milliseconds: list[int] = []

    def shoot(self, milliseconds: int) -> None:
        """What the page shows now, for so long."""
        frame = Image.open(io.BytesIO(self.page.screenshot())).convert("RGB")
        if self.frames and not ImageChops.difference(frame, self.frames[-1]).getbbox():
            self.milliseconds[-1] += milliseconds
        else:
            self.frames.append(frame)
            self.milliseconds.append(milliseconds)

    def type(self, text: str) -> None:
        """Some letters a frame, as somebody types."""
        for start in range(0, len(text), 3):
            self.page.keyboard.type(text[start : start + 3])
            self.shoot(110)

    def until_answered(self) -> None:
        """Frames while the answer is written."""
        self.page.wait_for_selector("#stop")
        while self.page.locator("#stop").count():
            before = time.monotonic()
            self.shoot(0)
            taken = round((time.monotonic() - before) * 1000)
            self.milliseconds[-1] = min(self.milliseconds[-1] + taken, LONGEST_WAIT)
        self.shoot(1200)

    def save(self, path: Path) -> None:
        """An animation that begins again at its end."""
        first, *others = self.frames
        first.save(
            path, save_all=True, append_images=others, duration=self.milliseconds, loop=0,
            quality=72, method=6,
        )  # fmt: skip


def main(url: str) -> None:
    """A question, the quote under the pointer, the passage beside, a follow-up, a refusal."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        page = browser.new_page(viewport=SIZE, locale="en-GB", reduced_motion="reduce")  # type: ignore[arg-type]
        page.goto(url)
        page.wait_for_selector(".chip")
        recorder = Recorder(page)
        recorder.shoot(1400)
        recorder.type("Who developed BM25?")
        page.keyboard.press("Enter")
        recorder.until_answered()
        page.locator(".marker").last.hover()
        recorder.shoot(2000)
        page.locator(".marker").last.click()
        page.mouse.move(5, 400)
        page.wait_for_selector("#quote", state="hidden")
        recorder.shoot(2600)
        page.locator(".chip").nth(1).hover()
        recorder.shoot(700)
        page.locator(".chip").nth(1).click()
        recorder.until_answered()
        recorder.shoot(1500)
        recorder.type("How do I bake sourdough?")
        page.keyboard.press("Enter")
        recorder.until_answered()
        recorder.shoot(2500)
        recorder.save(HERE / "demo.webp")
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1])
