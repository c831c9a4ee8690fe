"""What another judge said is read as a system, whatever file it stands in, and finds the items it is of."""

import json
from pathlib import Path

import pytest

from engine.core.column_map import JudgeColumn
from engine.core.errors import InputError
from engine.core.items import HumanLabel, Preference, Tie
from engine.data.catalogue import Known, every_known
from engine.data.dataset import Dataset, load_dataset
from engine.data.outputs import read_outputs
from engine.data.pairs import make_pairs, match_outputs
from engine.data.submission import Submission
from engine.data.verdicts import Verdicts, placed, read_system
from engine.settings.sampling import PairsPlan

A, B, TIE = Preference.A, Preference.B, Tie.TIE
ITEMS = [("q1", "Name a fruit.", "An apple.", "A chair."), ("q2", "Name a tree.", "A desk.", "An oak."),
         ("q3", "Name a bird.", "A robin.", "A wren.")]  # fmt: skip
SAID = {"q1": A, "q2": B, "q3": TIE}
KNOWN = [pytest.param(known, id=known.slug) for known in every_known() if known.kind == "verdicts"]


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    """Three pairs of which a person said the labels of SAID, too."""
    return load_dataset(write(tmp_path / "gold.tsv", "id\tinstruction\toutput_a\toutput_b\n", pairs()))


def pairs() -> str:
    return "".join("\t".join(item) + "\n" for item in ITEMS)


def write(path: Path, *texts: str) -> Path:
    path.write_text("".join(texts), encoding="utf-8")
    return path


def labels(submission: Submission) -> dict[str, HumanLabel | None]:
    return {row.id: row.predictions["overall_quality"].preference for row in submission.rows}


def lines(*records: object) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


def game(item_id: str, model: str, baseline: str, *scores: str) -> dict[str, object]:
    """A line of an Arena-Hard log: a score of each order."""
    named = {"uid": item_id, "judge": "x", "model": model, "baseline": baseline}
    return {**named, "games": [{"score": score} for score in scores]}


FILES = {
    "submission.tsv": "id\toverall_quality_preference\nq1\tA\nq2\tB\nq3\ttie\n",
    "submission.csv": "id,overall_quality_preference\nq1,A\nq2,B\nq3,tie\n",
    "verdicts.csv": "id,verdict\nq1,[[A]]\nq2,[[B]]\nq3,[[C]]\n",
    "european.csv": "id;verdict\nq1;A>>B\nq2;B>A\nq3;A=B\n",
    "verdicts.json": json.dumps([{"id": item_id, "winner": label.value} for item_id, label in SAID.items()]),
    "arena-hard.jsonl": lines(
        *(game("q1", "m", "n", "A>B", "B>>A"), game("q2", "m", "n", "B>A", "A>B")),
        game("q3", "m", "n", "A=B", "A=B"),
    ),
    "alpaca_eval.json": json.dumps(
        [
            {"instruction": asked, "output_1": one, "output_2": other, "generator_1": "x", "generator_2": "y",
             "annotator": "weighted", "preference": {A: 1.2, B: 1.9, TIE: 1.5}[SAID[item_id]]}
            for item_id, asked, one, other in ITEMS
        ]
    ),
    "alpaca_eval_exchanged.json": json.dumps(
        [
            {"instruction": asked, "output_1": other, "output_2": one, "generator_1": "y", "generator_2": "x",
             "annotator": "weighted", "preference": {A: 2, B: 1, TIE: 1.5}[SAID[item_id]]}
            for item_id, asked, one, other in ITEMS
        ]
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FILES)
def test_another_judges_file_says_what_it_says_of_items(name: str, dataset: Dataset, tmp_path: Path) -> None:
    assert labels(placed(read_system(write(tmp_path / name, FILES[name])), dataset)) == SAID


@pytest.mark.parametrize("known", KNOWN)
def test_every_known_log_is_read(known: Known, tmp_path: Path) -> None:
    read = read_system(write(tmp_path / "log.jsonl", known.rows.strip()))
    assert len(read.rows) == len(known.rows.strip().splitlines())
    assert {*labels(read).values()} <= {A, B, TIE, None}
    assert {*labels(read).values()} != {None}


def test_a_column_of_a_dataset_is_a_judge_and_the_others_are_not_read(tmp_path: Path) -> None:
    rows = "".join(
        f'{item_id},{asked},{one},{other},{human},{{}}\n'.format(said)
        for (item_id, asked, one, other), human, said in zip(ITEMS, "BBA", (1, 2, 0), strict=True)
    )  # fmt: skip
    path = write(tmp_path / "pairs.csv", "id,prompt,response_a,response_b,human_winner,gpt4\n", rows)
    numbers = (("1", "A"), ("2", "B"), ("0", "tie"))
    read = read_system(path, JudgeColumn("gpt4", numbers))
    assert labels(read) == SAID
    assert read.criteria == ("overall_quality",)
    with pytest.raises(InputError) as unsaid:
        read_system(path, JudgeColumn("gpt4"))
    assert "'1', '2', '0'" in unsaid.value.problem
    assert "1=…,2=…,0=…" in str(unsaid.value.hint)
    with pytest.raises(InputError, match="Which column holds a judge's verdicts is not known"):
        read_system(path)
    with pytest.raises(InputError, match="has no column 'gpt'"):
        read_system(path, JudgeColumn("gpt"))


def test_texts_in_columns_of_ours_are_those_of_the_dataset_though_they_look_like_dialogues(
    tmp_path: Path,
) -> None:
    one, other = ("\n\nHuman: Hi.\n\nAssistant: " + answer for answer in ("Yes.", "No."))
    row = {"id": "1", "instruction": "q", "output_a": one, "output_b": other, "gpt4": "B"}
    path = write(tmp_path / "pairs.json", json.dumps([row, {**row, "id": "2", "gpt4": "A"}]))
    dataset = load_dataset(path)
    assert dataset[0].output_a == one
    assert labels(placed(read_system(path, JudgeColumn("gpt4")), dataset)) == {"1": B, "2": A}


def test_how_sure_a_judge_says_that_it_is_stands_beside_its_label(tmp_path: Path) -> None:
    def sure(name: str, text: str) -> list[float | None]:
        rows = read_system(write(tmp_path / name, text)).rows
        return [row.predictions["overall_quality"].confidence for row in rows]

    assert sure("a.csv", "id,verdict,confidence\nq1,A,0.75\nq2,B,\n") == [0.75, None]
    assert sure("scale.csv", "id,verdict,confidence\nq1,A,1\nq2,B,5\n") == [None, None]
    assert sure("b.json", FILES["alpaca_eval.json"]) == pytest.approx([0.8, 0.9, None])
    assert sure("c.json", FILES["alpaca_eval_exchanged.json"]) == [None, None, None]


def test_one_instruction_with_several_pairs_of_candidates_finds_the_pair(tmp_path: Path) -> None:
    """The sides are those of the dataset, wherever the log has a candidate."""
    text = "id\tinstruction\toutput_a\toutput_b\tcandidate_a\tcandidate_b\n"
    text += "q1~m~n\tSay hi.\tHi.\tHo.\tn\tm\nq1~k~n\tSay hi.\tHey.\tHi.\tk\tn\n"
    dataset = load_dataset(write(tmp_path / "pairs.tsv", text))
    won = {"q1~m~n": ("B>A", "A>B"), "q1~k~n": ("A>B", "B>A")}  # B is the model: m, then the baseline: n
    log = lines(game("q1", "m", "n", *won["q1~m~n"]), game("q1", "k", "n", *won["q1~k~n"]))
    read = read_system(write(tmp_path / "log.jsonl", log))
    assert labels(placed(read, dataset)) == dict.fromkeys(won, B)


def test_a_candidate_whose_name_is_written_otherwise_in_ids_is_found(tmp_path: Path) -> None:
    files = []
    for name in ("my model", "base~line"):
        records = [{"id": "q1", "instruction": "Say hi.", "output": f"Hi from {name}.", "generator": name}]
        files.append(read_outputs(write(tmp_path / f"{name[:2]}.json", json.dumps(records))))
    path = tmp_path / "pairs.tsv"
    make_pairs(match_outputs(files), PairsPlan()).write(path)
    dataset = load_dataset(path)
    log = lines(game("q1", "my model", "base~line", "B>A", "A>B"))
    [(item_id, label)] = labels(placed(read_system(write(tmp_path / "log.jsonl", log)), dataset)).items()
    assert item_id == dataset.ids[0]
    first = dataset.texts("candidate_a").to_pylist()[0]
    assert label is (A if first == "my model" else B)


def test_an_id_twice_is_told_with_both_lines(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="id 'q1' is already used by line 2"):
        read_system(write(tmp_path / "twice.csv", "id,verdict\nq1,A\nq1,B\n"))


def alpaca(*records: tuple[object, ...], names: tuple[str, str] = ("x", "y")) -> str:
    keys = ("instruction", "output_1", "output_2", "preference")
    also = {"generator_1": names[0], "generator_2": names[1], "annotator": "j"}
    return json.dumps([{**dict(zip(keys, record, strict=True)), **also} for record in records])


NUMBERED = "id\tinstruction\toutput_a\toutput_b\tcandidate_a\tcandidate_b\n"


@pytest.fixture
def numbered(tmp_path: Path) -> Dataset:
    """The pairs with the ids 1 to 3, so that the number of a row could be the id of another item."""
    rows = ("\t".join((str(n), *item[1:], "m", "n")) + "\n" for n, item in enumerate(ITEMS, start=1))
    return load_dataset(write(tmp_path / "numbered.tsv", NUMBERED, *rows))


def test_the_number_of_a_row_is_no_id_where_the_file_has_texts(numbered: Dataset, tmp_path: Path) -> None:
    (_, *fruit), (_, *tree), _ = ITEMS
    path = write(tmp_path / "a.json", alpaca((*tree, 2), (*fruit, 1), ("Name a car.", "A bus.", "A bee.", 1)))
    read = placed(read_system(path), numbered)
    assert labels(read) == {"2": B, "1": A, "row 3": A}
    assert labels(placed(read, numbered)) == {"2": B, "1": A, "row 3": A}


@pytest.mark.parametrize("names", [("n", "m"), ("m", "n"), ("gpt-4", "llama"), ("same", "same")])
def test_the_texts_say_that_sides_are_exchanged_whatever_the_candidates_are_called(
    names: tuple[str, str], numbered: Dataset, tmp_path: Path
) -> None:
    exchanged = alpaca(*((asked, other, one, 1) for _, asked, one, other in ITEMS), names=names)
    read = placed(read_system(write(tmp_path / "a.json", exchanged)), numbered)
    assert labels(read) == {"1": B, "2": B, "3": B}
    assert labels(placed(read, numbered)) == {"1": B, "2": B, "3": B}


def test_a_dataset_with_ids_is_of_the_items_of_its_texts(dataset: Dataset, tmp_path: Path) -> None:
    rows = (f"{item_id},{asked},{other},{one},A\n" for item_id, asked, one, other in ITEMS[:2])
    text = ("id,instruction,output_a,output_b,gpt4\n", *rows, "q3,Name a car.,A bus.,A bee.,B\n")
    read = read_system(write(tmp_path / "exchanged.csv", *text), JudgeColumn("gpt4"))
    assert labels(placed(read, dataset)) == {"q1": B, "q2": B, "q3 (other texts)": B}


def test_verdicts_of_several_annotators_on_one_item_are_told(dataset: Dataset, tmp_path: Path) -> None:
    _, *fruit = ITEMS[0]
    read = read_system(write(tmp_path / "a.json", alpaca((*fruit, 1), (*fruit, 2))))
    with pytest.raises(InputError, match=r"several verdicts on one item of gold\.tsv: q1"):
        placed(read, dataset)


def test_items_of_the_same_texts_get_a_row_each(tmp_path: Path) -> None:
    _, *fruit = ITEMS[0]
    rows = ("\t".join((item_id, *fruit)) + "\n" for item_id in ("q1", "q2"))
    dataset = load_dataset(write(tmp_path / "gold.tsv", "id\tinstruction\toutput_a\toutput_b\n", *rows))
    read = read_system(write(tmp_path / "a.json", alpaca((*fruit, 1), (*fruit, 2))))
    assert labels(placed(read, dataset)) == {"q1": A, "q2": B}


@pytest.mark.parametrize("other", ["other", "same"])
def test_of_items_with_the_same_texts_the_candidates_say_which_and_on_which_side(
    other: str, tmp_path: Path
) -> None:
    models = [("m1", "m2"), ("m1", "m3"), ("m3", "m2")]
    texts = {"instruction": "q", "output_a": "same", "output_b": other}
    rows = [{"id": f"q{m}{n}", **texts, "candidate_a": m, "candidate_b": n} for m, n in models]
    dataset = load_dataset(write(tmp_path / "gold.json", json.dumps(rows)))
    made = [
        {"instruction": "q", "output_1": other, "output_2": "same", "generator_1": n, "generator_2": m}
        | {"annotator": "judge", "preference": said}
        for (m, n), said in zip(models[::-1], (1.5, 1, 2), strict=True)
    ]
    read = read_system(write(tmp_path / "a.json", json.dumps(made)))
    assert labels(placed(read, dataset)) == {"qm1m2": A, "qm1m3": B, "qm3m2": TIE}


def test_a_log_of_other_candidates_is_of_no_item(numbered: Dataset, tmp_path: Path) -> None:
    def log(name: str) -> str:
        return lines(game("1", name, "n", "B>A", "A>B"))

    assert labels(placed(read_system(write(tmp_path / "m.jsonl", log("m"))), numbered)) == {"1": A}
    assert labels(placed(read_system(write(tmp_path / "k.jsonl", log("k"))), numbered)) == {"1~k~n": B}


def test_a_table_without_ids_says_that_its_rows_are_numbered(tmp_path: Path) -> None:
    read = read_system(write(tmp_path / "a.csv", "verdict,model\nA,x\nB,x\ntie,x\n"))
    assert isinstance(read, Verdicts)
    assert "no ids" in read.said[-1]


@pytest.mark.parametrize(
    "head", ["id,verdict,model_a,model_b", "id,overall_quality_preference,candidate_a,candidate_b"]
)
def test_a_table_that_names_the_candidates_is_turned_to_the_sides_of_the_dataset(
    head: str, numbered: Dataset, tmp_path: Path
) -> None:
    path = write(tmp_path / "a.csv", head, "\n1,A,n,m\n2,B,m,n\n3,tie,n,m\n")
    assert labels(placed(read_system(path), numbered)) == {"1": B, "2": B, "3": TIE}
