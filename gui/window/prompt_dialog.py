"""What a model is shown of an item; on demand what it would write next."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QKeySequence, QShortcut
from PySide6.QtWidgets import QPushButton, QWidget

from engine.core.errors import EngineError
from engine.core.formatting import percent, short_name, words
from engine.core.items import Method, Order
from gui.judge import prompt_jobs
from gui.judge.prompt_jobs import KeyedPrompt, PromptAnswer, PromptHead, PromptKey, Subject
from gui.widgets import labels
from gui.widgets.fields import ComboBox
from gui.widgets.foreign_text import OneLine, one_line, plain_label
from gui.widgets.notice import Notice
from gui.widgets.prompt_pane import PromptView, ShownPrompt
from gui.widgets.views import TableModel, measure_view, sentence_case
from gui.workspace.page import PageSplitter
from gui.workspace.task_panel import TaskPanel
from gui.workspace.threads import ThreadName
from gui.workspace.workspace import Workspace

_ORDER_WORDS = {Order.AB: "A first, then B", Order.BA: "B first, then A"}
_LETTERS = ((Method.LABEL_TOKENS, ""),)
# "1" is the first of several reasoning samples, all asked alike: its number is not shown.
_WHICH = {"A": "response shown first", "B": "response shown second", "1": ""}
_HIDDEN = "Hidden while you label blind."
_ALONE = (
    "The model reads the prompts of this item as in a run, both orders and all criteria; nothing is stored."
)


@dataclass(frozen=True)
class PromptRequest:
    """`may_see`: whether what the model says of a criterion may be seen. `chosen_on`: where the model was
    chosen, where no run names it. `masses`: the answer mass that the run has read at each prompt.
    """

    subject: Subject
    criterion: str
    may_see: Callable[[str], bool] = lambda _criterion: True
    chosen_on: str = ""
    masses: Mapping[PromptKey, float] = field(default_factory=dict)


class PromptDialog(labels.Dialog):
    """Makes the prompts when it opens; what is under way when it closes is dropped."""

    def __init__(self, workspace: Workspace, wanted: PromptRequest, parent: QWidget | None = None) -> None:
        super().__init__("Prompt of the model", parent, 200, 44, 0.92)
        self._workspace = workspace
        self._wanted = wanted
        self._head: PromptHead | None = None
        self._prompts: dict[PromptKey, ShownPrompt] = {}
        self._answers: Mapping[PromptKey, PromptAnswer] = {}
        self._make_parts()
        threads, failed = workspace.threads, self._tell_failure
        # Not on the worker thread of the model: the vocabulary alone is read, also while a run has the model.
        self._making = TaskPanel(threads, ThreadName.SCAN, self, failed=failed, follow=self._take)
        # This opens the model, so it waits for a run that has one.
        answers, changed = self._take_answers, self._show_answer
        self._asking = TaskPanel(threads, ThreadName.MODEL, self, answers, failed=failed, changed=changed)
        self.busy = self._asking.line
        self._lay_out()
        self._connect()
        self._making.start(prompt_jobs.show_prompts(wanted.subject, (wanted.criterion, Order.AB)))

    # Making

    def _make_parts(self) -> None:
        item_id = self._wanted.subject.item.id
        self.title = OneLine(one_line(f"Item {item_id}: reading the model's vocabulary …"))
        self.criterion, self.order, self.method = ComboBox(), ComboBox(), ComboBox()
        self.method.hide()  # unless there is a choice
        for box, accessible in (
            (self.criterion, "Criterion (1 to 9)"),
            (self.order, "Order (O)"),
            (self.method, "Elicitation method (W)"),
        ):
            labels.narrow(box)
            labels.name(box, accessible, accessible)
        self.method.setMinimumContentsLength(24)
        self.tokens = QPushButton("Tokens")
        self.tokens.setCheckable(True)
        marks = "Mark where each token begins (T); rest the mouse on one for its number"
        labels.name(self.tokens, "Tokens", marks)
        self.view = PromptView()
        self.pane = self.view.pane
        to_verdict = "Scroll to where the verdict is read"
        self.verdict = labels.button("To the verdict", self.pane.show_verdict, what=to_verdict)
        exactly = "Copy the whole text exactly as the model gets it"
        self.copy = labels.button("Copy all", self._copy, what=exactly)
        self.notice = Notice()
        self.notes = plain_label()
        self.notes.hide()
        self.counts = labels.hint("")
        self.token = OneLine()
        self.ask = labels.button("Ask the model", self._ask, what=_ALONE)
        self.answer = TableModel(self)
        self.answer_view = measure_view(self.answer, "The likeliest next tokens")
        self.answer_view.hide()
        self.mass = labels.label("")
        self.mass.hide()

    def _lay_out(self) -> None:
        above = labels.in_row(
            self.criterion, self.order, self.method, self.tokens, self.verdict, self.copy, labels.STRETCH
        )
        left = labels.as_column((self.view, labels.STRETCH), self.token, self.counts)
        title, why = labels.heading("Next-token probabilities"), labels.hint(_ALONE)
        ask = (self.ask, Qt.AlignmentFlag.AlignLeft)
        answered = (self.busy, self.mass, self.answer_view, labels.STRETCH)
        right = labels.as_column(title, why, ask, *answered, role="content")
        scrolled = labels.scrolling(right)  # of large text the table is higher than the window
        across = PageSplitter(Qt.Orientation.Horizontal, left, scrolled, stretches=(3, 1))
        across.setSizes([690, 460])
        below = (self.notice, self.notes, (across, labels.STRETCH), labels.close_button(self))
        labels.in_column(self.title, above, *below, on=self, margins=None)

    def _connect(self) -> None:
        self.criterion.activated.connect(self._show)
        self.order.activated.connect(self._show)
        self.method.activated.connect(self._show_method)
        self.tokens.toggled.connect(self.pane.show_tokens)
        at = "Token at the cursor: {}"
        self.pane.token_changed.connect(lambda text: self.token.setText(one_line(text and at.format(text))))
        self.finished.connect(self._forget)
        for key, do in (("T", self.tokens.toggle), ("O", self._other_order), ("W", self._next_method)):
            QShortcut(QKeySequence(key), self, do)
        for place in range(9):
            QShortcut(QKeySequence(str(place + 1)), self, partial(self._choose_criterion, place))
        self._enable(False)

    def _enable(self, there: bool) -> None:
        for widget in (self.criterion, self.order, self.tokens, self.verdict, self.copy, self.ask):
            widget.setEnabled(there)

    # What is shown

    @property
    def key(self) -> PromptKey:
        asked = self._head.asked if self._head is not None else ()
        order = Order(self.order.currentData() or Order.AB)
        method, question = (asked or _LETTERS)[max(0, self.method.currentIndex())]
        return PromptKey(str(self.criterion.currentData()), order, method, question)

    def _take(self, event: PromptHead | KeyedPrompt) -> None:
        if isinstance(event, PromptHead):
            self._show_head(event)
            return
        self._prompts[event.key] = event.prompt
        if event.key == self.key:
            self._show()

    def _show_head(self, head: PromptHead) -> None:
        if self._head is not None:  # of another way: what is chosen stays chosen
            return
        self._head = head
        subject, chosen_on = self._wanted.subject, self._wanted.chosen_on
        how = f"as in {subject.run.called} for" if subject.run else "for"
        where = f"{short_name(head.model)}, {chosen_on}" if chosen_on else short_name(head.model)
        self.title.setText(one_line(f"Item {short_name(subject.item.id)} {how} {where}"))
        self.title.setToolTip("")
        criteria = [(sentence_case(words(criterion)), criterion) for criterion in head.criteria]
        self.criterion.offer(criteria, self._wanted.criterion)
        self.order.offer([(_ORDER_WORDS[order], order.value) for order in head.orders])
        for method, question in head.asked:
            # `Label tokens`, `Permuted label tokens: BCDA`, `Pointwise yes/no: response shown first`
            which = _WHICH.get(question, question)
            self.method.addItem(method.title.capitalize() + (f": {which}" if which else ""))
        self.method.setVisible(len(head.asked) > 1)
        labels.show_text(self.notes, "\n".join(head.notes))
        self._enable(True)

    def _show_method(self) -> None:
        """Make the prompts of another question; those of all together would take much memory."""
        criterion, order, method, question = self.key
        self._prompts.clear()
        subject, asked = self._wanted.subject, (method, question)
        self._making.start(prompt_jobs.show_prompts(subject, (criterion, order), asked))
        self._show()

    def _next_method(self) -> None:
        if self.method.count() > 1:
            self.method.setCurrentIndex((self.method.currentIndex() + 1) % self.method.count())
            self._show_method()

    def _show(self) -> None:
        prompt = self._prompts.get(self.key)
        self.view.show_prompt(prompt)
        counts = "Reading the model's vocabulary …"
        if prompt is not None:
            total = prompt.stem + prompt.trunk + prompt.branch
            counts = (
                f"{total:,} tokens: {prompt.stem:,} of the stem (read once for a run), {prompt.trunk:,} of"
                f" the item in this order, {prompt.branch:,} of the question."
            )
            if not prompt.exact:
                counts += " This tokenizer changes a text before reading it: its tokens show what is read."
        self.counts.setText(counts)
        self._show_answer()

    def _forget(self) -> None:
        self._prompts.clear()
        self.view.show_prompt(None)

    def _choose_criterion(self, place: int) -> None:
        if place < self.criterion.count():
            self.criterion.setCurrentIndex(place)
            self._show()

    def _other_order(self) -> None:
        if self.order.count():
            self.order.setCurrentIndex((self.order.currentIndex() + 1) % self.order.count())
            self._show()

    def _copy(self) -> None:
        if self.pane.prompt is not None:
            QGuiApplication.clipboard().setText(self.pane.prompt.as_read)
            self.copy.setText("Copied")

    # What comes next

    def _ask(self) -> None:
        self.notice.hide()
        self._asking.begin(prompt_jobs.ask(self._wanted.subject), "Starting …")

    def _take_answers(self, answers: Mapping[PromptKey, PromptAnswer]) -> None:
        self._answers = answers
        self._show_answer()

    def _show_answer(self) -> None:
        key = self.key
        answer, may_see = self._answers.get(key), self._wanted.may_see(key.criterion)
        self.ask.setVisible(not self._answers)
        fits = self._head is not None and self._head.fits
        self.ask.setEnabled(fits and may_see and not self._asking.busy)
        shown = answer if may_see else None
        self.answer_view.setVisible(shown is not None)
        self.mass.setVisible((shown is not None and bool(shown.held_by)) or not may_see)
        if shown is not None:
            self.answer.show_table(shown.table)
            then = self._wanted.masses.get(key)
            in_run = f"; in the run {percent(then)}" if then is not None else ""
            self.mass.setText(f"{shown.held_by} {percent(shown.mass)} (answer mass{in_run}).")
        elif not may_see:
            self.mass.setText(_HIDDEN)

    def _tell_failure(self, error: EngineError) -> None:
        self.notice.show_error(error)
        if self._head is None:
            self.title.setText(one_line(f"Item {self._wanted.subject.item.id}"))
