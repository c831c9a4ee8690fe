"""What is printed of PandaLM's pairs today, held to other ways to compute it; peers do so in the bench."""

from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize

from bench.peers.same_data import ANNOTATORS, pandalm_labels, same_data
from engine.core.events import followed
from engine.core.items import agree, majority
from engine.core.numeric import FloatArray
from engine.metrics.intervals import share
from engine.ranking.bradley_terry import bradley_terry
from tests.engine.ranking.worlds import pandalm_said


def test_what_peers_compute_of_the_same_data_stays(shared_data: Path) -> None:
    data = same_data(shared_data)
    assert {name: [round(each, 3) for each in own] for name, own in data.ours.items()} == {
        "alpha of three annotators": [0.864],
        "kappa of judge and annotator": [0.419],
        "strengths without ties": [0.129, -0.464, 0.44, -0.165, 0.059],
        "effects of style": [1.619, -0.475],
        "favour to features": [0.015, -0.046, -0.042, -0.109, 0.03],
        "corrected win rate": [0.663],
    }
    # PPI++ as it is written, its weight the ratio of a covariance and a variance.
    labels, judged, others = (np.array(data.given["ppi"][name]) for name in ("labels", "judged", "others"))
    spread = np.concatenate([judged, others]).var(ddof=1) * (1 + len(judged) / len(others))
    weight = np.cov(labels, judged, ddof=0)[0, 1] / spread
    [rate] = data.ours["corrected win rate"]
    assert rate == pytest.approx(weight * others.mean() + np.mean(labels - weight * judged), abs=1e-15)


def test_the_accuracy_of_gpt_3_5(shared_data: Path) -> None:
    labels = pandalm_labels(shared_data)
    instructions = pandalm_said(shared_data)["people"].instructions
    of_people = zip(*(labels[name] for name in ANNOTATORS), strict=True)
    people = [majority([label for label in own if label is not None]) for own in of_people]
    right = [
        float(label is not None and agree(label, most))
        for label, most in zip(labels["judge_gpt_3_5"], people, strict=True)
        if most is not None
    ]
    assert len(right) == len(instructions)
    assert str(share(right, instructions.tolist())) == "69.8 (64.9 to 74.3)"


def test_the_strengths_of_candidates_are_those_of_another_fit(shared_data: Path) -> None:
    people = pandalm_said(shared_data)["people"]
    count, ties = len(people.names), people.ties
    wins = people.scores - ties / 2

    def loss(at: FloatArray) -> float:
        half = (at[people.first] - at[people.second]) / 2
        whole = np.log(np.exp(half) + np.exp(-half) + np.exp(at[count]))
        return -float(np.sum(wins * half - (1 - ties - wins) * half + ties * at[count] - whole))

    found = minimize(loss, np.zeros(count + 1), tol=1e-12).x
    ours = followed(bradley_terry(people, draws=2), id).fit.bradley_terry[0]
    assert ours == pytest.approx(found[:count] - found[:count].mean(), abs=5e-5)
