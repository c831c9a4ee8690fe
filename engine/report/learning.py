"""What more labels bring: the section of a learning curve, and its figure."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from engine.calibration.learning import LEAST_TO_LEARN, LearningCurve, Nats
from engine.core.formatting import counted, number, percent, words
from engine.core.tables import Column, Estimate, Kind, Part, Picture, Row, Section, Sentences, Table
from engine.metrics.annotator_agreement import AgainstOthers
from engine.report import columns, drawing

LEARNING_FIGURE = "learning"
_DIGITS = 3
_TITLE = "Is labelling more worth it?"
_NOTE = (
    "Cross-validated: each item is predicted by a calibration on labels of other instructions, and all rows"
    " use the same items. Training labels are sampled twice; intervals are over instructions. A fifth of the"
    " labels is held out, so a calibration on all labels is slightly better than the last row."
)
_READ = "Left: lower is better. Right: higher is better. The number of labels doubles from point to point."
_LABELS = Column("labels", "labels", Kind.COUNT, "The number of training labels per criterion.")
_POINTS = (
    _LABELS,
    Column("log_loss", "log-loss (nats)", Kind.NUMBER, digits=_DIGITS).means(
        "The log-loss of the human labels after calibration on this number of labels: lower is better."
    ),
    *columns.ends(),
    Column("frequencies", "frequencies", Kind.NUMBER, digits=_DIGITS).means(
        "The log-loss of the class prior of the same labels."
    ),
    Column("surely", "significantly below?", Kind.FLAG).means(
        "Whether the log-loss is significantly below that of the class prior, by the interval of the"
        " difference."
    ),
    Column("right", "accuracy (%)", Kind.ESTIMATE).means(
        "The accuracy after calibration on this number of labels, with its 95 % interval."
    ),
    columns.MOST_FREQUENT.means(
        "The accuracy of the most frequent of the same labels, with A and B as in the dataset."
    ),
)
_DOUBLINGS = (
    replace(columns.CRITERION, title="last doubling"),
    replace(_LABELS, key="from_labels", title="from labels").means(
        "The number of training labels before it."
    ),
    replace(_LABELS, key="to_labels", title="to labels", meaning="The number of training labels after it."),
    Column("gained", "log-loss reduction", Kind.NUMBER, "By how many nats the log-loss fell.", _DIGITS),
    *columns.ends(),
    Column("surely", "significant?", Kind.FLAG, "Whether that interval is above 0."),
    Column("more_right", "accuracy gain", Kind.ESTIMATE).means(
        "By how many percentage points the accuracy rose, with the 95 % interval."
    ),
)
_ANNOTATORS = (
    Column("who", "who", Kind.TEXT, "The annotator who is compared with the majority of the others."),
    Column(
        "items", "labels", Kind.COUNT, "The number of their labels on items where the others have a majority."
    ),
    Column("own", "agreement with others (%)", Kind.ESTIMATE).means(
        "How often the annotator gives the label of that majority, with its 95 % interval over instructions."
    ),
)
_IN_TURN = "all, in turn"


def learning_section(curve: LearningCurve) -> Section:
    parts: list[Part] = [
        Picture(LEARNING_FIGURE, _READ),
        Sentences([*doubling_sentences(curve), *_further_sentences(curve)]),
        point_table(curve),
    ]
    if len(curve.by_criterion) > 1:
        parts.append(doubling_table(curve))
    if curve.annotators:  # all in turn first
        parts.append(Table(_ANNOTATORS, [[who(held), held.items, held.own] for held in curve.annotators]))
    return Section(LEARNING_FIGURE, _TITLE, parts, _NOTE, help=("Learning curve",), spelt_out=True)


def point_table(curve: LearningCurve) -> Table:
    rows: list[Row] = [
        [
            *(
                point.labels,
                point.log_loss.value,
                *(point.log_loss.interval or (None, None)),
                point.frequencies,
            ),
            *(point.ahead.significantly_above, point.right, point.frequent.value),
        ]
        for point in curve.points
    ]
    return Table(_POINTS, rows)


def doubling_table(curve: LearningCurve) -> Table:
    rows: list[Row] = [
        [
            *(words(name), last.from_labels, last.to_labels),
            *(last.gained.value, *(last.gained.interval or (None, None)), last.gained.significantly_above),
            last.more_right,
        ]
        for name, last in curve.by_criterion.items()
    ]
    return Table(_DOUBLINGS, rows)


def who(held: AgainstOthers) -> str:
    return _IN_TURN if held.annotator is None else held.annotator


def doubling_sentences(curve: LearningCurve) -> Iterator[str]:
    last = curve.last
    rose, fewer = last.gained.value < 0, last.more_right.value < 0
    yield (
        f"Doubling the labels of each criterion from {last.from_labels:,} to {last.to_labels:,}: the log-loss"
        f" {'rose' if rose else 'fell'} by {in_nats(last.gained.turned() if rose else last.gained)}, and"
        f" {_other_side(last.more_right) if fewer else last.more_right} percentage points"
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
    more = "this does not show that the raw predictions are more informative than the class prior"
    yield f"{than}: {'the raw predictions are informative' if most.ahead.significantly_above else more}."


def _further_sentences(curve: LearningCurve) -> Iterator[str]:
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
            "Annotators are compared with the majority of the others, the calibration with the human labels"
            " of the dataset. If these labels are not such a majority, the two numbers are not comparable."
        )


def _other_side(found: Estimate) -> Estimate:
    ends = None if found.ends is None else (-found.ends[1], -found.ends[0])
    return Estimate(-found.value, ends)


def in_nats(found: Nats) -> str:
    """`0.012 nats (-0.003 to 0.027)`."""
    ends = " to ".join(number(end, _DIGITS) for end in found.interval or ())
    return f"{number(found.value, _DIGITS)} nats{f' ({ends})' if ends else ''}"


def learning_figure(curve: LearningCurve, title: str = "", dark: bool = False) -> drawing.Figure:
    """Log-loss, and accuracy beside annotators', by labels on an axis of doublings, with intervals."""
    from matplotlib.ticker import NullFormatter, NullLocator  # noqa: PLC0415

    with drawing.themed(dark) as theme:
        figure = drawing.new_figure(3.2)
        loss, right = figure.subplots(1, 2)
        points, labels = curve.points, [point.labels for point in curve.points]
        losses = [point.log_loss.value for point in points]
        _draw_curve(loss, labels, losses, [point.log_loss.interval for point in points], theme)
        _draw_baseline(loss, labels, [point.frequencies for point in points], theme)
        loss.set_ylabel("log-loss (nats)")
        ends = [point.right.ends and tuple(100 * end for end in point.right.ends) for point in points]
        _draw_curve(right, labels, [100 * point.right.value for point in points], ends, theme)
        _draw_baseline(right, labels, [100 * point.frequent.value for point in points], theme)
        for place, held in enumerate(curve.annotators):
            in_turn = held.annotator is None
            right.axhline(
                100 * held.own.value,
                color=theme.third if in_turn else theme.muted,
                linestyle="-" if in_turn else ":",
                linewidth=1.8 if in_turn else 1,
                label="annotators, each in turn" if in_turn else "each annotator" if place == 1 else None,
                zorder=1,
            )
        right.set_ylabel("accuracy (%)")
        for axes in (loss, right):
            axes.set_xscale("log", base=2)
            axes.set_xticks(labels, [f"{count:,}" for count in labels])
            axes.xaxis.set_minor_locator(NullLocator())
            axes.xaxis.set_minor_formatter(NullFormatter())
            axes.set_xlabel("training labels per criterion")
            axes.grid()
        name = f"Learning curve, with 95 % intervals\n{drawing.drawable(title)}".rstrip()
        drawing.finish(figure, [loss, right], name, theme)
        drawing.add_legend(figure, right, 4)
    return figure


def learning_report_figure(curve: LearningCurve, name: str) -> drawing.ReportFigure:
    return drawing.ReportFigure(
        partial(learning_figure, curve, name), learning_in_words(curve), point_table(curve)
    )


def learning_in_words(curve: LearningCurve) -> str:
    points = [
        f"{point.labels:,} labels: log-loss {in_nats(point.log_loss)}, class prior"
        f" {number(point.frequencies, 3)}; accuracy {point.right} %, most frequent label"
        f" {percent(point.frequent.value)}"
        for point in curve.points
    ]
    annotators = [f"{drawing.drawable(who(held))} {held.own} %" for held in curve.annotators]
    beside = f" Annotators against the majority of the others: {'; '.join(annotators)}." if annotators else ""
    return f"Log-loss and accuracy by number of training labels. {'. '.join(points)}.{beside}"


def _draw_curve(
    axes: drawing.Axes,
    labels: Sequence[int],
    values: Sequence[float],
    intervals: Sequence[tuple[float, ...] | None],
    theme: drawing.Theme,
) -> None:
    axes.plot(labels, values, color=theme.judge, linewidth=1.6, marker="o", markersize=4, label="calibrated")
    for label, ends in zip(labels, intervals, strict=True):
        if ends is not None:
            axes.plot([label, label], ends, color=theme.judge, linewidth=1, marker="_", markersize=7)


def _draw_baseline(
    axes: drawing.Axes, labels: Sequence[int], values: Sequence[float], theme: drawing.Theme
) -> None:
    line: dict[str, Any] = {"color": theme.marked, "linestyle": "--", "linewidth": 1.2}
    axes.plot(labels, values, **line, marker="D", markersize=3.5, label="class prior, most frequent label")
