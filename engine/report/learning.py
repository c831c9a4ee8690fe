"""What more labels bring, as a section of a sheet.

Knows: which columns stand side by side, what they mean, what may be said of more labels. Does not know: how a
curve is measured or drawn, terminals, HTML, windows.
"""

from collections.abc import Iterator
from dataclasses import replace

from engine.calibration.learning import LEAST_TO_LEARN, Doubling, LearningCurve, Nats
from engine.core.formatting import counted, number, words
from engine.core.tables import Column, Estimate, Kind, Part, Picture, Row, Section, Sentences, Table
from engine.metrics.annotator_agreement import AgainstOthers
from engine.report.columns import CRITERION, MOST_FREQUENT

LEARNING_FIGURE = "learning"
_DIGITS = 3
_TITLE = "Is labelling more worth it?"
_NOTE = (
    "Cross-validated: each item is predicted by a calibration on labels of other instructions, and all"
    " rows use the same items. Training labels are sampled twice; intervals are over instructions. A"
    " fifth of the labels is held out, so a calibration on all labels is slightly better than the last"
    " row."
)
_READ = "Left: lower is better. Right: higher is better. The number of labels doubles from point to point."
_LABELS = Column("labels", "labels", Kind.COUNT, "The number of training labels per criterion.")
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
        "The log-loss of the human labels after calibration on this number of labels: lower is better.",
        _DIGITS,
    ),
    *_ENDS,
    Column(
        "frequencies",
        "frequencies",
        Kind.NUMBER,
        "The log-loss of the class prior of the same labels.",
        _DIGITS,
    ),
    Column(
        "surely",
        "significantly below?",
        Kind.FLAG,
        "Whether the log-loss is significantly below that of the class prior, by the interval of the"
        " difference.",
    ),
    Column(
        "right",
        "accuracy (%)",
        Kind.ESTIMATE,
        "The accuracy after calibration on this number of labels, with its 95 % interval.",
    ),
    replace(
        MOST_FREQUENT,
        meaning="The accuracy of the most frequent of the same labels, with A and B as in the dataset.",
    ),
)
_DOUBLINGS = (
    replace(CRITERION, title="last doubling"),
    replace(
        _LABELS, key="from_labels", title="from labels", meaning="The number of training labels before it."
    ),
    replace(_LABELS, key="to_labels", title="to labels", meaning="The number of training labels after it."),
    Column("gained", "log-loss reduction", Kind.NUMBER, "By how many nats the log-loss fell.", _DIGITS),
    *_ENDS,
    Column("surely", "significant?", Kind.FLAG, "Whether that interval is above 0."),
    Column(
        "more_right",
        "accuracy gain",
        Kind.ESTIMATE,
        "By how many percentage points the accuracy rose, with the 95 % interval.",
    ),
)
_ANNOTATORS = (
    Column("who", "who", Kind.TEXT, "The annotator who is compared with the majority of the others."),
    Column(
        "items",
        "labels",
        Kind.COUNT,
        "The number of their labels on items where the others have a majority.",
    ),
    Column(
        "own",
        "agreement with others (%)",
        Kind.ESTIMATE,
        "How often the annotator gives the label of that majority, with its 95 % interval over instructions.",
    ),
)
_IN_TURN = "all, in turn"


def learning_section(curve: LearningCurve) -> Section:
    """The picture's place, what the last doubling brought in words, all points, and annotators next to
    them.
    """
    parts: list[Part] = [
        Picture(LEARNING_FIGURE, _READ),
        Sentences([*doubling_sentences(curve), *_further_sentences(curve)]),
        point_table(curve),
    ]
    if len(curve.by_criterion) > 1:
        parts.append(doubling_table(curve))
    if curve.annotators:
        parts.append(annotator_table(curve))
    return Section(LEARNING_FIGURE, _TITLE, parts, _NOTE, help=("Learning curve",), spelt_out=True)


def point_table(curve: LearningCurve) -> Table:
    """A row for each number of labels, the least first."""
    rows: list[Row] = [
        [
            point.labels,
            point.log_loss.value,
            *_ends(point.log_loss),
            point.frequencies,
            point.ahead.significantly_above,
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
        gained.significantly_above,
        last.more_right,
    ]


def annotator_table(curve: LearningCurve) -> Table:
    """Each annotator against the majority of the others, all in turn first."""
    return Table(_ANNOTATORS, [[who(held), held.items, held.own] for held in curve.annotators])


def who(held: AgainstOthers) -> str:
    """Who is compared with the others: a name, or all in turn."""
    return _IN_TURN if held.annotator is None else held.annotator


def doubling_sentences(curve: LearningCurve) -> Iterator[str]:
    """What the last doubling brought, whether that is significant, and what is to be expected of another."""
    last = curve.last
    rose, fewer = last.gained.value < 0, last.more_right.value < 0
    yield (
        f"Doubling the labels of each criterion from {last.from_labels:,} to {last.to_labels:,}: the log-loss"
        f" {'rose' if rose else 'fell'} by {in_nats(last.gained.turned() if rose else last.gained)}, and"
        f" {_other_method(last.more_right) if fewer else last.more_right} percentage points"
        f" {'fewer' if fewer else 'more'} labels are right."
    )
    if last.gained.significantly_above:
        yield (
            f"That helped significantly. Another doubling needs {last.to_labels:,} more labels of each"
            " criterion: expect at most the same gain."
        )
    elif last.gained.significantly_below:
        yield "That did not help: with more labels the predictions became significantly worse here."
    elif last.gained.interval is None:
        yield "That changed nothing: more labels will not help."
    else:
        yield (
            "That is not significant: the interval of the log-loss includes 0. From twice as many labels"
            f" expect at most its upper end, {number(last.gained.interval.high, _DIGITS)} nats."
        )
    most = curve.points[-1]
    than = (
        f"With {most.labels:,} labels the log-loss is {in_nats(most.ahead)} below that of their class prior"
    )
    if most.ahead.significantly_above:
        yield f"{than}: the raw predictions are informative."
    else:
        yield (
            f"{than}: this does not show that the raw predictions are more informative than the class prior."
        )


def _further_sentences(curve: LearningCurve) -> Iterator[str]:
    """What takes part unevenly or not at all, and how annotators are read next to the curve."""
    if len(set(curve.labelled.values())) > 1:
        counts = [f"{words(name)} {count:,}" for name, count in curve.labelled.items()]
        yield (
            f"The criteria have different numbers of labels ({', '.join(counts)}): a row shows their mean."
        )
    for name, instructions in curve.left_out.items():
        found = counted(instructions, "instruction", "instructions")
        yield (
            f"{words(name)} is omitted: it has labels of {found}, and a learning curve needs"
            f" {LEAST_TO_LEARN} different ones."
        )
    if curve.annotators:
        yield (
            "Annotators are compared with the majority of the others, the calibration with the human"
            " labels of the dataset. If these labels are not such a majority, the two numbers are not"
            " comparable."
        )


def _other_method(found: Estimate) -> Estimate:
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
