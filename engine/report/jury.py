"""How many judges a jury is worth, as a section: a sentence, what each judge adds."""

from engine.calibration.jury_worth import JuryWorth
from engine.core.formatting import counted, number, percent
from engine.core.tables import Column, Kind, Part, Row, Section, Sentences, Table, value_text
from engine.metrics.intervals import SIGNIFICANT

_COLUMNS = (
    Column("judge", "judge", Kind.TEXT, "The run or submission; without human overrides and calibrations."),
    Column("accuracy", "alone", Kind.SHARE, "The judge's own accuracy, the mean over the criteria."),
    Column("adds", "adds", Kind.ESTIMATE).means(
        "The accuracy of the mean of all judges minus that of all others, in percentage points, with its"
        " 95 % interval over instructions."
    ),
)


def jury_worth_section(found: JuryWorth) -> Section:
    rows: list[Row] = [[one.name, one.accuracy, one.adds] for one in found.judges]
    parts: list[Part] = [
        Sentences([_effective_in_words(found), _least_in_words(found)]),
        Table(_COLUMNS, rows),
    ]
    return Section("jury_worth", "What these judges are worth", parts)


def _effective_in_words(found: JuryWorth) -> str:
    if found.effective is None:
        return "How alike the judges err is unknown: one is right on all of these labels, or on none."
    judges, ends = len(found.judges), found.effective.ends
    correlation = (judges / found.effective.value - 1) / (judges - 1)
    fewer = "This is" if ends is not None and ends[1] < judges else "It is not known whether this is"
    labels = f"{counted(found.labels, 'human label', 'human labels')} of {found.instructions:,} instructions"
    return (
        f"These {judges} judges are worth {value_text(found.effective, Kind.MEASURE)} independent ones: their"
        f" errors correlate by {number(correlation)} on average ({labels}). {fewer} fewer."
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
