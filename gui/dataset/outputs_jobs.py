"""Jobs that make a dataset of pairs out of the outputs of several candidates.

Knows: how outputs are read, matched and written as pairs. Does not know: windows.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from engine.core.column_map import parse_columns
from engine.core.pairs_plan import PairsPlan
from engine.core.sheets import Sheet
from engine.system.files import check_targets
from gui.work.lanes import Job, JobControl

if TYPE_CHECKING:
    from engine.data.pairs import MatchedOutputs


@dataclass(frozen=True)
class FoundOutputs:
    """What files have in common, and how it is shown. `read`: the files, by what they are."""

    matched: "MatchedOutputs"
    sheet: Sheet
    read: Mapping[str, Path]


def match_files(paths: Sequence[Path], columns: str, instructions: Path | None) -> Job[FoundOutputs]:
    """What the outputs in some files have in common.

    `columns`: what is read of them, as it is written on one line; what it leaves out is guessed. SetupError.
    """

    def work(control: JobControl) -> FoundOutputs:
        from engine.data.outputs import read_instructions, read_outputs
        from engine.data.pairs import match_outputs
        from engine.report.pairs_sheet import found_sections

        sources = parse_columns(columns, of_outputs=True)
        asked = read_instructions(instructions, sources, control.cancel) if instructions else None
        matched = match_outputs([read_outputs(path, sources, control.cancel) for path in paths], asked)
        sheet = Sheet("Outputs", found_sections(matched))
        read = {f"file of {one.outputs.candidate}": one.outputs.path for one in matched.kept}
        if instructions is not None:
            read["file of the instructions"] = instructions
        return FoundOutputs(matched, sheet, read)

    return work


def write_pairs(found: FoundOutputs, plan: PairsPlan, path: Path) -> Job[Path]:
    """Make the pairs and write them as a dataset; where it is. SetupError."""

    def work(_control: JobControl) -> Path:
        from engine.data.dataset_file import check_suffix
        from engine.data.pairs import make_pairs

        check_suffix(path)
        check_targets({"The dataset": path}, found.read)
        make_pairs(found.matched, plan).write(path)
        return path

    return work
