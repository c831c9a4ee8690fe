"""What a calibration is worth, what more labels bring, how reliable probabilities are: tables, sections and
figures.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from statistics import fmean
from typing import Any

import numpy as np

from engine.calibration.fitting import AS_READ, CalibrationReport, added, mean_accuracies
from engine.calibration.learning import LEAST_TO_LEARN, LearningCurve, Nats
from engine.calibration.run_calibration import CalibratedRun
from engine.calibration.scaling import ReliabilityBin, reliability
from engine.core.formatting import counted, number, percent, words
from engine.core.items import HUMAN_LABELS, PREFERENCES
from engine.core.tables import Column, Estimate, Kind, Part, Picture, Row, Section, Sentences, Table, Value
from engine.metrics.annotator_agreement import AgainstOthers
from engine.metrics.intervals import FEW
from engine.metrics.matching import Matched
from engine.report import columns, drawing
from engine.report.accuracy import BASELINE

_ALIKE = (
    " A and B are treated alike: each item counts as given and with its responses swapped, for the"
    " baselines too."
)
_FREE = " A and B are not treated alike: the position of a response may count."
_AS_IT_IS = "Without a calibration, by the model's own probabilities."
_ELSEWHERE = (
    "For other candidates or slices it need not hold: whether it does, the calibrated judge − labels shows on"
    " labelled items of theirs (evaluate, Results, Ranking)."
)
_CALIBRATED = "The measure in the previous column, with the calibration; cross-validated."
_QUALITY = (
    columns.CRITERION,
    columns.LABELS,
    Column("accuracy_before", "accuracy, uncalibrated", Kind.ESTIMATE).means(
        f"Accuracy in percent, with its 95 % interval. {_AS_IT_IS}"
    ),
    Column("accuracy_after", "calibrated", Kind.ESTIMATE, _CALIBRATED),
    Column("gain", "accuracy gain", Kind.ESTIMATE).means(
        "By how many percentage points the calibration raises the accuracy, with its 95 % interval;"
        " cross-validated."
    ),
    columns.MOST_FREQUENT,
)
_GAIN = (
    columns.CRITERION,
    Column("chosen", "used", Kind.NAME).means(
        "What had the lowest cross-validated log-loss: calibrated predictions, raw predictions, or the"
        " class prior only."
    ),
    Column("log_loss_before", "log-loss, uncalibrated", Kind.NUMBER, digits=3).means(
        f"The mean negative log-probability of the human labels; lower is better. {_AS_IT_IS}"
    ),
    Column("log_loss_after", "calibrated", Kind.NUMBER, _CALIBRATED, digits=3),
    Column("frequencies", "frequencies", Kind.NUMBER, digits=3).means(
        "The log-loss of a baseline that only knows how frequent each label is (class prior only)."
    ),
    Column("gain", "gain (nats)", Kind.NUMBER, digits=3).means(
        "By how much the log-loss is below that of the class prior only."
    ),
    *columns.ends(of="the gain's"),
    Column("surely", "significant?", Kind.FLAG).means(
        f"Whether the interval is above 0, with {FEW} instructions or more. If it is not, the raw"
        " predictions may be no more informative than the class prior. They are used if their"
        " cross-validated log-loss is lower."
    ),
    Column("ece_before", "ECE, uncalibrated", Kind.NUMBER, digits=3).means(
        "Expected calibration error: the mean gap between confidence and accuracy; lower is better."
        f" {_AS_IT_IS}"
    ),
    Column("ece_after", "calibrated", Kind.NUMBER, _CALIBRATED, digits=3),
)
_SOURCES = (
    Column("source", "source", Kind.NAME, "The source that is omitted to measure what it adds."),
    Column("nats", "log-loss (nats)", Kind.NUMBER, digits=4).means(
        "By how much the log-loss rises without it: above 0, it helps."
    ),
    *columns.ends(4),
    Column("right", "accuracy gain", Kind.ESTIMATE).means(
        "By how many percentage points it raises the accuracy, with the 95 % interval."
    ),
)
_PARAMETERS = (
    Column("criterion", "fitted on all", Kind.NAME, "The criterion, fitted on all its labels."),
    Column("scale", "scale", Kind.NUMBER, digits=3).means(
        "The factor on the judge's log-probabilities: above 1 makes it more confident, below 1 less."
    ),
    *(
        Column(label, f"bias {label}", Kind.NUMBER, f"The bias added for the label “{words(label)}”.")
        for label in PREFERENCES
    ),
    Column(
        "shrinkage",
        "shrinkage",
        Kind.SHORTEST,
        instead={AS_READ: "uncalibrated", math.inf: "class prior only"},
    ).means("L2 regularisation: how strongly the fit is pulled towards the class prior."),
)
_PARTS = (
    Column("criterion", "additional feature", Kind.NAME, "The criterion whose labels are predicted."),
    Column("part", "what", Kind.NAME).means(
        "A feature of the calibration model, in addition to the mean raw prediction."
    ),
    Column("factor", "factor", Kind.NUMBER, digits=3).means(
        "The weight of this feature, added to the mean raw prediction."
    ),
    Column("shrinkage", "shrinkage", Kind.SHORTEST, "L2 regularisation of the weights."),
)


def calibration_sections(made: CalibratedRun) -> list[Section]:
    return [in_short_section(made), quality_section(made), *sources_section(made), parameter_section(made)]


def in_short_section(made: CalibratedRun) -> Section:
    """Whether to use it, in a sentence."""
    found = mean_accuracies(made.reports.values())
    shares = f"{percent(found['after'].value)} with it, {percent(found['before'].value)} without"
    ends, most = found["more"].ends, max(report.instructions for report in made.reports.values())
    if ends is None or most < FEW or ends[0] <= 0 <= ends[1]:
        said = (
            f"It is not shown to give more correct labels ({shares}; the difference may be chance): label"
            " more items and calibrate again, or keep the labels as they are."
        )
    else:
        said = "Use it: it gives more correct labels" if ends[0] > 0 else "Do not use it: it gives fewer"
        said += f" on other items of this kind ({shares})."
    return Section("in_short", "In short", [Sentences([said, _ELSEWHERE])])


def calibration_warnings(made: CalibratedRun) -> Iterator[str]:
    """What took no part, and where fewer labels are right than before, or than a baseline's."""
    for name, count in made.unscored.items():
        if count:
            yield f"{words(name)}: {count:,} labelled items are unscored and excluded."
    for reason in made.left_out.values():
        yield f"Not calibrated: {reason}"
    for name, report in made.reports.items():
        found = mean_accuracies([report])
        if found["more"].value < 0:
            yield (
                f"{words(name)}: the calibration lowers the accuracy, in percentage points:"
                f" {found['more']}. More human labels would help."
            )
    not_better = [
        f"{words(name)} {percent(report.after.accuracy)} ({BASELINE[rival]} {percent(reached)})"
        for name, report in made.reports.items()
        for rival, reached in [made.best_baselines[name]]
        if report.after.accuracy <= reached
    ]
    if not_better:
        yield (
            "After calibration, the accuracy is not above the best baseline on these items:"
            f" {', '.join(not_better)}."
        )


def quality_section(made: CalibratedRun) -> Section:
    return Section(
        "quality",
        "Before and after calibration",
        [quality_table(made.reports), gain_table(made.reports)],
        "Cross-validated by instruction: none is used both to fit and to measure."
        + (_ALIKE if made.calibration.alike else _FREE),
    )


def quality_table(reports: Mapping[str, CalibrationReport]) -> Table:
    rows: list[Row] = [
        [words(name), report.items, *_accuracies({name: report})] for name, report in reports.items()
    ]
    rows.append(["mean", "", *_accuracies(reports)])
    return Table(_QUALITY, rows)


def gain_table(reports: Mapping[str, CalibrationReport]) -> Table:
    rows: list[Row] = [
        [
            words(name),
            {None: "class prior", AS_READ: "uncalibrated"}.get(report.calibration.strength, "calibrated"),
            *(quality.log_loss for quality in (report.before, report.after, report.baseline)),
            report.gain,
            *(report.gain_interval or (None, None)),
            report.helps_significantly,
            *(quality.calibration_error for quality in (report.before, report.after)),
        ]
        for name, report in reports.items()
    ]
    return Table(_GAIN, rows)


def _accuracies(reports: Mapping[str, CalibrationReport]) -> list[Value]:
    """Before and after, the difference, and of the most frequent label; on average."""
    frequent = fmean(report.baseline.accuracy for report in reports.values())
    return [*mean_accuracies(reports.values()).values(), frequent]


def sources_section(made: CalibratedRun) -> list[Section]:
    """What each source of raw predictions adds, the most first; none where there is one source only."""
    if not made.without:
        return []
    found = {source: added(lost, made.reports) for source, lost in made.without.items()}
    rows: list[Row] = [
        [source, each.nats, *(each.interval or (None, None)), each.right]
        for source, each in sorted(found.items(), key=lambda pair: -pair[1].nats)
    ]
    help_text = (
        "The loss if one source is omitted and all others are kept: mean over the criteria,"
        " cross-validated. A source that adds nothing may still be informative by itself, if others hold"
        " the same information. “The second order” is what reading both orders adds to the first."
    )
    return [Section("sources", "What each source adds", [Table(_SOURCES, rows)], help_text)]


def parameter_section(made: CalibratedRun) -> Section:
    rows: list[Row] = [
        [words(name), part.in_words, factor, report.calibration.penalty_of_features]
        for name, report in made.reports.items()
        for part, factor in report.calibration.parts.items()
    ]
    tables = [parameter_table(made.reports), *([Table(_PARTS, rows)] if rows else ())]
    return Section("parameters", "What was fitted", tables)


def parameter_table(reports: Mapping[str, CalibrationReport]) -> Table:
    rows: list[Row] = [
        [words(name), one.scale, *one.biases, math.inf if one.strength is None else one.strength]
        for name, one in ((name, report.calibration) for name, report in reports.items())
    ]
    return Table(_PARAMETERS, rows)


_BINS = (
    columns.CRITERION,
    Column("judgments", "judgments", Kind.COUNT, "The number of judgments with about this confidence."),
    Column("sure", "probability of its label", Kind.SHARE).means(
        "The mean probability of the judge's label (confidence)."
    ),
    Column("right", "right", Kind.SHARE, "The share of these that are right (accuracy)."),
)
_MOST_UNCERTAIN = 20  # percent: the likeliest of four labels has 25 or more
RELIABILITY_SECTION = Section(
    "reliability",
    "Reliability of its probabilities",
    [Picture("reliability")],
    "Each point is a group of judgments with similar confidence, the probability of the judge's own"
    " label; the number is their count. On the dashed line, accuracy equals confidence. Below it the"
    " judge is overconfident, above it underconfident. Points with few judgments mean little.",
)


def reliability_of(matched: Matched) -> dict[str, Sequence[ReliabilityBin]]:
    found: dict[str, Sequence[ReliabilityBin]] = {}
    for criterion, pairs in matched.pairs.items():
        known = [
            (pair.judgment.probabilities, HUMAN_LABELS.index(pair.gold.label))
            for pair in pairs
            if pair.judgment and pair.gold.label
        ]
        if known:
            probabilities, labels = zip(*known, strict=True)
            found[criterion] = reliability(np.array(probabilities), np.array(labels))
    return found


def reliability_figure(
    bins: Mapping[str, Sequence[ReliabilityBin]], name: str = "", dark: bool = False
) -> drawing.Figure:
    """How often the judge was right by its confidence; the number at each point is its count of judgments."""
    title = f"Reliability: accuracy by confidence (number of judgments)\n{drawing.drawable(name)}".rstrip()
    names = ("probability of its label (%)", "accuracy (%)")
    return drawing.draw_panels(list(bins.items()), _draw_reliability, 2.35, names, title, dark=dark)


def _draw_reliability(
    axes: drawing.Axes, shown: tuple[str, Sequence[ReliabilityBin]], theme: drawing.Theme
) -> None:
    criterion, bins = shown
    sure = [100 * bin_.confidence for bin_ in bins]
    right = [100 * bin_.accuracy for bin_ in bins]
    largest = max((bin_.count for bin_ in bins), default=1)
    # Only as long as the axes: Qt does not clip what leaves them.
    axes.plot([_MOST_UNCERTAIN, 100], [_MOST_UNCERTAIN, 100], color=theme.muted, linestyle="--", linewidth=1)
    axes.vlines(sure, sure, right, color=theme.judge, linewidth=1)
    sizes = [18 + 70 * bin_.count / largest for bin_ in bins]
    axes.scatter(sure, right, s=sizes, color=theme.judge, edgecolors=theme.paper, zorder=3, clip_on=False)
    for bin_, x, y in zip(bins, sure, right, strict=True):
        # Away from the diagonal, where nothing else is drawn.
        above = y >= x
        axes.annotate(
            drawing.narrow_count(bin_.count),
            (x, y),
            xytext=(0, 7 if above else -7),
            textcoords="offset points",
            ha="center",
            va="bottom" if above else "top",
            fontsize=6.5,
        )
    axes.set_xlim(_MOST_UNCERTAIN, 104)
    axes.set_ylim(-14, 116)
    axes.set_xticks(range(25, 101, 25))
    axes.set_yticks(range(0, 101, 25))
    axes.set_title(drawing.drawn_words(criterion))
    axes.grid()


def reliability_report(bins: Mapping[str, Sequence[ReliabilityBin]], name: str) -> drawing.ReportFigure:
    shown = "; ".join(
        f"{words(criterion)}: "
        + ", ".join(
            f"{one.count:,} at {percent(one.confidence)} were {percent(one.accuracy)} right" for one in found
        )
        for criterion, found in bins.items()
    )
    rows: list[Row] = [
        [words(criterion), one.count, one.confidence, one.accuracy]
        for criterion, found in bins.items()
        for one in found
    ]
    draw = partial(reliability_figure, bins, name)
    return drawing.ReportFigure(draw, f"Accuracy by confidence. {shown}.", Table(_BINS, rows))


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
            *(point.labels, point.log_loss.value, *(point.log_loss.interval or (None, None))),
            *(point.frequencies, point.ahead.significantly_above, point.right, point.frequent.value),
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

    name = f"Learning curve, with 95 % intervals\n{drawing.drawable(title)}".rstrip()
    made = drawing.new_panels(3.2, name, dark, 4, (1, 2), legend_of=1)
    with made as (figure, [loss, right], theme):
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
