"""What more labels bring, as a section of a sheet.

Knows: which columns stand side by side, what they mean, what may be said of more labels. Does not know: how a
curve is measured or drawn, terminals, HTML, windows.
"""

from collections.abc import Iterator
from dataclasses import replace

from engine.calibrate.learning import LEAST_TO_LEARN, Doubling, LearningCurve, Nats
from engine.core.formatting import counted, number, words
from engine.core.sheets import Part, Picture, Section, Sentences
from engine.core.value_tables import Column, Estimate, Kind, Row, Table
from engine.measure.against_others import AgainstOthers
from engine.report.columns import CRITERION, MOST_FREQUENT

LEARNING_FIGURE = "learning"
_DIGITS = 3
_TITLE = "Is labelling more worth it?"
_NOTE = (
    "Each item is asked by what labels of other instructions taught, in all rows the same items; the labels"
    " that teach are drawn twice, and intervals are over instructions. A fifth of the labels is asked and"
    " does not teach: a calibration on all of them has learned a little more than the last row."
)
_READ = "Left: lower is better. Right: higher is better. The labels double from point to point."
_LABELS = Column("labels", "labels", Kind.COUNT, "How many labels of a criterion taught.")
_ENDS = (
    Column("low", "from", Kind.NUMBER, "The lower end of the 95 % interval over instructions.", _DIGITS),
    Column("high", "to", Kind.NUMBER, "Its upper end.", _DIGITS),
)
_POINTS = (
    _LABELS,
    Column(
        "log_loss",
        "log-loss (nats)",
        Kind.NUMBER,
        "How surprising the human labels are, calibrated on so many: lower is better.",
        _DIGITS,
    ),
    *_ENDS,
    Column(
        "frequencies",
        "frequencies",
        Kind.NUMBER,
        "The log-loss of a judge that only knows how frequent each of the same labels is.",
        _DIGITS,
    ),
    Column(
        "surely",
        "surely below?",
        Kind.FLAG,
        "Whether the log-loss is surely below that of the frequencies, by the interval of the difference.",
    ),
    Column(
        "right",
        "labels right (%)",
        Kind.ESTIMATE,
        "The share of labels that are right, calibrated on so many, and its 95 % interval.",
    ),
    replace(
        MOST_FREQUENT,
        meaning="How often the most frequent of the same labels is right, A and B as the dataset has them.",
    ),
)
_DOUBLINGS = (
    replace(CRITERION, title="the last doubling"),
    replace(_LABELS, key="from_labels", title="from labels", meaning="How many labels taught before it."),
    replace(_LABELS, key="to_labels", title="to labels", meaning="How many labels taught after it."),
    Column("gained", "less log-loss", Kind.NUMBER, "By how many nats the log-loss fell.", _DIGITS),
    *_ENDS,
    Column("surely", "surely helped?", Kind.FLAG, "Whether that interval is above 0."),
    Column(
        "more_right",
        "more right",
        Kind.ESTIMATE,
        "How many more labels are right, in percent points, and the 95 % interval.",
    ),
)
_PEOPLE = (
    Column("who", "who", Kind.TEXT, "Who is held against the majority of the others."),
    Column("items", "labels", Kind.COUNT, "How many labels are of items where the others have a majority."),
    Column(
        "own",
        "the others' label (%)",
        Kind.ESTIMATE,
        "How often the person gives the label of that majority, with its 95 % interval over instructions.",
    ),
)
_IN_TURN = "each in turn"


def learning_section(curve: LearningCurve) -> Section:
    """The picture's place, what the last doubling brought in words, all points, and people beside them."""
    parts: list[Part] = [
        Picture(LEARNING_FIGURE, _READ),
        Sentences([*doubling_sentences(curve), *_further_sentences(curve)]),
        point_table(curve),
    ]
    if len(curve.by_criterion) > 1:
        parts.append(doubling_table(curve))
    if curve.people:
        parts.append(people_table(curve))
    return Section(LEARNING_FIGURE, _TITLE, parts, _NOTE, help=("Learning curve",), spelt_out=True)


def point_table(curve: LearningCurve) -> Table:
    """A row for each number of labels, the least first."""
    rows: list[Row] = [
        [
            point.labels,
            point.log_loss.value,
            *_ends(point.log_loss),
            point.frequencies,
            point.ahead.surely_above,
            point.right,
            point.frequent.value,
        ]
        for point in curve.points
    ]
    return Table(_POINTS, rows)


def doubling_table(curve: LearningCurve) -> Table:
    """What the last doubling brought on each criterion."""
    return Table(_DOUBLINGS, [_doubled(name, last) for name, last in curve.by_criterion.items()])


def _doubled(criterion: str, last: Doubling) -> Row:
    gained = last.gained
    return [
        words(criterion),
        last.from_labels,
        last.to_labels,
        gained.value,
        *_ends(gained),
        gained.surely_above,
        last.more_right,
    ]


def people_table(curve: LearningCurve) -> Table:
    """Each person against the majority of the others, all in turn first."""
    return Table(_PEOPLE, [[who(held), held.items, held.own] for held in curve.people])


def who(held: AgainstOthers) -> str:
    """Who is held against the others: a name, or all in turn."""
    return _IN_TURN if held.person is None else held.person


def doubling_sentences(curve: LearningCurve) -> Iterator[str]:
    """What the last doubling brought, whether that is sure, and what is to be expected of another."""
    last = curve.last
    rose, fewer = last.gained.value < 0, last.more_right.value < 0
    yield (
        f"Doubling the labels of each criterion from {last.from_labels:,} to {last.to_labels:,}: the log-loss"
        f" {'rose' if rose else 'fell'} by {in_nats(last.gained.turned() if rose else last.gained)}, and"
        f" {_other_way(last.more_right) if fewer else last.more_right} percent points"
        f" {'fewer' if fewer else 'more'} labels are right."
    )
    if last.gained.surely_above:
        yield (
            f"That surely helped. Another doubling takes {last.to_labels:,} labels more of each criterion:"
            " expect no more of it than of this one."
        )
    elif last.gained.surely_below:
        yield "That surely did not help: with more labels the predictions were worse here."
    elif last.gained.interval is None:
        yield "That changed nothing: labels are not what is lacking."
    else:
        yield (
            "That is not sure to have helped: the interval of the log-loss holds 0. Of twice as many labels"
            f" expect no more than its upper end, {number(last.gained.interval.high, _DIGITS)} nats."
        )
    most = curve.points[-1]
    than = (
        f"With {most.labels:,} labels the log-loss is {in_nats(most.ahead)} below that of their frequencies"
    )
    if most.ahead.surely_above:
        yield f"{than}: the readings surely say something."
    else:
        yield f"{than}: it is not sure that the readings say more than how frequent each label is."


def _further_sentences(curve: LearningCurve) -> Iterator[str]:
    """What takes part unevenly or not at all, and how people are read beside the curve."""
    if len(set(curve.labelled.values())) > 1:
        counts = [f"{words(name)} {count:,}" for name, count in curve.labelled.items()]
        yield (
            f"The criteria have different numbers of labels ({', '.join(counts)}): the labels of a row are"
            " the mean of them."
        )
    for name, instructions in curve.left_out.items():
        found = counted(instructions, "instruction", "instructions")
        yield (
            f"{words(name)} takes no part: it has labels of {found}, and a curve needs {LEAST_TO_LEARN}"
            " different ones."
        )
    if curve.people:
        yield (
            "People are held against the majority of the others, the calibration against the human labels:"
            " where these are not such a majority, the two are no like measures."
        )


def _other_way(found: Estimate) -> Estimate:
    """A difference, seen from its other side."""
    ends = None if found.ends is None else (-found.ends[1], -found.ends[0])
    return Estimate(-found.value, ends)


def in_nats(found: Nats) -> str:
    """`0.012 nats (-0.003 to 0.027)`."""
    if found.interval is None:
        return f"{number(found.value, _DIGITS)} nats"
    low, high = (number(end, _DIGITS) for end in found.interval)
    return f"{number(found.value, _DIGITS)} nats ({low} to {high})"


def _ends(found: Nats) -> tuple[float | None, float | None]:
    return found.interval or (None, None)
