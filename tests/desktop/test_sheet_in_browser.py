"""The labelling sheet in a real browser: labelled by keys, drafts kept, its annotation file imported."""

import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from engine.annotations.records import AnnotationKind
from engine.core.items import Preference
from engine.core.rubric import ELOQUENT
from engine.data.dataset import load_dataset
from engine.results.annotation_file import load_annotation_file
from engine.results.labelling_sheet import write_labelling_sheet
from engine.results.run_results import load_reviews
from engine.settings.sampling import ItemSample
from engine.store.run_store import RunStore
from engine.system.paths import demo_dataset
from gui.workspace.state import PageName
from tests.commands import run_here
from tests.desktop.browser import Tab, found_browser, tab
from tests.desktop.test_in_browser import CUT, FAULTS, LEAST_CONTRAST, LOW_CONTRAST, OVERFLOWING
from tests.gui.steps import is_open, whole_window
from tests.judged import BAD, GOOD, A, B, dataset

pytestmark = pytest.mark.skipif(
    not found_browser(), reason="there is no Chromium (make test-desktop installs it)"
)
SAFETY = ELOQUENT.only(("safety",))
KEYS = [("abgx" * 15 + "b")[number * 7 % 61] for number in range(60)]
NO_STORAGE = """
Object.defineProperty(window, "localStorage", {
  get() { throw new DOMException("refused", "SecurityError"); }
});
"""
HIDDEN = "document.getElementById('unkept').hidden"
LEAVES = "dispatchEvent(new Event('beforeunload', {cancelable: true}))"


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[Tab]:
    """A new one each time: it remembers drafts."""
    with tab() as made:
        made.resize(1280, 720)
        made.ask("Page.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path / "downloads"))
        yield made


def status(page: Tab) -> str:
    return str(page.run("document.getElementById('status').textContent"))


def file_of(page: Tab, folder: Path) -> Path:
    """The annotation file that the browser has downloaded."""
    for path in (folder / "downloads").glob("*.json"):
        path.unlink()
    page.run("document.getElementById('download').click()")
    deadline = time.monotonic() + 60
    while not (found := list((folder / "downloads").glob("*.json"))):
        assert time.monotonic() < deadline, f"no file: {status(page)}"
        time.sleep(0.05)
    return found[0]


def said_in(store_path: Path) -> tuple[Mapping[Any, Any], list[tuple[Any, ...]]]:
    """Of run 1: the labels that count, by annotator, and all that was said but for the times."""
    with RunStore(store_path) as store:
        words = store.all_annotations(1)
        what = [
            (word.kind, word.item_id, word.criterion, word.author, word.preference, word.state, word.blind)
            for word in words
            if word.kind is not AnnotationKind.CONFIRMATION
        ]
        return load_reviews(store, 1).labels, sorted(what, key=repr)


def test_sixty_items_labelled_by_keys_are_imported_as_the_same_labels_given_in_the_window(
    qtbot: QtBot, browser: Tab, tmp_path: Path
) -> None:
    items = tmp_path / "sixty.tsv"
    lines = demo_dataset().read_bytes().split(b"\n")
    items.write_bytes(b"\n".join(lines[:61]) + b"\n")
    sheet, stored = tmp_path / "sheet.html", tmp_path / "of-sheet.sqlite"
    asked = (items, "--criteria", "safety")
    assert run_here("annotations", "sheet", *asked, "--blind", "--out", sheet).returncode == 0
    browser.open(sheet)
    browser.press(*"Ada", "Enter", *KEYS)
    assert status(browser).endswith("No item is left to label. Download the annotations. Item 60 of 60")
    path = file_of(browser, tmp_path)
    assert path.name == "sixty-annotations-Ada.json"
    assert "labelling sheet" in load_annotation_file(path).run.title
    for store in (stored, tmp_path / "runs.sqlite"):
        assert run_here("annotations", "begin", *asked, "--store", store).returncode == 0
    for said in ("120 annotations by Ada added", "Nothing in this file is new"):
        done = run_here("annotations", "import", "1", path, "--store", stored)
        assert (done.returncode, said in done.stdout) == (0, True), done.stdout + done.stderr

    with whole_window(qtbot, tmp_path, items, run=1, author="Ada") as main:
        review, space = main.review, main.workspace
        main.frame.show_page(PageName.REVIEW)
        qtbot.waitUntil(lambda: is_open(space, 1) and review.list.shown == 60)
        review.reviewer.blind_button.click()
        review.list.take_focus()
        for key in KEYS:
            for pressed in (getattr(Qt.Key, f"Key_{key.upper()}"), Qt.Key.Key_Return):
                focused = QApplication.focusWidget()
                assert focused is not None
                QTest.keyClick(focused, pressed)
        qtbot.waitUntil(lambda: space.words.count == 0 and not space.words._waiting)
    assert said_in(stored) == said_in(tmp_path / "runs.sqlite")
    assert len(said_in(stored)[0]["Ada"]) == 60


def test_skips_undone_labels_notes_and_drafts_are_as_in_the_window(browser: Tab, tmp_path: Path) -> None:
    sheet = tmp_path / "sheet.html"
    data = load_dataset(demo_dataset(), SAFETY)
    write_labelling_sheet(sheet, data, SAFETY, sample=ItemSample(5, 3))
    browser.open(sheet)
    browser.press("a")  # goes into the field of the name
    assert "0 of 5" in browser.run("document.getElementById('count').textContent")
    browser.press("Enter", "b", "s", "u", "s", "n", *"odd", "Escape")  # skipped, undone, skipped again
    browser.press("j", "j", "g", "x", "u")  # the fifth out of its turn; the third, undone
    browser.open(sheet)
    assert status(browser) == "Item 3 of 5"
    browser.press("x", "k", "l", "a", "a")  # stays on the third
    assert status(browser) == "Your label is A already."
    made = load_annotation_file(file_of(browser, tmp_path))
    order = [each["id"] for each in json.loads(browser.run("JSON.stringify(sheet.items)"))]
    labels = [word for word in made.words if word.kind is AnnotationKind.OVERRIDE]
    assert [(order.index(word.item_id), word.preference, word.origin, word.seed) for word in labels] == [
        *((0, B, "random", 3), (4, GOOD, "chosen", None), (2, BAD, "random", 3)),
        *((2, BAD, "random", 3), (2, A, "random", 3)),
    ]
    assert [word.undone is not None for word in labels] == [False, False, True, False, False]
    assert not any(word.blind for word in labels)
    marks = [word for word in made.words if word.kind is AnnotationKind.STATE]
    skips = [(order.index(word.item_id), bool(word.undone)) for word in marks if word.state == "skipped"]
    assert skips == [(1, True), (1, False)]
    [note] = [word for word in made.words if word.kind is AnnotationKind.NOTE]
    assert (note.text, note.author) == ("odd", "a")
    assert note.content_hash == made.items[order[2]]
    assert browser.complaints() == []


def test_texts_that_other_pages_would_run_are_only_read(browser: Tab, tmp_path: Path) -> None:
    hostile = (
        "</script><script>window.ran = 1</script>",
        "<img src=x onerror='window.ran = 1'><b>bold</b>",
        "\u202egnp.exe",
        "w" * 300_000,
    )
    labels = [A, B, GOOD, BAD]
    data = dataset({"safety": labels}, instructions=hostile, outputs=[(text, text) for text in hostile])
    sheet = tmp_path / "sheet.html"
    write_labelling_sheet(sheet, replace(data, path=tmp_path / "pairs <b>x</b>.tsv"), SAFETY)
    browser.open(sheet)
    browser.press(*"Ada", "Enter")
    for text in hostile:
        shown = browser.run("document.getElementById('output_a').textContent")
        assert shown == text.replace("\u202e", "\\u202e")
        browser.press("j")
    browser.press(*"abgx")
    assert browser.run(
        "[window.ran, document.scripts.length, document.querySelectorAll('img, b').length]"
    ) == [
        *(None, 2, 0),
    ]
    assert [Path(address).name for address in browser.asked_for()] == ["sheet.html"]
    assert browser.complaints() == []
    script = "Object.assign(document.createElement('script'), {text: 'window.ran = 1'})"
    tries = f"(() => {{ try {{ document.body.append({script}) }} catch {{ return 'refused' }} }})()"
    assert browser.run(tries) == "refused"
    assert browser.run("fetch('https://example.org').catch(() => 'refused')") == "refused"
    assert browser.run("window.ran") is None


def test_where_nothing_can_be_kept_it_says_so_and_asks_before_it_is_left(
    browser: Tab, tmp_path: Path
) -> None:
    sheet = tmp_path / "sheet.html"
    write_labelling_sheet(sheet, load_dataset(demo_dataset(), SAFETY).head(3), SAFETY)
    browser.open(sheet)
    browser.press(*"Ada", "Enter", "a")
    assert browser.run(f"{HIDDEN} && {LEAVES}")  # it is kept
    browser.ask("Page.addScriptToEvaluateOnNewDocument", source=NO_STORAGE)
    browser.open(sheet)
    assert not browser.run(HIDDEN)
    assert browser.run(LEAVES)  # nothing is labelled yet
    browser.press(*"Ada", "Enter", "b")
    assert not browser.run(LEAVES)
    [label] = [word for word in load_annotation_file(file_of(browser, tmp_path)).words if word.preference]
    assert label.preference is Preference.B
    assert browser.run(LEAVES)


def test_it_fits_is_told_to_those_who_do_not_see_it_and_can_be_read_light_and_dark(
    browser: Tab, tmp_path: Path
) -> None:
    sheet, data = tmp_path / "sheet.html", tmp_path / "pairs.tsv"
    head, *rows = demo_dataset().read_text("utf-8").splitlines()
    beside = ["context\treference", *["long " * 900 + "\tshort"] * 9, *["\t"] * len(rows)]
    lines = (f"{row}\t{more}\n" for row, more in zip((head, *rows), beside, strict=False))
    data.write_text("".join(lines), "utf-8")
    write_labelling_sheet(sheet, load_dataset(data), ELOQUENT)
    browser.open(sheet)
    assert browser.run("document.getElementById('context').textContent.length") == 4500
    parts = "[...document.querySelector('.labels').children]"
    assert browser.run(f"{parts}.every(part => part.scrollHeight <= part.clientHeight + 1)")
    browser.press(*"Ada", "Enter", *"abgxa", "b")
    assert browser.run(FAULTS) == []
    browser.run("document.querySelector('details').open = true")
    for scheme in ("light", "dark"):
        browser.prefer(scheme)
        assert (scheme, browser.run(f"{LOW_CONTRAST}({LEAST_CONTRAST})")) == (scheme, [])
    for size, (width, height) in product(("", "200%"), ((480, 720), (640, 360), (1280, 720), (1600, 900))):
        browser.run(f"document.documentElement.style.fontSize = '{size}'")
        browser.resize(width, height)
        assert (size, width, browser.run(OVERFLOWING), browser.run(CUT)) == (size, width, [], [])
    browser.run("document.documentElement.style.fontSize = ''")
    browser.resize(1280, 720)
    marked = "document.querySelector('[aria-current=true]').getBoundingClientRect()"
    assert browser.run(f"[{marked}.top >= 0, {marked}.bottom <= innerHeight, scrollY]") == [True, True, 0]
