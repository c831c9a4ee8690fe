"""How far people give the same labels: among themselves, as the model alone, as the dataset's human labels.

What two people share is the ceiling of a judge: where they agree in 70 of 100 items, no judge can be right
in more for both of them. People are those who labelled a run, and the annotators of a dataset.

Knows: labels by side, criterion, item. Does not know: where people gave them, whether they saw others'.
"""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations, product
from typing import Any

import numpy as np

from engine.core.items import HUMAN_LABELS, HumanLabel, Item, agree
from engine.core.judgments import JudgmentKey, Unscored
from engine.core.log_probs import BoolArray
from engine.data.dataset import Dataset
from engine.decisions.run_dataset import human_labels
from engine.decisions.run_results import RunResults
from engine.measure.accuracy import kappa, mean, share_right

MODEL, HUMAN = "the model", "the human labels"
"""The sides beside people; a person of such a name is still a person."""

_ALIKE = np.array([[agree(one, other) for other in HUMAN_LABELS] for one in HUMAN_LABELS])
_Labels = Mapping[JudgmentKey, HumanLabel]


@dataclass(frozen=True)
class _Side:
    """Whose labels are held against others'. `of_dataset`: an annotator of the dataset, or their majority."""

    name: str
    labels: _Labels
    is_person: bool = True
    of_dataset: bool = False


@dataclass(frozen=True)
class SharedLabels:
    """Two sides over the `items` (judgments, where all criteria are together) that both labelled; at least 1.

    `criterion`: None for all together. `equal`: the share of equal labels, 0 to 1. `kappa`: Cohen's, -1 to 1,
    None where both gave one and the same label only. `between_people`: False where one side is no person.
    """

    one: str
    other: str
    criterion: str | None
    items: int
    equal: float
    kappa: float | None
    between_people: bool


@dataclass(frozen=True)
class AmongPeople:
    """All people on one criterion, None for all together.

    `pairs`: how many two of them labelled an item in common, at least 1; `items`: that two or more labelled.
    `equal`, `kappa`: the means over these pairs, each of which counts as much; `kappa` over those that have
    one, None where none has. `alpha`: Krippendorff's, nominal, over all people, 1 for complete agreement and
    0 for that of chance; None where one label only was given.
    """

    criterion: str | None
    people: int
    pairs: int
    items: int
    equal: float
    kappa: float | None
    alpha: float | None


@dataclass(frozen=True)
class PeopleAgreement:
    """`pairs`: each two sides that share items, people first, by criterion and at last all together.

    `among`: by criterion, None for all together; a criterion on which no two people share an item is left
    out.
    """

    pairs: tuple[SharedLabels, ...]
    among: Mapping[str | None, AmongPeople]

    def as_json(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "among_people": [asdict(found) for found in self.among.values()],
            "pairs": [asdict(pair) for pair in self.pairs],
        }


def people_agreement(results: RunResults, gold: Dataset | None = None) -> PeopleAgreement | None:
    """How far the people of a run agree, and the annotators of a dataset with them; None where nobody has
    labelled anything.

    The model is held against them as it judged, whatever people overrode. `gold`: the dataset with human
    labels, of items with the same id and texts. Its annotators are not held against these labels: they are
    their own majority.
    """
    people = [_Side(name, labels) for name, labels in sorted(results.reviews.labels.items()) if labels]
    others = [_Side(MODEL, _model_labels(results), is_person=False)]
    if gold is not None:
        people += _annotators(gold.same_items(results.content_hashes), {side.name for side in people})
        others.append(_Side(HUMAN, human_labels(results, gold), is_person=False, of_dataset=True))
    return _agreement(people, others, (*results.judgments, None))


def annotator_agreement(dataset: Dataset) -> PeopleAgreement | None:
    """How far the annotators of a dataset agree; None where no criterion has several."""
    if not dataset.annotators:
        return None
    return _agreement(_annotators(dataset), [], (*dataset.annotators, None))


def _agreement(
    people: Sequence[_Side], others: Sequence[_Side], criteria: Sequence[str | None]
) -> PeopleAgreement | None:
    if not people:
        return None
    pairs = [
        shared
        for one, other in (*combinations(people, 2), *product(people, others))
        if not (one.of_dataset and other.of_dataset and not other.is_person)
        for shared in _shared(one, other, criteria)
    ]
    return PeopleAgreement(tuple(pairs), _among([side.labels for side in people], pairs, criteria))


def _annotators(items: Iterable[Item], taken: Container[str] = ()) -> list[_Side]:
    """The annotators of some items; one whose name is `taken` is told apart."""
    labels: dict[str, dict[JudgmentKey, HumanLabel]] = {}
    for item in items:
        for criterion, gold in item.gold.items():
            for name, label in gold.annotators.items():
                labels.setdefault(name, {})[JudgmentKey(item.id, criterion)] = label
    return [
        _Side(f"{name} (dataset)" if name in taken else name, given, of_dataset=True)
        for name, given in labels.items()
    ]


def _model_labels(results: RunResults) -> _Labels:
    return {
        judgment.key: judgment.preference
        for column in results.judgments.values()
        for judgment in column
        if not isinstance(judgment, Unscored)
    }


def _shared(one: _Side, other: _Side, criteria: Sequence[str | None]) -> Iterator[SharedLabels]:
    common = sorted(one.labels.keys() & other.labels.keys())
    for criterion in criteria:
        keys = [key for key in common if criterion in (None, key.criterion)]
        if keys:
            mine, theirs = [[side.labels[key] for key in keys] for side in (one, other)]
            yield SharedLabels(
                one=one.name,
                other=other.name,
                criterion=criterion,
                items=len(keys),
                equal=share_right(mine, theirs),
                kappa=kappa(mine, theirs),
                between_people=other.is_person,
            )


def _among(
    people: Sequence[_Labels], pairs: Sequence[SharedLabels], criteria: Sequence[str | None]
) -> dict[str | None, AmongPeople]:
    found = {}
    for criterion in criteria:
        shared = [pair for pair in pairs if pair.between_people and pair.criterion == criterion]
        if shared:
            counts = _label_counts(people, criterion)
            equal = mean([pair.equal for pair in shared])
            assert equal is not None  # there is at least one pair
            found[criterion] = AmongPeople(
                criterion,
                people=sum(any(criterion in (None, key.criterion) for key in labels) for labels in people),
                pairs=len(shared),
                items=len(counts),
                equal=equal,
                kappa=mean([pair.kappa for pair in shared if pair.kappa is not None]),
                alpha=_alpha(counts, _ALIKE),
            )
    return found


def _label_counts(people: Sequence[_Labels], criterion: str | None) -> list[list[int]]:
    """How often each label was given to each item that two or more labelled."""
    given: dict[JudgmentKey, list[HumanLabel]] = {}
    for labels in people:
        for key, label in labels.items():
            if criterion in (None, key.criterion):
                given.setdefault(key, []).append(label)
    return [[labels.count(label) for label in HUMAN_LABELS] for labels in given.values() if len(labels) > 1]


def _alpha(counts: Sequence[Sequence[int]], alike: BoolArray | None = None) -> float | None:
    """Krippendorff's alpha for labels without an order; None where no two of the labels differ.

    `counts`: a row for each item that two or more labelled, a column for each label. `alike`: which labels do
    not differ, shape (labels, labels); None: each only from itself. Source: Krippendorff, Computing
    Krippendorff's Alpha-Reliability (2011), section D. Our own, because the package for it is under the GPL;
    the tests hold the two together.
    """
    table = np.array(counts)
    unlike = 1 - (np.eye(table.shape[1]) if alike is None else alike).astype(np.int64)
    people, labels = table.sum(axis=1), table.sum(axis=0)
    values = people.sum()
    expected = (labels @ unlike @ labels) / (values * (values - 1))
    if not expected:
        return None
    pairs = (table @ unlike * table).sum(axis=1)  # ordered pairs of unlike labels, by item
    observed = (pairs / (people - 1)).sum() / values
    return float(1 - observed / expected)
