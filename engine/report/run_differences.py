"""Two runs side by side: what each was asked to be, how it was made, what it took; what differs is marked.

Knows: which facts of a run stand in a row, and by which words. Does not know: terminals, windows, results.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from engine.core.formatting import duration, value_in_words, words
from engine.core.run_records import CLUSTER, COLUMNS, FACT_WORDS, REWRITTEN, Effort, StoredRun
from engine.core.value_tables import Column, Kind, Row, Table

_NEVER_ALIKE = ("number", "name", "note", "made")
_TIMES = ("time at work", "seconds for an item")
"""With _NEVER_ALIKE, what is always another one: no difference that tells anything."""
_HASH_SHOWN = 12  # letters, as everywhere
_WORDS = {
    "llama_cpp": "llama.cpp",
    "chat_template": "chat format",
    "chat_template_hash": "chat template",
    REWRITTEN: "explanations written again",
    **FACT_WORDS,
}


def differences_table(first: StoredRun, other: StoredRun, efforts: Mapping[int, Sequence[Effort]]) -> Table:
    """Facts of two runs, those that differ first; `efforts`: of their items, by the number of the run."""
    columns = (
        Column("fact", "fact", Kind.TEXT, "What is compared."),
        Column("differs", "differs", Kind.FLAG, "Whether the two runs differ in it.", instead={False: ""}),
        Column("first", first.title, Kind.TEXT, "What it is in the first run; a dash where it has none."),
        Column(
            "other", f"{other.title} ", Kind.TEXT, "What it is in the other run; a dash where it has none."
        ),
    )
    left, right = _facts(first, efforts[first.id]), _facts(other, efforts[other.id])
    if first.identity.asked.asked != other.identity.asked.asked:
        left, right = left | _questions(first), right | _questions(other)
    alike: list[Row] = []
    differing: list[Row] = []
    known: dict[str, Row] = {}
    for fact in dict.fromkeys((*left, *right)):
        values = left.get(fact, ""), right.get(fact, "")
        if fact in (*_NEVER_ALIKE, *_TIMES):
            known[fact] = [fact, False, *(value or None for value in values)]
        elif values[0] != values[1]:
            differing.append([fact, True, *(value or None for value in values)])
        elif values[0]:
            alike.append([fact, False, *values])
    of_people = [known[fact] for fact in _NEVER_ALIKE if known[fact][2:] != [None, None]]
    times = [known[fact] for fact in _TIMES if fact in known]
    return Table(columns, [*of_people, *differing, *times, *alike])


def difference_count(table: Table) -> int:
    """In how many facts the two runs of such a table differ."""
    return sum(row[1] is True for row in table.rows)


def _facts(run: StoredRun, efforts: Sequence[Effort]) -> dict[str, str]:
    identity = run.identity
    facts = {
        "number": f"{run.id}{' (archived)' if run.archived else ''}",
        "name": run.name,
        "note": " ".join(run.note.split()),
        "made": f"{run.created:%Y-%m-%d %H:%M} UTC",
        "kind": "opened submission" if run.submitted else "judged by a model",
        "dataset": identity.dataset_path.name,
        "folder of the dataset": str(identity.dataset_path.parent),
        "content of the dataset": identity.dataset_hash[:_HASH_SHOWN],
        "items": f"{identity.items:,}",
        "judged": f"{run.judged:,}",
        "model": identity.model_name,
        "folder of the model": str(identity.model_path.parent),
        "content of the model": identity.model_hash[:_HASH_SHOWN],
        "prompt version": identity.prompt_version,
        "rubric": "" if run.submitted else identity.asked.name,
        "criteria": ", ".join(words(name) for name in identity.criteria),
        "calibrated on": str((run.calibration or {}).get("dataset", {}).get("name", "")),
    }
    made: dict[str, Any] = {**identity.settings_in_short, **run.manifest}
    for name in (CLUSTER, COLUMNS):
        if name in run.manifest:
            made[name] = run.manifest_in_short[name]
    for key, value in made.items():
        facts.setdefault(_WORDS.get(key, words(key)), _value(key, value))
    return {**facts, **_times(efforts)}


def _questions(run: StoredRun) -> dict[str, str]:
    """What was asked, where two runs were not asked the same; of submissions nobody knows it."""
    asked = run.identity.asked
    if run.submitted:
        return {}
    questions = {f"question, {words(each.name)}": " ".join(each.asked[1:]) for each in asked.criteria}
    own = {f"wording, {words(name)}": text for name, text in asked.wording.own.items()}
    return {name: " ".join(text.split()) for name, text in {**questions, **own}.items()}


def _value(key: str, value: object) -> str:
    text = value_in_words(value)
    return text[:_HASH_SHOWN] if key.endswith("hash") else text


def _times(efforts: Sequence[Effort]) -> dict[str, str]:
    if not efforts:
        return {}
    seconds = sum(effort.seconds for effort in efforts)
    return {
        _TIMES[0]: duration(seconds),
        _TIMES[1]: f"{seconds / len(efforts):.2f}",
        "tokens read": f"{sum(effort.tokens_read for effort in efforts):,}",
        "tokens written": f"{sum(effort.tokens_generated for effort in efforts):,}",
    }
