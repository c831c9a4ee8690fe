"""Jobs that export annotations of a run to a file, and count and import those of others.

Knows: what is shown of such files before they are added. Does not know: windows.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from engine.core.formatting import counted, listed
from engine.core.tables import Sheet
from engine.system.files import check_targets
from gui.workspace.threads import Job, JobControl

if TYPE_CHECKING:
    from engine.data.dataset import Dataset
    from engine.results.annotation_file import AnnotationFile
    from engine.results.annotation_import import Joining


@dataclass(frozen=True)
class CountedFiles:
    """Files, each with its name, and what they would add to a run, as it is shown."""

    files: "Sequence[tuple[str, AnnotationFile]]"
    joining: "Joining"
    sheet: Sheet


def export_words(
    store_path: Path, run_id: int, annotators: Sequence[str], path: Path, texts: "Dataset | None" = None
) -> Job[str]:
    """Write the annotations of a run by these annotators, all where none is named; a sentence on what was
    written.

    `texts`: the dataset of the run, whose texts are included.
    """

    def work(_control: JobControl) -> str:
        from engine.results.annotation_file import annotation_file, save_annotation_file
        from engine.store.run_store import RunStore

        with RunStore(store_path) as store:
            identity = store.run(run_id).identity
            in_use = {"dataset": identity.dataset_path, "model": identity.model_path, "run store": store_path}
            check_targets({"The file": path}, in_use)
            made = annotation_file(store, run_id, annotators, texts)
        save_annotation_file(path, made)
        words, items = len([*made.words.all]), len(made.items)
        return (
            f"Written: {path.name}\n{counted(words, 'annotation', 'annotations')} of"
            f" {listed(made.annotators)} on"
            f" {counted(items, 'item', 'items')}. {made.texts_in_words}"
        )

    return work


def count_files(store_path: Path, run_id: int, paths: Sequence[Path]) -> Job[CountedFiles]:
    """What files of others would add to a run. SetupError where one is none."""

    def work(_control: JobControl) -> CountedFiles:
        from engine.results.annotation_file import load_annotation_file

        return _counted(store_path, run_id, [(path.name, load_annotation_file(path)) for path in paths], {})

    return work


def add_files(
    store_path: Path, run_id: int, counted_files: CountedFiles, answers: Mapping[tuple[str, str], str]
) -> Job[str]:
    """Add them; `answers` as `look_at` takes them. A sentence on what was added."""

    def work(_control: JobControl) -> str:
        from engine.report.annotators import joined_sentence
        from engine.results.annotation_import import join
        from engine.store.run_store import RunStore

        # Once more: the run may have changed while the user read what was counted.
        joining = _counted(store_path, run_id, counted_files.files, answers).joining
        with RunStore(store_path) as store:
            join(store, joining)
        return joined_sentence(joining)

    return work


def _counted(
    store_path: Path,
    run_id: int,
    files: "Sequence[tuple[str, AnnotationFile]]",
    answers: Mapping[tuple[str, str], str],
) -> CountedFiles:
    from engine.report.annotators import joining_sections
    from engine.results.annotation_import import look_at
    from engine.store.run_store import RunStore

    with RunStore(store_path) as store:
        joining = look_at(store, run_id, files, answers)
    return CountedFiles(
        files, joining, Sheet(f"Annotations for {joining.run.called}", joining_sections(joining))
    )
