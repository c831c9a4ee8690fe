"""What the Dataset page says while no dataset is open.

Knows: what a dataset is. Does not know: how one is opened.
"""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QPushButton, QScrollArea

from engine.core.formatting import short_name
from gui.kit.foreign_text import one_line
from gui.kit.labels import heading, hint, label, main_button, name, panel
from gui.kit.layouts import STRETCH, as_column, as_row, in_row
from gui.reading.glossary import WHAT_IT_DOES

_WHAT = (
    "A dataset is a table. Each row is an item: an id, an instruction, and two responses to it, A and B. "
    "They are judged on the five criteria of the ELOQUENT task, or on those of a rubric of your own."
)
_COLUMNS = (
    "Columns: id, instruction, output_a, output_b. Human labels are optional: relevance_preference, "
    "relevance_explanation, and so on for naturalness, truthfulness, safety and overall_quality, or for the "
    "criteria of the rubric that is chosen on the Judge page. "
    "A label is A, B, both_good or both_bad. If your file has other columns, you are asked which is which."
)
_FORMATS = "Files: .tsv, .csv, .json, .jsonl, .ndjson and .parquet, each also packed as .gz."
NEW_FROM_OUTPUTS = (
    "Make pairs of the responses of several models to the same instructions, one file per model"
)


class Welcome(QScrollArea):
    """Tells what to do first."""

    open_wanted = Signal()
    demo_wanted = Signal()
    outputs_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setWidgetResizable(True)
        choose, demo = main_button("Open…"), QPushButton("Open the demo dataset")
        name(choose, "Open a dataset", "Choose a file on this computer")
        name(demo, "Open the demo dataset", "240 short labelled items that come with Tiebreak")
        outputs = QPushButton("New from outputs…")
        name(outputs, "New from outputs", NEW_FROM_OUTPUTS)
        choose.clicked.connect(self.open_wanted)
        outputs.clicked.connect(self.outputs_wanted)
        demo.clicked.connect(self.demo_wanted)
        buttons = as_row(choose, demo, outputs, STRETCH, margins=(0, 4, 0, 4))
        self._heading = heading("")
        self.show_reading(None)
        frame = panel(
            self._heading,
            label(f"{WHAT_IT_DOES} {_WHAT}"),
            buttons,
            hint("Or drop a file anywhere on this page."),
            hint(_COLUMNS),
            hint(_FORMATS),
        )
        frame.setMaximumWidth(self.fontMetrics().averageCharWidth() * 110)
        content = as_column(STRETCH, in_row(STRETCH, (frame, 8), STRETCH), 2, margins=None, role="content")
        self.setWidget(content)
        self.setFrameShape(QScrollArea.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)

    def show_reading(self, file_name: str | None) -> None:
        """Say that a dataset is being read; None for none."""
        self._heading.setText(
            "No dataset is open" if file_name is None else f"Reading {one_line(short_name(file_name))} …"
        )
