"""Two runs side by side: their facts, those that differ first; what differs is marked.

Knows: what counts as a difference. Does not know: terminals, windows, results, how a fact is worded.
"""

from collections.abc import Mapping, Sequence

from engine.core.run_records import Effort, StoredRun
from engine.core.value_tables import Column, Kind, Row, Table
from engine.report.run_facts import NEVER_ALIKE, TIMES, effort_facts, question_facts, stored_facts

_HASH_SHOWN = 12  # letters: enough to tell two apart


def differences_table(first: StoredRun, other: StoredRun, efforts: Mapping[int, Sequence[Effort]]) -> Table:
    """Facts of two runs, those that differ first; `efforts`: of their items, by the number of the run."""
    columns = (
        Column("fact", "fact", Kind.TEXT, "What is compared."),
        Column("differs", "differs", Kind.FLAG, "Whether the two runs differ in it.", instead={False: ""}),
        *(
            Column(
                key,
                run.title,
                Kind.TEXT,
                f"What it is in the {key} run; a dash where it has none.",
                foreign=True,
            )
            for key, run in (("first", first), ("other", other))
        ),
    )
    left, right = _facts(first, efforts[first.id]), _facts(other, efforts[other.id])
    if first.identity.asked.asked != other.identity.asked.asked:
        left, right = left | dict(question_facts(first)), right | dict(question_facts(other))
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
    of_people, times = ([known[fact] for fact in facts if fact in known] for facts in (NEVER_ALIKE, TIMES))
    return Table(columns, [*of_people, *differing, *times, *alike])


def difference_count(table: Table) -> int:
    """In how many facts the two runs of such a table differ."""
    return sum(row[1] is True for row in table.rows)


def _facts(run: StoredRun, efforts: Sequence[Effort]) -> dict[str, str]:
    facts = dict((*stored_facts(run), *effort_facts(efforts)))
    facts |= {fact: facts[fact][:_HASH_SHOWN] for fact in facts if fact.endswith("SHA-256")}
    if run.calibration:
        facts["calibration"] = f"fitted on {run.calibration.get('dataset', {}).get('name', '')}"
    return facts
