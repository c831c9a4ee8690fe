"""--by and --slice of `evaluate`, `compare`, `weigh` and `report`."""

import json
import re
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from engine.annotations.records import new_note
from engine.core.errors import SetupError
from engine.data.dataset import load_dataset
from engine.store.run_store import RunStore
from tests.commands import ended, run_here
from tests.commands import give as given
from tests.conftest import DEMO_ITEMS as ITEMS
from tests.engine.cli.in_process import Command, row, safety_alone


@pytest.fixture
def sliced_gold(demo_gold: Path, tmp_path: Path) -> Path:
    """`demo_gold` with two further columns: a hostile name, and the kind of every item."""
    lines = demo_gold.read_text(encoding="utf-8").splitlines()
    path = tmp_path / "sliced.tsv"
    kinds = ["", *(("chat", "\x1b[31mtask", "rare")[min(n % 5, 2) if n < 9 else n % 2] for n in range(ITEMS))]
    more = ["kind", *kinds[1:]]
    path.write_text("".join(f"{line}\t{text}\n" for line, text in zip(lines, more, strict=True)), "utf-8")
    return path


def test_evaluate_by_slice_counts_each_item_once(command: Command, sliced_gold: Path, tmp_path: Path) -> None:
    file = tmp_path / "scores.json"
    shown = command("evaluate", 1, "--gold", sliced_gold, "--by", "kind", "--by", "longer", "--json", file)
    assert "\x1b" not in shown
    assert "\\x1b[31mtask" in shown
    assert "under 10 instructions: too few" in shown
    assert "Many slices mean multiple comparisons" in shown
    details = json.loads(file.read_text())["details"]
    assert [found["by"] for found in details["slices"]] == ["kind", "longer"]
    for found in details["slices"]:
        assert sum(part["items"] for part in found["slices"]) == ITEMS
    assert details["slice"] is None


def test_evaluate_states_the_accuracy_for_a_mix_and_refuses_what_is_none(
    command: Command, sliced_gold: Path, tmp_path: Path
) -> None:
    file = tmp_path / "scores.json"
    by = ("evaluate", 1, "--gold", sliced_gold, "--by", "longer")
    shown = command(*by, "--mix", "A=0.6,B=0.4", "--json", file)
    assert "60.0 % A, 40.0 % B." in shown
    details = json.loads(file.read_text())["details"]
    parts = {part["key"]: part["criteria"] for part in details["slices"][0]["slices"]}
    for name, (value, ends) in details["mix"]["accuracy"].items():
        assert ends[0] <= value <= ends[1]
        if name != "mean":
            shares = ((0.6, parts["A"]), (0.4, parts["B"]))
            assert value == pytest.approx(sum(share * of[name]["accuracy"] for share, of in shares))
    for words, problem in (
        (["--mix", "A=0.6,B=0.3"], "add up to 0.9, not 1"),
        (["--mix", "A=0.6,code=0.4"], "The mix has the slice 'code', and no item is in it"),
        (["--mix", "A=1.2,B=-0.2"], "The share of 'B' is -0.2"),
        (["--mix", "A"], "--mix: cannot read 'A'"),
        (["--by", "script", "--mix", "A=1"], "--mix needs to know what its slices are by"),
    ):
        with pytest.raises(SetupError, match=re.escape(problem)):
            command(*by, *words)


def test_weigh_and_compare_divide_the_items(
    command: Command, sliced_gold: Path, demo_store: Path, tmp_path: Path
) -> None:
    file = tmp_path / "weighed.json"
    shown = command("weighted-score", 1, "--gold", sliced_gold, "--by", "longer", "--json", file)
    assert "which response is longer" in shown
    [found] = json.loads(file.read_text())["slices"]
    assert sum(part["items"] for part in found["slices"]) == ITEMS
    submission = demo_store.with_name("submission.tsv")
    shown = command("compare", 1, submission, "--gold", sliced_gold, "--by", "kind", "--json", file)
    assert re.search(r" 0\.0 \(-(\d+\.\d) to \1\) ", shown)
    slices = json.loads(file.read_text())["slices"]
    assert set(slices) == {"run 1", "submission.tsv"}


def test_weigh_divides_items_without_gold_labels(sliced_gold: Path, demo_store: Path, tmp_path: Path) -> None:
    """The dataset of the run itself, where no other is named; a table without labels for a submission."""
    rows = [line.split("\t") for line in sliced_gold.read_text("utf-8").splitlines()]
    bare, file = tmp_path / "bare.tsv", tmp_path / "weighed.json"
    bare.write_text("".join("\t".join((*cells[:4], cells[-1])) + "\n" for cells in rows), "utf-8")
    store = Path(shutil.copy(demo_store, tmp_path / "bare.sqlite"))
    with closing(sqlite3.connect(store)) as opened, opened:
        opened.execute("UPDATE run SET dataset_path = ?", (str(bare),))
    submission = demo_store.with_name("submission.tsv")
    for words in (["1"], ["1", "--gold", bare], [submission, "--gold", bare]):
        given = ["weighted-score", *words, "--by", "kind", "--json", file, "--store", store]
        done = ended(*given)
        assert "A wins" in done.stdout
        assert "as people" not in done.stdout
        assert ("bare.tsv has no human overall label" in done.stderr) == ("--gold" in words)
        [found] = json.loads(file.read_text("utf-8"))["slices"]
        assert sum(part["items"] for part in found["slices"]) == ITEMS
        one = run_here(*given, "--slice", "kind=chat")
        assert row(one.stdout, "comparisons")[-1] == str(sum(cells[-1] == "chat" for cells in rows))


@pytest.mark.slow
def test_commands_divide_the_items_by_the_tags_of_people(
    demo_gold: Path, demo_store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = Path(shutil.copy(demo_store, tmp_path / "tagged.sqlite"))
    hashes = [item.content_hash for item in load_dataset(demo_gold)]
    with RunStore(store) as opened:
        opened.annotate(None, new_note(hashes[0], "", ["hard", "odd"], "Ada"))
        opened.annotate(None, new_note(hashes[1], "", ["hard"], "Ben"))
    submission = demo_store.with_name("submission.tsv")

    gold = safety_alone(demo_gold, tmp_path)

    def give(name: str, *words: object) -> str:
        assert given(name, *words, "--gold", gold, "--store", store) == 0
        return capsys.readouterr().out

    for system in (1, submission):
        file = tmp_path / "scores.json"
        give("evaluate", system, "--by", "tag", "--json", file)
        [found] = json.loads(file.read_text())["details"]["slices"]
        parts = [(part["key"], part["items"]) for part in found["slices"]]
        assert parts == [("hard", 2), ("odd", 1), ("", ITEMS - 2)]
    shown = give("compare", 1, submission, "--slice", "tag=hard", "--by", "tag")
    assert "On 2 items with the human labels of safety.tsv: tag = hard" in shown
    assert "A wins" in shown
    page = tmp_path / "report.html"
    give("report", 1, "--by", "tag", "--out", page)
    assert "<h2>By tag</h2>" in page.read_text("utf-8")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("evaluate", "1", "--slice", "kind=chad"), "no item with kind = 'chad'"),
        (("weighted-score", "1", "--by", "kind"), "gold.tsv cannot be sliced by 'kind'"),
        (("weighted-score", "x.tsv", "--by", "kind"), "--by and --slice need the dataset of the items."),
    ],
)
def test_a_slice_that_is_not_there_is_said_before_anything_is_measured(
    sliced_gold: Path, demo_store: Path, words: tuple[str, ...], says: str
) -> None:
    gold = () if words[0] == "weighted-score" else ("--gold", str(sliced_gold))
    words = tuple(str(demo_store.with_name("submission.tsv")) if word == "x.tsv" else word for word in words)
    with pytest.raises(SetupError) as error:
        given(*words, *gold, "--store", demo_store)
    assert says in error.value.problem
