"""Whether items that are alike by their words have alike human labels: what examples chosen so can be worth.

    python -m bench.likeness DATASET [DATASET ...]

For each dataset and each text that likeness can go by: how often the labels of an item's three nearest
neighbours of other instructions are its own, minus how often those of any two items agree; the mean over the
criteria, in percentage points.
"""

import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from engine.core.items import Item
from engine.data.dataset import load_dataset
from engine.prompt.examples import WordLikeness, folded

NEIGHBOURS = 3
TEXTS: Mapping[str, Callable[[Item], str]] = {
    "instruction": lambda item: item.instruction,
    "responses": lambda item: f"{item.output_a} {item.output_b}",
    "both": lambda item: f"{item.instruction} {item.output_a} {item.output_b}",
}


def main(paths: Sequence[str]) -> None:
    print(f"{'dataset':30} {'labels':>7}" + "".join(f"{name:>13}" for name in TEXTS))
    for path in map(Path, paths):
        items = list(load_dataset(path))
        gains = {name: _gain(items, text) for name, text in TEXTS.items()}
        labels = sum(gold.label is not None for item in items for gold in item.gold.values())
        print(f"{path.name:30} {labels:7,}" + "".join(f"{100 * gain:+13.1f}" for gain in gains.values()))


def _gain(items: Sequence[Item], text: Callable[[Item], str]) -> float:
    names = sorted({name for item in items for name, gold in item.gold.items() if gold.label})
    gains = []
    for name in names:
        labelled = [item for item in items if name in item.gold and item.gold[name].label]
        labels = [item.gold[name].label for item in labelled]
        same = [agreeing == labels[place] for place, agreeing in _neighbours(labelled, labels, text)]
        chance = sum((count / len(labels)) ** 2 for count in Counter(labels).values())
        gains.append(sum(same) / max(len(same), 1) - chance)
    return sum(gains) / max(len(gains), 1)


def _neighbours(
    items: Sequence[Item], labels: Sequence[object], text: Callable[[Item], str]
) -> list[tuple[int, object]]:
    """Each item's place with the label of each of its neighbours."""
    likeness = WordLikeness([folded(text(item)) for item in items])
    instructions = [folded(item.instruction) for item in items]
    times = Counter(instructions)
    found = []
    for place, item in enumerate(items):
        nearest = likeness.nearest(folded(text(item)), NEIGHBOURS + times[instructions[place]])
        others = [other for other in nearest if instructions[other] != instructions[place]]
        found += [(place, labels[other]) for other in others[:NEIGHBOURS]]
    return found


if __name__ == "__main__":
    main(sys.argv[1:])
