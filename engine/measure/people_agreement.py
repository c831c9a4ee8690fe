"""How far people give the same labels: among themselves, as the model alone, as the dataset's human labels.

What two people share is the ceiling of a judge: where they agree in 70 of 100 items, no judge can be right
in more for both of them.

Knows: labels by side, criterion and item. Does not know: where people gave them, whether they saw others'.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

import numpy as np

from engine.core.items import PREFERENCES, Preference
from engine.core.judgments import Unscored
from engine.core.people import LabelsOfPerson
from engine.data.dataset import Dataset
from engine.decisions.run_dataset import human_labels
from engine.decisions.run_results import RunResults
from engine.measure.accuracy import mean, share_right
from engine.measure.label_measures import kappa

MODEL, HUMAN = "the model", "the human labels"
"""The sides beside people; a person of such a name is still a person."""


@dataclass(frozen=True)
class _Side:
    """Whose labels are held against others'."""

    name: str
    labels: LabelsOfPerson
    is_person: bool = True


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
    """All people of a run on one criterion, None for all together.

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
    """How far the people of a run agree; None where nobody has labelled anything.

    The model is held against them as it judged, whatever people overrode. `gold`: the dataset with human
    labels, of items with the same id and texts.
    """
    people = results.reviews.labels
    if not any(people.values()):
        return None
    sides = [_Side(name, labels) for name, labels in sorted(people.items())]
    sides.append(_Side(MODEL, _model_labels(results), is_person=False))
    if gold is not None:
        sides.append(_Side(HUMAN, human_labels(results, gold), is_person=False))
    criteria = (*results.judgments, None)
    pairs = [
        shared
        for one, other in combinations(sides, 2)
        if one.is_person  # a judge held against human labels is measured elsewhere
        for shared in _shared(one, other, criteria)
    ]
    pairs.sort(key=lambda pair: not pair.between_people)
    return PeopleAgreement(tuple(pairs), _among(list(people.values()), pairs, criteria))


def _model_labels(results: RunResults) -> LabelsOfPerson:
    return {
        (judgment.criterion, judgment.item_id): judgment.preference
        for column in results.judgments.values()
        for judgment in column
        if not isinstance(judgment, Unscored)
    }


def _shared(one: _Side, other: _Side, criteria: Sequence[str | None]) -> Iterator[SharedLabels]:
    common = sorted(one.labels.keys() & other.labels.keys())
    for criterion in criteria:
        places = [place for place in common if criterion in (None, place[0])]
        if places:
            mine, theirs = [[side.labels[place] for place in places] for side in (one, other)]
            yield SharedLabels(
                one=one.name,
                other=other.name,
                criterion=criterion,
                items=len(places),
                equal=share_right(mine, theirs),
                kappa=kappa(mine, theirs),
                between_people=other.is_person,
            )


def _among(
    people: Sequence[LabelsOfPerson], pairs: Sequence[SharedLabels], criteria: Sequence[str | None]
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
                people=sum(any(criterion in (None, place[0]) for place in labels) for labels in people),
                pairs=len(shared),
                items=len(counts),
                equal=equal,
                kappa=mean([pair.kappa for pair in shared if pair.kappa is not None]),
                alpha=_alpha(counts),
            )
    return found


def _label_counts(people: Sequence[LabelsOfPerson], criterion: str | None) -> list[list[int]]:
    """How often each label was given to each item that two or more labelled."""
    given: dict[tuple[str, str], list[Preference]] = {}
    for labels in people:
        for place, label in labels.items():
            if criterion in (None, place[0]):
                given.setdefault(place, []).append(label)
    return [[labels.count(label) for label in PREFERENCES] for labels in given.values() if len(labels) > 1]


def _alpha(counts: Sequence[Sequence[int]]) -> float | None:
    """Krippendorff's alpha for labels without an order; None where one label only occurs.

    `counts`: a row for each item that two or more labelled, a column for each label. Source: Krippendorff,
    Computing Krippendorff's Alpha-Reliability (2011), section D. Our own, because the package for it is under
    the GPL; the tests hold the two together.
    """
    table = np.array(counts)
    people, labels = table.sum(axis=1), table.sum(axis=0)
    values = people.sum()
    if np.count_nonzero(labels) < 2:
        return None
    unlike = people**2 - (table**2).sum(axis=1)  # ordered pairs of unlike labels, by item
    observed = (unlike / (people - 1)).sum() / values
    expected = (values**2 - (labels**2).sum()) / (values * (values - 1))
    return float(1 - observed / expected)
