"""Sound files beside which something is at fault: a dataset, a submission, a store with two runs on it. And
commands in this process, with folders of their own.

No model has judged: the readings are written out, so that they are there at once.
"""

import math
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, replace
from hashlib import sha256
from io import StringIO
from pathlib import Path

from engine.annotations.records import new_note, new_override, new_review
from engine.cli.shared.console import guarded
from engine.core.items import PREFERENCES, Item, Order, Preference
from engine.core.judgments import Explanation, JudgedItem, RawPrediction, ReviewState
from engine.core.rubric import ELOQUENT
from engine.data.dataset import Dataset, load_dataset
from engine.data.submission import write_submission
from engine.judging.plan import RunPlan
from engine.models.checked_model import CheckedModel
from engine.models.model_file import read_model_file
from engine.results.run_results import load_results, submission_of
from engine.settings.rows import JudgeSettings, MachineSettings, Mode
from engine.store.run_store import RunStore
from engine.system.paths import demo_dataset, demo_model
from main import main

_ITEMS = 24


@dataclass(frozen=True)
class SoundFiles:
    """All in one folder. Run 1 of the store explains, run 2 does not; people said something of both."""

    folder: Path

    @property
    def dataset(self) -> Path:
        return self.folder / "gold.tsv"

    @property
    def submission(self) -> Path:
        return self.folder / "submission.tsv"

    @property
    def store(self) -> Path:
        return self.folder / "runs.sqlite"

    @property
    def model(self) -> Path:
        return demo_model()


def sound_files(folder: Path) -> SoundFiles:
    """The sound files in a folder of cases, made where they are missing."""
    sound = SoundFiles(folder / "sound")
    if not sound.folder.exists():
        made = SoundFiles(folder / "sound-begun")
        made.folder.mkdir(parents=True)
        _make(made)
        made.folder.rename(sound.folder)
    return sound


def copy_of_store(sound: SoundFiles, folder: Path) -> Path:
    return Path(shutil.copy(sound.store, folder / "runs.sqlite"))


def _make(sound: SoundFiles) -> None:
    lines = demo_dataset().read_bytes().split(b"\n")[: _ITEMS + 1]
    sound.dataset.write_bytes(b"\n".join(lines) + b"\n")
    dataset, state = load_dataset(sound.dataset), demo_model().stat()
    content = sha256(demo_model().read_bytes()).hexdigest()
    name = read_model_file(demo_model()).name
    model = CheckedModel(demo_model(), name, content, state.st_size, state.st_mtime_ns)
    explaining = JudgeSettings(context=4096, max_explanation_tokens=40)
    with RunStore(sound.store) as store:
        for settings in (explaining, replace(explaining, mode=Mode.LABELS)):
            _add_run(store, RunPlan(dataset, ELOQUENT, settings, MachineSettings(1, 0), model))
        write_submission(sound.submission, submission_of(load_results(store, 1)))
    for end in ("-wal", "-shm"):
        sound.store.with_name(sound.store.name + end).unlink(missing_ok=True)


def _add_run(store: RunStore, plan: RunPlan) -> None:
    dataset: Dataset = plan.dataset
    with store.begin(plan.identity()) as run:
        store.describe(run.id, {"llama_cpp": "b1", "threads": 1, "continued_with": [{"threads": 2}]})
        store.add(run.id, [_judged(place, item, plan.settings) for place, item in enumerate(dataset)])
        first, label = dataset[0].id, Preference.BOTH_GOOD
        store.annotate(run.id, new_override(first, "safety", label, "Both are kind.", "Ada"))
        store.annotate(run.id, new_review(first, "Ada", ReviewState.DONE, {"relevance": label}))
        store.annotate(None, new_note(dataset[0].content_hash, "Odd.", ["odd"], "Ada"))


def _judged(place: int, item: Item, settings: JudgeSettings) -> JudgedItem:
    """An item whose labels follow its place, so that there is something to measure."""
    liked = PREFERENCES[place % 4]
    log_probs = tuple(math.log(0.7 if label is liked else 0.1) for label in PREFERENCES)
    a, b, good, bad = log_probs
    raw_predictions = (RawPrediction(Order.BA, (b, a, good, bad)), RawPrediction(Order.AB, (a, b, good, bad)))
    names = ELOQUENT.names if place else ELOQUENT.names[1:]
    judged = JudgedItem(
        place,
        item.id,
        item.content_hash,
        raw_predictions=dict.fromkeys(names, raw_predictions),
        unscored={} if place else {ELOQUENT.names[0]: "too long"},
        seconds=0.5,
        tokens_read=100,
        tokens_generated=7,
    )
    if not settings.explains:
        return judged
    return replace(judged, explanations=dict.fromkeys(names, Explanation("It is better.", liked)))


_HOME = "TIEBREAK_HOME"


def command(words: Sequence[str]) -> tuple[int, str]:
    printed = _Printed()
    with redirect_stdout(printed), redirect_stderr(printed):
        code = guarded(lambda: main(list(words)))
    return code, printed.getvalue()


class _Printed(StringIO):
    """Takes what is printed; on Windows a stream is asked for its name."""

    name = "<printed>"


@contextmanager
def home_in(folder: Path | str) -> Iterator[bool]:
    """The program's folders are in this one; false where the system takes no such name."""
    before = os.environ.get(_HOME)
    try:
        try:
            os.environ[_HOME] = str(folder)
        except ValueError:
            yield False
            return
        yield True
    finally:
        os.environ.pop(_HOME, None)
        if before is not None:
            os.environ[_HOME] = before
