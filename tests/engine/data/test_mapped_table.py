"""Foreign files read by a map: exactly the texts of their cells, problems by their own names."""

import csv
import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import MappingProxyType

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from engine.core.column_map import ColumnMap
from engine.core.errors import ColumnsError, InputError
from engine.core.items import Preference
from engine.core.rubric import ELOQUENT, rubric_of_names
from engine.data.catalogue import every_known
from engine.data.column_content import read_sample
from engine.data.column_guess import guess_columns
from engine.data.dataset import Dataset, load_dataset
from engine.data.reading import report_on
from engine.data.tables import open_table

TEXTS = some.text(some.characters(codec="utf-8"))
SIDES = {"instruction": "prompt", "output_a": "one", "output_b": "two"}
COLUMNS = ColumnMap.of({"id": "uid", **SIDES})
RANKED = ColumnMap.of({"instruction": "prompt", "chosen": "good", "rejected": "bad"})
TEXTS_OF_ONE = {"prompt": "q", "one": "a", "two": "b"}
PASSAGES = {**TEXTS_OF_ONE, "passages": ["One.", "Two."], "gold": "g"}
SIDED = {"response_a": "Ann wrote it.", "response_b": "Bo wrote it."}

Save = Callable[[str, bytes], Path]


def lines(path: Path, *records: Mapping[str, object]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def mapped(
    folder: Path,
    records: Iterable[Mapping[str, object]],
    sources: Mapping[str, str],
    labels: Mapping[str, str] | None = None,
) -> Dataset:
    return load_dataset(lines(folder / "x.jsonl", *records), columns=ColumnMap.of(sources, labels))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(some.lists(some.tuples(TEXTS, TEXTS, TEXTS), min_size=1, max_size=5))
def test_a_mapped_file_gives_the_texts_of_its_cells(tmp_path: Path, rows: list[tuple[str, str, str]]) -> None:
    table, records = tmp_path / "x.csv", tmp_path / "x.jsonl"
    numbered = [(f"u{number}", *row) for number, row in enumerate(rows)]
    with table.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_ALL)
        writer.writerows([("uid", "prompt", "one", "two"), *numbered])
    lines(records, *({"uid": i, "prompt": p, "one": a, "two": b} for i, p, a, b in numbered))
    for path in (table, records):
        dataset = load_dataset(path, columns=COLUMNS)
        assert [(item.id, item.instruction, item.output_a, item.output_b) for item in dataset] == numbered


def test_columns_that_are_not_named_are_those_of_our_names(tmp_path: Path) -> None:
    texts = {"instruction": "q", "output_a": "a", "output_b": "b"}
    record = {"uid": "7", **texts, "safety_preference": "A", "x": 1}
    dataset = mapped(tmp_path, [record], {"id": "uid"})
    assert dataset[0].gold["safety"].label is Preference.A
    assert dataset.table.column_names == ["id", "instruction", "output_a", "output_b", "safety_preference"]
    assert any("'x'" in notice for notice in dataset.notices)
    assert not any("'uid'" in notice for notice in dataset.notices if "ignored" in notice)


def test_rows_without_an_id_are_numbered(tmp_path: Path) -> None:
    records = [{**TEXTS_OF_ONE}] * 3
    dataset = mapped(tmp_path, records, SIDES)
    assert dataset.ids == ["1", "2", "3"]
    assert "No id column: the items are numbered in the order of the file." in dataset.notices


def test_the_better_response_is_not_always_in_one_place_and_always_labelled(tmp_path: Path) -> None:
    records = [{"prompt": f"q{n}", "good": f"good {n}", "bad": f"bad {n}"} for n in range(200)]
    dataset = load_dataset(lines(tmp_path / "x.jsonl", *records), columns=RANKED)
    first = [item.output_a.startswith("good") for item in dataset]
    assert 70 < sum(first) < 130
    for item, good_is_first in zip(dataset, first, strict=True):
        better = item.gold["overall_quality"].label
        assert better is (Preference.A if good_is_first else Preference.B)
    again = load_dataset(tmp_path / "x.jsonl", columns=RANKED)
    assert again.hash == dataset.hash
    assert any("A hash of the item decides" in notice for notice in dataset.notices)


def test_the_place_of_a_response_does_not_tell_which_was_chosen(tmp_path: Path) -> None:
    """The same two texts stand in the same order, whichever of them was chosen."""
    for number in range(20):
        pair = {"good": f"x {number}", "bad": f"y {number}"}
        swapped = {"good": pair["bad"], "bad": pair["good"]}
        outputs = [
            (item.output_a, item.output_b)
            for record in (pair, swapped)
            for item in load_dataset(lines(tmp_path / "x.jsonl", {"prompt": "q", **record}), columns=RANKED)
        ]
        assert outputs[0] == outputs[1]


@pytest.mark.parametrize(
    ("columns", "problem"),
    [
        ({"instruction": "prompt", "output_a": "one"}, "'output_b' has no column."),
        (
            {**SIDES, "instruction": "nope"},
            "instruction: the file has no column 'nope'. Columns found: 'uid', 'prompt', 'one', 'two'.",
        ),
        (
            {**SIDES, "chosen": "one", "rejected": "two"},
            "name either output_a and output_b, or chosen and rejected, or output and score.",
        ),
        ({"instruction": "prompt", "chosen": "one"}, "'rejected' has no column."),
    ],
)
def test_a_map_that_does_not_fit_is_refused(tmp_path: Path, columns: dict[str, str], problem: str) -> None:
    path = lines(tmp_path / "x.jsonl", {"uid": 1, **TEXTS_OF_ONE})
    with pytest.raises(ColumnsError) as caught:
        load_dataset(path, columns=ColumnMap.of(columns))
    assert caught.value.problems == (problem,)


def test_problems_name_the_columns_of_the_file(tmp_path: Path) -> None:
    path = lines(
        tmp_path / "x.jsonl",
        {"uid": "1", **TEXTS_OF_ONE, "w": "left"},
        {"uid": "1", **TEXTS_OF_ONE, "w": "best"},
        {"uid": "3", "prompt": "q", "one": "a", "w": ""},
    )
    sources = COLUMNS.source_of | {"overall_quality_preference": "w"}
    with pytest.raises(ColumnsError) as caught:
        load_dataset(path, columns=ColumnMap.of(sources, {"left": "A"}))
    assert caught.value.problems == ("line 2, w: unknown label 'best'.", "line 3: no 'two'.")
    assert "'best' (1 time): label values: best=…,left=A" in str(caught.value.hint)


def test_repeated_ids_offer_to_number_the_rows(save: Save) -> None:
    path = save("x.csv", b"uid,prompt,one,two\n1,q,a,b\n1,q,a,b\n")
    with pytest.raises(ColumnsError, match="line 3, uid: id '1' is already used by line 2") as caught:
        load_dataset(path, columns=COLUMNS)
    assert "columns: id=,instruction=prompt" in str(caught.value.hint)


def test_bytes_that_are_no_text_are_told_as_of_any_file(save: Save) -> None:
    path = save("x.csv", b"uid,prompt,one,two\n1,q\x81,a,b\n")
    with pytest.raises(InputError, match="line 2, prompt: byte 0x81 at offset 22 is not UTF-8") as caught:
        load_dataset(path, columns=COLUMNS)
    assert "UTF-8" in str(caught.value.hint)


def test_a_column_that_is_used_and_there_twice_is_refused(save: Save) -> None:
    path = save("x.csv", b"uid,prompt,one,one,two\n1,q,a,c,b\n")
    with pytest.raises(ColumnsError, match="column 'one' occurs 2 times"):
        load_dataset(path, columns=COLUMNS)


def test_labels_of_a_dataset_with_our_columns_can_be_mapped_too(save: Save) -> None:
    rows = b"1,q,a,b,1\n2,q,a,b,tie\n3,q,a,b,A\n4,q,a,b,x\n"
    path = save("x.csv", b"id,instruction,output_a,output_b,safety_preference\n" + rows)
    with pytest.raises(ColumnsError) as caught:
        load_dataset(path)
    assert not caught.value.foreign
    assert "give the label of each value" in str(caught.value.hint)
    labels = {"1": "A", "tie": "both_good", "x": ""}
    dataset = load_dataset(path, columns=ColumnMap.of({}, labels))
    given = [item.gold["safety"].label if item.gold else None for item in dataset]
    assert given == [Preference.A, Preference.BOTH_GOOD, Preference.A, None]


def test_labels_of_ranked_responses_follow_them_to_their_places(tmp_path: Path) -> None:
    """A of a label is the response that was named first, the chosen one, wherever the hash puts it."""
    path = tmp_path / "ranked.tsv"
    rows = [f"{n}\tSay {n}.\tgood {n}\tbad {n}\t{9 - n % 3}\t{n % 3}" for n in range(12)]
    path.write_text("\n".join(["id\tprompt\tchosen\trejected\ts1\ts2", *rows]) + "\n", encoding="utf-8")
    ranked = {"instruction": "prompt", "chosen": "chosen", "rejected": "rejected"}
    items = list(load_dataset(path, columns=ColumnMap.of({**ranked, "relevance_preference": "s1>s2"})))
    assert {item.output_a[:4] for item in items} == {"good", "bad "}
    for item in items:
        better = Preference.A if item.output_a.startswith("good") else Preference.B
        labels = {name: gold.label for name, gold in item.gold.items()}
        assert labels == {"relevance": better, "overall_quality": better}


# Several annotators of one label

OF_TWO = {**SIDES, "safety_preference": "ann|ben|cem", "relevance_preference": "r1|r2"}
VALUES = {"1": "A", "2": "B", "0": "tie", "x": ""}


def annotated(folder: Path, *rows: str, sources: Mapping[str, str] = MappingProxyType(OF_TWO)) -> Dataset:
    """A file with a row of five labels each: of ann, ben, cem, and two others on relevance."""
    header = "prompt,one,two,ann,ben,cem,r1,r2,an|n"
    path = folder / "x.csv"
    path.write_text("\n".join([header, *(f"Why {n}?,a,b,{row}" for n, row in enumerate(rows))]) + "\n")
    return load_dataset(path, columns=ColumnMap.of(sources, VALUES))


@pytest.mark.parametrize(
    ("row", "label", "said"),
    [
        ("1,1,0", "A", {"ann": "A", "ben": "A", "cem": "tie"}),
        ("1,2,0", None, {"ann": "A", "ben": "B", "cem": "tie"}),
        ("2,,", "B", {"ann": "B"}),
        ("1,2,", None, {"ann": "A", "ben": "B"}),
        ("0,both_good,1", "tie", {"ann": "tie", "ben": "both_good", "cem": "A"}),
        ("x,x,2", "B", {"cem": "B"}),
    ],
)
def test_the_majority_of_the_annotators_is_the_human_label(
    tmp_path: Path, row: str, label: str | None, said: Mapping[str, str]
) -> None:
    gold = annotated(tmp_path, f"{row},,,")[0].gold
    safety = gold["safety"]
    assert (safety.label, safety.annotators, safety.explanation) == (label, said, None)
    assert "relevance" not in gold


def test_several_criteria_have_annotators_of_their_own(tmp_path: Path) -> None:
    dataset = annotated(tmp_path, "1,1,1,2,2,", ",,,0,1,", ",,,,,")
    assert {name: list(of_one) for name, of_one in dataset.annotators.items()} == {
        "relevance": ["r1", "r2"],
        "safety": ["ann", "ben", "cem"],
    }
    assert [{name: gold.label for name, gold in item.gold.items()} for item in dataset] == [
        {"relevance": Preference.B, "safety": Preference.A},
        {"relevance": None},
        {},
    ]
    assert dataset.criteria == ("relevance", "safety")
    assert dataset.only({"2"})[0].gold == dataset.head(2)[1].gold == dataset[1].gold
    assert dataset.other_columns == ("an|n",)
    assert any("the label of more than half of its annotators" in notice for notice in dataset.notices)


OWN_NAMES = (
    "id,instruction,output_a,output_b,safety_preference,safety_preference|Ada,safety_preference|B|en\n"
)


def test_a_file_may_name_the_annotators_of_a_label_by_itself(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text(f"{OWN_NAMES}1,q,a,b,B,A,A\n2,q,a,b,,,both_bad\n3,q,a,b,,,\n")
    one, two, three = load_dataset(path)
    assert (one.gold["safety"].label, one.gold["safety"].annotators) == ("B", {"Ada": "A", "B|en": "A"})
    assert (two.gold["safety"].label, two.gold["safety"].annotators) == (None, {"B|en": "both_bad"})
    assert not three.gold
    dataset = load_dataset(path)
    assert (dataset.columns, dataset.other_columns) == (None, ())
    assert dataset.notices[0] == "1 instruction occurs more than once."
    path.write_text(f"{OWN_NAMES.replace('preference,', 'x,', 1)}1,q,a,b,B,A,A\n")
    assert load_dataset(path)[0].gold["safety"].label == "A"  # what most of them say
    path.write_text(f"{OWN_NAMES}1,q,a,b,B,A,perhaps\n")
    with pytest.raises(ColumnsError, match="unknown label 'perhaps'"):
        load_dataset(path)


def test_the_hash_of_a_dataset_is_that_without_annotators(tmp_path: Path) -> None:
    one = annotated(tmp_path, "1,1,1,2,2,")
    sources = {**OF_TWO, "safety_preference": "", "relevance_preference": "r1"}
    other = annotated(tmp_path, "1,1,1,2,2,", sources=sources)
    assert one.hash == other.hash


def test_a_bar_in_a_name_is_escaped_or_the_whole_name(tmp_path: Path) -> None:
    def labels(source: str) -> object:
        dataset = annotated(tmp_path, "1,2,2,,,1", sources={**OF_TWO, "safety_preference": source})
        return dataset[0].gold["safety"].annotators, dataset[0].gold["safety"].label

    assert labels("an|n") == ({}, "A")
    assert labels(r"an\|n|ben|cem") == ({"an|n": "A", "ben": "B", "cem": "B"}, "B")


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("ann|ben|ann", "safety_preference: 'ann' is named twice; each annotator counts once."),
        ("ann|nobody", "safety_preference: the file has no column 'nobody'."),
    ],
)
def test_annotators_that_cannot_be_read_are_named(tmp_path: Path, source: str, problem: str) -> None:
    with pytest.raises(ColumnsError) as caught:
        annotated(tmp_path, "1,1,1,1,1,", sources={**OF_TWO, "safety_preference": source})
    assert any(found.startswith(problem) for found in caught.value.problems)


def test_values_of_annotators_without_a_meaning_are_counted(tmp_path: Path) -> None:
    with pytest.raises(ColumnsError) as caught:
        annotated(tmp_path, "1,7,7,,,", "7,1,1,,8,")
    assert caught.value.problems[0] == "line 2, ben: unknown label '7'."
    asked = "for '7' (3 times), '8' (1 time): label values: 0=tie,1=A,2=B,7=…,8=…,x=none"
    assert asked in str(caught.value.hint)


def test_annotators_of_ranked_responses_follow_them_to_their_place(tmp_path: Path) -> None:
    records = [
        {"prompt": f"q{n}", "good": f"better {n}", "bad": f"worse {n}", "p": "A", "q": "tie", "r": "A"}
        for n in range(20)
    ]
    dataset = mapped(tmp_path, records, {**RANKED.source_of, "safety_preference": "p|q|r"})
    assert {item.output_a[:6] for item in dataset} == {"better", "worse "}
    for item in dataset:
        better = Preference.A if item.output_a.startswith("better") else Preference.B
        assert item.gold["safety"].label is better
        assert item.gold["safety"].annotators == {"p": better, "q": "tie", "r": better}


def scored(tmp_path: Path, columns: Mapping[str, str], *records: Mapping[str, object]) -> list[str]:
    """The pairs that some records give, each written as what is better and what is worse, or not, of them."""
    dataset = mapped(tmp_path, records, {"instruction": "q", **columns})
    found = []
    for item in dataset:
        sides = [item.output_a, item.output_b]
        found.append(">".join(sides if item.gold["overall_quality"].label is Preference.A else sides[::-1]))
    return sorted(found)


def test_of_a_rank_less_is_better(tmp_path: Path) -> None:
    of_each = {"output": "all[].text", "score": "-all[].rank"}
    record = {"q": "q", "all": [{"text": t, "rank": n} for t, n in (("x", 2), ("y", 1), ("z", 3))]}
    assert scored(tmp_path, of_each, record) == ["x>z", "y>x", "y>z"]


def test_equal_scores_without_a_meaning_make_no_pair(tmp_path: Path) -> None:
    columns = {"output": "one+two+three", "score": "right[]"}
    record = {"q": "q", "one": "x", "two": "y", "three": "z", "right": [True, False, True]}
    same = {**record, "q": "p", "right": [True, True, None]}
    assert scored(tmp_path, columns, record, same) == ["x>y", "z>y"]
    notices = load_dataset(
        tmp_path / "x.jsonl", columns=ColumnMap.of({"instruction": "q", **columns})
    ).notices
    assert any(notice.startswith("1 instruction gives no pair") for notice in notices)


def test_of_several_scores_the_first_decides_and_a_list_is_its_mean(tmp_path: Path) -> None:
    columns = {"output": "text", "group": "q", "score": "chosen+score"}
    records = [
        {"q": "q", "text": text, "chosen": chosen, "score": scores}
        for text, chosen, scores in (("x", True, [1]), ("y", False, [2, 3]), ("z", False, [1, 3]))
    ]
    assert scored(tmp_path, columns, *records) == ["x>y", "x>z", "y>z"]


def test_of_dialogues_some_rounds_may_count(tmp_path: Path) -> None:
    sides = {"one": ("a1", "a2"), "two": ("b1", "b2")}
    talks = {
        name: [
            {"role": role, "content": text}
            for role, text in zip(("user", "assistant") * 2, ("q1", first, "q2", second), strict=True)
        ]
        for name, (first, second) in sides.items()
    }
    columns = {"instruction": "one@prompt:turn", "output_a": "one@reply:turn", "output_b": "two@reply:turn"}
    path = lines(tmp_path / "x.jsonl", {**talks, "turn": 1}, {**talks, "turn": 2})
    first, second = load_dataset(path, columns=ColumnMap.of(columns))
    assert (first.instruction, first.output_a, first.output_b) == ("q1", "a1", "b1")
    assert second.instruction == "q1"
    assert second.output_b == "Assistant: b1\n\nUser: q2\n\nAssistant: b2"


def test_each_annotator_of_a_list_counts_once_however_many_rows_name_them(tmp_path: Path) -> None:
    said = ([("ada", "A")], [("ada", "A")], [("ada", "A"), ("ben", "B")])
    records = [
        {"q": f"q{n}", "one": "x", "two": "y", "votes": [{"who": who, "is": label} for who, label in votes]}
        for n, votes in enumerate(said)
    ]
    labels = {"overall_quality_preference": "votes[].is", "annotator": "votes[].who"}
    columns = {**SIDES, "instruction": "q", **labels}
    dataset = mapped(tmp_path, records, columns)
    assert dataset[2].gold["overall_quality"].annotators == {"ada": Preference.A, "ben": Preference.B}
    assert dataset[2].gold["overall_quality"].label is None


def test_messages_of_trees_are_responses_to_all_that_was_said_before(tmp_path: Path) -> None:
    columns = {"id": "m", "instruction": "text", "output": "text", "group": "above", "score": "-rank"}
    records: list[Mapping[str, object]] = [
        {"m": "c", "above": "a", "text": "worse", "rank": 1},
        {"m": "a", "above": None, "text": "q", "rank": None},
        {"m": "b", "above": "a", "text": "better", "rank": 0},
        {"m": "d", "above": "b", "text": "and?", "rank": None},
        *({"m": f"e{n}", "above": "d", "text": f"{n}", "rank": n} for n in (1, 0)),
        *({"m": f"f{n}", "above": "b", "text": f"asked {n}", "rank": n} for n in (1, 0)),
        *({"m": f"g{n}", "above": "lost", "text": f"reply {n}", "rank": n} for n in (1, 0)),
        {"m": "loop", "above": "loop", "text": "x", "rank": 0},
    ]
    found = {item.instruction: item for item in mapped(tmp_path, records, columns)}
    assert list(found) == ["q", "User: q\n\nAssistant: better\n\nUser: and?"]
    for item, better in zip(found.values(), ("better", "0"), strict=True):
        assert item.gold["overall_quality"].label == ("A" if item.output_a == better else "B")


@pytest.mark.parametrize(
    ("one", "other", "found"),
    [
        ("The sky is blue.", "The sky is black.", ("The sky is", "blue.", "black.")),
        ("Bread.", "Glass.", ("", "Bread.", "Glass.")),
        ("Q: a?\nA: ", "Q: a?\nA: b", ("Q: a?\nA:", "", "b")),
        ("Nothing else", "Nothing", ("", "Nothing else", "Nothing")),
    ],
)
def test_what_two_texts_begin_with_was_asked_where_nothing_else_was(
    tmp_path: Path, one: str, other: str, found: tuple[str, str, str]
) -> None:
    columns = {"instruction": "x", "output_a": "x", "output_b": "y"}
    (item,) = mapped(tmp_path, [{"x": one, "y": other}], columns)
    assert (item.instruction, item.output_a, item.output_b) == found


def test_a_null_and_a_key_that_one_of_several_places_lacks_are_empty(tmp_path: Path) -> None:
    info, b = {"post": "Name a tree.", "article": None}, {"text": "A cat."}
    records: list[Mapping[str, object]] = [
        {"info": info, "a": {"text": "An oak."}, "b": b},
        {"info": {"article": "Name a bird."}, "a": None, "b": b},
    ]
    sources = {"instruction": "info.post+info.article", "output_a": "a.text", "output_b": "b.text"}
    dataset = mapped(tmp_path, records, sources)
    found = [(item.instruction, item.output_a) for item in dataset]
    assert found == [("Name a tree.", "An oak."), ("Name a bird.", "")]


def test_of_the_entries_of_a_list_the_first_that_has_something_is_read(tmp_path: Path) -> None:
    of_two = [
        {"who": "ann", "result": [{"value": {"text": ["Right."]}}, {"value": {"choices": ["one"]}}]},
        {"who": "ben", "result": []},
        {"who": {"id": 3, "email": "cem@x"}, "result": [{"value": {"choices": ["two"]}}]},
    ]
    record = {**TEXTS_OF_ONE, "annotations": of_two}
    sources = {
        **SIDES,
        "safety_preference": "annotations[].result[?].value.choices[0]",
        "annotator": "annotations[].who",
        "safety_explanation": "annotations[0].result[?].value.text[0]",
    }
    gold = mapped(tmp_path, [record], sources, {"one": "A", "two": "B"})[0].gold["safety"]
    assert gold.annotators == {"ann": "A", "cem@x": "B"}
    assert gold.explanation == "Right."


def test_a_list_of_labels_that_is_not_there_is_no_label(tmp_path: Path) -> None:
    given = {"preference": [{"value": "A"}, {"value": "A"}]}
    records = [{**TEXTS_OF_ONE, "answers": answers} for answers in (given, {}, None)]
    sources = {**SIDES, "overall_quality_preference": "answers.preference[].value"}
    dataset = mapped(tmp_path, records, sources)
    assert [[gold.label for gold in item.gold.values()] for item in dataset] == [["A"], [], []]


def test_a_value_of_a_scale_may_have_a_meaning_of_its_own(tmp_path: Path) -> None:
    values = ("1.02", "1.9", "1.5", "0", "NaN")
    records = [{**TEXTS_OF_ONE, "p": value} for value in values]
    sources = {**SIDES, "overall_quality_preference": "1.5>p"}
    dataset = mapped(tmp_path, records, sources, {"equal": "tie", "0": "tie"})
    found = [[gold.label for gold in item.gold.values()] for item in dataset]
    assert found == [["A"], ["B"], ["tie"], ["tie"], []]


def test_messages_of_parts_and_an_empty_system_turn_are_read(tmp_path: Path) -> None:
    def message(role: str, *texts: str) -> dict[str, object]:
        return {"role": role, "parts": [{"text": text} for text in texts]}

    completions = [
        {"score": 1, "completion": message("model", "An oak.", "An ash.")},
        {"score": 0, "completion": message("model", "A cat.")},
    ]
    first, second = message("user", "Name a tree."), message("user", "Name a bird.")
    records: list[Mapping[str, object]] = [
        {"told": {"parts": [{"text": "Be brief."}]}, "contents": [first], "completions": completions},
        {"contents": [message("system", ""), second], "completions": completions},
    ]
    sources = {
        "system": "told.parts[0].text",
        "instruction": "contents",
        "output": "completions[].completion@reply",
        "score": "completions[].score",
    }
    dataset = mapped(tmp_path, records, sources)
    asked = [item.instruction for item in dataset]
    assert asked == ["System: Be brief.\n\nUser: Name a tree.", "Name a bird."]
    assert {dataset[0].output_a, dataset[0].output_b} == {"An oak.\n\nAn ash.", "A cat."}


@pytest.mark.parametrize("source", ["label", "picks[].selected"])
def test_each_annotator_of_rows_counts_once_in_a_majority(source: str, tmp_path: Path) -> None:
    rows = [("q1", "ann", "A"), ("q1", "ben", "B"), ("q2", "ann", "B"), ("q3", "ann", "A")]
    records = [
        {**TEXTS_OF_ONE, "prompt": q, "who": who, "label": label, "picks": [{"selected": label}]}
        for q, who, label in rows
    ]
    sources = {**SIDES, "annotator": "who", "safety_preference": source}
    dataset = mapped(tmp_path, records, sources)
    assert [item.gold["safety"].label for item in dataset] == [None, "B", "A"]
    assert dataset[0].gold["safety"].annotators == {"ann": "A", "ben": "B"}


def test_what_one_annotator_of_a_row_says_twice_has_to_be_the_same(tmp_path: Path) -> None:
    sources = {**SIDES, "annotator": "who", "safety_preference": "picks[]"}
    picks = [["A", "A"], ["A", "B"], []]
    with pytest.raises(ColumnsError) as caught:
        mapped(tmp_path, [{**TEXTS_OF_ONE, "who": "ann", "picks": each} for each in picks], sources)
    assert caught.value.problems == ("line 2: 'A', 'B' are said by one annotator.",)


def test_a_column_of_the_file_does_not_take_the_place_of_one_that_is_mapped(tmp_path: Path) -> None:
    records = [
        {"prompt": "q", "text": text, "points": points, "output": "No text.", "score": "no number"}
        for text, points in (("better", 2), ("worse", 1))
    ]
    sources = {"instruction": "prompt", "output": "text", "score": "points", "group": "prompt"}
    dataset = mapped(tmp_path, records, sources)
    assert [{item.output_a, item.output_b} for item in dataset] == [{"better", "worse"}]


@pytest.mark.parametrize(
    "sources",
    [
        {"annotator": "who"},
        {"safety_preference": "labels[]"},
        {"safety_preference": "votes[].is", "annotator": "votes[].who"},
    ],
)
def test_where_no_item_has_two_annotators_their_labels_are_those_of_the_items(
    sources: dict[str, str], tmp_path: Path
) -> None:
    records = [
        {**TEXTS_OF_ONE, "prompt": who, "who": who, "label": label, "labels": [label], "votes": [vote]}
        for who, label in (("ann", "A"), ("ben", "B"))
        for vote in ({"who": who, "is": label},)
    ]
    named = {**SIDES, "safety_preference": "label"}
    dataset = mapped(tmp_path, records, {**named, **sources})
    gold = [item.gold["safety"] for item in dataset]
    assert [(each.label, dict(each.annotators)) for each in gold] == [("A", {}), ("B", {})]


VOTES = {"annotator": "r[].by|s[].by", "relevance_preference": "r[].is", "safety_preference": "s[].is"}
OF_WINNERS = {"annotator": "by", "safety_preference": "is"}
BY_MODELS = {**OF_WINNERS, "candidate_a": "m", "candidate_b": "n"}


@pytest.mark.parametrize(
    ("sources", "rows", "said"),
    [
        (  # each criterion's list has the names of its own annotators, and one of them may be empty
            VOTES,
            [
                {"r": [{"by": "ann", "is": "A"}, {"by": "ben", "is": "B"}], "s": []},
                {"prompt": "p", "r": [], "s": [{"by": "ben", "is": "A"}, {"by": "ann", "is": "B"}]},
            ],
            [{"ann": "A", "ben": "B"}, {"ben": "A", "ann": "B"}],
        ),
        (  # what several models wrote alike are pairs of their own, turned by the names where texts are equal
            {**BY_MODELS, "output_b": "one"},
            [
                {"m": "m1", "n": "m2", "by": "ann", "is": "A"},
                {"m": "m2", "n": "m1", "by": "ben", "is": "A"},
                {"m": "m3", "n": "m4", "by": "ann", "is": "B"},
                {"m": "m3", "n": "m4", "by": "ben", "is": "B"},
            ],
            [{"ann": "A", "ben": "B"}, {"ann": "B", "ben": "B"}],
        ),
    ],
)
def test_labels_stay_with_their_annotators_and_pairs(
    tmp_path: Path,
    sources: Mapping[str, str],
    rows: list[dict[str, object]],
    said: list[dict[str, str]],
) -> None:
    dataset = mapped(tmp_path, [{**TEXTS_OF_ONE, **row} for row in rows], {**SIDES, **sources})
    assert [each.annotators for item in dataset for each in item.gold.values()] == said


def test_columns_that_are_not_read_stay_what_they_are_beside_annotators(tmp_path: Path) -> None:
    beside = {"strong_preference": "very", "note": "n", "note|x": "m"}
    rows = [{**TEXTS_OF_ONE, **beside, "by": who, "is": "A"} for who in ("ann", "ben")]
    dataset = mapped(tmp_path, rows, {**SIDES, **OF_WINNERS})
    assert list(dataset.cells_beside()) == [beside]


def test_without_a_majority_the_chosen_response_is_no_label(tmp_path: Path) -> None:
    rows = [{"prompt": f"q{n}", "good": "g", "bad": "b", "p": "A", "q": "B"} for n in range(4)]
    dataset = mapped(tmp_path, rows, {**RANKED.source_of, "overall_quality_preference": "p|q"})
    assert [item.gold["overall_quality"].label for item in dataset] == [None] * 4


def test_a_known_file_may_be_read_with_what_values_mean_or_without_bad_rows(tmp_path: Path) -> None:
    texts = {"prompt": "q", "response_a": "a", "response_b": "b", "model_a": "m", "model_b": "n"}
    rows = [{"id": at, **texts, "winner": won, "language": "en"} for at, won in ((1, "model_b"), (2, "oops"))]
    path = lines(tmp_path / "arena.jsonl", *rows)
    told = load_dataset(path, columns=ColumnMap.of({}, {"oops": "tie"}))
    assert [item.gold["overall_quality"].label for item in told] == ["B", "tie"]
    assert load_dataset(path, columns=ColumnMap(skip_bad_rows=True)).ids == ["1"]
    assert report_on(path, columns=ColumnMap.of({}, {"oops": "tie"})).items == 2


@pytest.mark.parametrize(("names", "labelled"), [(("helpful", "harmless"), ()), (("better",), ("better",))])
def test_who_won_is_on_no_criterion_but_the_only_one_or_overall_quality(
    tmp_path: Path, names: tuple[str, ...], labelled: tuple[str, ...]
) -> None:
    chosen = lines(tmp_path / "x.jsonl", {"prompt": "q", "good": "a", "bad": "b"})
    known = next(each for each in every_known() if each.slug == "pku-saferlhf-30k")
    path = tmp_path / "known.jsonl"
    path.write_text(known.rows.strip(), encoding="utf-8")
    rubric = rubric_of_names(names)
    for dataset in (load_dataset(chosen, rubric, columns=RANKED), load_dataset(path, rubric)):
        assert dataset.criteria == labelled


def test_context_and_reference_are_fields_of_items_and_no_part_of_their_content(tmp_path: Path) -> None:
    rows: list[Mapping[str, object]] = [PASSAGES, {**PASSAGES, "prompt": "r", "gold": None}]
    both = "One.\n\nTwo."
    without = mapped(tmp_path, rows, SIDES)
    dataset = mapped(tmp_path, rows, {**SIDES, "context": "passages[]", "reference": "gold"})
    for items in (list(dataset), [dataset[0], dataset[1]], list(dataset.items_in_short())):
        assert [(item.context, item.reference) for item in items] == [(both, "g"), (both, "")]
    assert dataset.at([1])[0].background == {"context": both}
    assert dataset.hash == without.hash
    assert [item.content_hash for item in dataset] == [item.content_hash for item in without]
    assert without[0].background == {}
    assert dataset.background_hash(["reference"]) != without.background_hash(["reference"])


def test_columns_of_retrieval_and_of_references_are_guessed(tmp_path: Path) -> None:
    rows = [
        {
            "question": f"Who wrote {k}?",
            "retrieved_contexts": ["Ann.", k],
            "ground_truth": f"Ann {k}",
            **SIDED,
        }
        for k in "xyz"
    ]
    guess = guess_columns(read_sample(open_table(lines(tmp_path / "x.jsonl", *rows))), ELOQUENT)
    found = [guess.map.source_of[name] for name in ("instruction", "context", "reference")]
    assert found == ["question", "retrieved_contexts[]", "ground_truth"]
