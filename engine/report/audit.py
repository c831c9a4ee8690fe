"""The audit of a judge as a section: what is wrong with it, line by line."""

from collections.abc import Iterator
from dataclasses import replace

from engine.analysis.audit import UNCERTAINTY, AuditVerdict
from engine.analysis.audit_run import Audit, audit
from engine.analysis.perturbations import Perturbation
from engine.core.formatting import counted, listed
from engine.core.tables import Column, Kind, Part, Row, Section, Sentences, Sheet, Table, Tone
from engine.data.dataset import Dataset
from engine.results.run_results import RunResults

_COLUMNS = (
    Column("line", "what", Kind.NAME, "What is measured."),
    Column("value", "% (95 % interval)", Kind.TEXT).means(
        "The measured value, over instructions: in percent; differences in points; speed in items per minute."
    ),
    Column("bound", "issue if", Kind.NAME, "The bound beyond which it is an issue, in percent."),
    Column(
        "verdict",
        "verdict",
        Kind.NAME,
        instead={AuditVerdict.FAULT.value: "issue", AuditVerdict.UNKNOWN.value: "not measured"},
    ).means(
        "Issue: significantly beyond the bound, corrected for the number of checks. Perhaps: beyond it,"
        " possibly by chance. None found: within it, but the interval reaches beyond. Sound: the whole"
        " interval is within it."
    ),
)
_NOTE = (
    "The judge only: without calibration and without human overrides. A check is called an issue only if a"
    f" judge that is nowhere beyond a bound would have any issue in at most {UNCERTAINTY:.0%} of audits."
).replace("%", " %")


def audit_section(found: Audit) -> Section:
    rows: list[Row] = [
        [line.title, line.value_text, line.bound_text, line.verdict.value] for line in found.lines
    ]
    parts: list[Part] = [
        Sentences(list(_faults_in_words(found)), Tone.CAVEAT if found.faults else Tone.PLAIN),
        Table(_COLUMNS, rows),
        Sentences([f"{line.title}. {line.sentence}" for line in found.lines]),
    ]
    return Section("audit", "Robustness audit of the judge", parts, _NOTE)


# Of other runs most of what an audit says stands in other sections already, and the rest cannot be measured.
def audit_of_copies(results: RunResults, dataset: Dataset | None) -> Audit | None:
    """What a run of perturbations tells, by its own dataset; None of any other run, or without it."""
    if dataset is None or not any(Perturbation.of_id(item.item_id) for item in results.judged):
        return None
    found = audit(results, dataset)
    return found if found.copies else None


def with_audit(sheet: Sheet, found: Audit | None) -> Sheet:
    """A sheet with an audit behind its first section, where there is one."""
    first, *others = sheet.sections
    return replace(sheet, sections=(first, audit_section(found), *others)) if found else sheet


def _faults_in_words(found: Audit) -> Iterator[str]:
    copies = counted(found.copies, "perturbation", "perturbations")
    what = f"{counted(found.items, 'item', 'items')} and {copies} of them"
    of_lines = counted(found.looked_at, "check", "checks")
    if found.faults:
        number = counted(len(found.faults), "issue", "issues")
        titles = listed([line.title for line in found.faults], len(found.lines), str)
        yield f"{number} in {of_lines}, measured on {what}: {titles}."
    elif not found.looked_at:
        yield f"Nothing can be measured on {what}."
    else:
        yield f"No issue found in {of_lines}, measured on {what}."
    if found.untold:
        yield f"{counted(found.untold, 'check', 'checks')} could not be measured; the reasons are below."
    if found.unscored:
        yield f"{counted(found.unscored, 'judgment is', 'judgments are')} unscored and excluded."
