"""A model in another format: the same one, with its origin, whole or not at all, over nothing else."""

import threading
from collections import namedtuple
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from engine.core.errors import Hint, ModelFileError, NoRoomError, SetupError, Step
from engine.core.events import Cancelled, CancelToken, MeasureProgress, Preparing, followed
from engine.llama.quantizer import quantise
from engine.models.checked_model import CheckedModel, checked_model
from engine.models.conversion import Conversion, convert, plan_conversion, quantising, target_name
from engine.models.header import read_header
from engine.models.model_file import read_model_file
from engine.models.weights import WeightFormat, bits_per_weight, expected_bytes
from engine.system.paths import demo_model, models_folder
from engine.system.subprocess_worker import InProcessWorker, SubprocessWorker
from tests.random_models import HEADERS, Shape, byte_level_bpe, write_random_model
from tests.small_models import HEADER_TOKENS, SPLIT, split_model

SmallModel = Callable[[str], Path]
Event = Preparing | MeasureProgress


def converted(planned: Conversion, received: list[Event] | None = None) -> CheckedModel:
    cancel = CancelToken()
    tell = (lambda _event: None) if received is None else received.append
    return followed(convert(planned, cancel, partial(InProcessWorker, quantising, cancel)), tell)


def written(planned: Conversion) -> Path:
    """The new file alone, by the quantiser: nothing is tried in a process of its own."""
    quantise(planned.source.path, planned.target, planned.to.value, {}, threads=1)
    return planned.target


@pytest.fixture(scope="module")
def wide_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model in F16 whose rows are whole blocks of every format."""
    shape = Shape(layers=2, width=512, heads=8, kv_heads=8, feed_forward=1024)
    path = tmp_path_factory.mktemp("wide") / "wide-F16.gguf"
    return write_random_model(path, byte_level_bpe(HEADER_TOKENS), HEADERS, shape)


@pytest.fixture
def wide(wide_model: Path, tried_before: Callable[[Path], Path]) -> Path:
    """The same, tried before."""
    return tried_before(wide_model)


@pytest.mark.slow
def test_a_model_is_converted_apart_and_tells_its_origin(demo_tried: None) -> None:
    planned = plan_conversion(demo_model(), WeightFormat.Q8_0)
    cancel, received = CancelToken(), list[Event]()
    made = followed(convert(planned, cancel, partial(SubprocessWorker, quantising, cancel)), received.append)
    assert made.path == models_folder() / "demo-judge-Q8_0.gguf"
    source = checked_model(planned.source, cancel)
    values = read_header(made.path).metadata
    assert values["general.source.file"] == "demo-judge.gguf"
    assert values["general.source.sha256"] == source.hash
    assert values["general.source.quantization"] == "F16"
    assert "llama.cpp" in str(values["general.quantized_by"])
    described = read_model_file(made.path)
    assert (described.quantisation, described.notice) == ("Q8_0", planned.source.notice)
    assert [event.what for event in received if isinstance(event, Preparing)] == [
        "Checking the model file",
        "Trying the new file",
    ]
    assert MeasureProgress(100, 100) in received
    assert [path.name for path in models_folder().iterdir()] == ["demo-judge-Q8_0.gguf"]


@pytest.mark.slow
@pytest.mark.parametrize("to", [to for to in WeightFormat if to is not WeightFormat.F16])
def test_each_format_is_written_as_large_as_was_said(
    wide_model: Path, tmp_path: Path, to: WeightFormat
) -> None:
    planned = plan_conversion(wide_model, to, tmp_path / "made.gguf")
    made = read_model_file(written(planned))
    assert made.quantisation == to.label
    assert 0.8 <= made.size_bytes / planned.expected <= 1.02


@pytest.mark.parametrize("to", [WeightFormat.Q4_0, WeightFormat.Q4_K_M, WeightFormat.Q6_K])
def test_rows_that_are_no_whole_blocks_take_no_more_than_was_said(tmp_path: Path, to: WeightFormat) -> None:
    planned = plan_conversion(demo_model(), to, tmp_path / "made.gguf")
    assert 0.5 <= written(planned).stat().st_size / planned.expected <= 1.02


@pytest.mark.slow
def test_a_split_model_becomes_one_file(tmp_path: Path) -> None:
    first = split_model(tmp_path)
    planned = plan_conversion(first.with_name(SPLIT[1]), WeightFormat.Q8_0)
    made = converted(planned)
    assert not any(key.startswith("split.") for key in read_header(made.path).metadata)
    before = read_model_file(first)
    after = read_model_file(made.path)
    assert (after.parameters, after.more_files) == (before.parameters, ())
    assert read_header(made.path).metadata["general.source.file"] == SPLIT[0]


@pytest.mark.parametrize(
    ("called", "to", "expected"),
    [
        ("SmolLM2-135M-Instruct-Q8_0", WeightFormat.Q4_0, "SmolLM2-135M-Instruct-Q4_0.gguf"),
        ("model.Q4_K_M.imatrix", WeightFormat.Q8_0, "model.Q8_0.imatrix.gguf"),
        ("gemma-2-2b-it", WeightFormat.BF16, "gemma-2-2b-it-BF16.gguf"),
        ("Qwen3-8B/model", WeightFormat.F16, "Qwen3-8B-model-F16.gguf"),
        ("llama3.2:3b", WeightFormat.Q6_K, "llama3.2-3b-Q6_K.gguf"),
        ("n" * 255, WeightFormat.Q6_K, "n" * 120 + "-Q6_K.gguf"),
    ],
)
def test_the_new_file_is_called_by_its_format(called: str, to: WeightFormat, expected: str) -> None:
    assert target_name(replace(read_model_file(demo_model()), name=called), to) == expected


@pytest.mark.slow
def test_nothing_is_written_over(wide: Path, tmp_path: Path) -> None:
    target = tmp_path / "made.gguf"
    planned = plan_conversion(wide, WeightFormat.Q8_0, target)
    target.write_bytes(b"mine")
    with pytest.raises(SetupError, match=r"made\.gguf exists already, and is not overwritten"):
        plan_conversion(wide, WeightFormat.Q8_0, target)
    with pytest.raises(SetupError, match="is not overwritten"):  # it came meanwhile
        converted(planned)
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["made.gguf"]
    assert target.read_bytes() == b"mine"
    with pytest.raises(SetupError, match="is not overwritten"):
        plan_conversion(wide, WeightFormat.Q8_0, wide)


def test_a_small_quantisation_is_refused_but_for_whoever_wants_it(wide_model: Path, tmp_path: Path) -> None:
    small = written(plan_conversion(wide_model, WeightFormat.Q4_0, tmp_path / "small-Q4_0.gguf"))
    with pytest.raises(SetupError, match="rounded again, which may break the model") as caught:
        plan_conversion(small, WeightFormat.Q4_K_M)
    assert caught.value.hint == Hint(Step.ALLOW_SMALL_SOURCE)
    with pytest.raises(SetupError, match=r"4\.5 bits for each weight\. The precision lost by Q4_0 stays"):
        plan_conversion(small, WeightFormat.Q8_0)
    made = written(plan_conversion(small, WeightFormat.Q8_0, lossy_source=True))
    assert bits_per_weight(read_header(made).tensors) == 8.5
    full = written(plan_conversion(made, WeightFormat.F16, tmp_path / "full.gguf"))
    assert read_model_file(full).quantisation == "F16"


def test_a_format_that_it_has_is_refused(demo_tried: None) -> None:
    with pytest.raises(SetupError, match="demo-judge is in F16 already"):
        plan_conversion(demo_model(), WeightFormat.F16)


def test_too_little_room_is_said_before(wide: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr("engine.system.files.shutil.disk_usage", lambda _path: usage(9, 9, 20 << 20))
    with pytest.raises(SetupError, match=r"has room for 20 MiB; wide-F16 takes about \d+ MiB in Q8_0"):
        plan_conversion(wide, WeightFormat.Q8_0, tmp_path / "made.gguf")
    assert not list(tmp_path.glob("*.gguf"))


def test_a_stop_leaves_nothing(wide: Path, tmp_path: Path) -> None:
    folder = tmp_path / "made"
    folder.mkdir()
    planned = plan_conversion(wide, WeightFormat.Q4_K_M, folder / "made.gguf")
    cancel = CancelToken()
    with pytest.raises(Cancelled):
        followed(
            convert(planned, cancel, partial(SubprocessWorker, quantising, cancel)),
            lambda event: cancel.cancel() if isinstance(event, MeasureProgress) else None,
        )
    assert not list(folder.iterdir())


def test_a_new_file_that_cannot_be_used_is_taken_away(
    wide: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    planned = plan_conversion(wide, WeightFormat.Q8_0, tmp_path / "made.gguf")
    checked_model(planned.source, CancelToken())

    def refuses(*_asked: object) -> None:
        raise NoRoomError("no room", "none")

    monkeypatch.setattr("engine.models.checked_model._try_in_child", refuses)
    with pytest.raises(NoRoomError):
        converted(planned)
    assert not (tmp_path / "made.gguf").exists()


def test_what_is_no_model_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "none.gguf"
    path.write_bytes(b"GGUF")
    with pytest.raises(ModelFileError):
        plan_conversion(path, WeightFormat.Q8_0)


def test_the_cost_is_said() -> None:
    assert "Almost no loss" in plan_conversion(demo_model(), WeightFormat.Q8_0).cost
    assert "may no longer judge" in plan_conversion(demo_model(), WeightFormat.Q4_0).cost


def test_the_size_counts_the_header(wide: Path) -> None:
    header = read_header(wide)
    assert expected_bytes(header, WeightFormat.Q4_0) > header.data_offset
    assert threading.active_count() < 20  # no quantiser goes on
