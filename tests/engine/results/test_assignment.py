"""Who labels what: items dealt to annotators, labelled elsewhere, and added to the run that they are of."""

import json
from collections import Counter
from dataclasses import replace
from datetime import timedelta
from itertools import combinations
from pathlib import Path

import pytest

from engine.annotations.effective import Reviews
from engine.annotations.records import new_override
from engine.core.errors import SetupError
from engine.core.items import HumanLabel
from engine.core.judgments import JudgmentKey
from engine.data.assignment import LIST, TRAINING, AssignmentDesign, Purpose, assign, write_assignment
from engine.data.dataset import Dataset, load_dataset
from engine.metrics.annotator_agreement import agreement_of_annotators
from engine.metrics.annotator_quality import labelling_quality
from engine.results.annotation_file import annotation_file, load_annotation_file, save_annotation_file
from engine.results.annotation_import import join, look_at
from engine.results.completeness import begin_by_hand
from engine.results.run_results import RunResults, load_results
from engine.settings.sampling import hidden_place
from engine.store.run_store import RunStore
from tests.engine.results.laptops import START, Laptop
from tests.judged import A, B, dataset
from tests.steps import there

THREE = ("Ada", "Ben", "Cy")
ITEMS = dataset({"safety": [A, B] * 20 + [None] * 60})


@pytest.mark.parametrize("overlap", [1, 2, 3])
def test_loads_and_shared_items_are_balanced_whatever_the_order_of_the_file(overlap: int) -> None:
    design = AssignmentDesign(THREE, overlap, training=4, gold=6, repeats=5, seed=7)
    found = assign(ITEMS, design)
    assert found == assign(ITEMS.at(range(len(ITEMS) - 1, -1, -1)), design)
    assert found != assign(ITEMS, replace(design, seed=8))
    own = [Counter(each.purpose for each in of_one) for of_one in found.values()]
    others = (Purpose.TRAINING, Purpose.GOLD, Purpose.REPEAT)
    assert [[one[each] for each in others] for one in own] == [[4, 6, 5]] * 3
    loads = [one[Purpose.ITEM] for one in own]
    assert sum(loads) == 90 * overlap
    assert max(loads) - min(loads) <= 1
    items = {name: {e.item_id for e in of if e.purpose is Purpose.ITEM} for name, of in found.items()}
    shared = [len(items[one] & items[other]) for one, other in combinations(THREE, 2)]
    assert max(shared) - min(shared) <= 1
    for of_one in found.values():
        assert [each.id.startswith(TRAINING) for each in of_one] == [True] * 4 + [False] * (len(of_one) - 4)
        places: dict[str, int] = {}
        for place, each in enumerate(of_one):
            if each.item_id in places:
                assert each.purpose is Purpose.REPEAT
                assert place - places[each.item_id] >= (len(of_one) - 9) // 2
            places.setdefault(each.item_id, place)


def test_nothing_in_a_file_tells_gold_and_repeats_from_other_items(tmp_path: Path) -> None:
    folder, design = tmp_path / "dealt", AssignmentDesign(THREE, 2, training=2, gold=4, repeats=3)
    write_assignment(ITEMS, design, folder)
    read = load_dataset(folder / "Ada.tsv")
    assert [item.id for item in read if item.gold] == ["training-1", "training-2"]
    assert len({item.id[:6] for item in read if not item.gold}) == 1
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    again = tmp_path / "again"
    write_assignment(ITEMS, design, again)
    assert {path.name: path.read_bytes() for path in again.iterdir()} == before
    (folder / LIST).unlink()
    with pytest.raises(SetupError, match=r"has Ada\.tsv, Ben\.tsv, Cy\.tsv already"):
        write_assignment(ITEMS, design, folder)
    assert not (folder / LIST).exists()
    assert {*before} == {"Ada.tsv", "Ben.tsv", "Cy.tsv", LIST}


@pytest.mark.parametrize(
    ("design", "said"),
    [
        ({"overlap": 4}, "overlap of 4"),
        ({"gold": 41}, "40 items with a human label"),
        ({"repeats": 60}, "too many"),
        ({"annotators": ("Ada", "ada")}, "Name each once"),
        ({"annotators": ()}, "none"),
        ({"items": -1}, "negative"),
    ],
)
def test_what_cannot_be_dealt_is_refused(design: dict[str, object], said: str) -> None:
    with pytest.raises(SetupError, match=said):
        assign(ITEMS, AssignmentDesign(**{"annotators": THREE, **design}))  # type: ignore[arg-type]


def labelled_elsewhere(
    folder: Path, lead: Laptop, again: HumanLabel, **design: int
) -> tuple[Path, list[str]]:
    """Ada labels her file, A at first, `again` where an item comes again; the file, the items repeated."""
    wanted = AssignmentDesign(("Ada",), **design)
    write_assignment(lead.data, wanted, folder)
    [own] = assign(lead.data, wanted).values()
    with RunStore(folder / "ada.sqlite") as store:
        run = begin_by_hand(load_dataset(folder / "Ada.tsv"), lead.data.rubric, store)
        for each in own:
            label = again if each.purpose is Purpose.REPEAT else B if each.purpose is Purpose.TRAINING else A
            store.annotate(run.id, new_override(each.id, "safety", label, None, "Ada"))
        made = annotation_file(store, run.id)
    # Three to five seconds an item in the first half, twice as many in the last.
    at, words = START, []
    for place, word in enumerate(sorted(made.words, key=lambda word: word.created)):
        at += timedelta(seconds=(3 + place % 3) * (1 if 2 * place < len(own) else 2))
        words.append(replace(word, created=at))
    save_annotation_file(folder / "ada.json", replace(made, words=tuple(words)))
    return folder / "ada.json", [each.item_id for each in own if each.purpose is Purpose.REPEAT]


def added(lead: Laptop, file: Path) -> RunResults:
    with RunStore(lead.path) as store:
        join(store, look_at(store, 1, [(file.name, load_annotation_file(file))]))
        return load_results(store, 1)


def test_a_hidden_repeat_is_never_the_label_that_counts(tmp_path: Path) -> None:
    lead = Laptop(tmp_path / "lead", items=40)
    file, repeated = labelled_elsewhere(tmp_path, lead, B, training=3, repeats=12)
    with RunStore(lead.path) as store:
        [found] = look_at(store, 1, [("ada.json", load_annotation_file(file))]).files
    assert found.is_whole
    assert found.items_in_words.startswith("49 of 49 items are in this run; 37 of them matched")
    assert "12 hidden repeats among them; 3 training items omitted." in found.items_in_words
    results = added(lead, file)
    labels = results.reviews.labels["Ada"]
    assert set(labels.values()) == {A}
    assert len(labels) == 37
    assert {results.label(each) for column in results.judgments.values() for each in column} == {A}
    assert {each.item_id for each in results.reviews.repeats} == {*repeated}
    with RunStore(lead.path) as store:  # they go to the next computer as what they are
        again = annotation_file(store, 1)
    save_annotation_file(tmp_path / "lead.json", again)
    assert len(json.loads((tmp_path / "lead.json").read_text())["repeats"]) == 12
    other = Laptop(tmp_path / "other", items=40)
    assert added(other, tmp_path / "lead.json").reviews.labels["Ada"] == labels
    assert added(other, tmp_path / "lead.json").reviews.repeats == results.reviews.repeats


def test_annotators_are_held_against_themselves_beside_the_judge(tmp_path: Path) -> None:
    lead = Laptop(tmp_path / "lead", items=60)
    file, _ = labelled_elsewhere(tmp_path, lead, B, repeats=20)
    quality = quality_of(added(lead, file), lead.data)
    [ada] = quality.annotators
    assert (ada.repeats, ada.differs, ada.gold_labels) == (20, True, 60)
    found = (ada.own, ada.judge, ada.lead, ada.gold, ada.later, ada.slower)
    *values, slower = (each and each.value for each in found)
    assert values == [0.0, 1.0, 1.0, 1.0, 0.0]
    assert slower == pytest.approx(2, rel=0.1)
    assert quality.judge is not None
    assert (quality.judge.repeats, quality.judge.own and quality.judge.own.value) == (60, 1.0)


def test_a_label_taken_back_is_still_the_first_one() -> None:
    keys = [JudgmentKey(item.id, "safety") for item in ITEMS]
    told = []
    for key in keys:
        hidden = hidden_place(key.item_id, 0) < 0.5
        label = new_override(*key, A, None, "Ada", blind=hidden)
        told.append(replace(label, created=START, undone=START if hidden else None))
    again = [new_override(*word.key, B, None, "Ada", blind=True) for word in told if word.undone]
    after = [replace(word, created=START + timedelta(seconds=9)) for word in again]
    judge, own = dict.fromkeys(keys, B), {key.item_id: key.item_id for key in keys}
    found = labelling_quality(Reviews((*told, *after)), judge, {}, instructions=own, gold={}, seed=0)
    [ada] = found.anchoring
    assert ada.hidden_labels == len(after)
    assert there(ada.hidden).value == 0  # what the second ones would make 1


def quality_of(results: RunResults, gold: Dataset):  # type: ignore[no-untyped-def]
    found = there(agreement_of_annotators(results, gold, gold))
    return found.quality
