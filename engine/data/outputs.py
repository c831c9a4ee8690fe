"""What candidates get and give: prompts (an instruction each, with a system message and a context where the
file has them, and a reference answer, which no candidate sees), and the outputs of one candidate, a single
response to each instruction. Such files may look like a dataset, and are none.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from engine.core.column_map import (
    CANDIDATE,
    GAP,
    ID,
    INSTRUCTION,
    MADE_WITH,
    OF_OUTPUTS,
    OUTPUT,
    OUTPUTS,
    SYSTEM,
    ColumnMap,
    Confidence,
)
from engine.core.errors import Hint, InputError, Setting, Step
from engine.core.events import CancelToken
from engine.core.formatting import counted, listed, quoted
from engine.core.items import BACKGROUND
from engine.core.rubric import ELOQUENT
from engine.data import column_words as naming
from engine.data.column_content import Sample, filled_sample
from engine.data.column_guess import Guess, guess_columns
from engine.data.column_source import CellSource, DialoguePart, RowReader, SourceProblem, parse_source
from engine.data.column_words import tokens_of
from engine.data.file_format import plain_stem
from engine.data.recognition import known_as
from engine.data.tables import SourceTable, open_table
from engine.system.sandbox import sandboxed

_SIDES = frozenset(side for pair in naming.SIDES for side in pair)
_SYSTEMS = ("generator", "model", "model_id", "model_name", "system", CANDIDATE)
_DIALOGUES = ("messages", "conversation", "conversations", "dialogue", "dialog")


def single_outputs(sample: Sample, guess: Guess) -> InputError | None:
    """What to say of a file that holds instructions with one response each; None for any other file.

    Where a further column holds texts, it may be the other response: then the user is to say so.
    """
    known = _known_outputs(sample)
    if not known and not {*OUTPUTS} <= {*guess.open}:
        return None
    found = guess_outputs(sample, guess)
    response, instruction = found.get(OUTPUT, ""), found.get(INSTRUCTION, "")
    is_nested = response not in sample.columns  # which says enough: an answer of a dialogue
    if not response or not (instruction or is_nested):
        return None
    read = {re.split(r"[@\[]", source)[0] for source in (response, *instruction.split("+"))}
    others = [
        name for name in sample.columns if name not in read and not naming.BESIDE_OUTPUTS & {*tokens_of(name)}
    ]
    if not (known and is_nested) and any(map(sample.holds_texts, others)):
        return None
    to_each = f"each instruction ({quoted(instruction)})" if instruction else "each instruction"
    told = f"contains the outputs of {_whose(sample)}: one response ({quoted(response)}) to {to_each}."
    return InputError(sample.table.path, [told], Hint("Tiebreak judges pairs. ", Step.MAKE_PAIRS))


def _known_outputs(sample: Sample) -> Mapping[str, str]:
    """What is read of the outputs of one candidate whose kind of file is known; nothing of any other file."""
    known = known_as(sample)
    if known is None or known.kind != "outputs":
        return {}
    return {name: source for name, source in known.columns.items() if name in OF_OUTPUTS}


def guess_outputs(sample: Sample, guess: Guess) -> Mapping[str, str]:
    """What is read of such a file for the columns of outputs (OF_OUTPUTS), as it is known, else as far as it
    can be guessed. `guess`: what its columns would be as those of a dataset.
    """
    # First, for by its name Inspect AI's `output` is a response, and it is an object with all that was said.
    if known := _known_outputs(sample):
        return known
    # By its name also where one repeats: repeated responses are counted, or the texts match better.
    called_id = (name for word in naming.IDS for name in sample.columns if name.lower() == word)
    own_id = guess.map.source_of.get(ID) or next(called_id, None)
    found = {ID: own_id} if own_id is not None and own_id in sample.columns else {}
    instruction = guess.map.source_of.get(INSTRUCTION, "")
    uncertain = guess.confidence.get(INSTRUCTION) is Confidence.UNCERTAIN
    if instruction and not (
        uncertain and {*tokens_of(instruction)} & {*naming.BESIDE_OUTPUTS, *naming.OUTPUTS}
    ):
        found[INSTRUCTION] = instruction
    dialogue = next((name for name in _DIALOGUES if name in sample.columns), None)
    named = [name for word in naming.OUTPUTS for name in sample.columns if word in tokens_of(name)]
    of_sides = _SIDES | {"id"}
    responses = (name for name in named if not {*tokens_of(name)} & of_sides and sample.is_filled(name))
    response = next(responses, None)
    if response is not None:
        found[OUTPUT] = response
    elif dialogue is not None and any(sample.cells(f"{dialogue}@{DialoguePart.REPLY}")):
        found |= {
            INSTRUCTION: f"{dialogue}@{DialoguePart.PROMPT}",
            OUTPUT: f"{dialogue}@{DialoguePart.REPLY}",
        }
    elif answers := _turns(sample, "choices[0].turns", DialoguePart.REPLIES):
        found[OUTPUT] = answers
    if found.get(INSTRUCTION) == found.get(OUTPUT, ""):
        del found[INSTRUCTION]
    asked = _turns(sample, "turns", DialoguePart.USERS)
    if asked and (uncertain or INSTRUCTION not in found):
        found[INSTRUCTION] = asked
    read = {column for source in found.values() for column in parse_source(source, sample.columns).columns}
    sources = ((name, guess.map.source_of.get(name)) for name in BACKGROUND)
    found |= {
        name: source
        for name, source in sources
        if source and read.isdisjoint(parse_source(source, sample.columns).columns)
    }
    system = _system_in(sample)
    return found if system is None else {**found, CANDIDATE: system}


def _system_in(sample: Sample) -> str | None:
    """The column that names the candidate."""
    return next((name for name in _SYSTEMS if name in sample.columns and sample.is_filled(name)), None)


def _turns(sample: Sample, place: str, part: DialoguePart) -> str:
    """The source of the turns that FastChat's and Arena-Hard's files hold; empty where there are none."""
    source = f"{place}@{part}"
    return source if place.partition("[")[0] in sample.columns and any(sample.cells(source)) else ""


def _whose(sample: Sample) -> str:
    named = _system_in(sample)
    systems = list(sample.values(named) or ()) if named is not None else []
    if len(systems) > 1:
        return f"{len(systems)} candidates ({listed(systems)}) in long format"
    return f"one candidate ({listed(systems)})" if systems else "one candidate"


_MOST_COLUMNS_SHOWN = 20
OF_PROMPT = (SYSTEM, *BACKGROUND)
"""What a prompt may have beside its instruction."""
OF_PROMPTS = (ID, SYSTEM, INSTRUCTION, *BACKGROUND)
"""What is read of a file with prompts."""
_BETWEEN = {ID: "-", CANDIDATE: " ", MADE_WITH: ""}  # else an empty line
_EXAMPLE = "id=uid,instruction=prompt,output=response"


class Response(NamedTuple):
    """`id` and `instruction` are None where the file has none of them. `background`: as OF_PROMPT."""

    id: str | None
    instruction: str | None
    output: str
    background: tuple[str, ...] = ("",) * len(OF_PROMPT)


@dataclass(frozen=True)
class Outputs:
    """What one candidate wrote, in the order of its file. `columns`: what was read for what, in words.

    `nulls`: how many rows have null in the place of a response: the candidate wrote none, not an empty one.
    `made_with`: what `generate` notes of all of them; empty where it did not write them.
    """

    path: Path
    candidate: str
    responses: tuple[Response, ...]
    columns: str = ""
    nulls: int = 0
    made_with: str = ""


@sandboxed
def read_outputs(
    path: Path,
    columns: Mapping[str, str] | None = None,
    cancel: CancelToken | None = None,  # noqa: ARG001 - of the gate
) -> Outputs:
    """The outputs in a TSV, CSV, JSON, JSON Lines or Parquet file, plain or gzip-compressed.

    `columns`: sources by column of OF_OUTPUTS; what it does not name is guessed, and an empty source is
    nothing. The candidate is what the file's own column says where that is one name, else the file's name.
    Raises SetupError where the file cannot be read, InputError where it holds no outputs, or those of several
    candidates; Cancelled.
    """
    table, sources = _opened(path, columns or {})
    if OUTPUT not in sources:
        raise _no_column(path, OUTPUT, "responses", table)
    responses: list[Response] = []
    names: dict[str, None] = {}
    made_with: set[str] = set()
    nulls = 0
    for cells in _rows(table, sources):
        names[cells.get(CANDIDATE, "").strip()] = None
        made_with.add(cells.get(MADE_WITH, ""))
        if OUTPUT not in cells:
            nulls += 1
            continue
        own_id = cells.get(ID, "")
        background = tuple(cells.get(name, "") for name in OF_PROMPT)
        responses.append(
            Response(own_id if own_id.strip() else None, cells.get(INSTRUCTION), cells[OUTPUT], background)
        )
    table.raise_problems()
    if not responses and not nulls:
        raise table.no_rows()
    if not any(response.output.strip() for response in responses):
        count = len(responses) + nulls
        rows = counted(count, table.row_word, f"{table.row_word}s")
        raise InputError(
            path,
            [
                f"contains no outputs: {quoted(sources[OUTPUT][0])} is empty in"
                f" {f'all {rows}' if count > 1 else f'its {rows}'}."
            ],
            Hint(
                "Check that the candidate model wrote something, or name the column with its outputs: ",
                Setting.COLUMNS.at(f"{OUTPUT}={GAP}"),
            ),
        )
    known = [name for name in names if name]
    asked = {response.id or response.instruction for response in responses}
    if len(known) > 1 and len(asked) < len(responses):
        raise InputError(
            path,
            [f"contains the outputs of {len(known)} candidates ({listed(known)}) in long format."],
            "Split it into a file for each.",
        )
    candidate = known[0] if len(names) == 1 and known else plain_stem(path)
    read = ((name, text) for name, (text, _) in sources.items() if name != MADE_WITH)
    columns_text = ColumnMap(tuple(read)).columns_text
    noted = made_with.pop() if len(made_with) == 1 else ""
    return Outputs(path, candidate, tuple(responses), columns_text, nulls, noted)


@sandboxed
def read_instructions(
    path: Path,
    columns: Mapping[str, str] | None = None,
    cancel: CancelToken | None = None,  # noqa: ARG001 - of the gate
) -> Mapping[str, str]:
    """The instructions by id in a file of its own, for outputs that repeat the ids alone.

    Formats, `columns` and errors as those of `read_outputs`.
    """
    table, sources = _opened(path, columns or {})
    for name, what in ((ID, "ids"), (INSTRUCTION, "instructions")):
        if name not in sources:
            raise _no_column(path, name, what, table)
    wanted = {name: source for name, source in sources.items() if name in (ID, INSTRUCTION)}
    found: dict[str, str] = {}
    for cells in _rows(table, wanted):
        if cells[ID].strip():
            found.setdefault(cells[ID], cells[INSTRUCTION])
    table.raise_problems()
    return found


def _opened(path: Path, columns: Mapping[str, str]) -> tuple[SourceTable, dict[str, tuple[str, CellSource]]]:
    """The table in a file, and what is read of it: each source as it is written, and parsed."""
    table = open_table(path)
    sample = filled_sample(table)
    guess = guess_columns(sample, ELOQUENT)
    texts = {**guess_outputs(sample, guess), **columns}
    if MADE_WITH in sample.columns:  # which `generate` wrote, with columns of these names
        system = {SYSTEM: SYSTEM} if SYSTEM in sample.columns else {}
        texts |= {**_own_names(sample, texts), MADE_WITH: MADE_WITH, **system, **columns}
    if OUTPUT not in texts and not {*OUTPUTS} & {*guess.open}:
        raise InputError(
            path,
            ["contains pairs of responses, not the outputs of one candidate model."],
            Hint(
                "Use it as a dataset; or name the column of one candidate's outputs: ",
                Setting.COLUMNS.at(_EXAMPLE),
            ),
        )
    sources = {}
    problems = []
    for name, text in texts.items():
        try:
            if text:
                sources[name] = (text, parse_source(text, sample.columns))
        except SourceProblem as problem:
            problems.append(f"{name}: {problem}")
    if problems:
        raise InputError(path, problems, Hint("Name existing columns: ", Setting.COLUMNS.at(_EXAMPLE)))
    return table.again(), sources


def _rows(table: SourceTable, sources: Mapping[str, tuple[str, CellSource]]) -> Iterator[dict[str, str]]:
    """What is read of each row, by column of outputs, a null OUTPUT omitted; a row that lacks something else
    than OF_PROMPT is reported.
    """
    needed = {name for _, source in sources.values() for name in source.columns}
    table.must_be_text = needed
    for row in table.rows(needed):
        reader = RowReader(row.cells, row.nulls)
        cells = {}
        is_null = False
        for name, (_, source) in sources.items():
            try:
                if not reader.has(source):
                    if name in OF_PROMPT:
                        continue
                    raise SourceProblem(f"no {' and no '.join(map(quoted, source.columns))}.")
                if name in OF_PROMPT:
                    cells[name] = reader.all_text(source)
                    continue
                text = reader.text(source, _BETWEEN.get(name, "\n\n"))
            except SourceProblem as problem:
                table.report(row.number, str(problem))
                continue
            if name == OUTPUT and not text and reader.is_null(source):
                is_null = True
            else:
                cells[name] = text
        if {*sources} <= {*cells, *OF_PROMPT, *([OUTPUT] if is_null else ())}:
            yield cells


def _no_column(path: Path, name: str, what: str, table: SourceTable) -> InputError:
    found = listed(table.first_columns(), _MOST_COLUMNS_SHOWN, quoted)
    hint = Hint("Name it: ", Setting.COLUMNS.at(f"{name}={GAP}"))
    return InputError(path, [f"no column looks like the {what}. Columns found: {found}."], hint)


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
    path: Path,
    columns: Mapping[str, str] | None = None,
    cancel: CancelToken | None = None,  # noqa: ARG001 - of the gate
) -> tuple[CandidatePrompt, ...]:
    """The prompts in a file, by format as `read_outputs`; of one with responses, such as a dataset of pairs,
    its instructions. `columns`: sources by column of OF_PROMPTS; what it does not name is found by its name,
    and an empty source is nothing. One without an id is called by the number of its row. SetupError where the
    file cannot be read; InputError where no column holds the instructions, where one is empty, and where an
    id occurs twice with another prompt; Cancelled.
    """
    first = open_table(path)
    sample = filled_sample(first)
    guessed = guess_columns(sample, ELOQUENT).map.source_of
    wanted = {name: guessed.get(name, "") for name in OF_PROMPTS}
    systems = (name for name in naming.SYSTEMS if name in sample.columns and sample.is_filled(name))
    wanted[SYSTEM] = next(systems, "")
    wanted |= {**_own_names(sample, wanted), **(columns or {})}
    if not wanted[INSTRUCTION]:
        raise _no_column(path, INSTRUCTION, "instructions", first)
    try:
        sources = {name: parse_source(text, sample.columns) for name, text in wanted.items() if text}
    except SourceProblem as problem:
        example = Setting.COLUMNS.at(f"{INSTRUCTION}={GAP}")
        raise InputError(path, [str(problem)], Hint("Name existing columns: ", example)) from problem
    table = first.again()
    table.must_be_text = {name for source in sources.values() for name in source.columns}
    found: dict[str, CandidatePrompt] = {}
    for row in table.rows(table.must_be_text):
        reader = RowReader(row.cells, row.nulls)
        try:
            cells = {
                name: reader.all_text(source)
                if name in BACKGROUND
                else reader.text(source, _BETWEEN.get(name, "\n\n"))
                for name, source in sources.items()
            }
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


def _own_names(sample: Sample, guessed: Mapping[str, str]) -> dict[str, str]:
    """What is read where a file has the column `context` itself, which a guess may take for a part of the
    instruction, or for all of it where the column `instruction` says the same of each context.
    """
    instruction = [part for part in guessed.get(INSTRUCTION, "").split("+") if part not in BACKGROUND]
    if not any(instruction):
        if not (INSTRUCTION in sample.columns and sample.is_filled(INSTRUCTION)):
            return {}
        instruction = [INSTRUCTION]
    names = {name: name for name in BACKGROUND if name in sample.columns and not guessed.get(name)}
    return {INSTRUCTION: "+".join(instruction), **names}
