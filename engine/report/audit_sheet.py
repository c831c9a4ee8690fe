"""The audit of a judge as a section: what is wrong with it, line by line.

A report and the window show it for runs of copies alone (probe sets): of other runs most of what it says
stands in other sections already, and the rest cannot be told.

Knows: titles, meanings, in which words verdicts are said. Does not know: how anything is measured, terminals,
HTML, windows.
"""

from collections.abc import Iterator
from dataclasses import replace

from engine.audit.audit import Audit, audit
from engine.audit.lines import DOUBT
from engine.audit.probes import Probe
from engine.core.formatting import counted, listed
from engine.core.sheets import Section, Sentences, Sheet, Tone
from engine.core.value_tables import Column, Kind, Row, Table
from engine.data.dataset import Dataset
from engine.decisions.run_results import RunResults

_COLUMNS = (
    Column("line", "what", Kind.NAME, "What is looked at."),
    Column(
        "value",
        "% (95 % interval)",
        Kind.TEXT,
        "What was measured, over instructions: in percent, differences in points; of the speed in items a"
        " minute.",
    ),
    Column("bound", "a fault", Kind.NAME, "From where on it is a fault, in percent."),
    Column(
        "verdict",
        "verdict",
        Kind.NAME,
        "Fault: surely beyond the bound, also counting how many lines there are. Perhaps: beyond it, maybe by"
        " chance. None found: within it, but the interval reaches beyond. Sound: surely within it.",
    ),
)
_NOTE = (
    "The judge as it reads: without a calibration, and without what people overrode. A line is called a fault"
    f" only where a judge that is nowhere beyond a bound would have any such line in at most {DOUBT:.0%}"
    " of audits."
).replace("%", " %")


def audit_section(found: Audit) -> Section:
    """All lines in a table, and a sentence on each below it."""
    rows: list[Row] = [
        [line.title, line.value_text, line.bound_text, line.verdict.value] for line in found.lines
    ]
    faults = list(_faults_in_words(found))
    return Section(
        "audit",
        "What is wrong with the judge",
        [
            Sentences(faults, Tone.CAVEAT if found.faults else Tone.PLAIN),
            Table(_COLUMNS, rows),
            Sentences([f"{line.title}. {line.sentence}" for line in found.lines]),
        ],
        _NOTE,
    )


def audit_of_copies(results: RunResults, dataset: Dataset | None) -> Audit | None:
    """What a run of copies tells, by its own dataset; None of any other run, or without its dataset."""
    if dataset is None or not any(Probe.of_id(item.item_id) for item in results.judged):
        return None
    found = audit(results, dataset)
    return found if found.copies else None


def with_audit(sheet: Sheet, found: Audit | None) -> Sheet:
    """A sheet with the page of an audit behind its first section, where there is one."""
    if found is None:
        return sheet
    first, *others = sheet.sections
    return replace(sheet, sections=(first, audit_section(found), *others))


def _faults_in_words(found: Audit) -> Iterator[str]:
    what = f"{counted(found.items, 'item', 'items')} and {counted(found.copies, 'copy', 'copies')} of them"
    of_lines = counted(found.looked_at, "line", "lines")
    if found.faults:
        number = counted(len(found.faults), "fault", "faults")
        titles = listed([line.title for line in found.faults], len(found.lines), str)
        yield f"{number} in {of_lines}, by {what}: {titles}."
    elif not found.looked_at:
        yield f"Nothing can be told by {what}."
    else:
        yield f"No fault found in {of_lines}, by {what}."
    if found.untold:
        yield f"{counted(found.untold, 'line', 'lines')} cannot be told; why stands below."
    if found.unscored:
        yield f"{counted(found.unscored, 'judgment', 'judgments')} could not be made, and take no part."
