"""The page of the dataset, with real files and real threads."""

import csv
import io
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog, QMenu, QPlainTextEdit, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from engine.system.paths import demo_dataset
from gui.dataset.dataset_page import DatasetPage
from gui.dataset.item_preview import CUT_AFTER, MOST_SHOWN
from gui.widgets.fields import Fold
from gui.widgets.label_mark import ShareBar
from tests.gui.labels import text_of
from tests.gui.steps import dataset_of

Save = Callable[[str, bytes], Path]
HEAD = "id\tinstruction\toutput_a\toutput_b"
HOSTILE = "<b>x</b><img src='file:///etc/passwd'> <|eot_id|> \u202eabc"


@pytest.fixture
def opened(qtbot: QtBot, page: DatasetPage) -> DatasetPage:
    open_file(qtbot, page, demo_dataset())
    return page


def open_file(qtbot: QtBot, page: DatasetPage, path: Path) -> None:
    with qtbot.waitSignal(page.workspace.dataset_changed):
        page.workspace.open_dataset(path)
    qtbot.waitUntil(lambda: "labelled" in text_of(page.summary))


def button(widget: QWidget, text: str) -> QPushButton:
    return next(found for found in widget.findChildren(QPushButton) if found.text() == text)


def ids(page: DatasetPage) -> list[str]:
    table = page.items.table
    return [table.text(table.index(place, 0)) for place in range(table.rowCount())]


def chosen(page: DatasetPage) -> str:
    return page.preview.text.partition("\n")[0]


def search(qtbot: QtBot, page: DatasetPage, text: str) -> None:
    with qtbot.waitSignal(page.items.table.modelReset):
        page.items.search.setText(text)


def sort(qtbot: QtBot, page: DatasetPage, column: int) -> None:
    header = page.items.view.horizontalHeader()
    place = header.sectionViewportPosition(column) + 10
    with qtbot.waitSignal(page.items.table.modelReset):
        QTest.mouseClick(
            header.viewport(), Qt.MouseButton.LeftButton, pos=header.rect().center().__class__(place, 8)
        )


def test_an_empty_page_says_what_to_do_and_opens_the_demo_which_is_counted_and_shown(
    qtbot: QtBot, page: DatasetPage
) -> None:
    assert "A dataset is a table" in text_of(page)
    assert not page.judge_button.isEnabled()
    with qtbot.waitSignal(page.workspace.dataset_changed):
        QTest.mouseClick(button(page.welcome, "Open the demo dataset"), Qt.MouseButton.LeftButton)
    assert page.items.table.rowCount() == 240
    assert chosen(page) == "Item 1"
    qtbot.waitUntil(lambda: "240 labelled" in text_of(page.summary))
    assert "240 items" in text_of(page.summary)
    bars = [bar.accessibleName() for bar in page.summary.findChildren(ShareBar)]
    criteria = ["Relevance", "Naturalness", "Truthfulness", "Safety", "Overall quality"]
    assert [name.partition(":")[0] for name in bars] == criteria
    assert "both good 1" in bars[0]
    dataset = page.workspace.dataset
    page.items.view.selectRow(5)
    item, text = dataset[5], page.preview.text
    gold = item.gold["relevance"]
    for part in (f"Item {item.id}", item.instruction, item.output_a, item.output_b, gold.explanation or "?"):
        assert part in text


def test_all_that_was_noticed_can_be_unfolded(qtbot: QtBot, page: DatasetPage, save: Save) -> None:
    rows = ["1\tx\t\tb\ta", "2\tx\tdonâ€™t\tdonâ€™t\ta"]
    open_file(qtbot, page, save("odd.tsv", "\n".join([f"{HEAD}\tnote", *rows, ""]).encode()))
    assert "No human labels" in text_of(page.summary)
    assert "empty" not in text_of(page.summary)
    qtbot.waitUntil(lambda: any(fold.isVisible() for fold in page.summary.findChildren(Fold)))
    fold = next(fold for fold in page.summary.findChildren(Fold) if fold.isVisible())
    fold.set_open(True)
    for part in (
        "is stored: 'note'",
        "1 response is empty",
        "more than once",
        "wrongly decoded",
        "same text",
    ):
        assert part in text_of(page.summary)


def test_a_search_by_keys_alone(qtbot: QtBot, opened: DatasetPage) -> None:
    opened.items.view.setFocus()
    QTest.keyClick(opened.items.view, Qt.Key.Key_Slash)
    field = opened.items.search
    assert field.hasFocus()
    QTest.keyClicks(field, "PLUS answer")
    QTest.keyClick(field, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: opened.items.count.text() == "7 of 240 items")
    assert opened.items.view.hasFocus()
    texts = opened.preview.text.lower()
    assert "plus" in texts
    assert len(opened.preview.view.extraSelections()) >= 2
    first = chosen(opened)
    QTest.keyClick(opened.items.view, Qt.Key.Key_Down)
    assert chosen(opened) != first
    QTest.keyClick(opened.items.view, Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClick(field, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: opened.items.count.text() == "240 items")


def test_a_search_without_a_hit_ends_a_selection_says_so_and_can_be_cleared(
    qtbot: QtBot, opened: DatasetPage
) -> None:
    opened.items.view.selectAll()
    assert opened.items.selected.text() == "Judge these 240 items…"
    search(qtbot, opened, "zzzz <b>y</b>")
    assert "No item holds all words of “zzzz <b>y</b>”." in text_of(opened.items)
    assert opened.preview.text == "No item is chosen."
    assert opened.items.selected.isHidden()
    with qtbot.assertNotEmitted(opened.workspace.items_wanted):
        QTest.keyClick(opened, Qt.Key.Key_J, Qt.KeyboardModifier.ControlModifier)
    with qtbot.waitSignal(opened.items.table.modelReset):
        QTest.mouseClick(button(opened.items, "Clear the search"), Qt.MouseButton.LeftButton)
    assert opened.items.table.rowCount() == 240
    assert len(opened.items.selected.rows) == 1


def test_sorting_keeps_the_chosen_item_and_the_third_click_undoes_it(
    qtbot: QtBot, opened: DatasetPage
) -> None:
    opened.items.view.selectRow(41)
    in_file = ids(opened)
    sort(qtbot, opened, 1)
    dataset = opened.workspace.dataset
    texts = {item.id: item.instruction for item in dataset}
    ascending = [texts[item_id].lower() for item_id in ids(opened)]
    assert ascending == sorted(ascending)
    assert chosen(opened) == "Item 42"
    sort(qtbot, opened, 1)
    assert [texts[item_id].lower() for item_id in ids(opened)] == ascending[::-1]
    sort(qtbot, opened, 1)
    assert ids(opened) == in_file
    assert chosen(opened) == "Item 42"


def test_the_menu_of_columns_sorts_and_hides(qtbot: QtBot, opened: DatasetPage) -> None:
    chooser, view = opened.items.chooser, opened.items.view
    menu = chooser.menu()
    menu.aboutToShow.emit()
    entries = {action.text(): action for action in menu.actions()}
    assert not entries["Id"].isEnabled()
    entries["Response A"].trigger()
    assert view.isColumnHidden(2)
    with qtbot.waitSignal(opened.items.table.modelReset):
        chooser.sort_wanted.emit("id", True)
    assert ids(opened)[:2] == ["240", "239"]
    assert view.horizontalHeader().sortIndicatorSection() == 0


def test_columns_and_splitter_are_remembered(qtbot: QtBot, opened: DatasetPage) -> None:
    column = opened.items.table.columns[3]
    opened.items._columns.set_shown(column, False)
    opened._splitter.setSizes([500, 600])
    opened.keep_layout()
    again = DatasetPage(opened.workspace)
    qtbot.addWidget(again)
    again.resize(opened.size())
    again.show()
    assert again.items.view.isColumnHidden(3)
    assert abs(again._splitter.sizes()[0] - opened._splitter.sizes()[0]) < 20


def test_a_bad_file_lists_its_problems_and_leaves_the_dataset_before(
    qtbot: QtBot, opened: DatasetPage, save: Save
) -> None:
    rows = [f"{n // 2}\t<i>x</i>\ty\tz\tboth_god" for n in range(6)]
    bad = save("bad.tsv", "\n".join([f"{HEAD}\trelevance_preference", *rows, ""]).encode())
    with qtbot.waitSignal(opened.workspace.dataset_failed):
        opened.workspace.open_dataset(bad)
    notice = opened.notice
    assert notice.isVisible()
    assert "bad.tsv: 9 problems." in notice.text
    listed = notice.findChild(QPlainTextEdit)
    assert "line 3, id: id '0' is already used by line 2." in listed.toPlainText()
    assert opened.items.table.rowCount() == 240
    QTest.mouseClick(button(notice, "Copy details"), Qt.MouseButton.LeftButton)
    assert "line 7, relevance_preference" in QGuiApplication.clipboard().text()
    QTest.mouseClick(button(notice, "Open another…"), Qt.MouseButton.LeftButton)
    dialog = opened.findChild(QFileDialog)
    dialog.fileSelected.emit(str(demo_dataset()))
    qtbot.waitUntil(lambda: not opened.workspace.loading)
    assert not notice.isVisible()
    assert opened.summary.isVisible()
    dialog.reject()


def test_foreign_text_is_shown_as_text(qtbot: QtBot, page: DatasetPage, save: Save) -> None:
    path = save("&lt;x.tsv", f"{HEAD}\n{HOSTILE}\t{HOSTILE}\t# no heading\t\n".encode())
    open_file(qtbot, page, path)
    assert f"Item {HOSTILE}".replace("\u202e", "\\u202e") in page.preview.text
    assert "<b>x</b><img" in page.preview.text
    assert "# no heading" in page.preview.text
    assert "\ufffc" not in page.preview.text, "an image stands in the text as this character"


def test_of_a_long_text_more_is_shown_on_request(qtbot: QtBot, page: DatasetPage, save: Save) -> None:
    long = "word " * (MOST_SHOWN // 4)
    open_file(qtbot, page, save("long.tsv", f"{HEAD}\n1\tx\t{long}\tz\n".encode()))
    assert f"… and {len(long) - CUT_AFTER:,} characters more." in page.preview.text
    QTest.mouseClick(page.preview.more, Qt.MouseButton.LeftButton)
    assert f"… and {len(long) - MOST_SHOWN:,} characters more." in page.preview.text
    assert not page.preview.more.isVisible()


@pytest.mark.slow
def test_loading_tells_how_far_it_is_and_can_be_cancelled(
    qtbot: QtBot, opened: DatasetPage, save: Save
) -> None:
    many = "".join(f"{n}\tinstruction {n}\ta\tb\n" for n in range(240_000))
    space = opened.workspace
    path = save("many.tsv", f"{HEAD}\n{many}".encode())
    space.open_dataset(path)
    assert opened.busy.isVisible()
    qtbot.waitUntil(lambda: "rows" in opened.busy.accessibleName())
    QTest.mouseClick(button(opened.busy, "Cancel"), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not space.loading)
    assert not opened.busy.isVisible()
    assert dataset_of(space).name == "demo.tsv"
    assert not opened.notice.isVisible()


def test_every_control_has_an_accessible_name(opened: DatasetPage) -> None:
    unnamed = [
        widget
        for widget in opened.findChildren(QWidget)
        if widget.isVisible()
        and widget.focusPolicy() & Qt.FocusPolicy.TabFocus
        and not widget.accessibleName()
        and not (isinstance(widget, QPushButton) and widget.text())
    ]
    assert unnamed == []


def test_selected_items_are_judged_in_the_order_of_the_file(qtbot: QtBot, opened: DatasetPage) -> None:
    sort(qtbot, opened, 0)
    sort(qtbot, opened, 0)  # descending
    view, selected = opened.items.view, opened.items.selected
    assert selected.isHidden()
    assert selected.context_menu.actions()[0].text() == "Judge this item…"
    view.setFocus()
    view.selectRow(0)
    for _ in range(2):
        QTest.keyClick(view, Qt.Key.Key_Down, Qt.KeyboardModifier.ShiftModifier)
    first, last = ids(opened)[2], ids(opened)[0]
    assert selected.text() == selected.context_menu.actions()[0].text() == "Judge these 3 items…"
    assert selected.isVisible()
    with qtbot.waitSignal(opened.workspace.items_wanted) as wanted:
        QTest.keyClick(view, Qt.Key.Key_J, Qt.KeyboardModifier.ControlModifier)
    path, chosen_ids, columns = wanted.args
    assert (path, columns) == (demo_dataset(), None)
    assert (chosen_ids[0], chosen_ids[-1], len(chosen_ids)) == (first, last, 3)
    with qtbot.waitSignal(opened.workspace.items_wanted) as again:
        QTest.mouseClick(selected, Qt.MouseButton.LeftButton)
    assert again.args == wanted.args


def test_selected_rows_are_copied_with_tabs_as_they_are_listed(qtbot: QtBot, opened: DatasetPage) -> None:
    sort(qtbot, opened, 0)
    sort(qtbot, opened, 0)  # descending
    view, table = opened.items.view, opened.items.table
    QGuiApplication.clipboard().clear()
    view.selectRow(1)
    view.setFocus()
    QTest.keyClick(view, Qt.Key.Key_Down, Qt.KeyboardModifier.ShiftModifier)
    QTest.keyClick(view, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: QGuiApplication.clipboard().text() != "")
    cells = list(csv.reader(io.StringIO(QGuiApplication.clipboard().text()), csv.excel_tab))
    shown = [place for place in range(table.columnCount()) if not view.isColumnHidden(place)]
    assert cells == [[table.text(table.index(row, place)) for place in shown] for row in (1, 2)]


def test_the_last_row_stays_in_sight_where_the_button_appears(qtbot: QtBot, opened: DatasetPage) -> None:
    view = opened.items.view
    view.setFocus()
    lowest = view.rowAt(view.viewport().height() - 1) - 1
    view.selectRow(lowest - 1)
    before = view.viewport().height()
    QTest.keyClick(view, Qt.Key.Key_Down, Qt.KeyboardModifier.ShiftModifier)
    qtbot.waitUntil(lambda: view.viewport().height() < before)
    in_sight = view.viewport().rect
    qtbot.waitUntil(lambda: in_sight().contains(view.visualRect(view.currentIndex()).center()))
    assert view.currentIndex().row() == lowest


def test_what_is_listed_is_counted_and_handed_on_to_be_judged(qtbot: QtBot, opened: DatasetPage) -> None:
    search(qtbot, opened, "rain")
    listed = sorted(map(int, ids(opened)))
    assert 1 < len(listed) < 240
    assert opened.judge_button.text() == f"Judge these {len(listed)} items"
    labelled = f"{len(listed)} labelled of {len(listed)} listed items"
    qtbot.waitUntil(lambda: labelled in text_of(opened.summary))
    assert "240 items" in text_of(opened.summary)
    assert f"Median length in characters of {len(listed)} listed items" in text_of(opened.summary)
    dataset = opened.workspace.dataset
    safe = sum(dataset[item - 1].gold["safety"].label == "both_good" for item in listed)

    def seen() -> list[str]:
        return [bar.accessibleName() for bar in opened.summary.findChildren(ShareBar) if bar.isVisible()]

    safety = f"both good {safe}"
    qtbot.waitUntil(lambda: [safety in name for name in seen() if name[:6] == "Safety"] == [True])
    with qtbot.waitSignal(opened.workspace.items_wanted) as wanted:
        opened.judge_button.click()
    assert wanted.args == [demo_dataset(), tuple(map(str, listed)), None]
    search(qtbot, opened, "zzzz")
    assert not opened.judge_button.isEnabled()
    qtbot.waitUntil(lambda: "0 labelled of 0 listed items" in text_of(opened.summary))
    search(qtbot, opened, "")
    qtbot.waitUntil(lambda: "240 labelled\n" in text_of(opened.summary))
    with qtbot.waitSignal(opened.workspace.page_wanted) as page_wanted:
        opened.judge_button.click()
    assert page_wanted.args == ["Judge"]


# Other columns


@pytest.fixture
def with_others(qtbot: QtBot, page: DatasetPage, save: Save) -> DatasetPage:
    rows = [
        f"{n}\tWhat is {n}?\tThis.\tThat.\t{kind}\t{n * 7 % 5}\n"
        for n, kind in enumerate(("chat", "code", HOSTILE, "chat"), start=1)
    ]
    file = save("x.tsv", f"{HEAD}\tkind\tA&B\n{''.join(rows)}".encode())
    open_file_without_labels(qtbot, page, file)
    return page


def open_file_without_labels(qtbot: QtBot, page: DatasetPage, path: Path) -> None:
    with qtbot.waitSignal(page.workspace.dataset_changed):
        page.workspace.open_dataset(path)
    qtbot.waitUntil(lambda: page.items.slices.by.count() > 1)


def test_context_and_reference_answer_are_texts_of_the_item(
    qtbot: QtBot, page: DatasetPage, save: Save
) -> None:
    rows = [f"{HEAD}\tkind\treference\tcontext", "1\tAsked\ta\tb\tchat\tRight so\t<b>Told</b>", ""]
    open_file(qtbot, page, save("told.tsv", "\n".join(rows).encode()))
    text = page.preview.text
    parts = ["Asked", "Context   11", "<b>Told</b>", "Reference answer   8", "Right so", "Response A", "chat"]
    assert sorted(parts, key=text.index) == parts
    assert text.endswith("Other columns\nkind: chat")


def column(page: DatasetPage, source: str) -> int:
    return [found.source for found in page.items.table.columns].index(source)


def show_column(page: DatasetPage, source: str, on: bool = True) -> None:
    page.items.chooser._fill()
    menu = next(
        found for found in page.items.chooser._menu.actions() if "Other columns" in found.text()
    ).menu()
    assert isinstance(menu, QMenu)
    [action] = [found for found in menu.actions() if found.text() == source]
    action.setChecked(on)


def test_other_columns_are_hidden_and_not_searched_until_they_are_asked_for(
    qtbot: QtBot, with_others: DatasetPage
) -> None:
    items = with_others.items
    assert "Other columns\nkind: chat\nA&B: 2" in with_others.preview.text
    assert items.view.isColumnHidden(column(with_others, "kind"))
    items.search.setText("CODE")
    qtbot.waitUntil(lambda: items.count.text() == "0 of 4 items")
    show_column(with_others, "kind")
    assert not items.view.isColumnHidden(column(with_others, "kind"))
    assert "kind" in items._columns.record()["others"]
    qtbot.waitUntil(lambda: items.count.text() == "1 of 4 items")
    assert ids(with_others) == ["2"]
    assert items.table.index(0, column(with_others, "kind")).data() == "code"
    show_column(with_others, "kind", on=False)
    assert items.view.isColumnHidden(column(with_others, "kind"))
    search(qtbot, with_others, "")
    show_column(with_others, "A&&B")  # a sign & in a name marks no key
    items.chooser.sort_wanted.emit("A&B", False)
    qtbot.waitUntil(lambda: ids(with_others) == ["3", "1", "4", "2"])  # numbers by size


def test_one_slice_of_the_items_is_listed(qtbot: QtBot, with_others: DatasetPage) -> None:
    items = with_others.items
    items.slices.choose("column:kind", "chat")
    qtbot.waitUntil(lambda: ids(with_others) == ["1", "4"])
    assert items.count.text() == "2 of 4 items"
    items.slices.choose("column:kind", HOSTILE)
    qtbot.waitUntil(lambda: ids(with_others) == ["3"])
    assert "\u202e" not in items.slices.parts.currentText()
    assert items.slices.parts.sizeHint().width() < 300
    items.slices.choose("")
    qtbot.waitUntil(lambda: len(ids(with_others)) == 4)


def test_a_hundred_other_columns_stand_in_menus_that_fit_a_screen(
    qtbot: QtBot, page: DatasetPage, save: Save
) -> None:
    names = [f"{'x' * 255}{number}" for number in range(45)]
    file = save("x.csv", ",".join([*HEAD.split("\t"), *names]).encode() + b"\n1,a,b,c" + b",v" * 45)
    open_file_without_labels(qtbot, page, file)
    page.items.chooser._fill()
    texts = [found.text() for found in page.items.chooser._menu.actions() if "Other" in found.text()]
    assert [text.partition(", ")[2] for text in texts] == ["1 to 20", "21 to 40", "41 to 45"]
    menu = next(found for found in page.items.chooser._menu.actions() if "Other" in found.text()).menu()
    assert isinstance(menu, QMenu)
    assert menu.sizeHint().width() < 500


def test_what_the_model_is_shown_is_wanted_of_the_chosen_item(qtbot: QtBot, opened: DatasetPage) -> None:
    opened.items.view.selectRow(3)
    menu = opened.items.selected.context_menu.actions()[1]
    methods: list[Callable[[], object]] = [opened.preview.prompt.click, menu.trigger]
    methods.append(lambda: QTest.keyClick(opened, Qt.Key.Key_P))
    for method in methods:
        with qtbot.waitSignal(opened.prompt_wanted) as wanted:
            method()
        assert wanted.args[0].id == "4"
    opened.items.start_search()
    with qtbot.assertNotEmitted(opened.prompt_wanted):  # there it is a letter
        QTest.keyClick(opened.items.search, Qt.Key.Key_P)
    assert opened.items.search.text() == "p"
