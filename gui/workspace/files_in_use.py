"""Which files the window works with, so that nothing is written over them.

Knows: the workspace, the files chosen in settings. Does not know: what is written.
"""

from pathlib import Path

from PySide6.QtWidgets import QWidget

from gui.widgets.files import FileChoice
from gui.workspace.workspace import Workspace


def files_in_use(workspace: Workspace, widget: QWidget) -> dict[str, Path]:
    """Each file that is open or chosen in the window of a widget, by the words for it."""
    found = {"run store": workspace.store_path, **workspace.in_use}
    top = widget
    while (above := top.parentWidget()) is not None:  # a dialog has a window below
        top = above
    for choice in top.findChildren(FileChoice):
        if choice.path is not None:
            found[f"chosen file of {choice.what}"] = choice.path
    if workspace.dataset is not None:
        found["open dataset"] = workspace.dataset.path
    if workspace.gold is not None:
        found["dataset with the human labels"] = workspace.gold.path
    if workspace.run is not None:
        run = workspace.run.results.run
        found[f"dataset of {run.called}"] = run.identity.dataset_path
        what = "submission that is open" if run.submitted else f"model of {run.called}"
        if not run.panel:
            found[what] = run.identity.model_path
    return found
