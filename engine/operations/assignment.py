"""An assignment in a folder: a file for each annotator, and one for whoever leads the annotation."""

from collections import Counter
from pathlib import Path

from engine.core.formatting import counted, file_stem
from engine.core.tables import Column, Kind, Row, Section, Sentences, Table
from engine.data.assignment import AssignmentDesign, Purpose, assign, assignment_columns, columns_for
from engine.data.dataset import Dataset
from engine.data.submission import write_dataset
from engine.system.files import check_targets, make_folder

_LONGEST_STEM = 100  # bytes
LIST = "assignment.tsv"
_COLUMNS = (
    Column("annotator", "annotator", Kind.TEXT, "Who gets the file."),
    Column("file", "file", Kind.TEXT, "A dataset to label by hand, in this program or in another tool."),
    *(
        Column(purpose.value, title, Kind.COUNT, what)
        for purpose, title, what in (
            (Purpose.TRAINING, "training", "Items before all others, with their human labels."),
            (Purpose.GOLD, "gold", "Items with a human label, which all annotators get."),
            (Purpose.ITEM, "items", "Items of their own, or shared as the overlap says."),
            (Purpose.REPEAT, "repeats", "Items that come a second time, unmarked."),
        )
    ),
)


def write_assignment(dataset: Dataset, design: AssignmentDesign, folder: Path) -> Section:
    """Deal the items and write the files; what each annotator got. SetupError for too few items, and for
    names that make the same name of a file.
    """
    found = assign(dataset, design)
    files = {name: folder / f"{file_stem(name, _LONGEST_STEM)}.tsv" for name in found}
    make_folder(folder)
    written: dict[str, Path | None] = {f"The file of {name}": path for name, path in files.items()}
    check_targets({"The list": folder / LIST, **written}, {"dataset": dataset.path})
    for name, path in files.items():
        write_dataset(path, columns_for(dataset, found[name]))
    write_dataset(folder / LIST, assignment_columns(found))
    rows: list[Row] = []
    for name, own in found.items():
        counts = Counter(each.purpose for each in own)
        rows.append([name, files[name].name, *(counts[purpose] for purpose in Purpose)])
    dealt = Counter(each.item_id for own in found.values() for each in own if each.purpose is Purpose.ITEM)
    said = [
        f"{counted(len(dealt), 'item', 'items')} of {dataset.name}, each for"
        f" {counted(design.overlap, 'annotator', 'annotators')}, seed {design.seed}.",
        f"{LIST} says which item stands at which place: keep it from the annotators.",
    ]
    return Section("assignment", "Who labels what", [Sentences(said), Table(_COLUMNS, rows)])
