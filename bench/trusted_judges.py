"""Which labels of real judges may stand: PandaLM's 999 pairs, labelled by three people, judged by GPT-3.5 and
PandaLM-7B as a jury, by so many labels drawn at random.

    python -m bench.trusted_judges FOLDER [--draws N] [--target T] [--calibrated]

FOLDER has human/pandalm.jsonl and ranking/pandalm_systems.tsv. Printed: the share that may stand, their true
agreement with the people of all 999, and in how many draws that was below the target. `--calibrated`: the
jury is calibrated on the same labels, with the lengths of the responses.
"""

import argparse
import csv
import json
import sys
from pathlib import Path
from statistics import fmean

import numpy as np
import pyarrow as pa

from engine.analysis.trust import TrustRequest, trust_of
from engine.calibration.jury import make_jury
from engine.calibration.run_calibration import Wishes
from engine.core.errors import SetupError
from engine.core.events import CancelToken
from engine.core.items import HumanLabel, Prediction, agree, majority, written_label
from engine.data.arrow_arrays import text_array
from engine.data.dataset import Dataset
from engine.data.submission import Submission, SubmissionRow
from engine.metrics.matching import System, match, system_of_run
from engine.metrics.trust import Promise
from engine.results.run_results import RunResults
from engine.results.trust import may_stand
from tests.judged import calibrate_run

_CRITERION = "overall_quality"
_JUDGES = ("judge_gpt_3_5", "judge_pandalm_7b")
_PEOPLE = ("annotator_1", "annotator_2", "annotator_3")
_LABELS = (100, 200, 400)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.trusted_judges", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--draws", type=int, default=60)
    parser.add_argument("--target", type=float, default=0.75)
    parser.add_argument("--calibrated", action="store_true")
    asked = parser.parse_args()
    with (asked.folder / "ranking" / "pandalm_systems.tsv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    with (asked.folder / "human" / "pandalm.jsonl").open(encoding="utf-8") as file:
        texts = {str(each["id"]): each for each in map(json.loads, file)}
    jury = make_jury([_judge(rows, name) for name in _JUDGES], _dataset(rows, texts)).results
    promise = Promise(asked.target)
    print(f"target {asked.target:g}, risk {promise.risk:g}, {asked.draws} draws")
    for labels in _LABELS:
        found = [
            _trusted(rows, texts, jury, labels, promise, seed, asked.calibrated)
            for seed in range(asked.draws)
        ]
        shares, agreements = np.array(found).T
        stands = shares > 0
        below = float(np.mean(stands & (agreements < asked.target)))
        said = f"agreement {agreements[stands].mean():.3f}" if stands.any() else "nothing"
        print(f"{labels} labels: {shares.mean():.3f} may stand, {said}, promise broken in {below:.3f}")
    return 0


def _judge(rows: list[dict[str, str]], name: str) -> System:
    said = [
        SubmissionRow(row["id"], {_CRITERION: Prediction(written_label(row[name]) if row[name] else None)})
        for row in rows
    ]
    return System(name, Submission(tuple(said), (_CRITERION,), with_explanations=False))


def _dataset(
    rows: list[dict[str, str]], texts: dict[str, dict[str, str]], known: frozenset[str] = frozenset()
) -> Dataset:
    labels = {
        f"{_CRITERION}_preference": [majority(_said(row)) or "" for row in rows],
        **{f"{_CRITERION}_preference|{who}": [row[who] for row in rows] for who in _PEOPLE},
    }
    columns = {
        "id": [row["id"] for row in rows],
        **{
            name: [texts[row["id"]][name] for row in rows] for name in ("instruction", "output_a", "output_b")
        },
        **{
            name: [label if row["id"] in known else "" for row, label in zip(rows, column, strict=True)]
            for name, column in labels.items()
        },
    }
    return Dataset(Path("pandalm"), pa.table({name: text_array(own) for name, own in columns.items()}))


def _said(row: dict[str, str]) -> list[HumanLabel]:
    return [written_label(row[who]) for who in _PEOPLE]


def _trusted(
    rows: list[dict[str, str]],
    texts: dict[str, dict[str, str]],
    jury: RunResults,
    labels: int,
    promise: Promise,
    seed: int,
    is_calibrated: bool,
) -> tuple[float, float]:
    """The share that may stand, and its true agreement."""
    drawn = np.random.default_rng(seed).choice([row["id"] for row in rows], labels, replace=False)
    gold = _dataset(rows, texts, frozenset(drawn.tolist()))
    judged = jury
    if is_calibrated:
        fitted = calibrate_run(match(system_of_run(jury), gold), wishes=Wishes(lengths=True))
        judged = jury.calibrated(fitted.calibration)
    try:
        trusted = trust_of(TrustRequest([system_of_run(judged)], gold, promise), CancelToken())
    except SetupError:  # the drawn labels look as if they had been picked
        return 0.0, 0.0
    stand = {key.item_id for key in may_stand(judged, trusted.kept)}
    agreed = _agreement(rows, judged)
    return len(stand) / len(rows), float(np.mean([agreed[each] for each in stand])) if stand else 0.0


def _agreement(rows: list[dict[str, str]], judged: RunResults) -> dict[str, float]:
    labels: dict[str, HumanLabel | None] = {
        each.item_id: judged.label(each) for each in judged.judgments[_CRITERION]
    }
    return {row["id"]: fmean(agree(label, labels[row["id"]]) for label in _said(row)) for row in rows}


if __name__ == "__main__":
    sys.exit(main())
