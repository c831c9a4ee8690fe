"""Numbers of this program held to those of its peers on the same data, in one table.

    python -m bench.peers.same_data FOLDER [--python PYTHON]

FOLDER holds `ranking` and `human`: PandaLM's pairs with the labels of people and judges. PYTHON is that of an
environment in which PEERS are installed; without it one is made for the time of the bench. Ends with 1 where
a number differs by more than its bar.
"""

import argparse
import csv
import json
import subprocess
import sys
import tempfile
import venv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from engine.core.events import followed
from engine.core.items import HUMAN_LABELS, HumanLabel, written_label
from engine.data.dataset import load_dataset
from engine.metrics.beyond_chance import MetLabels, alpha_of, kappa_of
from engine.ranking.bradley_terry import bradley_terry
from engine.ranking.correction import corrected
from engine.ranking.favour import favoured_features
from engine.ranking.features import LENGTH, feature_differences, standardised
from engine.ranking.length_control import style_control
from tests.engine.ranking.worlds import pandalm_said

PEERS = ("arena-rank==0.1.1", "evalica==0.4.2", "judgecheck==0.2.0", "ppi-python==0.2.3", "truescore==0.7.4")
_JUDGE, ANNOTATORS = "judge_pandalm_7b", ("annotator_1", "annotator_2", "annotator_3")
_CANDIDATE = "llama-7b"
_LABELLED = 200

THEIRS = r"""
import json, sys
import numpy as np, pandas as pd
import evalica, judgecheck.agreement, truescore.agreement, truescore.bias
from arena_rank.models.contextual_bradley_terry import ContextualBradleyTerry
from arena_rank.utils.data_utils import ContextualPairDataset
from ppi_py import ppi_mean_pointestimate

given = json.load(open(sys.argv[1]))
people, judge = given["people"], given["judge"]
codes = {"A": 0.0, "B": 1.0, "tie": 2.0}
numbers = np.array([[codes.get(label, np.nan) for label in row] for row in people])
named = [{str(n): label for n, label in enumerate(row) if label} for row in [*people, judge]]
both = [pair for pair in zip(judge, people[0]) if all(pair)]
frame = pd.DataFrame(given["features"])
frame["a"], frame["b"], frame["won"] = given["first"], given["second"], given["won"]
features = [*given["features"]]
pairs = ContextualPairDataset.from_pandas(
    frame, features, ["a", "b"], "won", lambda won: won, reweighted=False, normalize_features=False
)
arena = ContextualBradleyTerry(len(pairs.competitors), len(features), reg=1e-12, ftol=1e-16, gtol=1e-12)
arena.fit(pairs)
winners = [evalica.Winner.X if won == 1 else evalica.Winner.Y for won in given["decided"]["won"]]
strengths = evalica.bradley_terry(
    given["decided"]["first"], given["decided"]["second"], winners, tolerance=1e-14, limit=100_000
).scores.sort_index()
bias = truescore.bias.judge_error_regression(given["by_judge"], given["by_people"], given["columns"])
print(json.dumps({
    "alpha of three annotators": {
        "evalica": [evalica.alpha(pd.DataFrame(people)).alpha],
        "truescore": [truescore.agreement.krippendorff_alpha(numbers)],
        "judgecheck": [judgecheck.agreement.krippendorff_alpha(named[:-1], [*codes]).value],
    },
    "kappa of judge and annotator": {
        "truescore": [truescore.agreement.cohen_kappa(*map(list, zip(*both)))],
        "judgecheck": [judgecheck.agreement.cohens_kappa(named[-1], named[0], [*codes]).kappa],
    },
    "strengths without ties": {"evalica": list(np.log(strengths) - np.log(strengths).mean())},
    "effects of style": {"arena-rank": [float(each) for each in arena.params["coeffs"]]},
    "favour to features": {"truescore": [bias.intercept, *(each.effect for each in bias.effects)]},
    "corrected win rate": {"ppi-python": [float(np.ravel(ppi_mean_pointestimate(
        *(np.array(given["ppi"][name]) for name in ("labels", "judged", "others"))))[0])]},
}))
"""
BARS = {"effects of style": 1e-5, "strengths without ties": 1e-6}
_BAR = 1e-12  # of all others


@dataclass(frozen=True)
class SameData:
    """`given`: what peers get, as plain values. `ours`: by what is measured, our numbers."""

    given: Mapping[str, Any]
    ours: Mapping[str, Sequence[float]]


def alpha(annotators: Sequence[Sequence[HumanLabel | None]], groups: Sequence[int]) -> float | None:
    """Krippendorff's, of items with two labels or more."""
    given = [[own.count(label) for label in HUMAN_LABELS] for own in zip(*annotators, strict=True)]
    several = [place for place, counts in enumerate(given) if sum(counts) > 1]
    met = MetLabels.among([given[place] for place in several], [groups[place] for place in several])
    return met.value(alpha_of)


def pandalm_labels(shared: Path) -> dict[str, list[HumanLabel | None]]:
    """By annotator and judge the label of each pair."""
    with (shared / "ranking" / "pandalm_systems.tsv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    names = (*ANNOTATORS, _JUDGE, "judge_gpt_3_5")
    return {name: [written_label(row[name]) if row[name] else None for row in rows] for name in names}


def same_data(shared: Path) -> SameData:
    said = pandalm_said(shared, _JUDGE)
    people, judge = said["people"], said[_JUDGE]
    labels = pandalm_labels(shared)
    groups = people.instructions.tolist()
    differences = feature_differences(load_dataset(shared / "human" / "pandalm.jsonl"))
    features = favoured_features(people, judge, differences)
    columns = {name: standardised(differences[name]) for name in [*features][1:]}
    lengths = np.stack([differences[LENGTH], np.zeros(len(people))], axis=1)  # of which the difference counts
    style = style_control(replace(people, lengths=lengths), {"lists": differences["lists"]})
    decided = judge.at(judge.ties == 0)
    scores = followed(bradley_terry(decided, draws=2), id)
    names, strengths = scores.names, scores.fit.bradley_terry[0]
    places = people.of[people.names.index(_CANDIDATE)]
    won, judged = (each.won(people.names.index(_CANDIDATE), places) for each in (people, judge))
    part = np.arange(len(places)) < _LABELLED
    found = corrected(np.where(part, won, np.nan), judged, np.arange(len(places)), len(places))
    both = [
        (one, other, group)
        for one, other, group in zip(labels[_JUDGE], labels[ANNOTATORS[0]], groups, strict=True)
        if one is not None and other is not None
    ]
    one, other, of_both = zip(*both, strict=True)
    met = MetLabels.of(one, other, of_both)
    given = {
        "people": [labels[name] for name in ANNOTATORS],
        "judge": labels[_JUDGE],
        "first": [people.names[place] for place in people.first],
        "second": [people.names[place] for place in people.second],
        "won": people.scores.tolist(),
        "features": {name: standardised(differences[name]).tolist() for name in (LENGTH, "lists")},
        "decided": {
            "first": [decided.names[place] for place in decided.first],
            "second": [decided.names[place] for place in decided.second],
            "won": decided.scores.tolist(),
        },
        "by_judge": judge.scores.tolist(),
        "by_people": people.scores.tolist(),
        "columns": {name: column.tolist() for name, column in columns.items()},
        "ppi": {
            "labels": won[part].tolist(),
            "judged": judged[part].tolist(),
            "others": judged[~part].tolist(),
        },
    }
    ours: dict[str, list[float | None]] = {
        "alpha of three annotators": [alpha([labels[name] for name in ANNOTATORS], groups)],
        "kappa of judge and annotator": [met.value(kappa_of)],
        "strengths without ties": [float(strengths[names.index(name)]) for name in sorted(names)],
        "effects of style": [one.value for one in style.effects.values()],
        "favour to features": [one.difference.value for one in features.values()],
        "corrected win rate": [found.rate.value],
    }
    return SameData(given, {name: [float(each or 0) for each in own] for name, own in ours.items()})


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m bench.peers.same_data",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("--python", type=Path, metavar="PYTHON", help="of an environment with these peers")
    options = parser.parse_args()
    data = same_data(options.folder)
    with tempfile.TemporaryDirectory() as folder:
        python = options.python or _installed(Path(folder) / "peers")
        given = Path(folder) / "given.json"
        given.write_text(json.dumps(data.given), "utf-8")
        said = subprocess.run(
            [python, "-c", THEIRS, given], check=True, capture_output=True, text=True, encoding="utf-8"
        )
    broken = False
    for what, by_peer in json.loads(said.stdout).items():
        for peer, theirs in by_peer.items():
            away = max(abs(own - other) for own, other in zip(data.ours[what], theirs, strict=True))
            broken |= not away <= BARS.get(what, _BAR)
            shown = " ".join(f"{each:.4f}" for each in data.ours[what])
            print(f"{what:30} {peer:12} {away:8.1e} (bar {BARS.get(what, _BAR):.0e})  {shown}")
    return int(broken)


def _installed(folder: Path) -> Path:
    venv.create(folder, with_pip=True)
    python = folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    subprocess.run([python, "-m", "pip", "install", "--quiet", *PEERS], check=True)
    return python


if __name__ == "__main__":
    sys.exit(main())
