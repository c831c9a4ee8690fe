"""Published shapes of datasets are guessed, and opened by the guess, without a word of help."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engine.core.column_map import CANDIDATES, ColumnMap
from engine.core.errors import ColumnsError
from engine.core.rubric import ELOQUENT
from engine.data.column_content import look_into, meanings_of, read_sample
from engine.data.column_guess import Guess, guess_columns
from engine.data.dataset import Dataset, load_dataset
from engine.data.recognition import known_as
from engine.data.tables import open_table
from tests import published_shapes as shapes
from tests.published_shapes import BAD, GOOD, QUESTIONS

Shape = Callable[[Path], Path]


def guess(path: Path) -> Guess:
    return guess_columns(read_sample(open_table(path)), ELOQUENT)


SAID = {"0": "tie", "1": "A", "2": "B"}
"""What a person says of numbers in the published shapes."""


def opened(path: Path) -> Dataset:
    """By the guess, with what a person adds to it."""
    found = guess(path)
    said = {value: SAID[value] for value in found.values}
    sources = {**found.map.source_of, **({found.scale: "1.5>preference"} if found.scale else {})}
    return load_dataset(path, columns=ColumnMap.of(sources, {**found.map.meaning_of, **said}))


def table(folder: Path, *records: dict[str, Any]) -> Path:
    path = folder / "x.json"
    path.write_text(json.dumps(records), encoding="utf-8")
    return path


def labels(dataset: Dataset, criterion: str = "overall_quality") -> list[str]:
    golds = [item.gold.get(criterion) for item in dataset]
    return [str(gold.label) if gold and gold.label else "" for gold in golds]


@pytest.mark.parametrize("shape", shapes.SHAPES)
def test_each_published_shape_is_known_or_foreign_and_opens_as_guessed(shape: Shape, tmp_path: Path) -> None:
    path = shape(tmp_path)
    known = known_as(look_into(path, may_be_empty=False))
    if known is not None:
        assert load_dataset(path).read_as.startswith(f"Read as {known.name}.")
        assert any(item.gold for item in load_dataset(path))
    else:
        with pytest.raises(ColumnsError) as caught:
            load_dataset(path)
        assert caught.value.foreign
    assert not guess(path).open
    dataset = opened(path)
    assert {item.instruction for item in dataset} & {*QUESTIONS} or "hh" in path.name or "panda" in path.name
    assert all(item.gold for item in dataset)


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        (shapes.alpaca_eval, ["A", "B", "A", "B"]),
        (shapes.arena, ["A", "B", "tie", "both_bad"]),
        (shapes.kaggle_arena, ["A", "B", "tie", "tie"]),
        (shapes.panda_lm, ["A", "B", "", "A"]),
        (shapes.llm_bar, ["A", "B", "A", "B"]),
        (shapes.ultra_feedback, ["A"] * 4),
        (shapes.gpt_sides, ["A", "B", "tie", "tie"]),
    ],
)
def test_two_responses_and_who_won_are_read(shape: Shape, expected: list[str], tmp_path: Path) -> None:
    dataset = opened(shape(tmp_path))
    assert labels(dataset) == expected
    for number, item in enumerate(dataset):
        pair = (GOOD[number], BAD[number])
        if shape is shapes.kaggle_arena and number == 1:
            assert item.instruction == f"User: {QUESTIONS[1]}\n\nUser: Go on."
            assert item.output_b == f"Assistant: {GOOD[1]}\n\nAssistant: Enough."
        else:
            assert (item.output_a, item.output_b) == (pair if number % 2 == 0 else pair[::-1])


@pytest.mark.parametrize(
    ("shape", "candidates"),
    [
        (shapes.alpaca_eval, ("text_davinci_003", "gpt4")),
        (shapes.mt_bench, ("alpaca-13b", "gpt-4")),
        (shapes.arena, ("vicuna-13b", "koala-13b")),
        (shapes.kaggle_arena, ("gpt-4-1106-preview", "gpt-4-0613")),
        (shapes.ultra_feedback, ("model-0", "model-1")),
    ],
)
def test_who_wrote_the_responses_is_found(shape: Shape, candidates: tuple[str, str], tmp_path: Path) -> None:
    dataset = opened(shape(tmp_path))
    assert [{*dataset.texts(name).to_pylist()} for name in CANDIDATES] == [{name} for name in candidates]


def test_who_wrote_the_chosen_response_follows_it_to_its_place(tmp_path: Path) -> None:
    dataset = opened(shapes.reward_bench(tmp_path))
    for place, item in enumerate(dataset):
        a, b = (dataset.texts(name)[place].as_py() for name in CANDIDATES)
        assert {item.output_a: a, item.output_b: b} == {GOOD[place]: "GPT4-Turbo", BAD[place]: "bert"}


@pytest.mark.parametrize("shape", [shapes.hh_rlhf, shapes.llm_bar, shapes.gpt_sides])
def test_where_nobody_says_who_wrote_no_candidates_are_guessed(shape: Shape, tmp_path: Path) -> None:
    assert not {*CANDIDATES} & guess(shape(tmp_path)).map.source_of.keys()


@pytest.mark.parametrize("shape", [shapes.hh_rlhf, shapes.ultra_feedback_binarized, shapes.reward_bench])
def test_a_chosen_and_a_rejected_response_are_read(shape: Shape, tmp_path: Path) -> None:
    dataset = opened(shape(tmp_path))
    for item, good, bad, label in zip(dataset, GOOD, BAD, labels(dataset), strict=True):
        assert (item.output_a, item.output_b) == ((good, bad) if label == "A" else (bad, good))
        assert item.instruction.endswith(QUESTIONS[GOOD.index(good)])


def test_of_mt_bench_as_many_rounds_are_read_as_were_judged(tmp_path: Path) -> None:
    dataset = opened(shapes.mt_bench(tmp_path))
    assert dataset.ids[:2] == ["81-alpaca-13b-gpt-4-author_2-1", "81-alpaca-13b-gpt-4-author_2-2"]
    assert (dataset[0].instruction, dataset[0].output_a) == (QUESTIONS[0], GOOD[0])
    assert dataset[1].instruction == f"User: {QUESTIONS[0]}\n\nUser: And in short?"
    assert dataset[1].output_b == f"Assistant: {BAD[0]}\n\nAssistant: {BAD[0]} Short."


def test_which_way_a_preference_between_one_and_two_counts_is_left_to_a_person(tmp_path: Path) -> None:
    path = shapes.alpaca_eval_weighted(tmp_path)
    found = guess(path)
    assert found.scale == "overall_quality_preference"
    assert found.columns_text.endswith("overall_quality_preference=…")
    assert "1.5>preference is A below 1.5" in found.in_words
    assert labels(opened(path)) == ["A"] * 8 + ["B"] * 8


def test_an_input_belongs_to_its_instruction(tmp_path: Path) -> None:
    dataset = opened(shapes.panda_lm(tmp_path))
    assert dataset[0].instruction == f"{QUESTIONS[0]}\n\nAnswer in one sentence."
    assert dataset[1].instruction == QUESTIONS[1]


def test_ratings_of_a_criterion_are_its_labels(tmp_path: Path) -> None:
    assert labels(opened(shapes.ultra_feedback(tmp_path)), "truthfulness") == ["A"] * 4


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (
            ["model_a", "tie (bothbad)", "model_b"],
            {"model_a": "A", "tie (bothbad)": "both_bad", "model_b": "B"},
        ),
        (["A", "B", "tie", "both_good"], {}),
        (["A", "Draw", "tied", "EQUAL"], {"Draw": "tie", "tied": "tie", "EQUAL": "tie"}),
        (["[[A]]", "[[B]]", "[[C]]", "error"], {"[[A]]": "A", "[[B]]": "B", "[[C]]": "tie", "error": ""}),
        *(
            (values, {})
            for values in (["1", "2"], ["1.0", "2.0"], ["0", "1", "2"], ["0", "1"], ["-1", "0", "1"])
        ),
        (["1", "2", "tie", "nan"], {"nan": ""}),
    ],
)
def test_only_what_says_so_itself_is_guessed_as_a_label(values: list[str], expected: dict[str, str]) -> None:
    assert meanings_of(values) == expected


@pytest.mark.parametrize("values", [[], ["yes", "no"], ["5", "7"], ["tie"], ["0.1", "0.7"]])
def test_other_values_are_not_taken_for_labels(values: list[str]) -> None:
    assert meanings_of(values) is None


def test_numbers_are_left_open_with_how_often_each_occurs(tmp_path: Path) -> None:
    records = [
        {"prompt": f"Question {n}?", "response_0": f"One {n}", "response_1": f"Two {n}", "label": int(n < 4)}
        for n in range(6)
    ]
    found = guess(table(tmp_path, *records))
    assert (found.values, found.map.labels, found.labels_text) == ({"1": 4, "0": 2}, (), "0=…,1=…")
    assert "fill in what the labels '1' (4 times), '0' (2 times) mean" in found.in_words


def test_several_annotators_are_found_together(tmp_path: Path) -> None:
    found = guess(shapes.panda_lm(tmp_path))
    assert found.map.source_of["overall_quality_preference"] == "annotator1|annotator2|annotator3"
    assert found.values == {"1": 6, "2": 5, "0": 1}


def test_what_cannot_be_guessed_stays_open(tmp_path: Path) -> None:
    found = guess(table(tmp_path, {"prompt": "Why?", "answer": "So."}, {"prompt": "How?", "answer": "Thus."}))
    assert found.open == ("output_a", "output_b")
    assert found.columns_text == "instruction=prompt,output_a=…,output_b=…"


def test_an_id_that_is_not_unique_is_none(tmp_path: Path) -> None:
    records = [
        {"id": n // 2, "prompt": f"q{n}", "output_1": f"x {n}", "output_2": f"y {n}"} for n in range(6)
    ]
    assert guess(table(tmp_path, *records)).map.source_of["id"] == ""


def test_responses_may_be_as_short_as_numbers(tmp_path: Path) -> None:
    records = [
        {"question": f"What is {n}+{n}?", "answer_a": 2 * n, "answer_b": n, "score_a": 1, "score_b": 0}
        for n in range(5)
    ]
    found = guess(table(tmp_path, *records))
    assert found.map.columns_text == (
        "instruction=question,output_a=answer_a,output_b=answer_b,overall_quality_preference=score_a>score_b"
    )


def test_names_that_nearly_fit_are_taken(tmp_path: Path) -> None:
    record = {"ID": "1", "Instruction": "Why is it so?", "Output A": "So it is.", "Output B": "It is not."}
    found = guess(table(tmp_path, record))
    assert found.map.columns_text == "id=ID,instruction=Instruction,output_a=Output A,output_b=Output B"


@pytest.mark.parametrize("count", [1, 200])
def test_many_columns_of_long_names_are_no_hindrance(count: int, tmp_path: Path) -> None:
    others = {f"column {n} {'x' * 245}": f"cell {n}" for n in range(count)}
    records = [
        {**others, "prompt": f"Question {n}?", "response_1": f"A {n}", "response_2": f"B {n}"}
        for n in range(9)
    ]
    found = guess(table(tmp_path, *records))
    assert found.map.columns_text == "instruction=prompt,output_a=response_1,output_b=response_2"


def guessed(save: Callable[[str, bytes], Path], **columns: list[str]) -> Guess:
    """The guess for a file with these columns beside texts of two responses."""
    texts = {"prompt": ["Say it.", "Say more.", "Say less."], "response_a": ["One is long enough."] * 3}
    cells = {**texts, "response_b": ["Two is long enough, too."] * 3, **columns}
    lines = ["\t".join(row) for row in zip(*([name, *values] for name, values in cells.items()), strict=True)]
    return guess(save("foreign.tsv", "\n".join(lines).encode() + b"\n"))


@pytest.mark.parametrize(
    "columns",
    [
        {"is_refusal_a": ["1", "0", "0"], "is_refusal_b": ["0", "1", "0"]},
        {"rank_a": ["1", "2", "1"], "rank_b": ["2", "1", "2"]},
        {"loss_score_a": ["1.5", "2.5", "1.1"], "loss_score_b": ["2.5", "1.25", "2.1"]},
        {"annotator": ["1", "2", "1"]},
        {"batch_1": ["1", "2", "1"]},
    ],
)
def test_what_is_no_verdict_is_not_guessed_as_one(
    save: Callable[[str, bytes], Path], columns: dict[str, list[str]]
) -> None:
    sources = guessed(save, **columns).map.source_of
    assert not [name for name in sources if name.endswith("_preference")]


def test_a_winner_counts_for_more_than_flags(save: Callable[[str, bytes], Path]) -> None:
    flags = {"toxic_a": ["1", "0", "0"], "toxic_b": ["0", "1", "0"]}
    sources = guessed(save, **flags, winner=["model_a", "model_b", "tie"]).map.source_of
    assert sources["overall_quality_preference"] == "winner"
