"""How well a model kept to the format of its answers, by its newest run in the store: no labels are needed.

Knows: runs of a model by the hash of its file. Does not know: files of models, when a mass is too low.
"""

from collections.abc import Container, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from statistics import fmean

from engine.core.judgments import Judgment
from engine.results.decision import decide_all
from engine.store.opening import has_store
from engine.store.run_store import RunStore

_MOST_ITEMS = 500  # of a run: more say the same


@dataclass(frozen=True)
class RunMass:
    """The mean answer mass (0 to 1) of a run over its criteria, and how many items it is the mean of.

    Of a run that used several methods it is that of label tokens, or of the first method without these: how a
    model answers one method says nothing of another.
    """

    run_id: int
    mass: float
    items: int


def newest_masses(store_path: Path, hashes: Container[str]) -> Mapping[str, RunMass]:
    """By the hash of a model's file: what its newest run that judged something gave; StoreError."""
    found: dict[str, RunMass] = {}
    if not has_store(store_path):
        return found
    with RunStore(store_path) as store, store.reading():
        for run in reversed(store.runs()):
            model = run.identity.model_hash
            counts = run.judged and run.by_a_model and not run.is_tuning  # of settings that were given up
            if counts and model in hashes and model not in found:
                judged = tuple(islice(store.judged(run.id), _MOST_ITEMS))
                first = run.identity.judge_settings.methods[0]
                alone = [item.of_method(first) for item in judged]
                decided = [one for name in run.identity.criteria for one in decide_all(alone, name, None)]
                scored = [one.answer_mass for one in decided if isinstance(one, Judgment)]
                masses = [mass for mass in scored if mass is not None]
                if masses:
                    found[model] = RunMass(run.id, fmean(masses), len(judged))
    return found
