"""Prompts to which candidate models write responses: an instruction each, with a system message and a context
where the file has them, and a reference answer, which no candidate sees.
"""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import NamedTuple

from engine.core.column_map import GAP, ID, INSTRUCTION, SYSTEM
from engine.core.errors import Hint, InputError, Setting
from engine.core.events import CancelToken
from engine.core.formatting import listed, quoted
from engine.core.items import BACKGROUND
from engine.core.rubric import ELOQUENT
from engine.data import column_words as naming
from engine.data.column_content import filled_sample
from engine.data.column_guess import guess_columns
from engine.data.column_source import CellSource, RowReader, SourceProblem, parse_source
from engine.data.tables import SourceTable, open_table
from engine.system.sandbox import sandboxed

OF_PROMPTS = (ID, SYSTEM, INSTRUCTION, *BACKGROUND)
"""What is read of a file with prompts."""


class CandidatePrompt(NamedTuple):
    """`id`: unlike any other of its file. `system`, `context`, `reference`: empty where there is none."""

    id: str
    instruction: str
    system: str = ""
    context: str = ""
    reference: str = ""

    @property
    def message(self) -> str:
        """What the user says: the context, then the instruction."""
        return f"{self.context}\n\n{self.instruction}" if self.context.strip() else self.instruction


@sandboxed
def read_prompts(
    path: Path, columns: Mapping[str, str] | None = None, cancel: CancelToken | None = None
) -> tuple[CandidatePrompt, ...]:
    """The prompts in a TSV, CSV, JSON, JSON Lines or Parquet file, plain or gzip-compressed; of one with
    responses, such as a dataset of pairs, its instructions. `columns`: sources by column of OF_PROMPTS; what
    it does not name is found by its name, and an empty source is nothing. One without an id is called by the
    number of its row. SetupError where the file cannot be read; InputError where no column holds the
    instructions, where one is empty, and where an id occurs twice with another prompt; Cancelled.
    """
    table, sources = _opened(path, columns or {}, cancel)
    table.must_be_text = {name for source in sources.values() for name in source.columns}
    found: dict[str, CandidatePrompt] = {}
    for row in table.rows(table.must_be_text):
        reader = RowReader(row.cells, row.nulls)
        try:
            cells = {
                name: reader.text(source, "-" if name == ID else "\n\n")
                for name, source in sources.items()
                if name not in BACKGROUND
            }
            cells |= {name: reader.all_text(sources[name]) for name in BACKGROUND if name in sources}
        except SourceProblem as problem:
            table.report(row.number, str(problem))
            continue
        prompt = CandidatePrompt(**{**cells, ID: cells.get(ID, "").strip() or str(row.number)})
        if not prompt.instruction.strip():
            table.report(row.number, "the instruction is empty.")
        elif found.setdefault(prompt.id, prompt) != prompt:
            table.report(row.number, f"the id {quoted(prompt.id)} stands at another prompt, too.")
    table.raise_problems()
    if not found:
        raise table.no_rows()
    return tuple(found.values())


def own_names(columns: Collection[str], guessed: Mapping[str, str]) -> dict[str, str]:
    """What is read where a file has the column `context` itself, which a guess may take for a part of the
    instruction.
    """
    instruction = [part for part in guessed.get(INSTRUCTION, "").split("+") if part not in BACKGROUND]
    if not any(instruction):
        return {}
    names = {name: name for name in BACKGROUND if name in columns and not guessed.get(name)}
    return {INSTRUCTION: "+".join(instruction), **names}


def _opened(
    path: Path, columns: Mapping[str, str], cancel: CancelToken | None
) -> tuple[SourceTable, dict[str, CellSource]]:
    table = open_table(path, cancel)
    sample = filled_sample(table, cancel)
    guessed = guess_columns(sample, ELOQUENT).map.source_of
    wanted = {name: guessed.get(name, "") for name in OF_PROMPTS}
    systems = (name for name in naming.SYSTEMS if name in sample.columns and sample.is_filled(name))
    wanted[SYSTEM] = next(systems, "")
    wanted |= {**own_names(sample.columns, wanted), **columns}
    example = Setting.COLUMNS.at(f"{INSTRUCTION}={GAP}")
    if not wanted[INSTRUCTION]:
        seen = listed(table.first_columns(), 20, quoted)
        found = f"no column looks like the instructions. Columns found: {seen}."
        raise InputError(path, [found], Hint("Name it: ", example))
    try:
        sources = {name: parse_source(text, sample.columns) for name, text in wanted.items() if text}
    except SourceProblem as problem:
        raise InputError(path, [str(problem)], Hint("Name existing columns: ", example)) from problem
    return table.again(), sources
