"""Figures: the numbers they hold, foreign names, no trace in the settings, the same bytes again."""

import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from xml.etree import ElementTree

import matplotlib
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.container import BarContainer
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from engine.calibration.learning import Doubling, LearningCurve, LearningPoint, Nats, margin_report
from engine.calibration.scaling import ReliabilityBin
from engine.core.numeric import FloatArray
from engine.core.tables import Estimate, Sentences, Table
from engine.metrics.annotator_agreement import AgainstOthers
from engine.metrics.evaluation import Evaluation, evaluate
from engine.metrics.intervals import Interval
from engine.metrics.matching import match
from engine.ranking.weighted_scoring import ScoredPairs, WeightedScoring, weigh
from engine.report.accuracy import accuracy_figure, confusion_figure, label_figure
from engine.report.calibration import (
    doubling_sentences,
    learning_figure,
    learning_in_words,
    learning_section,
    reliability_figure,
)
from engine.report.drawing import as_png, as_svg
from engine.report.html_report import FIGURE_NAMES, evaluation_figures
from engine.report.weighted_scoring import margin_figure
from engine.results.second_order import BothOrders
from tests.judged import BAD, GOOD, TIE, A, B, dataset, matched, system
from tests.steps import there

BINS = {
    "safety": [ReliabilityBin(0.3, 0.4, 3, 0.35, 1.0), ReliabilityBin(0.9, 1.0, 1200, 0.97, 0.5)],
    "relevance": [ReliabilityBin(0.9, 1.0, 7, 1.0, 0.0)],
}

ORDERS = margin_report(
    BothOrders(("safety",), ("1", "2"), np.array([[0.1], [0.9]]), np.array([[False], [True]])), "ab", 0.99
)


@pytest.fixture
def evaluation() -> Evaluation:
    gold = dataset({"safety": [A, A, B, GOOD], "relevance": [B, B, B, BAD]})
    judge = system({"safety": [A, B, B, None], "relevance": [B, B, B, BAD]})
    return evaluate(match(judge, gold))


def weighted_scoring(margins: Sequence[float], threshold: float = 0.5) -> WeightedScoring:
    rows = [
        {"id": str(place), "scores_a": {"safety": max(margin, 0)}, "scores_b": {"safety": max(-margin, 0)}}
        for place, margin in enumerate(margins)
    ]
    return weigh(ScoredPairs(rows), {"safety": 1.0}, threshold)


def texts(axes: Axes) -> list[str]:
    return [text.get_text() for text in axes.texts]


def heights(axes: Axes) -> dict[str, list[float]]:
    """The heights of the bars by their label in the legend."""
    return {
        str(bars.get_label()): [patch.get_height() for patch in bars.patches]
        for bars in axes.containers
        if isinstance(bars, BarContainer)
    }


def marks(axes: Axes) -> dict[str, list[float]]:
    """The places along x of the marks and lines of an accuracy figure, by their label."""
    return {str(line.get_label()): list(np.asarray(line.get_xdata(), float)) for line in axes.lines}


def test_the_bars_are_the_accuracies_and_their_mean(evaluation: Evaluation) -> None:
    (axes,) = accuracy_figure(evaluation).axes
    (bars,) = axes.containers
    assert isinstance(bars, BarContainer)
    assert [bar.get_width() for bar in bars.patches] == [100, 50, 75]
    assert texts(axes) == ["100.0 %", "50.0 %", "75.0 %"]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["relevance", "safety", "mean"]


def test_intervals_and_trivial_judges_stand_beside_the_accuracies(evaluation: Evaluation) -> None:
    (axes,) = accuracy_figure(evaluation).axes
    drawn = marks(axes)
    lines = [list(np.asarray(line.get_xdata(), float)) for line in axes.lines]
    for measures in evaluation.labels.values():
        assert measures.interval is not None
        assert [100 * measures.interval.low, 100 * measures.interval.high] in lines
    shares = [measures.baselines.most_frequent for measures in evaluation.labels.values()]
    assert drawn["most frequent label"][:2] == pytest.approx([100 * share for share in shares])
    assert drawn["always A"] == [0, 50, 25]
    assert drawn["guessing (25 %)"] == [25, 25]


def test_the_cells_are_the_counts_with_unscored_where_there_are_any(evaluation: Evaluation) -> None:
    _, safety = confusion_figure(evaluation).axes
    cells = [int(cell) for cell in texts(safety)]
    assert cells == [count for row in evaluation.labels["safety"].confusion.values() for count in row]
    assert [label.get_text() for label in safety.get_xticklabels()][-1] == "un-\nscored"
    scored = evaluate(matched([A, B], [A, A]))
    (axes,) = confusion_figure(scored).axes
    assert len(texts(axes)) == 16
    assert len(axes.get_xticklabels()) == 4


@pytest.mark.parametrize("dark", [False, True])
def test_numbers_can_be_read_in_every_cell(evaluation: Evaluation, dark: bool) -> None:
    figure = confusion_figure(evaluation, dark)
    _, safety = figure.axes
    shades = np.asarray(safety.collections[0].cmap([0.0, 0.25, 0.5, 0.75, 1.0]))[:, :3]
    numbers = {text.get_color() for text in safety.texts if text.get_text() != "0"}
    for colour in numbers:
        assert min(contrast(np.array(to_rgb(colour)), shade) for shade in shades) > 4.5


def contrast(one: FloatArray, other: FloatArray) -> float:
    """Source: WCAG 2.2, contrast ratio."""
    linear = [np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4) for rgb in (one, other)]
    low, high = sorted(float(rgb @ [0.2126, 0.7152, 0.0722]) for rgb in linear)
    return (high + 0.05) / (low + 0.05)


def test_the_bars_are_how_often_each_label_was_given(evaluation: Evaluation) -> None:
    _, safety = label_figure(evaluation).axes
    assert heights(safety) == {"annotators": [2, 1, 1, 0], "judge": [1, 2, 0, 0, 1]}
    assert texts(safety) == ["2", "1", "1", "0", "1", "2", "0", "0", "1"]


def test_the_points_are_the_bins_and_the_diagonal_stays_within_the_axes() -> None:
    safety, relevance = reliability_figure(BINS).axes
    points = np.asarray(safety.collections[-1].get_offsets())
    assert points == pytest.approx(np.array([[35, 100], [97, 50]]))
    assert (texts(safety), texts(relevance)) == (["3", "1.2k"], ["7"])
    for axes in (safety, relevance):  # Qt, which shows the SVG, does not clip
        along, up = np.asarray(axes.lines[0].get_data())
        assert axes.get_xlim()[0] <= along.min() <= along.max() <= axes.get_xlim()[1]
        assert (along == up).all()


def test_margins_are_counted_by_winner_and_a_tie_stands_within_the_threshold() -> None:
    found = weighted_scoring([0.5, -0.25, 0, 0.6, -5, 10])
    (axes,) = margin_figure(found).axes
    counts = {label: sum(bars) for label, bars in heights(axes).items()}
    assert counts == {"tie (3)": 3, "A wins (2)": 2, "B wins (1)": 1}
    ties = next(bars for bars in axes.containers if str(bars.get_label()).startswith("tie"))
    assert isinstance(ties, BarContainer)
    ends = [bar.get_x() + bar.get_width() for bar in ties.patches if bar.get_height()]
    assert max(ends) == pytest.approx(0.5)
    (line,) = axes.lines
    assert list(np.asarray(line.get_xdata(), float)) == [0.5, 0.5]


@pytest.mark.parametrize(
    ("margins", "threshold"),
    [([0, 0], 0), ([1], 0), ([1], 30), ([10, -3], 0.001), ([10], 9.9), ([1e200, 1], 0.5), ([1e-3], 2e-3)],
)
def test_any_threshold_and_scale_has_a_few_dozen_bins(margins: Sequence[float], threshold: float) -> None:
    found = weighted_scoring(margins, threshold)
    (axes,) = margin_figure(found).axes
    bars = heights(axes)
    assert sum(map(sum, bars.values())) == len(margins)
    assert all(len(bar) <= 45 for bar in bars.values())
    as_png(margin_figure(found), 40)


FIGURES: dict[str, Callable[[Evaluation], Figure]] = {
    "accuracy": accuracy_figure,
    "confusion": confusion_figure,
    "labels": label_figure,
    "reliability": lambda _: reliability_figure(BINS, "run 1"),
    "margins": lambda _: margin_figure(weighted_scoring([1, -1, 0]), "run 1"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", FIGURES)
def test_the_same_numbers_give_the_same_bytes(name: str, evaluation: Evaluation) -> None:
    once, again = FIGURES[name](evaluation), FIGURES[name](evaluation)
    svg = as_svg(once, "Bars.")
    assert svg.startswith(b"<?xml")
    assert as_svg(again, "Bars.") == svg
    assert as_png(once, 60) == as_png(again, 60)
    assert_needs_nothing_from_elsewhere(svg.decode("utf-8"))


def test_a_file_says_its_title_and_what_it_shows(evaluation: Evaluation) -> None:
    root = ElementTree.fromstring(as_svg(accuracy_figure(evaluation), "A < B & \u202e.\n100 %"))
    said = {each.tag.rpartition("}")[2]: each.text for each in root if each.text}
    assert root.get("role") == "img"
    assert str(said["title"]).startswith("Accuracy with 95 % intervals judge.tsv against")
    assert said["desc"] == r"A < B & \u202e. 100 %"


@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("labels", ["safety", "A", 2, 1]),
        ("confusion", ["safety", "A", 1, 1, 0, 0, 0]),
        ("reliability", ["safety", 9, 0.9, 0.7]),
    ],
)
def test_the_numbers_of_a_figure_are_a_table(evaluation: Evaluation, name: str, row: list[object]) -> None:
    bins = {"safety": [ReliabilityBin(0.6, 1.0, 9, 0.9, 0.7)]}
    table = there(evaluation_figures(evaluation, bins)[name].numbers)
    assert row in [list(each) for each in table.rows]


def assert_needs_nothing_from_elsewhere(svg: str) -> None:
    tags = {element.tag.rpartition("}")[2] for element in ElementTree.fromstring(svg).iter()}
    assert "path" in tags
    assert not tags & {"text", "script", "image", "foreignObject"}
    assert all(link.startswith("#") for link in re.findall(r'href="([^"]*)"', svg))
    assert "<dc:date>" not in svg


@pytest.mark.parametrize(
    ("name", "drawn"),
    [
        ("$x$ \\frac{1}{2} $", "$x$ \\frac{1}{2} $"),
        ("a\0b\n\u202ec\udcff", "a□b □c□"),
        ("汉字 é", "□□ é"),
        ("n" * 500, "n" * 47 + "…"),
    ],
)
def test_a_foreign_name_is_drawn_as_it_is(name: str, drawn: str) -> None:
    judge = system({"safety": [A, B]}, name=name)
    evaluation = evaluate(match(judge, dataset({"safety": [A, A]})))
    figure = accuracy_figure(evaluation)
    said = f"Accuracy with 95 % intervals\n{drawn} against gold.tsv, 2 labels on 2 items"
    assert figure.get_suptitle() == said
    # A warning, or a formula that cannot be read, would end here.
    assert as_svg(figure, "Bars.").startswith(b"<?xml")


def test_matplotlibs_settings_stay_as_they_were(evaluation: Evaluation) -> None:
    before = list(map(repr, dict.items(matplotlib.rcParams)))
    as_png(accuracy_figure(evaluation, dark=True), 40)
    assert list(map(repr, dict.items(matplotlib.rcParams))) == before


def test_the_users_own_settings_do_not_count(evaluation: Evaluation) -> None:
    expected = as_svg(accuracy_figure(evaluation), "Bars.")
    with matplotlib.rc_context({"font.size": 30, "text.usetex": True, "svg.fonttype": "none"}):
        assert as_svg(accuracy_figure(evaluation), "Bars.") == expected


@pytest.mark.slow
def test_dark_paper_has_light_text(evaluation: Evaluation) -> None:
    for drawn in evaluation_figures(evaluation, BINS, ORDERS, weighted_scoring([1, 0])).values():
        figure = drawn.draw(True)
        (axes, *_) = figure.axes
        assert sum(matplotlib.colors.to_rgb(figure.get_facecolor())) < 1
        for label in axes.get_xticklabels():
            assert sum(matplotlib.colors.to_rgb(label.get_color())) > 2
        as_png(figure, 40)


def test_only_what_there_is_to_show_is_drawn(evaluation: Evaluation) -> None:
    every = evaluation_figures(evaluation, BINS, ORDERS, weighted_scoring([1]))
    assert set(every) == set(FIGURE_NAMES)
    some = evaluation_figures(evaluation, {}, None, weighted_scoring([]))
    assert tuple(some) == ("accuracy", "labels", "confusion")


def test_a_single_criterion_and_item_can_be_drawn() -> None:
    evaluation = evaluate(matched([A], [A]))
    bins = {"safety": BINS["safety"]}
    for figure in evaluation_figures(evaluation, bins, None, weighted_scoring([0])).values():
        as_png(figure.draw(False), 40)


def test_a_tie_of_which_people_said_no_more_has_a_row_and_a_bar_of_its_own() -> None:
    evaluation = evaluate(matched([GOOD, A], [TIE, A]))
    (axes,) = confusion_figure(evaluation).axes
    assert [label.get_text() for label in axes.get_yticklabels()][-1] == "tie"
    assert len(texts(axes)) == 20
    (axes,) = label_figure(evaluation).axes
    assert [label.get_text() for label in axes.get_xticklabels()][-1] == "tie"


def test_a_mere_tie_of_a_judge_has_a_column_in_the_numbers_of_the_matrices() -> None:
    gold = dataset({"safety": [A, GOOD], "relevance": [B, None]})
    judge = system({"safety": [A, TIE], "relevance": [B, None]})
    table = there(evaluation_figures(evaluate(match(judge, gold)), {})["confusion"].numbers)
    assert [column.key for column in table.columns][-2:] == ["tie", "unscored"]
    assert ["safety", "both good", 0, 0, 0, 0, 1, 0] in table.rows
    assert ["relevance", "B", 0, 1, 0, 0, 0, 0] in table.rows


# The figure of a learning curve and its section: their numbers, what is said, people beside.


HELPED = Nats(0.1, Interval(0.02, 0.18))
UNSURE = Nats(-0.01, Interval(-0.05, 0.03))


def point(labels: int, loss: float, right: float) -> LearningPoint:
    reached = Nats(loss, Interval(loss - 0.1, loss + 0.1)), Estimate(right, (right - 0.1, right + 0.1))
    return LearningPoint(labels, *reached, 1.2, Nats(1.2 - loss, Interval(0.1, 0.5)), Estimate(0.4))


def doubling(gained: Nats, more: float = 0.05) -> Doubling:
    return Doubling(20, 40, gained, Estimate(more, (more - 0.02, more + 0.02)))


CURVE = LearningCurve(
    (point(10, 1.1, 0.5), point(20, 1.0, 0.6), point(40, 0.9, 0.65)),
    *(doubling(HELPED), {"safety": doubling(HELPED)}, {"safety": 50}, {}),
)
ANNOTATORS = (
    AgainstOthers(None, None, 30, 2, Estimate(0.7, (0.6, 0.8)), None, None),
    AgainstOthers("Ada", None, 10, 2, Estimate(0.8, (0.6, 0.9)), None, None),
    AgainstOthers("Ben", None, 20, 0, Estimate(0.65, (0.5, 0.8)), None, None),
)


def lines(axes: Axes, name: str) -> list[list[float]]:
    return [ordinates(line) for line in axes.lines if line.get_label() == name]


def ordinates(line: Line2D) -> list[float]:
    return [round(float(height), 6) for height in np.asarray(line.get_ydata(), np.float64)]


def test_it_holds_both_measures_their_intervals_and_the_trivial_judge() -> None:
    figure = learning_figure(CURVE, "run 1")
    loss, right = figure.axes
    assert lines(loss, "calibrated") == [[1.1, 1.0, 0.9]]
    assert lines(right, "calibrated") == [pytest.approx([50, 60, 65])]
    assert lines(loss, "class prior, most frequent label") == [[1.2] * 3]
    assert lines(right, "class prior, most frequent label") == [pytest.approx([40] * 3)]
    assert [1.0, 1.2] in [ordinates(line) for line in loss.lines]
    assert [55.0, 75.0] in [ordinates(line) for line in right.lines]
    for axes in (loss, right):
        assert axes.get_xscale() == "log"
        assert [text.get_text() for text in axes.get_xticklabels()] == ["10", "20", "40"]
    assert as_png(figure, 40) != as_png(learning_figure(CURVE, "run 1", dark=True), 40)


def test_people_are_lines_and_words_beside_the_curve() -> None:
    curve = replace(CURVE, annotators=ANNOTATORS)
    right = learning_figure(curve).axes[1]
    assert lines(right, "annotators, each in turn") == [[70, 70]]
    assert [80.0, 80.0] in [ordinates(line) for line in right.lines]
    said, of_first = learning_in_words(curve), "10 labels: log-loss 1.100 nats (1.000 to 1.200), class prior"
    assert f"{of_first} 1.200; accuracy 50.0 (40.0 to 60.0) %" in said
    assert said.endswith("70.0 (60.0 to 80.0) %; Ada 80.0 (60.0 to 90.0) %; Ben 65.0 (50.0 to 80.0) %.")
    tables = [part for part in learning_section(curve).parts if isinstance(part, Table)]
    assert [row[0] for row in tables[-1].texts()] == ["all, in turn", "Ada", "Ben"]


@pytest.mark.parametrize(
    ("gained", "said"),
    [
        (HELPED, "fell by 0.100 nats (0.020 to 0.180), and 5.0 (3.0 to 7.0) percentage points more"),
        (HELPED, "That helped significantly. Another doubling needs 40 more labels of each criterion"),
        (UNSURE, "rose by 0.010 nats (-0.030 to 0.050), and 5.0"),
        (UNSURE, "From twice as many labels expect at most its upper end, 0.030 nats."),
        (HELPED.turned(), "That did not help"),
        (Nats(0.0, None), "That changed nothing"),
    ],
)
def test_it_says_what_the_last_doubling_brought_and_no_more(gained: Nats, said: str) -> None:
    assert said in " ".join(doubling_sentences(replace(CURVE, last=doubling(gained))))


def test_it_says_whether_readings_are_surely_better_than_frequencies() -> None:
    *_, said = doubling_sentences(CURVE)
    assert said.endswith("to 0.500) below that of their class prior: the raw predictions are informative.")
    last = replace(CURVE.points[-1], ahead=UNSURE)
    *_, unsure = doubling_sentences(replace(CURVE, points=(*CURVE.points[:-1], last)))
    assert "this does not show that the raw predictions are more informative" in unsure


def test_it_says_what_is_left_out_and_that_numbers_of_labels_differ() -> None:
    both = {"safety": doubling(HELPED), "relevance": doubling(UNSURE)}
    labelled = {"safety": 50, "relevance": 90}
    curve = replace(CURVE, by_criterion=both, labelled=labelled, left_out={"naturalness": 3})
    section = learning_section(curve)
    (sentences,) = [part for part in section.parts if isinstance(part, Sentences)]
    assert "safety 50, relevance 90" in " ".join(sentences.texts)
    assert "naturalness is omitted: it has labels of 3 instructions" in " ".join(sentences.texts)
    tables = [part for part in section.parts if isinstance(part, Table)]
    assert [[row[0], row[6]] for row in tables[1].texts()] == [["safety", "yes"], ["relevance", "no"]]
    assert len(learning_section(CURVE).parts) == 3  # one criterion needs no table of its own


_DRAWS_BESIDE_A_WINDOW = """
import ctypes, threading, time
from engine.report.drawing import new_figure
windows = ctypes.PyDLL("kernel32")
windows.LoadLibraryW.restype, windows.FreeLibrary.argtypes = ctypes.c_void_p, (ctypes.c_void_p,)
drawn = threading.Thread(target=new_figure, args=(1,), daemon=True)
drawn.start()
while drawn.is_alive():
    time.sleep(0.0005)
    windows.FreeLibrary(windows.LoadLibraryW("version.dll"))  # keeping Python's lock, as Qt for a timer
"""


@pytest.mark.skipif(sys.platform != "win32", reason="the lock of Windows's loader")
def test_a_first_figure_is_drawn_while_another_thread_loads_libraries() -> None:
    subprocess.run([sys.executable, "-c", _DRAWS_BESIDE_A_WINDOW], check=True, timeout=150)
