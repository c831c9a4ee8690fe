"""The speed of a model file: measured apart, remembered for its content and the settings."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from engine.core.errors import ModelFileError
from engine.core.events import Cancelled, CancelToken, followed
from engine.llama.speed import ModelSpeed
from engine.models.model_file import ModelFile, read_model_file
from engine.models.opening import SpeedOfFile, known_hash, measure_speed, remembered_speed, speed_of
from engine.settings.rows import Device, DeviceKind, MachineSettings
from engine.system.paths import cache_folder
from engine.system.subprocess_worker import InProcessWorker, SubprocessWorker

SmallModel = Callable[[str], Path]
ONE = MachineSettings(1, 0)


@pytest.fixture
def model(tried_model: SmallModel) -> ModelFile:
    return read_model_file(tried_model("headers"))


def measured(model: ModelFile, machine: MachineSettings = ONE, again: bool = False) -> SpeedOfFile:
    cancel = CancelToken()
    start = partial(InProcessWorker, measure_speed, cancel)
    return followed(speed_of(model, machine, cancel, start, again))


def nobody() -> InProcessWorker[..., None, ModelSpeed]:
    raise AssertionError("nothing was to be measured")


@pytest.mark.slow
def test_a_speed_is_measured_apart_and_remembered(model: ModelFile) -> None:
    cancel = CancelToken()
    start = partial(SubprocessWorker, measure_speed, cancel)
    file_hash, speed = followed(speed_of(model, ONE, cancel, start))
    assert remembered_speed(file_hash, ONE) == speed
    assert known_hash(model.files) == file_hash
    again = followed(speed_of(model, ONE, cancel, nobody))  # type: ignore[arg-type]
    assert again == (file_hash, speed)


def test_it_is_that_of_these_threads_this_device_build_and_processor_alone(
    model: ModelFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    file_hash, speed = measured(model)
    assert remembered_speed(file_hash, ONE) == speed
    on_device = MachineSettings(1, 5, device=Device("Vulkan0", "A card", "Vulkan", DeviceKind.GPU))
    for other in (MachineSettings(2, 0), MachineSettings(1, 0, adapts=True), on_device):
        assert remembered_speed(file_hash, other) is None
    assert remembered_speed("0" * 64, ONE) is None
    for name in ("library_version", "processor_features"):
        with monkeypatch.context() as patch:
            patch.setattr(f"engine.models.opening.{name}", lambda: "another")
            assert remembered_speed(file_hash, ONE) is None


def test_again_measures_anew_and_of_a_file_that_nobody_read_no_hash_is_known(
    model: ModelFile, tmp_path: Path
) -> None:
    first, kept, anew = (measured(model, again=again).speed for again in (False, False, True))
    assert kept == first
    assert anew != first
    assert known_hash([tmp_path / "none.gguf"]) is None


def test_a_damaged_memory_is_not_believed(model: ModelFile) -> None:
    file_hash, _ = measured(model)
    with closing(sqlite3.connect(cache_folder() / "models.sqlite", isolation_level=None)) as db:
        for text in ("", "[]", '{"reading": 1}', '{"reading": -5}', b"\xff"):
            db.execute("UPDATE speed SET speed = ?", (text,))
            assert remembered_speed(file_hash, ONE) is None
    measured(model)
    assert remembered_speed(file_hash, ONE) is not None


def test_a_stop_measures_and_remembers_nothing(model: ModelFile) -> None:
    cancel = CancelToken()
    start = partial(SubprocessWorker, measure_speed, cancel)
    with pytest.raises(Cancelled):
        followed(speed_of(model, ONE, cancel, start), lambda _event: cancel.cancel())
    assert remembered_speed(known_hash(model.files) or "", ONE) is None


def test_a_file_that_changes_under_way_is_named(model: ModelFile, tmp_path: Path) -> None:
    path = tmp_path / "changing.gguf"
    path.write_bytes(model.path.read_bytes())
    changing = read_model_file(path)

    def start() -> InProcessWorker[..., None, ModelSpeed]:
        with path.open("ab") as file:
            file.write(b"more")
        return InProcessWorker(measure_speed, CancelToken())  # type: ignore[arg-type]

    with pytest.raises(ModelFileError, match="has changed since it was checked"):
        followed(speed_of(changing, ONE, CancelToken(), start))  # type: ignore[arg-type]
