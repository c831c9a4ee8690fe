"""The words of the window, each explained in a few lines; the help that shows them on one page, and the first
steps. `docs/` says the same at length.
"""

from dataclasses import dataclass
from enum import Enum

from PySide6 import QtWidgets
from PySide6.QtCore import Qt, QTimer, Signal

from engine.core import formatting
from engine.core.errors import Setting
from gui.widgets import labels
from gui.widgets.action_table import with_keys
from gui.widgets.notice import FIELDS


class Topic(Enum):
    LABELS = "Labels"
    RUBRIC = "Rubric"
    UNCERTAINTY = "Uncertainty"
    ANSWER_MASS = "Answer mass"
    FLIPPED = "Position inconsistency"
    MARKS = "Marks and states"
    HEALTH = "Does the model judge?"
    CALIBRATION = "Calibration"
    TRUST = "Trust"
    LEARNING = "Learning curve"
    WEIGHTS = "Weights"
    TIE_THRESHOLD = "Tie threshold"
    INTERVAL = "95 % interval"
    KAPPA = "Kappa"
    MACRO_F1 = "Macro-F1"
    ROUGE_L = "ROUGE-L"
    AGREEMENT = "Agreement"
    SLICE = "Slice"
    RANKING = "Ranking"
    CONTEXT = "Context"


@dataclass(frozen=True)
class Meaning:
    """`text`: paragraphs, a line each. `page`: the page of `docs/` that says more."""

    text: str
    page: str


GLOSSARY: dict[Topic, Meaning] = {
    Topic.LABELS: Meaning(
        "Each judgment is one of four labels: A or B, the better response; both good; both bad.\n"
        "The label comes from the probabilities that the model assigns to the four, averaged over both orders"
        " of the responses. Unscored: there is no label; the reason is given.\n"
        "Effective label: the adjudicated label, else the latest annotation, else the judge's label.",
        "how-it-judges.md",
    ),
    Topic.RUBRIC: Meaning(
        "The criteria and the words of the prompt around them. Each criterion has a question and may say what"
        " makes a response good or bad. The task's five criteria are one rubric; others are bundled, and you"
        " can write your own.\n"
        "Human labels are read from the columns that begin with the names of the criteria. Another question"
        " or wording makes another run; a run stores the rubric that it was judged by.",
        "rubrics.md",
    ),
    Topic.UNCERTAINTY: Meaning(
        "How useful it is to review a judgment, from 0 to 1: 1 minus the margin. The margin is the"
        " probability of the likeliest label minus that of the next.\n"
        "The margin is halved for each of these: the two orders disagree; the label of overall quality is"
        " another response than the winner by weighted scoring; the explanation was written for another"
        " label.\n"
        "The uncertainty is 1 if there is no label, and 0 if an annotator decided. That of an item is the"
        " highest of its judgments.\n"
        "Labels given in order of uncertainty are of the hardest items. To measure accuracy, label the random"
        " sample instead (order of the list).",
        "how-it-judges.md",
    ),
    Topic.ANSWER_MASS: Meaning(
        "Total probability of the four valid answers. The rest goes to tokens that are no answer.\n"
        "Near 100 %: the model understood the question. Well below: it did not, and its labels mean little.",
        "how-it-judges.md",
    ),
    Topic.FLIPPED: Meaning(
        "Each pair is judged in both orders of the responses. A judgment is position-inconsistent, or flipped"
        " (⇄), if the two orders alone would give different labels: the position of a response counted, not"
        " only its text. The flip rate is the share of such judgments.\n"
        "A run can use the second order only if the first leaves a label uncertain. For the other judgments"
        " it is unknown whether they are flipped, so they are not counted.",
        "how-it-judges.md",
    ),
    Topic.MARKS: Meaning(
        "Marks in the list of Review, each with the number of criteria: ⇄ the two orders disagree; ⚖ the"
        " judges of a jury disagree, or some gave no answer; ≠ the label differs from the human one; ✎ an"
        " annotator gave the label or the explanation; ! the explanation was written for another label; ∅ the"
        " submission has no answer; * you have an unsaved explanation or note.\n"
        "States show your own progress: to do; ✓ done, you accepted the item's labels with Enter, or labelled"
        " the criterion chosen above the list; » skipped. Each annotator has their own states.",
        "window.md",
    ),
    Topic.HEALTH: Meaning(
        "Some models do not understand the question, or give the same answer to everything. Tiebreak checks"
        " this without human labels, from 10 items on. A limit counts only if chance does not explain it.\n"
        "Look closely: the answer mass of a criterion is below 90 %, more than 30 % of its labels are"
        " flipped, or there are other signs, such as explanations that repeat themselves.\n"
        "Does not judge: on more than half of the criteria the answer mass is below 50 %, or more than 50 %"
        " of the labels are flipped; or nearly all have one label, or none. Choose another model.\n"
        "With fewer than 10 items there is no verdict, but clear signs are reported.",
        "how-it-judges.md",
    ),
    Topic.CALIBRATION: Meaning(
        "A model's probabilities are biased: towards the first response, a label token, or away from both"
        " good. A calibration shifts and scales them for each criterion so that they fit human labels.\n"
        "Its gain is measured by cross-validation. Items of the fit are recognised by their texts and decided"
        " by a fit without them. The stored raw predictions do not change, and you can remove the calibration"
        " again. A few labels do little harm: if they carry no information on a criterion, only the class"
        " prior is used.\n"
        "By default A and B are treated alike, so that no label depends on the position of a response.",
        "measures.md",
    ),
    Topic.TRUST: Meaning(
        "Which of a judge's labels you may keep. A label may stand if the judge is confident enough. How"
        " confident is enough, human labels of items that were drawn at random tell.\n"
        "Target: of the labels that stand, at least this share agrees with people. Risk: how probable it may"
        " be that fewer do. With a target of 85 % and a risk of 10 %, nine of ten such samples of labels keep"
        " the promise.\n"
        "Labels of items that were picked, for instance the most uncertain ones, cannot show this. Choose"
        " target, risk and the number of labels before you look. Each further look is another test, unless"
        " you said before that you may look again.\n"
        "Escalated: items with a label that may not stand. Review lists them, and a label of your own decides"
        " them.\n"
        "If nothing may stand, few labels agreed, or there are too few labels: the tables say which.",
        "measures.md",
    ),
    Topic.LEARNING: Meaning(
        "How well a calibration predicts held-out labels, by the number of training labels, which doubles"
        " from step to step. If the last doubling brought no gain, more labels will hardly help.\n"
        "The baseline predicts from the class prior of the same labels. If several annotators labelled the"
        " items, each is compared with the majority of the others.",
        "measures.md",
    ),
    Topic.WEIGHTS: Meaning(
        "Weighted scoring gives each response a score from 0 to 10 on each criterion: 10 times the"
        " probability that it is the better one or that both are good. Weights set how much each criterion"
        " counts in the sum.\n"
        "Fitted weights are those that explain the human overall labels best. Their ranges show how far the"
        " labels of other items could move them. Criteria with a weight of 0 are not in the fit.",
        "measures.md",
    ),
    Topic.TIE_THRESHOLD: Meaning(
        "If the weighted scores of the two responses differ by this much or less, it is a tie. The default is"
        " 0.5 points, or the rubric's own.",
        "measures.md",
    ),
    Topic.INTERVAL: Meaning(
        f"{formatting.INTERVAL}\n"
        "It does not cover what the items cannot show: other kinds of questions, other annotators.",
        "measures.md",
    ),
    Topic.KAPPA: Meaning(
        f"{formatting.KAPPA}\n"
        "If nearly all items have one label, always giving that label is nearly always correct, and still has"
        " a kappa of 0. Below 0: less agreement than by chance. Unscored counts as a label of its own.",
        "measures.md",
    ),
    Topic.MACRO_F1: Meaning(
        f"{formatting.MACRO_F1}\n"
        "F1 of a label combines two shares: precision (of the judge's labels of this kind, those that are"
        " correct) and recall (of the human labels of this kind, those that the judge finds).",
        "measures.md",
    ),
    Topic.ROUGE_L: Meaning(
        f"{formatting.ROUGE_L}\n"
        "It knows Latin letters without accents, and digits: explanations in other scripts score 0. If most"
        " human explanations are in other scripts, it is not measured. An item without an explanation by the"
        " judge counts as 0.",
        "measures.md",
    ),
    Topic.AGREEMENT: Meaning(
        f"{formatting.AGREEMENT} That model reads the item, both labels and both explanations.\n"
        "Between systems or annotators, agreement is the share of equal labels, and kappa.",
        "measures.md",
    ),
    Topic.SLICE: Meaning(
        "A part of the items that have something in common: a value of a column, the length of the texts,"
        " which response is longer, the script, the human label, an annotators' tag. Each slice is measured"
        " as all items are; with labels of fewer than 10 instructions it says next to nothing.\n"
        f"{formatting.SLICES_NOTE}",
        "measures.md",
    ),
    Topic.RANKING: Meaning(
        "A candidate is a model that wrote responses; each item is a comparison of two candidates. The win"
        " rate is the share of comparisons that a candidate won; a tie counts half.\n"
        "The Bradley-Terry score is the share that it would win against an average candidate, by the"
        " Bradley-Terry model with ties. It is fair even if candidates met different opponents. Candidates"
        " that share a letter do not differ significantly: more labels may separate them, or they are"
        " alike.\n"
        "At equal length: the share that it would win if both responses were always equally long. Labels"
        " cannot tell whether longer responses are better or only preferred.\n"
        "A ranking by a judge is as good as the judge: Results shows how far it agrees with human labels.",
        "measures.md",
    ),
    Topic.CONTEXT: Meaning(
        "How many tokens (pieces of words) the model can hold at once: the prompt with the instruction and"
        " both responses, and what it writes. A larger context needs more memory.\n"
        f"An item that does not fit is unscored, with the reason; “{FIELDS[Setting.SHORTEN]}” omits the"
        " middle of its responses instead, and records it.",
        "how-it-judges.md",
    ),
}

WHAT_IT_DOES = (
    "Tiebreak lets a language model on this computer judge which of two responses is better, and shows how"
    " far its judgments can be trusted."
)
THREE_STEPS = (
    ("Judge", "Press Run (Ctrl+R). The model reads every pair and labels it."),
    ("Check", "On Results (Ctrl+3) see the judge's accuracy, and whether it beats the baselines."),
    ("Correct", "On Review (Ctrl+4) check the most uncertain judgments first. Then File > Export."),
)
"""What a first study is, title and sentence of each step."""

MORE_BY_F1 = "F1 explains it."
"""The last words of a tool tip whose word is explained here."""


_NAME = "help"
_HOW = (
    "To try it, the demo dataset and the demo model are chosen already: just press Run."
    " Your own data: Ctrl+O, or drop a file on the window."
)


class HelpDialog(labels.Dialog):
    def __init__(self, parent: QtWidgets.QWidget | None = None) -> None:
        super().__init__("What the words mean", parent, 84, 34, 0.85)
        self.setObjectName(_NAME)
        self.search = QtWidgets.QLineEdit(placeholderText="Search", clearButtonEnabled=True)
        labels.name(self.search, "Show only explanations with this text")
        self.search.textChanged.connect(self._filter)
        self.sections = {topic: _section(topic) for topic in Topic}
        self._nothing = labels.hint("No explanation has this text.")
        self._nothing.hide()
        content = labels.as_column(
            *self.sections.values(), self._nothing, labels.STRETCH, margins=None, role="content"
        )
        self.area = labels.DownScroll(content, "What the words mean")
        close = labels.close_button(self)
        labels.in_column(self.search, (self.area, labels.STRETCH), close, on=self, margins=None)

    def show_topic(self, topic: Topic | None) -> None:
        self.search.clear()
        self.show()
        self.raise_()
        self.activateWindow()
        if topic is None:
            self.search.setFocus()
            return
        # Once the sections have their heights.
        QTimer.singleShot(0, self, lambda: self.area.verticalScrollBar().setValue(self.sections[topic].y()))
        self.area.setFocus()

    def _filter(self, text: str) -> None:
        wanted = text.casefold().split()
        for topic, section in self.sections.items():
            said = f"{topic.value} {GLOSSARY[topic].text}".casefold()
            section.setVisible(all(word in said for word in wanted))
        self._nothing.setVisible(all(section.isHidden() for section in self.sections.values()))


def show_help(window: QtWidgets.QWidget, topic: Topic | None = None) -> HelpDialog:
    """Show the help beside a window or dialog, at a topic; there is one for each."""
    found = window.findChild(HelpDialog, _NAME, Qt.FindChildOption.FindDirectChildrenOnly)
    dialog = found if isinstance(found, HelpDialog) else HelpDialog(window)
    dialog.show_topic(topic)
    return dialog


class HelpMark(QtWidgets.QToolButton):
    def __init__(self, topic: Topic) -> None:
        super().__init__()
        self.topic = topic
        self.setText("?")
        self.setAutoRaise(True)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        what = topic.value if topic.value.endswith("?") else f"What is meant: {topic.value.lower()}"
        labels.name(self, what, "Opens the glossary at this word")
        self.clicked.connect(self._show)

    def _show(self) -> None:
        show_help(self.window(), self.topic)


class FirstSteps(QtWidgets.QFrame):
    closed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("role", "panel")
        steps = QtWidgets.QGridLayout()
        steps.setColumnStretch(1, 1)
        steps.setHorizontalSpacing(12)
        for number, (title, what) in enumerate(THREE_STEPS, start=1):
            steps.addWidget(labels.heading(f"{number}. {title}"), number, 0, Qt.AlignmentFlag.AlignTop)
            steps.addWidget(labels.label(what), number, 1)
        words = with_keys("What the words mean", "show_help")
        meaning = labels.button(words, lambda: show_help(self.window()))
        close = labels.button("Close", self.closed.emit, "Show these first steps no more")
        above = (labels.heading("Welcome to Tiebreak"), labels.label(WHAT_IT_DOES), steps)
        buttons = labels.in_row(meaning, close, labels.STRETCH)
        margins = (12, 10, 12, 10)
        labels.in_column(*above, labels.hint(_HOW), buttons, on=self, margins=margins, spacing=8)


def headed(text: str, topic: Topic) -> QtWidgets.QWidget:
    return beside_help(labels.heading(text), topic)


def beside_help(title: QtWidgets.QWidget, topic: Topic) -> QtWidgets.QWidget:
    """A heading that changes, with the same mark."""
    return labels.as_row(title, HelpMark(topic), labels.STRETCH, spacing=4)


def _section(topic: Topic) -> QtWidgets.QWidget:
    entry = GLOSSARY[topic]
    parts = map(labels.label, entry.text.splitlines())
    more = labels.hint(f"More in docs/{entry.page}")
    title = labels.heading(topic.value)
    return labels.as_column(title, *parts, more, margins=(0, 4, 0, 10), spacing=4)
