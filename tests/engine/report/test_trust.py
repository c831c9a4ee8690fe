"""Which labels may stand, as it is kept with a run: figure, section of the report, methods, ranking."""

from dataclasses import replace as with_fields
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure
from msgspec.structs import replace

from engine.core.errors import SetupError
from engine.core.events import followed
from engine.data.dataset import Dataset
from engine.metrics.evaluation import evaluate
from engine.metrics.matching import System, match
from engine.ranking.ranking import rank
from engine.report.evaluation import evaluation_methods
from engine.report.html_report import Report, report_html, report_sheet
from engine.report.methods import bibliography, methods_latex, methods_text
from engine.report.rankings import RankedBy, ranking_methods
from engine.report.run import run_facts
from engine.report.trust import TRUST_FIGURE, trust_figure, trust_methods, trust_report_figure
from engine.results.trust import KeptThreshold
from tests.judged import RATHER_A, SURE_A, SURE_B, A, B, Columns, dataset, stored_run, text_table
from tests.kept_trust import kept_trust_of, manifest_of
from tests.steps import there

KEPT = kept_trust_of({"safety": 0.7, "relevance": None})
GOLD = dataset({"safety": [A, A, B, A], "relevance": [A, A, A, B]})


def drawn(figure: Figure, panel: int) -> dict[str, tuple[list[float], list[float]]]:
    """The places of what a panel draws, by its name."""
    lines = {str(line.get_label()): np.asarray(line.get_data(), float) for line in figure.axes[panel].lines}
    return {name: (along.tolist(), up.tolist()) for name, (along, up) in lines.items()}


def test_the_figure_has_a_point_for_each_threshold_and_a_mark_for_the_one_taken() -> None:
    figure = trust_figure(KEPT, "run 1")
    safety = drawn(figure, 0)
    assert [*zip(*safety["agreement"], strict=True)] == [(30, 95), (60, 90), (100, 75)]
    assert [*zip(*safety["threshold taken"], strict=True)] == [(60, 90)]
    assert safety["target"][1] == pytest.approx([85, 85])
    band = np.asarray(figure.axes[0].collections[0].get_paths()[0].vertices)
    assert {84, 82, 66, 99, 95} <= {round(float(end), 6) for end in band[:, 1]}
    assert drawn(figure, 1)["threshold taken"] == ([], [])
    assert figure.axes[1].get_title("left") == "relevance: none may stand"


@pytest.mark.parametrize("tested", [KEPT.criteria["safety"].tested[-1:], ()])
def test_the_figure_is_drawn_of_one_threshold_and_of_none(tested: tuple[KeptThreshold, ...]) -> None:
    kept = replace(KEPT, criteria={"safety": KeptThreshold(confidence=None, tested=tested)})
    found = trust_report_figure(kept, "run 1")
    assert b"<!-- safety: none may stand -->" in found.as_bytes("svg")
    assert found.in_words.endswith("target 85.0 %. May stand: safety none.")
    assert len(there(found.numbers).rows) == len(tested)


def run_of(folder: Path, gold: Dataset = GOLD) -> System:
    said: Columns = {"safety": [SURE_A, RATHER_A, None, SURE_B], "relevance": [SURE_A] * 4}
    return stored_run(folder, gold, said, manifest=manifest_of(KEPT))


def test_the_report_has_a_section_a_figure_and_a_fact(tmp_path: Path) -> None:
    report = Report(evaluate(match(run_of(tmp_path), GOLD)))
    section = next(each for each in report_sheet(report).sections if each.key == TRUST_FIGURE)
    assert section.title == "Which labels may stand"
    page = report_html(report, {TRUST_FIGURE: b"<svg/>"})
    assert "At least 85.0 % of these labels agree with people, at a risk of 10.0 % for each" in page
    assert "The numbers of this figure" in page
    fact = dict(run_facts(there(report.results)).pairs)["labels that may stand"]
    assert fact.startswith("safety from 0.700 on (60.0 % of all labels; 90.0 % agree in 60 human labels); ")
    other = stored_run(tmp_path / "other", GOLD, {"safety": [SURE_A] * 4, "relevance": [SURE_A] * 4})
    assert TRUST_FIGURE not in Report(evaluate(match(other, GOLD))).figures


def test_methods_name_the_thresholds_the_promise_and_the_works(tmp_path: Path) -> None:
    said = evaluation_methods(evaluate(match(run_of(tmp_path), GOLD)))
    text = methods_text(said)
    for part in (
        "may stand by its confidence (its probability of the label): safety from 0.700 on",
        "relevance none. At least 85.0 % of these labels agree with people, at a risk of 10.0 % for each",
        "after Jung, Brahman and Choi (2024).",
        "are worth (Korn and Graubard 1998); the fallback procedure (Wiens and Dmitrienko 2005)",
        "Tiebreak's store, run 1\n",
    ):
        assert part in text
    works = [work for each in said for work in each.works]
    assert {"jung2024trust", "wiens2005fallback", "korn1998confidence"} <= {work.key for work in works}
    assert "The Fallback Procedure for Evaluating a Single Family" in bibliography(works)
    assert r"Jung, Brahman and Choi~\cite{jung2024trust}" in methods_latex(said, "Tiebreak")


def test_methods_of_a_promise_at_any_time_are_bets() -> None:
    said = [*trust_methods(replace(KEPT, anytime=True, jointly=True), "here")]
    text = methods_text(said)
    assert "by bets, one an instruction, which may be looked at after each label (Waudby-Smith and" in text
    assert "for all criteria together" in text
    assert "Korn" not in text


def naming_candidates() -> Dataset:
    beside = {"candidate_a": ["one", "two"] * 2, "candidate_b": ["two", "one"] * 2}
    return with_fields(GOLD, others=text_table(beside))


def test_a_ranking_by_accepted_labels_counts_them_alone_and_is_never_corrected(tmp_path: Path) -> None:
    gold = naming_candidates()
    of_all = RankedBy.by_system(run_of(tmp_path, gold), gold, "safety")
    accepted = of_all.by_accepted()
    assert [bool(each) for each in np.isfinite(of_all.said[:, 0])] == [True, True, False, True]
    assert [bool(each) for each in np.isfinite(accepted.said[:, 0])] == [True, False, False, True]
    assert (of_all.judge is None, accepted.judge) == (False, None)
    assert "no random sample: all rates and intervals are of these items alone" in accepted.remark
    assert accepted.title == "run 1, safety, labels that may stand"
    text = methods_text(ranking_methods(accepted, followed(rank(accepted.comparisons)), 0))
    assert "Only labels that may stand count" in text
    assert "after Jung, Brahman and Choi (2024)" in text
    with pytest.raises(SetupError, match="kept with runs alone"):
        RankedBy.by_annotators(gold, "safety").by_accepted()
