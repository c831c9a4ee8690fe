"""What the user can call by a menu or a key, as one table: menus, keys in tool tips and docs come from it. A
new action is a row here, and what it does, by its name, where its menu is filled or its page is made. A row
without a name is what Qt's own lists, fields and buttons do with a key.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto

from PySide6.QtGui import QKeySequence

_NUMBERED = re.compile(r"^&\d ")  # the pages
_BETWEEN = re.compile(r"(, | or )(?=\S)")  # keys; a comma at the end is one


class When(Enum):
    ALWAYS = auto()
    RUN_OPEN = auto()  # a run with judgments that can be exported
    JUDGING = auto()
    IDLE = auto()


@dataclass(frozen=True)
class Action:
    """`text`: in its menu, `&` before its letter, or in the list of keys."""

    name: str
    text: str
    keys: str = ""
    when: When = When.ALWAYS

    @property
    def sequences(self) -> list[QKeySequence]:
        """What is pressed; the key Enter is the one that Qt calls Return."""
        keys = _BETWEEN.sub("\n", self.keys).splitlines()
        return [QKeySequence(key.replace("Enter", "Return")) for key in keys]

    @property
    def native_keys(self) -> str:
        form = QKeySequence.SequenceFormat.NativeText
        parts = _BETWEEN.split(self.keys)
        return "".join(QKeySequence(part).toString(form) if "Ctrl+" in part else part for part in parts)

    @property
    def plain_text(self) -> str:
        return _NUMBERED.sub("", self.text).replace("&", "").rstrip("…")


@dataclass(frozen=True)
class Submenu:
    """A menu within a menu; one without rows is filled each time that it opens."""

    name: str
    title: str
    rows: "Rows" = ()


Rows = Sequence[Action | Submenu | None]
"""The entries of a menu; None: a line between them."""

PAGES: Mapping[str, Sequence[Action]] = {
    "Dataset": (
        Action("search", "Search the items", "/ or Ctrl+F"),
        Action("", "From the search field to the items", "Enter or Down"),
        Action("", "Clear the search", "Esc"),
        Action("", "Go through the items", "Up, Down, Page Up, Page Down"),
        Action(
            "",
            "Select several items, or all; also Ctrl or Shift with a click",
            "Shift+Up, Shift+Down, Ctrl+A",
        ),
        Action("judge_selected", "Judge only the selected items (also: right click)", "Ctrl+J"),
        Action("prompt", "The exact prompt of the item for the model chosen on the Judge page", "P"),
        Action("copy", "Copy the selected rows", "Ctrl+C"),
        Action("", "Change which columns of a file are used", "Alt+C"),
    ),
    "Judge": (
        Action("", "In the queue: move, name or remove a run", "Alt+Up, Alt+Down, F2, Delete"),
        Action("", "In the latest judgments: open one in Review", "Enter"),
    ),
    "Results": (
        Action("", "menu of the figure that has the focus", "Enter"),
        Action("", "copy the table or figure", "Ctrl+C"),
    ),
    "Review": (
        Action("step", "Next, previous item", "J, K"),
        Action("criterion", "Criterion", "1 to 9"),
        Action("label_a_b", "Override the label of the open criterion with A, with B", "A, B"),
        Action("label_both", "Override it with both good, both bad", "G, X"),
        Action(
            "what_follows",
            "After a label: stay, go to the next criterion, or to the next criterion and then the next item",
            "L",
        ),
        Action("undo", "Undo your last action on this item, or on the previous item; redo it", "U, Shift+U"),
        Action("edit", "Write another explanation: Ctrl+Enter saves, Esc leaves", "E"),
        Action("beside", "Other systems side by side, or the judgment alone", "V"),
        Action("markdown", "Markdown or plain text", "M"),
        Action("fold", "Fold the judgment to one line, or open it", "F"),
        Action("marking", "Highlight differences, shared words, nothing", "D"),
        Action("accept", "Accept the item: all its labels, or that of the criterion chosen above", "Enter"),
        Action(
            "",
            "Adjudicate the judgment by majority; go to the next on which annotators differ",
            "Enter, while you adjudicate",
        ),
        Action("skip", "Skip the item; go to the next one to do", "S"),
        Action("reopen", "Reopen the item: mark it to do", "T"),
        Action("orders", "Large bars for each order of the responses", "Space"),
        Action(
            "methods",
            "Raw predictions of each elicitation method, and the chain of thought; again for the top of the"
            " judgment",
            "W",
        ),
        Action(
            "read_on", "Scroll the judgment, or the columns, by one page; from the end back to the top", "O"
        ),
        Action(
            "part",
            "To the next part, or back: list, texts, judgment or columns; arrows scroll",
            "F6, Shift+F6",
        ),
        Action("history", "History: who changed the judgment, what and when", "H"),
        Action("note", "Note and tags of the item: Ctrl+Enter saves, Esc leaves", "N"),
        Action("prompt", "The exact prompt of the item", "P"),
        Action("search", "Search: Enter or Down goes to the list, Esc empties the search", "/"),
        Action(
            "judge_again",
            "Judge this item again, alone or with another model (also: right click in the list)",
            "Ctrl+J",
        ),
        Action("judge_listed", "Judge all listed items", "Ctrl+Shift+J"),
    ),
    "Compare": (
        Action("compare", "Compare the ticked systems", "Ctrl+Enter"),
        Action("", "Tick a run or a submission", "Space"),
        Action("", "Remove a submission from the list", "Delete"),
        Action("search", "Search the items that differ", "/"),
        Action(
            "",
            "Open the item in Review; list the items on which two systems differ, or those of a slice",
            "Enter",
        ),
    ),
    "Ranking": (
        Action("rank", "Rank again", "Ctrl+Enter"),
        Action("", "List the items of a row or of a pair in Review; menu of the picture", "Enter"),
        Action("", "Copy the table or the picture that has the focus", "Ctrl+C"),
    ),
}
"""The keys of each page, in the order of the rail."""

RUBRIC_EDITOR: Sequence[Action] = (
    Action("", "In the table: another criterion", "Up, Down"),
    Action("change", "Add a criterion below, remove the criterion", "Ins, Del"),
    Action("move", "Move it", "Alt+Up, Alt+Down"),
    Action("save", "Save", "Ctrl+S"),
    Action("", "Close; asks if something is not saved", "Esc"),
)
"""The keys of the dialog that edits a rubric."""

_OPEN = When.RUN_OPEN
EXPORTS_OF_RESULTS: Sequence[Action] = (
    Action("export_labels", "Submission for sub-task &1: labels…", "Ctrl+E", _OPEN),
    Action("export_explained", "Submission for sub-task &2: labels and explanations…", "Ctrl+Shift+E", _OPEN),
    Action("export_dataset", "&Dataset with these labels…", when=_OPEN),
    Action("export_csv", "All data as &CSV…", when=_OPEN),
    Action("export_json", "All data as &JSON…", when=_OPEN),
    Action("export_report", "&Report as HTML…", when=_OPEN),
    Action("export_figures", "&Figures as PNG and SVG…", when=_OPEN),
)
"""Also in the menu of a button on Results."""
_EXPORTS = (
    *EXPORTS_OF_RESULTS,
    Action("export_mine", "&My annotations…", when=_OPEN),
    Action("export_all", "Annotations of &all annotators…", when=_OPEN),
    Action("export_sheet", "Labelling &sheet for a browser…"),
    Action("assign_items", "Assign &items to annotators…"),
)
_THEMES = (
    Action("theme_system", "As the &system"),
    Action("theme_light", "&Light"),
    Action("theme_dark", "&Dark"),
)
_SIZES = (
    Action("wider_part", "&Wider part", "Ctrl+Shift+Right"),
    Action("narrower_part", "&Narrower part", "Ctrl+Shift+Left"),
    Action("higher_part", "&Higher part", "Ctrl+Shift+Down"),
    Action("lower_part", "&Lower part", "Ctrl+Shift+Up"),
    Action("wider_column", "W&ider column", "Alt+Right"),
    Action("narrower_column", "Na&rrower column", "Alt+Left"),
)

MENUS: Mapping[str, Rows] = {
    "&File": (
        Action("open_dataset", "&Open dataset…", "Ctrl+O"),
        Action("new_from_outputs", "&New dataset from outputs…"),
        Action("new_from_prompts", "New dataset from &prompts…"),
        Action("open_submission", "Open s&ubmission…", "Ctrl+Shift+O"),
        Submenu("recent", "Open &recent"),
        Action("open_demo", "Open the &demo dataset"),
        None,
        Submenu("export", "&Export", _EXPORTS),
        Action("check_submission", "&Check the submission…", when=_OPEN),
        Action("import_annotations", "&Import annotations…"),
        None,
        Action("show_runs", "&Runs…", "Ctrl+L"),
        Action("show_settings", "&Settings…", "Ctrl+,"),
        Action("quit", "&Quit", "Ctrl+Q"),
    ),
    "&Edit": (
        Action("undo_last", "&Undo the last annotation", "Ctrl+Z"),
        Action("redo_last", "&Redo it", "Ctrl+Shift+Z or Ctrl+Y"),
    ),
    "&View": (
        *(
            Action(f"show_{page}", f"&{number} {page}", f"Ctrl+{number}")
            for number, page in enumerate(PAGES, start=1)
        ),
        Action("show_head", "&Current dataset, run, rubric and annotator", "F7"),
        Action("show_notices", "N&otices", "F8"),
        None,
        Submenu("theme", "&Theme", _THEMES),
        Action("larger_text", "&Larger text", "Ctrl++ or Ctrl+="),
        Action("smaller_text", "S&maller text", "Ctrl+-"),
        Action("normal_text", "&Normal text", "Ctrl+0"),
        Submenu("resize", "&Resize", _SIZES),
    ),
    "&Run": (
        Action("run", "&Run or resume", "Ctrl+R or F5", When.IDLE),
        Action("stop", "&Stop", "Ctrl+.", When.JUDGING),
        None,
        Action("add_to_queue", "&Add to queue", "Ctrl+Shift+R"),
        Action("start_queue", "Start &queue", "Shift+F5"),
        None,
        Action("label_by_hand", "&Label the dataset by hand"),
    ),
    "&Help": (
        Action("show_help", "What the &words mean", "F1"),
        Action("show_keys", "&Keys", "?"),
        Action("show_self_test", "Self-&test…"),
        Action("copy_diagnostics", "&Copy diagnostics"),
        None,
        Action("open_data_folder", "Open the &data folder"),
        Action("open_log_folder", "Open the &log folder"),
        None,
        Action("show_about", "&About Tiebreak"),
    ),
}


def entries(rows: Rows) -> Iterator[Action]:
    for row in rows:
        if isinstance(row, Submenu):
            yield from entries(row.rows)
        elif row is not None:
            yield row


OF_MENUS: Mapping[str, Action] = {action.name: action for rows in MENUS.values() for action in entries(rows)}
"""The entries of all menus, by their names."""


_OF_JUDGE = {
    "run": "Run, or resume a run; a complete run is not judged again",
    "stop": "Stop the run, and the queue; judged items stay saved",
    "add_to_queue": "Add the described run to the queue",
    "start_queue": "Start the queue",
}
"""Entries of menus that the keys of the page Judge have, too, in more words."""


def of_page(page: str, name: str) -> Action:
    return next(action for action in PAGES[page] if action.name == name)


def with_keys(text: str, action: str) -> str:
    """A tool tip that ends with the keys of a menu's entry: `Open a dataset (Ctrl+O)`."""
    return f"{text} ({OF_MENUS[action].native_keys})"


def keys_of(place: str) -> Sequence[tuple[Action, str]]:
    """The actions of a page, of the rubric editor, or else of the menus, with what each does."""
    if place == "Rubric editor":
        return [(action, action.plain_text) for action in RUBRIC_EDITOR]
    if place not in PAGES:
        return [(action, action.plain_text) for action in OF_MENUS.values() if action.keys]
    of_menus = [(OF_MENUS[name], what) for name, what in _OF_JUDGE.items() if place == "Judge"]
    return [*of_menus, *((action, action.plain_text) for action in PAGES[place])]


def key_table(place: str) -> str:
    """The same as a table of a page of docs/."""
    lines = [f"| {action.keys} | {what} |" for action, what in keys_of(place)]
    return "\n".join(["| key | what it does |", "|---|---|", *lines, ""])
