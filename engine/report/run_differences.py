"""Two runs side by side: their facts, those that differ first; what differs is marked.

Knows: what counts as a difference. Does not know: terminals, windows, results, how a fact is worded.
"""

from collections.abc import Mapping, Sequence

from engine.core.run_records import Effort, StoredRun
from engine.core.value_tables import Column, Kind, Row, Table
from engine.report.run_facts import NEVER_ALIKE, TIMES, effort_facts, stored_facts

_HASH_SHOWN = 12  # letters: enough to tell two apart
_HASH_OF_ITEMS = "dataset, SHA-256"
ITEMS_OF_BOTH = "items in both runs"


def differences_table(
    first: StoredRun, other: StoredRun, efforts: Mapping[int, Sequence[Effort]], common: int = 0
) -> Table:
    """Facts of two runs, those that differ first; `efforts`: of their items, by the number of the run;
    `common`: how many items both judged with the same texts.

    Where they share items and one has others next to them, that is said in the place of two hashes.
    """
    columns = (
        Column("fact", "fact", Kind.TEXT, "The fact that is compared."),
        Column("differs", "differs", Kind.FLAG, "Whether the two runs differ in it.", instead={False: ""}),
        *(
            Column(
                key,
                run.title,
                Kind.TEXT,
                f"Its value in the {key} run; a dash if it has none.",
                foreign=True,
            )
            for key, run in (("first", first), ("other", other))
        ),
    )
    questions = first.identity.asked.asked != other.identity.asked.asked
    left, right = (_facts(run, efforts[run.id], questions) for run in (first, other))
    shared = [f"{common:,} of {run.judged:,}" for run in (first, other)]
    if common and shared[0] != shared[1] and left[_HASH_OF_ITEMS] != right[_HASH_OF_ITEMS]:
        left, right = (_in_words(facts, said) for facts, said in zip((left, right), shared, strict=True))
    alike: list[Row] = []
    differing: list[Row] = []
    known: dict[str, Row] = {}
    for fact in dict.fromkeys((*left, *right)):
        values = left.get(fact), right.get(fact)
        if fact in (*NEVER_ALIKE, *TIMES):
            known[fact] = [fact, False, *values]
        elif values[0] != values[1]:
            differing.append([fact, True, *values])
        else:
            alike.append([fact, False, *values])
    of_annotators, times = (
        [known[fact] for fact in facts if fact in known] for facts in (NEVER_ALIKE, TIMES)
    )
    return Table(columns, [*of_annotators, *differing, *times, *alike])


def difference_count(table: Table) -> int:
    """In how many facts the two runs of such a table differ."""
    return sum(row[1] is True for row in table.rows)


def _in_words(facts: Mapping[str, str], shared: str) -> dict[str, str]:
    """The same with how many items are shared in the place of the hash of all of them."""
    return {
        ITEMS_OF_BOTH if fact == _HASH_OF_ITEMS else fact: shared if fact == _HASH_OF_ITEMS else value
        for fact, value in facts.items()
    }


def _facts(run: StoredRun, efforts: Sequence[Effort], questions: bool) -> dict[str, str]:
    facts = dict((*stored_facts(run, questions), *effort_facts(efforts)))
    facts |= {fact: facts[fact][:_HASH_SHOWN] for fact in facts if fact.endswith("SHA-256")}
    if run.calibration:
        facts["calibration"] = f"fitted on {run.calibration.get('dataset', {}).get('name', '')}"
    return facts
