"""A rubric as it is edited: its fields, what is wrong, its prompt, keys, files, questions."""

from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QInputMethodEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPushButton
from pytestqt.qtbot import QtBot

from engine.core.errors import SetupError
from engine.core.events import CancelToken
from engine.core.items import Method, Order
from engine.core.prompt_text import Source
from engine.core.rubric import (
    DEFAULT_WORDING,
    ELOQUENT,
    MOST_CRITERIA,
    WORDING_PARTS,
    Criterion,
    PromptWording,
    Rubric,
    marks_of,
)
from engine.data.dataset import Dataset, load_dataset
from engine.data.rubrics.files import load_rubric, rubric_text, shipped_rubrics
from engine.judging.item_prompt import OnePrompt, question_of_setup, shown_prompts
from engine.settings.run_setup import RunSetup
from engine.system.paths import demo_model, rubrics_folder
from gui.judge import rubric_dialog
from gui.judge.prompt_jobs import KINDS, read_rubric
from gui.judge.rubric_dialog import PreviewPanel, RubricDialog, RubricRequest
from gui.judge.rubric_edit import (
    FIELDS_OF_CRITERION,
    MARKS,
    RUBRIC,
    WORDING,
    EditedCriterion,
    EditedRubric,
    FieldPlace,
    LineField,
    RubricDraft,
    TextField,
)
from gui.widgets.theme import ThemeChoice, apply_theme
from gui.workspace.threads import EngineThreads
from gui.workspace.workspace import Workspace
from tests.gui.jobs import done
from tests.gui.labels import shown_text
from tests.gui.steps import answer, shown

MANNERS = Rubric(
    "Manners",
    (
        Criterion("politeness", "Which is more polite?", 2.0, "It thanks.", "It insults."),
        Criterion("x", "y?"),
    ),
    1.0,
    "Made up.",
    PromptWording(verdict="Urteil:"),
)
SOUND = EditedRubric.of(MANNERS)


@pytest.mark.parametrize("rubric", [ELOQUENT, MANNERS])
def test_what_is_not_changed_comes_back_as_it_was(rubric: Rubric) -> None:
    edited = EditedRubric.of(rubric)
    assert edited.problems == {}
    assert edited.rubric() == rubric


def criterion(**values: object) -> EditedRubric:
    return SOUND.with_criterion(0, replace(SOUND.criteria[0], **values))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("edited", "at", "says"),
    [
        (replace(SOUND, name=" "), FieldPlace(RUBRIC, "name"), "It is empty."),
        (replace(SOUND, name="x" * 256), FieldPlace(RUBRIC, "name"), "It has 256 characters."),
        (replace(SOUND, source="a\x00b"), FieldPlace(RUBRIC, "source"), "which is invisible."),
        (replace(SOUND, criteria=()), FieldPlace(RUBRIC, "criteria"), "at least one"),
        (criterion(name=""), FieldPlace(0, "name"), "It is empty. Write one, of letters, digits"),
        (criterion(name="on topic"), FieldPlace(0, "name"), "cannot be part of a column name."),
        (criterion(name="X"), FieldPlace(0, "name"), "It is that of another criterion."),
        (criterion(name="x"), FieldPlace(1, "name"), "It is that of another criterion."),
        (criterion(question="\n"), FieldPlace(0, "question"), "It is empty."),
        (criterion(question="y" * 4001), FieldPlace(0, "question"), "It has 4,001 characters."),
        (criterion(good="a\tb"), FieldPlace(0, "good"), "invisible"),
        (criterion(weight=float("nan")), FieldPlace(0, "weight"), "Use 0 or a positive number."),
        (SOUND.with_part("system", "Judge."), FieldPlace(WORDING, "system"), "needs {letters}, each once"),
        (SOUND.with_part("verdict", "a\nb"), FieldPlace(WORDING, "verdict"), "more than one line"),
        (SOUND.with_part("yes", "NO"), FieldPlace(WORDING, "yes"), "Another of these is the same."),
        (SOUND.with_part("yes", "NO"), FieldPlace(WORDING, "no"), "Another of these is the same."),
    ],
)
def test_what_is_wrong_is_said_of_its_field(edited: EditedRubric, at: FieldPlace, says: str) -> None:
    assert says in edited.problems[at]
    with pytest.raises(SetupError):
        edited.rubric()


def test_too_many_criteria_are_refused_as_a_whole_and_of_names_that_are_alike_only_these() -> None:
    edited = SOUND.with_part("response_a", "Response B")
    assert {at.field for at in edited.problems} == {"response_a", "response_b"}
    many = tuple(EditedCriterion(f"c{number}", "Which?") for number in range(MOST_CRITERIA + 1))
    assert list(replace(SOUND, criteria=many).problems) == [FieldPlace(RUBRIC, "criteria")]


def test_problems_stand_in_the_order_in_which_a_person_reads() -> None:
    wrong = replace(criterion(name="", question=""), name="").with_part("system", "")
    of_rubric, *of_criterion, of_wording = wrong.problems
    assert (of_rubric, of_wording) == ((RUBRIC, "name"), (WORDING, "system"))
    assert of_criterion == [(0, "name"), (0, "question")]


def test_what_is_wrong_is_left_open_in_what_is_shown() -> None:
    wrong = criterion(question="").with_part("system", "Judge.").with_part("now", "Jetzt:")
    sound = wrong.sound(0)
    assert (sound.criteria[0].question, sound.criteria[0].good) == ("…", "It thanks.")
    assert sound.wording == PromptWording(verdict="Urteil:", now="Jetzt:")
    assert replace(SOUND, criteria=()).sound(-1).names == ("criterion",)


def test_the_tab_of_the_wording_has_every_part_with_its_marks() -> None:
    default = asdict(DEFAULT_WORDING)
    assert sorted(WORDING_PARTS) == sorted(default)
    assert len({part.title for part in WORDING_PARTS.values()}) == len(default)
    assert set(MARKS) == {mark for text in default.values() for mark in marks_of(text)}
    refused = {part for part in WORDING_PARTS if SOUND.with_part(part, f"{default[part]}\nx").problems}
    assert refused == {name for name, part in WORDING_PARTS.items() if part.one_line}


@pytest.fixture
def demo(demo_gold: Path) -> Dataset:
    return load_dataset(demo_gold)


def made(
    qtbot: QtBot, threads: EngineThreads, dataset: Dataset | None = None, model: Path | None = None
) -> PreviewPanel:
    asked = EditedRubric.of(ELOQUENT)
    panel = PreviewPanel(RubricDraft(asked), threads, RubricRequest(asked, None, dataset, model))
    shown(qtbot, panel)
    qtbot.waitUntil(lambda: panel.pane.prompt is not None)  # at once, whatever the model takes
    qtbot.waitUntil(lambda: not panel._making.busy)
    return panel


def inks(panel: PreviewPanel) -> set[Source]:
    return {span.source for span in panel.pane.prompt.spans}


def text(panel: PreviewPanel) -> str:
    return panel.pane.toPlainText()


def test_it_is_what_a_run_with_this_model_asks(qtbot: QtBot, threads: EngineThreads, demo: Dataset) -> None:
    panel = made(qtbot, threads, demo, demo_model())
    question = question_of_setup(RunSetup(demo.path, demo_model()), demo[0], CancelToken())
    prompts = {
        one.order: one.preview
        for one in shown_prompts(question, ("relevance", Order.AB), CancelToken())
        if isinstance(one, OnePrompt) and one.criterion == "relevance"
    }
    assert panel.pane.prompt.as_read == prompts[Order.AB].text
    assert f": {len(prompts[Order.AB].tokens):,} tokens." in panel.said.text()
    assert Source.CONTROL in inks(panel)
    panel.order.setCurrentIndex(panel.order.findData(Order.BA.value))
    panel.make()
    qtbot.waitUntil(lambda: panel.pane.prompt.as_read == prompts[Order.BA].text)


def test_without_a_model_the_text_alone_is_shown(
    qtbot: QtBot, threads: EngineThreads, tmp_path: Path
) -> None:
    panel = made(qtbot, threads)
    assert {Source.OWN, Source.INSTRUCTION, Source.RESPONSE_A, Source.RESPONSE_B} <= inks(panel)
    assert Source.CONTROL not in inks(panel)
    assert "a sample item" in panel.said.text()
    assert "without a model's chat format" in panel.said.text()
    assert text(panel).endswith("Verdict:")
    panel = made(qtbot, threads, model=tmp_path / "gone.gguf")
    assert "gone.gguf" in panel.note.text()
    assert "[Instruction]" in text(panel)


def test_every_question_is_seen_as_it_is_written(qtbot: QtBot, threads: EngineThreads, demo: Dataset) -> None:
    panel = made(qtbot, threads, demo, demo_model())
    for kind, asked, ends in (
        (None, "", "Verdict: A\nExplanation:"),
        (Method.PERMUTED_LABELS, "For this question alone", "Verdict:"),
        (Method.POINTWISE_YES_NO, "yes or no", "Answer:"),
        (Method.POINTWISE_GRADE, "from 1 (very bad)", "Grade:"),
        (Method.LABEL_TOKENS, "", "Verdict:"),
    ):
        panel.kind.setCurrentIndex(panel.kind.findText(KINDS[kind]))
        panel.make()
        qtbot.waitUntil(lambda: not panel._making.busy)
        assert text(panel).endswith(ends)
        assert asked in text(panel)
        assert "tokens." in panel.said.text()
    draft = panel._draft
    draft.write(draft.rubric.with_part("verdict", "Urteil:"))
    qtbot.waitUntil(lambda: text(panel).endswith("Urteil:"))
    draft.write(draft.rubric.with_part("system", "Nothing."))  # which lacks its mark
    qtbot.waitUntil(lambda: "shown with their defaults" in panel.note.text())
    assert "You compare two responses" in text(panel)
    draft.choose(3)
    qtbot.waitUntil(lambda: "Criterion: safety." in text(panel))
    panel.item.setValue(2)
    qtbot.waitUntil(lambda: demo[1].instruction[:30] in text(panel))


THREE_CRITERIA = Rubric(
    "Manners",
    (
        Criterion("politeness", "Which response is more polite?", 2.0, "It thanks.", "It insults."),
        Criterion("brevity", "Which response is shorter?"),
        Criterion("on_topic", "Which response speaks of what was asked?"),
    ),
    1.0,
    "Made up.",
)
TEXT = f"# kept by hand\n{rubric_text(THREE_CRITERIA)}"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    made = tmp_path / "manners.toml"
    made.write_text(TEXT, encoding="utf-8")
    return made


Opener = Callable[..., RubricDialog]


@pytest.fixture
def opened(qtbot: QtBot, workspace: Workspace) -> Opener:
    def opened(request: RubricRequest) -> RubricDialog:
        dialog = RubricDialog(workspace, request)
        qtbot.addWidget(dialog, before_close_func=lambda _: dialog.draft.write(dialog._kept))
        return shown(qtbot, dialog, (1200, 660))

    return opened


@pytest.fixture
def dialog(opened: Opener) -> RubricDialog:
    """With three criteria that are in no file."""
    return opened(RubricRequest(EditedRubric.of(THREE_CRITERIA)))


@pytest.fixture
def of_file(opened: Opener, path: Path) -> RubricDialog:
    """With the same, of a file."""
    file = done(read_rubric(path))
    return opened(RubricRequest(EditedRubric.of(file.rubric), file))


def write(field: LineField | TextField, text: str) -> None:
    """As a person does: in the place of what is there."""
    field.setFocus()
    field.selectAll()
    if not text.isascii():
        written = QInputMethodEvent()
        written.setCommitString(text)
        QApplication.sendEvent(field, written)
    elif text:
        QTest.keyClicks(field, text)
    else:
        QTest.keyClick(field, Qt.Key.Key_Backspace)


def test_a_criterion_is_written_added_moved_and_removed(dialog: RubricDialog) -> None:
    tab, view = dialog.criteria, dialog.criteria.view
    view.setFocus()
    QTest.keyClick(view, Qt.Key.Key_Down)
    assert tab.name_field.text() == "brevity"
    write(tab.question_field, "Which one is short?")
    write(tab.bad_field, "It rambles.")
    view.setFocus()
    QTest.keyClick(view, Qt.Key.Key_Up, Qt.KeyboardModifier.AltModifier)
    QTest.keyClick(view, Qt.Key.Key_Insert)
    assert dialog.focusWidget() is tab.name_field
    write(tab.name_field, "good humour")  # a space cannot be in a column's name
    write(tab.question_field, "Which is funnier?")
    dialog.draft.choose(3)
    view.setFocus()
    QTest.keyClick(view, Qt.Key.Key_Delete)
    found = dialog.draft.rubric.rubric()
    assert found.names == ("brevity", "good_humour", "politeness")
    assert found.criteria[0] == Criterion("brevity", "Which one is short?", bad="It rambles.")
    assert found.criteria[2] == THREE_CRITERIA.criteria[0]
    assert view.currentIndex().row() == dialog.draft.place == 2


def test_problems_stand_at_their_fields_and_keep_it_from_being_saved(dialog: RubricDialog) -> None:
    tab = dialog.criteria
    write(tab.question_field, "")
    assert "It is empty." in tab.fields.said("question")
    assert "It is empty." in tab.question_field.accessibleDescription()
    assert tab.table.index(0, 0).data() == "⚠ politeness"
    assert dialog.problem.text().startswith("Criterion 1 (politeness), question: It is empty.")
    assert not dialog.save_button.isEnabled()
    assert not dialog.save_as_button.isEnabled()
    dialog.save()  # by its key
    assert not list(rubrics_folder().glob("*"))
    dialog.draft.choose(2)
    dialog.tabs.setCurrentWidget(dialog.wording)
    dialog.show_button.click()
    assert dialog.tabs.currentWidget() is tab
    assert dialog.focusWidget() is tab.question_field
    write(tab.question_field, "Which?")
    assert tab.fields.said("question") == ""
    assert dialog.save_button.isEnabled()
    write(dialog.name_field, "")  # what is wrong can only be discarded
    said = answer("Discard them")
    dialog.close_button.click()
    assert "cannot be saved" in said[0]
    assert not dialog.isVisible()


def test_no_problem_moves_a_field_until_mended(qtbot: QtBot, qapp: QApplication, opened: Opener) -> None:
    apply_theme(qapp, ThemeChoice.LIGHT, 100, qapp.font().pointSizeF())  # as a window does
    dialog = opened(RubricRequest(EditedRubric.of(THREE_CRITERIA)))
    tab, wrong = dialog.criteria, ("name", "question", "good")
    fields = [dialog.head.field("source"), *map(tab.fields.field, FIELDS_OF_CRITERION)]
    before = [field.mapTo(dialog, QPoint(0, 0)) for field in fields]
    sound = dialog.draft.rubric
    broken = sound.with_criterion(0, replace(sound.criteria[0], name="2 much", question="", good="a\x07"))
    dialog.draft.write(replace(broken, name=""))
    dialog._take_look("of another program")
    qtbot.waitUntil(lambda: dialog.notice.isVisible() and dialog.preview.note.isVisible())
    dialog.draft.choose(1)
    assert not any(map(tab.fields.said, wrong))
    dialog.draft.choose(0)
    assert [field.mapTo(dialog, QPoint(0, 0)) for field in fields] == before
    assert all(map(tab.fields.said, wrong))
    assert dialog.head.said("name")
    dialog.draft.write(replace(dialog.draft.rubric, criteria=()))
    assert not any(map(tab.fields.said, FIELDS_OF_CRITERION))  # what is wrong is the rubric's own name
    dialog.draft.write(sound)
    assert not any(map(tab.fields.said, wrong))
    assert "Letters, digits" in shown_text(tab)


def test_the_wording_is_changed_and_put_back(dialog: RubricDialog) -> None:
    tab = dialog.wording
    dialog.tabs.setCurrentWidget(tab)
    write(tab.fields["verdict"], "Urteil:")
    write(tab.fields["system"], "Nur {letters}")
    assert dialog.draft.rubric.rubric().wording == PromptWording(verdict="Urteil:", system="Nur {letters}")
    write(tab.fields["criterion"], "Kriterium {name}")
    assert "needs {name} and {question}" in tab.said("criterion")
    assert dialog.problem.text().startswith("Wording, Criterion: It needs")
    tab.default_buttons["criterion"].click()
    assert tab.said("criterion") == ""
    assert tab.default_buttons["verdict"].isVisible()
    assert not tab.default_buttons["criterion"].isVisible()
    tab.reset_button.click()
    assert dialog.draft.rubric.rubric().wording == DEFAULT_WORDING
    assert not tab.reset_button.isEnabled()


def test_a_file_is_saved_whole_closing_asks(qtbot: QtBot, of_file: RubricDialog, path: Path) -> None:
    dialog = of_file
    assert not dialog.save_button.isEnabled()
    write(dialog.name_field, "Höflichkeit 礼貌")
    dialog.threshold_field.setValue(0.25)
    with qtbot.waitSignal(dialog.saved) as saved:
        QTest.keyClick(dialog, Qt.Key.Key_S, Qt.KeyboardModifier.ControlModifier)
    expected = replace(THREE_CRITERIA, name="Höflichkeit 礼貌", tie_threshold=0.25)
    assert load_rubric(path) == expected
    assert saved.args[0].rubric == expected
    assert path.read_text("utf-8").startswith("# kept by hand\n")
    assert not dialog.modified
    dialog.reject()  # nobody is asked
    assert not dialog.isVisible()
    dialog.show()
    write(dialog.name_field, "Other")
    said = answer("Go on editing")
    QTest.keyClick(dialog, Qt.Key.Key_Escape)
    assert said == ["“Other” has changes that are not saved."]
    assert dialog.isVisible()
    answer("Save")
    with qtbot.waitSignal(dialog.accepted):
        dialog.close()
    assert load_rubric(path).name == "Other"


def test_what_comes_with_the_program_is_saved_as_a_copy(
    qtbot: QtBot, opened: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Path] = []

    def choose(_parent: object, _title: str, suggestion: Path, _kind: str) -> Path:
        asked.append(suggestion)
        return suggestion

    monkeypatch.setattr(rubric_dialog, "ask_target", choose)
    shipped = shipped_rubrics()[1]
    dialog = opened(RubricRequest(EditedRubric.of(shipped)))
    with qtbot.waitSignal(dialog.saved):
        dialog.save_button.click()
    assert asked == [rubrics_folder() / f"{shipped.name}.toml"]
    assert load_rubric(asked[0]) == shipped
    with qtbot.waitSignal(dialog.saved):  # it has a file now
        write(dialog.name_field, "mine")
        dialog.save_button.click()
    assert len(asked) == 1
    assert load_rubric(asked[0]).name == "mine"
    assert shipped_rubrics()[1] == shipped


def test_a_changed_file_is_not_overwritten_unasked(qtbot: QtBot, of_file: RubricDialog, path: Path) -> None:
    dialog = of_file
    write(dialog.name_field, "Mine")
    theirs = TEXT.replace('"Manners"', '"Theirs"')
    path.write_text(theirs, encoding="utf-8")
    dialog.look()  # as whoever comes back to the window
    qtbot.waitUntil(dialog.notice.isVisible)
    assert "Another program changed this file." in dialog.notice.text
    said = answer("Do not save")
    dialog.save_button.click()
    qtbot.waitUntil(lambda: bool(said))
    assert said[0].startswith("manners.toml was changed by another program.")
    assert path.read_text("utf-8") == theirs
    dialog.reload_button.click()
    qtbot.waitUntil(lambda: dialog.name_field.text() == "Theirs")
    assert not dialog.modified
    write(dialog.name_field, "Mine")
    path.write_text(TEXT, encoding="utf-8")
    answer("Replace it")
    with qtbot.waitSignal(dialog.saved):
        dialog.save_button.click()
    assert load_rubric(path).name == "Mine"


def test_a_file_that_cannot_be_written_loses_nothing(qtbot: QtBot, of_file: RubricDialog, path: Path) -> None:
    dialog = of_file
    write(dialog.name_field, "Mine")
    path.unlink()
    path.mkdir()
    answer("Save")
    with qtbot.waitSignal(dialog._writing.failed):
        dialog.reject()
    assert "is a folder" in dialog.notice.text
    assert dialog.isVisible()
    path.rmdir()
    with qtbot.waitSignal(dialog.saved):
        dialog.save_button.click()
    assert dialog.isVisible()  # the wish to close was one of before
    assert load_rubric(path).name == "Mine"


def test_long_names_and_other_scripts_widen_nothing(opened: Opener) -> None:
    criteria = (
        Criterion("n" * 255, "Which? " + "w" * 300),
        Criterion("الأدب", "أي رد أكثر تهذيبًا؟"),
        Criterion("礼貌", "哪个回答更有礼貌？"),
    )
    rubric = Rubric("R" * 255, criteria, source="s" * 4000)
    dialog = opened(RubricRequest(EditedRubric.of(rubric)))
    assert dialog.draft.problems == {}
    assert dialog.minimumSizeHint().width() <= 1024
    assert dialog.minimumSizeHint().height() <= 640
    assert dialog.draft.rubric.rubric() == rubric


def test_every_control_has_a_name_and_tab_leaves_every_field(opened: Opener) -> None:
    dialog = opened(RubricRequest(EditedRubric.of(ELOQUENT)))
    for field in [*dialog.findChildren(LineField), *dialog.wording.fields.values()]:
        assert field.accessibleName()
    assert all(button.text() or button.accessibleName() for button in dialog.findChildren(QPushButton))
    dialog.name_field.setFocus()
    met = []
    for _ in range(12):
        met.append(dialog.focusWidget())
        QTest.keyClick(dialog.focusWidget(), Qt.Key.Key_Tab)
    of_tab = (dialog.criteria.view, dialog.criteria.name_field, dialog.criteria.question_field)
    order = (dialog.name_field, dialog.source_field, dialog.threshold_field, *of_tab)
    places = [met.index(widget) for widget in order]
    assert places == sorted(places)


def test_a_problem_of_the_rubric_leads_to_its_field(opened: Opener) -> None:
    dialog = opened(RubricRequest(EditedRubric()))
    assert next(iter(dialog.draft.problems)) == FieldPlace(RUBRIC, "name")
    dialog.criteria.view.setFocus()
    dialog.show_button.click()
    assert dialog.focusWidget() is dialog.name_field
    write(dialog.name_field, "New")
    dialog.draft.remove()
    dialog.show_button.click()
    assert dialog.focusWidget() is dialog.criteria.add_button
    dialog.draft.add()
    write(dialog.criteria.name_field, "a")
    write(dialog.criteria.question_field, "b?")
    dialog.draft.write(dialog.draft.rubric.with_part("yes", ""))
    dialog.show_button.click()
    assert next(iter(dialog.draft.problems)) == FieldPlace(WORDING, "yes")
    assert dialog.tabs.currentWidget() is dialog.wording
    assert dialog.focusWidget() is dialog.wording.fields["yes"]
