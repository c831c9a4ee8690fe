"""Real data: the published rates of AlpacaEval 2 and those of PandaLM's annotators."""

import csv
import gzip
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import spearmanr

from engine.core.events import followed
from engine.metrics.intervals import group_numbers
from engine.ranking.comparisons import PairComparisons, nothing_said
from engine.ranking.length_control import length_control
from engine.ranking.ranking import win_rates
from tests.engine.ranking.worlds import pandalm_said
from tests.steps import there

BASELINE = "gpt4_1106_preview"
PANDALM = {"llama-7b": 70.4, "pythia-6.9b": 52.6, "bloom-7b": 49.1, "opt-7b": 43.0, "cerebras-gpt-6.7B": 33.3}


@pytest.fixture(scope="module")
def alpaca(shared_data: Path) -> PairComparisons:
    """30 candidates against one baseline; what was said is the judge's probability."""
    with gzip.open(shared_data / "ranking" / "alpaca_eval_2.csv.gz", "rt", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    names = (*dict.fromkeys(row["system"] for row in rows), BASELINE)
    preferences = np.array([float(row["preference"]) for row in rows])
    said = nothing_said(len(rows))
    said[:] = 0
    said[:, 0], said[:, 1] = preferences, 1 - preferences
    lengths = [[float(row["characters_system"]), float(row["characters_baseline"])] for row in rows]
    return PairComparisons(
        ids=tuple(map(str, range(len(rows)))),
        names=names,
        first=np.array([names.index(row["system"]) for row in rows]),
        second=np.full(len(rows), names.index(BASELINE)),
        instructions=group_numbers([row["instruction_number"] for row in rows]),
        lengths=np.array(lengths),
        said=said,
    )


def published(shared_data: Path) -> dict[str, dict[str, str]]:
    with (shared_data / "ranking" / "alpaca_eval_2_published.csv").open(encoding="utf-8") as file:
        return {row["system"]: row for row in csv.DictReader(file)}


def test_win_rates_and_standard_errors_are_as_published(alpaca: PairComparisons, shared_data: Path) -> None:
    rates = followed(win_rates(alpaca), id).candidates
    known = published(shared_data)
    assert len(known) == 30
    for name, row in known.items():
        error = there(rates[name].standard_error)
        assert rates[name].rate.value == pytest.approx(float(row["win_rate"]) / 100, abs=4e-15)
        assert error == pytest.approx(float(row["standard_error"]) / 100, abs=4e-15)


@pytest.mark.models
def test_rates_at_equal_length_are_nearly_as_published(alpaca: PairComparisons, shared_data: Path) -> None:
    found = there(length_control(alpaca))
    known = {name: float(row["length_controlled_winrate"]) for name, row in published(shared_data).items()}
    ours = np.array([100 * found.rates[name].value for name in known])
    theirs = np.array(list(known.values()))
    assert found.beyond_seen == ("gpt-3.5-turbo-1106_concise",)  # longer in 8 of 805
    raw = np.array([100 * followed(win_rates(alpaca), id).candidates[name].rate.value for name in known])
    assert spearmanr(ours, theirs).statistic > 0.985
    assert abs(float(np.mean(ours - theirs))) < 1.0
    assert float(np.mean(np.abs(ours - theirs))) < 1.5 < float(np.mean(np.abs(raw - theirs)))


def test_the_human_win_rates_of_pandalm(shared_data: Path) -> None:
    rates = followed(win_rates(pandalm_said(shared_data)["people"]), id).candidates
    assert {name: round(100 * rate.rate.value, 1) for name, rate in rates.items()} == PANDALM
