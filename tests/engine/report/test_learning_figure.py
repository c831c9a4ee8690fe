"""The figure of a learning curve and its section: their numbers, what is said, people beside."""

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from engine.calibration.learning import Doubling, LearningCurve, LearningPoint, Nats
from engine.core.tables import Estimate, Sentences, Table
from engine.metrics.annotator_agreement import AgainstOthers
from engine.metrics.intervals import Interval
from engine.report.drawing import as_png
from engine.report.learning import doubling_sentences, learning_figure, learning_in_words, learning_section

HELPED = Nats(0.1, Interval(0.02, 0.18))
UNSURE = Nats(-0.01, Interval(-0.05, 0.03))


def point(labels: int, loss: float, right: float) -> LearningPoint:
    return LearningPoint(
        labels,
        Nats(loss, Interval(loss - 0.1, loss + 0.1)),
        Estimate(right, (right - 0.1, right + 0.1)),
        frequencies=1.2,
        ahead=Nats(1.2 - loss, Interval(0.1, 0.5)),
        frequent=Estimate(0.4),
    )


def doubling(gained: Nats, more: float = 0.05) -> Doubling:
    return Doubling(20, 40, gained, Estimate(more, (more - 0.02, more + 0.02)))


CURVE = LearningCurve(
    (point(10, 1.1, 0.5), point(20, 1.0, 0.6), point(40, 0.9, 0.65)),
    doubling(HELPED),
    {"safety": doubling(HELPED)},
    {"safety": 50},
    {},
)
ANNOTATORS = (
    AgainstOthers(None, None, 30, 2, Estimate(0.7, (0.6, 0.8)), None, None),
    AgainstOthers("Ada", None, 10, 2, Estimate(0.8, (0.6, 0.9)), None, None),
    AgainstOthers("Ben", None, 20, 0, Estimate(0.65, (0.5, 0.8)), None, None),
)


def lines(axes: Axes, name: str) -> list[list[float]]:
    return [heights(line) for line in axes.lines if line.get_label() == name]


def heights(line: Line2D) -> list[float]:
    return [round(float(height), 6) for height in np.asarray(line.get_ydata(), np.float64)]


def test_it_holds_both_measures_their_intervals_and_the_trivial_judge() -> None:
    figure = learning_figure(CURVE, "run 1")
    loss, right = figure.axes
    assert lines(loss, "calibrated") == [[1.1, 1.0, 0.9]]
    assert lines(right, "calibrated") == [pytest.approx([50, 60, 65])]
    assert lines(loss, "class prior, most frequent label") == [[1.2] * 3]
    assert lines(right, "class prior, most frequent label") == [pytest.approx([40] * 3)]
    assert [1.0, 1.2] in [heights(line) for line in loss.lines]
    assert [55.0, 75.0] in [heights(line) for line in right.lines]
    for axes in (loss, right):
        assert axes.get_xscale() == "log"
        assert [text.get_text() for text in axes.get_xticklabels()] == ["10", "20", "40"]
    assert as_png(figure, 40) != as_png(learning_figure(CURVE, "run 1", dark=True), 40)


def test_people_are_lines_and_words_beside_the_curve() -> None:
    curve = replace(CURVE, annotators=ANNOTATORS)
    right = learning_figure(curve).axes[1]
    assert lines(right, "annotators, each in turn") == [[70, 70]]
    assert [80.0, 80.0] in [heights(line) for line in right.lines]
    said = learning_in_words(curve)
    assert (
        "10 labels: log-loss 1.100 nats (1.000 to 1.200), class prior 1.200; accuracy 50.0 (40.0 to 60.0) %"
        in said
    )
    assert said.endswith(
        "all, in turn 70.0 (60.0 to 80.0) %; Ada 80.0 (60.0 to 90.0) %; Ben 65.0 (50.0 to 80.0) %."
    )
    tables = [part for part in learning_section(curve).parts if isinstance(part, Table)]
    assert [row[0] for row in tables[-1].texts()] == ["all, in turn", "Ada", "Ben"]


@pytest.mark.parametrize(
    ("gained", "said"),
    [
        (HELPED, "fell by 0.100 nats (0.020 to 0.180), and 5.0 (3.0 to 7.0) percentage points more"),
        (
            HELPED,
            "That helped significantly. Another doubling needs 40 more labels of each criterion: expect"
            " at most",
        ),
        (UNSURE, "rose by 0.010 nats (-0.030 to 0.050), and 5.0"),
        (
            UNSURE,
            "not significant: the interval of the log-loss includes 0. From twice as many labels expect"
            " at most its upper end, 0.030 nats.",
        ),
        (HELPED.turned(), "That did not help"),
        (Nats(0.0, None), "That changed nothing"),
    ],
)
def test_it_says_what_the_last_doubling_brought_and_no_more(gained: Nats, said: str) -> None:
    assert said in " ".join(doubling_sentences(replace(CURVE, last=doubling(gained))))


def test_it_says_whether_readings_are_surely_better_than_frequencies() -> None:
    assert list(doubling_sentences(CURVE))[-1].endswith(
        "(0.100 to 0.500) below that of their class prior: the raw predictions are informative."
    )
    last = replace(CURVE.points[-1], ahead=UNSURE)
    unsure = replace(CURVE, points=(*CURVE.points[:-1], last))
    assert (
        "this does not show that the raw predictions are more informative"
        in list(doubling_sentences(unsure))[-1]
    )


def test_it_says_what_is_left_out_and_that_numbers_of_labels_differ() -> None:
    both = {"safety": doubling(HELPED), "relevance": doubling(UNSURE)}
    curve = replace(
        CURVE, by_criterion=both, labelled={"safety": 50, "relevance": 90}, left_out={"naturalness": 3}
    )
    section = learning_section(curve)
    (sentences,) = [part for part in section.parts if isinstance(part, Sentences)]
    assert "safety 50, relevance 90" in " ".join(sentences.texts)
    assert "naturalness is omitted: it has labels of 3 instructions" in " ".join(sentences.texts)
    tables = [part for part in section.parts if isinstance(part, Table)]
    assert [[row[0], row[6]] for row in tables[1].texts()] == [["safety", "yes"], ["relevance", "no"]]
    assert len(learning_section(CURVE).parts) == 3  # one criterion needs no table of its own
