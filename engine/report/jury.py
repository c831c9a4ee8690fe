"""How many judges a jury is worth, as a section: a sentence, what each judge adds."""

from engine.calibration.jury_worth import JuryWorth
from engine.core.formatting import counted, number, percent
from engine.core.tables import Column, Kind, Section, Sentences, Table, value_text
from engine.metrics.intervals import SIGNIFICANT

_COLUMNS = (
    Column("judge", "judge", Kind.TEXT, "The run or submission; without human overrides and calibrations."),
    Column("accuracy", "alone", Kind.SHARE, "The judge's own accuracy, the mean over the criteria."),
    Column("adds", "adds", Kind.ESTIMATE).means(
        "The accuracy of the mean of all judges minus that of all others, in percentage points, with its"
        " 95 % interval over instructions."
    ),
)


_JURY = (
    Column("effective", "worth", Kind.MEASURE).means(
        "How many independent judges they are worth, with its 95 % interval over instructions; missing where"
        " one never errs, or always."
    ),
    Column("correlation", "correlation", Kind.NUMBER, "Of two judges' errors, the mean over pairs, -1 to 1."),
    Column("accuracy", "accuracy", Kind.SHARE, "Of the mean of all judges, the mean over the criteria."),
    Column("labels", "labels", Kind.COUNT, "The human labels on items that all judged."),
    Column("instructions", "instructions", Kind.COUNT, "The different instructions of these."),
)


def jury_table(found: JuryWorth) -> Table:
    """One row on all judges together."""
    together = (found.effective, found.correlation, found.accuracy, found.labels, found.instructions)
    return Table(_JURY, [together])


def judge_table(found: JuryWorth) -> Table:
    """A row for each judge."""
    return Table(_COLUMNS, [[one.name, one.accuracy, one.adds] for one in found.judges])


def jury_worth_section(found: JuryWorth) -> Section:
    said = Sentences([_effective_in_words(found), _least_in_words(found)])
    return Section("jury_worth", "What these judges are worth", [said, judge_table(found)])


def _effective_in_words(found: JuryWorth) -> str:
    if found.effective is None or found.correlation is None:
        return (
            "How alike the judges err is unknown: one is right on all of these labels, on none, or just where"
            " another is not."
        )
    judges, ends = len(found.judges), found.effective.ends
    fewer = "This is" if ends is not None and ends[1] < judges else "It is not known whether this is"
    labels = f"{counted(found.labels, 'human label', 'human labels')} of {found.instructions:,} instructions"
    return (
        f"These {judges} judges are worth {value_text(found.effective, Kind.MEASURE)} independent ones: their"
        f" errors correlate by {number(found.correlation)} on average ({labels}). {fewer} fewer."
    )


def _least_in_words(found: JuryWorth) -> str:
    least = min(found.judges, key=lambda judge: judge.adds.value)
    is_clear = least.p_holm < SIGNIFICANT
    if is_clear and least.adds.value < 0:
        return f"Drop {least.name}: without it, the mean of the others is significantly more accurate."
    return (
        f"The mean of all is right on {percent(found.accuracy)}. Least is lost without {least.name},"
        f" which adds {least.adds} points ({'significant' if is_clear else 'not significant'})."
    )
