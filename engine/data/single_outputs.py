"""Files that look like a dataset and are none: the outputs of one candidate, a single response in each row.

Knows: how such files name things: AlpacaEval's outputs, the answers of Arena-Hard and MT-Bench, plain
instructions and outputs. Does not know: how they are made pairs.
"""

import re
from collections.abc import Mapping

from engine.core.column_map import CANDIDATE, ID, INSTRUCTION, OUTPUT, OUTPUTS, Confidence
from engine.core.errors import InputError
from engine.core.formatting import listed, quoted
from engine.core.remedies import Hint, Step
from engine.data.column_content import Sample
from engine.data.column_guess import IDS, SIDES, Guess
from engine.data.column_source import DialoguePart

_RESPONSES = ("output", "response", "completion", "generation", "answer", "reply", "prediction")
_SIDES = frozenset(side for pair in SIDES for side in pair)
_SYSTEMS = ("generator", "model", "model_id", "model_name", "system", CANDIDATE)
_DIALOGUES = ("messages", "conversation", "conversations", "dialogue", "dialog")
_TURNS_OF_ANSWERS = "choices[0].turns"
_TURNS_OF_QUESTIONS = "turns"
_BESIDE = frozenset(
    (
        *("id", "uid", "uuid", "index", "idx", "key", "generator", "model", "system", "dataset", "source"),
        *("subset", "split", "datasplit", "category", "task", "topic", "type", "language", "name", "input"),
        *("reference", "raw", "time", "date", "tokens", "length"),
    )
)


def single_outputs(sample: Sample, guess: Guess) -> InputError | None:
    """What to say of a file that holds instructions with one response each; None for any other file.

    Where a further column holds texts, it may be the other response: then the user is to say so.
    """
    if not {*OUTPUTS} <= {*guess.open}:
        return None
    found = guess_outputs(sample, guess)
    response, instruction = found.get(OUTPUT, ""), found.get(INSTRUCTION, "")
    is_nested = response not in sample.columns  # which says enough: an answer of a dialogue, or of a choice
    if not response or not (instruction or is_nested):
        return None
    read = {re.split(r"[@\[]", source)[0] for source in (response, *instruction.split("+"))}
    others = [name for name in sample.columns if name not in read and not _words(name) & _BESIDE]
    return None if any(map(sample.holds_texts, others)) else _told(sample, response, instruction)


def guess_outputs(sample: Sample, guess: Guess) -> Mapping[str, str]:
    """What is read of such a file for the columns of outputs (OF_OUTPUTS), as far as it can be guessed.

    `guess`: what its columns would be as those of a dataset.
    """
    # By its name also where one repeats: repeated responses are counted, or the texts match better.
    called_id = (name for word in IDS for name in sample.columns if name.lower() == word)
    own_id = guess.map.source_of.get(ID) or next(called_id, None)
    found = {ID: own_id} if own_id is not None and own_id in sample.columns else {}
    instruction = guess.map.source_of.get(INSTRUCTION, "")
    uncertain = guess.confidence.get(INSTRUCTION) is Confidence.UNCERTAIN
    if instruction and not (uncertain and _words(instruction) & {*_BESIDE, *_RESPONSES}):
        found[INSTRUCTION] = instruction
    dialogue = next((name for name in _DIALOGUES if name in sample.columns), None)
    named = [name for word in _RESPONSES for name in sample.columns if word in _words(name)]
    response = next((name for name in named if _is_response(name) and sample.is_filled(name)), None)
    if response is not None:
        found[OUTPUT] = response
    elif dialogue is not None and any(sample.cells(f"{dialogue}@{DialoguePart.REPLY}")):
        found |= {
            INSTRUCTION: f"{dialogue}@{DialoguePart.PROMPT}",
            OUTPUT: f"{dialogue}@{DialoguePart.REPLY}",
        }
    elif "choices" in sample.columns and _holds_turns(sample, _TURNS_OF_ANSWERS):
        found[OUTPUT] = f"{_TURNS_OF_ANSWERS}@{DialoguePart.REPLIES}"
    if found.get(INSTRUCTION) == found.get(OUTPUT, ""):
        del found[INSTRUCTION]
    if (uncertain or INSTRUCTION not in found) and _holds_turns(sample, _TURNS_OF_QUESTIONS):
        found[INSTRUCTION] = f"{_TURNS_OF_QUESTIONS}@{DialoguePart.USERS}"
    system = next((name for name in _SYSTEMS if name in sample.columns and sample.is_filled(name)), None)
    return found if system is None else {**found, CANDIDATE: system}


def _holds_turns(sample: Sample, place: str) -> bool:
    return place.partition("[")[0] in sample.columns and any(sample.cells(f"{place}@{DialoguePart.REPLIES}"))


def _is_response(name: str) -> bool:
    return bool(_words(name) & {*_RESPONSES}) and not _words(name) & (_SIDES | {"id"})


def _told(sample: Sample, response: str, instruction: str) -> InputError:
    to_each = f"each instruction ({quoted(instruction)})" if instruction else "each instruction"
    found = f"contains the outputs of {_whose(sample)}: one response ({quoted(response)}) to {to_each}."
    return InputError(sample.table.path, [found], Hint("Tiebreak judges pairs. ", Step.MAKE_PAIRS))


def _whose(sample: Sample) -> str:
    named = next((name for name in _SYSTEMS if name in sample.columns and sample.is_filled(name)), None)
    systems = list(sample.values(named) or ()) if named is not None else []
    if len(systems) > 1:
        return f"{len(systems)} candidates ({listed(systems)}) in long format"
    return f"one candidate ({listed(systems)})" if systems else "one candidate"


def _words(name: str) -> set[str]:
    return set(re.findall(r"[a-z]+|\d+", name.lower()))
