"""`audit`, as a user gives it: a model with a dataset, a stored run, and what is refused."""

import json
from pathlib import Path

import pytest

from engine.api.run import Run
from engine.data.dataset import load_dataset
from engine.results.run_results import load_results
from engine.store.run_store import RunStore
from tests.commands import ROOT, run_here
from tests.read_only import read_only

DEMO = ROOT / "examples" / "demo.tsv"
ITEMS = 10
"""As few as anything can be told by."""

OF_JUDGING = (
    *("--fresh", "--few-shot 2", "--threads 1", "--rubric task", "--shorten", "--seed 0", "--context 512"),
    *("--keep-awake mains", "--few-shot-selection nearest", "--device cpu", "--gpu-layers 0"),
    *("--kv-type f16", "--out x.tsv"),
)

pytestmark = pytest.mark.usefixtures("demo_tried")


def audit(store: Path, *words: object) -> tuple[int, str, str]:
    done = run_here("audit", *words, "--store", store)
    return done.returncode, done.stdout, done.stderr


def audit_demo(store: Path, *more: object) -> tuple[int, str, str]:
    words = ["--items", ITEMS, "--criteria", "safety", "--method", "label-tokens", "--threads", 1]
    return audit(store, "demo", DEMO, *words, *more)


@pytest.fixture(scope="module")
def audited(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str, str]:
    """A store whose run 1 is an audit, and what was printed on stdout and stderr."""
    store = tmp_path_factory.mktemp("audit") / "runs.sqlite"
    code, out, err = audit_demo(store)
    assert code == 0, err
    return store, out, err


@pytest.mark.slow
def test_the_page_is_printed_and_the_copies_are_an_ordinary_run(audited: tuple[Path, str, str]) -> None:
    store, out, err = audited
    assert "Robustness audit of the judge:" in out
    assert f"{ITEMS} items" in out
    titles = [line.split("  ")[0] for line in out.splitlines()]
    assert {"order: flip rate", "repeatability: asked again", "answer mass"} <= set(titles)
    assert "not asked with permuted label tokens" in out
    assert f"Audit: {ITEMS} of 240 items of demo.tsv and " in err
    [perturbations] = (store.parent / "audits").iterdir()
    items = load_dataset(perturbations)
    assert items.criteria[-1] == "overall_quality"
    with RunStore(store) as opened:
        results = load_results(opened, 1)
    assert results.run.identity.dataset_path == perturbations
    assert len(results.judged) == len(items) > 7 * ITEMS
    assert results.run.name == "audit with demo.tsv"
    flips = [judgment.flipped for judgment in results.judgments["safety"]]  # type: ignore[union-attr]
    own = [flip for flip, item in zip(flips, results.judged, strict=True) if "~" not in item.item_id]
    [line] = [line for line in out.splitlines() if line.startswith("order: flip rate  ")]
    assert f"{100 * sum(map(bool, own)) / ITEMS:.1f} (" in line


@pytest.mark.slow
def test_the_same_command_goes_on_with_the_same_run(audited: tuple[Path, str, str]) -> None:
    store, out, _ = audited
    code, again, err = audit_demo(store)
    assert code == 0
    assert again == out
    assert "Time:" not in err  # nothing is left to judge


def test_the_stored_run_says_the_same_and_as_json(audited: tuple[Path, str, str], tmp_path: Path) -> None:
    store, out, _ = audited
    path = tmp_path / "audit.json"
    code, again, _ = audit(store, 1, "--json", path)
    assert code == 0
    assert again.removeprefix(f"Audit: {path}\n\n").strip() == out.strip()
    found = json.loads(path.read_text("utf-8"))
    assert found["items"] == ITEMS
    assert [line["line"] for line in found["lines"]][-1] == "speed"
    assert all(line["interval"] for line in found["lines"] if line["value"] is not None)


@pytest.mark.slow
def test_other_words_are_asked_of_the_items_alone_and_found_again(
    audited: tuple[Path, str, str], tmp_path: Path
) -> None:
    store, (probes,) = tmp_path / "runs.sqlite", (audited[0].parent / "audits").iterdir()
    store.write_bytes(audited[0].read_bytes())
    code, planned, _ = audit_demo(store, "--out", probes, "--reworded", "--plan")
    assert code == 0
    assert planned.count(f"demo-judge on {ITEMS} items of") == 2
    code, out, _ = audit_demo(store, "--out", probes, "--reworded")
    assert code == 0
    assert "wording: the same in other words" in out
    assert audit(store, 1)[1] == out
    assert any("the same in other words" in line for line in Run(1, store).audit()["line"])
    with RunStore(store) as opened:
        runs = [load_results(opened, number) for number in (2, 3)]
        assert [len(run.judged) for run in runs] == [ITEMS, ITEMS]
    assert "in other words" not in audit(store, 2)[1].split("Robustness audit")[1]  # itself in other words
    rubric = tmp_path / "own.toml"
    criterion = '[[criteria]]\nname = "wit"\nquestion = "Is it witty?"'
    rubric.write_text(f'name = "own"\n{criterion}\n[wording]\nverdict = "Urteil:"\n', "utf-8")
    code, _, err = audit(store, "demo", DEMO, "--rubric", rubric, "--out", tmp_path / "x.tsv", "--reworded")
    assert code == 2
    assert "has a wording of its own" in err
    assert not (tmp_path / "x.tsv").exists()


def test_a_run_whose_dataset_is_gone_needs_the_file(audited: tuple[Path, str, str], tmp_path: Path) -> None:
    store, out, _ = audited
    [perturbations] = (store.parent / "audits").iterdir()
    moved = tmp_path / "moved.tsv"
    moved.write_bytes(perturbations.read_bytes())
    perturbations.rename(tmp_path / "away")
    try:
        code, _, err = audit(store, 1)
        assert code == 2
        assert "name its file with --gold" in err
        assert audit(store, 1, "--gold", moved)[1] == out
    finally:
        (tmp_path / "away").rename(perturbations)


def test_the_plan_judges_and_overwrites_nothing_but_takes_the_same_copies(tmp_path: Path) -> None:
    store, out = tmp_path / "runs.sqlite", tmp_path / "probes.tsv"
    out.write_text("mine\n", encoding="utf-8")
    code, _, err = audit_demo(store, "--plan", "--out", out)
    assert code == 2
    assert "already exists, and --plan overwrites nothing" in err
    assert out.read_text("utf-8") == "mine\n"
    out.unlink()
    for _ in range(2):
        code, printed, err = audit_demo(store, "--plan", "--out", out)
        assert code == 0, err
        assert "Time: about" in printed
        assert "items x 1 criterion x both orders" in printed
    assert len(load_dataset(out)) > 7 * ITEMS
    assert not (tmp_path / "audits").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["demo"], "a dataset is missing"),
        (["1", "--items", "5"], "--items has no effect with run 1"),
        (["1", "--plan"], "--plan has no effect with run 1"),
        *(
            (["1", *option.split()], f"{option.split()[0]} has no effect with run 1, which is judged already")
            for option in OF_JUDGING
        ),
        (["1", "--columns", "id=uid"], "--columns has no effect with run 1, whose dataset is read as it was"),
        (["1"], "There is no run store"),
        (["demo", DEMO, "--items", "0"], "The number of items to audit with is 0"),
        (["demo", DEMO, "--gold", DEMO], "--gold names labels for the items of a stored run"),
        (["demo", DEMO, "--out", "x.json"], "write the audit itself: --json x.json"),
        (["demo", DEMO, "--out", "x.csv"], "the items and perturbations are stored there as TSV"),
        (["demo", DEMO, "--criteria", "wit"], "Unknown criterion: wit"),
        (["demo", DEMO, "--criteria", ""], "--criteria: cannot read ''."),
    ],
)
def test_what_cannot_be_audited_is_refused(words: list[object], said: str, tmp_path: Path) -> None:
    code, _, err = audit(tmp_path / "runs.sqlite", *words)
    assert code == 2
    assert said in err
    assert not (tmp_path / "audits").exists()  # no copies either


def test_where_the_usual_folder_cannot_be_written_another_place_can_be_named(tmp_path: Path) -> None:
    store, folder = tmp_path / "runs.sqlite", tmp_path / "audits"
    folder.mkdir()
    with read_only(folder):
        code, _, err = audit_demo(store, "--plan")
        assert code == 2
        assert str(folder) in err
        assert "--out FILE.tsv" in err
        assert audit_demo(store, "--plan", "--out", tmp_path / "copies.tsv")[0] == 0
