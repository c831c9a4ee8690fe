"""Whether scores carry anything: what is known without labels, and with them."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from engine.core.errors import SetupError
from engine.core.judgments import CriterionCalibration
from engine.core.tables import Sentences, Tone
from engine.data.dataset import Dataset
from engine.metrics.matching import System, system_of_run
from engine.ranking.weighted_scoring import WeightedScoring, informativeness_of, scored_pairs_of, weigh
from engine.report.weighted_scoring import weighted_scoring_section
from engine.results.calibration import Calibration, judge_of_run
from tests.judged import SURE_A, A, B, Probabilities, dataset, stored_run, system

TWO = ("safety", "relevance")
GOLD = dataset({name: [A, B] * 15 for name in TWO})
WORSE, BETTER = 1.5, 1.0  # log-loss, nats


def reads(side: float, mass: float) -> Probabilities:
    """Of a reading that is for A (1), for B (-1), for neither (0) or in between; `mass`: of all four."""
    a = 0.4 + 0.35 * side
    return (mass * a, mass * (0.8 - a), mass * 0.1, mass * 0.1)


def judged(folder: Path, *follows: float, gold: Dataset = GOLD, mass: float = 1.0) -> System:
    """A run that reads the label of each criterion so well: 1 right, 0 the same for all, -1 by chance."""
    random = np.random.default_rng(3)
    columns = {}
    for name, strength in zip(TWO, follows, strict=True):
        by_chance = random.choice([-0.5, 0.5], len(gold)).tolist()
        right = [strength * (1 - 2 * (place % 2)) for place in range(len(gold))]
        columns[name] = [reads(value, mass) for value in (by_chance if strength < 0 else right)]
    return stored_run(folder, gold, columns)


def calibrated(run: System, scale: float, after: float = BETTER) -> System:
    """The same, calibrated with such a scale; it says that frequencies have a log-loss of 1.2."""
    assert run.results is not None
    fitted = CriterionCalibration(scale, (0.5, 0.2, -0.3, -0.4), 1.0 if scale else None, 60)
    calibration = Calibration(
        judge_of_run(run.results.run.identity),
        "labels.tsv",
        "d" * 64,
        dict.fromkeys(TWO, fitted),
        {name: {"after": {"log_loss": after}, "most_frequent_label": {"log_loss": 1.2}} for name in TWO},
    )
    return system_of_run(run.results.calibrated(calibration))


def weighed(run: System, gold: Dataset | None = None) -> WeightedScoring:
    return weigh(scored_pairs_of(run, TWO), dict.fromkeys(TWO, 1.0), 0.5, gold, run)


def test_a_judge_calibrated_to_frequencies_decides_nothing(tmp_path: Path) -> None:
    run = calibrated(judged(tmp_path, 1, 1), scale=0)
    for gold in (None, GOLD):
        found = weighed(run, gold)
        assert found.informative.refused
        assert (found.result["results"], found.agreement) == ([], None)
        with pytest.raises(SetupError, match=r"no criterion is informative.*calibrated to the class prior"):
            found.informative.check()
        assert weighted_scoring_section(found, run).parts == [
            Sentences(found.informative.sentences, Tone.CAVEAT)
        ]


def test_the_same_scores_for_all_items_are_said_by_criterion(tmp_path: Path) -> None:
    run = judged(tmp_path, 1, 0)
    found = weighed(run)
    assert set(found.informative.nothing) == {"relevance"}
    assert not found.informative.refused
    assert len(found.result["results"]) == 30
    first = weighted_scoring_section(found, run).parts[0]
    assert first == Sentences(found.informative.sentences, Tone.CAVEAT)
    assert first.texts[0].startswith("Some criteria are not informative")
    assert "on relevance the scores are the same for all 30 items" in first.texts[0]
    assert found.informative.as_json() == {"carries_nothing": dict(found.informative.nothing)}


def test_what_people_say_does_not_hide_that_the_model_says_nothing(tmp_path: Path) -> None:
    gold = dataset({"safety": [A, B, A]})
    run = stored_run(tmp_path, gold, {"safety": [SURE_A] * 3}, overrides=[("2", "safety", B, None)])
    found = informativeness_of(scored_pairs_of(run, ["safety"]).rows, ["safety"], run)
    assert found.nothing["safety"] == "the scores are the same for all 2 items, 8.8 points for A"


def test_labels_show_whether_scores_follow_them(tmp_path: Path) -> None:
    found = weighed(judged(tmp_path, 1, -1), GOLD).informative
    assert set(found.unshown) == {"relevance"}
    assert "30 human labels do not show that its scores agree with annotators" in found.sentences[0]
    assert weighed(judged(tmp_path / "both", 1, 0.5), GOLD).informative.sentences == []


def test_few_labels_show_nothing_and_are_not_asked(tmp_path: Path) -> None:
    few = dataset({name: [A, B] * 4 for name in TWO})
    assert not weighed(judged(tmp_path, 1, -1, gold=few), few).informative.unshown


def test_a_calibration_that_was_no_better_than_frequencies_says_so(tmp_path: Path) -> None:
    run = judged(tmp_path, 1, 1)
    assert set(weighed(calibrated(run, 1, after=WORSE)).informative.unshown) == set(TWO)
    assert not weighed(calibrated(run, 1)).informative.sentences
    assert not weighed(calibrated(run, 1, after=WORSE), GOLD).informative.sentences  # labels know better


@pytest.mark.parametrize("measured", [{}, {"safety": 7}, {"safety": {"after": {"log_loss": "?"}}}])
def test_a_calibration_may_say_nothing_of_itself(tmp_path: Path, measured: dict[str, object]) -> None:
    run = calibrated(judged(tmp_path, 1, 1), 1)
    assert run.results is not None
    assert run.results.calibration is not None
    known = replace(run.results.calibration, measured=measured)
    assert not weighed(system_of_run(run.results.calibrated(known))).informative.sentences


def test_a_model_that_does_not_judge_is_not_weighed_unless_labels_speak_for_it(tmp_path: Path) -> None:
    unfit = judged(tmp_path, 1, 1, mass=0.1)
    assert "the model does not judge" in weighed(unfit).informative.sentences[0]
    assert weighed(unfit).informative.refused
    assert not weighed(unfit, GOLD).informative.sentences
    assert not weighed(calibrated(unfit, 1)).informative.refused


def test_a_submission_of_one_label_is_weighed_and_it_is_said() -> None:
    found = weighed(system({name: [A] * 20 for name in TWO}))
    assert found.result["win_rate_a"] == 1.0
    assert "there is one label for all 20 items, 10.0 points for A" in found.informative.sentences[0]
    assert not weighed(system({name: [A, A] for name in TWO})).informative.sentences
