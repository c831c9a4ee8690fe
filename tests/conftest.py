"""What all tests share: the folder of real data, where there is one, and a private home for each test."""

import gc
import logging
import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from functools import cache
from pathlib import Path

import hypothesis
import pytest
from filelock import FileLock
from pyarrow import csv, parquet

from engine.core.events import CancelToken
from engine.data.dataset import load_dataset
from engine.data.submission import write_submission
from engine.models.checked_model import checked_model
from engine.models.model_file import read_model_file, template_source
from engine.models.templates import chat_template
from engine.prompt.conversation import Frame
from engine.prompt.rendering import render_frame
from engine.results.run_results import submission_of
from engine.settings.rows import JudgeSettings
from engine.store.run_store import RunStore
from engine.system.paths import cache_folder, demo_model
from tests.small_models import FAMILIES, real_model
from tests.steps import judge, plan_with, results_of, vocabulary_of

DEMO_ITEMS = 30
ROOT = Path(__file__).resolve().parent.parent

# What a property test finds it finds among its first examples; who changes what it tests lets it try many:
# --hypothesis-profile=many. No deadline: a busy computer proves nothing.
hypothesis.settings.register_profile("few", max_examples=30, deadline=None)
hypothesis.settings.register_profile("many", max_examples=1000, deadline=None)
hypothesis.settings.load_profile("few")

# It warns where its list of fonts takes more than five seconds to make, as on a busy computer.
logging.getLogger("matplotlib.font_manager").setLevel(logging.ERROR)


# The list of fonts is made once for all tests, not for the home of each: a second of a processor.
os.environ.setdefault("MPLCONFIGDIR", str(ROOT / ".pytest_cache" / "matplotlib"))

# By itself the collector runs on any thread, and windows that tests left behind must not end on another one.
gc.disable()


def pytest_collection_finish() -> None:
    """What all tests import stays: whoever clears away after them need not look through it each time."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def collected() -> Iterator[None]:
    """What a test leaves behind is cleared away on the thread of the tests."""
    yield
    if gc.get_count()[0] > gc.get_threshold()[0]:
        gc.collect(1)


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Real data beside the checkout (or where TIEBREAK_TEST_DATA points); skips where it is absent."""
    folder = Path(os.environ.get("TIEBREAK_TEST_DATA", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip("no real data: set TIEBREAK_TEST_DATA to the folder that holds eloquent/ and human/")
    return folder


@pytest.fixture(scope="session")
def small_model(tmp_path_factory: pytest.TempPathFactory, shared_home: Path) -> Callable[[str], Path]:
    """The file of a small model with random weights, by its family in small_models.py. This process knows how
    its chat template is rendered: two others would take a second of a processor (test_templates.py has them).
    """
    folder = tmp_path_factory.mktemp("models")

    @cache
    def small_model(family: str) -> Path:
        path = FAMILIES[family](folder / f"{family}.gguf")
        with pytest.MonkeyPatch.context() as patch, vocabulary_of(path) as vocabulary:
            _move_into(shared_home, patch)
            patch.setattr("engine.models.templates._rendered_apart", _rendered_here)
            chat_template(template_source(path) or None, vocabulary, CancelToken())
        return path

    return small_model


def _rendered_here(asked: Mapping[str, str], _cancel: CancelToken) -> Frame:
    return render_frame(asked["source"], asked["bos"], asked["eos"], with_system=bool(asked["with_system"]))


@pytest.fixture(scope="session")
def real_tokenizer_model(
    shared_data: Path, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], Path]:
    """The file of a model with random weights behind a real tokenizer, by its pair in REAL_PAIRS."""
    folder = tmp_path_factory.mktemp("tokenizers")
    return cache(lambda pair: real_model(shared_data, pair, folder / f"{pair}.gguf"))


@pytest.fixture(scope="session")
def demo_gold(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The first DEMO_ITEMS items of the demo dataset, with their labels."""
    lines = (ROOT / "examples" / "demo.tsv").read_bytes().split(b"\n")[: DEMO_ITEMS + 1]
    path = tmp_path_factory.mktemp("demo") / "gold.tsv"
    path.write_bytes(b"\n".join(lines) + b"\n")
    return path


@pytest.fixture
def demo_file(demo_gold: Path, tmp_path: Path) -> Callable[[str], Path]:
    """`demo_gold` as a file of a kind: tsv or parquet."""

    def demo_file(suffix: str) -> Path:
        if suffix == "tsv":
            return demo_gold
        path = tmp_path / "gold.parquet"
        options = csv.ParseOptions(delimiter="\t", newlines_in_values=True)
        parquet.write_table(csv.read_csv(demo_gold, parse_options=options), path)
        return path

    return demo_file


@pytest.fixture(scope="session")
def demo_store(demo_gold: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store whose run 1 is `demo_gold` judged by the demo model; beside it lies its `submission.tsv`.

    Tests that change it put it back. One process judges for all of them; each has files of its own.
    """
    path = demo_gold.with_name("runs.sqlite")
    own = tmp_path_factory.getbasetemp()
    judged = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "judged-demo"
    with FileLock(judged.with_suffix(".lock")):
        judged.mkdir(exist_ok=True)
        if not (judged / "submission.tsv").exists():  # which is written last
            _judge_demo(demo_gold, judged / path.name)
    shutil.copytree(judged, path.parent, dirs_exist_ok=True)
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("UPDATE run SET dataset_path = ?", (str(demo_gold),))
    return path


def _judge_demo(gold: Path, path: Path) -> None:
    settings = JudgeSettings(context=4096, max_explanation_tokens=40)
    judge(plan_with(demo_model(), load_dataset(gold), settings), path)
    write_submission(path.with_name("submission.tsv"), submission_of(results_of(path)))


@pytest.fixture
def demo_copy(demo_store: Path, tmp_path: Path) -> Path:
    """A copy of `demo_store` that a test may change."""
    return Path(shutil.copy(demo_store, tmp_path / "runs.sqlite"))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RunStore]:
    """A store without runs, open."""
    with RunStore(tmp_path / "runs.sqlite") as opened:
        yield opened


@pytest.fixture
def save(tmp_path: Path) -> Callable[[str, bytes], Path]:
    """Puts bytes into a file of a name; its path."""

    def save(name: str, data: bytes) -> Path:
        path = tmp_path / name
        path.write_bytes(data)
        return path

    return save


def _move_into(home: Path, patch: pytest.MonkeyPatch) -> Path:
    patch.setenv("HOME", str(home))
    patch.setenv("USERPROFILE", str(home))
    patch.setenv("TIEBREAK_HOME", str(home / "tiebreak"))
    return home


@pytest.fixture(scope="session", autouse=True)
def shared_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """What serves several tests cannot reach the user's real store, cache or models either."""
    with pytest.MonkeyPatch.context() as patch:
        yield _move_into(tmp_path_factory.mktemp("home"), patch)


@pytest.fixture(autouse=True)
def private_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No test can reach the user's real store, cache or models."""
    home = tmp_path / "home"
    home.mkdir()
    return _move_into(home, monkeypatch)


@pytest.fixture(autouse=True)
def no_unexpected_logs(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """A stray warning or error log fails the test; one that expects them checks and clears them."""
    yield
    bad = [record.message for record in caplog.get_records("call") if record.levelno >= logging.WARNING]
    assert not bad


@pytest.fixture(scope="session")
def tried(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Path], Path]:
    """Tries a model in a child process, which takes seconds; what is remembered once it was, and others. What
    one process tried none tries again.
    """
    own = tmp_path_factory.getbasetemp()
    common = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "tried"

    @cache
    def tried(path: Path) -> Path:
        with FileLock(common.with_suffix(".lock")), pytest.MonkeyPatch.context() as patch:
            _move_into(common, patch)
            checked_model(read_model_file(path), CancelToken())
            return Path(shutil.copy(cache_folder() / "models.sqlite", own))

    return tried


@pytest.fixture
def tried_before(tried: Callable[[Path], Path], private_home: Path) -> Callable[[Path], Path]:
    """Lets a model have been tried before, as on any day but the first; its file."""

    def tried_before(path: Path) -> Path:
        cache_folder().mkdir(parents=True, exist_ok=True)
        shutil.copy(tried(path), cache_folder())
        return path

    return tried_before


@pytest.fixture
def demo_tried(tried_before: Callable[[Path], Path]) -> None:
    """The demo model was tried before."""
    tried_before(demo_model())


@pytest.fixture
def tried_model(
    small_model: Callable[[str], Path], tried_before: Callable[[Path], Path]
) -> Callable[[str], Path]:
    """The file of a small model that was tried before, by its family in small_models.py."""
    return lambda family: tried_before(small_model(family))
