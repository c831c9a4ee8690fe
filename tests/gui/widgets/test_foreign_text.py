from pathlib import Path

import pytest
from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QColor, QImage, QTextDocument
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from gui.widgets.foreign_text import markdown_document, one_line, plain_label, tip
from gui.widgets.text_views import CUT_AFTER, TextPane

HOSTILE = '<b>x</b><img src="file:///etc/passwd"><a href="http://x.y">z</a> <|eot_id|> \u202eabc\x1b[31m'
SHOWN = '<b>x</b><img src="file:///etc/passwd"><a href="http://x.y">z</a> <|eot_id|> \\u202eabc\\x1b[31m'


def active(document: QTextDocument) -> list[str]:
    """All that is a link or an image in a document."""
    found = []
    block = document.begin()
    while block.isValid():
        pieces = block.begin()
        while not pieces.atEnd():
            style = pieces.fragment().charFormat()
            if style.isAnchor() or style.isImageFormat():
                found.append(pieces.fragment().text())
            pieces += 1
        block = block.next()
    return found


@pytest.fixture
def pane(qtbot: QtBot) -> TextPane:
    made = TextPane("Response A")
    qtbot.addWidget(made)
    return made


@pytest.mark.parametrize(
    ("markdown", "shown"),
    [
        ("**bold** and `code`", "bold and code"),
        ("<b>x</b> &amp; <img src='a.png'>", "<b>x</b> & <img src='a.png'>"),
        ("<div>\nblock\n</div>", "<div> block </div>"),
        ("[here](http://x.y/z)", "here (http://x.y/z)"),
        ("[he**r**e](http://x.y/z)", "here (http://x.y/z)"),
        ("[a](b)[c](d)", "a (b)c (d)"),
        ("[a](javascript:alert(1))", "a (javascript:alert(1))"),
        ("http://x.y and <http://z.w>", "http://x.y and http://z.w"),
        ("[see]\n\n[see]: file:///etc/passwd", "see (file:///etc/passwd)"),
        ("![a cat](file:///etc/passwd)", "[image: a cat (file:///etc/passwd)]"),
        ("![a](data:image/png;base64,AAAA)", "[image: a (data:image/png;base64,AAAA)]"),
        ("![a](b)![a](b)", "[image: a (b)][image: a (b)]"),
        ("&#x202e;abc \u202eabc &#7;", "\\u202eabc \\u202eabc \\x07"),
        ("| a | b |\n|---|---|\n| [q](z) | &#8238;c |", "a\nb\nq (z)\n\\u202ec"),
        ("1. one\n2. two", "one\ntwo"),
    ],
)
def test_markdown_is_shown_without_html_links_images(qapp: QApplication, markdown: str, shown: str) -> None:
    document = markdown_document(markdown)
    assert document.toPlainText().strip() == shown
    assert active(document) == []


def test_markdown_keeps_its_looks(qapp: QApplication) -> None:
    document = markdown_document("# Title\n\n**bold** [link](x)")
    assert document.begin().blockFormat().headingLevel() == 1
    assert "font-weight:700" in document.toHtml()
    assert "underline" not in document.toHtml()
    properties = markdown_document("---\ntitle: mine\n---\nbody")  # which Qt would not show
    assert "title: mine" in properties.toPlainText()


def test_an_image_on_this_computer_is_not_read(qapp: QApplication, tmp_path: Path) -> None:
    picture = QImage(300, 200, QImage.Format.Format_RGB32)
    picture.fill(QColor("red"))
    assert picture.save(str(tmp_path / "red.png"))
    document = markdown_document(f"![]({(tmp_path / 'red.png').as_uri()}) x\n\n![a]({tmp_path}/red.png)")
    assert document.size().height() < 100
    address = QUrl.fromLocalFile(str(tmp_path / "red.png"))
    assert document.resource(QTextDocument.ResourceType.ImageResource, address) is None


@pytest.mark.parametrize(
    "text", ["> " * 5000 + "x", "[a](b) " * 5000, "![a](b) " * 2000, "*a" * 20000, "- " * 3000]
)
def test_markdown_made_to_be_slow_is_not(qapp: QApplication, text: str) -> None:
    assert markdown_document(text) is not None


def test_a_label_and_a_tool_tip_show_text_as_it_is(qapp: QApplication) -> None:
    label, document = plain_label(HOSTILE), QTextDocument()
    document.setHtml(tip(HOSTILE))
    assert label.text() == document.toPlainText().strip() == SHOWN
    assert label.textFormat() is Qt.TextFormat.PlainText
    assert active(document) == []


@pytest.mark.parametrize(
    ("text", "line"),
    [("a\n b\t\tc ", "a b c"), ("", ""), ("x" * 300, "x" * 240 + "…"), ("\u202ex", "\\u202ex")],
)
def test_the_beginning_of_a_text_on_one_line(text: str, line: str) -> None:
    assert one_line(text) == line


@pytest.mark.parametrize("markdown", [False, True])
def test_a_pane_shows_hostile_text_and_loads_nothing(pane: TextPane, markdown: bool) -> None:
    pane.set_markdown(markdown)
    pane.show_text(HOSTILE)
    assert pane.text.strip() == SHOWN
    assert active(pane.view.document()) == []
    assert not pane.view.openLinks()
    assert pane.view.loadResource(2, QUrl("file:///etc/passwd")) is None


def test_a_pane_cuts_a_very_long_text_until_it_is_wanted(pane: TextPane) -> None:
    pane.show_text("x" * (CUT_AFTER + 5))
    assert len(pane.text) == CUT_AFTER
    pane._more.click()
    assert len(pane.text) == CUT_AFTER + 5


def test_the_text_of_a_pane_is_copied_with_the_keyboard(qtbot: QtBot, pane: TextPane) -> None:
    pane.show_text("a <b>c</b>")
    pane.show()
    pane.view.setFocus()
    qtbot.keyClick(pane.view, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    qtbot.keyClick(pane.view, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QApplication.clipboard().text() == "a <b>c</b>"
