"""Pairs out of outputs: what matches, who meets whom how often, and who stands as A."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from engine.core.errors import InputError, SetupError
from engine.data.dataset import load_dataset
from engine.data.outputs import Outputs, Response, read_outputs
from engine.data.pairs import MatchedOutputs, Pairs, make_pairs, match_outputs
from engine.report.pairs import left_out
from engine.settings.sampling import PairsPlan


def outputs(name: str, *asked: str | tuple[str | None, str | None]) -> Outputs:
    """What a candidate wrote; `asked`: instructions, or ids with them."""
    both = [(None, one) if isinstance(one, str) else one for one in asked]
    responses = (Response(key, text, f"{name} on {key or text}") for key, text in both)
    return Outputs(Path(f"{name}.json"), name, tuple(responses))


def candidates(count: int, instructions: int) -> MatchedOutputs:
    asked = [f"Instruction {number}" for number in range(instructions)]
    return match_outputs([outputs(f"m{number}", *asked) for number in range(count)])


def made(matched: MatchedOutputs, **plan: int | str) -> Pairs:
    return make_pairs(matched, PairsPlan(**plan))  # type: ignore[arg-type]


def spread(counts: Mapping[Any, int], known: Sequence[Any]) -> int:
    times = [counts.get(one, 0) for one in known]
    return max(times) - min(times)


# What matches


def test_what_not_every_candidate_answered_is_counted_and_named() -> None:
    found = match_outputs([outputs("x", "q1", "q2", "q3", "q2"), outputs("y", "q3", "q4", "q1")])
    assert found.instructions == ("q1", "q3")
    assert [(one.left_out, one.lacking, one.repeated) for one in found.kept] == [
        (("q2",), 1, 1),
        (("q4",), 1, 0),
    ]
    assert found.responses["y"] == ("y on q1", "y on q3")


def test_ids_count_where_they_match_and_the_texts_are_the_same() -> None:
    found = match_outputs([outputs("x", ("1", "q1"), ("2", "q2")), outputs("y", ("2", "q2"), ("1", "other"))])
    assert (found.by_id, found.keys, found.kept[0].left_out) == (True, ("2",), ("1",))


def test_running_numbers_are_no_ids_where_the_texts_match_better() -> None:
    found = match_outputs([outputs("x", ("1", "q1"), ("2", "q2")), outputs("y", ("1", "q2"), ("2", "q1"))])
    assert (found.by_id, found.instructions) == (False, ("q1", "q2"))
    assert found.responses["y"] == ("y on 2", "y on 1")


def test_answers_without_instructions_find_them_by_id() -> None:
    answers = [outputs("x", ("1", None), ("2", None)), outputs("y", ("1", None), ("2", None))]
    with pytest.raises(InputError, match="has no instructions, and neither has any other") as caught:
        match_outputs(answers)
    assert "instructions: question.jsonl" in str(caught.value.hint)
    assert match_outputs(answers, {"2": "Why?"}).instructions == ("Why?",)
    assert match_outputs([*answers, outputs("z", ("2", "How?"))]).instructions == ("How?",)


@pytest.mark.parametrize(
    ("files", "says"),
    [
        ([outputs("x", "q")], "two candidates or more"),
        ([outputs("x", "q"), outputs("x", "q")], "its candidate is called x, like that of x.json"),
        ([outputs("a b", "q"), outputs("a~b", "q")], "its candidate is called"),
        ([outputs("x", "q"), outputs("y", "other")], "has no instruction in common with all other files"),
        ([outputs("x", ("1", None)), outputs("y", "q")], "x.json: has no instructions, and y.json has no"),
        ([outputs("x", "q"), outputs("y", "q"), outputs("z", "q ")], "z.json: has no instruction in common"),
        ([outputs("x", ("1", "q")), outputs("y", ("1", "other"))], "y.json: has other instructions under"),
    ],
)
def test_files_that_make_no_pairs_are_refused(files: list[Outputs], says: str) -> None:
    with pytest.raises(SetupError, match=says):
        match_outputs(files)


def test_files_of_one_name_in_two_folders_are_told_apart_by_renaming_one() -> None:
    one, other = outputs("m", "q"), outputs("m", "q")
    moved = replace(other, path=Path("elsewhere") / other.path.name)
    with pytest.raises(SetupError, match=r"like that of m\.json") as caught:
        match_outputs([one, moved])
    assert "rename one of the files" in str(caught.value.hint)
    with pytest.raises(SetupError) as caught:
        match_outputs([one, other])
    assert str(caught.value.hint) == "Remove one of them."


# Who meets whom


def test_all_meet_all_on_each_instruction() -> None:
    pairs = made(candidates(4, 5))
    assert len(pairs.pairs) == len(set(pairs.pairs)) == pairs.possible == 30
    assert set(pairs.of_candidate.values()) == {15}


def test_each_meets_a_baseline() -> None:
    pairs = made(candidates(4, 5), baseline="m2")
    assert pairs.of_candidate == {"m2": 15, "m0": 5, "m1": 5, "m3": 5}
    with pytest.raises(SetupError, match="No candidate is called m9") as caught:
        made(candidates(4, 5), baseline="m9")
    assert "There are m0, m1, m2, m3" in str(caught.value.hint)


@pytest.mark.parametrize("count", range(2, 10))
@pytest.mark.parametrize("instructions", [1, 6, 7, 12, 15])
def test_a_part_has_each_candidate_and_each_instruction_equally_often(count: int, instructions: int) -> None:
    matched = candidates(count, instructions)
    possible = count * (count - 1) // 2 * instructions
    for wanted in {1, 2, 5, possible // 3, possible // 2, possible - 3, possible - 1}:
        if not 0 < wanted < possible:
            continue
        pairs = made(matched, pairs=wanted, seed=count)
        met = Counter((pair.instruction, frozenset(pair[1:])) for pair in pairs.pairs)
        assert len(met) == wanted  # none twice
        assert spread(pairs.of_candidate, matched.candidates) <= 1
        assert spread(Counter(at for at, _ in met.elements()), range(instructions)) <= 1
        twos = Counter(two for _, two in met.elements())
        assert spread(twos, [*map(frozenset, combinations(matched.candidates, 2))]) <= 1


def test_a_part_of_those_with_a_baseline_is_balanced_too() -> None:
    pairs = made(candidates(5, 6), baseline="m0", pairs=10)
    assert pairs.of_candidate["m0"] == 10
    assert spread(pairs.of_candidate, ["m1", "m2", "m3", "m4"]) == 1


def test_a_larger_part_of_a_seed_holds_the_smaller_and_another_seed_draws_others() -> None:
    matched = candidates(5, 9)
    few, more = made(matched, pairs=20), made(matched, pairs=31)
    assert set(few.pairs) < set(more.pairs)
    assert set(made(matched, pairs=20, seed=1).pairs) != set(few.pairs)


@pytest.mark.parametrize("wanted", [0, -5])
def test_fewer_than_one_pair_is_refused(wanted: int) -> None:
    with pytest.raises(SetupError, match="Request 1 or more"):
        PairsPlan(pairs=wanted)


# Places and ids


def test_no_candidate_keeps_a_place_and_none_depends_on_the_order_of_the_files() -> None:
    asked = [f"Instruction {number}" for number in range(400)]
    one, other = outputs("one", *asked), outputs("other", *asked)
    pairs = made(match_outputs([one, other]))
    assert 160 < pairs.as_a["one"] < 240
    assert set(pairs.pairs) == set(made(match_outputs([other, one])).pairs)


def test_no_candidate_keeps_a_place_where_one_instruction_is_of_many_contexts() -> None:
    asked = [(str(number), "Summarise the text.") for number in range(400)]
    pairs = made(match_outputs([outputs("one", *asked), outputs("other", *asked)]))
    assert 160 < pairs.as_a["one"] < 240


def test_what_is_written_is_a_dataset_with_candidates(tmp_path: Path) -> None:
    asked = ["Why is the sky blue?\nAnd\twhy?", "青空はなぜ?", "?!"]
    pairs = made(match_outputs([outputs("org/one", *asked), outputs("llama3:8b", *asked)]))
    for suffix in ("tsv", "json", "parquet"):
        pairs.write(path := tmp_path / f"pairs.{suffix}")
        dataset = load_dataset(path)
        assert dataset.names_candidates
        assert dataset.ids == [
            "why-is-the-sky-47f441d0~llama3:8b~org/one",
            "青空はなぜ-5d03a022~llama3:8b~org/one",
            "3ca9f372~llama3:8b~org/one",
        ]
        for side in "ab":
            names = dataset.texts(f"candidate_{side}").to_pylist()
            said = [f"{name} on {item.instruction}" for name, item in zip(names, dataset, strict=True)]
            assert dataset.texts(f"output_{side}").to_pylist() == said
        assert "pairs_seed" not in dataset.other_columns


def test_the_seed_of_a_part_is_kept_and_ids_of_the_files_are_the_items(tmp_path: Path) -> None:
    both = [outputs("x", ("a", "q1"), ("b", "q2")), outputs("y", ("a", "q1"), ("b", "q2"))]
    made(match_outputs(both), pairs=1, seed=7).write(path := tmp_path / "part.json")
    (record,) = json.loads(path.read_text("utf-8"))
    assert (record["pairs_seed"], record["id"][1:]) == ("7", "~x~y")


def test_ids_stay_where_a_candidate_joins(tmp_path: Path) -> None:
    asked = ["q1", "q2"]
    two = [outputs("x", *asked), outputs("y", *asked)]
    made(match_outputs(two)).write(few := tmp_path / "few.json")
    made(match_outputs([outputs("a", *asked), *two])).write(more := tmp_path / "more.json")
    of_few, of_more = ({(item.id, item.content_hash) for item in load_dataset(path)} for path in (few, more))
    assert of_few < of_more


def test_a_text_beside_the_instruction_is_an_own_column_unless_files_differ_in_it(tmp_path: Path) -> None:
    files = []
    for name in ("x", "y"):
        rows: list[dict[str, Any]] = [
            {"id": "1", "instruction": "Why?", "context": "Because.", "reference": ["So", "it is."]},
            {"id": "2", "instruction": "Where?", "context": f"Found by {name}.", "reference": []},
            {"id": "3", "instruction": "When?"},
        ]
        made_with = {"output": f"says {name}", "generated_with": {"seed": 1}}  # as `generate` writes it
        path = tmp_path / f"{name}.jsonl"
        path.write_text("\n".join(json.dumps({**row, **made_with}) for row in rows), "utf-8")
        files.append(read_outputs(path))
    pairs = made(match_outputs(files))
    pairs.write(path := tmp_path / "pairs.tsv")
    assert [(item.instruction, item.background) for item in load_dataset(path)] == [
        ("Why?", {"context": "Because.", "reference": "So\n\nit is."}),
        ("Where?", {}),
        ("When?", {}),
    ]
    assert [*left_out(pairs.matched)] == [
        "context: 1 instruction is without one, because the files have different texts."
    ]


def test_more_text_than_a_dataset_has_is_refused() -> None:
    long = "x" * 3_000_000
    files = [
        Outputs(Path(f"{n}.json"), f"m{n}", tuple(Response(None, f"q{q}", long) for q in range(40)))
        for n in range(5)
    ]
    with pytest.raises(SetupError, match="400 pairs would have 2,400,001,100 characters"):
        made(match_outputs(files))
