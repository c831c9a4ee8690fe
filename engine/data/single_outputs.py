"""Files that look like a dataset and are none: the outputs of one system, a single response in each row.

Knows: how such files name things. Does not know: how they could be made pairs.
"""

import re

from engine.core.column_map import INSTRUCTION, OUTPUTS
from engine.core.errors import InputError
from engine.core.formatting import listed, quoted
from engine.data.column_content import Sample
from engine.data.column_guess import SIDES, Guess

_RESPONSES = frozenset(("output", "response", "completion", "generation", "answer", "reply", "prediction"))
_SIDES = frozenset(side for pair in SIDES for side in pair)
_SYSTEMS = ("generator", "model", "model_id", "model_name", "system")
_BESIDE = frozenset(
    (
        *("id", "uid", "uuid", "index", "idx", "key", "generator", "model", "system", "dataset", "source"),
        *("subset", "split", "datasplit", "category", "task", "topic", "type", "language", "name", "input"),
        *("reference", "raw", "time", "date", "tokens", "length"),
    )
)


def single_outputs(sample: Sample, guess: Guess) -> InputError | None:
    """What to say of a file that holds instructions with one response each; None for any other file.

    Where a further column holds texts, it may be the other response: then a person is to say so.
    """
    instruction = guess.map.source_of.get(INSTRUCTION, "")
    if not instruction or _words(instruction) & _RESPONSES or set(guess.open) != set(OUTPUTS):
        return None
    taken = {*instruction.split("+")}
    texts = [name for name in sample.columns if name not in taken and sample.holds_texts(name)]
    texts = [name for name in texts if not _words(name) & _BESIDE]
    responses = [name for name in texts if _words(name) & _RESPONSES and not _words(name) & _SIDES]
    if len(responses) != 1 or texts != responses:
        return None
    path = sample.table.path
    return InputError(
        path,
        [
            f"holds the outputs of {_whose(sample)}: one response ({quoted(responses[0])}) to each"
            f" instruction ({quoted(instruction)})."
        ],
        "Tiebreak judges pairs: put two systems' responses to the same instructions side by side in one"
        " table, with the columns id, instruction, output_a and output_b.",
    )


def _whose(sample: Sample) -> str:
    named = next((name for name in _SYSTEMS if name in sample.columns and sample.is_filled(name)), None)
    systems = list(sample.values(named) or ()) if named is not None else []
    if len(systems) > 1:
        return f"{len(systems)} systems ({listed(systems)}) one below the other"
    return f"one system ({listed(systems)})" if systems else "one system"


def _words(name: str) -> set[str]:
    return set(re.findall(r"[a-z]+|\d+", name.lower()))
